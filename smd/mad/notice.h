// Notice (IBA 13.4.8.2): the body of traps and reports.
#pragma once

#include <array>

#include "smd/mad/smp.h"

namespace smd {

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
};

[[nodiscard]] Notice m_key_notice(const MKeyViolation& violation, NodeType producer);

/// Where a notice of traps 128, 129-131, 144 points: the LID inside its details.
[[nodiscard]] Lid notice_subject(const Notice& notice);

}  // namespace smd
