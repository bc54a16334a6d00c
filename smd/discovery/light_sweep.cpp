#include "smd/discovery/light_sweep.h"

#include <algorithm>
#include <utility>

#include "smd/discovery/explorer.h"
#include "smd/mad/port_info.h"

namespace smd {

std::vector<PortIdx> list_silent(const SweepReport& sweep) {
  const Fabric& fabric = *sweep.fabric;
  std::vector<PortIdx> out;
  for (const SilentPort& each : sweep.silent) {
    const auto node = fabric.find_node(each.node);
    if (each.out_of_reach || each.left_out || !node || !fabric.is_switch(*node) ||
        each.port == PortNum{0} || each.port.value() > fabric.num_ports(*node) ||
        sweep.path[*node].full())
      continue;
    const PortIdx port = fabric.port_of(*node, each.port);
    if (fabric.peer[port] == kNone<PortIdx> &&
        fabric.port_info[port].state() >= PortState::Initialize)
      out.push_back(port);
  }
  return out;
}

void LightSweep::start(const SweepReport& sweep,
                       const LidMap& lids,
                       std::vector<PortIdx> silent,
                       Done done) {
  const Fabric& fabric = *sweep.fabric;
  std::ranges::reverse(silent);
  silent_.clear();
  for (const PortIdx port : silent) {
    const HopPath& here = sweep.path[fabric.node_of[port]];
    silent_.push_back({port, SmpRoute::directed(here.then(fabric.number_of(port)))});
  }
  ask_own_port(fabric);
  start(fabric, lids, std::move(done));
}

void LightSweep::start(const Fabric& fabric, const LidMap& lids, Done done) {
  done_ = std::move(done);
  report_ = {};
  began_ = runtime_.now();
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
  if (asked_.empty()) on_all_switches();
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
  if (asked_.empty()) return on_all_switches();
  if (!reply) {
    if (!answered_ && reply.error().code == Errc::Timeout) give_up_the_rest();
    return;
  }
  answered_ = true;
  slowest_ = std::max(slowest_, reply->round_trip);
  if (!report_.changed.empty())
    quiet_ = Timer(runtime_, runtime_.now() + slowest_, [this] { give_up_the_rest(); });
}

void LightSweep::on_all_switches() {
  report_.took = runtime_.now() - began_;
  if (!report_.quiet()) return give_up_the_rest();
  ask_silent();
  if (asked_silent_ == 0) end();
}

/// They fill no more than half of the window: most will be waited for in vain.
void LightSweep::ask_silent() {
  const std::size_t room = std::max(1u, client_.window() / 2);
  while (asked_silent_ < room && !silent_.empty()) {
    const SilentPlace next = silent_.back();
    silent_.pop_back();
    ++asked_silent_;
    scope_.send(
        {.route = next.route, .m_key = m_key_},
        [this, port = next.port](const Result<SmpReply>& reply) { on_silent(port, reply); });
  }
}

/// Once one speaks, the others wait for their next turn.
void LightSweep::on_silent(PortIdx port, const Result<SmpReply>& reply) {
  --asked_silent_;
  if (answers_as_node(reply)) {
    report_.speaking.push_back(port);
    silent_.clear();
    quiet_ = Timer(runtime_, runtime_.now() + slowest_, [this] { give_up_the_rest(); });
  }
  ask_silent();
  if (asked_silent_ == 0) end();
}

void LightSweep::give_up_the_rest() {
  scope_.cancel_all();
  if (!asked_.empty()) report_.took = runtime_.now() - began_;
  report_.silent.insert(report_.silent.end(), asked_.begin(), asked_.end());
  end();
}

std::vector<NodeIdx> LightSweep::list_late(Duration patience) const {
  if (runtime_.now() - began_ <= patience) return {};
  return {asked_.begin(), asked_.end()};
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
