// Sends a long series of SMPs without building it first: asks for the next one while the window has
// room.
#pragma once

#include <functional>

#include "smd/smp/smp_client.h"

namespace smd {

class SmpPump {
 public:
  /// Sends through `send()` the next piece of the series; false when there is none left.
  using IssueNext = std::function<bool()>;

  explicit SmpPump(SmpClient& client) : client_(client), scope_(client) {}

  SmpPump(const SmpPump&) = delete;

  /// `done` runs once, last, when the series is exhausted and every answer is in; it may destroy
  /// this.
  void start(IssueNext issue_next, std::function<void()> done);

  /// Requires: called from `issue_next`, or from a handler of this pump.
  void send(const SmpRequest& request, std::function<void(const Result<SmpReply>&)> on_reply);

 private:
  void pump();

  SmpClient& client_;
  SmpScope scope_;
  IssueNext issue_next_;
  std::function<void()> done_;
  std::size_t outstanding_ = 0;
};

}  // namespace smd
