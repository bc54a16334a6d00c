#include "smd/plan/make/vl_transient_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd {
namespace {

std::array<std::uint16_t, 16> vls_of_entry(const SlToVl& row) {
  std::array<std::uint16_t, 16> vls{};
  for (std::size_t sl = 0; sl < row.size(); ++sl)
    vls[sl] = static_cast<std::uint16_t>(1u << (row[sl].value() & 15));
  return vls;
}

}  // namespace

VlTransientGraph::VlTransientGraph(const TransitionTask& task,
                                   const InitialState& initial,
                                   const std::vector<EntryChange>& changes)
    : task_(task),
      initial_(initial),
      fabric_(*task.fabric),
      sl_to_vl_task_(*task.sl_to_vl),
      changes_(changes),
      stage_(changes.size(), EntryStage::Settled),
      entrances_(fabric_.switch_count()),
      from_hosts_(fabric_.port_count()),
      is_known_(fabric_.port_count(), 0),
      next_hops_(fabric_.switch_count()),
      sls_(fabric_.switch_count(), 0),
      arrivals_(fabric_.switch_count()) {
  const std::size_t lids = std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize;
  first_change_.assign(lids + 1, 0);
  for (const EntryChange& change : changes_) ++first_change_[change.lid.value() + 1u];
  for (std::size_t lid = 0; lid < lids; ++lid) first_change_[lid + 1] += first_change_[lid];
  by_lid_.resize(changes_.size());
  std::vector<std::uint32_t> at(first_change_.begin(), first_change_.end() - 1);
  for (std::uint32_t i = 0; i < changes_.size(); ++i) by_lid_[at[changes_[i].lid.value()]++] = i;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    entrances_[sw].push_back(PortNum{0});
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (fabric_.peer[port] != kNone<PortIdx> && initial_.peer_switch[port] == kNone<SwitchIdx>)
        entrances_[sw].push_back(fabric_.number_of(port));
    }
  }
  build_vl_sets();
}

void VlTransientGraph::build_vl_sets() {
  for (const SlToVl& row : sl_to_vl_task_.held.rows()) held_vls_.push_back(vls_of_entry(row));
  for (const SlToVl& row : sl_to_vl_task_.wanted.rows()) wanted_vls_.push_back(vls_of_entry(row));
  for (const auto* rows : {&held_vls_, &wanted_vls_}) {
    for (const VlSets& row : *rows) {
      for (const std::uint16_t vls : row) {
        may_discard_ = may_discard_ || (vls & kDiscarded) != 0;
        vls_ = std::max(
            vls_,
            static_cast<unsigned>(std::bit_width(static_cast<std::uint16_t>(vls & ~kDiscarded))));
      }
    }
  }
  find_classes();
}

void VlTransientGraph::find_classes() {
  for (std::size_t sl = 0; sl < class_of_.size(); ++sl) {
    std::uint8_t least = 0;
    const auto alike = [&](const VlSets& row) { return row[sl] == row[least]; };
    while (least < sl &&
           !(std::ranges::all_of(held_vls_, alike) && std::ranges::all_of(wanted_vls_, alike)))
      ++least;
    class_of_[sl] = least;
  }
}

std::uint16_t VlTransientGraph::classes_of(std::uint16_t sls) const {
  std::uint16_t classes = 0;
  for (std::uint32_t left = sls; left != 0; left &= left - 1) {
    const std::uint8_t least = class_of_[static_cast<std::size_t>(std::countr_zero(left))];
    classes = static_cast<std::uint16_t>(classes | 1u << least);
  }
  return classes;
}

void VlTransientGraph::set_sl_to_vl(SlToVlState rows) {
  if (std::exchange(sl_to_vl_, rows) != rows) std::ranges::fill(is_known_, 0);
}

void VlTransientGraph::set_silent() {
  silent_ = advertised_ = true;
  set_sl_to_vl(SlToVlState::Wanted);
  std::ranges::fill(stage_, EntryStage::Settled);
}

void VlTransientGraph::set_final() {
  silent_ = false;
  final_ = advertised_ = true;
  set_sl_to_vl(SlToVlState::Wanted);
}

void VlTransientGraph::set_stage(std::size_t change, EntryStage stage) {
  stage_[change] = initial_.idle[changes_[change].sw] ? EntryStage::Settled : stage;
}

void VlTransientGraph::set_stages(EntryStage stage) {
  for (std::size_t i = 0; i < changes_.size(); ++i) set_stage(i, stage);
}

// Unless they are at hand.
void VlTransientGraph::load_columns(std::size_t lid) {
  const std::size_t first = lid - lid % kLidsAtOnce;
  if (first == first_lid_) return;
  first_lid_ = first;
  const std::size_t switches = fabric_.switch_count();
  held_entries_.resize(kLidsAtOnce * switches);
  wanted_entries_.resize(kLidsAtOnce * switches);
  advertised_sls_.resize(kLidsAtOnce * switches);
  wanted_sls_.resize(kLidsAtOnce * switches);
  const std::size_t end = std::min(first + kLidsAtOnce, lids());
  const auto sls_of = [&](const SlSets& sets, SwitchIdx sw, Lid to) {
    return sets.covers(switches, to) ? sets.of(sw, to) : std::uint16_t{0};
  };
  const SlSets& advertised = *sl_to_vl_task_.advertised;
  const SlSets& wanted = *sl_to_vl_task_.wanted_sls;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    std::size_t at = sw.value();
    for (std::size_t each = first; each < end; ++each, at += switches) {
      const Lid to{static_cast<std::uint16_t>(each)};
      held_entries_[at] = entry_of(*task_.held, sw, to);
      wanted_entries_[at] = entry_of(*task_.wanted, sw, to);
      advertised_sls_[at] = sls_of(advertised, sw, to);
      wanted_sls_[at] = sls_of(wanted, sw, to);
    }
  }
}

void VlTransientGraph::add_next_hop(SwitchIdx sw, PortNum egress, bool is_now) {
  const NodeIdx node = fabric_.switch_node[sw];
  if (egress.value() > fabric_.num_ports(node)) return;
  const PortIdx out = fabric_.port_of(node, egress);
  if (initial_.flow[out] == Flow::Never) return;
  std::array<NextHop, 2>& turns = next_hops_[sw.value()];
  NextHop& turn = turns[0].out == kNone<PortIdx> || turns[0].out == out ? turns[0] : turns[1];
  if (turn.out == kNone<PortIdx>)
    arrivals_[initial_.peer_switch[out].value()].push_back(fabric_.peer[out]);
  turn = {out, turn.is_now || is_now};
}

void VlTransientGraph::find_next_hops(std::size_t lid) {
  load_columns(lid);
  const std::size_t column = (lid - first_lid_) * fabric_.switch_count();
  for (std::vector<PortIdx>& ports : arrivals_) ports.clear();
  std::ranges::fill(next_hops_, std::array<NextHop, 2>{});
  const auto changes = changes_of(lid);
  auto at = changes.begin();  // as changes are, by switch
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    const bool changes_here = at != changes.end() && changes_[*at].sw == sw;
    const PortNum wanted = wanted_entries_[column + sw.value()];
    if (!changes_here || initial_.idle[sw] || silent_ || final_) {
      add_next_hop(sw, wanted, true);
    } else {
      const EntryStage stage = stage_[*at];
      add_next_hop(sw, held_entries_[column + sw.value()], stage != EntryStage::Settled);
      if (stage != EntryStage::Pending) add_next_hop(sw, wanted, true);
    }
    if (changes_here) ++at;
  }
}

// From the switches where hosts send, along all routes, until nothing new arrives anywhere.
void VlTransientGraph::spread_sls(std::size_t lid) {
  load_columns(lid);
  const std::size_t column = (lid - first_lid_) * fabric_.switch_count();
  std::vector<SwitchIdx> open;
  offered_.resize(fabric_.switch_count());
  std::uint16_t last = 0, last_classes = 0;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    std::uint16_t sls = silent_ ? std::uint16_t{0} : advertised_sls_[column + sw.value()];
    if (advertised_) sls = static_cast<std::uint16_t>(sls | wanted_sls_[column + sw.value()]);
    if (by_class_ && sls != last) {
      last = sls;
      last_classes = classes_of(sls);
    }
    sls_[sw.value()] = offered_[sw.value()] = by_class_ ? last_classes : sls;
    if (sls != 0) open.push_back(sw);
  }
  while (!open.empty()) {
    const SwitchIdx sw = open.back();
    open.pop_back();
    for (const NextHop& turn : next_hops_[sw.value()]) {
      if (turn.out == kNone<PortIdx>) continue;
      std::uint16_t& there = sls_[initial_.peer_switch[turn.out].value()];
      if ((sls_[sw.value()] & ~there) == 0) continue;
      there = static_cast<std::uint16_t>(there | sls_[sw.value()]);
      open.push_back(initial_.peer_switch[turn.out]);
    }
  }
}

const VlTransientGraph::VlSets& VlTransientGraph::vls_of(SwitchIdx sw, PortNum in, PortNum out) {
  if (sl_to_vl_ == SlToVlState::Wanted)
    return wanted_vls_[sl_to_vl_task_.wanted.row_number(sw, in, out)];
  const VlSets& held = held_vls_[sl_to_vl_task_.held.row_number(sw, in, out)];
  if (sl_to_vl_ == SlToVlState::Held) return held;
  const VlSets& wanted = wanted_vls_[sl_to_vl_task_.wanted.row_number(sw, in, out)];
  for (std::size_t sl = 0; sl < both_.size(); ++sl)
    both_[sl] = static_cast<std::uint16_t>((held[sl] & ~kDiscarded) | wanted[sl]);
  return both_;
}

// Of every SL.
const VlTransientGraph::VlSets& VlTransientGraph::vls_from_hosts(SwitchIdx sw, PortIdx out) {
  VlSets& known = from_hosts_[out];
  if (std::exchange(is_known_[out], 1) != 0) return known;
  known = {};
  for (const PortNum in : entrances_[sw]) {
    const VlSets& vls = vls_of(sw, in, fabric_.number_of(out));
    for (std::size_t sl = 0; sl < vls.size(); ++sl)
      known[sl] = static_cast<std::uint16_t>(known[sl] | vls[sl]);
  }
  return known;
}

// Where packets of each SL may be in the channel that begins at `out`.
VlTransientGraph::VlSets VlTransientGraph::vls_on(SwitchIdx sw, PortIdx out) {
  VlSets on{};
  const auto add = [&](const VlSets& vls, std::uint16_t sls) {
    for (std::uint32_t left = sls; left != 0; left &= left - 1) {
      const auto sl = static_cast<unsigned>(std::countr_zero(left));
      on[sl] = static_cast<std::uint16_t>(on[sl] | vls[sl]);
    }
  };
  if (offered_[sw.value()] != 0) add(vls_from_hosts(sw, out), offered_[sw.value()]);
  for (const PortIdx in : arrivals_[sw.value()]) {
    const std::uint16_t sls = sls_[initial_.peer_switch[in].value()];
    if (in != out && sls != 0) add(vls_of(sw, fabric_.number_of(in), fabric_.number_of(out)), sls);
  }
  return on;
}

// A packet that would leave by the port it came in by is discarded by the switch.
bool VlTransientGraph::add_edges(PortIdx from,
                                 const VlSets& on,
                                 std::uint16_t sls,
                                 PortIdx to,
                                 std::vector<VlTurnGraph::Edge>& edges) {
  const PortIdx in = fabric_.peer[from];
  if (in == to) return false;
  const SwitchIdx sw = initial_.peer_switch[from];
  if (std::ranges::binary_search(initial_.kept,
                                 Turn{sw, fabric_.number_of(in), fabric_.number_of(to)}))
    return false;
  const VlSets& row = vls_of(sw, fabric_.number_of(in), fabric_.number_of(to));
  bool passes = true;
  std::array<std::uint16_t, 16> wait{};  // by VL: VLs that its packets wait for
  for (std::uint32_t rest = sls; rest != 0; rest &= rest - 1) {
    const auto sl = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint16_t next = row[sl];
    if (next & kDiscarded) passes = false;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      if ((on[sl] >> vl & 1) == 0) continue;
      wait[vl] = static_cast<std::uint16_t>(wait[vl] | next);
      if (uses_ == nullptr) continue;
      for (std::uint32_t left = next & ~std::uint32_t{kDiscarded}; left != 0; left &= left - 1) {
        const auto there = static_cast<unsigned>(std::countr_zero(left));
        uses_->push_back(
            {{vl_channel_at(from, vl, vls_).value(), vl_channel_at(to, there, vls_).value()},
             {sw, fabric_.number_of(in), fabric_.number_of(to)},
             sl});
      }
    }
  }
  for (unsigned vl = 0; vl < vls_; ++vl) {
    for (std::uint32_t left = wait[vl] & ~std::uint32_t{kDiscarded}; left != 0; left &= left - 1) {
      const auto next = static_cast<unsigned>(std::countr_zero(left));
      edges.emplace_back(vl_channel_at(from, vl, vls_).value(),
                         vl_channel_at(to, next, vls_).value());
    }
  }
  return passes;
}

// What the switch hands to its own hosts is not discarded at the last step.
bool VlTransientGraph::delivers(SwitchIdx sw, std::size_t lid) {
  if (!may_discard_) return true;
  const Lid to{static_cast<std::uint16_t>(lid)};
  const NodeIdx node = fabric_.switch_node[sw];
  const PortNum egress = entry_of(*task_.wanted, sw, to);
  if (egress.value() == 0 || egress.value() > fabric_.num_ports(node)) return true;
  const PortIdx out = fabric_.port_of(node, egress);
  if (fabric_.peer[out] == kNone<PortIdx> || initial_.peer_switch[out] != kNone<SwitchIdx>)
    return true;
  for (const PortIdx in : arrivals_[sw.value()]) {
    const VlSets& row = vls_of(sw, fabric_.number_of(in), egress);
    const std::uint16_t sls = sls_[initial_.peer_switch[in].value()];
    for (unsigned sl = 0; sl < row.size(); ++sl) {
      if ((sls >> sl & 1) && (row[sl] & kDiscarded)) return false;
    }
  }
  return true;
}

bool VlTransientGraph::collect(std::size_t lid, std::vector<VlTurnGraph::Edge>& edges) {
  find_next_hops(lid);
  spread_sls(lid);
  bool delivered = true;
  for (const SwitchIdx sw : fabric_.switch_node.indices())
    delivered = delivered && (sls_[sw.value()] == 0 || delivers(sw, lid));
  if (has_last_ && next_hops_ == last_hops_ && offered_ == last_offered_)
    return delivered && last_passed_;
  bool passes = true;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    if (sls_[sw.value()] == 0) continue;
    for (const NextHop& turn : next_hops_[sw.value()]) {
      if (turn.out == kNone<PortIdx> || !turn.is_now) continue;
      const VlSets on = vls_on(sw, turn.out);
      for (unsigned sl = 0; sl < on.size(); ++sl) {
        if (on[sl] & kDiscarded) passes = false;
      }
      for (const NextHop& next : next_hops_[initial_.peer_switch[turn.out].value()]) {
        if (next.out == kNone<PortIdx> || !next.is_now) continue;
        passes = add_edges(turn.out, on, sls_[sw.value()], next.out, edges) && passes;
      }
    }
  }
  last_hops_ = next_hops_;
  last_offered_ = offered_;
  last_passed_ = passes;
  has_last_ = skips_;
  return delivered && passes;
}

}  // namespace smd
