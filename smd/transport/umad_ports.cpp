#include "smd/transport/umad_ports.h"

#include <dlfcn.h>
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/umad.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "smd/mad/port_info.h"

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

std::string print_selection(const UmadSelection& selection) {
  std::string text = "port";
  if (selection.port != PortNum{0}) text += fmt::format(" {}", selection.port);
  if (selection.port_guid != Guid{0}) text += fmt::format(" with GUID {}", selection.port_guid);
  if (!selection.device.empty()) text += fmt::format(" of '{}'", selection.device);
  return text;
}

const char* print_step(UmadStep step) {
  switch (step) {
    case UmadStep::Open:
      return "cannot open the management device";
    case UmadStep::Register:
      return "cannot register for subnet management";
    case UmadStep::Send:
      return "cannot send";
    case UmadStep::Receive:
      return "cannot receive";
    case UmadStep::ShowSm:
      return "cannot set the IsSM bit";
  }
  return "failed";
}

bool is_gone(int error_number) {
  return error_number == ENODEV || error_number == ENXIO || error_number == ENOENT ||
         error_number == EPIPE || error_number == EBADF;
}

/// As libibumad fills them since it knows pairs; Debian 12's header does not have it.
struct UmadCaPair {
  char smi[UMAD_CA_NAME_LEN];
  std::uint32_t smi_port;
  char gsi[UMAD_CA_NAME_LEN];
  std::uint32_t gsi_port;
};

std::string read_name(const char (&name)[UMAD_CA_NAME_LEN]) {
  return {name, strnlen(name, sizeof name)};
}

/// The GSI of a SMI's port; null: it has its own.
const UmadPort* find_gsi(std::span<const UmadPort> ports,
                         std::span<const UmadPair> pairs,
                         const UmadPort& smi) {
  for (const UmadPair& pair : pairs) {
    if (pair.smi != smi.device || pair.gsi == smi.device) continue;
    for (const UmadPort& port : ports) {
      if (port.device == pair.gsi && (pair.gsi_port == PortNum{0} || port.port == pair.gsi_port))
        return &port;
    }
  }
  if (smi.sm_disabled || smi.port_guid == Guid{0}) return nullptr;
  for (const UmadPort& port : ports) {
    if (port.device != smi.device && port.port_guid == smi.port_guid && port.is_infiniband &&
        port.sm_disabled)
      return &port;
  }
  return nullptr;
}

/// Among `candidates`; the error names all of `ports`.
Result<UmadPort> select_port(std::span<const UmadPort> ports,
                             std::span<const UmadPort> candidates,
                             const UmadSelection& selection) {
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
  bool down = false, disabled = false;
  for (const UmadPort& port : candidates) {
    if (!selection.device.empty() && port.device != selection.device) continue;
    if (selection.port != PortNum{0} && port.port != selection.port) continue;
    if (selection.port_guid != Guid{0} && port.port_guid != selection.port_guid) continue;
    if (!port.is_infiniband) {
      ethernet = true;
    } else if (!exact && port.sm_disabled) {
      disabled = true;
    } else if (!exact && rank(port.state) == 0) {
      down = true;
    } else if (best == nullptr || rank(port.state) > rank(best->state)) {
      best = &port;
    }
  }
  if (best != nullptr) return *best;
  if (down) return none(fmt::format("no InfiniBand {} is up", print_selection(selection)));
  if (disabled)
    return none(
        fmt::format("no InfiniBand {} lets a subnet manager run there; one that is named by "
                    "number or GUID is taken all the same",
                    print_selection(selection)));
  if (ethernet)
    return none(fmt::format("{} is Ethernet, not InfiniBand", print_selection(selection)));
  return none(fmt::format("no InfiniBand {}", print_selection(selection)));
}

}  // namespace

std::vector<UmadPort> list_ports() {
  std::vector<UmadPort> ports;
  char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
  umad_init();
  const int devices = umad_get_cas_names(names, UMAD_MAX_DEVICES);
  for (int i = 0; i < devices; ++i) {
    umad_ca_t ca;
    if (umad_get_ca(names[i], &ca) < 0) continue;  // unplugged meanwhile
    const int last = std::min(ca.numports, UMAD_CA_MAX_PORTS - 1);
    for (int number = 0; number <= last; ++number) {
      const umad_port_t* port = ca.ports[number];
      if (port == nullptr) continue;
      ports.push_back({.device = names[i],
                       .port = PortNum{static_cast<std::uint8_t>(port->portnum)},
                       .port_guid = Guid{be64toh(port->port_guid)},
                       .state = static_cast<PortState>(port->state),
                       // Kernels before 2.6.37 know no other link layer and do not say.
                       .is_infiniband = std::string_view(port->link_layer) != "Ethernet",
                       .sm_disabled = (be32toh(port->capmask) & port_cap::kIsSmDisabled) != 0});
    }
    umad_release_ca(&ca);
  }
  return ports;
}

std::vector<UmadPair> list_pairs() {
  auto* const get = reinterpret_cast<int (*)(UmadCaPair*, std::size_t)>(
      dlsym(RTLD_DEFAULT, "umad_get_smi_gsi_pairs"));
  if (get == nullptr) return {};
  UmadCaPair found[UMAD_MAX_DEVICES];
  const int count = get(found, UMAD_MAX_DEVICES);
  std::vector<UmadPair> pairs;
  for (int i = 0; i < count; ++i) {
    UmadPair pair{.smi = read_name(found[i].smi),
                  .gsi = read_name(found[i].gsi),
                  .gsi_port = PortNum{static_cast<std::uint8_t>(found[i].gsi_port)}};
    if (!pair.smi.empty() && !pair.gsi.empty()) pairs.push_back(std::move(pair));
  }
  return pairs;
}

Result<UmadPorts> select_ports(std::span<const UmadPort> ports,
                               std::span<const UmadPair> pairs,
                               const UmadSelection& selection) {
  std::vector<const UmadPort*> gsi_of(ports.size());
  std::vector<bool> is_gsi(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    gsi_of[i] = find_gsi(ports, pairs, ports[i]);
    if (gsi_of[i] != nullptr) is_gsi[static_cast<std::size_t>(gsi_of[i] - ports.data())] = true;
  }
  UmadSelection wanted = selection;
  std::vector<UmadPort> candidates;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!is_gsi[i]) candidates.push_back(ports[i]);
    if (gsi_of[i] == nullptr || gsi_of[i]->device != selection.device) continue;
    if (selection.port != PortNum{0} && selection.port != gsi_of[i]->port) continue;
    wanted.device = ports[i].device;
    wanted.port = PortNum{0};
  }
  const Result<UmadPort> smi = select_port(ports, candidates, wanted);
  if (!smi) return tl::unexpected(smi.error());
  const UmadPort* const gsi = find_gsi(ports, pairs, *smi);
  return UmadPorts{*smi, gsi == nullptr ? *smi : *gsi};
}

std::size_t count_choices(std::span<const UmadPort> ports,
                          std::span<const UmadPair> pairs,
                          const UmadSelection& selection) {
  if (selection.port != PortNum{0} || selection.port_guid != Guid{0}) return 1;
  std::vector<const UmadPort*> gsis;
  for (const UmadPort& port : ports) gsis.push_back(find_gsi(ports, pairs, port));
  return static_cast<std::size_t>(std::ranges::count_if(ports, [&](const UmadPort& port) {
    return port.is_infiniband && !port.sm_disabled && rank(port.state) > 0 &&
           (selection.device.empty() || port.device == selection.device) &&
           std::ranges::find(gsis, &port) == gsis.end();
  }));
}

UmadSelection ChosenPort::select(const UmadSelection& configured) const {
  UmadSelection out = configured;
  const bool names_one = !configured.device.empty() && configured.port != PortNum{0};
  if (configured == configured_ && !names_one && configured.port_guid == Guid{0})
    out.port_guid = opened_.port_guid;
  return out;
}

bool ChosenPort::note(const UmadSelection& configured, const LocalPort& opened) {
  const bool first = opened_.port_guid == Guid{0} || configured != configured_;
  configured_ = configured;
  opened_ = opened;
  return first;
}

std::string ChosenPort::print_changed_guid(const UmadSelection& configured,
                                           std::span<const UmadPort> ports) const {
  const Guid was = opened_.port_guid;
  if (was == Guid{0} || select(configured).port_guid != was ||
      std::ranges::find(ports, was, &UmadPort::port_guid) != ports.end())
    return "";
  for (const UmadPort& port : ports) {
    if (port.device != opened_.device || port.port != opened_.port) continue;
    return fmt::format(
        "{} port {} had that GUID and has {} now: if it is the same port, under other firmware or "
        "another alias, {}",
        port.device,
        port.port,
        port.port_guid,
        configured.port_guid == Guid{0} ? "restart smd" : "change transport.port_guid");
  }
  return "";
}

std::string print_ports(std::span<const UmadPort> ports) {
  if (ports.empty()) return "none";
  std::string text;
  for (const UmadPort& port : ports) {
    text += fmt::format("{}{} port {} ({}{}{})",
                        text.empty() ? "" : ", ",
                        port.device,
                        port.port,
                        print_port_state(port.state),
                        port.is_infiniband ? "" : ", Ethernet",
                        port.sm_disabled ? ", IsSMdisabled" : "");
  }
  return text;
}

Error umad_error(UmadStep step, int error_number, const std::string& where) {
  const auto say = [&](Errc code, const std::string& advice) {
    return Error{code, fmt::format("{}: {}: {}", where, print_step(step), advice)};
  };
  if (error_number == EACCES || error_number == EPERM) {
    return say(Errc::NoPermission,
               "permission denied; run as root, or as a member of the group that owns "
               "/dev/infiniband/umad* and issm*");
  }
  const bool opening = step == UmadStep::Open || step == UmadStep::ShowSm;
  if (is_gone(error_number)) {
    return say(Errc::NoDevice,
               opening ? "there is no such device; is the kernel module ib_umad loaded?"
                       : "the device is gone");
  }
  switch (step) {
    case UmadStep::Open:
      if (error_number == EBUSY || error_number == EAGAIN) return say(Errc::Busy, "it is in use");
      // The library found no umad number for a port that sysfs has.
      if (error_number == EINVAL) {
        return say(Errc::NoDevice, "it has none; is the kernel module ib_umad loaded?");
      }
      if (error_number == EOPNOTSUPP) {
        return say(Errc::Unsupported, "the kernel's ib_umad is older than libibumad can use");
      }
      break;
    case UmadStep::Register:
      if (error_number == EPROTONOSUPPORT || error_number == EOPNOTSUPP) {
        return say(Errc::Unsupported,
                   "the port has no QP0, as virtual functions have not; use the physical one");
      }
      // EINVAL is how the kernel says that another agent takes the same methods.
      if (error_number == EINVAL || error_number == EBUSY) {
        return say(Errc::Busy, "another subnet manager may be running on this port; stop it first");
      }
      break;
    case UmadStep::ShowSm:
      if (error_number == EAGAIN || error_number == EBUSY) {
        return say(Errc::Busy, "another subnet manager holds it on this port");
      }
      break;
    case UmadStep::Send:
      if (error_number == EAGAIN || error_number == ENOMEM || error_number == ENOBUFS ||
          error_number == EINTR || error_number == EBUSY) {
        return say(Errc::Busy, "the send queue is full");
      }
      [[fallthrough]];
    case UmadStep::Receive:
      if (error_number == EIO) return say(Errc::NoDevice, "the device is gone");
      break;
  }
  return say(Errc::Io, std::generic_category().message(error_number));
}

}  // namespace smd
