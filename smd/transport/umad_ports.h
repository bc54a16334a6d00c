// Ports that the machine has, which one is meant, what an errno of one means to an operator; and
// management datagrams through one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"
#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"

namespace smd {

// Which local port to sit on: what the machine has, and what the operator asked for.

struct UmadPort {
  std::string device;
  PortNum port;
  Guid port_guid;
  PortState state = PortState::Down;
  bool is_infiniband = true;  // false: Ethernet (RoCE), where no subnet manager belongs
  bool sm_disabled = false;   // CapabilityMask says IsSMdisabled, as management ports of NVSwitches

  friend bool operator==(const UmadPort&, const UmadPort&) = default;
};

/// Empty fields mean "any". With a port number or a GUID the port is taken in whatever state it
/// is; otherwise it must be up, and not be one where subnet managers are disabled.
struct UmadSelection {
  std::string device;
  PortNum port{0};
  Guid port_guid{0};

  friend bool operator==(const UmadSelection&, const UmadSelection&) = default;
};

/// Two devices of one adapter: QP0 (SMI) on the one, QP1 (GSI) on the other, as XDR adapters have
/// them.
struct UmadPair {
  std::string smi;
  std::string gsi;
  PortNum gsi_port{0};  // 0: any
};

/// Where subnet management goes, and where everything else.
struct UmadPorts {
  UmadPort smi;
  UmadPort gsi;  // mostly the same

  [[nodiscard]] bool split() const { return smi.device != gsi.device; }
};

/// Active before Armed or Initialize; among equals the first. Every error names what there is.
/// A pair is what `pairs` says, or else two ports of one GUID on two devices, of which that with
/// IsSMdisabled is the GSI. Who names the GSI's device or port gets the pair.
[[nodiscard]] Result<UmadPorts> select_ports(std::span<const UmadPort> ports,
                                             std::span<const UmadPair> pairs,
                                             const UmadSelection& selection);

/// Every port of every device that the kernel's umad module knows, in its order.
[[nodiscard]] std::vector<UmadPort> list_ports();

/// What the library says of pairs; nothing where it is older than that call.
[[nodiscard]] std::vector<UmadPair> list_pairs();

/// Of how many one is chosen by its state, or by its place in the list.
[[nodiscard]] std::size_t count_choices(std::span<const UmadPort> ports,
                                        std::span<const UmadPair> pairs,
                                        const UmadSelection& selection);

/// The port that was opened first, where what is configured may mean several: it is the one that is
/// meant from then on. Another one that is up while it is away may be of another subnet.
class ChosenPort {
 public:
  /// What to open.
  [[nodiscard]] UmadSelection select(const UmadSelection& configured) const;

  /// That it was opened; true: for the first time.
  bool note(const UmadSelection& configured, const LocalPort& opened);

  /// What to do where no port has its GUID any more and one of another GUID has its place, as after
  /// other firmware; empty where it is not so.
  [[nodiscard]] std::string print_changed_guid(const UmadSelection& configured,
                                               std::span<const UmadPort> ports) const;

 private:
  UmadSelection configured_;
  LocalPort opened_;  // GUID 0: nothing was yet
};

/// "mlx5_0 port 1 (Active), mlx5_1 port 1 (Down, Ethernet)", or "none".
[[nodiscard]] std::string print_ports(std::span<const UmadPort> ports);

// What an errno of the kernel's management devices means to whoever runs us: one clear line that
// says what would be right.

enum class UmadStep { Open, Register, Send, Receive, ShowSm };

/// `where`: "mlx5_0 port 1".
[[nodiscard]] Error umad_error(UmadStep step, int error_number, const std::string& where);

// The Transport on real adapters: libibumad's management devices, or libumad2sim beneath it.

/// Opens the selected port, or pair of ports, and registers for both subnet-management classes on
/// QP0 and for subnet administration and, where nobody else on it does, congestion control on QP1.
/// A pair has not been tried on hardware. After an error nothing stays open. The transport must go
/// before the runtime; its destructor takes at most a tenth of a second.
[[nodiscard]] Result<std::unique_ptr<Transport>> open_umad_transport(
    Runtime& runtime, const UmadSelection& selection);

}  // namespace smd
