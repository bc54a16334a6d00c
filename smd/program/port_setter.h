// Sets ports: their configuration and their states. Knows the state of every port as the last
// answer said, so that a port is never taken for what the snapshot remembers.
#pragma once

#include "smd/program/stage.h"

namespace smd {

class PortSetter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  PortSetter(ProgramRun& run, Stage& stage);
  PortSetter(const PortSetter&) = delete;

  /// To Down, one Set each. The link trains again, so both ends are in Initialize afterwards; a
  /// port that is there already needs no Set.
  void deactivate(std::vector<PortIdx> ports, Done done);

  /// Configuration and Armed in one Set; then, when all are answered, Active. Waits a while for
  /// links that were taken down and are still training.
  void activate(std::vector<PortIdx> ports, std::function<void()> done);

  /// Every managed port whose configuration is not as wanted, with Armed where it is in Initialize;
  /// then Active. A link to a port that has no LID is taken down where it carries data.
  void settle_all(std::function<void()> done);

 private:
  struct PortSet {
    PortIdx port;
    PortInfo wanted;
    PortState state = PortState::NoChange;
    bool by_lid = false;
  };

  void arm(std::vector<PortIdx> ports, std::function<void()> done);
  void raise(std::vector<PortIdx> ports, std::function<void()> done);
  void wait_for_training(std::vector<PortIdx> ports, std::function<void()> done);

  void configure(PortIdx port, PortState state);
  void take_down(PortIdx port);
  void keep_out(PortIdx port);
  void send(const PortSet& set);
  void on_answer(const PortSet& set, const Result<SmpReply>& reply);
  void look(const PortSet& set, std::string why);
  void judge(const PortSet& set, const PortInfo& answer);
  void fail_set(const PortSet& set, std::string what);
  void note_retrained(PortIdx port);

  [[nodiscard]] PortInfo& info(PortIdx port) { return run_.report.port_info[port]; }

  [[nodiscard]] PortInfo wanted_of(PortIdx port) const;
  [[nodiscard]] bool can_go_by_lid(PortIdx port);
  [[nodiscard]] bool trains(PortIdx port);

  ProgramRun& run_;
  Stage& stage_;
  IndexVector<PortIdx, bool> retrained_;
  unsigned training_rounds_ = 0;  // left
  PhaseCost* cost_ = nullptr;     // of the activation under way
  Unconfirmed unconfirmed_;       // of the deactivation under way
};

}  // namespace smd
