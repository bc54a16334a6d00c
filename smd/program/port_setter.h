// Configuration and states of ports, and what a port does not keep of them.
#pragma once

#include <optional>
#include <string>

#include "smd/mad/port_info.h"
#include "smd/program/program_run.h"

namespace smd {

// What an agent kept of a PortInfo that it was set to.
//
// Addresses are what everybody else relies on: not keeping one is a fault. The rest is set again in
// vain, so it is named and remembered.

/// LID, LMC or MasterSMLID of an end port: "LID 5 was not kept: it answers 4". Empty when all are.
[[nodiscard]] std::string find_lost_address(const PortInfo& wanted, const PortInfo& answered);

/// "NeighborMTU 4 set, 5 kept; HOQLife 18 set, 0 kept". Empty when all is as set. Keys are named
/// and not shown.
[[nodiscard]] std::string find_not_kept(const PortInfo& wanted, const PortInfo& answered);

// Whether an SMP to a LID would arrive, and its answer come back. While a subnet is being set up a
// LID-routed SMP is easily lost, and a lost SMP costs more than all that directed ones cost.

/// `agent` is a port that has a LID: an adapter's, or port 0 of a switch. True when both ends
/// answered with their LIDs, every switch on both ways confirmed its entry, and every link between
/// them was last seen trained.
[[nodiscard]] bool is_reachable_by_lid(const ProgramRun& run, PortIdx agent);

// Sets ports: their configuration and their states. Knows the state of every port as the last
// answer said, so that a port is never taken for what the snapshot remembers.

class PortSetter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  PortSetter(ProgramRun& run, SmpBatch& batch);
  PortSetter(const PortSetter&) = delete;

  /// Active ports operate as many VLs as they shall, where these are more than they do: before any
  /// row leads to one of them, since what is sent on a VL that a link does not operate is lost.
  /// Fewer are set with the rest of the configuration. Of those that are not confirmed the ports
  /// between switches are named.
  void raise_vls(Done done);

  /// To Down, one Set each. The link trains again, so both ends are in Initialize afterwards; a
  /// port that is there already needs no Set. Where nobody answers both are as they were: whoever
  /// plans next reckons with a link that may carry data.
  void deactivate(std::vector<PortIdx> ports, Done done);

  /// Configuration and Armed in one Set; then, when all are answered, Active. Waits a while for
  /// links that were taken down and are still training.
  void activate(std::vector<PortIdx> ports, std::function<void()> done);

  /// Every managed port whose configuration is not as wanted, with Armed where it is in Initialize;
  /// then Active. A link to a port that has no LID is taken down where it carries data.
  void settle_all(std::function<void()> done);

  /// The same of links to adapters alone, those that were taken down aside, where the plan ended
  /// early: MasterSMSL stays, since no proof covers other SLs yet.
  void settle_links_of_adapters(std::function<void()> done);

 private:
  struct PortSet {
    PortIdx port;
    PortInfo wanted;
    PortState state = PortState::NoChange;
    bool by_lid = false;
    bool raises_vls = false;
  };

  void settle(std::vector<PortIdx> ports, std::function<void()> done);
  void arm(std::vector<PortIdx> ports, std::function<void()> done);
  void raise(std::vector<PortIdx> ports, std::function<void()> done);
  void wait_for_training(std::vector<PortIdx> ports, std::function<void()> done);

  void configure(PortIdx port, PortState state);
  void take_down(PortIdx port);
  void keep_out(PortIdx port);
  void send(const PortSet& set);
  void on_answer(const PortSet& set, const Result<SmpReply>& reply);
  void read_again(const PortSet& set, std::string why);
  void compare(const PortSet& set, const PortInfo& answer);
  void fail_set(const PortSet& set, std::string what);
  void note_retrained(PortIdx port);
  void note_down(PortIdx port);
  void note_maybe_up(PortIdx port);

  [[nodiscard]] PortInfo& info(PortIdx port) { return run_.report.port_info[port]; }

  [[nodiscard]] PortInfo wanted_of(PortIdx port) const;
  [[nodiscard]] bool leads_to_vls() const;
  [[nodiscard]] std::uint8_t wanted_vls(PortIdx port) const;
  [[nodiscard]] std::uint8_t sm_sl_of(PortIdx port) const;
  [[nodiscard]] bool can_go_by_lid(PortIdx port);
  [[nodiscard]] bool trains(PortIdx port);

  ProgramRun& run_;
  SmpBatch& batch_;
  IndexVector<PortIdx, bool> retrained_;
  IndexVector<PortIdx, bool> is_down_;               // of these: an answer showed it
  IndexVector<PortIdx, std::uint8_t> state_before_;  // … what was known before
  bool keeps_sm_sls_ = false;                        // MasterSMSL, as ports have it
  unsigned training_rounds_ = 0;                     // left
  PhaseCost* cost_ = nullptr;                        // of the activation under way
  Unconfirmed unconfirmed_;                          // of the list under way
};

}  // namespace smd
