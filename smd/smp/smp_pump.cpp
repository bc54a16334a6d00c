#include "smd/smp/smp_pump.h"

#include <utility>

namespace smd {

void SmpPump::start(IssueNext issue_next, std::function<void()> done) {
  issue_next_ = std::move(issue_next);
  done_ = std::move(done);
  pump();
}

void SmpPump::send(const SmpRequest& request,
                   std::function<void(const Result<SmpReply>&)> on_reply) {
  ++outstanding_;
  scope_.send(request, [this, on_reply = std::move(on_reply)](const Result<SmpReply>& reply) {
    --outstanding_;
    on_reply(reply);
    pump();
  });
}

void SmpPump::pump() {
  // Twice the window keeps the client busy without queueing the whole series in memory.
  while (issue_next_ && outstanding_ < 2 * static_cast<std::size_t>(client_.window())) {
    if (!issue_next_()) issue_next_ = nullptr;
  }
  if (outstanding_ == 0 && done_) std::exchange(done_, nullptr)();
}

}  // namespace smd
