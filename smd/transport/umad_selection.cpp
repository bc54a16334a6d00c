#include <fmt/format.h>

#include <algorithm>

#include "smd/transport/umad_ports.h"

namespace smd {
namespace {

/// Higher is better; 0 is not up.
int rank(PortState state) {
  switch (state) {
    case PortState::Active:
    case PortState::ActiveDefer:
      return 2;
    case PortState::Armed:
    case PortState::Initialize:
      return 1;
    case PortState::NoChange:
    case PortState::Down:
      break;
  }
  return 0;
}

std::string print_wish(const UmadSelection& selection) {
  std::string text = "port";
  if (selection.port != PortNum{0}) text += fmt::format(" {}", selection.port);
  if (selection.port_guid != Guid{0}) text += fmt::format(" with GUID {}", selection.port_guid);
  if (!selection.device.empty()) text += fmt::format(" of '{}'", selection.device);
  return text;
}

}  // namespace

Result<UmadPort> select_port(std::span<const UmadPort> ports, const UmadSelection& selection) {
  const auto none = [&](const std::string& what) {
    return fail(Errc::NoDevice, fmt::format("{}; there are: {}", what, print_ports(ports)));
  };
  if (ports.empty()) {
    return fail(
        Errc::NoDevice,
        "no InfiniBand device on this machine: is the adapter's driver loaded, and ib_umad?");
  }
  if (!selection.device.empty() &&
      std::ranges::find(ports, selection.device, &UmadPort::device) == ports.end()) {
    return none(fmt::format("no InfiniBand device '{}'", selection.device));
  }

  const bool exact = selection.port != PortNum{0} || selection.port_guid != Guid{0};
  const UmadPort* best = nullptr;
  bool ethernet = false;
  bool down = false;
  for (const UmadPort& port : ports) {
    if (!selection.device.empty() && port.device != selection.device) continue;
    if (selection.port != PortNum{0} && port.port != selection.port) continue;
    if (selection.port_guid != Guid{0} && port.port_guid != selection.port_guid) continue;
    if (!port.is_infiniband) {
      ethernet = true;
    } else if (!exact && rank(port.state) == 0) {
      down = true;
    } else if (best == nullptr || rank(port.state) > rank(best->state)) {
      best = &port;
    }
  }
  if (best != nullptr) return *best;
  if (down) return none(fmt::format("no InfiniBand {} is up", print_wish(selection)));
  if (ethernet) return none(fmt::format("{} is Ethernet, not InfiniBand", print_wish(selection)));
  return none(fmt::format("no InfiniBand {}", print_wish(selection)));
}

std::string print_ports(std::span<const UmadPort> ports) {
  if (ports.empty()) return "none";
  std::string text;
  for (const UmadPort& port : ports) {
    text += fmt::format("{}{} port {} ({}{})",
                        text.empty() ? "" : ", ",
                        port.device,
                        port.port,
                        print_port_state(port.state),
                        port.is_infiniband ? "" : ", Ethernet");
  }
  return text;
}

}  // namespace smd
