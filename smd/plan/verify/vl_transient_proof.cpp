#include "smd/plan/verify/vl_transient_proof.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace smd {
namespace {

constexpr std::uint16_t kDiscard = 1u << 15;  // as a bit of VLs: VL 15

template <class Visit>
void for_each_bit(std::uint32_t bits, Visit&& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(std::countr_zero(bits)));
}

constexpr std::uint16_t bit(unsigned number) { return static_cast<std::uint16_t>(1u << number); }

}  // namespace

VlTransientProof::VlTransientProof(const TransitionTask& task, const TransitionPlan& plan)
    : task_(task),
      fabric_(*task.fabric),
      vls_(plan.vls),
      wanted_sl_to_vl_(with_blocked_sls(task.sl_to_vl->wanted, plan.blocked_sls)),
      peer_switch_(fabric_.port_count(), kNone<SwitchIdx>),
      entrances_(fabric_.switch_count()) {
  const auto list = [](const std::vector<SlToVl>& rows, std::vector<Vls>& vls) {
    for (const SlToVl& row : rows) {
      vls.emplace_back();
      for (std::size_t sl = 0; sl < kSls; ++sl) vls.back()[sl] = bit(row[sl].value() & 15u);
    }
  };
  list(task.sl_to_vl->held.rows(), held_vls_);
  list(wanted_sl_to_vl_.rows(), wanted_vls_);
  find_classes();
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    entrances_[sw].push_back(PortNum{0});
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      const PortIdx peer = fabric_.peer[port];
      if (peer == kNone<PortIdx>) continue;
      peer_switch_[port] = fabric_.switch_at(peer);
      if (peer_switch_[port] == kNone<SwitchIdx>) entrances_[sw].push_back(fabric_.number_of(port));
    }
  }
}

void VlTransientProof::find_classes() {
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    std::uint8_t least = 0;
    const auto alike = [&](const std::vector<Vls>& rows) {
      return std::ranges::all_of(rows, [&](const Vls& row) { return row[sl] == row[least]; });
    };
    while (least < sl && !(alike(held_vls_) && alike(wanted_vls_))) ++least;
    class_of_[sl] = least;
  }
}

std::uint16_t VlTransientProof::classes_of(std::uint16_t sls) const {
  std::uint16_t classes = 0;
  for_each_bit(sls, [&](unsigned sl) {
    classes = static_cast<std::uint16_t>(classes | bit(class_of_[sl]));
  });
  return classes;
}

// Of the LIDs at hand, along the rows of the sets.
void VlTransientProof::list_offers(SwitchIdx sw, std::span<const std::uint16_t> lids) {
  const std::size_t switches = fabric_.switch_count();
  const SlSets* const before = phase_->silent ? nullptr : &*task_.sl_to_vl->advertised;
  const SlSets* const wanted =
      phase_->silent || phase_->advertised ? &*task_.sl_to_vl->wanted_sls : nullptr;
  const auto of = [&](const SlSets* sets, std::uint16_t lid) {
    return sets != nullptr && sets->covers(switches, Lid{lid}) ? sets->of(sw, Lid{lid})
                                                               : std::uint16_t{0};
  };
  std::uint16_t last = 0, last_classes = 0;
  for (std::size_t i = 0; i < lids.size(); ++i) {
    const auto sls = static_cast<std::uint16_t>(of(before, lids[i]) | of(wanted, lids[i]));
    if (std::exchange(last, sls) != sls) last_classes = classes_of(sls);
    offers_[i * switches + sw.value()] = last_classes;
  }
}

void VlTransientProof::add_hop(SwitchIdx sw, PortNum egress, bool in_force) {
  const NodeIdx node = fabric_.switch_node[sw];
  if (egress.value() == 0 || egress.value() > fabric_.num_ports(node)) return;
  const PortIdx out = fabric_.port_of(node, egress);
  if (peer_switch_[out] == kNone<SwitchIdx> || (*phase_->use)[out] == LinkUse::Closed) return;
  const auto first = column_.hops.begin() + column_.first_hop[sw.value()];
  const auto known =
      std::find_if(first, column_.hops.end(), [out](const Hop& hop) { return hop.out == out; });
  if (known != column_.hops.end()) {
    known->in_force = known->in_force || in_force;
  } else {
    column_.hops.push_back({out, in_force});
  }
}

// `at`: the place of the LID among those at hand.
void VlTransientProof::list_hops(std::uint16_t lid, std::size_t at) {
  const std::size_t switches = fabric_.switch_count();
  column_.hops.clear();
  column_.first_hop.resize(switches + 1);
  column_.offers.resize(switches);
  auto earlier = std::ranges::lower_bound(earlier_by_lid_, lid, {}, &LooseEntry::lid);
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    column_.first_hop[sw.value()] = static_cast<std::uint32_t>(column_.hops.size());
    column_.offers[sw.value()] = offers_[at * switches + sw.value()];
    add_hop(sw, after_[at * switches + sw.value()], true);
    // A switch without data gets its entries before its links carry any.
    if (!phase_->silent && (*phase_->live)[sw])
      add_hop(sw, before_[at * switches + sw.value()], true);
    for (; earlier != earlier_by_lid_.end() && earlier->lid == lid && earlier->sw == sw; ++earlier)
      add_hop(sw, earlier->port, false);
  }
  column_.first_hop[switches] = static_cast<std::uint32_t>(column_.hops.size());
  column_.lossless = (*phase_->lossless)[lid] != 0;
}

void VlTransientProof::list_entered() {
  const std::size_t switches = fabric_.switch_count();
  first_entered_.assign(switches + 2, 0);
  for (const Hop& hop : column_.hops) ++first_entered_[peer_switch_[hop.out].value() + 2];
  std::partial_sum(first_entered_.begin(), first_entered_.end(), first_entered_.begin());
  entered_.resize(column_.hops.size());
  for (const Hop& hop : column_.hops)
    entered_[first_entered_[peer_switch_[hop.out].value() + 1]++] = fabric_.peer[hop.out];
}

void VlTransientProof::flood() {
  std::vector<SwitchIdx> front;
  reached_.resize(fabric_.switch_count());
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    reached_[sw] = column_.offers[sw.value()];
    if (reached_[sw] != 0) front.push_back(sw);
  }
  while (!front.empty()) {
    const SwitchIdx sw = front.back();
    front.pop_back();
    for (std::uint32_t i = column_.first_hop[sw.value()]; i < column_.first_hop[sw.value() + 1];
         ++i) {
      const SwitchIdx there = peer_switch_[column_.hops[i].out];
      const auto all = static_cast<std::uint16_t>(reached_[there] | reached_[sw]);
      if (std::exchange(reached_[there], all) != all) front.push_back(there);
    }
  }
}

VlTransientProof::TurnVls VlTransientProof::rows_of(SwitchIdx sw, PortNum in, PortNum out) const {
  const bool only_wanted = phase_->silent || !(*phase_->live)[sw];
  TurnVls rows;
  if (phase_->held_sl_to_vl && !only_wanted)
    rows.held = &held_vls_[task_.sl_to_vl->held.row_number(sw, in, out)];
  if (phase_->wanted_sl_to_vl || only_wanted)
    rows.wanted = &wanted_vls_[wanted_sl_to_vl_.row_number(sw, in, out)];
  return rows;
}

// VL 15 where an entry that may be in force discards.
std::uint16_t VlTransientProof::vls_of(const TurnVls& rows, unsigned sl) const {
  std::uint16_t vls = 0;
  if (rows.held != nullptr) vls = (*rows.held)[sl];
  // What held SL-to-VL entries discard is no news: forwarding entries come after them.
  if (phase_->wanted_sl_to_vl) vls = static_cast<std::uint16_t>(vls & ~kDiscard);
  if (rows.wanted != nullptr) vls = static_cast<std::uint16_t>(vls | (*rows.wanted)[sl]);
  return vls;
}

bool VlTransientProof::is_blocked(SwitchIdx sw, PortNum in, PortNum out) const {
  return !phase_->blocked->empty() &&
         std::ranges::binary_search(*phase_->blocked, Turn{sw, in, out});
}

// By VL, the SLs that may be on it.
void VlTransientProof::put_on(const TurnVls& rows,
                              std::uint16_t sls,
                              std::span<std::uint16_t> on) const {
  for_each_bit(sls, [&](unsigned sl) {
    for_each_bit(vls_of(rows, sl),
                 [&](unsigned vl) { on[vl] = static_cast<std::uint16_t>(on[vl] | bit(sl)); });
  });
}

std::string VlTransientProof::print_loss(std::uint16_t lid, std::uint16_t sls, SwitchIdx sw) const {
  return fmt::format("packets to lid {} with SL {} are discarded at {}",
                     lid,
                     std::countr_zero(sls),
                     print_port(fabric_, fabric_.port_of(fabric_.switch_node[sw], PortNum{0})));
}

std::string VlTransientProof::print_violation(std::uint16_t lid,
                                              std::uint16_t sls,
                                              PortIdx out,
                                              unsigned vl,
                                              PortIdx next,
                                              unsigned there) const {
  return fmt::format(
      "packets to lid {} with SL {} can go from {} on VL {} on to {} on VL {}, against the order "
      "of the certificate",
      lid,
      std::countr_zero(sls),
      print_port(fabric_, out),
      vl,
      print_port(fabric_, next),
      there);
}

// From the channel that begins at `out`, where SLs are on VLs as `on` says.
template <class Use>
std::string VlTransientProof::walk_turns(std::uint16_t lid,
                                         PortIdx out,
                                         std::span<const std::uint16_t> on,
                                         Use&& use) const {
  const PortIdx in = fabric_.peer[out];
  const SwitchIdx sw = peer_switch_[out];
  std::uint16_t sls = 0;
  for (unsigned vl = 0; vl < vls_; ++vl) sls = static_cast<std::uint16_t>(sls | on[vl]);
  if (sls == 0) return "";
  for (std::uint32_t i = column_.first_hop[sw.value()]; i < column_.first_hop[sw.value() + 1];
       ++i) {
    const Hop& next = column_.hops[i];
    if (!next.in_force) continue;
    if (next.out == in) {
      if (phase_->u_turns && column_.lossless) return print_loss(lid, sls, sw);
      continue;
    }
    const PortNum from = fabric_.number_of(in), to = fabric_.number_of(next.out);
    if (is_blocked(sw, from, to)) continue;
    const TurnVls rows = rows_of(sw, from, to);
    for (unsigned vl = 0; vl < vls_; ++vl) {
      std::array<std::uint16_t, kSls> there{};  // by VL
      put_on(rows, on[vl], there);
      if (there[kManagementVl.value()] != 0 && column_.lossless)
        return print_loss(lid, there[kManagementVl.value()], sw);
      for (unsigned other = 0; other < kManagementVl.value(); ++other) {
        if (there[other] == 0) continue;
        if (other >= vls_) return "a row names a lane that is in no certificate";
        if (!use(out, vl, next.out, other))
          return print_violation(lid, there[other], out, vl, next.out, other);
      }
    }
  }
  return "";
}

// Calls use(out, vl, next, vl there) for every dependency of the column; false is a violation.
template <class Use>
std::string VlTransientProof::walk(std::uint16_t lid, Use&& use) {
  list_entered();
  flood();
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    if (reached_[sw] == 0) continue;
    for (std::uint32_t i = column_.first_hop[sw.value()]; i < column_.first_hop[sw.value() + 1];
         ++i) {
      const Hop& hop = column_.hops[i];
      if (!hop.in_force) continue;
      const PortNum out = fabric_.number_of(hop.out);
      std::array<std::uint16_t, kSls> on{};
      if (column_.offers[sw.value()] != 0) {
        TurnVls last;
        for (const PortNum in : entrances_[sw]) {
          const TurnVls rows = rows_of(sw, in, out);
          if (rows == last) continue;
          last = rows;
          put_on(rows, column_.offers[sw.value()], on);
        }
        if (column_.lossless && on[kManagementVl.value()] != 0)
          return print_loss(lid, on[kManagementVl.value()], sw);
      }
      for (std::uint32_t e = first_entered_[sw.value()]; e < first_entered_[sw.value() + 1]; ++e) {
        const PortIdx in = entered_[e];
        const std::uint16_t sls = reached_[peer_switch_[in]];
        if (in == hop.out || sls == 0 || is_blocked(sw, fabric_.number_of(in), out)) continue;
        put_on(rows_of(sw, fabric_.number_of(in), out), sls, on);
      }
      // Of hosts, too: nobody has looked where packets wait on such a VL.
      for (unsigned vl = vls_; vl < kManagementVl.value(); ++vl) {
        if (on[vl] != 0) return "a row names a lane that is in no certificate";
      }
      if (std::string fault = walk_turns(lid, hop.out, on, use); !fault.empty()) return fault;
    }
  }
  return "";
}

// LIDs that go the same way from everywhere, and are told the same SLs, depend on the same.
template <class Use>
std::string VlTransientProof::walk_all(std::span<const std::uint16_t> lids, Use&& use) {
  const std::size_t switches = fabric_.switch_count();
  after_.resize(kLidsAtOnce * switches);
  before_.resize(kLidsAtOnce * switches);
  offers_.resize(kLidsAtOnce * switches);
  previous_ = {};
  for (std::size_t first = 0; first < lids.size(); first += kLidsAtOnce) {
    const std::span<const std::uint16_t> some =
        lids.subspan(first, std::min(kLidsAtOnce, lids.size() - first));
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      const PortNum* const now = phase_->after->row(sw);
      const PortNum* const then = phase_->before->row(sw);
      for (std::size_t i = 0; i < some.size(); ++i) {
        after_[i * switches + sw.value()] = now[some[i]];
        before_[i * switches + sw.value()] = then[some[i]];
      }
      list_offers(sw, some);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      list_hops(some[i], i);
      if (column_ == previous_) continue;
      if (std::string fault = walk(some[i], use); !fault.empty()) return fault;
      std::swap(column_, previous_);
    }
  }
  return "";
}

// Whether phases differ in nothing that constant LIDs could tell.
bool VlTransientProof::is_collected(const VlPhaseView& phase) const {
  const auto key = [](const VlPhaseView& view) {
    return std::array{
        view.held_sl_to_vl, view.wanted_sl_to_vl, view.silent, view.advertised, view.u_turns};
  };
  const LidList& lids = *phase.constant;
  return has_constant_ && key(phase) == key(seen_) &&
         (lids.empty() || ((*phase.lossless)[lids.front()] != 0) == seen_lossless_) &&
         *phase.blocked == seen_blocked_ && std::ranges::equal(*phase.use, seen_use_) &&
         std::ranges::equal(*phase.live, seen_live_);
}

std::string VlTransientProof::collect_constant() {
  const VlPhaseView& phase = *phase_;
  const std::size_t pairs = std::size_t{vls_} * vls_;
  if (first_turn_.empty()) {
    std::uint32_t turns = 0;
    for (const PortIdx port : fabric_.peer.indices()) {
      first_turn_.push_back(turns);
      if (peer_switch_[port] != kNone<SwitchIdx>)
        turns += fabric_.num_ports(fabric_.switch_node[peer_switch_[port]]) + 1;
    }
    first_turn_.push_back(turns);
  }
  constant_.assign(
      (first_turn_[PortIdx{static_cast<std::uint32_t>(fabric_.port_count())}] * pairs + 63) / 64,
      0);
  has_constant_ = false;
  const auto mark = [&](PortIdx out, unsigned vl, PortIdx next, unsigned there) {
    const std::size_t at =
        (first_turn_[out] + fabric_.number_of(next).value()) * pairs + vl * vls_ + there;
    constant_[at / 64] |= std::uint64_t{1} << (at % 64);
    return true;
  };
  if (std::string fault = walk_all(*phase.constant, mark); !fault.empty()) return fault;
  has_constant_ = true;
  seen_ = phase;
  seen_use_ = *phase.use;
  seen_live_ = *phase.live;
  seen_blocked_ = *phase.blocked;
  seen_lossless_ = !phase.constant->empty() && (*phase.lossless)[phase.constant->front()] != 0;
  return "";
}

bool VlTransientProof::respects(const ChannelOrder& order) const {
  const std::size_t pairs = std::size_t{vls_} * vls_;
  for (const PortIdx out : fabric_.peer.indices()) {
    if (peer_switch_[out] == kNone<SwitchIdx>) continue;
    const NodeIdx node = fabric_.switch_node[peer_switch_[out]];
    const std::size_t first = first_turn_[out] * pairs;
    const std::size_t end = first_turn_[next(out)] * pairs;
    for (std::size_t word = first / 64; word < (end + 63) / 64; ++word) {
      std::uint64_t bits = constant_[word];
      for (; bits != 0; bits &= bits - 1) {
        const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        if (at < first || at >= end) continue;
        const auto number = PortNum{static_cast<std::uint8_t>((at - first) / pairs)};
        const auto vl = static_cast<unsigned>((at - first) % pairs / vls_);
        const auto there = static_cast<unsigned>((at - first) % vls_);
        if (order[vl_channel_at(out, vl, vls_)] >=
            order[vl_channel_at(fabric_.port_of(node, number), there, vls_)])
          return false;
      }
    }
  }
  return true;
}

std::string VlTransientProof::find_violation(const VlPhaseView& phase, const ChannelOrder& order) {
  phase_ = &phase;
  earlier_by_lid_.clear();
  if (!phase.silent) earlier_by_lid_ = *phase.earlier;
  std::ranges::sort(earlier_by_lid_, {}, [](const LooseEntry& entry) {
    return std::tuple(entry.lid, entry.sw, entry.port);
  });
  const auto rises = [&](PortIdx out, unsigned vl, PortIdx next, unsigned there) {
    return order[vl_channel_at(out, vl, vls_)] < order[vl_channel_at(next, there, vls_)];
  };
  LidList changing;
  std::size_t at = 0;
  for (std::uint32_t lid = 1; lid < phase.after->lids(); ++lid) {
    const auto number = static_cast<std::uint16_t>(lid);
    const bool constant =
        phase.constant != nullptr && at < phase.constant->size() && (*phase.constant)[at] == number;
    if (constant) ++at;
    if (!constant) changing.push_back(number);
  }
  if (phase.constant != nullptr) {
    if (!is_collected(phase)) {
      if (std::string fault = collect_constant(); !fault.empty()) return fault;
    }
    if (!respects(order)) return walk_all(*phase.constant, rises);
  }
  return walk_all(changing, rises);
}

}  // namespace smd
