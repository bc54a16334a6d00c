// Makes switches hold the multicast entries that they shall hold: reads what is not known, then
// writes stage by stage, with a barrier after each (multicast/mft_plan.h).
//
// What is added waits until packets that were copied by what was taken away have left: a barrier
// alone says nothing of them.
//
// A Set that was not confirmed ends nothing; what its block may hold is taken into account until it
// is known, and MLIDs for which that could let a packet come twice stay as they are. No stage goes
// out before find_mixture_fault() has judged it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/multicast/mft_plan.h"
#include "smd/program/program_report.h"
#include "smd/runtime/runtime.h"
#include "smd/smp/smp_client.h"

namespace smd {

struct MftReport {
  std::uint64_t smps = 0;  // requests, retries aside
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;  // confirmed
  std::vector<Lid> unmet;            // goals that are not confirmed as a whole
  std::vector<Lid> held_up;          // those that were left alone (MftStage)
  std::vector<ProgramFault> faults;  // the first 100
  bool took_away = false;            // with the last list: what follows waits as within a run
};

class MftWriter {
 public:
  using Done = std::function<void(MftReport)>;

  MftWriter(SmpClient& client, MftMemory& memory, MKey m_key)
      : client_(client), memory_(memory), m_key_(m_key) {}

  MftWriter(const MftWriter&) = delete;

  /// How long the packets that entries have copied may be on their way; 0 before.
  void set_drain_time(Runtime& runtime, Duration drain_time) {
    runtime_ = &runtime;
    drain_time_ = drain_time;
  }

  /// `done` runs once, last; it may destroy this. Never inside this call, unless there is nothing
  /// to do.
  void start(std::shared_ptr<const SweepReport> sweep, MftGoals goals, MftRules rules, Done done);

 private:
  void read();
  void write(unsigned batch);
  [[nodiscard]] bool takes_away(const std::vector<MftWrite>& writes) const;
  void finish();
  void send(const MftWrite& block, Method method);
  void on_answer(const MftWrite& block, Method method, const Result<SmpReply>& reply);
  void run(std::vector<MftWrite> blocks, Method method, std::function<void()> next);

  SmpClient& client_;
  MftMemory& memory_;
  MKey m_key_;
  Runtime* runtime_ = nullptr;
  Duration drain_time_{0};
  Timer drain_;
  std::shared_ptr<const SweepReport> sweep_;
  MftGoals goals_;
  MftRules rules_;
  Done done_;
  MftReport report_;
  std::vector<std::unique_ptr<SmpPump>> pumps_;  // one a list; a pump may not die in its own call
};

}  // namespace smd
