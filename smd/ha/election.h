// Who is master of the subnet: this manager's state among the others, the questions that keep it
// true, and the handover from one to the next. Decides by state_machine.h; what follows from a
// decision is the owner's business (Hooks).
//
// A handover to a master that did not expect it is obeyed once its sender, asked back, says that it
// is master: any host can send the order, and each one obeyed is a sweep of the whole subnet.
//
// With an M_Key, orders are obeyed that show the one of our own port.
//
// A standby asks its master every `poll_interval` and looks for itself after `poll_retries` + 1
// questions in a row without a master's answer. For a higher manager that is not master it waits
// no longer than waits_for_higher(): one that hangs in Discovering would else leave the subnet
// without a master. A master that hands over, or waits until a lower one does, writes nothing
// meanwhile; after as long as a standby waits, it goes on, and tries the same standby again ever
// more rarely.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smd/ha/state_machine.h"
#include "smd/mad/port_info.h"
#include "smd/runtime/runtime.h"
#include "smd/smp/smp_client.h"

namespace smd {

struct ElectionConfig {
  std::uint8_t priority = 0;
  std::uint8_t master_priority = 0;  // while master, where it is the higher
  SmKey sm_key;
  MKey m_key;
  Duration poll_interval = std::chrono::seconds(1);
  unsigned poll_retries = 4;
  std::set<Guid> allowed;  // ports where managers may run; empty: anywhere

  /// A standby hears nothing for so long before it sweeps for itself, and a handover may take as
  /// long.
  [[nodiscard]] Duration patience() const { return poll_interval * (poll_retries + 1); }
};

/// Where a manager may be: a port that shows IsSM.
struct ManagerAddress {
  Guid guid;  // of the port
  SmpRoute route;
  Lid lid = kUnassignedLid;
};

struct KnownManager {
  ManagerAddress at;
  std::optional<SmInfo> info;  // as it last answered; nothing: not at the last question
  bool foreign = false;        // it does not show our SM_Key: nothing is handed to it
  bool excluded = false;       // it may not run there: as if it were none
};

class Election {
 public:
  /// None is called from inside start() or a constructor, save on_state by start(). The owner may
  /// cancel what it likes in them, but not destroy this.
  struct Hooks {
    /// Sweep everything, write nothing, then survey().
    std::function<void(std::string reason)> look;

    /// Nothing more is written, from now on; what was under way is dropped.
    std::function<void()> hold;

    /// We are master, and another one may have been: sweep everything, then survey().
    std::function<void(std::string reason)> rule;

    /// After hold(): nobody took over, and we stay master: as rule().
    std::function<void(std::string reason)> resume;

    std::function<void(SmState)> on_state;

    /// Other managers came, went, or are something else now.
    std::function<void()> on_others;

    /// The port that a way from our own port ends at, or 0: at none. Nothing where that part of the
    /// subnet is not known. Who sent something is where it came from, not who it says it is.
    std::function<std::optional<Guid>(const SmpRoute&)> port_at;

    /// The port that we sit on has no link, while others could take over: what is under way leads
    /// nowhere, and a survey of it is not gone on with. Look at once.
    std::function<void()> on_own_link_lost;

    /// It has one again, and nobody has been seen since it had none.
    std::function<void()> on_own_link_back;

    /// Something is being written, or the one who is to take over has no copy yet: a handover that
    /// can wait, waits for settle(), and a cycle that asked for the survey goes on.
    std::function<bool(Guid to)> busy;
  };

  /// All outlive this.
  Election(Runtime& runtime, SmpClient& client, LocalPort own, ElectionConfig config, Hooks hooks);
  Election(const Election&) = delete;

  /// Into Discovering; the owner sweeps everything of its own accord.
  void start();

  /// A master that was awake by the old times is not judged by the new ones for what lies behind
  /// it.
  void adopt(const ElectionConfig& config);

  /// Asks everybody in `where` and those who asked us, and assesses them. `go_on` runs when we are
  /// master afterwards and nobody stands against it, or a handover waits; at once when there is
  /// nobody to ask; otherwise hooks said what happens instead. Requires: Discovering or Master.
  void survey(std::vector<ManagerAddress> where, std::function<void()> go_on);

  /// A sweep of everything begins.
  void begin_look() { look_began_ = runtime_.now(); }

  /// The sweep found nobody but ourselves: as if we had not looked yet. Who rules where we cannot
  /// look is not known. `has_link`: of our own port. Requires: Discovering or Master.
  void be_cut_off(bool has_link);

  /// What our own port can do, as the last sweep found it: CapabilityMask.
  void know_own_port(std::uint32_t capability_mask) { own_capability_mask_ = capability_mask; }

  /// Master at rest: asks those who are known.
  void look_around();

  /// Nothing is being written any more.
  void settle();

  /// A Get or Set of SMInfo: answers it, and obeys.
  void receive(const Smp& smp, const MadPacket& packet);

  /// Somebody at `lid` says that it is a manager, or that its priority changed.
  void hear_of(Lid lid);

  [[nodiscard]] SmState state() const { return state_; }

  /// True while SMPs may change the fabric: master, and neither handing over nor just waking up
  /// after a pause in which others may have taken over.
  [[nodiscard]] bool may_write() const;

  /// A handover to a standby waits for settle().
  [[nodiscard]] bool handover_waits() const { return put_off_; }

  /// A handover is under way, ours or to us.
  [[nodiscard]] bool holding() const { return holding_; }

  /// As others see us; with the real key.
  [[nodiscard]] SmInfo info() const;

  /// By GUID.
  [[nodiscard]] const std::map<Guid, KnownManager>& others() const { return others_; }

  /// Whom a standby polls, or to whom we hand over.
  [[nodiscard]] Guid counterpart() const { return counterpart_.guid; }

  /// Questions in a row that the polled master left without an answer.
  [[nodiscard]] unsigned missed_polls() const { return missed_; }

  /// So long a standby waits for a higher manager that does not become master: as long as two of
  /// our own looks at the subnet, two minutes at least and ten at most.
  [[nodiscard]] Duration waits_for_higher() const;

  /// Masters that neither yield nor take over, and standbys that do not, although one should: for
  /// the operator.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  using OnInfo = std::function<void(std::optional<SmInfo>)>;
  using OnPortInfo = std::function<void(const std::optional<PortInfo>&)>;

  /// Of a handover: no other one before `until`.
  struct SmRefusal {
    TimePoint until;
    Duration pause{0};                 // the one before it was twice as short, up to kLongestPause
    SmState state = SmState::Standby;  // when it took no handover: in another one it may
    std::string why;
  };

  /// The first does not count the time in which the machine is suspended.
  struct ClockReading {
    TimePoint running;
    TimePoint with_suspends;
  };

  [[nodiscard]] SmpRequest sm_request(const SmpRoute& route,
                                      Method method,
                                      const SmInfo& shown) const;
  void enter(SmState state, std::string_view why);
  [[nodiscard]] bool shows_key_at(std::optional<Guid> port) const;
  void ask(SmpScope& scope, const SmpRoute& route, bool with_key, OnInfo on_info);
  void note(const ManagerAddress& at, const std::optional<SmInfo>& info, bool saw_key);
  void note_state(Guid guid, SmState state);
  void ask_all(const std::vector<ManagerAddress>& where, std::function<void()> go_on);
  void report_changes();
  void assess();
  void note_trouble(const KnownManager& other);
  [[nodiscard]] bool is_spared(Guid guid) const;
  [[nodiscard]] bool was_waited_for(const SmInfo& other) const;
  void apply(SmEvent event, const ManagerAddress& about, std::string_view why);
  void hear_from(const SmpRoute& route, Lid lid, bool hands_over = false);
  void read_own_port(SmpScope& scope, OnPortInfo on_info);
  SmAnswer respond(const Smp& smp, const MadPacket& packet);
  [[nodiscard]] MKey own_m_key(MKey name) const;
  void check_m_key(const Smp& order, const MadPacket& packet);
  void obey(const Smp& order, const MadPacket& packet);
  [[nodiscard]] bool expects_handover_from(Guid guid) const;
  [[nodiscard]] bool is_allowed(Guid claimed, const std::optional<SmpRoute>& back) const;
  void obey_handover(const std::optional<SmpRoute>& back,
                     const ManagerAddress& from,
                     std::string_view why);

  void start_polling(const ManagerAddress& whom);
  void poll();
  void on_polled(const std::optional<SmInfo>& info);
  void report_priority();
  void send_priority_trap(const PortInfo& own);

  void begin_hold(const ManagerAddress& with);
  void begin_handover(const ManagerAddress& to);
  void await_handover(const ManagerAddress& from);
  void watch_counterpart();
  void end_talks();
  void forget_others();
  void give_up(std::string_view why);
  void acknowledge(const SmpRoute& route);

  [[nodiscard]] ClockReading now() const { return {runtime_.now(), runtime_.now_with_suspends()}; }

  /// Whoever polls us gives up after poll_retries more; we stop before.
  [[nodiscard]] bool stood_still() const {
    const Duration limit = config_.poll_interval * std::max(1u, config_.poll_retries);
    const ClockReading at = now();
    return at.running - last_beat_.running >= limit ||
           at.with_suspends - last_beat_.with_suspends >= limit;
  }

  void start_beating() {
    last_beat_ = now();
    beat();
  }

  void beat();
  void watch_own_link();
  void watch_for_link();

  Runtime& runtime_;
  SmpClient& client_;
  LocalPort own_;
  std::uint32_t own_capability_mask_ = 0;
  ElectionConfig config_;
  Hooks hooks_;

  SmState state_ = SmState::NotActive;
  bool news_ = false;          // of the others, since on_others
  bool put_off_ = false;       // a handover that waits for settle()
  bool checks_m_key_ = false;  // of an order, which waits
  bool has_link_ = true;       // the own port, when it was last asked
  std::map<Guid, KnownManager> others_;
  std::set<Guid> found_;   // by the latest sweep
  std::set<Guid> silent_;  // of these, when they were asked last: a survey does not wait for them
  std::map<Guid, SmRefusal> spared_;
  std::map<Guid, TimePoint> waited_for_;         // who outrank us and do not rule: since when
  TimePoint look_began_;                         // of the look at the subnet in Discovering
  Duration look_length_{0};                      // of the latest
  std::map<std::string, TimePoint> asked_back_;  // by route: those who asked us

  std::function<void()> go_on_;  // of the survey under way
  std::size_t unanswered_ = 0;

  ManagerAddress counterpart_;
  bool holding_ = false;
  bool awaiting_ = false;  // the other one is to hand over
  TimePoint hold_until_;
  unsigned missed_ = 0;
  unsigned polls_ = 0;
  std::string trouble_;
  ClockReading last_beat_;

  SmpScope survey_scope_;
  SmpScope request_scope_;  // polls and handovers
  SmpScope strangers_;
  SmpScope answers_;  // acknowledgements
  Timer poll_timer_;
  Timer beat_timer_;
};

}  // namespace smd
