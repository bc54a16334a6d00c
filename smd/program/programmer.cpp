#include "smd/program/programmer.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kFaultsKept = 100;

std::string describe(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("refused with status 0x{:04x}", reply->status);
}

bool accepted(const Result<SmpReply>& reply) { return reply && reply->status == 0; }

}  // namespace

Programmer::Programmer(Runtime& runtime, SmpClient& client, ProgramState& state, CostMeter& meter)
    : runtime_(runtime), client_(client), state_(state), meter_(meter) {}

void Programmer::start(const ProgramInput& input, Done done) {
  input_ = input;
  done_ = std::move(done);
  report_ = {};
  report_.port_info = fabric().port_info;
  read_back();
}

void Programmer::begin_stage(PhaseCost& cost,
                             SmpPump::IssueNext issue_next,
                             std::function<void()> next_stage) {
  pump_.emplace(client_);
  pump_->start(std::move(issue_next), [this, &cost, next_stage = std::move(next_stage)] {
    cost += meter_.lap();
    next_stage_ = Timer(runtime_, runtime_.now(), next_stage);
  });
}

void Programmer::read_back() {
  for (SwitchIdx sw : fabric().switch_node.indices()) {
    if (fabric().switch_info[sw].linear_fdb_top != 0) continue;  // else fresh from power-on
    const Guid guid = fabric().node_guid[fabric().switch_node[sw]];
    state_.tables.forget(guid);
    state_.ports.forget(guid);
  }
  read_back_.emplace(client_, input_.policy.m_key);
  read_back_->start(*input_.report,
                    find_unread_blocks(fabric(), input_.lft->top(), state_.tables),
                    state_.tables,
                    [this](std::uint64_t blocks) {
                      report_.blocks_read = blocks;
                      report_.tables += meter_.lap();
                      next_stage_ = Timer(runtime_, runtime_.now(), [this] { set_switches(); });
                    });
}

void Programmer::set_switches() {
  begin_stage(
      report_.configure,
      [this, at = std::uint32_t{0}]() mutable {
        for (; at < fabric().switch_count(); ++at) {
          const SwitchIdx sw{at};
          const SwitchInfo& now = fabric().switch_info[sw];
          SwitchInfo wanted = now;
          wanted.linear_fdb_top = input_.lft->top().value();
          wanted.life_time_value = input_.policy.packet_life_time;
          if (wanted == now && !now.port_state_change) continue;
          send_switch_info(sw, wanted);
          ++at;
          return true;
        }
        return false;
      },
      [this] { audit_qos(); });
}

void Programmer::send_switch_info(SwitchIdx sw, const SwitchInfo& wanted) {
  const NodeIdx node = fabric().switch_node[sw];
  SmpData data{};
  encode_switch_info(wanted, data);
  ask(input_.report->path[node],
      Method::Set,
      AttributeId::SwitchInfo,
      0,
      data,
      [this, node, wanted](const Result<SmpReply>& reply) {
        if (!accepted(reply)) return fault(node, PortNum{0}, "SwitchInfo: " + describe(reply));
        const auto answer = decode_switch_info(reply->data);
        if (!answer || answer->linear_fdb_top != wanted.linear_fdb_top) {
          fault(node, PortNum{0}, "SwitchInfo: LinearFDBTop was not kept");
        }
      });
}

void Programmer::audit_qos() {
  if (input_.qos.empty()) return write_tables();
  qos_.emplace(client_, input_.policy.m_key);
  qos_->start(*input_.report, build_qos_checks(fabric(), input_.qos), [this](AuditReport audit) {
    report_.configure += meter_.lap();
    report_.fault_count += audit.faults.size();
    for (ProgramFault& each : audit.faults) {
      if (report_.faults.size() < kFaultsKept) report_.faults.push_back(std::move(each));
    }
    next_stage_ = Timer(runtime_, runtime_.now(), [this] { write_tables(); });
  });
}

void Programmer::write_tables() {
  std::vector<TableBlock> dirty = diff_tables(fabric(), *input_.lft, state_.tables);
  begin_stage(
      report_.tables,
      [this, dirty = std::move(dirty), at = std::size_t{0}]() mutable {
        if (at == dirty.size()) return false;
        send_block(dirty[at].sw, dirty[at].block);
        ++at;
        return true;
      },
      [this] { set_ports(); });
}

void Programmer::send_block(SwitchIdx sw, std::size_t block) {
  const NodeIdx node = fabric().switch_node[sw];
  LftBlock wanted;
  std::ranges::copy(input_.lft->block(sw, block), wanted.begin());
  SmpData data{};
  encode_lft_block(wanted, data);
  ask(input_.report->path[node],
      Method::Set,
      AttributeId::LinearForwardingTable,
      static_cast<std::uint32_t>(block),
      data,
      [this, node, block, wanted](const Result<SmpReply>& reply) {
        const Guid guid = fabric().node_guid[node];
        if (!accepted(reply)) {
          // It may have arrived all the same: what the switch holds is unknown until it says so.
          state_.tables.forget_block(guid, block);
          return fault(node, PortNum{0}, fmt::format("LFT block {}: {}", block, describe(reply)));
        }
        ++report_.blocks_written;
        const auto answer = decode_lft_block(reply->data);
        if (!answer || *answer != wanted) {
          state_.tables.forget_block(guid, block);
          return fault(
              node, PortNum{0}, fmt::format("LFT block {}: the switch kept something else", block));
        }
        state_.tables.confirm(guid, block, wanted);
      });
}

void Programmer::set_ports() {
  begin_stage(
      report_.configure,
      [this, at = std::uint32_t{0}]() mutable {
        for (; at < fabric().port_count(); ++at) {
          const PortIdx port{at};
          if (!is_managed(fabric(), port)) continue;
          const PortInfo& now = fabric().port_info[port];
          const PortInfo wanted = desired_port_info(fabric(), *input_.lids, port, input_.policy);
          const bool arm = now.state() == PortState::Initialize;
          const Guid guid = fabric().node_guid[fabric().node_of[port]];
          const PortNum number = fabric().number_of(port);
          if (!arm && (!differs(now, wanted) || state_.ports.settled(guid, number, wanted, now)))
            continue;
          if (arm) report_.came_up.push_back(port);
          send_port(port, wanted, arm ? PortState::Armed : PortState::NoChange);
          ++at;
          return true;
        }
        return false;
      },
      [this] { activate(); });
}

void Programmer::activate() {
  begin_stage(
      report_.activate,
      [this, at = std::uint32_t{0}]() mutable {
        for (; at < fabric().port_count(); ++at) {
          const PortIdx port{at};
          if (!is_managed(fabric(), port) || report_.port_info[port].state() != PortState::Armed)
            continue;
          send_port(port,
                    desired_port_info(fabric(), *input_.lids, port, input_.policy),
                    PortState::Active);
          ++at;
          return true;
        }
        return false;
      },
      [this] { finish(); });
}

void Programmer::send_port(PortIdx port, const PortInfo& wanted, PortState state) {
  SmpData data{};
  PortInfo body = set_body(wanted, state);
  // Clients behind a port that comes up must join their groups and services again with us.
  body.client_reregister =
      state == PortState::Armed && fabric().is_end_port(port) &&
      (wanted.capability_mask & port_cap::kIsClientReregistrationSupported) != 0;
  encode_port_info(body, data);
  ask(path_to(*input_.report, port),
      Method::Set,
      AttributeId::PortInfo,
      fabric().number_of(port).value(),
      data,
      [this, port, wanted, state](const Result<SmpReply>& reply) {
        on_port_set(port, wanted, state, reply);
      });
}

/// When the answer to a state change is lost, its retry finds the port in the new state and is
/// refused as no transition. What the port says of itself decides.
void Programmer::on_port_refused(PortIdx port,
                                 const PortInfo& wanted,
                                 PortState state,
                                 const Result<SmpReply>& refusal) {
  ask(path_to(*input_.report, port),
      Method::Get,
      AttributeId::PortInfo,
      fabric().number_of(port).value(),
      {},
      [this, port, wanted, state, why = describe(refusal)](const Result<SmpReply>& reply) {
        const auto now = accepted(reply) ? decode_port_info(reply->data)
                                         : Result<PortInfo>(fail(Errc::Timeout, ""));
        if (now && now->state() >= state) return on_port_set(port, wanted, state, reply);
        fault(fabric().node_of[port],
              fabric().number_of(port),
              fmt::format("PortInfo to {}: {}", print_port_state(state), why));
      });
}

void Programmer::on_port_set(PortIdx port,
                             const PortInfo& wanted,
                             PortState state,
                             const Result<SmpReply>& reply) {
  const NodeIdx node = fabric().node_of[port];
  const PortNum number = fabric().number_of(port);
  if (reply && reply->status != 0 && state != PortState::NoChange)
    return on_port_refused(port, wanted, state, reply);
  if (!accepted(reply)) return fault(node, number, "PortInfo: " + describe(reply));
  const auto answer = decode_port_info(reply->data);
  if (!answer) return fault(node, number, answer.error().context);
  state_.ports.remember(fabric().node_guid[node], number, wanted, *answer);
  report_.port_info[port] = *answer;
  if (fabric().is_end_port(port) &&
      (answer->lid != wanted.lid || answer->master_sm_lid != wanted.master_sm_lid)) {
    return fault(
        node, number, fmt::format("LID {} was not kept: it answers {}", wanted.lid, answer->lid));
  }
  if (state == PortState::NoChange) return;
  // A link that saw traffic in between may be ahead of the state we asked for.
  if (answer->state() < state) {
    return fault(
        node,
        number,
        fmt::format(
            "wanted {}, is {}", print_port_state(state), print_port_state(answer->state())));
  }
  ++(state == PortState::Armed ? report_.ports_armed : report_.ports_activated);
}

void Programmer::finish() {
  for (PortIdx port : fabric().peer.indices()) {
    if (is_managed(fabric(), port) && report_.port_info[port].state() < PortState::Active)
      ++report_.ports_not_active;
  }
  std::exchange(done_, nullptr)(std::move(report_));
}

void Programmer::ask(const HopPath& path,
                     Method method,
                     AttributeId attribute,
                     std::uint32_t modifier,
                     const SmpData& data,
                     std::function<void(const Result<SmpReply>&)> on_reply) {
  pump_->send({.route = SmpRoute::directed(path),
               .method = method,
               .attribute = attribute,
               .modifier = modifier,
               .data = data,
               .m_key = input_.policy.m_key},
              std::move(on_reply));
}

void Programmer::fault(NodeIdx node, PortNum port, std::string what) {
  ++report_.fault_count;
  if (report_.faults.size() < kFaultsKept)
    report_.faults.push_back({fabric().node_guid[node], port, std::move(what)});
}

}  // namespace smd
