// Multicast tables from a dump: packets are let through them switch by switch, and circles are
// looked for with the unicast routes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "smd/base/text.h"
#include "smd/bin/text_lines.h"
#include "smd/bin/verify_report.h"
#include "smd/manager/multicast_manager.h"
#include "smd/multicast/group.h"
#include "smd/report/cycle_text.h"

namespace smd::bin {
namespace {

constexpr std::size_t kFaultsKept = 10;

/// What becomes of a packet that a switch gets from one of its own adapters.
class Packet {
 public:
  Packet(const Fabric& fabric, const std::vector<SwitchMask>& masks)
      : fabric_(fabric), masks_(masks), state_(fabric.port_count(), New) {}

  void send(SwitchIdx from) {
    for (const PortIdx in : entered_) state_[in] = New;
    entered_.clear();
    delivered_.clear();
    loop_ = twice_ = kNone<PortIdx>;
    copy(from, kNone<PortIdx>);
    std::ranges::sort(delivered_);
    const auto doubled = std::ranges::adjacent_find(delivered_);
    if (doubled != delivered_.end()) twice_ = *doubled;
    const auto again = std::ranges::unique(delivered_);
    delivered_.erase(again.begin(), again.end());
  }

  /// Ports of switches, towards adapters or their own port 0: ascending, each once.
  [[nodiscard]] const std::vector<PortIdx>& delivered() const { return delivered_; }

  /// kNone: it ends, or comes once.
  [[nodiscard]] PortIdx loop() const { return loop_; }

  [[nodiscard]] PortIdx twice() const { return twice_; }

 private:
  enum State : std::uint8_t { New, Open, Done };

  struct CopyStep {
    PortIdx in;
    std::vector<PortIdx> outs;
    std::size_t at = 0;
  };

  /// By the port that it came in; kNone: from an adapter.
  [[nodiscard]] std::vector<PortIdx> outs_of(SwitchIdx sw, PortIdx in) const {
    std::vector<PortIdx> outs;
    const auto mask = std::ranges::lower_bound(masks_, sw, {}, &SwitchMask::sw);
    if (mask == masks_.end() || mask->sw != sw) return outs;
    mask->ports.each([&](PortNum number) {
      const PortIdx out = fabric_.port_of(fabric_.switch_node[sw], number);
      if (out != in) outs.push_back(out);
    });
    return outs;
  }

  /// Depth first over the ports that it comes in by: what comes to one that is still being copied
  /// from goes round, what comes to another one again comes twice.
  void copy(SwitchIdx from, PortIdx first) {
    std::vector<CopyStep> stack;
    stack.push_back({first, outs_of(from, first)});
    while (!stack.empty()) {
      CopyStep& top = stack.back();
      if (top.at == top.outs.size()) {
        if (top.in != kNone<PortIdx>) state_[top.in] = Done;
        stack.pop_back();
        continue;
      }
      const PortIdx out = top.outs[top.at++];
      const PortIdx peer = fabric_.peer[out];
      if (fabric_.number_of(out) == PortNum{0}) {
        delivered_.push_back(out);
      } else if (peer == kNone<PortIdx>) {
        continue;
      } else if (fabric_.switch_at(peer) == kNone<SwitchIdx>) {
        delivered_.push_back(out);
      } else if (state_[peer] == New) {
        state_[peer] = Open;
        entered_.push_back(peer);
        stack.push_back({peer, outs_of(fabric_.switch_at(peer), peer)});
      } else {
        (state_[peer] == Open ? loop_ : twice_) = peer;
      }
    }
  }

  const Fabric& fabric_;
  const std::vector<SwitchMask>& masks_;
  IndexVector<PortIdx, State> state_;
  std::vector<PortIdx> entered_;
  std::vector<PortIdx> delivered_;
  PortIdx loop_ = kNone<PortIdx>;
  PortIdx twice_ = kNone<PortIdx>;
};

/// Of one MLID.
struct AtSwitch {
  unsigned members = 0;
  unsigned senders = 0;  // of them
};

/// One MLID against who is in it.
class GroupCheck {
 public:
  GroupCheck(const Fabric& fabric, MulticastReport& report) : fabric_(fabric), report_(report) {}

  void look_at(Lid mlid,
               const std::vector<SwitchMask>& masks,
               const std::vector<TreeMember>* members) {
    mlid_ = mlid;
    std::map<SwitchIdx, AtSwitch> at_switch;
    std::vector<PortIdx> receivers, all;  // entries
    if (members != nullptr) {
      for (const TreeMember& member : *members) {
        const PortIdx entry = entry_of(fabric_, member.port);
        if (entry == kNone<PortIdx>) continue;
        AtSwitch& here = at_switch[fabric_.switch_at(entry)];
        ++here.members;
        here.senders += member.sends ? 1 : 0;
        all.push_back(entry);
        if (member.receives) receivers.push_back(entry);
      }
    } else {
      for (const SwitchMask& mask : masks) at_switch[mask.sw] = {};
    }
    std::ranges::sort(receivers);
    std::ranges::sort(all);
    bool loop = false, twice = false, missed = false, stray = false;
    Packet packet(fabric_, masks);
    for (const auto& [from, here] : at_switch) {
      packet.send(from);
      if (packet.loop() != kNone<PortIdx>)
        note(report_.loops, loop, from, "goes round by", packet.loop());
      if (packet.twice() != kNone<PortIdx>)
        note(report_.duplicates, twice, from, "comes twice to", packet.twice());
      if (members == nullptr) continue;
      for (const PortIdx receiver : receivers) {
        if (here.senders == 0) break;
        // Who is alone at his switch sends nothing to himself.
        const bool own = here.members == 1 && fabric_.switch_at(receiver) == from;
        if (!own && !std::ranges::binary_search(packet.delivered(), receiver))
          note(report_.missed, missed, from, "does not come to", receiver);
      }
      for (const PortIdx got : packet.delivered()) {
        if (!std::ranges::binary_search(all, got))
          note(report_.strays, stray, from, "comes to no member at", got);
      }
    }
  }

 private:
  void note(std::size_t& count, bool& known, SwitchIdx from, const char* what, PortIdx port) {
    if (std::exchange(known, true)) return;
    ++count;
    if (report_.first_faults.size() == kFaultsKept) return;
    report_.first_faults.push_back(fmt::format("MLID 0x{:04x}: what is sent at {} {} {}",
                                               mlid_.value(),
                                               fabric_.description[fabric_.switch_node[from]],
                                               what,
                                               print_port(fabric_, port)));
  }

  const Fabric& fabric_;
  MulticastReport& report_;
  Lid mlid_;
};

TreeQuality& operator+=(TreeQuality& sum, const TreeQuality& more) {
  sum.cables = std::max(sum.cables, more.cables);
  sum.senders += more.senders;
  sum.pairs += more.pairs;
  sum.channels += more.channels;
  sum.hops += more.hops;
  sum.depth = std::max(sum.depth, more.depth);
  sum.shortest_channels += more.shortest_channels;
  sum.shortest_hops += more.shortest_hops;
  sum.shortest_depth = std::max(sum.shortest_depth, more.shortest_depth);
  sum.sampled = sum.sampled || more.sampled;
  return sum;
}

std::string circle_text(const std::optional<bool>& acyclic, const std::string& cycle) {
  if (!acyclic) return "not judged: unicast routes change VLs on the way";
  return *acyclic ? "none" : "FOUND: " + cycle;
}

}  // namespace

Parsed<MulticastInput> join_multicast(const VerifyInput& input,
                                      const std::vector<DumpedCopies>& copies,
                                      const std::string& file,
                                      const std::optional<std::vector<DumpedMember>>& members,
                                      const std::string& member_file) {
  const Fabric& fabric = *input.fabric;
  MulticastInput out;
  Faults faults;
  const auto refuse = [&](const std::string& where, int line, std::string what) {
    if (faults.size() < kMaxTextFaults) faults.push_back({where, line, std::move(what)});
  };
  for (const DumpedCopies& each : copies) {
    const auto node = fabric.find_node(each.guid);
    if (!node || !fabric.is_switch(*node)) {
      refuse(file,
             each.line,
             fmt::format("switch {} is not in the fabric file; both must show the same fabric",
                         each.guid));
      continue;
    }
    SwitchMask mask{fabric.switch_of[*node], {}};
    for (const PortNum port : each.ports) {
      if (port.value() > fabric.num_ports(*node)) {
        refuse(file,
               each.line,
               fmt::format("port {} of {}, which has ports 0 to {}",
                           port,
                           each.guid,
                           fabric.num_ports(*node)));
      } else {
        mask.ports.set(port);
      }
    }
    if (mask.ports.any()) out.masks[each.mlid].push_back(mask);
  }
  for (auto& [mlid, masks] : out.masks) std::ranges::sort(masks, {}, &SwitchMask::sw);
  if (members) {
    std::map<Guid, PortIdx> ports;
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.is_end_port(port)) ports.emplace(fabric.port_guid[port], port);
    }
    out.members.emplace();
    for (const DumpedMember& each : *members) {
      const auto port = ports.find(each.port_guid);
      if (port == ports.end()) {
        refuse(member_file,
               each.line,
               fmt::format("port {} is not in the fabric file; both must show the same fabric",
                           each.port_guid));
        continue;
      }
      std::vector<TreeMember>& of = (*out.members)[each.mlid];
      const auto at = std::ranges::lower_bound(of, port->second, {}, &TreeMember::port);
      const bool receives = join_state::receives(each.join_state);
      if (at != of.end() && at->port == port->second) {
        at->receives = at->receives || receives;  // in two groups that share the MLID
      } else {
        of.insert(at, {port->second, receives});
      }
    }
  }
  if (!faults.empty()) return tl::unexpected<Faults>(std::move(faults));
  return out;
}

void silence_others(MulticastInput& multicast) {
  if (!multicast.members) return;
  for (auto& [mlid, members] : *multicast.members) {
    if (members.size() < 2 || std::ranges::count(members, false, &TreeMember::receives) != 1)
      continue;
    for (TreeMember& member : members) member.sends = !member.receives;
  }
}

MulticastReport verify_multicast(const VerifyInput& input, const MulticastInput& multicast) {
  const Fabric& fabric = *input.fabric;
  MulticastReport report;
  GroupCheck check(fabric, report);
  MftGoals all = multicast.masks;
  if (multicast.members) {
    for (const auto& [mlid, members] : *multicast.members) all[mlid];
  }
  std::vector<TreesOfSl> trees;
  for (const auto& [mlid, masks] : all) {
    const std::vector<TreeMember>* members = nullptr;
    static const std::vector<TreeMember> kNobody;
    if (multicast.members) {
      const auto found = multicast.members->find(mlid);
      members = found == multicast.members->end() ? &kNobody : &found->second;
    }
    check.look_at(mlid, masks, members);
    if (members != nullptr) {
      report.members += members->size();
      report.quality += measure_tree(fabric, masks, *members);
    }
    trees.push_back({0, masks});
  }
  report.mlids = all.size();
  report.cables = measure_cables(fabric, all);
  if (report.cables.fullest != kNone<PortIdx>)
    report.fullest = print_port(fabric, report.cables.fullest);
  const ActiveSubnet dumped{.sweep = {.fabric = input.fabric},
                            .lids = input.lids,
                            .routing = input.routing,
                            .rows = SlToVlMaps{}};
  const MulticastVerdict verdict = check_multicast_deadlock(dumped, trees);
  report.acyclic = verdict.acyclic;
  report.cycle = verdict.cycle;
  const MulticastVerdict lock_step = check_multicast_deadlock(dumped, trees, CopyModel::LockStep);
  report.lock_step = lock_step.acyclic;
  report.lock_step_cycle = lock_step.cycle;
  return report;
}

std::string print_multicast(const MulticastReport& report) {
  const TreeQuality& quality = report.quality;
  std::string out = fmt::format("  multicast    {} MLIDs: {} in loops, {} with duplicates",
                                report.mlids,
                                report.loops,
                                report.duplicates);
  if (report.members != 0) {
    out += fmt::format(", {} that miss a receiver, {} that copy to adapters outside; {} members",
                       report.missed,
                       report.strays,
                       report.members);
  }
  out += fmt::format("\n  circles      {}\n", circle_text(report.acyclic, report.cycle));
  // A circle of channels that branches wait for need not be one that packets can close.
  out += fmt::format("  lock-step    {}\n",
                     report.lock_step == false ? "not proved: " + report.lock_step_cycle
                                               : circle_text(report.lock_step, {}));
  if (quality.pairs != 0) {
    out += fmt::format(
        "  trees        {} cables in the largest; {:.2f} hops on average and {} at most, {:.2f} "
        "and {} by shortest ways{}\n"
        "  copies       {:.1f} channels a packet; {:.1f} along trees of shortest ways, {:.1f} by "
        "unicasts\n",
        quality.cables,
        quality.mean_hops(),
        quality.depth,
        quality.mean_shortest_hops(),
        quality.shortest_depth,
        quality.sampled ? " (64 sending switches of each)" : "",
        quality.mean_channels(),
        quality.mean_shortest_channels(),
        quality.mean_unicast_channels());
  }
  if (report.cables.most != 0) {
    out += fmt::format("  shared       {} trees over the fullest cable, {}; {:.2f} on average\n",
                       report.cables.most,
                       printable(report.fullest),
                       report.cables.mean());
  }
  for (const std::string& fault : report.first_faults)
    out += fmt::format("  fault        {}\n", printable(fault));
  return out;
}

nlohmann::ordered_json multicast_json(const MulticastReport& report) {
  nlohmann::ordered_json trees = tree_json(report.quality);
  trees["most_over_a_cable"] = report.cables.most;
  trees["fullest_cable"] = report.fullest;
  trees["mean_over_a_cable"] = std::round(report.cables.mean() * 1000.0) / 1000.0;
  const auto verdict = [](const std::optional<bool>& acyclic, const std::string& cycle) {
    nlohmann::ordered_json out{{"acyclic", nullptr}, {"cycle", cycle}};
    if (acyclic) out["acyclic"] = *acyclic;
    return out;
  };
  return {{"ok", report.sound()},
          {"mlids", report.mlids},
          {"members", report.members},
          {"loops", report.loops},
          {"duplicates", report.duplicates},
          {"missed", report.missed},
          {"strays", report.strays},
          {"deadlock", verdict(report.acyclic, report.cycle)},
          {"lock_step", verdict(report.lock_step, report.lock_step_cycle)},
          {"trees", trees},
          {"first_faults", report.first_faults}};
}

}  // namespace smd::bin
