#include "smd/program/switch_setter.h"

#include <algorithm>
#include <utility>

#include "smd/multicast/subnet_limits.h"

namespace smd {

void SwitchSetter::set_before(Done done) {
  set_each(
      run_.report.configure,
      [this](SwitchIdx sw) {
        SwitchInfo wanted = wanted_of(sw);
        if (would_show_unknown_blocks(sw))
          wanted.linear_fdb_top = run_.report.switch_info[sw].linear_fdb_top;
        if (!run_.input.writing.clears_port_state_change) wanted.port_state_change = false;
        return wanted;
      },
      std::move(done));
}

void SwitchSetter::set_default_ports(Done done) {
  const auto* ports = run_.input.default_port;
  if (ports == nullptr || ports->size() == 0) return done();
  set_each(
      run_.report.tables,
      [this, ports](SwitchIdx sw) {
        SwitchInfo wanted = run_.report.switch_info[sw];
        if (has_random_table(wanted)) wanted.default_port = (*ports)[sw];
        wanted.port_state_change = false;
        return wanted;
      },
      std::move(done));
}

void SwitchSetter::raise_tops(std::function<void(Unconfirmed)> done) {
  set_each(
      run_.report.configure,
      [this](SwitchIdx sw) {
        SwitchInfo wanted = run_.report.switch_info[sw];
        if (may_rise(sw)) wanted.linear_fdb_top = run_.input.lft->top().value();
        wanted.port_state_change = false;
        return wanted;
      },
      [this, done = std::move(done)] {
        Unconfirmed unconfirmed;
        for (const SwitchIdx sw : run_.fabric().switch_node.indices()) {
          if (is_below_top(sw) && !has_restarted(sw))
            unconfirmed.add(run_.guid_of(sw), "LinearFDBTop");
        }
        done(std::move(unconfirmed));
      });
}

void SwitchSetter::set_after(Done done) {
  set_each(
      run_.report.configure,
      [this](SwitchIdx sw) {
        SwitchInfo wanted = wanted_of(sw);
        wanted.port_state_change = false;
        return wanted;
      },
      std::move(done));
}

void SwitchSetter::set_each(PhaseCost& cost,
                            std::function<SwitchInfo(SwitchIdx)> wanted_of,
                            Done done) {
  const auto all = run_.fabric().switch_node.indices();
  batch_.each<SwitchIdx>(
      cost,
      {all.begin(), all.end()},
      [this, wanted_of = std::move(wanted_of)](SwitchIdx sw) {
        const SwitchInfo& now = run_.report.switch_info[sw];
        const SwitchInfo wanted = wanted_of(sw);
        SwitchInfo same = wanted;
        same.port_state_change = now.port_state_change;
        const bool settled =
            same == now || run_.state.switches.settled(run_.guid_of(sw), wanted, now);
        if (!settled || wanted.port_state_change) send(sw, wanted);
      },
      std::move(done));
}

void SwitchSetter::send(SwitchIdx sw, const SwitchInfo& wanted) {
  SmpRequest set = request(sw, Method::Set, AttributeId::SwitchInfo);
  encode_switch_info(wanted, set.data);
  batch_.ask(set,
             [this, sw, wanted](const Result<SmpReply>& reply) { on_answer(sw, wanted, reply); });
}

SmpRequest SwitchSetter::request(SwitchIdx sw, Method method, AttributeId attribute) const {
  return {.route = SmpRoute::directed(run_.input.report->path[run_.node_of(sw)]),
          .method = method,
          .attribute = attribute};
}

void SwitchSetter::on_answer(SwitchIdx sw,
                             const SwitchInfo& wanted,
                             const Result<SmpReply>& reply) {
  const NodeIdx node = run_.node_of(sw);
  if (!accepted(reply))
    return run_.fault(node, PortNum{0}, "SwitchInfo: " + describe_failure(reply));
  const auto answer = decode_switch_info(reply->data);
  if (!answer) return run_.fault(node, PortNum{0}, "SwitchInfo: " + answer.error().context);
  run_.report.switch_info[sw] = *answer;
  if (answer->linear_fdb_top != 0) look_for_restart(sw);
  if (run_.state.switches.remember(run_.guid_of(sw), wanted, *answer)) {
    run_.not_kept(
        node,
        PortNum{0},
        fmt::format(
            "LifeTimeValue {} set, {} kept", wanted.life_time_value, answer->life_time_value));
  }
  if (routes_alike(*answer, wanted)) return;
  run_.fault(node,
             PortNum{0},
             answer->linear_fdb_top != wanted.linear_fdb_top
                 ? "SwitchInfo: LinearFDBTop was not kept"
                 : "SwitchInfo: DefaultPort was not kept");
}

/// Where it had tables and a LID when it was read.
void SwitchSetter::look_for_restart(SwitchIdx sw) {
  const Fabric& fabric = run_.fabric();
  const PortIdx port = fabric.port_of(run_.node_of(sw), PortNum{0});
  if (fabric.switch_info[sw].linear_fdb_top == 0) return;
  if (fabric.port_info[port].lid == kUnassignedLid) return;
  batch_.ask(request(sw, Method::Get, AttributeId::PortInfo),
             [this, sw](const Result<SmpReply>& reply) {
               if (!accepted(reply)) return;  // whom nobody reaches, nobody takes for up
               const auto info = decode_port_info(reply->data);
               if (info && info->lid == kUnassignedLid) take_back(sw);
             });
}

void SwitchSetter::take_back(SwitchIdx sw) {
  run_.state.forget(run_.guid_of(sw));
  run_.report.restarted.push_back(run_.guid_of(sw));
  run_.fault(run_.node_of(sw), PortNum{0}, "it has restarted since it was read");
  SwitchInfo empty = run_.report.switch_info[sw];
  empty.linear_fdb_top = 0;
  empty.port_state_change = false;
  SmpRequest set = request(sw, Method::Set, AttributeId::SwitchInfo);
  encode_switch_info(empty, set.data);
  batch_.ask(set, [this, sw](const Result<SmpReply>& reply) {
    if (accepted(reply)) run_.report.switch_info[sw].linear_fdb_top = 0;
  });
}

bool SwitchSetter::has_restarted(SwitchIdx sw) const {
  return std::ranges::count(run_.report.restarted, run_.guid_of(sw)) > 0;
}

/// Setting PortStateChange clears it.
SwitchInfo SwitchSetter::wanted_of(SwitchIdx sw) const {
  SwitchInfo wanted = run_.report.switch_info[sw];
  if (!has_random_table(wanted) && !has_restarted(sw))
    wanted.linear_fdb_top = run_.input.lft->top().value();
  wanted.life_time_value = run_.input.policy.packet_life_time;
  // Entries above MulticastFDBTop count for nothing, and after power-on that is all of them.
  const PortIdx port = run_.fabric().port_of(run_.node_of(sw), PortNum{0});
  const bool has_top =
      (run_.fabric().port_info[port].capability_mask & port_cap::kIsMulticastFdbTopSupported) != 0;
  if (has_top && wanted.multicast_fdb_cap > 0)
    wanted.multicast_fdb_top = static_cast<std::uint16_t>(
        kFirstMlid.value() + std::min<std::uint32_t>(wanted.multicast_fdb_cap, kMostMlids) - 1);
  return wanted;
}

bool SwitchSetter::is_below_top(SwitchIdx sw) const {
  const SwitchInfo& now = run_.report.switch_info[sw];
  return !has_random_table(now) && now.linear_fdb_top < run_.input.lft->top().value();
}

bool SwitchSetter::may_rise(SwitchIdx sw) const {
  return is_below_top(sw) && !would_show_unknown_blocks(sw) && !has_restarted(sw);
}

bool SwitchSetter::would_show_unknown_blocks(SwitchIdx sw) const {
  const TransitionPlan* plan = run_.input.plan;
  if (plan == nullptr || plan->kind == TransitionKind::Initial) return false;
  bool would = false;
  for_each_hidden_block(run_, sw, [&](std::uint32_t number) {
    would = would || !run_.state.tables.find_block(run_.guid_of(sw), number);
  });
  return would;
}

void SetProbe::start(const SweepReport& found, std::vector<SwitchIdx> switches, Done done) {
  found_ = &found;
  switches_ = std::move(switches);
  pump_.start(
      [this] {
        if (next_ == switches_.size()) return false;
        read(switches_[next_++]);
        return true;
      },
      [this, done = std::move(done)] { done(std::move(willing_)); });
}

SmpRequest SetProbe::request(SwitchIdx sw, Method method) const {
  return {.route = SmpRoute::directed(found_->path[found_->fabric->switch_node[sw]]),
          .method = method,
          .attribute = AttributeId::LinearForwardingTable,
          .m_key = m_key_};
}

void SetProbe::read(SwitchIdx sw) {
  pump_.send(request(sw, Method::Get), [this, sw](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0) write_back(sw, reply->data);
  });
}

void SetProbe::write_back(SwitchIdx sw, const SmpData& block) {
  SmpRequest set = request(sw, Method::Set);
  set.data = block;
  pump_.send(set, [this, sw, block](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0 && reply->data == block)
      willing_.push_back(found_->fabric->node_guid[found_->fabric->switch_node[sw]]);
  });
}

}  // namespace smd
