// Where packets end up.
#include <fmt/core.h>

#include <numeric>

#include "sim-backend/management/fabric_oracle.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kStays = 0;
constexpr std::uint32_t kNobody = UINT32_MAX;

}  // namespace

std::uint32_t FabricOracle::owner(std::uint16_t lid) const {
  return lid < owner_.size() ? owner_[lid] : kNobody;
}

/// The port that data for the LID leaves by; kStays when it is discarded or has arrived.
std::uint8_t FabricOracle::leave(Place at, std::uint16_t lid) const {
  const Switch& sw = switches_[at.sw];
  const std::uint8_t out = entry(sw, lid);
  if (out == 0 || out > sw.ports || out == at.in) return kStays;
  if (!ports_[sw.first + out].carries) return kStays;
  constexpr std::uint64_t kSl0 = 15;
  return (sw.sl_to_vl[turn(sw, at.in, out)] & kSl0) == 15 ? kStays : out;
}

/// Remembers the outcome of every place on the way.
FabricOracle::Outcome FabricOracle::follow(Place at, std::uint16_t lid) {
  const std::size_t from = touched_.size();
  Outcome outcome = Outcome::Unknown;
  while (outcome == Outcome::Unknown) {
    const std::uint32_t here = switches_[at.sw].first + at.in;
    if (outcomes_[here] != Outcome::Unknown) {
      outcome = outcomes_[here] == Outcome::Walking ? Outcome::Loops : outcomes_[here];
      if (outcomes_[here] == Outcome::Walking) loops_[lid] = at;
      break;
    }
    outcomes_[here] = Outcome::Walking;
    touched_.push_back(here);
    const std::uint8_t out = leave(at, lid);
    if (out == kStays) {
      outcome = Outcome::Lost;
      break;
    }
    const Peer& peer = ports_[switches_[at.sw].first + out].peer;
    if (peer.kind == Kind::Host) {
      outcome = peer.index == owner(lid) ? Outcome::Arrives : Outcome::Lost;
    } else {
      at = {peer.index, peer.port};
    }
  }
  for (std::size_t i = from; i < touched_.size(); ++i) outcomes_[touched_[i]] = outcome;
  return outcome;
}

void FabricOracle::refresh_lid(std::uint16_t lid) {
  connectivity_.connected -= arrivals_[lid];
  arrivals_[lid] = 0;
  loops_.erase(lid);
  const std::uint32_t to = owner(lid);
  const bool counts = to != kNobody && hosts_[to].lid == lid;
  for (const Host& from : hosts_) {
    if (!counts) break;
    if (!from.link.carries || from.node == hosts_[to].node) continue;
    const Peer& peer = from.link.peer;
    const bool arrives = peer.kind == Kind::Host
                             ? peer.index == to
                             : follow({peer.index, peer.port}, lid) == Outcome::Arrives;
    if (arrives) ++arrivals_[lid];
  }
  connectivity_.connected += arrivals_[lid];
  // Loops are looked for everywhere: a switch's own packets enter at its port 0.
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const std::uint8_t out = leave({s, 0}, lid);
    if (out == kStays) continue;
    const Peer& peer = ports_[switches_[s].first + out].peer;
    if (peer.kind == Kind::Switch) (void)follow({peer.index, peer.port}, lid);
  }
  for (const std::uint32_t place : touched_) outcomes_[place] = Outcome::Unknown;
  touched_.clear();
}

void FabricOracle::refresh_routes() {
  for (const std::uint16_t lid : dirty_lids_) {
    dirty_[lid] = false;
    refresh_lid(lid);
  }
  dirty_lids_.clear();
}

/// A host that begins or ceases to send changes nobody else's routes.
void FabricOracle::on_source(const Host& host, bool live) {
  Host& from = hosts_[static_cast<std::size_t>(&host - hosts_.data())];
  from.link.carries = live;
  const Peer& peer = from.link.peer;
  for (const Host& to : hosts_) {
    if (to.lid == 0 || to.node == from.node || to.lid >= owner_.size() || dirty_[to.lid]) continue;
    if (owner_[to.lid] != static_cast<std::uint32_t>(&to - hosts_.data())) continue;
    const bool arrives = peer.kind == Kind::Host
                             ? peer.index == owner_[to.lid]
                             : follow({peer.index, peer.port}, to.lid) == Outcome::Arrives;
    for (const std::uint32_t place : touched_) outcomes_[place] = Outcome::Unknown;
    touched_.clear();
    if (!arrives) continue;
    arrivals_[to.lid] += live ? 1u : ~0u;
    connectivity_.connected += live ? 1u : ~std::uint64_t{0};
  }
}

void FabricOracle::count_possible() {
  // Islands by union and find over switches, then hosts.
  std::vector<std::uint32_t> island(switches_.size() + hosts_.size());
  std::iota(island.begin(), island.end(), 0u);
  const auto find = [&](std::uint32_t at) {
    while (island[at] != at) at = island[at] = island[island[at]];
    return at;
  };
  const auto join = [&](std::uint32_t at, const Port& port) {
    if (!port.up || port.peer.kind == Kind::Nothing) return;
    const auto base =
        port.peer.kind == Kind::Host ? static_cast<std::uint32_t>(switches_.size()) : 0u;
    island[find(at)] = find(base + port.peer.index);
  };
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    for (unsigned p = 1; p <= switches_[s].ports; ++p) join(s, ports_[switches_[s].first + p]);
  }
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    join(static_cast<std::uint32_t>(switches_.size()) + h, hosts_[h].link);
  }
  // Ports of one adapter are no pair.
  std::map<std::uint32_t, std::uint64_t> by_island, by_node;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> by_both;
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    const std::uint32_t at = find(static_cast<std::uint32_t>(switches_.size()) + h);
    ++by_island[at];
    ++by_node[hosts_[h].node];
    ++by_both[{at, hosts_[h].node}];
  }
  const std::uint64_t all = hosts_.size();
  connectivity_.total = all * all;
  connectivity_.possible = 0;
  for (const auto& [at, count] : by_island) connectivity_.possible += count * count;
  for (const auto& [at, count] : by_node) connectivity_.total -= count * count;
  for (const auto& [at, count] : by_both) connectivity_.possible -= count * count;
}

const Connectivity& FabricOracle::connectivity() {
  refresh_routes();
  if (links_changed_) count_possible();
  links_changed_ = false;
  return connectivity_;
}

std::string FabricOracle::find_loop() {
  refresh_routes();
  if (loops_.empty()) return "";
  const auto& [lid, start] = *loops_.begin();
  std::string text = fmt::format("lid {}:", lid);
  Place at = start;
  do {
    const std::uint8_t out = leave(at, lid);
    text += fmt::format(" {} ->", name(at.sw, out));
    const Peer& peer = ports_[switches_[at.sw].first + out].peer;
    at = {peer.index, peer.port};
  } while (at.sw != start.sw || at.in != start.in);
  return text + " " + name(start.sw, leave(start, lid));
}

}  // namespace smd::sim
