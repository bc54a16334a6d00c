#include "sim-backend/adaptive/relation.h"

namespace smd::sim {
namespace {

struct Packet {
  Router to = 0;
  PathState state;
};

std::uint64_t pack(const Packet& packet) {
  return std::uint64_t{packet.state.pack()} << 48 | std::uint64_t{packet.state.via} << 24 |
         packet.to;
}

Packet unpack(std::uint64_t state) {
  constexpr std::uint64_t kRouter = (1 << 24) - 1;
  return {.to = static_cast<Router>(state & kRouter),
          .state = PathState::unpack(static_cast<std::uint32_t>(state >> 24 & kRouter),
                                     static_cast<std::uint8_t>(state >> 48))};
}

}  // namespace

RuleRelation::RuleRelation(const Fabric& fabric, const CandidatePaths& paths, const RuleSpec& rule)
    : fabric_(fabric), paths_(paths), rule_(rule) {}

void RuleRelation::starts(const std::function<void(const RelationPlace&)>& begin) const {
  const Shape& shape = paths_.shape();
  std::vector<PortIdx> entry(shape.routers(), kNone<PortIdx>);
  for (HostNum host = 0; host < shape.hosts(); ++host) {
    const Router router = shape.router_of_host(host);
    entry[router] =
        fabric_.port_of(NodeIdx{shape.node_of(router)}, PortNum{shape.port_of_host(host)});
  }
  for (Router source = 0; source < shape.routers(); ++source) {
    for (Router to = 0; to < shape.routers(); ++to) {
      if (entry[source] == kNone<PortIdx> || entry[to] == kNone<PortIdx>) continue;
      const auto start = [&](const PathState& state) {
        begin({.in = entry[source], .vl = Vl{0}, .state = pack({to, state})});
      };
      if (rule_.rule != RuleKind::Valiant) start({});
      if (rule_.rule == RuleKind::Minimal || paths_.options().any_dimension) continue;
      for (std::uint32_t via = 0; via < paths_.places(); ++via) {
        if (!paths_.allows(rule_.among, source, to, via)) continue;
        start({.via = via, .phase = PathPhase::Toward});
      }
    }
  }
}

void RuleRelation::add_moves(Router at,
                             Router from,
                             Router to,
                             const PathState& state,
                             std::vector<RelationStep>& out) const {
  const NodeIdx node{paths_.shape().node_of(at)};
  CandidateSet next;
  paths_.list(at, from, to, state, next);
  for (const Candidate& each : next.all) {
    out.push_back({.out = fabric_.port_of(node, PortNum{each.port}),
                   .vl = Vl{each.vl},
                   .state = pack({to, CandidatePaths::after(next, each)})});
  }
}

bool RuleRelation::moves(const RelationPlace& place, std::vector<RelationStep>& out) const {
  const Shape& shape = paths_.shape();
  const Router at = shape.router_of(fabric_.node_of[place.in].value());
  const Router from = shape.peer(at, fabric_.number_of(place.in).value());
  const auto [to, state] = unpack(place.state);
  add_moves(at, from, to, state, out);
  if (out.empty()) return true;
  if (rule_.rule != RuleKind::Progressive || shape.kind() != ShapeKind::Dragonfly) return false;
  // At the second router of a minimal way it may turn off to any place.
  if (state.phase != PathPhase::Minimal || state.globals > 0 || from == kNowhere ||
      shape.group(at) == shape.group(to)) {
    return false;
  }
  for (std::uint32_t via = 0; via < paths_.places(); ++via) {
    if (!paths_.allows(rule_.among, from, to, via)) continue;
    add_moves(at, kNowhere, to, {.via = via, .phase = PathPhase::Toward, .diverted = true}, out);
  }
  return false;
}

}  // namespace smd::sim
