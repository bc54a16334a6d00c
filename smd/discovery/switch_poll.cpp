#include "smd/discovery/switch_poll.h"

#include <utility>

namespace smd {

void SwitchPoll::start(const Fabric& fabric, const LidMap& lids, Done done) {
  done_ = std::move(done);
  report_ = {};
  outstanding_ = 1;  // this call itself, so that a fabric without switches completes too
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = lids.base[fabric.port_of(node, PortNum{0})];
    if (lid == kUnassignedLid) continue;
    ++outstanding_;
    ++report_.polled;
    scope_.send(
        {.route = SmpRoute::to_lid(lid), .attribute = AttributeId::SwitchInfo, .m_key = m_key_},
        [this, node](const Result<SmpReply>& reply) {
          const auto info = reply && reply->status == 0
                                ? decode_switch_info(reply->data)
                                : Result<SwitchInfo>(fail(Errc::Timeout, ""));
          if (!info) {
            report_.silent.push_back(node);
          } else if (info->port_state_change) {
            report_.changed.push_back(node);
          }
          step();
        });
  }
  step();
}

void SwitchPoll::step() {
  if (--outstanding_ == 0) std::exchange(done_, nullptr)(std::move(report_));
}

}  // namespace smd
