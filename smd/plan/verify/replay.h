// Goes through a plan phase by phase as the fabric would, and finds steps that make no sense.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/plan/transition.h"
#include "smd/plan/verify/transient_proof.h"
#include "smd/plan/verify/vl_transient_proof.h"

namespace smd {

class PlanReplay {
 public:
  PlanReplay(const TransitionTask& task, const TransitionPlan& plan);

  /// Takes the steps of the next phase. Returns what is wrong with them, or nothing. Requires: all
  /// phases before were begun, found faultless, and ended.
  [[nodiscard]] std::string begin_phase(const TransitionPhase& phase);

  /// The certificate of the phase under way holds, or what is wrong.
  [[nodiscard]] std::string prove(const ChannelOrder& certificate);

  void end_phase(bool last);

  /// What is wrong with the state that the plan leaves.
  [[nodiscard]] std::string find_rest();

  /// No link between switches, nor to a host, carries data.
  [[nodiscard]] bool is_silent() const;

 private:
  using Ports = IndexVector<PortIdx, char>;

  [[nodiscard]] std::string check_turns(const std::vector<Turn>& turns, bool blocked_now) const;
  [[nodiscard]] std::string take_ports(const TransitionPhase& phase);
  [[nodiscard]] std::string take_entries(const TransitionPhase& phase);
  void write_entries(const std::vector<EntryChange>& entries);
  [[nodiscard]] std::string check_entry(const EntryChange& change) const;
  [[nodiscard]] bool is_wanted(const EntryChange& change) const;
  [[nodiscard]] std::string check_detour(const EntryChange& change) const;
  [[nodiscard]] std::string print_entry(const EntryChange& change) const;
  [[nodiscard]] bool may_send(SwitchIdx sw, Lid lid, PortNum egress) const;
  [[nodiscard]] std::string check_turns_of_detours() const;
  [[nodiscard]] bool got_on(SwitchIdx sw, std::uint16_t lid) const;
  [[nodiscard]] bool leads_nowhere(SwitchIdx sw, PortNum egress) const;
  [[nodiscard]] std::string check_next_hops(const TransitionPhase& phase) const;
  [[nodiscard]] bool is_unknown(SwitchIdx sw, std::uint16_t lid) const;

  [[nodiscard]] bool carries(PortIdx port) const { return carries(up_before_, port); }

  [[nodiscard]] bool carries(const Ports& up, PortIdx port) const;
  [[nodiscard]] bool is_active_link(PortIdx port) const;

  [[nodiscard]] bool forwards_data(SwitchIdx sw) const;
  [[nodiscard]] std::string take_sl_to_vl(const TransitionPhase& phase);
  [[nodiscard]] std::string prove_vls(const ChannelOrder& certificate);
  [[nodiscard]] std::string find_vl_rest();
  [[nodiscard]] bool is_silent_kind() const;
  void find_use();
  [[nodiscard]] bool may_count() const;
  [[nodiscard]] KnownTurns find_counted() const;
  void begin_proof();
  void add_earlier_entries();
  void sort_lids();
  void write_wanted();

  const TransitionTask& task_;
  const TransitionPlan& plan_;
  const Fabric& fabric_;
  TableView before_, after_, wanted_;
  LidList constant_, changing_, written_;
  std::vector<LooseEntry> unknown_, earlier_phases_;
  std::vector<LooseEntry> resolved_;  // unknown before this phase, written in it
  std::vector<Turn> blocked_;
  Ports up_before_, up_;  // Active, by the plan; while entries are written, and at the phase's end
  IndexVector<PortIdx, LinkUse> use_;
  std::optional<TransientProof> proof_;
  std::optional<VlTransientProof> vl_proof_;
  std::vector<LooseEntry> earlier_;  // replaced in phases before, while data flowed; sorted
  bool writes_sl_to_vl_ = false;     // in this phase
  bool wrote_sl_to_vl_ = false;      // before it
  bool advertised_ = false;
  std::vector<EntryChange> overwritten_;  // what this phase replaces
  std::vector<EntryChange> detours_;      // neither held nor wanted, in force or replaced just now
};

}  // namespace smd
