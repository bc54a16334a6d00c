// Which VLs the packets of given routes travel on, SL by SL. For verification only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "smd/routing/tables.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/walk.h"

namespace smd {

// What switches do with the SLs of packets, made ready for looking it up often: SLs that are
// treated alike everywhere are one class, and a VL that a link does not have discards like
// VL 15. For verification only.

/// A set of SL classes, by bit.
using SlMask = std::uint16_t;

class SlClasses {
 public:
  static constexpr std::uint8_t kNoClass = 0xff;

  /// Maps that were made for other switches discard everything.
  SlClasses(const Fabric& fabric, const RoutingTables& routing);

  /// 1 to 16.
  [[nodiscard]] unsigned classes() const { return classes_; }

  [[nodiscard]] SlMask all_classes() const { return static_cast<SlMask>((1u << classes_) - 1); }

  /// kNoClass for numbers that are no SL.
  [[nodiscard]] std::uint8_t class_of(std::uint8_t sl) const { return class_of_[sl]; }

  /// The lowest SL of a class.
  [[nodiscard]] std::uint8_t sl_of(unsigned sl_class) const { return sl_of_[sl_class]; }

  /// Requires: the ports exist.
  [[nodiscard]] std::uint16_t row(SwitchIdx sw, PortNum in, PortNum out) const {
    return maps_ == nullptr ? std::uint16_t{0} : maps_->row_number(sw, in, out);
  }

  /// VLs by class; meaningful for the classes of passing().
  [[nodiscard]] const std::array<std::uint8_t, 16>& vls_of(std::uint16_t row) const {
    return vls_by_row_[row];
  }

  /// Classes that a row does not discard when they leave by `out`, a port of a switch.
  [[nodiscard]] SlMask passing(std::uint16_t row, PortIdx out) const {
    return passing_[row][limit_[out]];
  }

  /// Data VLs that both ends of a link have, at most 15.
  [[nodiscard]] std::uint8_t limit(PortIdx out) const { return limit_[out]; }

  /// Whether there is anything that passing() leaves out.
  [[nodiscard]] bool may_discard() const { return may_discard_; }

  /// Highest VL that is not a discard, plus one; at least 1.
  [[nodiscard]] unsigned vls() const { return vls_; }

 private:
  void merge_classes(const std::vector<SlToVl>& rows);
  void read_limits(const Fabric& fabric);

  const SlToVlMaps* maps_ = nullptr;  // null: one row for all
  unsigned classes_ = 1;
  unsigned vls_ = 1;
  bool may_discard_ = false;
  std::array<std::uint8_t, 256> class_of_;
  std::array<std::uint8_t, 16> sl_of_{};
  std::vector<std::array<std::uint8_t, 16>> vls_by_row_;
  std::vector<std::array<SlMask, 16>> passing_;  // by row, and by VLs of the link
  IndexVector<PortIdx, std::uint8_t> limit_;     // data VLs that both ends of a link have
};

// The packets to one destination, SL by SL, on their way through its in-tree: on which VLs they
// wait for which, and where they are discarded. For verification only.

class VlFlow {
 public:
  /// `offered` stands in place of the SLs of paths, unless null. Any SL: every end port may send
  /// with all 16, whatever the routes say.
  VlFlow(const Fabric& fabric, const RoutingTables& routing, const SlSets* offered, bool any_sl);

  /// VLs that a ChannelGraph for these routes has to tell apart.
  [[nodiscard]] unsigned vls() const { return sl_classes_.vls(); }

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

  /// VLs on which packets go from switch to switch, at least 1.
  [[nodiscard]] unsigned count_used() const;

 private:
  // LIDs whose SLs are looked up at once.
  static constexpr std::size_t kColumns = 32;

  /// Classes of packets on the path; `any`: on any path.
  [[nodiscard]] SlMask offered(SwitchIdx source, bool any) const {
    return any ? sl_classes_.all_classes()
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

  // A packet's state is its class and the VL that it is on; a set of states is words_ words, in
  // which the VLs of a class follow each other.
  [[nodiscard]] unsigned class_of(unsigned state) const { return state >> vl_bits_; }

  [[nodiscard]] unsigned vl_of(unsigned state) const { return state & ((1u << vl_bits_) - 1); }

  [[nodiscard]] unsigned state_of(unsigned sl_class, unsigned vl) const {
    return sl_class << vl_bits_ | vl;
  }

  const Fabric& fabric_;
  const PathSls* path_sls_;  // null: none given
  const SlSets* sl_sets_;    // null: none given
  bool said_something_;      // not both are null
  bool any_sl_;              // on any path
  SlClasses sl_classes_;
  unsigned vl_bits_;
  std::size_t words_;
  IndexVector<SwitchIdx, std::vector<PortNum>> ends_;  // by which end ports enter, 0 among them
  std::vector<std::uint16_t> starts_;  // by egress and class: VLs for what enters there
  IndexVector<PortIdx, SlMask> open_;  // by egress: classes that no end port's packets lack

  // By egress, then by egress of the switch there: states in which packets turn from one to the
  // other.
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
