// Cables whose two ends contradict each other: one node answered across it, but the port where it
// says to have been reached is Down. Either the cable came or went while we looked, or another node
// answered, with the GUID of this one.
#include <utility>

#include "smd/discovery/explorer.h"

namespace smd {

bool Explorer::settle_links() {
  while (settled_ < joined_.size()) {
    const CableEnd a = joined_[settled_++];
    const auto b = survey_.peer(a);
    if (!b) continue;
    // An adapter was asked through the very cable: what it says of the port cannot be Down.
    const auto is_down = [this](CableEnd end) {
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

void Explorer::settle(CableEnd up, CableEnd down) {
  reread_end(down, [this, up, down] {
    reread_end(up, [this, up, down] {
      if (survey_.peer(up) != down) return;
      if (survey_.is_up(up) && survey_.is_up(down)) return;
      if (survey_.is_up(up)) return verify_twin(up, down);
      unlink(up);
      on_contradiction(up);
      if (survey_.is_up(down)) probe(down);
    });
  });
}

void Explorer::reread_end(CableEnd end, std::function<void()> then) {
  const auto route = route_to(end.node);
  const bool answers_for_itself = survey_.node(end.node).info.is_switch() || end.node == 0;
  if (!route || !answers_for_itself) return then();
  ask({.route = *route, .attribute = AttributeId::PortInfo, .modifier = end.port.value()},
      [this, end, then = std::move(then)](const Result<SmpReply>& reply) {
        if (answered(reply)) {
          if (const auto info = decode_port_info(reply->data)) survey_.port(end).info = *info;
        }
        then();
      });
}

void Explorer::verify_twin(CableEnd up, CableEnd down) {
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
      oddities_.twins.push_back({guid, std::nullopt, up});
      return;
    }
    on_contradiction(up);
    on_node_info(*route, up, reply);
  });
}

}  // namespace smd
