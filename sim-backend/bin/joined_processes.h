// The processes that run one command together, each of which has read the command line and the
// files for itself. The first of them alone prints and writes. One is the usual case.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim-backend/kernel/processes.h"
#include "smd/base/program.h"

namespace smd::sim {

/// What is asked here has to be asked by all, in the same order.
class JoinedProcesses {
 public:
  /// Null: this process alone.
  explicit JoinedProcesses(Processes* processes) : processes_(processes) {}

  [[nodiscard]] Processes* processes() const { return processes_; }

  [[nodiscard]] unsigned count() const { return processes_ == nullptr ? 1 : processes_->count(); }

  [[nodiscard]] unsigned number() const { return processes_ == nullptr ? 0 : processes_->number(); }

  [[nodiscard]] bool is_joint() const { return processes_ != nullptr; }

  [[nodiscard]] bool is_first() const { return number() == 0; }

  /// What the program is called in its lines.
  [[nodiscard]] const char* program() const { return is_joint() ? "smsim-mpi" : "smsim"; }

  /// Whether any says so.
  [[nodiscard]] bool any(bool own) const { return least(own ? 0 : 1) == 0; }

  /// What the first of them says.
  [[nodiscard]] int as_first(int own) const {
    if (!is_joint()) return own;
    std::array<int, 1> value{own};
    processes_->share(std::as_writable_bytes(std::span(value)), 0);
    return value[0];
  }

  /// The first that says so.
  [[nodiscard]] std::optional<unsigned> first_of(bool own) const {
    const auto found = static_cast<unsigned>(least(own ? number() : count()));
    return found == count() ? std::nullopt : std::optional(found);
  }

  /// Each has done something alone; `own` is the exit code that it would end with, if any. All end,
  /// or none: the code to end with, or nothing to go on. The first that is at fault complains.
  [[nodiscard]] std::optional<int> end_together(std::optional<int> own,
                                                const std::function<void()>& complain) const {
    if (const auto failed = first_of(own.value_or(0) != 0)) {
      if (*failed == number()) complain();
      return own.value_or(0) != 0 ? *own : kExitBadInput;
    }
    const bool some_end = any(own.has_value());
    if (!some_end || !any(!own.has_value())) return own;
    return differ();
  }

  /// They do not do the same thing: a line of the first, and the exit code.
  [[nodiscard]] int differ() const {
    if (!is_first()) return kExitBadInput;
    return wrong_line(program(),
                      "processes have different scenarios, fabrics, traces, options or builds of "
                      "smsim-mpi: give all of them the same");
  }

  /// Whether all say the same.
  [[nodiscard]] bool is_alike(const std::string& own) const {
    std::string first = own;
    first.resize(static_cast<std::size_t>(as_first(static_cast<int>(own.size()))));
    if (is_joint()) processes_->share(std::as_writable_bytes(std::span(first)), 0);
    return !any(first != own);
  }

 private:
  [[nodiscard]] std::int64_t least(std::int64_t own) const {
    if (!is_joint()) return own;
    std::array<std::int64_t, 1> value{own};
    processes_->agree(value);
    return value[0];
  }

  Processes* processes_;
};

}  // namespace smd::sim
