#include "smd/routing/verify/verified_routes.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "smd/routing/verify/walk.h"

namespace smd {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffff;  // no switch: the entry leads out of the network

}  // namespace

/// Takes away what the packets did that may do something else now, and adds what they do.
class RouteUpdate {
 public:
  RouteUpdate(const RoutesOnFabric& now, VerifiedRoutes& state) : now_(now), state_(state) {}

  /// From nothing. False: see VerifiedRoutes::build().
  bool build() {
    if (!now_.prepare() || !start_counts()) return false;
    const Fabric& fabric = now_.fabric();
    list_channels();
    state_.no_data_ = list_no_data(fabric);
    everybody_.clear();
    for (const SwitchIdx sw : fabric.switch_node.indices()) everybody_.push_back(sw);
    resize(fabric.switch_count());
    walk_.emplace(fabric, now_.tables());
    for (std::size_t lid = 0; lid < now_.lids_end(); ++lid) {
      if (now_.owner(lid) != kNone<PortIdx> && !account(now_, lid, everybody_, Turns::None, true))
        return false;
    }
    if (state_.one_vl_)
      state_.turns_.add(fabric, now_.tables(), find_owned_lids(now_.lids(), now_.tables()));
    finish_counts();
    return sort_channels(0, state_.places_.channels().size());
  }

  /// From `verified`, which is of `before`. False: see VerifiedRoutes::update().
  bool update(const VerifiedRoutes& verified, const RoutesOnFabric& before) {
    before_.emplace(before);
    if (!now_.prepare() || !before_->prepare() || !are_alike(*before_, now_)) return false;
    if (!has_same_hosts(verified)) return false;
    found_ = find_route_changes(*before_, now_);
    if (!found_) return false;
    resize(std::max(before_->fabric().switch_count(), now_.fabric().switch_count()));
    state_ = verified;
    state_.no_data_ = list_no_data(now_.fabric());
    if (!state_.one_vl_) vl_writer_.emplace(state_.vl_turns_);
    if (!take_away_former()) return false;
    if (!found_->stay.as_before && !carry_over()) return false;
    if (!add_new()) return false;
    finish_counts();
    return restore_order();
  }

 private:
  /// Loads were counted of the hosts of `before`, and whoever stayed is one as it was. A snapshot
  /// learns more of its nodes after its routes were checked.
  [[nodiscard]] bool has_same_hosts(const VerifiedRoutes& verified) const {
    if (list_no_data(before_->fabric()) != verified.no_data_) return false;
    const auto all_in = [](const std::vector<PortRef>& some,
                           const Fabric& other,
                           const std::vector<PortRef>& others) {
      return std::ranges::all_of(some, [&](const PortRef& port) {
        return !other.find_node(port.node) || std::ranges::binary_search(others, port);
      });
    };
    const std::vector<PortRef> now = list_no_data(now_.fabric());
    return all_in(now, before_->fabric(), verified.no_data_) &&
           all_in(verified.no_data_, now_.fabric(), now);
  }

  /// Which turns of those on the paths are counted.
  enum class Turns : std::uint8_t { None, Changed, All };

  struct Turn {
    PortIdx in;
    PortNum out;
    std::uint8_t vl_in = 0, vl_out = 0;
  };

  /// Packets of one class that leave a switch on one VL.
  struct PacketFlow {
    std::uint8_t sl_class = 0, vl = 0;
    std::uint32_t count = 0;
  };

  using Channel = ChannelPlaces::Channel;

  /// False: they would take too much memory.
  bool start_counts() {
    const Fabric& fabric = now_.fabric();
    state_.load_.assign(fabric.port_count(), 0);
    state_.one_vl_ = now_.sl_classes() == nullptr;
    if (state_.one_vl_) {
      state_.turns_ = TurnCounts{fabric};
      return true;
    }
    const unsigned vls = now_.sl_classes()->vls();
    const bool changes = now_.maps() != nullptr;
    if (VlTurnCounts::measure(fabric, vls, changes) > kMostBytes) return false;
    state_.vl_turns_ = VlTurnCounts{fabric, vls, changes};
    vl_writer_.emplace(state_.vl_turns_);
    return true;
  }

  void finish_counts() {
    if (vl_writer_) vl_writer_->finish();
    while (!state_.pairs_by_hops_.empty() && state_.pairs_by_hops_.back() == 0)
      state_.pairs_by_hops_.pop_back();
  }

  void resize(std::size_t switches) {
    seen_.assign(switches, 0);
    marked_.assign(switches, 0);
    hops_.assign(switches, 0);
    egress_.assign(switches, kNone<PortIdx>);
    next_.assign(switches, kNowhere);
    passing_.assign(switches, 0);
    packets_.resize(switches);
  }

  void list_channels() {
    const Fabric& fabric = now_.fabric();
    state_.places_ = ChannelPlaces{fabric.port_count() * vls()};
    for (const NodeIdx node : fabric.switch_node) {
      for (const PortIdx port : fabric.ports_of(node)) append_channels(port);
    }
  }

  [[nodiscard]] unsigned vls() const { return state_.vl_turns_.vls(); }

  void append_channels(PortIdx port) {
    for (unsigned vl = 0; vl < vls(); ++vl) state_.places_.append(port.value() * vls() + vl);
  }

  // Before and after.

  /// Of each LID, who may send by other links than before, or counts otherwise.
  bool take_away_former() {
    everybody_.clear();
    for (const SwitchIdx sw : before_->fabric().switch_node.indices()) everybody_.push_back(sw);
    const std::size_t end = std::max(before_->lids_end(), now_.lids_end());
    first_sender_.assign(end + 1, 0);
    whole_.assign(end, 0);
    std::size_t at = 0, at_sls = 0;
    const std::size_t paths = end * everybody_.size();
    for (std::size_t lid = 0; lid < end; ++lid) {
      first_sender_[lid] = senders_.size();
      const std::size_t first = at;
      while (at < found_->entries.size() && found_->entries[at].lid == lid) ++at;
      const std::size_t first_sls = at_sls;
      while (at_sls < found_->sls.size() && found_->sls[at_sls].lid == lid) ++at_sls;
      if (before_->owner(lid) == kNone<PortIdx>) continue;
      whole_[lid] = !found_->kept[lid] ||
                    !find_senders(lid,
                                  std::span{found_->entries}.subspan(first, at - first),
                                  std::span{found_->sls}.subspan(first_sls, at_sls - first_sls));
      if (whole_[lid]) {
        senders_.resize(first_sender_[lid]);
        if (!account(*before_, lid, everybody_, Turns::All, false)) return false;
        continue;
      }
      const std::span<const SwitchIdx> some = std::span{senders_}.subspan(first_sender_[lid]);
      if (!some.empty() && !account(*before_, lid, some, Turns::Changed, false)) return false;
      if (!is_worthwhile(senders_.size(), paths)) return false;
    }
    first_sender_[end] = senders_.size();
    return true;
  }

  /// Appends the switches whose packets to the LID meet a changed entry, those included, and those
  /// that count otherwise; marks the former that have one. False: too many to search for.
  bool find_senders(std::size_t lid,
                    std::span<const ChangedEntry> changes,
                    std::span<const ChangedEntry> other_sls) {
    ++stamp_;
    std::size_t at = senders_.size();
    const auto add = [&](SwitchIdx sw) {
      if (seen_[sw.value()] == stamp_) return;
      seen_[sw.value()] = stamp_;
      senders_.push_back(sw);
    };
    for (const ChangedEntry& change : changes) add(change.sw);
    for (const SwitchIdx sw : found_->gone) add(sw);
    for (std::size_t i = at; i < senders_.size(); ++i) marked_[senders_[i].value()] = stamp_;
    const Fabric& fabric = before_->fabric();
    std::size_t looked_at = 0;
    for (; at < senders_.size(); ++at) {
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[senders_[at]])) {
        const PortIdx peer = fabric.peer[port];
        if (peer == kNone<PortIdx>) continue;
        const SwitchIdx from = fabric.switch_at(peer);
        if (from == kNone<SwitchIdx> || seen_[from.value()] == stamp_) continue;
        if (before_->entry(from, lid) == fabric.number_of(peer)) add(from);
        if (++looked_at > 2 * fabric.switch_count()) return false;
      }
    }
    for (const SwitchIdx sw : found_->other_senders) add(sw);
    for (const ChangedEntry& change : other_sls) add(change.sw);
    return true;
  }

  bool add_new() {
    const std::size_t end = std::max(before_->lids_end(), now_.lids_end());
    everybody_.clear();
    for (const SwitchIdx sw : now_.fabric().switch_node.indices()) everybody_.push_back(sw);
    std::vector<SwitchIdx> some;
    std::size_t at = 0;
    for (std::size_t lid = 0; lid < end; ++lid) {
      const std::size_t first = at;
      while (at < found_->entries.size() && found_->entries[at].lid == lid) ++at;
      if (now_.owner(lid) == kNone<PortIdx>) continue;
      if (whole_[lid] || !found_->kept[lid]) {
        if (!account(now_, lid, everybody_, Turns::All, true)) return false;
        continue;
      }
      ++stamp_;
      some = found_->added;
      for (const SwitchIdx sw : found_->added) marked_[sw.value()] = stamp_;
      for (std::size_t i = first; i < at; ++i)
        marked_[found_->stay.switch_now[found_->entries[i].sw].value()] = stamp_;
      for (std::size_t i = first_sender_[lid]; i < first_sender_[lid + 1]; ++i) {
        const SwitchIdx is = found_->stay.switch_now[senders_[i]];
        if (is != kNone<SwitchIdx>) some.push_back(is);
      }
      if (!some.empty() && !account(now_, lid, some, Turns::Changed, true)) return false;
    }
    return true;
  }

  /// Follows the packets of `senders` to the LID, and counts them or takes them away. False: a
  /// packet does not arrive. Requires: marked_ says which switches have a changed entry, where only
  /// turns beside those are counted.
  bool account(
      RouteSide& side, std::size_t lid, std::span<const SwitchIdx> senders, Turns turns, bool add) {
    ++stamp_;
    if (turns == Turns::Changed) marked_stamp_ = stamp_ - 1;
    for (std::vector<SwitchIdx>& some : by_hops_) some.clear();
    const PortIdx owner = side.owner(lid);
    if (walk_) {
      if (!follow_all(lid, owner)) return false;
    } else {
      for (const SwitchIdx sw : senders) {
        if (!follow(side, lid, owner, sw)) return false;
      }
    }
    count_pairs(side, owner, senders, add);
    if (!state_.one_vl_) {
      if (!count_packets(side, lid, owner, senders, add)) return false;
    } else if (turns != Turns::None) {
      count_turns(side, turns, add);
    }
    if (side.is_base_of_host(lid)) count_loads(side, senders, add);
    return true;
  }

  /// From everywhere; for LIDs in a row.
  bool follow_all(std::size_t lid, PortIdx owner) {
    const Fabric& fabric = now_.fabric();
    walk_->follow(Lid{static_cast<std::uint16_t>(lid)}, owner);
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      if (walk_->result(sw) != PathResult::Arrives) return false;
      const std::uint32_t hops = walk_->hops(sw);
      const SwitchIdx next = walk_->next(sw);
      hops_[sw.value()] = hops;
      egress_[sw.value()] = fabric.port_of(fabric.switch_node[sw], walk_->egress(sw));
      next_[sw.value()] = next == kNone<SwitchIdx> ? kNowhere : next.value();
      if (by_hops_.size() <= hops) by_hops_.resize(hops + 1);
      by_hops_[hops].push_back(sw);
    }
    return true;
  }

  bool follow(const RouteSide& side, std::size_t lid, PortIdx owner, SwitchIdx sw) {
    const Fabric& fabric = side.fabric();
    path_.clear();
    while (seen_[sw.value()] != stamp_) {
      seen_[sw.value()] = stamp_;
      hops_[sw.value()] = kNowhere;
      path_.push_back(sw);
      const PortIdx egress = side.egress(sw, lid);
      if (egress == kNone<PortIdx>) return false;
      egress_[sw.value()] = egress;
      next_[sw.value()] = kNowhere;
      const bool own = fabric.number_of(egress) == PortNum{0};
      const PortIdx end = own ? egress : fabric.peer[egress];
      if (end == kNone<PortIdx>) return false;
      const SwitchIdx next = own ? kNone<SwitchIdx> : fabric.switch_at(end);
      if (next == kNone<SwitchIdx>) {
        if (end != owner) return false;
        break;
      }
      next_[sw.value()] = next.value();
      sw = next;
    }
    for (; !path_.empty(); path_.pop_back()) {
      const std::uint32_t at = path_.back().value();
      if (next_[at] == kNowhere) {
        hops_[at] = 0;
      } else if (hops_[next_[at]] == kNowhere) {
        return false;  // met twice
      } else {
        hops_[at] = hops_[next_[at]] + 1;
      }
      if (by_hops_.size() <= hops_[at]) by_hops_.resize(hops_[at] + 1);
      by_hops_[hops_[at]].push_back(path_.back());
    }
    return true;
  }

  void count_pairs(const RouteSide& side,
                   PortIdx owner,
                   std::span<const SwitchIdx> senders,
                   bool add) {
    const SwitchIdx last = side.switch_by(owner);
    const bool own = side.fabric().is_end_port(owner);
    for (const SwitchIdx sw : senders) {
      const std::uint64_t pairs = side.end_ports(sw) - (own && sw == last ? 1 : 0);
      const std::uint32_t hops = hops_[sw.value()];
      if (state_.pairs_by_hops_.size() <= hops) state_.pairs_by_hops_.resize(hops + 1, 0);
      state_.pairs_by_hops_[hops] += add ? pairs : -pairs;
    }
  }

  void count_turns(const RouteSide& side, Turns turns, bool add) {
    const Fabric& fabric = side.fabric();
    for (const std::vector<SwitchIdx>& some : by_hops_) {
      for (const SwitchIdx sw : some) {
        const std::uint32_t next = next_[sw.value()];
        if (next == kNowhere) continue;
        if (turns == Turns::Changed && marked_[sw.value()] != marked_stamp_ &&
            marked_[next] != marked_stamp_)
          continue;
        const PortIdx in = fabric.peer[egress_[sw.value()]];
        const PortNum out = fabric.number_of(egress_[next]);
        if (add) {
          if (state_.turns_.count(in, out) == 0) appeared_.push_back({in, out});
          state_.turns_.add(in, out);
        } else {
          state_.turns_.take_away(in, out);
        }
      }
    }
  }

  /// VL by VL, from where they enter to where they leave. False: some are discarded, or have no SL.
  bool count_packets(RouteSide& side,
                     std::size_t lid,
                     PortIdx owner,
                     std::span<const SwitchIdx> senders,
                     bool add) {
    for (const std::vector<SwitchIdx>& some : by_hops_) {
      for (const SwitchIdx sw : some) packets_[sw.value()].clear();
    }
    const SwitchIdx last = side.switch_by(owner);
    const bool own = side.fabric().is_end_port(owner);
    for (const SwitchIdx sw : senders) {
      const SlMask offered = side.offered(sw, lid);
      const RouteSide::Source& source = side.source(sw, egress_[sw.value()]);
      const bool sends = side.end_ports(sw) > (own && sw == last ? 1u : 0u);
      if (sends && (offered == 0 || (offered & source.open) != offered)) return false;
      if (next_[sw.value()] == kNowhere) continue;
      for (unsigned left = offered; left != 0; left &= left - 1) {
        const auto sl_class = static_cast<std::uint8_t>(std::countr_zero(left));
        for (unsigned vls = source.vls[sl_class]; vls != 0; vls &= vls - 1)
          packets_[sw.value()].push_back({.sl_class = sl_class,
                                          .vl = static_cast<std::uint8_t>(std::countr_zero(vls)),
                                          .count = side.weight(sl_class)});
      }
    }
    for (std::size_t hops = by_hops_.size(); hops-- > 1;) {
      for (const SwitchIdx sw : by_hops_[hops]) {
        if (!pass_on(side, sw, add)) return false;
      }
    }
    return true;
  }

  bool pass_on(const RouteSide& side, SwitchIdx from, bool add) {
    const Fabric& fabric = side.fabric();
    const SlClasses& classes = *side.sl_classes();
    const SwitchIdx sw{next_[from.value()]};
    const PortIdx egress = egress_[sw.value()];
    const PortIdx in = fabric.peer[egress_[from.value()]];
    const PortNum number = fabric.number_of(in), out = fabric.number_of(egress);
    const std::uint16_t row = classes.row(sw, number, out);
    const SlMask passing = classes.passing(row, egress);
    for (const PacketFlow& some : packets_[from.value()]) {
      if ((passing >> some.sl_class & 1u) == 0) return false;
      std::uint64_t& on_vl = state_.packets_by_vl_[some.vl];
      on_vl = add ? on_vl + some.count : on_vl - some.count;
      if (next_[sw.value()] == kNowhere) continue;
      const std::uint8_t vl = classes.vls_of(row)[some.sl_class];
      std::uint32_t& turns = vl_writer_->at(sw, number, some.vl, out, vl);
      if (add && turns == 0) appeared_.push_back({in, out, some.vl, vl});
      turns = add ? turns + some.count : turns - some.count;
      join(packets_[sw.value()], {.sl_class = some.sl_class, .vl = vl, .count = some.count});
    }
    return true;
  }

  static void join(std::vector<PacketFlow>& all, const PacketFlow& some) {
    for (PacketFlow& alike : all) {
      if (alike.sl_class != some.sl_class || alike.vl != some.vl) continue;
      alike.count += some.count;
      return;
    }
    all.push_back(some);
  }

  // Farthest first: when a switch's turn comes, everything that passes it has arrived there.
  void count_loads(const RouteSide& side, std::span<const SwitchIdx> senders, bool add) {
    for (const std::vector<SwitchIdx>& some : by_hops_) {
      for (const SwitchIdx sw : some) passing_[sw.value()] = 0;
    }
    for (const SwitchIdx sw : senders) passing_[sw.value()] = side.hosts(sw);
    for (std::size_t hops = by_hops_.size(); hops-- > 1;) {
      for (const SwitchIdx sw : by_hops_[hops]) {
        const std::uint64_t packets = passing_[sw.value()];
        state_.load_[egress_[sw.value()]] += add ? packets : -packets;
        passing_[next_[sw.value()]] += packets;
      }
    }
  }

  /// The counts of what stays, by the new indices. False: something is left of what went, or they
  /// would take too much memory.
  bool carry_over() {
    if (vl_writer_) vl_writer_->finish();
    VerifiedRoutes was = std::move(state_);
    state_ = {};
    if (!start_counts()) return false;
    state_.pairs_by_hops_ = std::move(was.pairs_by_hops_);
    state_.packets_by_vl_ = was.packets_by_vl_;
    state_.no_data_ = std::move(was.no_data_);
    state_.places_ = ChannelPlaces{now_.fabric().port_count() * vls()};
    for (const Channel channel : was.places_.channels()) {
      const PortIdx port{channel / vls()};
      const PortIdx is = found_->stay.now(port);
      if (is != kNone<PortIdx>) state_.places_.append(is.value() * vls() + channel % vls());
    }
    const Fabric& former = before_->fabric();
    for (const SwitchIdx sw : former.switch_node.indices()) {
      const SwitchIdx is = found_->stay.switch_now[sw];
      if (is != kNone<SwitchIdx> && state_.one_vl_) state_.turns_.set_switch(is, was.turns_, sw);
      if (is != kNone<SwitchIdx> && !state_.one_vl_)
        state_.vl_turns_.set_switch(is, was.vl_turns_, sw);
      if (is == kNone<SwitchIdx> && !state_.one_vl_ && was.vl_turns_.is_taken(sw)) return false;
      for (const PortIdx port : former.ports_of(former.switch_node[sw])) {
        const PortIdx stays = found_->stay.now(port);
        if (stays == kNone<PortIdx>) {
          if (was.load_[port] != 0 || (state_.one_vl_ && was.turns_.is_taken(port))) return false;
          continue;
        }
        state_.load_[stays] = was.load_[port];
      }
    }
    for (const SwitchIdx sw : found_->added) {
      for (const PortIdx port : now_.fabric().ports_of(now_.fabric().switch_node[sw]))
        append_channels(port);
    }
    return true;
  }

  // Order.

  [[nodiscard]] bool enters_switch(PortIdx out) const {
    const PortIdx peer = now_.fabric().peer[out];
    return peer != kNone<PortIdx> && now_.fabric().is_switch(now_.fabric().node_of[peer]);
  }

  /// Calls visit(out, vl_out) for what packets that entered by `in` on a VL wait for.
  template <class Visit>
  void for_each_turn(PortIdx in, unsigned vl, Visit&& visit) const {
    const Fabric& fabric = now_.fabric();
    const NodeIdx node = fabric.node_of[in];
    const std::uint32_t first_port = fabric.first_port[node];
    const PortNum number = fabric.number_of(in);
    if (state_.one_vl_) {
      const std::span<const std::uint16_t> lids = state_.turns_.row(in);
      for (std::uint32_t to = 1; to < lids.size(); ++to) {
        if (lids[to] != 0) visit(PortIdx{first_port + to}, vl);
      }
      return;
    }
    for (std::uint32_t to = 1; to <= fabric.num_ports(node); ++to) {
      const PortNum out{static_cast<std::uint8_t>(to)};
      const unsigned first = changes_vl() ? 0 : vl, end = changes_vl() ? vls() : vl + 1;
      for (unsigned vl_out = first; vl_out < end; ++vl_out) {
        if (state_.vl_turns_.count(fabric.switch_of[node], number, vl, out, vl_out) != 0)
          visit(PortIdx{first_port + to}, vl_out);
      }
    }
  }

  [[nodiscard]] bool changes_vl() const { return state_.vl_turns_.changes(); }

  /// Dependencies that are new go up, or the stretch between their ends is sorted anew. False: they
  /// close a circle.
  bool restore_order() {
    std::size_t first = state_.places_.channels().size(), end = 0;
    const auto add = [&](PortIdx in, unsigned vl_in, PortIdx out, unsigned vl_out) {
      const PortIdx held = now_.fabric().peer[in];
      if (held == kNone<PortIdx> || !enters_switch(held) || !enters_switch(out)) return;
      const std::size_t from = state_.places_.of(held.value() * vls() + vl_in);
      const std::size_t to = state_.places_.of(out.value() * vls() + vl_out);
      if (from < to) return;
      first = std::min(first, to);
      end = std::max(end, from + 1);
    };
    // Some of them may have gone again; they do not matter.
    for (const Turn& turn : appeared_)
      add(turn.in,
          turn.vl_in,
          now_.fabric().port_of(now_.fabric().node_of[turn.in], turn.out),
          turn.vl_out);
    // A channel that is new depends, and is depended on, by all turns that it is part of.
    for (const PortIdx port : found_->links) {
      const PortIdx changed = found_->stay.now(port);
      for (const PortIdx in : now_.fabric().external_ports(now_.fabric().node_of[changed])) {
        for (unsigned vl = 0; vl < vls(); ++vl) {
          for_each_turn(in, vl, [&](PortIdx out, unsigned vl_out) {
            if (in == changed || out == changed) add(in, vl, out, vl_out);
          });
        }
      }
    }
    return first >= end || sort_channels(first, end);
  }

  /// Sorts the channels in these places. False: they close a circle.
  bool sort_channels(std::size_t first, std::size_t end) {
    return state_.places_.sort(first, end, [&](Channel channel, auto&& visit) {
      const PortIdx port{channel / vls()};
      if (!enters_switch(port)) return;
      for_each_turn(now_.fabric().peer[port], channel % vls(), [&](PortIdx out, unsigned vl) {
        if (enters_switch(out)) visit(out.value() * vls() + vl);
      });
    });
  }

  /// That counts by VL may take.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;

  RouteSide now_;
  std::optional<RouteSide> before_;
  VerifiedRoutes& state_;
  std::optional<RouteChanges> found_;
  std::optional<VlTurnCounts::Writer> vl_writer_;

  std::vector<char> whole_;         // by LID: everybody's packets are followed
  std::vector<SwitchIdx> senders_;  // LID by LID, of the former snapshot
  std::vector<std::size_t> first_sender_;
  std::vector<Turn> appeared_;  // turns that nobody took
  std::vector<SwitchIdx> everybody_;

  std::optional<Walk> walk_;  // from nothing

  // Of the LID that is followed, by switch; good where the stamp is right.
  std::uint64_t stamp_ = 0, marked_stamp_ = 0;
  std::vector<std::uint64_t> seen_, marked_;
  std::vector<std::uint32_t> hops_, next_;
  std::vector<PortIdx> egress_;
  std::vector<std::uint64_t> passing_;
  std::vector<std::vector<PacketFlow>> packets_;
  std::vector<std::vector<SwitchIdx>> by_hops_;
  std::vector<SwitchIdx> path_;
};

std::shared_ptr<const VerifiedRoutes> VerifiedRoutes::build(const RoutesOnFabric& on) {
  VerifiedRoutes found;
  if (!RouteUpdate{on, found}.build()) return nullptr;
  return std::make_shared<const VerifiedRoutes>(std::move(found));
}

std::shared_ptr<const VerifiedRoutes> VerifiedRoutes::update(const RoutesOnFabric& before,
                                                             const RoutesOnFabric& now) const {
  VerifiedRoutes found;
  if (!RouteUpdate{now, found}.update(*this, before)) return nullptr;
  return std::make_shared<const VerifiedRoutes>(std::move(found));
}

RouteReport VerifiedRoutes::report() const {
  RouteReport report{.minimality = false};
  for (std::size_t hops = 0; hops < pairs_by_hops_.size(); ++hops) {
    report.pairs += pairs_by_hops_[hops];
    report.hops += hops * pairs_by_hops_[hops];
    if (pairs_by_hops_[hops] != 0) report.max_hops = static_cast<unsigned>(hops);
  }
  const auto used = std::ranges::count_if(packets_by_vl_, [](std::uint64_t on) { return on != 0; });
  report.vls = std::max(1u, static_cast<unsigned>(used));
  return report;
}

bool VerifiedRoutes::counts_equal(const VerifiedRoutes& other) const {
  return one_vl_ == other.one_vl_ && turns_ == other.turns_ && vl_turns_ == other.vl_turns_ &&
         packets_by_vl_ == other.packets_by_vl_ && load_ == other.load_ &&
         pairs_by_hops_ == other.pairs_by_hops_;
}

bool VerifiedRoutes::agrees_with(const RouteReport& full) const {
  const RouteReport own = report();
  return full.ok() && full.disconnected == 0 && full.pairs == own.pairs && full.hops == own.hops &&
         full.max_hops == own.max_hops && full.vls == own.vls;
}

LoadReport VerifiedRoutes::measure_load(const Fabric& fabric) const {
  return summarise_load(fabric, find_channels(fabric), load_);
}

RouteCheck check_route_changes(const VerifiedRoutes* verified,
                               const RoutesOnFabric& before,
                               const RoutesOnFabric& now,
                               unsigned threads) {
  if (verified != nullptr) {
    if (auto next = verified->update(before, now)) return {next->report(), std::move(next)};
  }
  return {
      check_routes(*now.fabric, *now.lids, *now.routing, {.minimality = false, .threads = threads}),
      nullptr};
}

}  // namespace smd
