#include "smd/discovery/switch_poll.h"

#include <utility>

#include "smd/discovery/explorer.h"

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
        [this, node, lid](const Result<SmpReply>& reply) { on_switch(node, lid, reply); });
  }
  step();
}

void SwitchPoll::on_switch(NodeIdx node, Lid lid, const Result<SmpReply>& reply) {
  const auto info = reply && reply->status == 0 ? decode_switch_info(reply->data)
                                                : Result<SwitchInfo>(fail(Errc::Timeout, ""));
  if (!info) {
    report_.silent.push_back(node);
  } else if (info->port_state_change) {
    report_.changed.push_back(node);
    if (literal_) return clear_and_end(lid, *info);
  }
  step();
}

void SwitchPoll::clear_and_end(Lid lid, const SwitchInfo& info) {
  scope_.cancel_all();
  outstanding_ = 1;
  scope_.send({.route = SmpRoute::to_lid(lid),
               .method = Method::Set,
               .attribute = AttributeId::SwitchInfo,
               .data = clear_change_data(info),
               .m_key = m_key_},
              [this](const Result<SmpReply>&) { step(); });
}

void SwitchPoll::step() {
  if (--outstanding_ == 0) std::exchange(done_, nullptr)(std::move(report_));
}

}  // namespace smd
