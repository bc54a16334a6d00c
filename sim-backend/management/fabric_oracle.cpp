// Reading the registers, and what each change of one makes stale.
#include "sim-backend/management/fabric_oracle.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim-backend/agents/forwarding.h"
#include "sim-backend/agents/node_state.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::uint64_t kAllDropped = ~std::uint64_t{0};

PortNum number(unsigned port) { return PortNum{static_cast<std::uint8_t>(port)}; }

// A row of 16 nibbles with 15 for each VL that is not in use: 0, 1, 2, 4, 8 or 15 are.
std::uint64_t drop_unused(std::uint64_t row, unsigned vls) {
  if (vls == 0) return kAllDropped;
  constexpr std::uint64_t kLowest = 0x1111111111111111;
  std::uint64_t dropped = 0;
  for (unsigned bit = 0; bit < 4; ++bit) {
    if (vls <= 1u << bit) dropped |= row >> bit & kLowest;
  }
  return row | dropped * 15;
}

}  // namespace

FabricOracle::FabricOracle(const SimFabric& fabric) : fabric_(fabric) { rebuild(); }

void FabricOracle::rebuild() {
  switches_.clear();
  hosts_.clear();
  ports_.clear();
  dirty_lids_.clear();
  loops_.clear();
  owner_.clear();
  arrivals_.clear();
  dirty_.clear();
  connectivity_ = {};
  links_changed_ = graph_changed_ = true;
  ordered_ = false;
  taken_rows_.clear();
  channels_ = 0;
  changed_channels_.clear();

  const FabricSpec& spec = fabric_.spec();
  place_.assign(spec.nodes.size(), 0);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const unsigned ports = spec.nodes[n].num_ports();
    if (spec.nodes[n].type == NodeType::Switch) {
      place_[n] = static_cast<std::uint32_t>(switches_.size());
      Switch& sw = switches_.emplace_back();
      sw.node = n;
      sw.ports = ports;
      sw.first = static_cast<std::uint32_t>(ports_.size());
      sw.turns.assign(std::size_t{ports + 1} * (ports + 1), 0);
      sw.sl_to_vl.assign(sw.turns.size(), kAllDropped);
      ports_.resize(ports_.size() + ports + 1);
    } else {
      place_[n] = static_cast<std::uint32_t>(hosts_.size());
      for (unsigned p = 1; p <= ports; ++p) {
        hosts_.push_back({.node = n, .port = static_cast<std::uint8_t>(p)});
      }
    }
  }
  outcomes_.assign(ports_.size(), Outcome::Unknown);
  is_changed_.assign(ports_.size(), false);
  order_.assign(ports_.size() * kVls, 0);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const auto port = static_cast<std::uint8_t>(p);
      port_at(n, port).peer = peer_of(n, port);
    }
  }
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) read_ports(n);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    read_sl_to_vl(s);
    read_table(s);
  }
}

void FabricOracle::update(std::uint32_t node, FabricChange what) {
  if (what == FabricChange::Wiring && !wired_as_known(node)) return rebuild();
  const bool is_switch = fabric_.spec().nodes[node].type == NodeType::Switch;
  switch (what) {
    case FabricChange::Routes:
      if (is_switch) read_table(place_[node]);
      return;
    case FabricChange::SlToVl:
      if (is_switch) read_sl_to_vl(place_[node]);
      return;
    case FabricChange::Congestion:
      return;
    case FabricChange::Wiring:
    case FabricChange::Ports:
      read_ports(node);
      if (!is_switch) return;
      read_sl_to_vl(place_[node]);
      // A node that was off comes back with empty tables.
      if (what == FabricChange::Wiring) read_table(place_[node]);
      return;
  }
}

FabricOracle::Peer FabricOracle::peer_of(std::uint32_t node, std::uint8_t port) const {
  const FabricSpec& spec = fabric_.spec();
  const PortSpec& end = spec.nodes[node].ports[port];
  if (end.peer_node == kNoNode) return {};
  const std::uint8_t far = end.peer_port.value();
  if (spec.nodes[end.peer_node].type == NodeType::Switch) {
    return {Kind::Switch, place_[end.peer_node], far};
  }
  return {Kind::Host, place_[end.peer_node] + far - 1, far};
}

FabricOracle::Port& FabricOracle::port_at(std::uint32_t node, std::uint8_t port) {
  if (fabric_.spec().nodes[node].type != NodeType::Switch) {
    return hosts_[place_[node] + port - 1].link;
  }
  return ports_[switches_[place_[node]].first + port];
}

bool FabricOracle::wired_as_known(std::uint32_t node) const {
  auto& self = const_cast<FabricOracle&>(*this);
  for (unsigned p = 1; p <= fabric_.spec().nodes[node].num_ports(); ++p) {
    const auto port = static_cast<std::uint8_t>(p);
    if (self.port_at(node, port).peer != peer_of(node, port)) return false;
  }
  return true;
}

/// Also the far ends: whether data may leave them depends on the states here.
void FabricOracle::read_ports(std::uint32_t node) {
  const FabricSpec& spec = fabric_.spec();
  for (unsigned p = 1; p <= spec.nodes[node].num_ports(); ++p) {
    const auto port = static_cast<std::uint8_t>(p);
    read_port(node, port);
    const PortSpec& end = spec.nodes[node].ports[p];
    if (end.peer_node != kNoNode) read_port(end.peer_node, end.peer_port.value());
  }
}

void FabricOracle::read_port(std::uint32_t node, std::uint8_t number_here) {
  const bool is_switch = fabric_.spec().nodes[node].type == NodeType::Switch;
  const PortInfo here = fabric_.port_info(node, number(number_here));
  if (!is_switch) {
    Host& host = hosts_[place_[node] + number_here - 1];
    if (host.lid != here.lid.value() || host.lmc != here.lmc) {
      set_lid(host, here.lid.value(), here.lmc);
    }
  }
  Port& port = port_at(node, number_here);
  const bool up = fabric_.link_up(node, number(number_here));
  bool carries = false;
  if (up) {
    const PortSpec& end = fabric_.spec().nodes[node].ports[number_here];
    const PortState far = fabric_.port_info(end.peer_node, end.peer_port).state();
    carries =
        here.state() == PortState::Active && (far == PortState::Armed || far == PortState::Active);
  }
  if (up != port.up) {
    links_changed_ = true;
    port.up = up;
    // What comes in here may be on other VLs than the rest of what leaves.
    if (is_switch) {
      const Switch& at = switches_[place_[node]];
      for (unsigned out = 1; out <= at.ports; ++out) mark_channel(at.first + out);
    }
  }
  if (carries == port.carries) return;
  if (!is_switch) {
    on_source(hosts_[place_[node] + number_here - 1], carries);
    return;
  }
  port.carries = carries;
  mark_through(place_[node], number_here);
  if (port.peer.kind != Kind::Switch) return;
  channels_ += carries ? 1u : ~std::uint64_t{0};
  const Switch& at = switches_[place_[node]];
  mark_channel(at.first + number_here);
  for (unsigned in = 1; in <= at.ports; ++in) mark_arriving(at, static_cast<std::uint8_t>(in));
}

void FabricOracle::set_lid(Host& host, std::uint16_t lid, std::uint8_t lmc) {
  const auto self = static_cast<std::uint32_t>(&host - hosts_.data());
  const auto each = [](const Host& of, auto act) {
    if (of.lid == 0 || !is_unicast(Lid{of.lid})) return;
    const unsigned first = of.lid & ~((1u << of.lmc) - 1);
    for (unsigned l = first; l < first + (1u << of.lmc); ++l) act(static_cast<std::uint16_t>(l));
  };
  each(host, [&](std::uint16_t l) {
    if (owner_[l] != self) return;
    owner_[l] = kNobody;
    mark(l);
  });
  host.lid = lid;
  host.lmc = lmc;
  each(host, [&](std::uint16_t l) {
    grow(std::size_t{l} + 1);
    mark(l);
  });
  // Of several that claim a LID the first has it.
  for (std::uint32_t h = 0; h < hosts_.size(); ++h) {
    each(hosts_[h], [&](std::uint16_t l) {
      if (l < owner_.size()) owner_[l] = std::min(owner_[l], h);
    });
  }
}

/// Tables of random entries have to be asked about every LID that somebody may use.
void FabricOracle::grow(std::size_t lids) {
  if (lids <= owner_.size()) return;
  owner_.resize(lids, kNobody);
  arrivals_.resize(lids, 0);
  dirty_.resize(lids, false);
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (fabric_.node_state(switches_[s].node).options.rft_cap > 0) read_table(s);
  }
}

void FabricOracle::read_table(std::uint32_t sw) {
  Switch& at = switches_[sw];
  const NodeState& state = fabric_.node_state(at.node);
  grow(state.lft.size());
  for (std::size_t lid = 1; lid < owner_.size(); ++lid) {
    const Lid which{static_cast<std::uint16_t>(lid)};
    const std::uint8_t egress = find_route(state, which).value();
    if (egress != entry(at, lid)) change_entry(sw, which.value(), egress);
  }
}

/// `turns` counts, for each way through a switch, the LIDs whose entries lead that way: the entry
/// here and the one of the switch before.
void FabricOracle::change_entry(std::uint32_t sw, std::uint16_t lid, std::uint8_t egress) {
  Switch& at = switches_[sw];
  const auto count = [&](Switch& where, std::uint8_t in, std::uint8_t out, int by) {
    if (out == 0 || out > where.ports || out == in) return;
    std::uint32_t& turns = where.turns[turn(where, in, out)];
    const bool was = turns > 0;
    turns = static_cast<std::uint32_t>(static_cast<int>(turns) + by);
    if (was == (turns > 0)) return;
    count_row(where.sl_to_vl[turn(where, in, out)], by);
    mark_arriving(where, in);
  };
  const auto count_all = [&](int by) {
    const std::uint8_t out = entry(at, lid);
    for (unsigned q = 1; q <= at.ports; ++q) {
      const Peer& before = ports_[at.first + q].peer;
      if (before.kind != Kind::Switch) continue;
      if (entry(switches_[before.index], lid) != before.port) continue;
      count(at, static_cast<std::uint8_t>(q), out, by);
    }
    if (out == 0 || out > at.ports) return;
    const Peer& after = ports_[at.first + out].peer;
    if (after.kind != Kind::Switch || after.index == sw) return;  // itself: counted above
    Switch& there = switches_[after.index];
    count(there, after.port, entry(there, lid), by);
  };
  count_all(-1);
  if (lid >= at.table.size()) at.table.resize(std::size_t{lid} + 1, 0xff);
  at.table[lid] = egress;
  count_all(+1);
  mark(lid);
}

void FabricOracle::read_sl_to_vl(std::uint32_t sw) {
  Switch& at = switches_[sw];
  const NodeState& state = fabric_.node_state(at.node);
  for (unsigned out = 1; out <= at.ports; ++out) {
    const unsigned vls = data_vls(state.ports[out].info.operational_vls);
    bool sl0_changed = false;
    for (unsigned in = 0; in <= at.ports; ++in) {
      const std::uint64_t row = drop_unused(state.sl_to_vl_row(number(in), number(out)), vls);
      const std::size_t which =
          turn(at, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out));
      const std::uint64_t known = std::exchange(at.sl_to_vl[which], row);
      if (known == row) continue;
      sl0_changed = sl0_changed || ((known & 15) == 15) != ((row & 15) == 15);
      if (at.turns[which] > 0) {
        count_row(known, -1);
        count_row(row, 1);
      }
      mark_channel(at.first + out);
      if (in != 0) mark_arriving(at, static_cast<std::uint8_t>(in));
    }
    if (sl0_changed) mark_through(sw, static_cast<std::uint8_t>(out));
  }
}

void FabricOracle::mark(std::uint16_t lid) {
  if (dirty_[lid]) return;
  dirty_[lid] = true;
  dirty_lids_.push_back(lid);
}

void FabricOracle::mark_through(std::uint32_t sw, std::uint8_t out) {
  const Switch& at = switches_[sw];
  for (std::size_t lid = 1; lid < at.table.size(); ++lid) {
    if (at.table[lid] == out) mark(static_cast<std::uint16_t>(lid));
  }
}

/// Dependencies of the channel that begins at the port may have come or gone.
void FabricOracle::mark_channel(std::uint32_t port) {
  graph_changed_ = true;
  if (is_changed_[port]) return;
  is_changed_[port] = true;
  changed_channels_.push_back(port);
}

/// Of the channel that ends here.
void FabricOracle::mark_arriving(const Switch& at, std::uint8_t in) {
  const Peer& from = ports_[at.first + in].peer;
  if (from.kind == Kind::Switch) mark_channel(switches_[from.index].first + from.port);
}

void FabricOracle::count_row(std::uint64_t row, int by) {
  if (row == kAllDropped) return;
  std::uint64_t& turns = taken_rows_[row];
  turns += static_cast<std::uint64_t>(by);
  if (turns == 0) taken_rows_.erase(row);
}

std::string FabricOracle::name(std::uint32_t sw, std::uint8_t port) const {
  return fmt::format("{}:{}", fabric_.spec().nodes[switches_[sw].node].description, port);
}

double connectivity_level(const SimFabric& fabric) {
  return FabricOracle(fabric).connectivity().level();
}

double deadlock_level(const SimFabric& fabric) { return FabricOracle(fabric).deadlock().level(); }

std::string find_shared_lid(const SimFabric& fabric) {
  const FabricSpec& spec = fabric.spec();
  std::map<std::uint16_t, std::string> owners;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    bool found = false;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports() && !found; ++p) {
      if (!fabric.link_up(n, number(p))) continue;
      found = is_switch;  // one LID for all of its ports
      const PortInfo info = fabric.port_info(n, number(is_switch ? 0 : p));
      if (info.lid == kUnassignedLid) continue;
      for (unsigned l = info.lid.value(); l < info.lid.value() + (1u << info.lmc); ++l) {
        const std::string& here = spec.nodes[n].description;
        const auto [it, fresh] = owners.emplace(static_cast<std::uint16_t>(l), here);
        if (!fresh) return fmt::format("lid {}: {} and {}", l, it->second, here);
      }
    }
  }
  return "";
}

std::string find_cycle(const SimFabric& fabric) { return FabricOracle(fabric).find_cycle(); }

std::string find_loop(const SimFabric& fabric) { return FabricOracle(fabric).find_loop(); }

}  // namespace smd::sim
