// Multicast records, and answers about them: joining, leaving, members, tables of switches.
#pragma once

#include <functional>

#include "smd/mad/tables.h"
#include "smd/multicast/group.h"
#include "smd/multicast/group_table.h"
#include "smd/multicast/mft_plan.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

// Records of multicast: a port's part in a group, and the tables of switches (IBA 15.2.5.17, .8).

struct McMemberRecord {
  Gid mgid;
  Gid port_gid;
  std::uint32_t q_key = 0;
  Lid mlid;
  Bound mtu;
  std::uint8_t tclass = 0;
  PKey p_key;
  Bound rate;
  Bound life_time;
  std::uint8_t sl = 0;           // 4 bits
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 0;
  std::uint8_t scope = 0;       // 4 bits
  std::uint8_t join_state = 0;  // 4 bits
  bool proxy_join = false;

  friend bool operator==(const McMemberRecord&, const McMemberRecord&) = default;
};

/// Bits of its ComponentMask.
namespace member_component {
inline constexpr std::uint64_t kMgid = component_bit(0);
inline constexpr std::uint64_t kPortGid = component_bit(1);
inline constexpr std::uint64_t kQKey = component_bit(2);
inline constexpr std::uint64_t kMlid = component_bit(3);
inline constexpr std::uint64_t kMtuSelector = component_bit(4);
inline constexpr std::uint64_t kMtu = component_bit(5);
inline constexpr std::uint64_t kTclass = component_bit(6);
inline constexpr std::uint64_t kPKey = component_bit(7);
inline constexpr std::uint64_t kRateSelector = component_bit(8);
inline constexpr std::uint64_t kRate = component_bit(9);
inline constexpr std::uint64_t kLifeTimeSelector = component_bit(10);
inline constexpr std::uint64_t kLifeTime = component_bit(11);
inline constexpr std::uint64_t kSl = component_bit(12);
inline constexpr std::uint64_t kFlowLabel = component_bit(13);
inline constexpr std::uint64_t kHopLimit = component_bit(14);
inline constexpr std::uint64_t kScope = component_bit(15);
inline constexpr std::uint64_t kJoinState = component_bit(16);
inline constexpr std::uint64_t kProxyJoin = component_bit(17);
}  // namespace member_component

struct MftRecord {
  Lid lid;
  std::uint8_t position = 0;  // 4 bits
  std::uint16_t block = 0;    // 9 bits
  MftBlock masks{};

  friend bool operator==(const MftRecord&, const MftRecord&) = default;
};

extern const RecordShape kMcMemberRecord;
extern const RecordShape kMftRecord;

Result<McMemberRecord> decode_mc_member_record(std::span<const std::byte> data);
Result<MftRecord> decode_mft_record(std::span<const std::byte> data);

/// Each fills `data`, which has the size of the record's shape.
void encode_record(const McMemberRecord& record, std::span<std::byte> data);
void encode_record(const MftRecord& record, std::span<std::byte> data);

/// What a request means of the record that it came with. An MTU, a rate or a lifetime counts with
/// its selector only.
[[nodiscard]] GroupRequest request_of(const McMemberRecord& record, std::uint64_t mask);

/// All bounds are "exactly".
[[nodiscard]] McMemberRecord record_of(const GroupMembership& membership,
                                       std::uint64_t subnet_prefix);

// Answers for multicast: who is in which group, joining and leaving (MCMemberRecord), and what the
// switches hold (MFTRecord).

class GroupManager final : public RecordManager {
 public:
  struct Parts {
    GroupTable& groups;
    const MftMemory& tables;
    std::function<const SubnetLimits*()> subnet;  // null while nothing is known of the subnet
    std::function<void()> on_changed;             // after every request that changed a group
    QueryLimits limits = {};
  };

  /// What the parts refer to outlives this.
  explicit GroupManager(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::optional<Answer> answer(const SubnetView& view, const Query& query) override;

 private:
  [[nodiscard]] Answer change(const SubnetView& view, const Query& query, bool joins);
  [[nodiscard]] Answer find_members(const SubnetView& view, const Query& query) const;
  [[nodiscard]] Answer find_tables(const SubnetView& view, const Query& query) const;

  Parts parts_;
};

}  // namespace smd::sa
