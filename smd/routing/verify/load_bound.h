// What the fullest channel must carry at least, whatever the routes. Shares no code with the
// engines.
//
// Give every channel a price. Whatever way a path takes, it pays at least the distance between its
// ends; so all paths together pay at least the sum of those distances, and some channel carries no
// less than that sum over what the channels cost all together, each as often as it is fast (the
// dual of the maximum concurrent flow: Shahrokhi and Matula, 1990). Prices that say most are sought
// by spreading paths again and again over ways that are cheap, and making dearer what is full then.
// A cut is the case where what crosses it costs 1 and everything else nothing.
//
// Beside it: all hosts of a switch have the same entry for a LID, so that the paths of no LID can
// be divided among the channels that leave the switch, whatever their speeds.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

struct LoadBound {
  double fullest = 0;  // as LoadReport::fullest; of equally fast channels a whole number

  /// What routes reach that may divide paths at every switch: no bound is higher, but for whole
  /// paths. The maximum where the search came to an end.
  double divided = 0;

  // The proof, one or the other.
  std::vector<std::uint32_t> prices;    // by port, of channels between switches; empty: the cut
  SwitchIdx around = kNone<SwitchIdx>;  // where the entries of this switch say more

  /// How many times the least; 1 where nothing must cross a channel.
  [[nodiscard]] double ratio(double carried) const { return fullest > 0 ? carried / fullest : 1; }
};

/// Counted and not timed: a channel, or a bundle of parallel ones, looked at from one switch.
inline constexpr std::uint64_t kLoadBoundSteps = 60'000'000;

/// The same for the same fabric. One look from every switch is taken however many steps that is.
[[nodiscard]] LoadBound find_load_bound(const Fabric& fabric,
                                        const LidMap& lids,
                                        std::uint64_t steps = kLoadBoundSteps);

}  // namespace smd
