#include "smd/discovery/light_sweep.h"

#include <algorithm>
#include <utility>

#include "smd/discovery/explorer.h"
#include "smd/mad/port_info.h"

namespace smd {

void LightSweep::start(const SweepReport& sweep, const LidMap& lids, Done done) {
  ask_own_port(*sweep.fabric);
  start(*sweep.fabric, lids, std::move(done));
}

void LightSweep::start(const Fabric& fabric, const LidMap& lids, Done done) {
  done_ = std::move(done);
  report_ = {};
  asked_.clear();
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = lids.base[fabric.port_of(node, PortNum{0})];
    if (lid == kUnassignedLid) continue;
    asked_.insert(node);
    scope_.send(
        {.route = SmpRoute::to_lid(lid), .attribute = AttributeId::SwitchInfo, .m_key = m_key_},
        [this, node, lid](const Result<SmpReply>& reply) { on_switch(node, lid, reply); });
  }
  report_.polled = static_cast<unsigned>(asked_.size());
  if (asked_.empty()) end();
}

/// Nobody else says that its link is gone, and everything is behind it.
void LightSweep::ask_own_port(const Fabric& fabric) {
  if (fabric.is_switch(fabric.sm_node)) return;
  const bool had_link = fabric.port_info[fabric.sm_port].state() > PortState::Initialize;
  scope_.send({.route = SmpRoute::directed({}),
               .attribute = AttributeId::PortInfo,
               .modifier = port_info_modifier(fabric, fabric.sm_port),
               .m_key = m_key_},
              [this, had_link](const Result<SmpReply>& reply) {
                const auto info = answered(reply) ? decode_port_info(reply->data)
                                                  : Result<PortInfo>(fail(Errc::Timeout, ""));
                if (!info || info->state() > PortState::Initialize || asked_.empty()) return;
                const bool came_anew = info->state() == PortState::Initialize && had_link;
                if (came_anew || info->state() < PortState::Initialize) give_up_the_rest();
              });
}

void LightSweep::on_switch(NodeIdx node, Lid lid, const Result<SmpReply>& reply) {
  asked_.erase(node);
  const auto info = reply && reply->status == 0 ? decode_switch_info(reply->data)
                                                : Result<SwitchInfo>(fail(Errc::Timeout, ""));
  if (!info) {
    report_.silent.push_back(node);
  } else if (info->port_state_change) {
    report_.changed.push_back(node);
    if (ends_at_change_) return clear_and_end(lid, *info);
  }
  if (asked_.empty()) return end();
  if (!reply) {
    if (!answered_ && reply.error().code == Errc::Timeout) give_up_the_rest();
    return;
  }
  answered_ = true;
  slowest_ = std::max(slowest_, reply->round_trip);
  if (!report_.changed.empty())
    quiet_ = Timer(runtime_, runtime_.now() + slowest_, [this] { give_up_the_rest(); });
}

void LightSweep::give_up_the_rest() {
  scope_.cancel_all();
  report_.silent.insert(report_.silent.end(), asked_.begin(), asked_.end());
  end();
}

void LightSweep::clear_and_end(Lid lid, const SwitchInfo& info) {
  scope_.cancel_all();
  scope_.send({.route = SmpRoute::to_lid(lid),
               .method = Method::Set,
               .attribute = AttributeId::SwitchInfo,
               .data = clear_change_data(info),
               .m_key = m_key_},
              [this](const Result<SmpReply>&) { end(); });
}

void LightSweep::end() {
  quiet_.reset();
  std::exchange(done_, nullptr)(std::move(report_));
}

}  // namespace smd
