// What every single change does to a subnet, engine by engine: each cable between switches and each
// switch is lost and comes back, and the transitions are computed as the manager computes them,
// without any SMP. Kind, what is blocked, entries, phases, processor time.
//
//   change_survey --fabric 'fat-tree:k=8,levels=3!24' --engine itb-vl --sample 20
//
// FABRIC!N: without N cables between switches, drawn at random.
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/command_line.h"
#include "smd/base/rng.h"
#include "smd/manager/plan_job.h"
#include "smd/manager/route_job.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {
namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Cable {
  std::uint32_t node = 0;
  PortNum port;
};

std::vector<Cable> list_cables(const sim::FabricSpec& spec) {
  std::vector<Cable> cables;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const sim::PortSpec& port = spec.nodes[n].ports[p];
      if (port.peer_node == sim::kNoNode || spec.nodes[port.peer_node].type != NodeType::Switch ||
          std::pair(port.peer_node, port.peer_port.value()) < std::pair(n, std::uint8_t(p)))
        continue;
      cables.push_back({n, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return cables;
}

void cut(sim::FabricSpec& spec, std::uint32_t node, unsigned number) {
  sim::PortSpec& port = spec.nodes[node].ports[number];
  if (port.peer_node == sim::kNoNode) return;
  sim::PortSpec& peer = spec.nodes[port.peer_node].ports[port.peer_port.value()];
  peer.peer_node = port.peer_node = sim::kNoNode;
}

/// What the manager still reaches.
sim::FabricSpec keep_reached(const sim::FabricSpec& spec) {
  std::vector<char> reached(spec.nodes.size(), 0);
  std::vector<std::uint32_t> open{spec.sm_node};
  reached[spec.sm_node] = 1;
  while (!open.empty()) {
    const std::uint32_t n = open.back();
    open.pop_back();
    for (const sim::PortSpec& port : spec.nodes[n].ports) {
      if (port.peer_node == sim::kNoNode || reached[port.peer_node]) continue;
      reached[port.peer_node] = 1;
      open.push_back(port.peer_node);
    }
  }
  sim::FabricSpec out = spec;
  out.nodes.clear();
  std::vector<std::uint32_t> number(spec.nodes.size(), sim::kNoNode);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!reached[n]) continue;
    number[n] = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(spec.nodes[n]);
  }
  for (sim::NodeSpec& node : out.nodes) {
    for (sim::PortSpec& port : node.ports) {
      if (port.peer_node != sim::kNoNode) port.peer_node = number[port.peer_node];
    }
  }
  out.sm_node = number[spec.sm_node];
  return out;
}

using Subnet = std::shared_ptr<const ActiveSubnet>;

/// What is known of the switches, and what hosts were told.
struct Held {
  ConfirmedTables tables;
  ConfirmedSlToVl rows;
  AdvertisedRoutes advertised;
  bool marked = false;  // routes have needed certain rows

  void confirm(const ActiveSubnet& subnet) {
    const Fabric& fabric = subnet.fabric();
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
      for (std::size_t b = 0; b < subnet.routing->lft.blocks(); ++b) {
        LftBlock block;
        std::ranges::copy(subnet.routing->lft.block(sw, b), block.begin());
        tables.confirm(guid, b, block);
      }
    }
  }

  void confirm_rows(const ActiveSubnet& subnet, const SlToVlMaps& maps) {
    const Fabric& fabric = subnet.fabric();
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
      for_each_turn(fabric, sw, [&](PortNum in, PortNum out) {
        rows.confirm(guid, in, out, maps.row(sw, in, out));
      });
    }
  }
};

struct Options {
  std::vector<std::string> fabrics, engines;
  unsigned sample = 0;
  unsigned seconds = 0;
  std::uint64_t seed = 1;
  bool free = false;  // auto asks no others
  unsigned auto_vls = EngineOptions{}.auto_vls, max_vls = RouteJob{}.max_vls;
  bool restart = false, soon = false, cases = false, no_switches = false, no_cables = false;
};

/// The snapshot as a manager would find it: ports that were not up with `before` wait for it.
std::shared_ptr<const Fabric> find_fabric(const sim::FabricSpec& spec,
                                          const Fabric* before,
                                          Lid top) {
  auto fabric = std::make_shared<Fabric>(*sim::build_snapshot(keep_reached(spec)));
  for (const PortIdx port : fabric->peer.indices()) {
    if (before == nullptr || fabric->peer[port] == kNone<PortIdx>) continue;
    const auto node = before->find_node(fabric->node_guid[fabric->node_of[port]]);
    const bool was_up =
        node && before->peer[before->port_of(*node, fabric->number_of(port))] != kNone<PortIdx>;
    if (!was_up)
      fabric->port_info[port].port_state = static_cast<std::uint8_t>(PortState::Initialize);
  }
  for (const SwitchIdx sw : fabric->switch_node.indices()) {
    const bool is_new =
        before != nullptr && !before->find_node(fabric->node_guid[fabric->switch_node[sw]]);
    fabric->switch_info[sw].linear_fdb_top = is_new ? std::uint16_t{0} : top.value();
  }
  return fabric;
}

struct Routing {
  Subnet subnet;
  double ms = 0;
  std::string error;
};

Routing route(const Options& options,
              std::shared_ptr<const Fabric> fabric,
              LidBook& book,
              const std::string& engine,
              Subnet in_force,
              bool marked) {
  auto assigned = assign_lids(*fabric, book, {}).value();
  book = assigned.book;
  RouteJob job{
      .fabric = fabric,
      .lids = assigned.map,
      .engine = engine,
      .max_vls = options.max_vls,
      .engine_options = {.auto_vls = options.auto_vls,
                         .auto_changes = options.free ? AutoChanges::Free : AutoChanges::Any},
      .orientation = {},
      .in_force = in_force,
      .found = {}};
  if (in_force) job.orientation = in_force->routing->orientation;
  const double began = cpu_ms();
  Routed routed = compute_routed(job);
  Routing out{.subnet = {}, .ms = cpu_ms() - began, .error = {}};
  if (routed.error) {
    out.error = routed.error->context;
    return out;
  }
  SlToVlMaps rows;
  if (marked || routed.tables.vls > 1 || !routed.tables.sl_to_vl.empty())
    rows = choose_rows(*fabric, routed.tables, {}, {}, 15);
  SweepReport sweep;
  sweep.fabric = fabric;
  out.subnet =
      std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = std::move(sweep),
                                                        .lids = std::move(job.lids),
                                                        .routing = std::move(routed.tables),
                                                        .rows = std::move(rows)});
  return out;
}

/// Entries of `after` whose routes, by the tables before, go over what is not there any more.
std::size_t count_broken(const ActiveSubnet& before, const ActiveSubnet& after) {
  const Fabric& then = before.fabric();
  const Fabric& now = after.fabric();
  const ForwardingTables& lft = before.routing->lft;
  IndexVector<PortIdx, char> is_lost(then.port_count(), 0);
  IndexVector<SwitchIdx, char> is_there(then.switch_count(), 0);
  for (const PortIdx port : then.peer.indices()) {
    const auto node = now.find_node(then.node_guid[then.node_of[port]]);
    is_lost[port] =
        !node || now.peer[now.port_of(*node, then.number_of(port))] == kNone<PortIdx> ? 1 : 0;
    if (node && then.is_switch(then.node_of[port])) is_there[then.switch_at(port)] = 1;
  }
  std::size_t broken = 0;
  for (std::uint16_t l = 1; l <= lft.top().value(); ++l) {
    if (before.lids->owner_of(Lid{l}) == kNone<PortIdx>) continue;
    IndexVector<SwitchIdx, char> state(then.switch_count(), 0);  // 1 whole, 2 broken
    for (const SwitchIdx start : state.indices()) {
      std::vector<SwitchIdx> way;
      char end = 1;
      for (SwitchIdx sw = start;;) {
        if (state[sw] != 0) {
          end = state[sw];
          break;
        }
        way.push_back(sw);
        const PortNum egress = lft.route(sw, Lid{l});
        const NodeIdx node = then.switch_node[sw];
        if (egress.value() == 0 || egress.value() > then.num_ports(node)) break;
        const PortIdx port = then.port_of(node, egress);
        if (is_lost[port]) {
          end = 2;
          break;
        }
        const PortIdx peer = then.peer[port];
        if (peer == kNone<PortIdx> || !then.is_switch(then.node_of[peer])) break;
        sw = then.switch_at(peer);
      }
      for (const SwitchIdx sw : way) {
        state[sw] = end;
        if (end == 2 && is_there[sw]) ++broken;
      }
    }
  }
  return broken;
}

/// Paths that have another SL than before.
std::size_t count_moved(const ActiveSubnet& before, const ActiveSubnet& after) {
  const Fabric& then = before.fabric();
  const Fabric& now = after.fabric();
  std::size_t moved = 0;
  const auto sl = [](const ActiveSubnet& on, SwitchIdx sw, Lid lid) -> unsigned {
    const PathSls& sls = on.routing->path_sls;
    return sls.covers(on.fabric().switch_count(), lid) ? sls.sl(sw, lid) : 0u;
  };
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    if (!node) continue;
    for (std::uint16_t l = 1; l <= after.routing->lft.top().value(); ++l) {
      if (Lid{l} > before.routing->lft.top() || after.lids->owner_of(Lid{l}) == kNone<PortIdx> ||
          before.lids->owner_of(Lid{l}) == kNone<PortIdx>)
        continue;
      if (sl(before, then.switch_of[*node], Lid{l}) != sl(after, sw, Lid{l})) ++moved;
    }
  }
  return moved;
}

struct Case {
  TransitionKind kind = TransitionKind::Nothing;
  bool loss = false;
  bool refused = false;  // no routes
  bool unproved = false;
  std::size_t turns = 0, sls = 0, led = 0, moved = 0, down = 0, entries = 0, broken = 0, phases = 0,
              rows = 0;
  double routes_ms = 0, plan_ms = 0, proof_ms = 0;
  std::string what, why;
};

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class Survey {
 public:
  Survey(const Options& options, sim::FabricSpec spec, std::string fabric, std::string engine)
      : options_(options), spec_(std::move(spec)), name_(std::move(fabric)), engine_(engine) {}

  void run() {
    std::shared_ptr<const Fabric> fabric = find_fabric(spec_, nullptr, Lid{0xbfff});
    const double began = cpu_ms();
    Routing whole = route(options_, fabric, book_, engine_, nullptr, false);
    if (!whole.error.empty()) {
      fmt::print("{:<28} {:<9} refused: {}\n", name_, engine_, whole.error);
      return;
    }
    const double scratch = cpu_ms() - began;
    held_.confirm(*whole.subnet);
    held_.marked = !whole.subnet->rows->empty();
    if (held_.marked) held_.confirm_rows(*whole.subnet, whole.subnet->rows);
    std::size_t wanted = 0;
    if (!options_.no_cables) {
      const std::vector<Cable> cables = sample(list_cables(spec_));
      wanted += cables.size();
      for (const Cable& cable : cables) {
        if (is_over()) break;
        sim::FabricSpec without = spec_;
        cut(without, cable.node, cable.port.value());
        lose(whole.subnet,
             without,
             fmt::format("{}:{}", spec_.nodes[cable.node].description, cable.port));
      }
    }
    if (!options_.no_switches) {
      std::vector<std::uint32_t> switches;
      for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
        if (spec_.nodes[n].type == NodeType::Switch && !is_near(n)) switches.push_back(n);
      }
      switches = sample(std::move(switches));
      wanted += switches.size();
      for (const std::uint32_t node : switches) {
        if (is_over()) break;
        sim::FabricSpec without = spec_;
        for (unsigned p = 1; p <= spec_.nodes[node].num_ports(); ++p) cut(without, node, p);
        lose(whole.subnet, without, spec_.nodes[node].description);
      }
    }
    print(scratch, wanted);
  }

 private:
  bool is_over() const {
    return options_.seconds != 0 && cpu_ms() - began_ > options_.seconds * 1e3;
  }

  bool is_near(std::uint32_t n) const {
    for (const sim::PortSpec& port : spec_.nodes[n].ports) {
      if (port.peer_node == spec_.sm_node) return true;
    }
    return n == spec_.sm_node;
  }

  template <class Item>
  std::vector<Item> sample(std::vector<Item> items) const {
    if (options_.sample == 0 || items.size() <= options_.sample) return items;
    Rng rng{options_.seed};
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
    items.resize(options_.sample);
    return items;
  }

  void lose(const Subnet& whole, const sim::FabricSpec& without, const std::string& what) {
    ++losses_;
    Held held = held_;
    held.advertised = std::vector<Subnet>{whole};
    if (options_.restart) held.advertised.reset();
    LidBook book = book_;
    const Subnet lost = change(whole,
                               find_fabric(without, &whole->fabric(), whole->routing->lft.top()),
                               book,
                               held,
                               what,
                               true);
    if (!lost) return;
    held.advertised = std::vector<Subnet>{lost};
    if (options_.soon) held.advertised->insert(held.advertised->begin(), whole);
    if (options_.restart) held.advertised.reset();
    (void)change(lost,
                 find_fabric(spec_, &lost->fabric(), lost->routing->lft.top()),
                 book,
                 held,
                 what,
                 false);
  }

  /// None where there are no routes.
  Subnet change(const Subnet& before,
                const std::shared_ptr<const Fabric>& fabric,
                LidBook& book,
                Held& held,
                const std::string& what,
                bool loss) {
    Case c;
    c.loss = loss;
    c.what = what;
    for (const SwitchIdx sw : fabric->switch_node.indices()) {
      const Guid guid = fabric->node_guid[fabric->switch_node[sw]];
      if (fabric->switch_info[sw].linear_fdb_top != 0) continue;
      held.tables.forget(guid);
      held.rows.forget(guid);
    }
    Routing routing = route(options_, fabric, book, engine_, before, held.marked);
    c.routes_ms = routing.ms;
    if (!routing.error.empty()) {
      c.refused = true;
      c.why = routing.error;
      report(c);
      return nullptr;
    }
    const Subnet goal = routing.subnet;
    PlanJob job{.goal = goal,
                .held = collect_held_tables(*fabric, goal->routing->lft.top(), held.tables),
                .blocked = {},
                .options = {},
                .rows = held.rows,
                .advertised = held.advertised,
                .found = fabric->switch_count()};
    if (!goal->rows->empty() && !held.marked) {
      // Read before the first plan: SL 0 … 15 on VL 0 is what switches start with.
      held.marked = true;
      held.confirm_rows(*before, choose_rows(before->fabric(), before->routing, {}, {}, 15));
      job.rows = held.rows;
    }
    double began = cpu_ms();
    const TransitionPlan plan = compute_plan(job);
    const double both = cpu_ms() - began;
    std::optional<SlToVlTask> lanes;
    if (!goal->rows->empty())
      lanes = build_lane_task(*goal, job.advertised, job.rows, job.found, job.blocked);
    const TransitionTask task{.fabric = fabric.get(),
                              .lids = &*goal->lids,
                              .held = &job.held.lft,
                              .wanted = &goal->routing->lft,
                              .unknown = job.held.unknown,
                              .blocked = job.blocked,
                              .orientation = &goal->routing->orientation,
                              .sl_to_vl = lanes ? &*lanes : nullptr};
    began = cpu_ms();
    const TransitionVerdict verdict = check_transition(task, plan);
    c.proof_ms = cpu_ms() - began;
    c.plan_ms = std::max(0.0, both - c.proof_ms);
    c.kind = plan.kind;
    c.unproved = !plan.certified() || !verdict.ok();
    c.why = plan.why;
    if (!verdict.ok()) c.why += " REFUSED: " + verdict.fault;
    c.phases = plan.phases.size();
    c.sls = static_cast<std::size_t>(
        std::ranges::count(plan.blocked_sls, kManagementVl, &BlockedSls::vl));
    c.led = plan.blocked_sls.size() - c.sls;
    for (const TransitionPhase& phase : plan.phases) {
      c.turns += phase.block.size();
      c.down += phase.deactivate.size();
    }
    const auto& held_lft = job.held.lft;
    for (const SwitchIdx sw : fabric->switch_node.indices()) {
      if (fabric->switch_info[sw].linear_fdb_top == 0) continue;
      for (std::size_t b = 0; b < goal->routing->lft.blocks(); ++b) {
        for (std::size_t i = 0; i < kLftBlockSize; ++i) {
          const std::size_t lid = b * kLftBlockSize + i;
          const PortNum was = b < held_lft.blocks() ? held_lft.block(sw, b)[i] : kNoRoute;
          const bool named =
              lid < goal->lids->owner.size() &&
              goal->lids->owner_of(Lid{static_cast<std::uint16_t>(lid)}) != kNone<PortIdx>;
          if (named && was != goal->routing->lft.block(sw, b)[i]) ++c.entries;
        }
      }
    }
    if (lanes) {
      for (const SwitchIdx sw : fabric->switch_node.indices())
        for_each_turn(*fabric, sw, [&](PortNum in, PortNum out) {
          if (lanes->held.row(sw, in, out) != lanes->wanted.row(sw, in, out)) ++c.rows;
        });
    }
    if (loss) c.broken = count_broken(*before, *goal);
    c.moved = count_moved(*before, *goal);
    held.confirm(*goal);
    if (!goal->rows->empty())
      held.confirm_rows(*goal, with_blocked_sls(goal->rows, plan.blocked_sls));
    report(c);
    // From now on all ports are Active.
    auto active = std::make_shared<Fabric>(*fabric);
    for (const PortIdx port : active->peer.indices()) {
      if (active->peer[port] != kNone<PortIdx>)
        active->port_info[port].port_state = static_cast<std::uint8_t>(PortState::Active);
    }
    return with_fabric(*goal, active);
  }

  void report(const Case& c) {
    cases_.push_back(c);
    if (!options_.cases) return;
    fmt::print(
        "  {} {} {}: {} phases, {} entries ({} broke), {} rows, {} turns {} SLs {} ports, {} led, "
        "{} told anew; "
        "{:.1f} + {:.1f} + {:.1f} ms; {}\n",
        c.what,
        c.loss ? "lost" : "back",
        c.refused ? "no routes" : print_transition_kind(c.kind),
        c.phases,
        c.entries,
        c.broken,
        c.rows,
        c.turns,
        c.sls,
        c.down,
        c.led,
        c.moved,
        c.routes_ms,
        c.plan_ms,
        c.proof_ms,
        c.why);
  }

  void print(double scratch, std::size_t wanted) const {
    std::size_t free = 0, cut_turns = 0, cut_sls = 0, down = 0, unproved = 0, refused = 0,
                phases = 0;
    std::size_t most_turns = 0, most_sls = 0, entries = 0, broken = 0, back_entries = 0, over = 0;
    double worst_ratio = 0, routes = 0, plan = 0, proof = 0, all = 0;
    std::size_t losses = 0;
    for (const Case& c : cases_) {
      if (c.refused) {
        ++refused;
        continue;
      }
      const bool is_free =
          !c.unproved && (c.kind == TransitionKind::Certified || c.kind == TransitionKind::Nothing);
      if (is_free) ++free;
      if (c.unproved) ++unproved;
      if (c.turns != 0) ++cut_turns;
      if (c.sls != 0) ++cut_sls;
      if (c.kind == TransitionKind::DeactivateAll) ++down;
      most_turns = std::max(most_turns, c.turns);
      most_sls = std::max(most_sls, c.sls);
      phases = std::max(phases, c.phases);
      if (c.loss) {
        ++losses;
        entries += c.entries;
        broken += c.broken;
        if (c.broken != 0) {
          const double ratio = static_cast<double>(c.entries) / static_cast<double>(c.broken);
          worst_ratio = std::max(worst_ratio, ratio);
          if (ratio > 3) ++over;
        }
      } else {
        back_entries += c.entries;
      }
      routes = std::max(routes, c.routes_ms);
      plan = std::max(plan, c.plan_ms);
      proof = std::max(proof, c.proof_ms);
      all = std::max(all, c.routes_ms + c.plan_ms + c.proof_ms);
    }
    fmt::print(
        "{:<28} {:<9} | {:>4}/{:<4} | {:5.1f} | {:>3} {:>3} {:>3} {:>3} {:>3} | {:>4} {:>5} {:>2} "
        "| "
        "{:>6} {:>6} {:5.2f} {:>3} {:>6} | {:>7.1f} {:>8.1f} {:>8.1f} {:>8.1f} | {:.0f}\n",
        name_,
        engine_,
        losses_,
        wanted,
        share(free, cases_.size()),
        cut_turns,
        cut_sls,
        down,
        unproved,
        refused,
        most_turns,
        most_sls,
        phases,
        entries,
        broken,
        worst_ratio,
        over,
        back_entries,
        routes,
        plan,
        proof,
        all,
        scratch);
    std::fflush(stdout);
  }

  const Options& options_;
  sim::FabricSpec spec_;
  std::string name_, engine_;
  LidBook book_;
  Held held_;
  std::vector<Case> cases_;
  std::size_t losses_ = 0;
  double began_ = cpu_ms();
};

std::optional<sim::FabricSpec> load(const std::string& text, std::uint64_t seed) {
  const std::size_t mark = text.find('!');
  auto spec = sim::load_fabric(text.substr(0, mark));
  if (!spec) return std::nullopt;
  if (mark == std::string::npos) return std::move(*spec);
  std::vector<Cable> cables = list_cables(*spec);
  Rng rng{seed};
  for (unsigned missing = static_cast<unsigned>(std::stoul(text.substr(mark + 1)));
       missing > 0 && !cables.empty();
       --missing) {
    const std::size_t at = rng.below(cables.size());
    cut(*spec, cables[at].node, cables[at].port.value());
    cables.erase(cables.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return keep_reached(*spec);
}

int run(const Options& options) {
  fmt::print(
      "{:<28} {:<9} | {:^9} | {:>5} | {:>3} {:>3} {:>3} {:>3} {:>3} | {:>4} {:>5} {:>2} | {:>6} "
      "{:>6} {:>5} "
      "{:>3} {:>6} | {:>7} {:>8} {:>8} {:>8} | ms of routes from scratch\n",
      "fabric",
      "engine",
      "losses",
      "free%",
      "cut",
      "SLs",
      "all",
      "unp",
      "ref",
      "cuts",
      "SLs",
      "ph",
      "entr",
      "broken",
      "worst",
      ">3",
      "back",
      "routes",
      "plan",
      "proof",
      "ms");
  for (const std::string& text : options.fabrics) {
    const auto spec = load(text, options.seed);
    if (!spec) {
      fmt::print(stderr, "no fabric '{}'\n", text);
      return 2;
    }
    const std::string name =
        text.substr(text.rfind('/') == std::string::npos ? 0 : text.rfind('/') + 1);
    for (const std::string& engine : options.engines) Survey{options, *spec, name, engine}.run();
  }
  return 0;
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  smd::Options options;
  smd::CommandLine line{"What every single cable and switch does to a subnet", "change_survey"};
  line.option("--fabric", options.fabrics, "FABRIC, or FABRIC!N without N cables").required();
  line.option("--engine", options.engines, "Engines").required().separator(',');
  line.option("--sample", options.sample, "So many cables and so many switches; 0: all");
  line.option("--seconds", options.seconds, "Of processor time for a fabric and engine; 0: no end");
  line.option("--seed", options.seed, "Of what is drawn");
  line.option("--auto-vls", options.auto_vls, "What auto may use").range(1u, 15u).show_default();
  line.option("--vls", options.max_vls, "What there is").range(1u, 15u).show_default();
  line.flag("--free", options.free, "auto asks engines whose changes hardly ever block anything");
  line.flag("--restart", options.restart, "Nobody knows what hosts were told");
  line.flag("--soon", options.soon, "What was lost is back before hosts have asked anew");
  line.flag("--cases", options.cases, "A line for each change");
  line.flag("--no-switches", options.no_switches, "Only cables");
  line.flag("--no-cables", options.no_cables, "Only switches");
  if (const auto code = line.parse(argc, argv)) return *code;
  return smd::run(options);
}
