// Whether switches that took no Set before take one now: the first block of their forwarding table
// is written as it is.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_pump.h"

namespace smd {

class SetProbe {
 public:
  /// Those that took it, in the order in which they answered.
  using Done = std::function<void(std::vector<Guid> willing)>;

  SetProbe(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  SetProbe(const SetProbe&) = delete;

  /// `done` runs once, last; it may destroy this. `found` outlives the run.
  void start(const SweepReport& found, std::vector<SwitchIdx> switches, Done done);

 private:
  void read(SwitchIdx sw);
  void write_back(SwitchIdx sw, const SmpData& block);
  [[nodiscard]] SmpRequest request(SwitchIdx sw, Method method) const;

  SmpPump pump_;
  MKey m_key_;
  const SweepReport* found_ = nullptr;
  std::vector<SwitchIdx> switches_;
  std::size_t next_ = 0;
  std::vector<Guid> willing_;
};

}  // namespace smd
