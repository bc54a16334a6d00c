#include "sim-backend/adaptive/candidate_paths.h"

#include <algorithm>
#include <utility>

namespace smd::sim {

std::uint32_t CandidatePaths::places() const {
  const bool by_group =
      shape_->kind() == ShapeKind::Dragonfly && options_.via == IntermediateKind::ByGroup;
  return by_group ? shape_->groups() : shape_->routers();
}

std::uint32_t CandidatePaths::place_of(Router router) const {
  const bool by_group =
      shape_->kind() == ShapeKind::Dragonfly && options_.via == IntermediateKind::ByGroup;
  return by_group ? shape_->group(router) : router;
}

bool CandidatePaths::allows(IntermediateSet among,
                            Router source,
                            Router to,
                            std::uint32_t via) const {
  if (among != IntermediateSet::All && via == place_of(source)) return false;
  return among != IntermediateSet::Others || via != place_of(to);
}

std::uint32_t CandidatePaths::draw_via(IntermediateSet among,
                                       Router source,
                                       Router to,
                                       std::uint64_t draw) const {
  // Those that are left out, the lower one first: the drawn number steps over them.
  std::uint32_t low = kNowhere, high = kNowhere;
  if (among != IntermediateSet::All) low = place_of(source);
  if (among == IntermediateSet::Others && place_of(to) != low) high = place_of(to);
  if (high < low) std::swap(low, high);
  const std::uint32_t count = places() - (low != kNowhere) - (high != kNowhere);
  if (count == 0) return kNowhere;
  auto via = static_cast<std::uint32_t>((draw >> 32) * count >> 32);
  if (low != kNowhere && via >= low) ++via;
  if (high != kNowhere && via >= high) ++via;
  return via;
}

bool CandidatePaths::is_at_via(Router at, const PathState& state) const {
  return place_of(at) == state.via;
}

void CandidatePaths::list(
    Router at, Router from, Router to, const PathState& state, CandidateSet& out) const {
  out.all.clear();
  out.state = state;
  const bool turned = state.phase == PathPhase::Toward && is_at_via(at, state);
  if (turned) out.state.phase = PathPhase::Past;
  if (out.state.phase != PathPhase::Toward && at == to) return;
  if (options_.any_dimension) return list_any_dimension(at, to, out);
  if (shape_->kind() == ShapeKind::Butterfly) {
    return list_butterfly(at, out.state.phase == PathPhase::Toward ? state.via : to, out);
  }
  list_dragonfly(at, from, to, turned, out);
}

/// Dimensions in their order.
void CandidatePaths::list_butterfly(Router at, Router target, CandidateSet& out) const {
  std::size_t d = 0;
  while (shape_->coordinate(at, d) == shape_->coordinate(target, d)) ++d;
  const bool second = out.state.phase == PathPhase::Past && !options_.single_vl;
  for (const std::uint8_t port : shape_->cables(at, d, shape_->coordinate(target, d))) {
    out.all.push_back({.next = shape_->peer(at, port),
                       .gate = 0,
                       .port = port,
                       .vl = second ? std::uint8_t{1} : std::uint8_t{0},
                       .is_global = false,
                       .own = false,
                       .astray = false,
                       .dimension = 0});
  }
}

/// Every hop has a VL of its own, so `is_global` counts all of them.
void CandidatePaths::list_any_dimension(Router at, Router to, CandidateSet& out) const {
  for (std::size_t d = 0; d < shape_->sides().size(); ++d) {
    const std::uint32_t here = shape_->coordinate(at, d), wanted = shape_->coordinate(to, d);
    if (here == wanted) continue;
    for (std::uint32_t x = 0; x < shape_->sides()[d]; ++x) {
      const bool may_go_astray = options_.goes_astray && x != here && (out.state.via >> d & 1) == 0;
      if (x != wanted && !may_go_astray) continue;
      for (const std::uint8_t port : shape_->cables(at, d, x)) {
        out.all.push_back({.next = shape_->peer(at, port),
                           .gate = static_cast<std::uint16_t>(d),
                           .port = port,
                           .vl = options_.single_vl ? std::uint8_t{0} : out.state.globals,
                           .is_global = true,
                           .own = false,
                           .astray = x != wanted,
                           .dimension = static_cast<std::uint8_t>(d)});
      }
    }
  }
}

std::uint8_t CandidatePaths::local_vl(Router at, const PathState& state) const {
  if (options_.single_vl) return 0;
  if (options_.via == IntermediateKind::ByGroup) {
    if (!options_.diverts) return state.globals;
    return static_cast<std::uint8_t>(state.globals == 0 ? state.diverted : state.globals + 1);
  }
  if (state.phase != PathPhase::Past) return state.globals;
  return shape_->group(at) == shape_->group(state.via) ? 2 : 3;
}

std::uint8_t CandidatePaths::global_vl(const PathState& state) const {
  if (options_.single_vl) return 0;
  if (options_.via == IntermediateKind::ByGroup) return state.globals;
  return state.phase == PathPhase::Past ? 1 : 0;
}

void CandidatePaths::add_local(Router at,
                               Router next,
                               std::uint16_t gate,
                               CandidateSet& out) const {
  for (const std::uint8_t port : shape_->cables(at, 1, shape_->coordinate(next, 1))) {
    out.all.push_back({.next = next,
                       .gate = gate,
                       .port = port,
                       .vl = local_vl(at, out.state),
                       .is_global = false,
                       .own = false,
                       .astray = false,
                       .dimension = 0});
  }
}

/// Within the group to a router with a cable to the group that is wanted, over it, and on within
/// that one.
void CandidatePaths::list_dragonfly(
    Router at, Router from, Router to, bool turned, CandidateSet& out) const {
  const PathState& state = out.state;
  const bool toward = state.phase == PathPhase::Toward;
  const Router target = toward && options_.via == IntermediateKind::ByRouter ? state.via : to;
  const std::uint32_t group =
      toward && options_.via == IntermediateKind::ByGroup ? state.via : shape_->group(target);
  if (shape_->group(at) == group) return add_local(at, target, 0, out);
  const auto gateways = shape_->gateways(shape_->group(at), group);
  // Who came to a gateway by a local cable takes it.
  const bool bound = from != kNowhere && !turned && shape_->group(from) == shape_->group(at);
  const bool has_own =
      std::ranges::any_of(gateways, [at](const Gateway& g) { return g.router == at; });
  std::uint16_t gate = 0;
  for (std::size_t i = 0; i < gateways.size(); ++i) {
    const Gateway& gateway = gateways[i];
    if (gateway.router == at) {
      out.all.push_back({.next = gateway.far,
                         .gate = gate++,
                         .port = gateway.port,
                         .vl = global_vl(state),
                         .is_global = true,
                         .own = true,
                         .astray = false,
                         .dimension = 0});
      continue;
    }
    if (bound && has_own) continue;
    // Of several cables of one router it chooses when the packet is there.
    if (i > 0 && gateways[i - 1].router == gateway.router) continue;
    add_local(at, gateway.router, gate++, out);
  }
}

unsigned CandidatePaths::hops(Router at, Router to, const PathState& state) const {
  CandidateSet next;
  PathState now = state;
  Router from = kNowhere;
  unsigned count = 0;
  for (;; ++count) {
    list(at, from, to, now, next);
    if (next.all.empty()) return count;
    const auto own = std::ranges::find_if(next.all, [](const Candidate& c) { return c.own; });
    const Candidate& taken = own != next.all.end() ? *own : next.all.front();
    now = after(next, taken);
    from = std::exchange(at, taken.next);
  }
}

}  // namespace smd::sim
