// A team of threads, the caller's among them.
#pragma once

#include <memory>

#include "sim-backend/kernel/team.h"

namespace smd::sim {

class ThreadTeam final : public Team {
 public:
  ThreadTeam();
  ~ThreadTeam() override;
  ThreadTeam(const ThreadTeam&) = delete;

  void run(unsigned count, const std::function<void(unsigned)>& work) override;
  [[nodiscard]] std::int64_t least(std::int64_t own) override;

 private:
  struct Meeting;

  std::unique_ptr<Meeting> meeting_;
};

}  // namespace smd::sim
