// A team whose members are shared out among processes, a thread for each. With each agreement goes
// one message from each process to each other: what members there have for members here.
#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "sim-backend/kernel/processes.h"
#include "sim-backend/kernel/thread_team.h"

namespace smd::sim {

/// From one member to another of another process: one end here, the other there.
class ProcessChannel {
 public:
  virtual ~ProcessChannel() = default;

  /// Where it begins: appends what is to go, and forgets it.
  virtual void write(Processes::Bytes& out) = 0;

  /// Where it ends: takes its own from the front of `in`; false when that is not whole.
  [[nodiscard]] virtual bool read(std::span<const std::byte>& in) = 0;
};

class ProcessTeam final : public Team {
 public:
  /// Requires: at least as many members as processes; `processes` outlives the team.
  ProcessTeam(Processes& processes, unsigned members);

  /// Each process has neighbours by number.
  [[nodiscard]] bool is_here(unsigned member) const {
    return home_of(member) == processes_.number();
  }

  /// Whether one process has both.
  [[nodiscard]] bool has_same_home(unsigned one, unsigned other) const {
    return home_of(one) == home_of(other);
  }

  /// Requires: before run(), by all processes alike and in one order; one of the two is here, one
  /// is not; the channel outlives the team's runs.
  void connect(unsigned from, unsigned to, ProcessChannel& channel);

  /// Those of this process.
  void run(unsigned count, const std::function<void(unsigned)>& work) override;
  [[nodiscard]] std::int64_t least(std::int64_t own) override;

  // Between two calls of run(), by all processes alike.

  /// The most that any process brings.
  [[nodiscard]] std::int64_t most(std::int64_t own);

  /// The process of `member` gives the others what it has there. Sizes are the same.
  void share(unsigned member, std::span<std::byte> bytes) {
    processes_.share(bytes, home_of(member));
  }

  /// The same of any size.
  void share_all(unsigned member, Processes::Bytes& bytes);

 private:
  struct Route {
    unsigned from = 0;  // processes
    unsigned to = 0;
    ProcessChannel* channel = nullptr;
  };

  [[nodiscard]] unsigned home_of(unsigned member) const {
    return member * processes_.count() / members_;
  }

  [[nodiscard]] std::int64_t meet(std::int64_t own);
  void check_step(std::span<const std::int64_t> agreed);

  Processes& processes_;
  unsigned members_;
  ThreadTeam threads_;
  std::thread::id caller_;
  std::uint64_t step_ = 0;  // agreements so far
  std::vector<Route> routes_;
  std::vector<Processes::Bytes> out_;  // by process
  std::vector<Processes::Bytes> in_;
};

}  // namespace smd::sim
