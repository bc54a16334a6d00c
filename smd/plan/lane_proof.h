// What the checker believes of lanes: where packets of each SL can go while a phase is under way,
// and on which lanes they wait for which, from tables and rows alone. Shares nothing with the
// planner.
#pragma once

#include <string>
#include <vector>

#include "smd/plan/mixture_proof.h"

namespace smd {

/// One phase, as the proof needs it.
struct LanePhaseView {
  const TableRows* before = nullptr;
  const TableRows* after = nullptr;
  const std::vector<LooseEntry>* earlier = nullptr;  // replaced since the plan began; sorted
  const IndexVector<PortIdx, LinkUse>* use = nullptr;
  const IndexVector<SwitchIdx, char>* live = nullptr;  // carries data before the phase ends
  const std::vector<Turn>* blocked = nullptr;
  const std::vector<char>* lossless = nullptr;  // LIDs whose packets no row may discard
  bool held_rows = false;                       // those held may be in force, …
  bool wanted_rows = false;                     // … those wanted
  bool silent = false;  // nothing flows until the phase is over, and then all hosts ask anew
  bool told = false;
  bool bounces = true;  // leaving by the port one came in by counts as a loss
};

class LaneProof {
 public:
  LaneProof(const TransitionTask& task, const TransitionPlan& plan)
      : task_(task), lanes_(plan.lanes), wanted_rows_(with_cuts(task.lanes->wanted, plan.cut)) {}

  /// Empty when every dependency of the phase rises in `order`; else the first that does not.
  [[nodiscard]] std::string find_fall(const LanePhaseView& phase, const ChannelOrder& order);

 private:
  struct Hop {
    PortIdx out;
    bool in_force = true;
  };

  void list_hops(std::uint16_t lid);
  void add_hop(SwitchIdx sw, PortNum egress, bool in_force);
  [[nodiscard]] bool offers(SwitchIdx sw, std::uint16_t lid, unsigned sl) const;
  void flood(std::uint16_t lid, unsigned sl);
  [[nodiscard]] std::string check_sl(std::uint16_t lid, unsigned sl, const ChannelOrder& order);
  [[nodiscard]] std::string check_turns(
      std::uint16_t lid, unsigned sl, PortIdx out, unsigned vl, const ChannelOrder& order);
  [[nodiscard]] std::vector<unsigned> lanes_of(SwitchIdx sw,
                                               PortNum in,
                                               PortNum out,
                                               unsigned sl) const;
  [[nodiscard]] bool is_blocked(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] SwitchIdx switch_beyond(PortIdx port) const;
  [[nodiscard]] std::string print_loss(std::uint16_t lid, unsigned sl, SwitchIdx sw) const;

  const TransitionTask& task_;
  unsigned lanes_;
  LaneMaps wanted_rows_;
  const LanePhaseView* phase_ = nullptr;
  IndexVector<SwitchIdx, std::vector<Hop>> hops_;
  IndexVector<SwitchIdx, std::vector<PortIdx>> entered_;  // ports by which packets may come
  IndexVector<SwitchIdx, char> reached_;                  // by packets of the SL under way
};

}  // namespace smd
