// The periodic look at every switch: one Get(SwitchInfo) each. A raised PortStateChange or a switch
// that does not answer means that something changed. Once one reports a change, those that are out
// of reach for it are not waited for: when nothing has come for as long as the slowest answer took,
// the look ends, and who has not answered is silent. It ends so at once where nobody can be
// reached: the manager's own port has lost its link, or the first requests are given up and nobody
// has answered any.
//
// Nobody reports that a node which was silent answers now. So some of the ports that led to silence
// are asked across, after the switches.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/fabric/fabric.h"
#include "smd/smp/smp_client.h"

namespace smd {

struct LightSweepReport {
  std::vector<NodeIdx> changed;   // PortStateChange was set
  std::vector<NodeIdx> silent;    // no answer by LID, or not in time
  std::vector<PortIdx> speaking;  // somebody answers across them who did not before
  unsigned polled = 0;            // switches
  Duration took{0};               // for the switches

  [[nodiscard]] bool quiet() const { return changed.empty() && silent.empty() && speaking.empty(); }
};

class LightSweep {
 public:
  using Done = std::function<void(LightSweepReport)>;

  /// Ports that led to silence, in one sweep.
  static constexpr std::size_t kMostSilent = 64;

  /// `ends_at_change`: the first switch that reports a change is told to forget it and ends the
  /// look; what others say is not waited for. (Before a full discovery of the thesis: 8 + 1
  /// requests of its 123.)
  LightSweep(Runtime& runtime, SmpClient& client, MKey m_key, bool ends_at_change = false)
      : runtime_(runtime),
        client_(client),
        scope_(client),
        m_key_(m_key),
        ends_at_change_(ends_at_change) {}

  LightSweep(const LightSweep&) = delete;

  /// Asks by LID, all switches at once. Requires: the report and map that the tables in force were
  /// made from.
  void start(const Fabric& fabric, const LidMap& lids, Done done);

  /// Asks also the manager's own port for its state, and across `silent` who is there. Requires: as
  /// above; `silent` are of list_silent().
  void start(const SweepReport& sweep, const LidMap& lids, std::vector<PortIdx> silent, Done done);

  [[nodiscard]] bool is_asking_switches() const { return !asked_.empty(); }

  /// Switches that have not answered for longer than `patience`; those of a large subnet wait for
  /// room on the wire, but not that long.
  [[nodiscard]] std::vector<NodeIdx> list_late(Duration patience) const;

 private:
  struct SilentPlace {
    PortIdx port;
    SmpRoute route;
  };

  void ask_own_port(const Fabric& fabric);
  void on_switch(NodeIdx node, Lid lid, const Result<SmpReply>& reply);
  void on_all_switches();
  void ask_silent();
  void on_silent(PortIdx port, const Result<SmpReply>& reply);
  void clear_and_end(Lid lid, const SwitchInfo& info);
  void give_up_the_rest();
  void end();

  Runtime& runtime_;
  SmpClient& client_;
  SmpScope scope_;
  MKey m_key_;
  bool ends_at_change_;
  Done done_;
  LightSweepReport report_;
  TimePoint began_;
  std::set<NodeIdx> asked_;          // and did not answer yet
  std::vector<SilentPlace> silent_;  // still to be asked, last first
  std::size_t asked_silent_ = 0;     // and did not answer yet
  bool answered_ = false;            // somebody has
  Duration slowest_{0};              // round trip of an answer
  Timer quiet_;                      // runs from the last answer on, once a change is reported
};

/// The ports that led to silence and across which NodeInfo can be asked. Of others, as of an
/// adapter's port that will not say what it is, a full discovery alone learns more.
[[nodiscard]] std::vector<PortIdx> list_silent(const SweepReport& sweep);

}  // namespace smd
