// Unsolicited SMPs: traps are repressed and batched into one reason to sweep, what managers say to
// each other goes to the election. Who is not master leaves traps to the master: they are repeated.
//
// Anybody on the fabric can write anything into a notice. So a trap counts as its sender's: the
// node that the packet's source address, or the path that a directed one came by, leads to. One
// that names another issuer is a reason to sweep its sender, and nothing else; one from nobody that
// is known is a reason for a light sweep, and all of those share one allowance.
//
// Each sender is heeded at a bounded rate, and ever more rarely while sweeps find nothing where it
// reported. What is held back is not lost: the latest of each kind counts when its time has come.
//
// Debounce: a sweep is asked for once no trap that is heeded came for `debounce`, and at the latest
// `debounce_max` after the first.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "smd/config/settings.h"
#include "smd/mad/notice.h"
#include "smd/runtime/rate_limiter.h"
#include "smd/smp/smp_client.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

/// Where a trap came from.
struct TrapSender {
  Guid node;               // 0: nobody that is known
  bool is_issuer = false;  // the notice names this node as its issuer

  friend bool operator==(const TrapSender&, const TrapSender&) = default;
};

/// By the source LID of `packet`, or the return path of a directed trap as far as it is known.
[[nodiscard]] TrapSender find_trap_sender(const ActiveSubnet& now,
                                          const Smp& trap,
                                          const MadPacket& packet,
                                          Lid issuer);

/// What there is to sweep. Each set is at most as large as the fabric.
struct TrapBatch {
  std::string reason;          // of the first trap
  std::set<Guid> changed;      // switches that saw a port change, and nodes to be swept
                               // where they hang
  std::set<Guid> redescribed;  // nodes whose description or capabilities changed
  bool unknown = false;        // nobody knows where to sweep
};

struct TrapStats {
  std::uint64_t received = 0;
  std::uint64_t malformed = 0;       // no notice: dropped
  std::uint64_t unknown_issuer = 0;  // it names no LID of the subnet: its sender is swept
  std::uint64_t wrong_issuer = 0;    // it names another node than its sender, which is swept
  std::uint64_t held_back = 0;       // the sender's rate was used up: a later one stands for it
  std::uint64_t no_room = 0;         // likewise, and so many senders are that it was dropped
  std::uint64_t unrepressed = 0;     // not answered: forged, or the sender's rate was used up
};

class TrapHandler {
 public:
  /// Of one sender, for each kind of trap.
  static constexpr Rate kRate{.burst = 10, .refill = std::chrono::seconds(2)};

  /// Of all whom nobody knows.
  static constexpr Rate kUnknownRate{.burst = 4, .refill = std::chrono::seconds(5)};

  /// Of one sender: an agent repeats what is not repressed, at most a few times a second.
  static constexpr Rate kRepressRate{.burst = 20, .refill = std::chrono::milliseconds(50)};

  /// Senders times kinds.
  static constexpr std::size_t kMostSources = std::size_t{1} << 17;

  struct Hooks {
    /// Null: nothing is known of the subnet.
    std::function<const ActiveSubnet*()> in_force;

    std::function<void(TrapBatch)> on_batch;

    std::function<void(const Smp&, const MadPacket&)> on_sm_info;

    /// A port says that a manager sits there, or what it wants.
    std::function<void(Lid)> on_manager;
  };

  TrapHandler(Runtime& runtime, SmpClient& client, Hooks hooks);

  void adopt(const Settings& settings) {
    debounce_ = settings.debounce;
    debounce_max_ = settings.debounce_max;
    m_key_ = settings.ports.m_key;
  }

  enum class Listen : std::uint8_t {
    Off,             // traps are left to the master; what is being collected is dropped
    WithoutRepress,  // they are collected, but not repressed: somebody else may be to hear them
    AsMaster,        // and repressed
  };

  /// Off at first.
  void listen(Listen how);

  /// Sees every trap whose sender is known and is its issuer.
  void on_notice(std::function<void(const Notice&)> heard) { on_notice_ = std::move(heard); }

  /// The sweep of what was handed over begins, and has ended. `found`: something was other than it
  /// was known to be. Who asked for sweeps that find nothing is heeded more rarely.
  void begin_sweep();
  void end_sweep(bool found);

  /// A batch is being collected, or a sender is held back.
  [[nodiscard]] bool waiting() const { return first_.has_value() || limiter_.waiting(); }

  [[nodiscard]] const TrapStats& stats() const { return stats_; }

  /// Senders times kinds that are remembered.
  [[nodiscard]] std::size_t sources() const { return limiter_.sources(); }

  /// For the operator: who sends more than is heeded; empty: nobody.
  [[nodiscard]] std::string alarm() const;

 private:
  enum class Kind : std::uint8_t { Change, Description, PortErrors, Keys, Other, Repress };

  using Source = std::pair<Guid, Kind>;

  /// What is kept of a trap until its sender's next turn.
  struct Report {
    Notice notice;
    Lid from;
    bool is_issuers = false;
  };

  void on_smp(const Smp& smp, const MadPacket& packet);
  void on_trap(const Smp& smp, const MadPacket& packet);
  void repress(const Smp& trap, const MadPacket& packet);
  void offer(const Source& source, Report report);
  void pass(const Source& source, const Report& report);
  void collect(const Source& source, const Report& report);
  [[nodiscard]] static Kind kind_of(const Notice& notice);

  Runtime& runtime_;
  SmpClient& client_;
  Hooks hooks_;
  std::function<void(const Notice&)> on_notice_;
  Listen how_ = Listen::Off;
  MKey m_key_;  // a repress without it would be refused, and the refusal raises the next trap
  Duration debounce_{0};
  Duration debounce_max_{0};
  TrapStats stats_;
  std::optional<TimePoint> first_;  // of the batch that is waiting
  TrapBatch batch_;
  std::set<Source> asked_;        // for the batch that is waiting
  std::set<Source> handed_;       // for one that was handed over
  std::set<Source> under_sweep_;  // for the sweep that runs
  Timer timer_;
  RateLimiter<Source, Report> limiter_;
  Guid loudest_;  // held back last
};

}  // namespace smd
