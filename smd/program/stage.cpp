#include "smd/program/stage.h"

namespace smd {

void Stage::start(PhaseCost& cost, SmpPump::IssueNext issue_next, std::function<void()> next) {
  pump_.emplace(run_.client);
  pump_->start(std::move(issue_next), [this, &cost, next = std::move(next)] {
    cost += run_.meter.lap();
    later(Duration{0}, next);
  });
}

void Stage::ask(SmpRequest request, std::function<void(const Result<SmpReply>&)> on_reply) {
  request.m_key = run_.input.policy.m_key;
  pump_->send(request, std::move(on_reply));
}

void Stage::later(Duration delay, std::function<void()> next) {
  next_ = Timer(run_.runtime, run_.runtime.now() + delay, std::move(next));
}

}  // namespace smd
