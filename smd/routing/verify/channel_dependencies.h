// The channel dependency graph of given tables. For verification only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "smd/base/shared.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"

namespace smd {

// Who waits for whom: a packet that holds a channel on one VL and wants the next one. A cycle in
// this graph can become a deadlock; without one there is none (Dally and Seitz).

/// A directed link: leaving `port` of its node on data VL `vl`.
struct ChannelStep {
  PortIdx port;
  Vl vl;

  friend bool operator==(const ChannelStep&, const ChannelStep&) = default;
};

/// Dependencies between the channels of switches, as bit rows: a channel names the peer port it
/// enters a switch by, so what it waits for is a set of that switch's out ports (and VLs).
class ChannelGraph {
 public:
  /// Requires: vls >= 1.
  ChannelGraph(const Fabric& fabric, unsigned vls);

  /// A packet that entered a switch by `in` on `vl_in` leaves by its port `out` on `vl_out`.
  void add(PortIdx in, unsigned vl_in, unsigned out, unsigned vl_out) {
    const std::uint32_t bit = out * vls_ + vl_out;
    rows_[first_word_[in.value()] + vl_in * words_[in.value()] + bit / 64] |= std::uint64_t{1}
                                                                              << (bit % 64);
  }

  /// The same for every port of which `outs` has the bit set. Requires: one VL, and a bit for
  /// each port at least.
  void add_all(PortIdx in, std::span<const std::uint64_t> outs) {
    for (std::uint32_t word = 0; word < words_[in.value()]; ++word)
      rows_[first_word_[in.value()] + word] |= outs[word];
  }

  /// Empty when there is none; else the shortest of those found from a bounded number of starts.
  [[nodiscard]] std::vector<ChannelStep> find_cycle() const;

  /// Every dependency between channels that lead to switches.
  void each(const std::function<void(ChannelStep from, ChannelStep to)>& visit) const;

  [[nodiscard]] unsigned vls() const { return vls_; }

  friend bool operator==(const ChannelGraph& a, const ChannelGraph& b) {
    return a.rows_ == b.rows_;
  }

 private:
  using Channel = std::uint32_t;  // port * vls + vl

  /// Channels that may be waited for by holders of `channel`, ascending.
  void find_successors(Channel channel, std::vector<Channel>& found) const;

  [[nodiscard]] std::vector<char> find_core() const;
  [[nodiscard]] std::vector<Channel> find_cycle_through(Channel start,
                                                        const std::vector<char>& core,
                                                        std::size_t shorter_than) const;

  const Fabric& fabric_;
  unsigned vls_;
  std::vector<std::uint32_t> first_word_;  // by in port
  std::vector<std::uint32_t> words_;       // per row, by in port
  std::vector<std::uint64_t> rows_;
};

// An order of channels, kept while dependencies come and go.

/// Places of channels, from 0 on, each with a VL: a dependency is to lead to a higher one.
class ChannelPlaces {
 public:
  using Channel = std::uint32_t;  // port * VLs + VL

  /// Of no channel yet. `count`: of ports times VLs.
  explicit ChannelPlaces(std::size_t count = 0) : place_(count, 0) {}

  void append(Channel channel) {
    place_[channel] = static_cast<std::uint32_t>(channels_.size());
    channels_.push_back(channel);
  }

  [[nodiscard]] std::uint32_t of(Channel channel) const { return place_[channel]; }

  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }

  /// Sorts what stands in [first, end) so that dependencies go up. False: they close a circle.
  /// next(channel, visit) calls visit for those that its holders may wait for. Requires: all
  /// dependencies that do not go up have both ends there.
  template <class Next>
  [[nodiscard]] bool sort(std::size_t first, std::size_t end, Next&& next);

 private:
  std::vector<Channel> channels_;     // by place
  std::vector<std::uint32_t> place_;  // by channel
};

template <class Next>
bool ChannelPlaces::sort(std::size_t first, std::size_t end, Next&& next) {
  const auto each_after = [&](std::size_t place, auto&& visit) {
    next(channels_[place], [&](Channel channel) {
      const std::size_t to = place_[channel];
      if (to >= first && to < end) visit(to);
    });
  };
  std::vector<std::uint32_t> waiting(end - first, 0);
  for (std::size_t place = first; place < end; ++place)
    each_after(place, [&](std::size_t to) { ++waiting[to - first]; });
  std::vector<Channel> sorted;
  std::vector<std::size_t> free;
  sorted.reserve(end - first);
  for (std::size_t place = first; place < end; ++place) {
    if (waiting[place - first] == 0) free.push_back(place);
  }
  for (std::size_t at = 0; at < free.size(); ++at) {
    sorted.push_back(channels_[free[at]]);
    each_after(free[at], [&](std::size_t to) {
      if (--waiting[to - first] == 0) free.push_back(to);
    });
  }
  if (sorted.size() != end - first) return false;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    channels_[first + i] = sorted[i];
    place_[sorted[i]] = static_cast<std::uint32_t>(first + i);
  }
  return true;
}

// Who waits for whom when every packet is on one VL: that a packet to some LID may turn from one
// link to another is then the affair of two neighbouring switches and their entries. For
// verification only.

/// Of these LIDs, from the switches [first, last), whether anything is sent there or not. Several
/// threads may add those of different switches to one graph. Requires: the graph knows one VL;
/// LIDs that the tables have entries for.
void add_table_turns(const Fabric& fabric,
                     const ForwardingTables& tables,
                     std::span<const std::uint16_t> lids,
                     std::size_t first,
                     std::size_t last,
                     ChannelGraph& graph);

/// Of all LIDs that somebody has, and from every switch.
void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph);

/// LIDs that somebody has and the tables have entries for, ascending.
[[nodiscard]] std::vector<std::uint16_t> find_owned_lids(const LidMap& lids,
                                                         const ForwardingTables& tables);

/// How many LIDs take each turn, so that what one LID does no longer can be taken away. A LID takes
/// the turn (in, out) when the switch at the other end of the link of `in` sends it there, and the
/// switch of `in` has the entry `out` for it, wherever that leads. Of the LIDs that were added, and
/// of no other: those that nobody has count when they were added, as tables may still hold entries
/// for them. Copies share what is counted at a switch until one of them writes there.
class TurnCounts {
 public:
  TurnCounts() = default;

  /// Of no LID, for the switches of `fabric`.
  explicit TurnCounts(const Fabric& fabric);

  /// Requires: the fabric that this was made for, or one with the same nodes; LIDs that `tables`
  /// have entries for, each one once.
  void add(const Fabric& fabric,
           const ForwardingTables& tables,
           std::span<const std::uint16_t> lids);

  /// One LID more, or one less. Requires: `in` is a port of a switch; a turn that is taken.
  void add(PortIdx in, PortNum out) {
    const Place at = place(in);
    OfSwitch& own = own_counts(at.sw);
    if (own.lids[at.first_count + out.value()]++ == 0)
      own.outs[at.first_word + out.value() / 64] |= bit(out);
  }

  void take_away(PortIdx in, PortNum out) {
    const Place at = place(in);
    OfSwitch& own = own_counts(at.sw);
    if (--own.lids[at.first_count + out.value()] == 0)
      own.outs[at.first_word + out.value() / 64] &= ~bit(out);
  }

  /// Requires: `in` is a port of a switch, and `out` a number of its ports, 0 included.
  [[nodiscard]] std::uint16_t count(PortIdx in, PortNum out) const {
    const Place at = place(in);
    return by_switch_[at.sw].counts->lids[at.first_count + out.value()];
  }

  /// By the number of `out`, 0 included. Requires: `in` is a port of a switch.
  [[nodiscard]] std::span<const std::uint16_t> row(PortIdx in) const {
    const Place at = place(in);
    return {by_switch_[at.sw].counts->lids.data() + at.first_count, at.width};
  }

  /// Whether any turn from `in` is taken. Requires: as row().
  [[nodiscard]] bool is_taken(PortIdx in) const {
    return std::ranges::any_of(outs(in), [](std::uint64_t some) { return some != 0; });
  }

  /// A switch of `was` is `sw` here. Requires: it has as many ports.
  void set_switch(SwitchIdx sw, const TurnCounts& was, SwitchIdx then) {
    was.shared_.set();
    by_switch_[sw] = {was.by_switch_[then].counts, false};
  }

  /// A bit for each turn that is taken, by the number of `out`, in as many words as its switch has
  /// ports for. Requires: as row().
  [[nodiscard]] std::span<const std::uint64_t> outs(PortIdx in) const {
    const Place at = place(in);
    return {by_switch_[at.sw].counts->outs.data() + at.first_word, (at.width + 63u) / 64};
  }

  friend bool operator==(const TurnCounts& a, const TurnCounts& b);

 private:
  struct OfSwitch {                   // of one switch
    std::vector<std::uint16_t> lids;  // by port of entry and number of the port to leave by
    std::vector<std::uint64_t> outs;  // bits: not 0
  };

  struct Switch {
    std::shared_ptr<OfSwitch> counts;
    bool own = false;  // no other version held them when this one took them
  };

  struct SwitchOf {  // of a port of a switch
    SwitchIdx sw;
    std::uint16_t number = 0, width = 0;
  };

  struct Place {
    SwitchIdx sw;
    std::uint16_t width;
    std::uint32_t first_count, first_word;
  };

  static std::uint64_t bit(PortNum out) { return std::uint64_t{1} << (out.value() % 64); }

  [[nodiscard]] Place place(PortIdx in) const {
    const SwitchOf& of = (*ports_)[in];
    const std::uint32_t words = (of.width + 63u) / 64;
    return {of.sw, of.width, std::uint32_t{of.number} * of.width, of.number * words};
  }

  [[nodiscard]] OfSwitch& own_counts(SwitchIdx sw) {
    if (!by_switch_[sw].own || shared_.get()) make_own(sw);
    return *by_switch_[sw].counts;
  }

  void make_own(SwitchIdx sw);

  std::shared_ptr<const IndexVector<PortIdx, SwitchOf>> ports_;
  SharedMark shared_;
  IndexVector<SwitchIdx, Switch> by_switch_;
};

/// How many packets take each turn from VL to VL. Copies share what no writer changed.
class VlTurnCounts {
 public:
  VlTurnCounts() = default;

  /// Of no packet. `changes`: a packet may change its VL. Requires: vls >= 1.
  VlTurnCounts(const Fabric& fabric, unsigned vls, bool changes);

  /// What the counts of a fabric take, in bytes.
  [[nodiscard]] static std::uint64_t measure(const Fabric& fabric, unsigned vls, bool changes);

  [[nodiscard]] unsigned vls() const { return vls_; }

  [[nodiscard]] bool changes() const { return changes_; }

  /// Requires: `in` is a port of a switch, and `out` a number of its ports; the same VL, where
  /// packets do not change it.
  [[nodiscard]] std::uint32_t count(
      SwitchIdx sw, PortNum in, unsigned vl_in, PortNum out, unsigned vl_out) const {
    return (*by_switch_[sw])[at(sw, in, vl_in, out, vl_out)];
  }

  /// A switch of `was` is `sw` here. Requires: it has as many ports.
  void set_switch(SwitchIdx sw, const VlTurnCounts& was, SwitchIdx then) {
    by_switch_[sw] = was.by_switch_[then];
  }

  [[nodiscard]] bool is_taken(SwitchIdx sw) const {
    return std::ranges::any_of(*by_switch_[sw], [](std::uint32_t packets) { return packets != 0; });
  }

  friend bool operator==(const VlTurnCounts& a, const VlTurnCounts& b);

  /// Changes counts, which are seen when it is done.
  class Writer {
   public:
    explicit Writer(VlTurnCounts& counts) : counts_(counts), own_(counts.by_switch_.size()) {}

    std::uint32_t& at(SwitchIdx sw, PortNum in, unsigned vl_in, PortNum out, unsigned vl_out) {
      std::vector<std::uint32_t>& own = own_[sw.value()];
      if (own.empty()) own = *counts_.by_switch_[sw];
      return own[counts_.at(sw, in, vl_in, out, vl_out)];
    }

    void finish();

   private:
    VlTurnCounts& counts_;
    std::vector<std::vector<std::uint32_t>> own_;  // empty: not changed
  };

 private:
  using Counts = std::vector<std::uint32_t>;

  [[nodiscard]] std::size_t at(
      SwitchIdx sw, PortNum in, unsigned vl_in, PortNum out, unsigned vl_out) const {
    const std::size_t turn = std::size_t{in.value()} * width_[sw] + out.value();
    return changes_ ? (turn * vls_ + vl_in) * vls_ + vl_out : turn * vls_ + vl_in;
  }

  unsigned vls_ = 1;
  bool changes_ = false;
  IndexVector<SwitchIdx, std::uint16_t> width_;  // ports, port 0 included
  IndexVector<SwitchIdx, std::shared_ptr<const Counts>> by_switch_;
};

/// No entry sends a packet up that may have come down, by the ranks that the tables carry: towards
/// the smaller rank is up, between equal ones towards the smaller GUID. `turns`: of the LIDs that
/// somebody has, where they are counted; what tables hold for other LIDs is looked at entry by
/// entry. Requires: a rank for every switch.
[[nodiscard]] bool obeys_ranks(const Fabric& fabric,
                               const LidMap& lids,
                               const RoutingTables& routing,
                               const TurnCounts* turns = nullptr);

}  // namespace smd
