// The packets to one destination, SL by SL, on their way through its in-tree: on which lanes they
// wait for which, and where they are discarded. For verification only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "smd/routing/channel_graph.h"
#include "smd/routing/lane_rows.h"
#include "smd/routing/walk.h"

namespace smd {

class LaneFlow {
 public:
  /// `offered` stands in place of the SLs of paths, unless null. Any SL: every end port may send
  /// with all 16, whatever the routes say.
  LaneFlow(const Fabric& fabric, const RoutingTables& routing, const SlSets* offered, bool any_sl);

  /// Lanes that a ChannelGraph for these routes has to tell apart.
  [[nodiscard]] unsigned vls() const { return rows_.vls(); }

  /// Takes in what the packets to `lid` from the end ports of every switch wait for. What a switch
  /// passes on to one LID leaves by one port, so each switch is looked at once. Requires:
  /// walk.follow(lid, …).
  void follow(Lid lid, const Walk& walk);

  /// Adds all that was taken in.
  void add_to(ChannelGraph& graph) const;

  /// If true, nothing that the tables lead to the owner of the LID is discarded. Requires:
  /// follow().
  [[nodiscard]] bool all_pass() const { return all_pass_; }

  /// End ports at `source` whose packets to the LID are discarded on the way: with the SL of their
  /// path, or with any of all where none is given. The owner of the LID sends none. Requires:
  /// follow(), and that the walk from `source` arrives.
  [[nodiscard]] std::uint32_t count_discarded(SwitchIdx source, const Walk& walk) const;

  /// "SL 3 is discarded at sw-0-1 from port 2 to port 7". Requires: count_discarded() is not 0.
  [[nodiscard]] std::string print_discard(SwitchIdx source, const Walk& walk) const;

  /// Lanes on which packets go from switch to switch, at least 1.
  [[nodiscard]] unsigned count_used() const;

 private:
  // LIDs whose SLs are looked up at once.
  static constexpr std::size_t kColumns = 32;

  /// Classes of packets on the path; `any`: on any path.
  [[nodiscard]] SlMask offered(SwitchIdx source, bool any) const {
    return any ? rows_.all_classes()
               : said_[lid_.value() % kColumns * ends_.size() + source.value()];
  }

  [[nodiscard]] SlMask said_of(SwitchIdx source, Lid lid) const;
  void load_sls(std::size_t first_lid);
  [[nodiscard]] SlMask passing(SwitchIdx sw, PortNum in, PortNum out) const;
  void find_starts();
  void order_switches(const Walk& walk);
  void start(SwitchIdx source, PortNum out);
  bool pass_on(SwitchIdx from, const Walk& walk);
  void find_arriving(const Walk& walk);
  [[nodiscard]] bool passes(SwitchIdx source, const Walk& walk) const;
  [[nodiscard]] std::string print_stop(SwitchIdx sw, PortNum in, PortNum out, SlMask stopped) const;

  // A packet's state is its class and the lane that it is on; a set of states is words_ words, in
  // which the lanes of a class follow each other.
  [[nodiscard]] unsigned class_of(unsigned state) const { return state >> lane_bits_; }

  [[nodiscard]] unsigned lane_of(unsigned state) const { return state & ((1u << lane_bits_) - 1); }

  [[nodiscard]] unsigned state_of(unsigned sl_class, unsigned lane) const {
    return sl_class << lane_bits_ | lane;
  }

  const Fabric& fabric_;
  const PathSls* path_sls_;  // null: none given
  const SlSets* sl_sets_;    // null: none given
  bool said_something_;      // not both are null
  bool any_sl_;              // on any path
  LaneRows rows_;
  unsigned lane_bits_;
  std::size_t words_;
  IndexVector<SwitchIdx, std::vector<PortNum>> ends_;  // by which end ports enter, 0 among them
  std::vector<std::uint16_t> starts_;  // by exit and class: lanes for what enters there
  IndexVector<PortIdx, SlMask> open_;  // by exit: classes that no end port's packets lack

  // By exit, then by exit of the switch there: states in which packets turn from one to the other.
  std::vector<std::size_t> first_turn_;
  std::vector<std::uint64_t> turns_;
  std::vector<std::uint64_t> seen_;  // states of packets between switches

  std::vector<SlMask> said_;  // by LID, then switch: classes of the path
  std::size_t first_lid_ = ~std::size_t{0};
  bool all_pass_ = true;
  Lid lid_;
  std::vector<std::uint64_t> leaving_;       // by switch: states in which packets leave it
  IndexVector<SwitchIdx, SlMask> arriving_;  // classes that reach the owner once they have left
  std::vector<SwitchIdx> order_;             // farthest first, without those that loop
  std::vector<SwitchIdx> looping_;
  std::vector<std::uint32_t> by_hops_;
};

}  // namespace smd
