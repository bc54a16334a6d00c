// Unsolicited SMPs: traps are repressed and batched into one reason to sweep, SMInfo questions are
// answered.
//
// Debounce: a sweep is asked for once no trap came for `debounce`, and at the latest `debounce_max`
// after the first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/app/settings.h"
#include "smd/mad/notice.h"
#include "smd/mad/sm_info.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class TrapDesk {
 public:
  struct Batch {
    std::string reason;            // of the first trap
    std::vector<Lid> redescribed;  // nodes whose description or capabilities changed (trap 144)
  };

  using Sweep = std::function<void(Batch)>;

  TrapDesk(Runtime& runtime, SmpClient& client, Sweep sweep);

  void adopt(const Settings& settings) {
    debounce_ = settings.debounce;
    debounce_max_ = settings.debounce_max;
    m_key_ = settings.ports.m_key;
  }

  /// What Get(SMInfo) answers.
  void set_sm_info(const SmInfo& info) { sm_info_ = info; }

  /// A batch is being collected.
  [[nodiscard]] bool waiting() const { return first_.has_value(); }

  [[nodiscard]] std::uint64_t traps() const { return traps_; }

 private:
  void on_smp(const Smp& smp, const MadPacket& packet);
  void on_trap(const Smp& smp, const MadPacket& packet);
  void ring(const Notice& notice);

  Runtime& runtime_;
  SmpClient& client_;
  Sweep sweep_;
  SmInfo sm_info_;
  MKey m_key_;  // a repress without it would be refused, and the refusal raises the next trap
  Duration debounce_{0};
  Duration debounce_max_{0};
  std::uint64_t traps_ = 0;
  std::optional<TimePoint> first_;  // of the batch that is waiting
  Batch batch_;
  Timer timer_;
};

}  // namespace smd::app
