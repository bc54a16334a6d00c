// P_Key, SL-to-VL and arbitration tables: their records, answers, and what ports hold that nobody
// set.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

// P_KeyTableRecord, SLtoVLMappingTableRecord and VLArbitrationTableRecord (IBA 15.2.5.4, .9, .11):
// blocks of tables with the LID of the port they belong to. For switches the LID is that of port 0.

struct PKeyTableRecord {
  Lid lid;
  std::uint16_t block = 0;
  PortNum port;
  PKeyBlock keys{};

  friend bool operator==(const PKeyTableRecord&, const PKeyTableRecord&) = default;
};

/// Of an adapter or router both ports are 0.
struct SlToVlTableRecord {
  Lid lid;
  PortNum in;
  PortNum out;
  SlToVl vls{};

  friend bool operator==(const SlToVlTableRecord&, const SlToVlTableRecord&) = default;
};

struct VlArbTableRecord {
  Lid lid;
  PortNum out;
  std::uint8_t block = 1;  // as VlArbPart
  VlArbBlock entries{};

  friend bool operator==(const VlArbTableRecord&, const VlArbTableRecord&) = default;
};

extern const RecordShape kPKeyTableRecord;
extern const RecordShape kSlToVlTableRecord;
extern const RecordShape kVlArbTableRecord;

Result<PKeyTableRecord> decode_p_key_table_record(std::span<const std::byte> data);
Result<SlToVlTableRecord> decode_sl_to_vl_table_record(std::span<const std::byte> data);
Result<VlArbTableRecord> decode_vl_arb_table_record(std::span<const std::byte> data);

/// Each fills `data`, which has the size of the record's shape.
void encode_record(const PKeyTableRecord& record, std::span<std::byte> data);
void encode_record(const SlToVlTableRecord& record, std::span<std::byte> data);
void encode_record(const VlArbTableRecord& record, std::span<std::byte> data);

// Queries for tables of ports. P_Keys as agents confirmed them, for the trusted alone; rows and
// arbitration as they are set, where routes or the site want certain ones: what nobody configured
// is not read.

/// The ports of the same agent that have tables of their own: the end port, or all of its switch.
[[nodiscard]] IndexRange<PortIdx> ports_at(const Fabric& fabric, PortIdx end);

/// The row that we set: what routes need goes before what the site wants.
[[nodiscard]] std::optional<SlToVl> find_set_row(const SubnetView& view, PortIdx in, PortIdx out);

[[nodiscard]] Answer find_p_key_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_sl_to_vl_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_vl_arb_records(const SubnetView&, const Query&, const QueryLimits&);

// SL-to-VL rows and blocks of VL arbitration that ports hold and nobody set in our time: read from
// the port when a client first asks for them by LID, and kept until the port comes up anew.

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
  /// Of all ports together: fifteen switches of 64 ports, or a fabric of hosts. Beyond it the node
  /// that nobody has asked for for longest makes room, with all that it holds.
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  /// A client asks for tables of the node.
  void note_asked(Guid node);

  /// What the agent answered, or nothing where it did not.
  void note(const TableBlock& block, const std::optional<SmpData>& data);

  /// Its agent may have begun anew.
  void forget(Guid node);

  /// Other tables are set than before, so those that no longer are may hold what was set.
  void forget_all();

  /// Agents that did not answer are asked once more.
  void forget_unanswered();

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

  [[nodiscard]] bool knows(const TableBlock& block) const { return blocks_.contains(block); }

  [[nodiscard]] std::optional<SlToVl> row(const Fabric& fabric, PortIdx in, PortIdx out) const;
  [[nodiscard]] std::optional<VlArbBlock> arbitration(const Fabric& fabric,
                                                      PortIdx port,
                                                      VlArbPart part) const;

 private:
  [[nodiscard]] const SmpData* find(const TableBlock& block) const;

  void make_room(Guid node);

  std::map<TableBlock, std::optional<SmpData>> blocks_;
  std::map<Guid, std::uint64_t> asked_;  // of each node, the turn of the last request
  std::set<std::pair<std::uint64_t, Guid>> by_turn_;
  std::uint64_t turn_ = 0;
};

/// Blocks that the answer to `query` would have, that nobody set and of which `held` knows nothing.
/// Requires: a request for rows or arbitration that names a LID.
[[nodiscard]] std::vector<TableBlock> find_unread_tables(const SubnetView& view,
                                                         const Query& query,
                                                         const HeldTables& held);

/// Has what is not known read before it is answered. The answers are the view's business.
class TableReadManager final : public RecordManager {
 public:
  using Read = std::function<void(std::vector<TableBlock>)>;

  /// `read`: to be noted in `held` sooner or later, which outlives this; then the server goes on
  /// with requests that wait.
  TableReadManager(HeldTables& held, Read read) : held_(held), read_(std::move(read)) {}

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

 private:
  HeldTables& held_;
  Read read_;
};

}  // namespace smd::sa
