// What VlTransientProof says, said the long way: every LID and every SL by itself, from every
// switch, over all pairs of ports. Slow, and easy to follow.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "smd/plan/verify/vl_transient_proof.h"

namespace smd::test {

class FullVlProof {
 public:
  FullVlProof(const TransitionTask& task, const TransitionPlan& plan)
      : task_(task),
        vls_(plan.vls),
        wanted_sl_to_vl_(with_blocked_sls(task.sl_to_vl->wanted, plan.blocked_sls)) {}

  /// Empty when every dependency of the phase respects `order`; else the first that violates it.
  [[nodiscard]] std::string find_violation(const VlPhaseView& phase, const ChannelOrder& order);

 private:
  struct Hop {
    PortIdx out;
    bool in_force = true;
  };

  void list_hops(std::uint16_t lid);
  void add_hop(SwitchIdx sw, PortNum egress, bool in_force);
  [[nodiscard]] bool offers(SwitchIdx sw, std::uint16_t lid, unsigned sl) const;
  void flood(std::uint16_t lid, unsigned sl);
  [[nodiscard]] std::string check_sl(std::uint16_t lid, unsigned sl, const ChannelOrder& order);
  [[nodiscard]] std::string check_turns(
      std::uint16_t lid, unsigned sl, PortIdx out, unsigned vl, const ChannelOrder& order);
  [[nodiscard]] std::vector<unsigned> vls_of(SwitchIdx sw,
                                             PortNum in,
                                             PortNum out,
                                             unsigned sl) const;
  [[nodiscard]] bool is_blocked(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] SwitchIdx peer_switch_of(PortIdx port) const;
  [[nodiscard]] std::string print_loss(std::uint16_t lid, unsigned sl, SwitchIdx sw) const;

  const TransitionTask& task_;
  unsigned vls_;
  SlToVlMaps wanted_sl_to_vl_;
  const VlPhaseView* phase_ = nullptr;
  IndexVector<SwitchIdx, std::vector<Hop>> hops_;
  IndexVector<SwitchIdx, std::vector<PortIdx>> entered_;  // ports by which packets may come
  IndexVector<SwitchIdx, char> reached_;                  // by packets of the SL under way
};

inline SwitchIdx FullVlProof::peer_switch_of(PortIdx port) const {
  const PortIdx peer = task_.fabric->peer[port];
  return peer == kNone<PortIdx> ? kNone<SwitchIdx> : task_.fabric->switch_at(peer);
}

inline void FullVlProof::add_hop(SwitchIdx sw, PortNum egress, bool in_force) {
  const Fabric& fabric = *task_.fabric;
  const NodeIdx node = fabric.switch_node[sw];
  if (egress.value() == 0 || egress.value() > fabric.num_ports(node)) return;
  const PortIdx out = fabric.port_of(node, egress);
  if (peer_switch_of(out) == kNone<SwitchIdx> || (*phase_->use)[out] == LinkUse::Closed) return;
  const auto known = std::ranges::find(hops_[sw], out, &Hop::out);
  if (known != hops_[sw].end()) {
    known->in_force = known->in_force || in_force;
    return;
  }
  hops_[sw].push_back({out, in_force});
  entered_[peer_switch_of(out)].push_back(fabric.peer[out]);
}

inline void FullVlProof::list_hops(std::uint16_t lid) {
  const auto all = task_.fabric->switch_node.indices();
  hops_.assign(task_.fabric->switch_count(), {});
  entered_.assign(task_.fabric->switch_count(), {});
  for (const SwitchIdx sw : all) {
    add_hop(sw, phase_->after->row(sw)[lid], true);
    // A switch without data gets its entries before its links carry any.
    if (phase_->silent || !(*phase_->live)[sw]) continue;
    add_hop(sw, phase_->before->row(sw)[lid], true);
  }
  if (phase_->silent) return;
  for (const LooseEntry& entry : *phase_->earlier) {
    if (entry.lid == lid) add_hop(entry.sw, entry.port, false);
  }
}

inline bool FullVlProof::offers(SwitchIdx sw, std::uint16_t lid, unsigned sl) const {
  const std::size_t switches = task_.fabric->switch_count();
  const auto has = [&](const SlSets& sets) {
    return sets.covers(switches, Lid{lid}) && (sets.of(sw, Lid{lid}) >> sl & 1);
  };
  return (!phase_->silent && has(*task_.sl_to_vl->advertised)) ||
         ((phase_->silent || phase_->advertised) && has(*task_.sl_to_vl->wanted_sls));
}

inline void FullVlProof::flood(std::uint16_t lid, unsigned sl) {
  reached_.assign(task_.fabric->switch_count(), 0);
  std::vector<SwitchIdx> front;
  const auto reach = [&](SwitchIdx sw) {
    if (!std::exchange(reached_[sw], 1)) front.push_back(sw);
  };
  for (const SwitchIdx sw : task_.fabric->switch_node.indices()) {
    if (offers(sw, lid, sl)) reach(sw);
  }
  while (!front.empty()) {
    const SwitchIdx sw = front.back();
    front.pop_back();
    for (const Hop& hop : hops_[sw]) reach(peer_switch_of(hop.out));
  }
}

// VL 15 where an entry that may be in force discards.
inline std::vector<unsigned> FullVlProof::vls_of(SwitchIdx sw,
                                                 PortNum in,
                                                 PortNum out,
                                                 unsigned sl) const {
  std::vector<unsigned> vls;
  if (phase_->held_sl_to_vl && (*phase_->live)[sw] && !phase_->silent) {
    const unsigned held = task_.sl_to_vl->held.row(sw, in, out)[sl].value();
    // What held SL-to-VL entries discard is no news: forwarding entries come after them.
    if (held != kManagementVl.value() || !phase_->wanted_sl_to_vl) vls.push_back(held);
  }
  if (phase_->wanted_sl_to_vl || !(*phase_->live)[sw] || phase_->silent) {
    const unsigned wanted = wanted_sl_to_vl_.row(sw, in, out)[sl].value();
    if (vls.empty() || vls[0] != wanted) vls.push_back(wanted);
  }
  return vls;
}

inline bool FullVlProof::is_blocked(SwitchIdx sw, PortNum in, PortNum out) const {
  return std::ranges::binary_search(*phase_->blocked, Turn{sw, in, out});
}

inline std::string FullVlProof::print_loss(std::uint16_t lid, unsigned sl, SwitchIdx sw) const {
  return fmt::format(
      "packets to lid {} with SL {} are discarded at {}",
      lid,
      sl,
      print_port(*task_.fabric, task_.fabric->port_of(task_.fabric->switch_node[sw], PortNum{0})));
}

// From VL `vl` of the channel that begins at `out`.
inline std::string FullVlProof::check_turns(
    std::uint16_t lid, unsigned sl, PortIdx out, unsigned vl, const ChannelOrder& order) {
  const Fabric& fabric = *task_.fabric;
  const PortIdx in = fabric.peer[out];
  const SwitchIdx sw = peer_switch_of(out);
  const auto violation = [&](PortIdx next, unsigned next_vl) -> std::string {
    if (order[vl_channel_at(out, vl, vls_)] < order[vl_channel_at(next, next_vl, vls_)]) return "";
    return fmt::format(
        "packets to lid {} with SL {} can go from {} on VL {} on to {} on VL {}, against the order "
        "of the certificate",
        lid,
        sl,
        print_port(fabric, out),
        vl,
        print_port(fabric, next),
        next_vl);
  };
  for (const Hop& next : hops_[sw]) {
    if (!next.in_force) continue;
    if (next.out == in) {
      if (phase_->u_turns && (*phase_->lossless)[lid]) return print_loss(lid, sl, sw);
      continue;
    }
    if (is_blocked(sw, fabric.number_of(in), fabric.number_of(next.out))) continue;
    for (const unsigned next_vl :
         vls_of(sw, fabric.number_of(in), fabric.number_of(next.out), sl)) {
      if (next_vl >= vls_) {
        if (next_vl < kManagementVl.value()) return "a row names a lane that is in no certificate";
        if ((*phase_->lossless)[lid]) return print_loss(lid, sl, sw);
        continue;
      }
      if (std::string fault = violation(next.out, next_vl); !fault.empty()) return fault;
    }
  }
  return "";
}

inline std::string FullVlProof::check_sl(std::uint16_t lid,
                                         unsigned sl,
                                         const ChannelOrder& order) {
  const Fabric& fabric = *task_.fabric;
  flood(lid, sl);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (!reached_[sw]) continue;
    for (const Hop& hop : hops_[sw]) {
      if (!hop.in_force) continue;
      const PortNum out = fabric.number_of(hop.out);
      std::vector<unsigned> on;
      const auto add = [&](PortNum in) {
        for (const unsigned vl : vls_of(sw, in, out, sl)) on.push_back(vl);
      };
      if (offers(sw, lid, sl)) {
        add(PortNum{0});
        for (const PortIdx in : fabric.external_ports(fabric.switch_node[sw])) {
          if (fabric.peer[in] != kNone<PortIdx> && peer_switch_of(in) == kNone<SwitchIdx>)
            add(fabric.number_of(in));
        }
        if ((*phase_->lossless)[lid] && std::ranges::count(on, kManagementVl.value()) != 0)
          return print_loss(lid, sl, sw);
      }
      for (const PortIdx in : entered_[sw]) {
        if (in != hop.out && reached_[peer_switch_of(in)] &&
            !is_blocked(sw, fabric.number_of(in), out))
          add(fabric.number_of(in));
      }
      std::ranges::sort(on);
      const auto twice = std::ranges::unique(on);
      on.erase(twice.begin(), twice.end());
      for (const unsigned vl : on) {
        if (vl == kManagementVl.value()) continue;
        if (vl >= vls_) return "a row names a lane that is in no certificate";
        if (std::string fault = check_turns(lid, sl, hop.out, vl, order); !fault.empty())
          return fault;
      }
    }
  }
  return "";
}

inline std::string FullVlProof::find_violation(const VlPhaseView& phase,
                                               const ChannelOrder& order) {
  phase_ = &phase;
  for (std::uint32_t lid = 1; lid < phase.after->lids(); ++lid) {
    const auto number = static_cast<std::uint16_t>(lid);
    list_hops(number);
    for (unsigned sl = 0; sl < 16; ++sl) {
      if (std::string fault = check_sl(number, sl, order); !fault.empty()) return fault;
    }
  }
  return "";
}

}  // namespace smd::test
