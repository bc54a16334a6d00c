// The processes that mpirun starts, by MPI. Built where MPI is found; nothing else depends on it.
#pragma once

#include <chrono>

#include "sim-backend/kernel/processes.h"

namespace smd::sim {

class MpiProcesses : public Processes {
 public:
  /// How long a message may take that was sent before all agreed: time enough for a network that
  /// sends it again.
  static constexpr std::chrono::seconds kPatience{60};

  /// Joins the others. One of them per process.
  MpiProcesses(int& argc, char**& argv, std::chrono::milliseconds patience = kPatience);
  ~MpiProcesses() override;
  MpiProcesses(const MpiProcesses&) = delete;

  [[nodiscard]] unsigned number() const override { return number_; }

  [[nodiscard]] unsigned count() const override { return count_; }

  void agree(std::span<std::int64_t> values) override;
  void exchange(std::span<std::int64_t> values,
                std::span<const Bytes> out,
                std::span<Bytes> in) override;
  void share(std::span<std::byte> bytes, unsigned owner) override;
  [[noreturn]] void fail(const std::string& why) override;

  /// fail() of one that has said why.
  [[noreturn]] static void end_all(int exit_code);

 protected:
  /// Whether it goes out at all: tests lose messages here.
  [[nodiscard]] virtual bool leaves(unsigned, const Bytes&) { return true; }

 private:
  void receive(unsigned from, Bytes& into);

  std::chrono::milliseconds patience_;
  unsigned number_ = 0;
  unsigned count_ = 1;
};

}  // namespace smd::sim
