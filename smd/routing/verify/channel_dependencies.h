// The channel dependency graph of given tables. For verification only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/fabric/lid_map.h"
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

// Who waits for whom when every packet is on one VL: that a packet to some LID may turn from one
// link to another is then the affair of two neighbouring switches and their entries. For
// verification only.

/// Of LIDs that somebody has, from every switch, whether anything is sent there or not. Requires:
/// the graph knows one VL.
void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph);

}  // namespace smd
