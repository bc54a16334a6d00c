// What a discovery knows so far: nodes, ports and cables, as they are learned or were known before.
//
// Nodes are numbered as they come and keep their number; node 0 is the manager's own. A node that
// is gone stays as an entry that nothing leads to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "smd/discovery/sweep_report.h"

namespace smd {

/// One end of a cable.
struct CableEnd {
  std::uint32_t node = 0;
  PortNum port;

  friend bool operator==(const CableEnd&, const CableEnd&) = default;
  friend auto operator<=>(const CableEnd&, const CableEnd&) = default;
};

class Survey {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Port {
    PortInfo info;
    Guid guid;
    bool asked = false;    // in this run
    bool read = false;     // `info` is an answer, of this run or of one before
    bool fresh = false;    // `info` is an answer of this run
    bool joined = false;   // the cable was seen in this run
    bool probing = false;  // who is at the other end is being asked, or will be
    bool fdr10 = false;
    bool mute = false;  // does not say what it is: nobody can bring it up, so its cable is none
  };

  struct Node {
    NodeInfo info;
    SwitchInfo switch_info;
    std::string description;
    SmpRoute route;
    std::vector<Port> ports;      // 0 … num_ports
    std::vector<CableEnd> peers;  // by port, of kNobody where there is no cable; apart, because
                                  // whoever looks for paths looks at nothing else
    bool broken = false;          // stopped answering, or is gone: left out of the snapshot
  };

  /// Takes over a snapshot; node numbers are its handles. Requires: an empty survey.
  void seed(const SweepReport& known);

  /// Requires: the GUID is new.
  std::uint32_t add(const NodeInfo& info, const SmpRoute& route);

  /// The node's GUID is free for another one. Requires: it has no cable.
  void forget(std::uint32_t node);

  [[nodiscard]] std::optional<std::uint32_t> find(Guid guid) const;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }

  [[nodiscard]] Node& node(std::uint32_t n) { return nodes_[n]; }

  [[nodiscard]] const Node& node(std::uint32_t n) const { return nodes_[n]; }

  [[nodiscard]] Port& port(CableEnd end) { return nodes_[end.node].ports[end.port.value()]; }

  [[nodiscard]] const Port& port(CableEnd end) const {
    return nodes_[end.node].ports[end.port.value()];
  }

  [[nodiscard]] std::optional<CableEnd> peer(CableEnd end) const;

  /// Of kNobody where there is no cable.
  [[nodiscard]] const std::vector<CableEnd>& peers(std::uint32_t n) const {
    return nodes_[n].peers;
  }

  [[nodiscard]] bool is_up(CableEnd end) const {
    return port(end).info.state() >= PortState::Initialize;
  }

  /// Both ends lose the cable that they had.
  void link(CableEnd a, CableEnd b);

  /// An adapter's end is forgotten with its cable: it answers for itself when it has one again.
  void unlink(CableEnd end);

  [[nodiscard]] PortNum local_port() const { return local_port_; }

  void set_local_port(PortNum port) { local_port_ = port; }

 private:
  static constexpr CableEnd kNoCable{.node = kNobody, .port = PortNum{0}};

  CableEnd& peer_of(CableEnd end) { return nodes_[end.node].peers[end.port.value()]; }

  std::vector<Node> nodes_;
  std::unordered_map<Guid, std::uint32_t> by_guid_;  // look-ups only
  PortNum local_port_;                               // of the manager; 0 on a switch
};

/// A node seen across `second` under a GUID that another one has, which is known, or was seen
/// across `first`.
struct Twin {
  Guid guid;
  std::optional<CableEnd> first;
  CableEnd second;
};

/// What was noticed on the way.
struct Oddities {
  std::vector<SilentPort> silent;
  std::vector<Twin> twins;
};

/// The snapshot of what can be reached, with its paths. Numbers and paths follow from the cabling
/// alone: breadth first from the manager, in port order. So does the arrival port in every
/// attribute: it is that of the path.
[[nodiscard]] SweepReport build_report(const Survey& survey, Oddities oddities, Epoch epoch);

}  // namespace smd
