#include "smd/plan/verify/replay.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

namespace smd {
namespace {

std::size_t width_of(const TransitionTask& task) {
  return std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize;
}

bool is_sorted_set(const auto& items) {
  return std::ranges::adjacent_find(items, [](const auto& a, const auto& b) { return !(a < b); }) ==
         items.end();
}

}  // namespace

PlanReplay::PlanReplay(const TransitionTask& task, const TransitionPlan& plan)
    : task_(task),
      plan_(plan),
      fabric_(*task.fabric),
      before_(*task.held, fabric_.switch_count(), width_of(task)),
      after_(before_),
      wanted_(*task.wanted, fabric_.switch_count(), width_of(task)),
      blocked_(task.blocked),
      up_(fabric_.port_count(), 0),
      use_(fabric_.port_count(), LinkUse::Closed) {
  for (const PortIdx port : fabric_.peer.indices())
    up_[port] = fabric_.peer[port] != kNone<PortIdx> &&
                fabric_.port_info[port].state() == PortState::Active;
  up_before_ = up_;
  sort_lids();
  const bool proves = std::ranges::any_of(
      plan.phases, [](const TransitionPhase& phase) { return !phase.certificate.empty(); });
  if (proves && plan.vls > 1) {
    if (task.sl_to_vl != nullptr) vl_proof_.emplace(task, plan);
  } else if (proves) {
    begin_proof();
  }
}

void PlanReplay::begin_proof() {
  if (!may_count()) {
    proof_.emplace(fabric_, before_, constant_, changing_);
    return;
  }
  const KnownTurns counted = find_counted();
  proof_.emplace(fabric_, before_, constant_, changing_, &counted);
}

// Counts say which turns are taken by entries that nobody touches, where it is known what all
// entries hold. Where most are changed there is nothing to be gained.
bool PlanReplay::may_count() const {
  if (task_.turns == nullptr || !unknown_.empty()) return false;
  std::size_t listed = 0;
  for (const TransitionPhase& phase : plan_.phases) {
    if (phase.to_wanted) return false;
    listed += phase.entries.size();
  }
  return listed < fabric_.switch_count() * before_.lids() / 8;
}

// What no phase lists and nevertheless differs is changed as well: it is what switches hold, and
// not what was counted.
KnownTurns PlanReplay::find_counted() const {
  KnownTurns counted{.turns = task_.turns, .lids = task_.lids, .tables = &wanted_, .changed = {}};
  for (const TransitionPhase& phase : plan_.phases) {
    for (const EntryChange& change : phase.entries) {
      if (change.sw.value() < fabric_.switch_count() && change.lid.value() < before_.lids())
        counted.changed.push_back({change.sw, change.lid.value()});
    }
  }
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    const PortNum* const held = before_.row(sw);
    const PortNum* const wanted = wanted_.row(sw);
    before_.for_each_other_block(sw, wanted_, [&](std::size_t block) {
      const std::size_t first = block * kLftBlockSize;
      for (std::size_t lid = std::max<std::size_t>(first, 1); lid < first + kLftBlockSize; ++lid) {
        if (held[lid] != wanted[lid])
          counted.changed.push_back({sw, static_cast<std::uint16_t>(lid)});
      }
      return true;
    });
  }
  std::ranges::sort(counted.changed);
  const auto again = std::ranges::unique(counted.changed);
  counted.changed.erase(again.begin(), again.end());
  return counted;
}

// Sorts the LIDs into those that no phase touches and the others; collects the unknown entries.
void PlanReplay::sort_lids() {
  std::vector<char> changes(before_.lids(), 0);
  bool to_wanted = false;
  for (const TransitionPhase& phase : plan_.phases) {
    to_wanted |= phase.to_wanted;
    for (const EntryChange& change : phase.entries) {
      if (change.lid.value() < changes.size()) changes[change.lid.value()] = 1;
    }
  }
  if (to_wanted) std::ranges::fill(changes, 1);
  for (const TableBlock& block : task_.unknown) {
    for (std::size_t i = 0; i < kLftBlockSize; ++i) {
      const std::size_t lid = block.block * kLftBlockSize + i;
      if (lid == 0 || lid >= changes.size()) continue;
      changes[lid] = 1;
      unknown_.push_back({.sw = block.sw, .lid = static_cast<std::uint16_t>(lid), .any = true});
    }
  }
  std::ranges::sort(unknown_);
  for (std::size_t lid = 1; lid < changes.size(); ++lid)
    (changes[lid] ? changing_ : constant_).push_back(static_cast<std::uint16_t>(lid));
}

bool PlanReplay::is_unknown(SwitchIdx sw, std::uint16_t lid) const {
  return std::ranges::binary_search(unknown_, LooseEntry{.sw = sw, .lid = lid, .any = true});
}

// With one end Active the other need only be Armed: the first packet that it gets makes it Active.
bool PlanReplay::carries(const Ports& up, PortIdx port) const {
  const PortIdx peer = fabric_.peer[port];
  if (peer == kNone<PortIdx>) return false;
  const auto listens = [&](PortIdx end) {
    return up[end] || fabric_.port_info[end].state() == PortState::Armed;
  };
  return (up[port] || up[peer]) && listens(port) && listens(peer);
}

// Both ends send.
bool PlanReplay::is_active_link(PortIdx port) const {
  const PortIdx peer = fabric_.peer[port];
  return peer != kNone<PortIdx> && up_before_[port] && up_before_[peer];
}

bool PlanReplay::forwards_data(SwitchIdx sw) const {
  for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
    if (carries(port)) return true;
  }
  return false;
}

bool PlanReplay::is_silent() const {
  for (const PortIdx port : fabric_.peer.indices()) {
    if (carries(port)) return false;
  }
  return true;
}

std::string PlanReplay::check_turns(const std::vector<Turn>& turns, bool blocked_now) const {
  const char* const list = blocked_now ? "restore" : "block";
  if (!is_sorted_set(turns)) return fmt::format("its list of turns to {} is not sorted", list);
  for (const Turn& turn : turns) {
    if (turn.sw.value() >= fabric_.switch_count())
      return fmt::format("it would {} a turn of a switch that there is not", list);
    const unsigned ports = fabric_.num_ports(fabric_.switch_node[turn.sw]);
    if (turn.in.value() == 0 || turn.out.value() == 0 || turn.in.value() > ports ||
        turn.out.value() > ports || turn.in == turn.out)
      return fmt::format(
          "it would {} {} to {} of a switch, which is no turn", list, turn.in, turn.out);
    if (std::ranges::binary_search(blocked_, turn) != blocked_now)
      return fmt::format("it would {} {}, which is {}",
                         list,
                         print_turn(fabric_, turn),
                         blocked_now ? "not blocked" : "blocked already");
  }
  return "";
}

std::string PlanReplay::take_ports(const TransitionPhase& phase) {
  if (!is_sorted_set(phase.deactivate) || !is_sorted_set(phase.activate))
    return "its lists of ports are not sorted";
  for (const bool activate : {false, true}) {
    for (const PortIdx port : activate ? phase.activate : phase.deactivate) {
      if (port.value() >= fabric_.port_count() || fabric_.peer[port] == kNone<PortIdx>)
        return "it lists a port without a link";
      if ((up_[port] != 0) == activate)
        return fmt::format("it would {} {}, which is {}",
                           activate ? "activate" : "deactivate",
                           print_port(fabric_, port),
                           activate ? "active" : "not active");
      if (activate && fabric_.port_info[port].state() != PortState::Active &&
          !awaits_activation(fabric_, port))
        return fmt::format("{} is in no state to be activated", print_port(fabric_, port));
      up_[port] = activate;
    }
    if (!activate) up_before_ = up_;
  }
  return "";
}

void PlanReplay::find_use() {
  for (const NodeIdx node : fabric_.switch_node) {
    for (const PortIdx port : fabric_.external_ports(node)) {
      const PortIdx peer = fabric_.peer[port];
      if (peer == kNone<PortIdx> || !fabric_.is_switch(fabric_.node_of[peer])) continue;
      use_[port] = carries(up_before_, port) ? LinkUse::Open
                   : carries(up_, port)      ? LinkUse::Opens
                                             : LinkUse::Closed;
    }
  }
}

std::string PlanReplay::print_entry(const EntryChange& change) const {
  return fmt::format(
      "its entry for lid {} at {}", change.lid, name_of(fabric_, fabric_.switch_node[change.sw]));
}

std::string PlanReplay::check_entry(const EntryChange& change) const {
  if (change.sw.value() >= fabric_.switch_count())
    return "it has an entry for a switch that there is not";
  const NodeIdx node = fabric_.switch_node[change.sw];
  if (change.lid.value() == 0 || change.lid.value() >= after_.lids())
    return print_entry(change) + " is beyond the tables";
  const bool wanted = is_wanted(change);
  if (plan_.kind == TransitionKind::Certified && !wanted) return check_detour(change);
  if (change.egress == kNoRoute) return "";
  if (change.egress.value() > fabric_.num_ports(node))
    return wanted ? ""
                  : fmt::format(
                        "{} names port {}, which it has not", print_entry(change), change.egress);
  const PortIdx out = fabric_.port_of(node, change.egress);
  if (change.egress.value() == 0) return "";
  if (fabric_.peer[out] == kNone<PortIdx>)
    return wanted
               ? ""
               : fmt::format(
                     "{} leads to port {}, which has no link", print_entry(change), change.egress);
  if (plan_.kind != TransitionKind::Certified || !forwards_data(change.sw)) return "";
  const PortIdx peer = fabric_.peer[out];
  const bool will_open = (up_[out] || awaits_activation(fabric_, out)) &&
                         (up_[peer] || awaits_activation(fabric_, peer));
  if (fabric_.is_switch(fabric_.node_of[peer]) && will_open && !is_active_link(out))
    return fmt::format(
        "{} leads to port {}, which is not active yet", print_entry(change), change.egress);
  return "";
}

bool PlanReplay::is_wanted(const EntryChange& change) const {
  return wanted_.row(change.sw)[change.lid.value()] == change.egress;
}

// On the way to its wanted value an entry may have others, as long as they hand packets on: where
// packets end in the end, the held or the wanted tables say so.
std::string PlanReplay::check_detour(const EntryChange& change) const {
  const NodeIdx node = fabric_.switch_node[change.sw];
  if (change.egress == kNoRoute) return print_entry(change) + " is withdrawn, but wanted";
  if (change.egress.value() > fabric_.num_ports(node))
    return fmt::format("{} names port {}, which it has not", print_entry(change), change.egress);
  const PortIdx out = fabric_.port_of(node, change.egress);
  if (use_[out] != LinkUse::Open || !is_active_link(out))
    return fmt::format("{} leads aside to port {}, which is no active link to a switch",
                       print_entry(change),
                       change.egress);
  return "";
}

bool PlanReplay::may_send(SwitchIdx sw, Lid lid, PortNum egress) const {
  return before_.row(sw)[lid.value()] == egress || after_.row(sw)[lid.value()] == egress;
}

// Routes aside may need turns that neither the held nor the wanted ones do.
std::string PlanReplay::check_turns_of_detours() const {
  for (const Turn& turn : blocked_) {
    const NodeIdx node = fabric_.switch_node[turn.sw];
    const PortIdx peer = fabric_.peer[fabric_.port_of(node, turn.in)];
    if (peer == kNone<PortIdx>) continue;
    const SwitchIdx from = fabric_.switch_at(peer);
    for (const EntryChange& detour : detours_) {
      const bool leaves = detour.sw == turn.sw && detour.egress == turn.out;
      const bool arrives = detour.sw == from && detour.egress == fabric_.number_of(peer);
      if ((leaves &&
           (from == kNone<SwitchIdx> || may_send(from, detour.lid, fabric_.number_of(peer)))) ||
          (arrives && may_send(turn.sw, detour.lid, turn.out)))
        return fmt::format("packets to lid {} that are led aside need {}, which is blocked",
                           detour.lid,
                           print_turn(fabric_, turn));
    }
  }
  return "";
}

void PlanReplay::write_wanted() {
  const bool silent = is_silent();
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    for (std::size_t lid = 1; !silent && lid < before_.lids(); ++lid) {
      if (before_.row(sw)[lid] != wanted_.row(sw)[lid])
        overwritten_.push_back({sw, Lid{static_cast<std::uint16_t>(lid)}, before_.row(sw)[lid]});
    }
  }
  after_ = wanted_;
  resolved_ = std::move(unknown_);
  unknown_.clear();
}

std::string PlanReplay::take_entries(const TransitionPhase& phase) {
  overwritten_.clear();
  resolved_.clear();
  written_.clear();
  if (!is_sorted_set(phase.entries) ||
      std::ranges::adjacent_find(phase.entries, [](const EntryChange& a, const EntryChange& b) {
        return a.sw == b.sw && a.lid == b.lid;
      }) != phase.entries.end())
    return "its entries are not sorted, or name one entry twice";
  if (phase.to_wanted) {
    if (!phase.entries.empty()) return "it writes all of the wanted entries and lists some";
    write_wanted();
  }
  for (const EntryChange& change : phase.entries) {
    if (std::string fault = check_entry(change); !fault.empty()) return fault;
    const std::uint16_t lid = change.lid.value();
    overwritten_.push_back({change.sw, change.lid, after_.row(change.sw)[lid]});
    if (plan_.kind == TransitionKind::Certified && !is_wanted(change)) detours_.push_back(change);
    if (is_unknown(change.sw, lid)) resolved_.push_back({.sw = change.sw, .lid = lid, .any = true});
  }
  write_entries(phase.entries);
  std::vector<char> written(after_.lids(), 0);
  for (const EntryChange& change : overwritten_) written[change.lid.value()] = 1;
  for (const LooseEntry& entry : resolved_) written[entry.lid] = 1;
  for (std::size_t lid = 0; lid < written.size(); ++lid) {
    if (written[lid]) written_.push_back(static_cast<std::uint16_t>(lid));
  }
  if (plan_.kind == TransitionKind::Certified) {
    if (std::string fault = check_next_hops(phase); !fault.empty()) return fault;
  }
  return check_turns_of_detours();
}

// A row that all of its entries together make the wanted one is taken for it, and not copied.
void PlanReplay::write_entries(const std::vector<EntryChange>& entries) {
  for (auto first = entries.begin(); first != entries.end();) {
    const SwitchIdx sw = first->sw;
    const auto last =
        std::find_if(first, entries.end(), [&](const EntryChange& each) { return each.sw != sw; });
    std::size_t others = 0;
    after_.for_each_other_block(sw, wanted_, [&](std::size_t block) {
      for (std::size_t i = 0; i < kLftBlockSize; ++i) {
        const std::size_t lid = block * kLftBlockSize + i;
        others += after_.row(sw)[lid] != wanted_.row(sw)[lid];
      }
      return true;
    });
    for (auto at = first; at != last; ++at) {
      const PortNum held = after_.row(sw)[at->lid.value()];
      others -= is_wanted(*at) && held != at->egress;
    }
    if (others == 0 &&
        std::all_of(first, last, [&](const auto& each) { return is_wanted(each); })) {
      after_.set_row(sw, wanted_);
    } else {
      for (auto at = first; at != last; ++at) after_.set(sw, at->lid.value(), at->egress);
    }
    first = last;
  }
}

bool PlanReplay::got_on(SwitchIdx sw, std::uint16_t lid) const {
  const PortNum egress = before_.row(sw)[lid];
  const NodeIdx node = fabric_.switch_node[sw];
  if (egress.value() > fabric_.num_ports(node)) return false;
  const PortIdx out = fabric_.port_of(node, egress);
  return egress == PortNum{0} || carries(out);
}

/// No port, none that there is, or one without a link.
bool PlanReplay::leads_nowhere(SwitchIdx sw, PortNum egress) const {
  const NodeIdx node = fabric_.switch_node[sw];
  return egress.value() > fabric_.num_ports(node) ||
         (egress != PortNum{0} && fabric_.peer[fabric_.port_of(node, egress)] == kNone<PortIdx>);
}

// Packets that got on before are not led to a switch that may have no entry for them yet: it gets
// one in this phase or a later one.
std::string PlanReplay::check_next_hops(const TransitionPhase& phase) const {
  for (const EntryChange& change : phase.entries) {
    const std::uint16_t lid = change.lid.value();
    if (change.egress.value() > fabric_.num_ports(fabric_.switch_node[change.sw]) ||
        task_.lids->owner_of(change.lid) == kNone<PortIdx> || !got_on(change.sw, lid))
      continue;
    const PortIdx peer =
        fabric_.peer[fabric_.port_of(fabric_.switch_node[change.sw], change.egress)];
    const SwitchIdx next = peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric_.switch_at(peer);
    if (next != kNone<SwitchIdx> && leads_nowhere(next, before_.row(next)[lid]) &&
        !(leads_nowhere(next, after_.row(next)[lid]) &&
          leads_nowhere(next, wanted_.row(next)[lid])) &&
        !is_unknown(next, lid))
      return fmt::format("{} leads to {}, which may have none yet",
                         print_entry(change),
                         name_of(fabric_, fabric_.switch_node[next]));
  }
  return "";
}

std::string PlanReplay::begin_phase(const TransitionPhase& phase) {
  if (std::string fault = take_sl_to_vl(phase); !fault.empty()) return fault;
  if (std::string fault = check_turns(phase.block, false); !fault.empty()) return fault;
  std::vector<Turn> blocked;
  std::ranges::set_union(blocked_, phase.block, std::back_inserter(blocked));
  blocked_.swap(blocked);
  if (std::string fault = check_turns(phase.restore, true); !fault.empty()) return fault;
  blocked.clear();
  std::ranges::set_difference(blocked_, phase.restore, std::back_inserter(blocked));
  blocked_.swap(blocked);
  if (std::string fault = take_ports(phase); !fault.empty()) return fault;
  find_use();
  return take_entries(phase);
}

std::string PlanReplay::prove(const ChannelOrder& certificate) {
  if (plan_.vls > 1) return prove_vls(certificate);
  if (certificate.size() != fabric_.port_count())
    return fmt::format(
        "its certificate has {} channels instead of {}", certificate.size(), fabric_.port_count());
  std::vector<LooseEntry> unknown;
  std::ranges::merge(unknown_, resolved_, std::back_inserter(unknown));
  return proof_->find_violation({.before = &before_,
                                 .after = &after_,
                                 .written = &written_,
                                 .unknown = &unknown,
                                 .lingering = &earlier_phases_,
                                 .use = &use_,
                                 .blocked = &blocked_,
                                 .u_turns = plan_.kind == TransitionKind::Certified},
                                certificate);
}

// Only what could send data while the phase was under way.
void PlanReplay::add_earlier_entries() {
  for (const EntryChange& change : overwritten_) {
    const NodeIdx node = fabric_.switch_node[change.sw];
    if (change.egress.value() > fabric_.num_ports(node) ||
        use_[fabric_.port_of(node, change.egress)] != LinkUse::Open)
      continue;
    earlier_phases_.push_back({.sw = change.sw, .lid = change.lid.value(), .port = change.egress});
  }
  for (const LooseEntry& entry : resolved_) {
    if (forwards_data(entry.sw)) earlier_phases_.push_back(entry);
  }
  std::ranges::sort(earlier_phases_);
}

void PlanReplay::end_phase(bool last) {
  if (!last && plan_.in_flight == InFlight::Linger) add_earlier_entries();
  if (!last && vl_proof_) {
    for (const EntryChange& change : overwritten_) {
      if (forwards_data(change.sw))
        earlier_.push_back(
            {.sw = change.sw, .lid = change.lid.value(), .any = false, .port = change.egress});
    }
  }
  wrote_sl_to_vl_ = wrote_sl_to_vl_ || writes_sl_to_vl_;
  if (!resolved_.empty() && !unknown_.empty()) {
    std::vector<LooseEntry> rest;
    std::ranges::set_difference(unknown_, resolved_, std::back_inserter(rest));
    unknown_.swap(rest);
  }
  up_before_ = up_;
  std::erase_if(detours_, [&](const EntryChange& detour) {
    return after_.row(detour.sw)[detour.lid.value()] != detour.egress;
  });
  if (!last) before_ = after_;
}

std::string PlanReplay::find_rest() {
  if (!wrote_sl_to_vl_ && sl_to_vl_differs(task_))
    return "after the last phase rows are not as wanted";
  if (std::string fault = find_vl_rest(); !fault.empty()) return fault;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    if (unknown_.empty() && !after_.differs(sw, wanted_)) continue;
    for (std::size_t lid = 1; lid < after_.lids(); ++lid) {
      const auto number = static_cast<std::uint16_t>(lid);
      const PortNum holds = after_.row(sw)[lid], wanted = wanted_.row(sw)[lid];
      if (holds == wanted && !is_unknown(sw, number)) continue;
      const NodeIdx node = fabric_.switch_node[sw];
      return fmt::format("after the last phase lid {} leaves {} by {} instead of {}",
                         lid,
                         print_port(fabric_, fabric_.port_of(node, PortNum{0})),
                         is_unknown(sw, number) ? std::string{"a port that nobody knows"}
                                                : fmt::format("port {}", holds),
                         wanted);
    }
  }
  for (const PortIdx port : fabric_.peer.indices()) {
    const bool was_active = fabric_.port_info[port].state() == PortState::Active &&
                            fabric_.peer[port] != kNone<PortIdx>;
    if ((was_active || awaits_activation(fabric_, port)) && !up_[port])
      return fmt::format("after the last phase {} is not active", print_port(fabric_, port));
  }
  if (blocked_ != plan_.blocked)
    return fmt::format(
        "it says that {} turns remain blocked, but {} do", plan_.blocked.size(), blocked_.size());
  if (!proof_ && !blocked_.empty()) begin_proof();
  if (std::string need = blocked_.empty() ? "" : proof_->find_need(blocked_, after_); !need.empty())
    return need + ", which remains blocked";
  return "";
}

// What a plan does to VLs, phase by phase.

std::string PlanReplay::take_sl_to_vl(const TransitionPhase& phase) {
  if (phase.sl_to_vl && task_.sl_to_vl == nullptr) return "it writes rows, and none are wanted";
  if (phase.sl_to_vl && wrote_sl_to_vl_) return "it writes rows that are written";
  if (phase.advertised && advertised_) return "hosts are told twice";
  if (plan_.kind == TransitionKind::Certified && plan_.vls == 1 && sl_to_vl_discards(task_))
    return "rows discard packets, and lanes are not told apart";
  writes_sl_to_vl_ = phase.sl_to_vl;
  advertised_ = advertised_ || phase.advertised;
  return "";
}

bool PlanReplay::is_silent_kind() const {
  return plan_.kind == TransitionKind::Initial || plan_.kind == TransitionKind::DeactivateAll;
}

std::string PlanReplay::prove_vls(const ChannelOrder& certificate) {
  if (!vl_proof_) return "it tells lanes apart, and nothing is known of them";
  if (plan_.vls > kManagementVl.value()) return "it tells more lanes apart than there are";
  if (certificate.size() != fabric_.port_count() * plan_.vls)
    return fmt::format("its certificate has {} lanes instead of {}",
                       certificate.size(),
                       fabric_.port_count() * plan_.vls);
  const bool silent = is_silent_kind();
  if (!silent && (!task_.unknown.empty() || !task_.sl_to_vl->unknown.empty()))
    return "nobody knows what all blocks and rows hold";
  if (!silent && plan_.phases.size() > 1 && plan_.in_flight != InFlight::Drained)
    return "it tells lanes apart in several phases without counting on a drained fabric";
  IndexVector<SwitchIdx, char> live;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) live.push_back(forwards_data(sw));
  const bool certified = plan_.kind == TransitionKind::Certified;
  std::vector<char> lossless(after_.lids(), certified && (advertised_ || writes_sl_to_vl_));
  for (const EntryChange& change : overwritten_) {
    if (certified && live[change.sw]) lossless[change.lid.value()] = 1;
  }
  // SL-to-VL entries are confirmed before entries follow, and what only discards adds nothing
  // meanwhile.
  const bool only_discards =
      plan_.in_flight == InFlight::Drained &&
      sl_to_vl_only_discards(task_, with_blocked_sls(task_.sl_to_vl->wanted, plan_.blocked_sls));
  return vl_proof_->find_violation(
      {.before = &before_,
       .after = &after_,
       .constant = &constant_,
       .earlier = &earlier_,
       .use = &use_,
       .live = &live,
       .blocked = &blocked_,
       .lossless = &lossless,
       .held_sl_to_vl = !wrote_sl_to_vl_ && !(writes_sl_to_vl_ && only_discards),
       .wanted_sl_to_vl = wrote_sl_to_vl_ || writes_sl_to_vl_,
       .silent = silent,
       .advertised = advertised_,
       .u_turns = certified},
      certificate);
}

// Requires: every phase was begun, and ended.
std::string PlanReplay::find_vl_rest() {
  if (plan_.vls > 1 && !advertised_) return "hosts are never told of the wanted routes";
  if (plan_.blocked_sls.empty()) return "";
  if (!vl_proof_ || !wrote_sl_to_vl_)
    return "it discards SLs without writing rows, or without proof";
  if (plan_.kind == TransitionKind::Certified && plan_.discards_sls())
    return "it discards SLs, which a certified plan does not";
  if (!std::ranges::is_sorted(plan_.blocked_sls, {}, [](const BlockedSls& each) {
        return std::pair(each.turn, each.vl);
      }))
    return "its list of SLs to discard is not sorted";
  use_.assign(fabric_.port_count(), LinkUse::Open);
  const IndexVector<SwitchIdx, char> live(fabric_.switch_count(), 1);
  const std::vector<char> lossless(after_.lids(), 1);
  const std::string fault = vl_proof_->find_violation({.before = &after_,
                                                       .after = &after_,
                                                       .earlier = &earlier_,
                                                       .use = &use_,
                                                       .live = &live,
                                                       .blocked = &blocked_,
                                                       .lossless = &lossless,
                                                       .wanted_sl_to_vl = true,
                                                       .silent = true,
                                                       .u_turns = false},
                                                      plan_.phases.back().certificate);
  return fault.empty() ? "" : "after the last phase " + fault;
}

}  // namespace smd
