// What the verifier believes of VLs: where packets of each SL can go while a phase is under way,
// and on which VLs they wait for which, from forwarding and SL-to-VL tables alone. Shares nothing
// with the planner.
#pragma once

#include <string>
#include <vector>

#include "smd/plan/verify/transient_proof.h"

namespace smd {

/// One phase, as the proof needs it.
struct VlPhaseView {
  const TableView* before = nullptr;
  const TableView* after = nullptr;
  const std::vector<LooseEntry>* earlier = nullptr;  // replaced since the plan began; sorted
  const IndexVector<PortIdx, LinkUse>* use = nullptr;
  const IndexVector<SwitchIdx, char>* live = nullptr;  // carries data before the phase ends
  const std::vector<Turn>* blocked = nullptr;
  const std::vector<char>* lossless = nullptr;  // LIDs whose packets no SL-to-VL entry may discard
  bool held_sl_to_vl = false;                   // those held may be in force, …
  bool wanted_sl_to_vl = false;                 // … those wanted
  bool silent = false;  // nothing flows until the phase is over, and then all hosts ask anew
  bool advertised = false;
  bool u_turns = true;  // leaving by the port one came in by counts as a loss
};

class VlTransientProof {
 public:
  VlTransientProof(const TransitionTask& task, const TransitionPlan& plan)
      : task_(task),
        vls_(plan.vls),
        wanted_sl_to_vl_(with_blocked_sls(task.sl_to_vl->wanted, plan.blocked_sls)) {}

  /// Empty when every dependency of the phase respects `order`; else the first that violates it.
  [[nodiscard]] std::string find_violation(const VlPhaseView& phase, const ChannelOrder& order);

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
  [[nodiscard]] std::vector<unsigned> vls_of(SwitchIdx sw,
                                             PortNum in,
                                             PortNum out,
                                             unsigned sl) const;
  [[nodiscard]] bool is_blocked(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] SwitchIdx peer_switch_of(PortIdx port) const;
  [[nodiscard]] std::string print_loss(std::uint16_t lid, unsigned sl, SwitchIdx sw) const;

  const TransitionTask& task_;
  unsigned vls_;
  SlToVlMaps wanted_sl_to_vl_;
  const VlPhaseView* phase_ = nullptr;
  IndexVector<SwitchIdx, std::vector<Hop>> hops_;
  IndexVector<SwitchIdx, std::vector<PortIdx>> entered_;  // ports by which packets may come
  IndexVector<SwitchIdx, char> reached_;                  // by packets of the SL under way
};

}  // namespace smd
