#include "smd/discovery/discovery.h"

#include <algorithm>
#include <utility>

#include "smd/fabric/builder.h"

namespace smd {
namespace {

std::string describe(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("status 0x{:04x}", reply->status);
}

bool answered(const Result<SmpReply>& reply) { return reply && reply->status == 0; }

/// A node that could not exist is treated as one that did not answer.
bool plausible(const NodeInfo& info) {
  return info.node_type >= 1 && info.node_type <= 3 && info.num_ports >= 1 &&
         info.num_ports <= 254 && info.local_port.value() <= info.num_ports &&
         (info.is_switch() || info.local_port.value() >= 1) && info.node_guid != Guid{};
}

}  // namespace

Discovery::Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch)
    : client_(client), scope_(client), options_(std::move(options)), epoch_(epoch) {}

void Discovery::start(Done done) {
  done_ = std::move(done);
  ask_node_info({}, std::nullopt);
}

void Discovery::ask(const HopPath& path,
                    Method method,
                    AttributeId attribute,
                    std::uint32_t modifier,
                    const SmpData& data,
                    std::function<void(Result<SmpReply>)> on_reply) {
  ++outstanding_;
  scope_.send({.route = SmpRoute::directed(path),
               .method = method,
               .attribute = attribute,
               .modifier = modifier,
               .data = data,
               .m_key = options_.m_key},
              [this, on_reply = std::move(on_reply)](Result<SmpReply> reply) {
                --outstanding_;
                if (!reply && reply.error().code == Errc::NoDevice) fatal_ = reply.error();
                on_reply(std::move(reply));
                step();
              });
}

void Discovery::ask_node_info(const HopPath& path, std::optional<End> from) {
  ask(path,
      Method::Get,
      AttributeId::NodeInfo,
      0,
      {},
      [this, path, from](const Result<SmpReply>& reply) { on_node_info(path, from, reply); });
}

void Discovery::on_node_info(const HopPath& path,
                             std::optional<End> from,
                             const Result<SmpReply>& reply) {
  Result<NodeInfo> info = fail(Errc::Timeout, "");
  if (answered(reply)) info = decode_node_info(reply->data);
  if (!info || !plausible(*info)) {
    const std::string why = answered(reply) ? "NodeInfo that cannot be" : describe(reply);
    if (from) {
      silent_.push_back({nodes_[from->node].info.node_guid, from->port, why});
    } else if (!fatal_) {
      fatal_ = Error{reply ? Errc::Refused : reply.error().code,
                     "the local node does not answer: " + why};
    }
    return;
  }
  const auto known = by_guid_.find(info->node_guid);
  const bool is_new = known == by_guid_.end();
  const std::uint32_t node = is_new ? add_node(*info, path) : known->second;
  const End arrival{node, info->local_port};
  if (arrival.port.value() >= nodes_[node].ports.size() ||
      nodes_[node].info.node_type != info->node_type) {
    duplicates_.push_back({info->node_guid, nodes_[node].path, path});
    return;
  }
  if (!from) local_port_ = info->local_port;
  if (!info->is_switch()) {
    port(arrival).guid = info->port_guid;
    if (!port(arrival).asked) ask_port_info(node, arrival.port, path);
  } else if (is_new) {
    explore_switch(node);
  }
  if (from) join(*from, arrival);
}

std::uint32_t Discovery::add_node(const NodeInfo& info, const HopPath& path) {
  Node node{.info = info, .path = path};
  node.ports.resize(info.num_ports + 1u);
  if (info.is_switch()) {
    for (Port& p : node.ports) p.guid = info.port_guid;
  }
  nodes_.push_back(std::move(node));
  const auto index = static_cast<std::uint32_t>(nodes_.size() - 1);
  by_guid_.emplace(info.node_guid, index);
  return index;
}

void Discovery::explore_switch(std::uint32_t node) {
  ask(nodes_[node].path,
      Method::Get,
      AttributeId::SwitchInfo,
      0,
      {},
      [this, node](const Result<SmpReply>& reply) { on_switch_info(node, reply); });
  if (options_.literal) ask_switch_ports(node);
}

void Discovery::on_switch_info(std::uint32_t node, const Result<SmpReply>& reply) {
  if (!answered(reply)) return break_node(node, PortNum{0}, "SwitchInfo: " + describe(reply));
  const Result<SwitchInfo> info = decode_switch_info(reply->data);
  if (!info) return break_node(node, PortNum{0}, info.error().context);
  nodes_[node].switch_info = *info;
  if (options_.literal) return;
  if (info->port_state_change) return clear_port_state_change(node);
  ask_switch_ports(node);
}

void Discovery::clear_port_state_change(std::uint32_t node) {
  SmpData data{};
  encode_switch_info(nodes_[node].switch_info,
                     data);  // the bit is still set in it: write one to clear
  ask(nodes_[node].path,
      Method::Set,
      AttributeId::SwitchInfo,
      0,
      data,
      [this, node](const Result<SmpReply>& reply) {
        if (!answered(reply))
          return break_node(node, PortNum{0}, "clearing PortStateChange: " + describe(reply));
        nodes_[node].switch_info.port_state_change = false;
        ask_switch_ports(node);
      });
}

void Discovery::ask_switch_ports(std::uint32_t node) {
  const HopPath path = nodes_[node].path;
  for (unsigned p = 0; p < nodes_[node].ports.size(); ++p) {
    ask_port_info(node, PortNum{static_cast<std::uint8_t>(p)}, path);
  }
}

void Discovery::ask_port_info(std::uint32_t node, PortNum number, const HopPath& path) {
  port({node, number}).asked = true;
  ask(path,
      Method::Get,
      AttributeId::PortInfo,
      number.value(),
      {},
      [this, node, number, path](const Result<SmpReply>& reply) {
        on_port_info(node, number, path, reply);
      });
}

void Discovery::on_port_info(std::uint32_t node,
                             PortNum number,
                             const HopPath& path,
                             const Result<SmpReply>& reply) {
  if (reply && reply->status != 0 && number != PortNum{0}) {
    // The agent lives but will not talk of this port: the port stays Down in the snapshot.
    silent_.push_back({nodes_[node].info.node_guid, number, "PortInfo: " + describe(reply)});
    return;
  }
  if (!answered(reply)) {
    return break_node(node, number, fmt::format("PortInfo {}: {}", number, describe(reply)));
  }
  const Result<PortInfo> info = decode_port_info(reply->data);
  if (!info) return break_node(node, number, info.error().context);
  Port& p = port({node, number});
  p.info = *info;
  p.read = true;

  const bool is_switch = nodes_[node].info.is_switch();
  if (options_.literal && is_switch == (number == PortNum{0})) set_end_port(node, number, path);
  const bool up = info->state() >= PortState::Initialize;
  const bool leads_on = is_switch ? number != PortNum{0} : node == 0 && number == local_port_;
  if (up && leads_on) probes_.push_back({node, number});
}

void Discovery::set_end_port(std::uint32_t node, PortNum number, const HopPath& path) {
  if (!options_.set_end_port) return;
  const auto wanted = options_.set_end_port(port({node, number}).guid, port({node, number}).info);
  if (!wanted) return;
  SmpData data{};
  encode_port_info(*wanted, data);
  ask(path,
      Method::Set,
      AttributeId::PortInfo,
      number.value(),
      data,
      [this, node, number](const Result<SmpReply>& reply) {
        if (!answered(reply)) return break_node(node, number, "Set PortInfo: " + describe(reply));
        if (const auto info = decode_port_info(reply->data)) port({node, number}).info = *info;
      });
}

void Discovery::pump_probes() {
  // Lean probing decides at injection, when most other ends are known; the literal form asks in any
  // case.
  while (!probes_.empty() && (options_.literal || outstanding_ < client_.window())) {
    const End from = probes_.front();
    probes_.pop_front();
    if (!options_.literal && port(from).peer_node != kNobody) continue;
    if (nodes_[from.node].broken) continue;
    if (nodes_[from.node].path.full()) {
      silent_.push_back({nodes_[from.node].info.node_guid, from.port, "beyond 63 hops"});
      continue;
    }
    ask_node_info(nodes_[from.node].path.then(from.port), from);
  }
}

void Discovery::join(End a, End b) {
  const auto peer_of = [this](End end) -> std::optional<End> {
    if (port(end).peer_node == kNobody) return std::nullopt;
    return End{port(end).peer_node, port(end).peer_port};
  };
  const auto older = peer_of(b);
  if (older == a) return;
  if (older) return verify_older_link(*older, a, b);
  if (const auto gone = peer_of(a)) port(*gone).peer_node = kNobody;
  port(a).peer_node = b.node;
  port(a).peer_port = b.port;
  port(b).peer_node = a.node;
  port(b).peer_port = a.port;
}

/// `contested` was reached from `older` before and from `newer` now. Ask through `older` again:
/// when it still leads there, two nodes carry one GUID; otherwise a cable moved while we looked.
void Discovery::verify_older_link(End older, End newer, End contested) {
  const HopPath path = nodes_[older.node].path.then(older.port);
  ask(path,
      Method::Get,
      AttributeId::NodeInfo,
      0,
      {},
      [this, path, older, newer, contested](const Result<SmpReply>& reply) {
        const Guid guid = nodes_[contested.node].info.node_guid;
        const auto info = answered(reply) ? decode_node_info(reply->data)
                                          : Result<NodeInfo>(fail(Errc::Timeout, ""));
        if (info && info->node_guid == guid && info->local_port == contested.port) {
          duplicates_.push_back({guid, path, nodes_[newer.node].path.then(newer.port)});
          return;
        }
        port(older).peer_node = kNobody;
        port(contested).peer_node = kNobody;
        join(newer, contested);
        if (info && plausible(*info)) on_node_info(path, older, reply);
      });
}

void Discovery::break_node(std::uint32_t node, PortNum number, std::string why) {
  if (node == 0 && !fatal_) fatal_ = Error{Errc::Timeout, "the local node does not answer: " + why};
  nodes_[node].broken = true;
  silent_.push_back({nodes_[node].info.node_guid, number, std::move(why)});
}

void Discovery::step() {
  if (fatal_) {
    scope_.cancel_all();
    return std::exchange(done_, nullptr)(tl::unexpected<Error>(*fatal_));
  }
  pump_probes();
  if (outstanding_ == 0 && done_) std::exchange(done_, nullptr)(build());
}

SweepReport Discovery::build() const {
  // Breadth first from the manager in port order: the numbering depends on the cabling, not on who
  // answered first.
  std::vector<std::uint32_t> order{0};
  std::vector<NodeIdx> index(nodes_.size(), kNone<NodeIdx>);
  FabricBuilder builder;
  SweepReport report{.silent = silent_, .duplicates = duplicates_};
  const auto add = [&](std::uint32_t n) {
    const Node& node = nodes_[n];
    index[n] = builder.add_node(node.info);
    report.path.push_back(node.path);
    if (node.info.is_switch()) builder.set_switch_info(index[n], node.switch_info);
    for (unsigned p = 0; p < node.ports.size(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      if (node.ports[p].read) builder.set_port_info(index[n], number, node.ports[p].info);
      builder.set_port_guid(index[n], number, node.ports[p].guid);
    }
  };
  add(0);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t n = order[at];
    for (unsigned p = 1; p < nodes_[n].ports.size(); ++p) {
      const Port& here = nodes_[n].ports[p];
      if (here.peer_node == kNobody || nodes_[here.peer_node].broken) continue;
      if (index[here.peer_node] == kNone<NodeIdx>) {
        add(here.peer_node);
        order.push_back(here.peer_node);
      }
      builder.add_link(
          index[n], PortNum{static_cast<std::uint8_t>(p)}, index[here.peer_node], here.peer_port);
    }
  }
  builder.set_sm_port(index[0], nodes_[0].info.is_switch() ? PortNum{0} : local_port_);
  report.fabric = builder.build(epoch_);
  return report;
}

}  // namespace smd
