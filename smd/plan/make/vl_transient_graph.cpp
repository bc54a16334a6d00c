#include "smd/plan/make/vl_transient_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd {
namespace {

constexpr std::uint16_t kDiscarded = 1u << 15;

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
      for (const std::uint16_t vls : row)
        vls_ = std::max(
            vls_,
            static_cast<unsigned>(std::bit_width(static_cast<std::uint16_t>(vls & ~kDiscarded))));
    }
  }
}

void VlTransientGraph::set_sl_to_vl(SlToVlState rows) { sl_to_vl_ = rows; }

void VlTransientGraph::set_silent() {
  silent_ = advertised_ = true;
  sl_to_vl_ = SlToVlState::Wanted;
  std::ranges::fill(stage_, EntryStage::Settled);
}

void VlTransientGraph::set_final() {
  silent_ = false;
  final_ = advertised_ = true;
  sl_to_vl_ = SlToVlState::Wanted;
}

void VlTransientGraph::set_stage(std::size_t change, EntryStage stage) {
  stage_[change] = initial_.idle[changes_[change].sw] ? EntryStage::Settled : stage;
}

void VlTransientGraph::set_stages(EntryStage stage) {
  for (std::size_t i = 0; i < changes_.size(); ++i) set_stage(i, stage);
}

std::uint16_t VlTransientGraph::offered(SwitchIdx sw, Lid lid) const {
  std::uint16_t sls = 0;
  if (!silent_ && sl_to_vl_task_.advertised.covers(fabric_.switch_count(), lid))
    sls = sl_to_vl_task_.advertised.of(sw, lid);
  if (advertised_ && sl_to_vl_task_.wanted_sls.covers(fabric_.switch_count(), lid))
    sls = static_cast<std::uint16_t>(sls | sl_to_vl_task_.wanted_sls.of(sw, lid));
  return sls;
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
  const Lid to{static_cast<std::uint16_t>(lid)};
  for (std::vector<PortIdx>& ports : arrivals_) ports.clear();
  std::ranges::fill(next_hops_, std::array<NextHop, 2>{});
  const auto changes = changes_of(lid);
  auto at = changes.begin();  // as changes are, by switch
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    const bool changes_here = at != changes.end() && changes_[*at].sw == sw;
    if (!changes_here || initial_.idle[sw] || silent_ || final_) {
      add_next_hop(sw, entry_of(*task_.wanted, sw, to), true);
    } else {
      const EntryStage stage = stage_[*at];
      add_next_hop(sw, entry_of(*task_.held, sw, to), stage != EntryStage::Settled);
      if (stage != EntryStage::Pending) add_next_hop(sw, entry_of(*task_.wanted, sw, to), true);
    }
    if (changes_here) ++at;
  }
}

// From the switches where hosts send, along all routes, until nothing new arrives anywhere.
void VlTransientGraph::spread_sls(std::size_t lid) {
  const Lid to{static_cast<std::uint16_t>(lid)};
  std::vector<SwitchIdx> open;
  offered_.resize(fabric_.switch_count());
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    sls_[sw.value()] = offered_[sw.value()] = offered(sw, to);
    if (sls_[sw.value()] != 0) open.push_back(sw);
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

VlTransientGraph::VlSets VlTransientGraph::vls_of(SwitchIdx sw, PortNum in, PortNum out) const {
  VlSets vls{};
  if (sl_to_vl_ != SlToVlState::Wanted)
    vls = held_vls_[sl_to_vl_task_.held.row_number(sw, in, out)];
  if (sl_to_vl_ == SlToVlState::Held) return vls;
  for (std::uint16_t& held : vls) held = static_cast<std::uint16_t>(held & ~kDiscarded);
  const VlSets& wanted = wanted_vls_[sl_to_vl_task_.wanted.row_number(sw, in, out)];
  for (std::size_t sl = 0; sl < vls.size(); ++sl)
    vls[sl] = static_cast<std::uint16_t>(vls[sl] | wanted[sl]);
  return vls;
}

// Where packets of each SL may be in the channel that begins at `out`.
VlTransientGraph::VlSets VlTransientGraph::vls_on(SwitchIdx sw, PortIdx out) const {
  VlSets on{};
  const PortNum number = fabric_.number_of(out);
  const auto add = [&](PortNum in, std::uint16_t sls) {
    if (sls == 0) return;
    const VlSets vls = vls_of(sw, in, number);
    for (unsigned sl = 0; sl < on.size(); ++sl) {
      if (sls >> sl & 1) on[sl] = static_cast<std::uint16_t>(on[sl] | vls[sl]);
    }
  };
  for (const PortNum in : entrances_[sw]) add(in, offered_[sw.value()]);
  for (const PortIdx in : arrivals_[sw.value()]) {
    if (in != out) add(fabric_.number_of(in), sls_[initial_.peer_switch[in].value()]);
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
  const VlSets row = vls_of(sw, fabric_.number_of(in), fabric_.number_of(to));
  bool passes = true;
  std::array<std::uint16_t, 16> wait{};  // by VL: VLs that its packets wait for
  for (unsigned sl = 0; sl < on.size(); ++sl) {
    if ((sls >> sl & 1) == 0) continue;
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
bool VlTransientGraph::delivers(SwitchIdx sw, std::size_t lid) const {
  const Lid to{static_cast<std::uint16_t>(lid)};
  const NodeIdx node = fabric_.switch_node[sw];
  const PortNum egress = entry_of(*task_.wanted, sw, to);
  if (egress.value() == 0 || egress.value() > fabric_.num_ports(node)) return true;
  const PortIdx out = fabric_.port_of(node, egress);
  if (fabric_.peer[out] == kNone<PortIdx> || initial_.peer_switch[out] != kNone<SwitchIdx>)
    return true;
  for (const PortIdx in : arrivals_[sw.value()]) {
    const VlSets row = vls_of(sw, fabric_.number_of(in), egress);
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

namespace {

class OtherVlSearch {
 public:
  OtherVlSearch(const TransitionTask& task,
                const InitialState& initial,
                const std::vector<EntryChange>& changes,
                std::uint16_t usable,
                PlanBudget& budget)
      : fabric_(*task.fabric),
        sl_to_vl_(*task.sl_to_vl),
        usable_(usable),
        budget_(budget),
        transient_(task, initial, changes),
        vls_(std::max(transient_.vls(),
                      static_cast<unsigned>(
                          std::bit_width(static_cast<std::uint16_t>(usable & ~kDiscarded))))),
        graph_(fabric_.port_count() * vls_),
        by_to_(fabric_.port_count(), kNoUse),
        by_from_(fabric_.port_count(), kNoUse) {
    std::size_t turns = 0;
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      first_turn_.push_back(turns);
      const std::size_t width = fabric_.num_ports(fabric_.switch_node[sw]) + 1u;
      turns += width * width;
    }
    row_.assign(turns * kSls, kUndecided);
  }

  std::optional<OtherVls> run(bool at_once) {
    transient_.set_silent();
    for (std::size_t lid = 1; lid < transient_.lids() && !budget_.is_spent(); ++lid) {
      list_uses(lid);
      for (const Use& use : uses_) {
        for_each_sl(use.use.sls, [&](unsigned sl) { row(use, sl) = wanted(use, sl) | kNeeded; });
      }
      for (const Use& use : uses_) {
        for_each_sl(use.use.sls, [&](unsigned sl) {
          for_each_edge(
              use, sl, vl_of(row(use, sl)), true, false, [&](const Edge& edge, const Use&) {
                graph_.add(edge);
                return true;
              });
        });
      }
    }
    if (budget_.is_spent() || !graph_.sort()) return std::nullopt;
    transient_.set_final();
    for (std::size_t lid = 1; lid < transient_.lids(); ++lid) {
      if (!decide_all(lid, false) || budget_.is_spent()) return std::nullopt;
    }
    transient_.set_flowing();
    transient_.set_stages(EntryStage::Now);
    for (std::size_t lid = 1; lid < transient_.lids(); ++lid) {
      if (transient_.changes_of(lid).empty()) continue;
      if (!decide_all(lid, !at_once) || budget_.is_spent()) return std::nullopt;
    }
    OtherVls found = collect();
    if (found.sls.empty()) return std::nullopt;
    return found;
  }

 private:
  using Edge = VlTurnGraph::Edge;
  static constexpr unsigned kSls = 16;
  static constexpr std::uint8_t kDiscard = 15;
  static constexpr std::uint8_t kNeeded = 0x40;  // beside the VL
  static constexpr std::uint8_t kUndecided = 0xff;
  static constexpr std::int32_t kNoUse = -1;

  struct Use {
    SlUse use;
    std::int32_t next_to = kNoUse, next_from = kNoUse;  // of those to, and from, the same channel
  };

  template <class Visit>
  static void for_each_sl(std::uint32_t sls, Visit&& visit) {
    for (; sls != 0; sls &= sls - 1) visit(static_cast<unsigned>(std::countr_zero(sls)));
  }

  static std::uint8_t vl_of(std::uint8_t row) { return row & 15; }

  std::size_t place(const Turn& turn) const {
    const std::size_t width = fabric_.num_ports(fabric_.switch_node[turn.sw]) + 1u;
    return (first_turn_[turn.sw] + turn.in.value() * width + turn.out.value()) * kSls;
  }

  std::uint8_t& row(const Use& use, unsigned sl) { return row_[place(use.use.turn) + sl]; }

  std::uint8_t held(const Use& use, unsigned sl) const {
    const auto [sw, in, out] = use.use.turn;
    return sl_to_vl_.held.row(sw, in, out)[sl].value() & 15;
  }

  std::uint8_t wanted(const Use& use, unsigned sl) const {
    const auto [sw, in, out] = use.use.turn;
    return sl_to_vl_.wanted.row(sw, in, out)[sl].value() & 15;
  }

  void list_uses(std::size_t lid) {
    for (const Use& use : uses_) {
      by_to_[use.use.to] = kNoUse;
      if (use.use.from != kNone<PortIdx>) by_from_[use.use.from] = kNoUse;
    }
    uses_.clear();
    budget_.spend(fabric_.switch_count());
    transient_.for_each_use(lid, [&](const SlUse& each) {
      budget_.spend(1);
      Use use{.use = each};
      const auto number = static_cast<std::int32_t>(uses_.size());
      use.next_to = std::exchange(by_to_[each.to], number);
      if (each.from != kNone<PortIdx>) use.next_from = std::exchange(by_from_[each.from], number);
      uses_.push_back(use);
    });
  }

  /// Calls visit(edge, the other use) while it returns true: from the channels that packets come
  /// by, and to those that they go on to, as far as entries are decided.
  template <class Visit>
  bool for_each_edge(
      const Use& use, unsigned sl, unsigned vl, bool before, bool after, Visit&& visit) {
    const auto at = [&](PortIdx port, unsigned lane) {
      return vl_channel_at(port, lane, vls_).value();
    };
    if (before && use.use.from != kNone<PortIdx>) {
      for (std::int32_t i = by_to_[use.use.from]; i != kNoUse;) {
        Use& other = uses_[static_cast<std::size_t>(i)];
        i = other.next_to;
        const std::uint8_t there = row(other, sl);
        if ((other.use.sls >> sl & 1) == 0 || there == kUndecided || vl_of(there) == kDiscard)
          continue;
        if (!visit(Edge{at(use.use.from, vl_of(there)), at(use.use.to, vl)}, other)) return false;
      }
    }
    for (std::int32_t i = after ? by_from_[use.use.to] : kNoUse; i != kNoUse;) {
      Use& other = uses_[static_cast<std::size_t>(i)];
      i = other.next_from;
      const std::uint8_t there = row(other, sl);
      if ((other.use.sls >> sl & 1) == 0 || there == kUndecided || vl_of(there) == kDiscard)
        continue;
      if (!visit(Edge{at(use.use.to, vl), at(other.use.to, vl_of(there))}, other)) return false;
    }
    return true;
  }

  bool insert(const Edge& edge) { return graph_.insert(edge, budget_); }

  /// With all edges of the use, or none of them.
  bool try_vl(const Use& use, unsigned sl, unsigned vl) {
    added_.clear();
    const bool fits = for_each_edge(use, sl, vl, true, true, [&](const Edge& edge, const Use&) {
      if (graph_.has(edge)) return true;
      if (!insert(edge)) return false;
      added_.push_back(edge);
      return true;
    });
    if (fits) return true;
    for (const Edge& edge : added_) graph_.remove(edge);
    return false;
  }

  // The VL that there is, the wanted one, the one that packets are on, then any other.
  void decide(const Use& use, unsigned sl, bool lenient) {
    std::uint32_t tried = 1u << kDiscard;
    const unsigned most = count_vls(fabric_, use.use.to);
    const auto takes = [&](unsigned vl) {
      if ((tried >> vl & 1) != 0 || vl >= most || vl >= vls_) return false;
      tried |= 1u << vl;
      if (!try_vl(use, sl, vl)) return false;
      row(use, sl) = static_cast<std::uint8_t>(vl);
      return true;
    };
    if (takes(held(use, sl)) || takes(wanted(use, sl))) return;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      if ((usable_ >> vl & 1) != 0 && takes(vl)) return;
    }
    if (!lenient) row(use, sl) = kDiscard;
  }

  static bool is_free(std::uint8_t there) { return (there & kNeeded) == 0; }

  // Of an entry that is decided. False where nothing can be given up.
  bool follow(Use& use, unsigned sl) {
    for (;;) {
      const std::uint8_t own = row(use, sl);
      if (vl_of(own) == kDiscard || (use.use.sls >> sl & 1) == 0) return true;
      Use* first = nullptr;
      const bool fits =
          for_each_edge(use, sl, vl_of(own), true, true, [&](const Edge& edge, Use& other) {
            if (insert(edge)) return true;
            first = other.use.to == use.use.from ? &other : &use;
            return false;
          });
      if (fits) return true;
      if (is_free(own)) {
        row(use, sl) = kDiscard;
      } else if (!cut_off(*first, sl)) {
        return false;
      }
    }
  }

  // Packets of the SL do not get to the end of that turn any more: wherever they come from, the
  // last entry on their way that no wanted route needs discards them. Wanted packets to this LID
  // are not among them: what they do next closes no cycle.
  bool cut_off(Use& use, unsigned sl) {
    open_uses_.assign(1, &use);
    while (!open_uses_.empty()) {
      Use& at = *open_uses_.back();
      open_uses_.pop_back();
      at.use.sls = static_cast<std::uint16_t>(at.use.sls & ~(1u << sl));
      std::uint8_t& there = row(at, sl);
      if (is_free(there) || there == kUndecided) {
        there = kDiscard;
        continue;
      }
      if (at.use.from == kNone<PortIdx>) return false;
      for (std::int32_t i = by_to_[at.use.from]; i != kNoUse;) {
        Use& before = uses_[static_cast<std::size_t>(i)];
        i = before.next_to;
        if ((before.use.sls >> sl & 1) != 0) open_uses_.push_back(&before);
      }
    }
    return true;
  }

  // Those from hosts first, then whatever they reach. Lenient: what does not fit stays undecided.
  bool decide_all(std::size_t lid, bool lenient) {
    list_uses(lid);
    seen_.assign(uses_.size(), 0);
    open_.clear();
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (uses_[i].use.from != kNone<PortIdx>) continue;
      seen_[i] = 1;
      open_.push_back(i);
    }
    for (std::size_t at = 0; at < open_.size(); ++at) {
      Use& use = uses_[open_[at]];
      bool follows = true;
      for_each_sl(use.use.sls, [&](unsigned sl) {
        if (row(use, sl) == kUndecided) {
          decide(use, sl, lenient);
        } else if (!lenient) {
          follows = follow(use, sl) && follows;
        }
      });
      if (!follows) return false;
      for (std::int32_t i = by_from_[use.use.to]; i != kNoUse;
           i = uses_[static_cast<std::size_t>(i)].next_from) {
        if (std::exchange(seen_[static_cast<std::size_t>(i)], 1)) continue;
        open_.push_back(static_cast<std::size_t>(i));
      }
    }
    return true;
  }

  OtherVls collect() const {
    OtherVls found;
    for (const SwitchIdx sw : fabric_.switch_node.indices()) {
      std::vector<Turn> turns;
      for_each_turn(fabric_, sw, [&](PortNum in, PortNum out) { turns.push_back({sw, in, out}); });
      std::ranges::sort(turns);
      for (const Turn& turn : turns) {
        std::array<std::uint16_t, 16> sls{};  // by VL
        for (unsigned sl = 0; sl < kSls; ++sl) {
          const std::uint8_t vl = row_[place(turn) + sl];
          const SlToVl& as_wanted = sl_to_vl_.wanted.row(sw, turn.in, turn.out);
          if (vl == kUndecided || (vl & kNeeded) != 0 || vl == (as_wanted[sl].value() & 15))
            continue;
          sls[vl] = static_cast<std::uint16_t>(sls[vl] | 1u << sl);
        }
        for (unsigned vl = 0; vl < sls.size(); ++vl) {
          if (sls[vl] == 0) continue;
          found.sls.push_back({turn, sls[vl], Vl{static_cast<std::uint8_t>(vl)}});
          found.discards = found.discards || vl == kDiscard;
        }
      }
    }
    return found;
  }

  const Fabric& fabric_;
  const SlToVlTask& sl_to_vl_;
  std::uint16_t usable_;
  PlanBudget& budget_;
  VlTransientGraph transient_;
  unsigned vls_;
  VlTurnGraph graph_;
  IndexVector<SwitchIdx, std::size_t> first_turn_;
  std::vector<std::uint8_t> row_;  // by turn and SL

  // Of the LID under way.
  std::vector<Use> uses_;
  IndexVector<PortIdx, std::int32_t> by_to_, by_from_;
  std::vector<char> seen_;
  std::vector<std::size_t> open_;
  std::vector<Use*> open_uses_;
  std::vector<Edge> added_;
};

}  // namespace

std::optional<OtherVls> find_other_vls(const TransitionTask& task,
                                       const InitialState& initial,
                                       const std::vector<EntryChange>& changes,
                                       std::uint16_t usable,
                                       bool at_once,
                                       PlanBudget& budget) {
  return OtherVlSearch{task, initial, changes, usable, budget}.run(at_once);
}

}  // namespace smd
