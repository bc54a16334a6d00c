#include "smd/mad/notice.h"

#include <fmt/core.h>

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

}  // namespace smd
