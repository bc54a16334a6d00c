#include "smd/plan/make/vl_transient_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd {
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
