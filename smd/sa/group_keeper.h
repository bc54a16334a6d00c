// Answers for multicast: who is in which group, joining and leaving (MCMemberRecord), and what the
// switches hold (MFTRecord).
#pragma once

#include <functional>

#include "smd/multicast/group_table.h"
#include "smd/multicast/mft_memory.h"
#include "smd/sa/record_keeper.h"

namespace smd::sa {

class GroupKeeper final : public RecordKeeper {
 public:
  struct Parts {
    GroupTable& groups;
    const MftMemory& tables;
    std::function<const Realm*()> realm;  // null while nothing is known of the subnet
    std::function<void()> on_changed;     // after every request that changed a group
    QueryLimits limits = {};
  };

  /// What the parts refer to outlives this.
  explicit GroupKeeper(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

 private:
  [[nodiscard]] Answer change(const SubnetView& view, const Query& query, bool joins);
  [[nodiscard]] Answer find_members(const SubnetView& view, const Query& query) const;
  [[nodiscard]] Answer find_tables(const SubnetView& view, const Query& query) const;

  Parts parts_;
};

}  // namespace smd::sa
