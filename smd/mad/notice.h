// Notice (IBA 13.4.8.2): the body of traps and reports.
#pragma once

#include <array>
#include <optional>

#include "smd/mad/smp.h"

namespace smd {

/// Numbers of the generic traps (IBA 14.2.5.1).
namespace trap {
inline constexpr std::uint16_t kLinkState = 128;
inline constexpr std::uint16_t kLinkIntegrity = 129;
inline constexpr std::uint16_t kBufferOverrun = 130;
inline constexpr std::uint16_t kFlowControlUpdate = 131;
inline constexpr std::uint16_t kCapability = 144;
inline constexpr std::uint16_t kSystemGuid = 145;
inline constexpr std::uint16_t kMKey = 256;
inline constexpr std::uint16_t kPKey = 257;
inline constexpr std::uint16_t kQKey = 258;
inline constexpr std::uint16_t kSwitchPKey = 259;
}  // namespace trap

/// One of the numbers above.
[[nodiscard]] bool is_known_trap(std::uint16_t number);

enum class NoticeType : std::uint8_t {
  Fatal = 0,
  Urgent = 1,
  Security = 2,
  SubnetManagement = 3,
  Informational = 4,
};

struct Notice {
  bool is_generic = true;
  std::uint8_t type = 0;  // 7 bits: 0 fatal, 1 urgent, 2 security, 3 SM, 4 informational
  std::uint32_t producer_or_vendor = 0;  // 24 bits: node type, or vendor id
  std::uint16_t trap_or_device = 0;      // trap number, or device id
  Lid issuer_lid;
  bool toggle = false;
  std::uint16_t count = 0;  // 15 bits
  std::array<std::uint8_t, 54> details{};

  friend bool operator==(const Notice&, const Notice&) = default;
};

Result<Notice> decode_notice(std::span<const std::byte> data);
void encode_notice(const Notice& notice, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_notice(const Notice& notice);

/// Trap 128: a port of switch `switch_lid` changed state.
[[nodiscard]] Notice link_state_notice(Lid switch_lid);

/// Trap 144: capability mask, node description or enabled link speed changed at `lid`.
[[nodiscard]] Notice capability_notice(Lid lid,
                                       NodeType producer,
                                       std::uint32_t capability_mask,
                                       bool description_changed);

/// Trap 144: the manager at `lid` outranks the master that it waits for.
[[nodiscard]] Notice sm_priority_notice(Lid lid, NodeType producer, std::uint32_t capability_mask);

/// Trap 256: a SMP with a wrong M_Key arrived at `lid`.
struct MKeyViolation {
  Lid lid;  // where it happened
  Lid source;
  Method method = Method::Get;
  std::uint16_t attribute_id = 0;
  std::uint32_t attribute_modifier = 0;
  MKey m_key;  // the wrong one
  bool directed = false;
  Lid dr_slid;
  bool path_truncated = false;                 // directed only, as the next two
  std::uint8_t hop_count = 0;                  // 6 bits
  std::array<std::uint8_t, 30> return_path{};  // ReturnPath as far as it had come

  friend bool operator==(const MKeyViolation&, const MKeyViolation&) = default;
};

[[nodiscard]] Notice m_key_notice(const MKeyViolation& violation, NodeType producer);

/// Where a notice of traps 128, 129-131, 144, 145 points: the LID inside its details. The
/// unassigned LID for any other notice.
[[nodiscard]] Lid notice_subject(const Notice& notice);

/// Traps 129-131: a port went over its threshold of link errors.
struct PortErrorReport {
  std::uint16_t trap = trap::kLinkIntegrity;
  Lid lid;
  PortNum port;

  friend bool operator==(const PortErrorReport&, const PortErrorReport&) = default;
};

[[nodiscard]] Notice port_error_notice(const PortErrorReport& report, NodeType producer);

/// Trap 144 read back.
struct CapabilityChange {
  Lid lid;
  std::uint32_t capability_mask = 0;
  bool description_changed = false;
  bool width_enabled_changed = false;
  bool speed_enabled_changed = false;
  bool sm_priority_changed = false;

  friend bool operator==(const CapabilityChange&, const CapabilityChange&) = default;
};

/// Traps 257 (P_Key) and 258 (Q_Key): somebody used a key that the receiver does not hold.
struct KeyViolation {
  std::uint16_t trap = trap::kPKey;
  Lid source;
  Lid destination;
  std::uint32_t key = 0;
  Sl sl;
  std::uint32_t source_qp = 0;       // 24 bits
  std::uint32_t destination_qp = 0;  // 24 bits
  Gid source_gid;
  Gid destination_gid;

  friend bool operator==(const KeyViolation&, const KeyViolation&) = default;
};

[[nodiscard]] Notice key_notice(const KeyViolation& violation, NodeType producer);

/// Each gives nothing for a notice that is not generic or carries another trap number.
[[nodiscard]] std::optional<PortErrorReport> find_port_error(const Notice& notice);
[[nodiscard]] std::optional<CapabilityChange> find_capability_change(const Notice& notice);
[[nodiscard]] std::optional<MKeyViolation> find_m_key_violation(const Notice& notice);
[[nodiscard]] std::optional<KeyViolation> find_key_violation(const Notice& notice);

}  // namespace smd
