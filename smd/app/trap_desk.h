// Unsolicited SMPs: traps are repressed and batched into one reason to sweep, what managers say to
// each other goes to the election. Who does not rule leaves traps to who does: they are repeated.
//
// Debounce: a sweep is asked for once no trap came for `debounce`, and at the latest `debounce_max`
// after the first. A source that storms is listened to at a bounded rate.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "smd/app/settings.h"
#include "smd/app/trap_throttle.h"
#include "smd/mad/notice.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class TrapDesk {
 public:
  struct Batch {
    std::string reason;            // of the first trap
    std::vector<Lid> changed;      // switches that saw a port change (trap 128)
    std::vector<Lid> redescribed;  // nodes whose description or capabilities changed (144, 145)
  };

  using Sweep = std::function<void(Batch)>;

  struct Managers {
    std::function<void(const Smp&, const MadPacket&)> on_sm_info;
    std::function<void(Lid)> on_manager;  // a port says that one sits there, or what it wants
  };

  TrapDesk(Runtime& runtime, SmpClient& client, Sweep sweep, Managers managers);

  void adopt(const Settings& settings) {
    debounce_ = settings.debounce;
    debounce_max_ = settings.debounce_max;
    m_key_ = settings.ports.m_key;
  }

  enum class Ear : std::uint8_t {
    Closed,  // traps are left to whoever rules; what is being collected is dropped
    Open,    // they are collected, but not repressed: somebody else may be to hear them
    Ruling,  // and repressed
  };

  /// Closed at first.
  void listen(Ear ear);

  /// Sees every trap.
  void on_notice(std::function<void(const Notice&)> heard) { heard_ = std::move(heard); }

  /// A batch is being collected, or a source is held back.
  [[nodiscard]] bool waiting() const { return first_.has_value() || !held_back_.empty(); }

  [[nodiscard]] std::uint64_t traps() const { return traps_; }

 private:
  void on_smp(const Smp& smp, const MadPacket& packet);
  void on_trap(const Smp& smp, const MadPacket& packet);
  void note(std::uint16_t number, Lid source);
  void ring(std::uint16_t number, Lid source);

  Runtime& runtime_;
  SmpClient& client_;
  Sweep sweep_;
  std::function<void(const Notice&)> heard_;
  Managers managers_;
  Ear ear_ = Ear::Closed;
  MKey m_key_;  // a repress without it would be refused, and the refusal raises the next trap
  Duration debounce_{0};
  Duration debounce_max_{0};
  std::uint64_t traps_ = 0;
  std::optional<TimePoint> first_;  // of the batch that is waiting
  Batch batch_;
  Timer timer_;
  TrapThrottle throttle_;
  std::map<std::pair<Lid, std::uint16_t>, Timer> held_back_;
};

}  // namespace smd::app
