#include "smd/discovery/explorer.h"

#include <utility>

#include "smd/mad/tables.h"

namespace smd {
namespace {

/// Who answers under the GUID of `node` may be that one. An adapter has as many ports as the survey
/// has room for; two switches under one GUID are told apart by their links.
bool fits(const Survey::Node& node, const NodeInfo& info) {
  return node.info.node_type == info.node_type && info.local_port.value() < node.ports.size() &&
         (info.is_switch() || node.info.num_ports == info.num_ports);
}

}  // namespace

std::optional<SmpRoute> extend(const SmpRoute& route, PortNum port) {
  if (route.kind == SmpRoute::Kind::LidRouted) return SmpRoute::mixed(route.lid, {port});
  if (route.path.full()) return std::nullopt;
  SmpRoute longer = route;
  longer.path.push_back(port);
  return longer;
}

std::string describe(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("status 0x{:04x}", reply->status);
}

bool answers_as_node(const Result<SmpReply>& reply) {
  if (!answered(reply)) return false;
  const Result<NodeInfo> info = decode_node_info(reply->data);
  return info && is_plausible(*info) && info->local_port != PortNum{0};
}

SmpData clear_change_data(SwitchInfo info) {
  info.port_state_change = true;
  SmpData data{};
  encode_switch_info(info, data);
  return data;
}

Explorer::Explorer(SmpClient& client, DiscoveryOptions options)
    : options_(std::move(options)), client_(client), scope_(client) {}

void Explorer::ask(const Question& question, OnReply on_reply) {
  ++outstanding_;
  scope_.send({.route = question.route,
               .method = question.method,
               .attribute = question.attribute,
               .modifier = question.modifier,
               .data = question.data,
               .m_key = options_.m_key},
              [this, on_reply = std::move(on_reply)](const Result<SmpReply>& reply) {
                --outstanding_;
                if (!reply && reply.error().code == Errc::NoDevice) fatal_ = reply.error();
                on_reply(reply);
                on_step();
              });
}

void Explorer::fail_locally(Errc code, std::string why) {
  if (!fatal_) fatal_ = Error{code, "the local node does not answer: " + std::move(why)};
}

void Explorer::ask_local_node() { ask_node_info(SmpRoute::directed({}), std::nullopt); }

void Explorer::ask_node_info(const SmpRoute& route, std::optional<LinkEnd> from) {
  ask({.route = route},
      [this, route, from](const Result<SmpReply>& reply) { on_node_info(route, from, reply); });
}

void Explorer::on_node_info(const SmpRoute& route,
                            std::optional<LinkEnd> from,
                            const Result<SmpReply>& reply) {
  if (from) survey_.port(*from).probing = false;
  Result<NodeInfo> info = fail(Errc::Timeout, "");
  if (answered(reply)) info = decode_node_info(reply->data);
  // Nothing is cabled to port 0.
  const bool may_be = info && is_plausible(*info) && (!from || info->local_port != PortNum{0});
  if (!may_be) {
    std::string why = answered(reply) ? "NodeInfo that cannot be" : describe(reply);
    if (from) {
      anomalies_.silent.push_back(
          {survey_.node(from->node).info.node_guid, from->port, std::move(why)});
    } else {
      fail_locally(reply ? Errc::Refused : reply.error().code, std::move(why));
    }
    return;
  }
  auto known = survey_.find(info->node_guid);
  if (known && (!fits(survey_.node(*known), *info) ||
                survey_.node(*known).info.num_ports != info->num_ports)) {
    if (is_stale(*known)) {
      forget(*known);
      known.reset();
    } else if (!fits(survey_.node(*known), *info)) {
      if (from) anomalies_.duplicates.push_back({info->node_guid, std::nullopt, *from});
      return;
    }
  }
  const std::uint32_t node = known ? *known : survey_.add(*info, route);
  const Arrival arrival{{node, info->local_port}, *info, route};
  if (!from) survey_.set_local_port(info->is_switch() ? PortNum{0} : info->local_port);
  if (from && known && !may_join(*from, arrival.end)) return;
  if (info->is_switch() && !known) explore_switch(node);
  from ? join(*from, arrival) : take_adapter_in(arrival);
}

/// Once the link is its: what a second node under the GUID says is not asked for.
void Explorer::take_adapter_in(const Arrival& at) {
  if (at.info.is_switch()) return;
  survey_.node(at.end.node).info = at.info;
  survey_.port(at.end).guid = at.info.port_guid;
  if (!survey_.port(at.end).asked) ask_port_info(at.end, at.route);
}

/// Port 0 first: by its answer it is known how the other ports are asked.
void Explorer::explore_switch(std::uint32_t node) {
  ask_port_info({node, PortNum{0}}, survey_.node(node).route);
  ask_switch_info(node, [this, node] {
    const bool clears = survey_.node(node).switch_info.port_state_change && !options_.read_only;
    clears ? clear_port_state_change(node) : ask_switch_ports(node);
  });
}

void Explorer::ask_switch_info(std::uint32_t node, std::function<void()> then) {
  ask({.route = survey_.node(node).route, .attribute = AttributeId::SwitchInfo},
      [this, node, then = std::move(then)](const Result<SmpReply>& reply) {
        if (!answered(reply)) return break_node(node, PortNum{0}, "SwitchInfo: " + describe(reply));
        const Result<SwitchInfo> info = decode_switch_info(reply->data);
        if (!info) return break_node(node, PortNum{0}, info.error().context);
        survey_.node(node).switch_info = *info;
        then();
      });
}

/// Who does not take it, as under another M_Key, is read all the same; the bit stays raised there,
/// and in the snapshot.
void Explorer::clear_port_state_change(std::uint32_t node) {
  ask({.route = survey_.node(node).route,
       .method = Method::Set,
       .attribute = AttributeId::SwitchInfo,
       .data = clear_change_data(survey_.node(node).switch_info)},
      [this, node](const Result<SmpReply>& reply) {
        if (!answered(reply))
          return ask_switch_info(node, [this, node] { ask_switch_ports(node); });
        survey_.node(node).switch_info.port_state_change = false;
        ask_switch_ports(node);
      });
}

void Explorer::ask_switch_ports(std::uint32_t node) {
  const SmpRoute route = survey_.node(node).route;
  for (unsigned p = 0; p < survey_.node(node).ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    if (!survey_.port(end).asked) ask_port_info(end, route);
  }
}

void Explorer::ask_port_info(LinkEnd end, const SmpRoute& route) {
  survey_.port(end).asked = true;
  send_port_info(end, route, modifier_of(end));
}

void Explorer::send_port_info(LinkEnd end, const SmpRoute& route, std::uint32_t modifier) {
  const auto peer = survey_.peer(end);
  ask({.route = route, .attribute = AttributeId::PortInfo, .modifier = modifier},
      [this, end, route, modifier, peer](const Result<SmpReply>& reply) {
        // Who was asked was an adapter that the link does not lead to any more.
        const bool is_late =
            end.node != 0 && !survey_.is_switch(end.node) && survey_.peer(end) != peer;
        if (!is_late) on_port_info(end, route, modifier, reply);
      });
}

const Survey::Port* Explorer::management_port(LinkEnd end) const {
  const Survey::Node& node = survey_.node(end.node);
  const Survey::Port& port = node.ports[node.info.is_switch() ? 0 : end.port.value()];
  return port.read ? &port : nullptr;
}

std::uint32_t Explorer::modifier_of(LinkEnd end) const {
  if (const Survey::Port* const port = management_port(end); port != nullptr)
    return port_info_modifier(end.port, port->info.capability_mask);
  const NodeInfo& info = survey_.node(end.node).info;
  const bool guessed = extended_kinds_.contains({info.vendor_id, info.device_id});
  return encode_modifier(PortInfoModifier{.port = end.port, .extended_speeds = guessed});
}

void Explorer::learn_kind(std::uint32_t node, const PortInfo& management) {
  if ((management.capability_mask & port_cap::kIsExtendedSpeedsSupported) == 0) return;
  const NodeInfo& info = survey_.node(node).info;
  extended_kinds_.insert({info.vendor_id, info.device_id});
}

/// Ports of a switch that answered without bit 31 before its port 0 said what it has.
void Explorer::ask_plain_ports_again(std::uint32_t node, const SmpRoute& route) {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    if (std::exchange(survey_.port(end).plain, false)) send_port_info(end, route, modifier_of(end));
  }
}

void Explorer::on_port_info(LinkEnd end,
                            const SmpRoute& route,
                            std::uint32_t modifier,
                            const Result<SmpReply>& reply) {
  const bool extended = decode_port_info_modifier(modifier).extended_speeds;
  if (reply && reply->status != 0 && extended && management_port(end) == nullptr) {
    // It has not announced extended speeds; others of its kind have.
    return send_port_info(
        end, route, encode_modifier(PortInfoModifier{.port = end.port, .extended_speeds = false}));
  }
  if (reply && reply->status != 0 && end.port != PortNum{0}) {
    // The agent lives but will not talk of this port: the port stays Down in the snapshot.
    return silence_port(end, "PortInfo: " + describe(reply));
  }
  if (!answered(reply)) {
    return break_port(end, fmt::format("PortInfo {}: {}", end.port, describe(reply)));
  }
  const Result<PortInfo> info = decode_port_info(reply->data);
  if (!info) return break_node(end.node, end.port, info.error().context);
  Survey::Port& port = survey_.port(end);
  const bool was_up = port.fresh && survey_.is_up(end);
  port.info = *info;
  port.read = true;
  const bool is_switch = survey_.node(end.node).info.is_switch();
  const Survey::Port* const management = management_port(end);
  if (management == &port) learn_kind(end.node, *info);
  // The answer to the first question is without its speeds.
  if (management != nullptr && modifier != modifier_of(end) && !extended) {
    if (is_switch && management == &port) ask_plain_ports_again(end.node, route);
    return send_port_info(end, route, modifier_of(end));
  }
  port.plain = management == nullptr && !extended;
  port.fresh = true;
  if (was_up) return;

  on_port_read(end, route);
  const bool leads_on =
      is_switch ? end.port != PortNum{0} : end.node == 0 && end.port == survey_.local_port();
  if (survey_.is_up(end) && leads_on) probe(end);
}

void Explorer::set_port(LinkEnd end, const SmpRoute& route, const PortInfo& wanted) {
  SmpData data{};
  encode_port_info(wanted, data);
  ask({.route = route,
       .method = Method::Set,
       .attribute = AttributeId::PortInfo,
       .modifier = modifier_of(end),
       .data = data},
      [this, end](const Result<SmpReply>& reply) {
        if (!answered(reply))
          return break_node(end.node, end.port, "Set PortInfo: " + describe(reply));
        if (const auto info = decode_port_info(reply->data)) survey_.port(end).info = *info;
      });
}

void Explorer::probe(LinkEnd from) {
  if (std::exchange(survey_.port(from).probing, true)) return;
  probes_.push_back(from);
}

void Explorer::forget(std::uint32_t node) {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    unlink({node, PortNum{static_cast<std::uint8_t>(p)}});
  }
  survey_.forget(node);
}

void Explorer::pump_probes() {
  // Whether a port is asked is decided at injection, when most other ends are known.
  while (!probes_.empty() && outstanding_ < room()) {
    const LinkEnd from = probes_.front();
    probes_.pop_front();
    survey_.port(from).probing = false;
    if (survey_.peer(from) && !probes_known_links()) continue;
    if (survey_.node(from.node).broken || !survey_.is_up(from)) continue;
    const auto here = route_to(from.node);
    if (!here) {
      on_out_of_reach(from);
      continue;
    }
    const auto route = extend(*here, from.port);
    if (!route) {
      anomalies_.silent.push_back(out_of_reach(survey_.node(from.node).info.node_guid, from.port));
      continue;
    }
    survey_.port(from).probing = true;
    ask_node_info(*route, from);
  }
}

void Explorer::join(LinkEnd from, const Arrival& to) {
  if (survey_.port(from).mute || survey_.port(to.end).mute) return;
  const auto older = survey_.peer(to.end);
  if (older && *older != from) return verify_older_link(*older, from, to);
  link(from, to);
}

void Explorer::link(LinkEnd from, const Arrival& to) {
  survey_.link(from, to.end);
  if (!survey_.port(from).joined) joined_.push_back(from);
  survey_.port(from).joined = survey_.port(to.end).joined = true;
  on_joined(from, to.end);
  take_adapter_in(to);
}

/// `contested` was reached from `older` before and from `newer` now. Ask across the older link
/// again: when it still leads there, two nodes carry one GUID; otherwise a link moved while we
/// looked. An adapter forwards nothing, so its link is asked from the other side.
void Explorer::verify_older_link(LinkEnd older, LinkEnd newer, const Arrival& contested) {
  const LinkEnd end = contested.end;
  const bool backwards = older.node != 0 && !survey_.node(older.node).info.is_switch();
  const LinkEnd near = backwards ? end : older;
  const LinkEnd peer = backwards ? older : end;
  const auto here = route_to(near.node);
  const auto route = here ? extend(*here, near.port) : std::nullopt;
  // An adapter says again what it is: that it did so may be owed to the other one.
  const auto relink = [this, older, newer, contested] {
    survey_.unlink(older);
    link(newer, contested);
  };
  if (!route) return relink();
  const auto on_reply =
      [this, route, near, peer, older, newer, contested, relink](const Result<SmpReply>& reply) {
        const auto info = answered(reply) ? decode_node_info(reply->data)
                                          : Result<NodeInfo>(fail(Errc::Timeout, ""));
        if (info && info->node_guid == survey_.node(peer.node).info.node_guid &&
            info->local_port == peer.port) {
          const Guid guid = survey_.node(contested.end.node).info.node_guid;
          if (belongs_to_newer(older, newer, contested.end)) {
            anomalies_.duplicates.push_back({guid, newer, older});
            return relink();
          }
          anomalies_.duplicates.push_back(
              {guid, near == older ? std::optional(older) : std::nullopt, newer});
          return;
        }
        relink();
        on_contradiction(older);
        if (near == older && info && is_plausible(*info)) on_node_info(*route, older, reply);
      };
  ask({.route = *route}, on_reply);
}

/// Of two adapters under one GUID the one that is in the subnet already, which need not be the
/// nearer one: a port to one that was left out is not taken past Initialize.
bool Explorer::belongs_to_newer(LinkEnd older, LinkEnd newer, LinkEnd contested) const {
  const auto serves = [this](LinkEnd end) {
    const Survey::Port& port = survey_.port(end);
    return survey_.is_switch(end.node) && port.read && port.info.state() >= PortState::Armed;
  };
  return !survey_.is_switch(contested.node) && survey_.is_switch(older.node) && !serves(older) &&
         serves(newer);
}

/// Every port of an adapter has an agent of its own; a switch has one for all.
void Explorer::break_port(LinkEnd end, std::string why) {
  const bool is_own = end == LinkEnd{0, survey_.local_port()};
  if (is_own || survey_.node(end.node).info.is_switch())
    return break_node(end.node, end.port, std::move(why));
  silence_port(end, std::move(why));
}

void Explorer::silence_port(LinkEnd end, std::string why) {
  const bool is_own = end == LinkEnd{0, survey_.local_port()};
  if (!is_own) {
    survey_.unlink(end);
    survey_.port(end).asked = survey_.port(end).mute = true;
  }
  anomalies_.silent.push_back({survey_.node(end.node).info.node_guid, end.port, std::move(why)});
}

void Explorer::break_node(std::uint32_t node, PortNum number, std::string why) {
  if (node == 0) fail_locally(Errc::Timeout, why);
  survey_.node(node).broken = true;
  anomalies_.silent.push_back({survey_.node(node).info.node_guid, number, std::move(why)});
}

// Links whose two ends contradict each other: one node answered across it, but the port where it
// says to have been reached is Down. Either the link came or went while we looked, or another node
// answered, with the GUID of this one.

bool Explorer::settle_links() {
  while (settled_ < joined_.size()) {
    const LinkEnd a = joined_[settled_++];
    const auto b = survey_.peer(a);
    if (!b) continue;
    // An adapter was asked through the very link: what it says of the port cannot be Down.
    const auto is_down = [this](LinkEnd end) {
      return survey_.node(end.node).info.is_switch() && !survey_.node(end.node).broken &&
             survey_.port(end).read && !survey_.is_up(end);
    };
    if (is_down(*b)) {
      settle(a, *b);
      return true;
    }
    if (is_down(a)) {
      settle(*b, a);
      return true;
    }
  }
  return false;
}

void Explorer::settle(LinkEnd up, LinkEnd down) {
  reread_end(down, [this, up, down] {
    reread_end(up, [this, up, down] {
      if (survey_.peer(up) != down) return;
      if (survey_.is_up(up) && survey_.is_up(down)) return;
      if (survey_.is_up(up)) return verify_duplicate(up, down);
      unlink(up);
      on_contradiction(up);
      if (survey_.is_up(down)) probe(down);
    });
  });
}

void Explorer::reread_end(LinkEnd end, std::function<void()> then) {
  const auto route = route_to(end.node);
  const bool answers_for_itself = survey_.node(end.node).info.is_switch() || end.node == 0;
  if (!route || !answers_for_itself) return then();
  ask({.route = *route, .attribute = AttributeId::PortInfo, .modifier = modifier_of(end)},
      [this, end, then = std::move(then)](const Result<SmpReply>& reply) {
        if (answered(reply)) {
          if (const auto info = decode_port_info(reply->data)) survey_.port(end).info = *info;
        }
        then();
      });
}

void Explorer::verify_duplicate(LinkEnd up, LinkEnd down) {
  const auto here = route_to(up.node);
  const auto route = here ? extend(*here, up.port) : std::nullopt;
  if (!route) return unlink(up);
  ask({.route = *route}, [this, up, down, route](const Result<SmpReply>& reply) {
    if (survey_.peer(up) != down) return;
    const Guid guid = survey_.node(down.node).info.node_guid;
    const auto info =
        answered(reply) ? decode_node_info(reply->data) : Result<NodeInfo>(fail(Errc::Timeout, ""));
    unlink(up);
    if (info && info->node_guid == guid && info->local_port == down.port) {
      anomalies_.duplicates.push_back({guid, std::nullopt, up});
      return;
    }
    on_contradiction(up);
    on_node_info(*route, up, reply);
  });
}

}  // namespace smd
