// What the verifier believes of VLs: where packets of each SL can go while a phase is under way,
// and on which VLs they wait for which, from forwarding and SL-to-VL tables alone. Shares nothing
// with the planner.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "smd/plan/verify/transient_proof.h"

namespace smd {

/// One phase, as the proof needs it.
struct VlPhaseView {
  const TableView* before = nullptr;
  const TableView* after = nullptr;
  const LidList* constant = nullptr;  // LIDs that no phase of the plan changes; null: none
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

/// All SLs of a LID are followed together, and SLs that every entry maps alike are one. What a LID
/// adds that goes the way of the LID before it is not looked at again. The dependencies of LIDs
/// that no phase changes are collected once for all phases that see the same of them.
class VlTransientProof {
 public:
  VlTransientProof(const TransitionTask& task, const TransitionPlan& plan);

  /// Empty when every dependency of the phase respects `order`; else one that violates it.
  [[nodiscard]] std::string find_violation(const VlPhaseView& phase, const ChannelOrder& order);

 private:
  static constexpr std::size_t kSls = 16;
  static constexpr std::size_t kLidsAtOnce = 64;
  using Vls = std::array<std::uint16_t, kSls>;  // by SL: a bit for each VL

  struct Hop {
    PortIdx out;
    bool in_force = true;

    friend bool operator==(const Hop&, const Hop&) = default;
  };

  /// The entries of a turn that may be in force.
  struct TurnVls {
    const Vls* held = nullptr;
    const Vls* wanted = nullptr;

    friend bool operator==(const TurnVls&, const TurnVls&) = default;
  };

  /// Where the packets of a LID can go.
  struct Column {
    std::vector<Hop> hops;                 // of all switches, one after the other
    std::vector<std::uint32_t> first_hop;  // by switch, one more at the end
    std::vector<std::uint16_t> offers;     // by switch: SLs that packets may set out with
    bool lossless = false;

    friend bool operator==(const Column&, const Column&) = default;
  };

  void find_classes();
  [[nodiscard]] std::uint16_t classes_of(std::uint16_t sls) const;
  void list_offers(SwitchIdx sw, std::span<const std::uint16_t> lids);
  void list_hops(std::uint16_t lid, std::size_t at);
  void add_hop(SwitchIdx sw, PortNum egress, bool in_force);
  void list_entered();
  void flood();
  template <class Use>
  [[nodiscard]] std::string walk(std::uint16_t lid, Use&& use);
  template <class Use>
  [[nodiscard]] std::string walk_turns(std::uint16_t lid,
                                       PortIdx out,
                                       std::span<const std::uint16_t> on,
                                       Use&& use) const;
  void put_on(const TurnVls& rows, std::uint16_t sls, std::span<std::uint16_t> on) const;
  template <class Use>
  [[nodiscard]] std::string walk_all(std::span<const std::uint16_t> lids, Use&& use);
  [[nodiscard]] bool is_collected(const VlPhaseView& phase) const;
  [[nodiscard]] std::string collect_constant();
  [[nodiscard]] bool respects(const ChannelOrder& order) const;
  [[nodiscard]] TurnVls rows_of(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] std::uint16_t vls_of(const TurnVls& rows, unsigned sl) const;
  [[nodiscard]] bool is_blocked(SwitchIdx sw, PortNum in, PortNum out) const;
  [[nodiscard]] std::string print_loss(std::uint16_t lid, std::uint16_t sls, SwitchIdx sw) const;
  [[nodiscard]] std::string print_violation(std::uint16_t lid,
                                            std::uint16_t sls,
                                            PortIdx out,
                                            unsigned vl,
                                            PortIdx next,
                                            unsigned there) const;

  const TransitionTask& task_;
  const Fabric& fabric_;
  unsigned vls_;
  SlToVlMaps wanted_sl_to_vl_;
  std::vector<Vls> held_vls_, wanted_vls_;     // by number of the SL-to-VL entry
  std::array<std::uint8_t, kSls> class_of_{};  // the least SL that every entry maps alike
  IndexVector<PortIdx, SwitchIdx> peer_switch_;
  IndexVector<SwitchIdx, std::vector<PortNum>> entrances_;  // from the switch itself and hosts
  const VlPhaseView* phase_ = nullptr;

  // Of LIDs under way.
  std::vector<PortNum> before_, after_;  // LID by LID, by switch
  std::vector<std::uint16_t> offers_;    // likewise: SLs that packets may set out with
  Column column_, previous_;
  std::vector<LooseEntry> earlier_by_lid_;
  std::vector<std::uint32_t> first_entered_;
  std::vector<PortIdx> entered_;                   // ports by which packets may come in, by switch
  IndexVector<SwitchIdx, std::uint16_t> reached_;  // by SLs

  // Of the constant LIDs: bits by the channel's first port, the next output and both VLs.
  std::vector<std::uint64_t> constant_;
  IndexVector<PortIdx, std::uint32_t> first_turn_;
  bool has_constant_ = false;
  VlPhaseView seen_;  // what was collected was collected from; the pointers count for nothing
  IndexVector<PortIdx, LinkUse> seen_use_;
  IndexVector<SwitchIdx, char> seen_live_;
  std::vector<Turn> seen_blocked_;
  bool seen_lossless_ = false;
};

}  // namespace smd
