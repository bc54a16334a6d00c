#include "smd/ib/types.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace smd {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string_view print_node_type(NodeType type) {
  switch (type) {
    case NodeType::Ca:
      return "ca";
    case NodeType::Switch:
      return "switch";
    case NodeType::Router:
      return "router";
  }
  return "unknown";
}

std::string_view print_port_state(PortState state) {
  switch (state) {
    case PortState::NoChange:
      return "NoChange";
    case PortState::Down:
      return "Down";
    case PortState::Initialize:
      return "Initialize";
    case PortState::Armed:
      return "Armed";
    case PortState::Active:
      return "Active";
    case PortState::ActiveDefer:
      return "ActiveDefer";
  }
  return "unknown";
}

std::string_view print_phys_state(PhysState state) {
  switch (state) {
    case PhysState::NoChange:
      return "NoChange";
    case PhysState::Sleep:
      return "Sleep";
    case PhysState::Polling:
      return "Polling";
    case PhysState::Disabled:
      return "Disabled";
    case PhysState::Training:
      return "Training";
    case PhysState::LinkUp:
      return "LinkUp";
    case PhysState::ErrorRecovery:
      return "ErrorRecovery";
    case PhysState::PhyTest:
      return "PhyTest";
  }
  return "unknown";
}

std::string_view print_link_width(LinkWidth width) {
  switch (width) {
    case LinkWidth::X1:
      return "1x";
    case LinkWidth::X2:
      return "2x";
    case LinkWidth::X4:
      return "4x";
    case LinkWidth::X8:
      return "8x";
    case LinkWidth::X12:
      return "12x";
    case LinkWidth::None:
      break;
  }
  return "none";
}

std::string_view print_link_speed(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::Sdr:
      return "SDR";
    case LinkSpeed::Ddr:
      return "DDR";
    case LinkSpeed::Qdr:
      return "QDR";
    case LinkSpeed::Fdr10:
      return "FDR10";
    case LinkSpeed::Fdr:
      return "FDR";
    case LinkSpeed::Edr:
      return "EDR";
    case LinkSpeed::Hdr:
      return "HDR";
    case LinkSpeed::Ndr:
      return "NDR";
    case LinkSpeed::Xdr:
      return "XDR";
    case LinkSpeed::None:
      break;
  }
  return "none";
}

LinkWidth parse_link_width(std::string_view text) {
  for (LinkWidth width :
       {LinkWidth::X1, LinkWidth::X2, LinkWidth::X4, LinkWidth::X8, LinkWidth::X12}) {
    if (same_word(text, print_link_width(width))) return width;
  }
  return LinkWidth::None;
}

LinkSpeed parse_link_speed(std::string_view text) {
  for (auto code = static_cast<int>(LinkSpeed::Sdr); code <= static_cast<int>(LinkSpeed::Xdr);
       ++code) {
    const auto speed = static_cast<LinkSpeed>(code);
    if (same_word(text, print_link_speed(speed))) return speed;
  }
  return LinkSpeed::None;
}

}  // namespace smd
