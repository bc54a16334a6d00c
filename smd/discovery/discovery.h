// Full discovery: learns the whole subnet by directed routes, in propagation order, pipelined
// through the SMP window.
//
// Lean (default): a link known from one end is not asked from the other, and a raised
// PortStateChange is cleared before the switch's ports are read, so that a change during the
// reading raises it again. Literal: the request set of the thesis (full discovery, Table 12): every
// up port is probed, the way back included, and LIDs are set while discovering.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_client.h"

namespace smd {

struct DiscoveryOptions {
  bool literal = false;
  MKey m_key;

  /// Literal only: called with the port's GUID for every port that takes a LID; what it returns is
  /// sent as Set(PortInfo) at once.
  std::function<std::optional<PortInfo>(Guid, const PortInfo&)> set_end_port;
};

/// One run. Destroying it cancels what is pending.
class Discovery {
 public:
  /// Fails only when the local node does not answer; everything else is data in the report.
  using Done = std::function<void(Result<SweepReport>)>;

  Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch);
  Discovery(const Discovery&) = delete;

  /// `done` runs once, last; it may destroy this.
  void start(Done done);

 private:
  struct Port {
    bool asked = false;
    bool read = false;
    PortInfo info;
    Guid guid;
    std::uint32_t peer_node = kNobody;
    PortNum peer_port;
  };

  struct Node {
    NodeInfo info;
    SwitchInfo switch_info;
    HopPath path;
    std::vector<Port> ports;  // 0 … num_ports
    bool broken = false;      // stopped answering: left out of the snapshot
  };

  struct End {
    std::uint32_t node = 0;
    PortNum port;

    friend bool operator==(const End&, const End&) = default;
  };

  static constexpr std::uint32_t kNobody = UINT32_MAX;

  void ask(const HopPath& path,
           Method method,
           AttributeId attribute,
           std::uint32_t modifier,
           const SmpData& data,
           std::function<void(Result<SmpReply>)> on_reply);
  void ask_node_info(const HopPath& path, std::optional<End> from);
  void on_node_info(const HopPath& path, std::optional<End> from, const Result<SmpReply>& reply);
  std::uint32_t add_node(const NodeInfo& info, const HopPath& path);
  void explore_switch(std::uint32_t node);
  void on_switch_info(std::uint32_t node, const Result<SmpReply>& reply);
  void clear_port_state_change(std::uint32_t node);
  void ask_switch_ports(std::uint32_t node);
  void ask_port_info(std::uint32_t node, PortNum port, const HopPath& path);
  void on_port_info(std::uint32_t node,
                    PortNum port,
                    const HopPath& path,
                    const Result<SmpReply>& reply);
  void set_end_port(std::uint32_t node, PortNum port, const HopPath& path);
  void pump_probes();
  void join(End a, End b);
  void verify_older_link(End older, End newer, End contested);
  void break_node(std::uint32_t node, PortNum port, std::string why);
  void step();
  [[nodiscard]] SweepReport build() const;

  [[nodiscard]] Port& port(End end) { return nodes_[end.node].ports[end.port.value()]; }

  SmpClient& client_;
  SmpScope scope_;
  DiscoveryOptions options_;
  Epoch epoch_;
  Done done_;
  std::size_t outstanding_ = 0;
  std::deque<End> probes_;  // up ports whose other end is not known yet, oldest first
  std::vector<Node> nodes_;
  std::unordered_map<Guid, std::uint32_t> by_guid_;  // look-ups only
  PortNum local_port_;
  std::optional<Error> fatal_;
  std::vector<SilentPort> silent_;
  std::vector<DuplicateGuid> duplicates_;
};

}  // namespace smd
