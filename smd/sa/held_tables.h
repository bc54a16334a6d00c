// SL-to-VL rows and blocks of VL arbitration that ports hold and nobody set in our time: read from
// the port when a client first asks for them by LID, and kept until the port comes up anew.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "smd/mad/modifiers.h"
#include "smd/mad/tables.h"
#include "smd/sa/record_keeper.h"

namespace smd::sa {

/// One block of an agent's table: what one SMP reads.
struct TableBlock {
  Guid node;
  PortNum port;  // by which the agent is asked; 0 of a switch
  AttributeId attribute = AttributeId::SlToVlMappingTable;
  std::uint32_t modifier = 0;

  friend auto operator<=>(const TableBlock&, const TableBlock&) = default;
};

class HeldTables {
 public:
  /// Of all ports together: sixteen switches of 64 ports, or a fabric of hosts.
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  /// What the agent answered, or nothing where it did not.
  void note(const TableBlock& block, const std::optional<SmpData>& data);

  /// Its agent may have begun anew.
  void forget(Guid node);

  /// Agents that did not answer are asked once more.
  void forget_unanswered();

  [[nodiscard]] bool knows(const TableBlock& block) const { return blocks_.contains(block); }

  [[nodiscard]] std::optional<SlToVl> row(const Fabric& fabric, PortIdx in, PortIdx out) const;
  [[nodiscard]] std::optional<VlArbBlock> arbitration(const Fabric& fabric,
                                                      PortIdx port,
                                                      VlArbPart part) const;

 private:
  [[nodiscard]] const SmpData* find(const TableBlock& block) const;

  std::map<TableBlock, std::optional<SmpData>> blocks_;
};

/// Blocks that the answer to `query` would have, that nobody set and of which `held` knows nothing.
/// Requires: a request for rows or arbitration that names a LID.
[[nodiscard]] std::vector<TableBlock> find_unread_tables(const SubnetView& view,
                                                         const Query& query,
                                                         const HeldTables& held);

/// Has what is not known read before it is answered. The answers are the view's business.
class TableReadKeeper final : public RecordKeeper {
 public:
  using Read = std::function<void(std::vector<TableBlock>)>;

  /// `read`: to be noted in `held` sooner or later, which outlives this; then the server goes on
  /// with requests that wait.
  TableReadKeeper(const HeldTables& held, Read read) : held_(held), read_(std::move(read)) {}

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

 private:
  const HeldTables& held_;
  Read read_;
};

}  // namespace smd::sa
