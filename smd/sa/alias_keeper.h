// Set and Delete of GUIDInfoRecord: a port asks for further GUIDs, or gives them back. Get is the
// view's business (record_queries.h).
#pragma once

#include <functional>

#include "smd/sa/alias_table.h"
#include "smd/sa/record_keeper.h"

namespace smd::sa {

class AliasKeeper final : public RecordKeeper {
 public:
  /// `on_change`: the table is not what it was; the view is to be made anew and the port to be
  /// told.
  explicit AliasKeeper(std::function<void()> on_change, AliasTable table = AliasTable{})
      : on_change_(std::move(on_change)), table_(std::move(table)) {}

  /// A port that the client does not sit on is refused, unless it is trusted; so is a request for
  /// which there is no room, as a whole.
  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

  void set_limits(const AliasLimits& limits) { table_.set_limits(limits); }

  void restore(const AliasTable::Map& map) { table_.restore(map); }

  [[nodiscard]] AliasTable& table() { return table_; }

  [[nodiscard]] const AliasTable& table() const { return table_; }

 private:
  std::function<void()> on_change_;
  AliasTable table_;
};

}  // namespace smd::sa
