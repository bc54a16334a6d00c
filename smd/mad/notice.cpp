#include "smd/mad/notice.h"

#include <fmt/core.h>
#include <span>

#include "smd/mad/codec.h"

namespace smd {
namespace {

constexpr std::string_view kUnknown = "unknown";

std::string_view print_trap(std::uint16_t number) {
  switch (number) {
    case trap::kLinkState:
      return "link state changed";
    case trap::kLinkIntegrity:
      return "local link integrity threshold";
    case trap::kBufferOverrun:
      return "excessive buffer overruns";
    case trap::kFlowControlUpdate:
      return "flow control watchdog";
    case trap::kCapability:
      return "capabilities changed";
    case trap::kSystemGuid:
      return "system image GUID changed";
    case trap::kMKey:
      return "bad M_Key";
    case trap::kPKey:
      return "bad P_Key";
    case trap::kQKey:
      return "bad Q_Key";
    case trap::kSwitchPKey:
      return "bad P_Key at switch";
    default:
      return kUnknown;
  }
}

std::string_view print_type(std::uint8_t type) {
  switch (static_cast<NoticeType>(type)) {
    case NoticeType::Fatal:
      return "fatal";
    case NoticeType::Urgent:
      return "urgent";
    case NoticeType::Security:
      return "security";
    case NoticeType::SubnetManagement:
      return "subnet management";
    case NoticeType::Informational:
      return "informational";
  }
  return "unknown type";
}

constexpr std::uint8_t kOtherLocalChanges = 1u << 0;
constexpr std::uint16_t kDescriptionChange = 1u << 0;
constexpr std::uint16_t kWidthEnabledChange = 1u << 1;
constexpr std::uint16_t kSpeedEnabledChange = 1u << 2;
constexpr std::uint16_t kSmPriorityChange = 1u << 3;
constexpr unsigned kDirectedBit = 7;
constexpr unsigned kTruncatedBit = 6;

using Details = std::array<std::uint8_t, 54>;

ByteReader reader(const Details& details) { return ByteReader(std::as_bytes(std::span(details))); }

ByteWriter writer(Details& details) {
  return ByteWriter(std::as_writable_bytes(std::span(details)));
}

Notice generic(std::uint16_t number, NoticeType type, NodeType producer, Lid issuer) {
  Notice notice;
  notice.type = static_cast<std::uint8_t>(type);
  notice.producer_or_vendor = static_cast<std::uint32_t>(producer);
  notice.trap_or_device = number;
  notice.issuer_lid = issuer;
  return notice;
}

bool is_trap(const Notice& notice, std::uint16_t first, std::uint16_t last) {
  return notice.is_generic && notice.trap_or_device >= first && notice.trap_or_device <= last;
}

Notice local_change(Lid lid,
                    NodeType producer,
                    std::uint32_t capability_mask,
                    std::uint16_t flags) {
  Notice notice = generic(trap::kCapability, NoticeType::Informational, producer, lid);
  ByteWriter out = writer(notice.details);
  out.zeros(2);
  out.u16(lid.value());
  out.zeros(1);
  out.u8(flags != 0 ? kOtherLocalChanges : std::uint8_t{0});
  out.u32(capability_mask);
  out.u16(flags);
  return notice;
}

}  // namespace

bool is_known_trap(std::uint16_t number) { return print_trap(number) != kUnknown; }

Result<Notice> decode_notice(std::span<const std::byte> data) {
  ByteReader in(data);
  Notice notice;
  const std::uint8_t generic_type = in.u8();
  notice.is_generic = codec::bit(generic_type, 7);
  notice.type = codec::bits(generic_type, 0, 7);
  notice.producer_or_vendor = in.u24();
  notice.trap_or_device = in.u16();
  notice.issuer_lid = Lid{in.u16()};
  const std::uint16_t toggle_count = in.u16();
  notice.toggle = (toggle_count & 0x8000) != 0;
  notice.count = toggle_count & 0x7fff;
  notice.details = in.bytes<54>();
  if (!in.ok()) return codec::too_short("Notice", data.size());
  return notice;
}

void encode_notice(const Notice& notice, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u8(codec::join(codec::place(notice.is_generic, 7, 1), codec::place(notice.type, 0, 7)));
  out.u24(notice.producer_or_vendor);
  out.u16(notice.trap_or_device);
  out.u16(notice.issuer_lid.value());
  out.u16(static_cast<std::uint16_t>((notice.toggle ? 0x8000 : 0) | (notice.count & 0x7fff)));
  out.bytes(notice.details);
}

std::string print_notice(const Notice& notice) {
  if (!notice.is_generic) {
    return fmt::format("vendor 0x{:06x} device 0x{:04x} {} from lid {} count {}",
                       notice.producer_or_vendor,
                       notice.trap_or_device,
                       print_type(notice.type),
                       notice.issuer_lid,
                       notice.count);
  }
  std::string line =
      fmt::format("trap {} ({}) {} from {} lid {} count {}",
                  notice.trap_or_device,
                  print_trap(notice.trap_or_device),
                  print_type(notice.type),
                  print_node_type(notice.producer_or_vendor <= 3
                                      ? static_cast<NodeType>(notice.producer_or_vendor)
                                      : NodeType{}),
                  notice.issuer_lid,
                  notice.count);
  if (const Lid subject = notice_subject(notice); subject != kUnassignedLid) {
    line += fmt::format(" about lid {}", subject);
  }
  return line;
}

// The 54 bytes of detail of the generic traps (IBA 14.2.5.1).

Notice link_state_notice(Lid switch_lid) {
  Notice notice = generic(trap::kLinkState, NoticeType::Urgent, NodeType::Switch, switch_lid);
  writer(notice.details).u16(switch_lid.value());
  return notice;
}

Notice port_error_notice(const PortErrorReport& report, NodeType producer) {
  Notice notice = generic(report.trap, NoticeType::Urgent, producer, report.lid);
  ByteWriter out = writer(notice.details);
  out.zeros(2);
  out.u16(report.lid.value());
  out.u8(report.port.value());
  return notice;
}

Notice capability_notice(Lid lid,
                         NodeType producer,
                         std::uint32_t capability_mask,
                         bool description_changed) {
  return local_change(
      lid, producer, capability_mask, description_changed ? kDescriptionChange : std::uint16_t{0});
}

Notice sm_priority_notice(Lid lid, NodeType producer, std::uint32_t capability_mask) {
  return local_change(lid, producer, capability_mask, kSmPriorityChange);
}

Notice m_key_notice(const MKeyViolation& violation, NodeType producer) {
  Notice notice = generic(trap::kMKey, NoticeType::Security, producer, violation.lid);
  ByteWriter out = writer(notice.details);
  out.zeros(2);
  out.u16(violation.source.value());
  out.u16(violation.directed ? violation.dr_slid.value() : std::uint16_t{0});
  out.u8(static_cast<std::uint8_t>(violation.method));
  out.zeros(1);
  out.u16(violation.attribute_id);
  out.u32(violation.attribute_modifier);
  out.u64(violation.m_key.value());
  out.zeros(1);
  if (violation.directed) {
    out.u8(codec::join(codec::place(1, kDirectedBit, 1),
                       codec::place(violation.path_truncated, kTruncatedBit, 1),
                       codec::place(violation.hop_count, 0, 6)));
    out.bytes(violation.return_path);
  }
  return notice;
}

Notice key_notice(const KeyViolation& violation, NodeType producer) {
  Notice notice = generic(violation.trap, NoticeType::Security, producer, violation.destination);
  ByteWriter out = writer(notice.details);
  out.zeros(2);
  out.u16(violation.source.value());
  out.u16(violation.destination.value());
  out.u32(violation.key);
  out.u8(codec::place(violation.sl.value(), 4, 4));
  out.u24(violation.source_qp);
  out.zeros(1);
  out.u24(violation.destination_qp);
  codec::write_gid(out, violation.source_gid);
  codec::write_gid(out, violation.destination_gid);
  return notice;
}

Lid notice_subject(const Notice& notice) {
  ByteReader in = reader(notice.details);
  if (is_trap(notice, trap::kLinkState, trap::kLinkState)) return Lid{in.u16()};
  if (is_trap(notice, trap::kLinkIntegrity, trap::kFlowControlUpdate) ||
      is_trap(notice, trap::kCapability, trap::kSystemGuid)) {
    in.skip(2);
    return Lid{in.u16()};
  }
  return kUnassignedLid;
}

std::optional<PortErrorReport> find_port_error(const Notice& notice) {
  if (!is_trap(notice, trap::kLinkIntegrity, trap::kFlowControlUpdate)) return std::nullopt;
  ByteReader in = reader(notice.details);
  in.skip(2);
  return PortErrorReport{
      .trap = notice.trap_or_device, .lid = Lid{in.u16()}, .port = PortNum{in.u8()}};
}

std::optional<CapabilityChange> find_capability_change(const Notice& notice) {
  if (!is_trap(notice, trap::kCapability, trap::kCapability)) return std::nullopt;
  ByteReader in = reader(notice.details);
  in.skip(2);
  CapabilityChange change;
  change.lid = Lid{in.u16()};
  in.skip(1);
  const bool other_changes = (in.u8() & kOtherLocalChanges) != 0;
  change.capability_mask = in.u32();
  const std::uint16_t flags = in.u16();
  change.description_changed = other_changes && (flags & kDescriptionChange) != 0;
  change.width_enabled_changed = other_changes && (flags & kWidthEnabledChange) != 0;
  change.speed_enabled_changed = other_changes && (flags & kSpeedEnabledChange) != 0;
  change.sm_priority_changed = other_changes && (flags & kSmPriorityChange) != 0;
  return change;
}

std::optional<MKeyViolation> find_m_key_violation(const Notice& notice) {
  if (!is_trap(notice, trap::kMKey, trap::kMKey)) return std::nullopt;
  ByteReader in = reader(notice.details);
  in.skip(2);
  MKeyViolation violation;
  violation.lid = notice.issuer_lid;
  violation.source = Lid{in.u16()};
  const Lid dr_slid{in.u16()};
  violation.method = static_cast<Method>(in.u8());
  in.skip(1);
  violation.attribute_id = in.u16();
  violation.attribute_modifier = in.u32();
  violation.m_key = MKey{in.u64()};
  in.skip(1);
  const std::uint8_t route = in.u8();
  violation.directed = codec::bit(route, kDirectedBit);
  if (violation.directed) {
    violation.dr_slid = dr_slid;
    violation.path_truncated = codec::bit(route, kTruncatedBit);
    violation.hop_count = codec::bits(route, 0, 6);
    violation.return_path = in.bytes<30>();
  }
  return violation;
}

std::optional<KeyViolation> find_key_violation(const Notice& notice) {
  if (!is_trap(notice, trap::kPKey, trap::kQKey)) return std::nullopt;
  ByteReader in = reader(notice.details);
  in.skip(2);
  KeyViolation violation;
  violation.trap = notice.trap_or_device;
  violation.source = Lid{in.u16()};
  violation.destination = Lid{in.u16()};
  violation.key = in.u32();
  violation.sl = Sl{codec::bits(in.u8(), 4, 4)};
  violation.source_qp = in.u24();
  in.skip(1);
  violation.destination_qp = in.u24();
  violation.source_gid = codec::read_gid(in);
  violation.destination_gid = codec::read_gid(in);
  return violation;
}

}  // namespace smd
