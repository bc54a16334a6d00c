#include "smd/mad/header.h"

#include <fmt/core.h>

#include <string_view>

#include "smd/mad/codec.h"

namespace smd {
namespace {

// One attribute id means different things in different classes; empty when it has no name there.
std::string_view performance_attribute(std::uint16_t id) {
  switch (id) {
    case 0x0001:
      return "ClassPortInfo";
    case 0x0012:
      return "PortCounters";
    case 0x001d:
      return "PortCountersExtended";
    default:
      return {};
  }
}

std::string_view subnet_attribute(std::uint16_t id) {
  switch (static_cast<AttributeId>(id)) {
    case AttributeId::ClassPortInfo:
      return "ClassPortInfo";
    case AttributeId::Notice:
      return "Notice";
    case AttributeId::NodeDescription:
      return "NodeDescription";
    case AttributeId::NodeInfo:
      return "NodeInfo";
    case AttributeId::SwitchInfo:
      return "SwitchInfo";
    case AttributeId::GuidInfo:
      return "GUIDInfo";
    case AttributeId::PortInfo:
      return "PortInfo";
    case AttributeId::PKeyTable:
      return "P_KeyTable";
    case AttributeId::SlToVlMappingTable:
      return "SLtoVLMappingTable";
    case AttributeId::VlArbitrationTable:
      return "VLArbitrationTable";
    case AttributeId::LinearForwardingTable:
      return "LinearForwardingTable";
    case AttributeId::RandomForwardingTable:
      return "RandomForwardingTable";
    case AttributeId::MulticastForwardingTable:
      return "MulticastForwardingTable";
    case AttributeId::SmInfo:
      return "SMInfo";
    case AttributeId::SwitchPortStateTable:
      return "SwitchPortStateTable";
    case AttributeId::PrivateLftInfo:
      return "PrivateLFTInfo";
    case AttributeId::GeneralInfo:
      return "GeneralInfo";
    case AttributeId::AdaptiveRoutingInfo:
      return "AdaptiveRoutingInfo";
    case AttributeId::ExtendedPortInfo:
      return "ExtendedPortInfo";
  }
  return {};
}

bool is_subnet_management(std::uint8_t mgmt_class) {
  return mgmt_class == static_cast<std::uint8_t>(MgmtClass::SubnLid) ||
         mgmt_class == static_cast<std::uint8_t>(MgmtClass::SubnDirected);
}

std::string print_attribute(std::uint8_t mgmt_class, std::uint16_t id) {
  std::string_view name;
  if (is_subnet_management(mgmt_class)) {
    name = subnet_attribute(id);
  } else if (mgmt_class == static_cast<std::uint8_t>(MgmtClass::Performance)) {
    name = performance_attribute(id);
  }
  return name.empty() ? fmt::format("0x{:04x}", id) : std::string(name);
}

}  // namespace

Result<MadHeader> decode_mad_header(std::span<const std::byte> mad) {
  ByteReader in(mad);
  const MadHeader header{
      .base_version = in.u8(),
      .mgmt_class = in.u8(),
      .class_version = in.u8(),
      .method = in.u8(),
      .status = in.u16(),
      .class_specific = in.u16(),
      .transaction_id = in.u64(),
      .attribute_id = in.u16(),
      .attribute_modifier = (in.skip(2), in.u32()),
  };
  if (!in.ok()) return codec::too_short("MAD header", mad.size());
  return header;
}

void encode_mad_header(const MadHeader& header, std::span<std::byte> mad) {
  ByteWriter out(mad);
  out.u8(header.base_version);
  out.u8(header.mgmt_class);
  out.u8(header.class_version);
  out.u8(header.method);
  out.u16(header.status);
  out.u16(header.class_specific);
  out.u64(header.transaction_id);
  out.u16(header.attribute_id);
  out.zeros(2);
  out.u32(header.attribute_modifier);
}

std::string print_mad_header(const MadHeader& header) {
  std::string line = fmt::format("{} {} mod {} tid 0x{:x}",
                                 print_method(header.method),
                                 print_attribute(header.mgmt_class, header.attribute_id),
                                 print_modifier(header.attribute_modifier),
                                 header.transaction_id);
  if (!is_subnet_management(header.mgmt_class)) {
    line += fmt::format(" class 0x{:02x}", header.mgmt_class);
  }
  if (header.status != 0) line += fmt::format(" status {}", print_mad_status(header.status));
  return line;
}

std::string print_attribute_id(std::uint16_t id) {
  const std::string_view name = subnet_attribute(id);
  return name.empty() ? fmt::format("0x{:04x}", id) : std::string(name);
}

std::string print_method(std::uint8_t method) {
  switch (static_cast<Method>(method)) {
    case Method::Get:
      return "Get";
    case Method::Set:
      return "Set";
    case Method::Send:
      return "Send";
    case Method::Trap:
      return "Trap";
    case Method::Report:
      return "Report";
    case Method::TrapRepress:
      return "TrapRepress";
    case Method::GetTable:
      return "GetTable";
    case Method::GetTraceTable:
      return "GetTraceTable";
    case Method::GetMulti:
      return "GetMulti";
    case Method::Delete:
      return "Delete";
    case Method::GetResp:
      return "GetResp";
    case Method::ReportResp:
      return "ReportResp";
    case Method::GetTableResp:
      return "GetTableResp";
  }
  return fmt::format("method 0x{:02x}", method);
}

std::string print_mad_status(std::uint16_t status) {
  // Bits 0 and 1 stand alone; bits 2-4 are a code; the rest belongs to the class (IBA 13.4.7).
  std::string text;
  const auto add = [&text](std::string_view word) {
    if (!text.empty()) text += '+';
    text += word;
  };
  if ((status & 0x1) != 0) add("busy");
  if ((status & 0x2) != 0) add("redirect");
  switch (status & 0x1c) {
    case 0x00:
      break;
    case 0x04:
      add("bad version or class");
      break;
    case 0x08:
      add("method not supported");
      break;
    case 0x0c:
      add("attribute not supported by method");
      break;
    case 0x1c:
      add("invalid field");
      break;
    default:
      add("reserved code");
      break;
  }
  if ((status & ~0x1fu) != 0) add("class specific");
  if (text.empty()) return "ok";
  return fmt::format("0x{:04x} ({})", status, text);
}

std::string print_modifier(std::uint32_t modifier) {
  return modifier <= 0xffff ? fmt::format("{}", modifier) : fmt::format("0x{:x}", modifier);
}

}  // namespace smd
