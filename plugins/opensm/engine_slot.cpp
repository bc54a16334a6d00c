#include "plugins/opensm/engine_slot.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugins/opensm/callbacks.h"
#include "plugins/opensm/compute_routes.h"
#include "plugins/opensm/hand_over.h"
#include "plugins/opensm/say.h"
#include "smd/fabric/builder.h"

namespace smd::opensm {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string describe(const Routes& routes) {
  const std::optional<std::vector<Lid>>& recomputed = routes.tables.recomputed;
  std::string text = fmt::format("{} switches, LIDs up to {}, {} VL{}",
                                 routes.fabric->switch_count(),
                                 routes.lids.top.value(),
                                 routes.tables.vls,
                                 routes.tables.vls == 1 ? "" : "s");
  if (recomputed) text += fmt::format(", {} LIDs rerouted", recomputed->size());
  return text;
}

/// Data VLs that the table sends to.
unsigned count_used_vls(const SlToVl& row) {
  unsigned vls = 1;
  for (const Vl vl : row) {
    if (vl != kManagementVl) vls = std::max(vls, vl.value() + 1u);
  }
  return vls;
}

}  // namespace

bool EngineSlot::register_with_opensm() {
  const external_routing_engine_module_t module{
      .name = name_.c_str(), .setup = set_up_callbacks, .context = this};
  return osm_register_external_routing_engine(&state_.osm, &module, this) == CL_SUCCESS;
}

Result<EngineSlot::Prepared> EngineSlot::compute() {
  auto snapshot = take_snapshot(state_.osm, Epoch{++state_.sweeps});
  if (!snapshot) return tl::unexpected(snapshot.error());
  const Options& options = state_.options;
  if (!options.weights.empty() || !options.no_data.empty()) {
    snapshot->fabric = with_traffic(*snapshot->fabric,
                                    std::make_shared<const SiteNodes>(SiteNodes{
                                        .weights = options.weights, .no_data = options.no_data}));
  }
  for (const std::string& note : snapshot->notes) say(state_.osm, OSM_LOG_INFO, name_, note);
  if (auto room = check_room(*snapshot); !room) return tl::unexpected(room.error());
  const osm_subn_opt_t& opt = state_.osm.subn.opt;
  auto routes = compute_routes(engine_,
                               {.fabric = snapshot->fabric,
                                .lids = snapshot->lids,
                                .options = options,
                                .usable_vls = data_vls(opt.max_op_vls),
                                .writes_sl_to_vl = opt.qos != FALSE,
                                .in_force = state_.in_force.get()});
  if (!routes) return tl::unexpected(routes.error());
  return Prepared{.snapshot = std::move(*snapshot), .routes = std::move(*routes)};
}

bool EngineSlot::prepare() {
  prepared_.reset();
  state_.cut.clear();
  const auto start = Clock::now();
  auto prepared = compute();
  if (!prepared) {
    say(state_.osm, OSM_LOG_ERROR, name_, "refused: " + prepared.error().context);
    prepared_ = keep_in_force();
    return prepared_.has_value();
  }
  const double routed_ms = ms_since(start);
  const SwitchGraph graph{*prepared->snapshot.fabric};
  if (!write_hops(prepared->snapshot, graph, HopMatrix{graph})) {
    say(state_.osm, OSM_LOG_ERROR, name_, "refused: out of memory");
    return false;
  }
  for (const std::string& note : prepared->routes->tables.notes)
    say(state_.osm, OSM_LOG_INFO, name_, note);
  say(state_.osm,
      OSM_LOG_INFO,
      name_,
      fmt::format("{}; routed and checked in {:.1f} ms, {:.1f} ms with LID matrices",
                  describe(*prepared->routes),
                  routed_ms,
                  ms_since(start)));
  prepared_ = std::move(*prepared);
  return true;
}

bool EngineSlot::is_last() const {
  for (const osm_routing_engine_t* engine = state_.osm.routing_engine_list; engine != nullptr;
       engine = engine->next) {
    if (engine->next == nullptr) return engine->context == this;
  }
  return false;
}

// Where nobody routes OpenSM leaves the switches alone, but has forgotten what they hold: it
// answers no question for a path, and a host that joins a group takes the group's entries away.
std::optional<EngineSlot::Prepared> EngineSlot::keep_in_force() {
  auto routes = state_.in_force.get();
  if (routes == nullptr || state_.osm.no_fallback_routing_engine == FALSE || !is_last())
    return std::nullopt;
  auto snapshot = take_snapshot(state_.osm, Epoch{state_.sweeps});
  if (!snapshot || !check_room(*snapshot) || !hold_tables(*snapshot, *routes)) return std::nullopt;
  const SwitchGraph graph{*snapshot->fabric};
  if (!write_hops(*snapshot, graph, HopMatrix{graph})) return std::nullopt;
  say(state_.osm,
      OSM_LOG_ERROR,
      name_,
      "no other engine is asked: the tables in force stay, and what they lead over cables that are "
      "gone is lost");
  // As where no engine could: OpenSM says so, and sweeps again.
  state_.osm.subn.subnet_initialization_error = TRUE;
  // With its cache OpenSM would take them for good ones, and ask nobody at the next sweep.
  if (std::exchange(state_.osm.subn.opt.use_ucast_cache, FALSE) != FALSE)
    state_.cache_is_off = true;
  return Prepared{.snapshot = std::move(*snapshot), .routes = std::move(routes), .kept = true};
}

bool EngineSlot::hand_over() {
  if (!prepared_) return false;
  if (prepared_->kept) {
    keep_tables(prepared_->snapshot);
    ask_for_sl_to_vl(needs_sl_to_vl(prepared_->routes->tables));
    prepared_.reset();
    return true;
  }
  if (std::exchange(state_.cache_is_off, false)) state_.osm.subn.opt.use_ucast_cache = TRUE;
  write_tables(prepared_->snapshot, prepared_->routes->tables.lft);
  ask_for_sl_to_vl(needs_sl_to_vl(prepared_->routes->tables));
  state_.in_force.set(std::move(prepared_->routes));
  prepared_.reset();
  return true;
}

// Where an engine has the callback, OpenSM sends SL-to-VL tables for every pair of ports of every
// switch; without it the operator's own mapping stands, in one SMP where a switch can do that.
void EngineSlot::ask_for_sl_to_vl(bool needed) {
  for (osm_routing_engine_t* engine = state_.osm.routing_engine_list; engine != nullptr;
       engine = engine->next) {
    if (engine->context == this) engine->update_sl2vl = needed ? update_sl2vl : nullptr;
  }
}

std::uint8_t EngineSlot::path_sl(std::uint8_t hint, Lid source, Lid destination) const {
  const std::shared_ptr<const Routes> routes = state_.in_force.get();
  return routes == nullptr ? hint : find_path_sl(*routes, source, destination, hint);
}

void EngineSlot::fill_sl_to_vl(const osm_physp_t& port,
                               std::uint8_t in,
                               std::uint8_t out,
                               ib_slvl_table_t& table) {
  const std::shared_ptr<const Routes> routes = state_.in_force.get();
  if (routes == nullptr) return;
  const Fabric& fabric = *routes->fabric;
  const auto node = fabric.find_node(Guid{cl_ntoh64(port.p_node->node_info.node_guid)});
  if (!node) return;
  const SwitchIdx sw = fabric.switch_of[*node];
  if (sw == kNone<SwitchIdx>) {
    table = to_opensm(find_entry_sl_to_vl(*routes));
  } else if (in <= fabric.num_ports(*node) && out <= fabric.num_ports(*node)) {
    const SlToVl row = find_sl_to_vl(*routes, sw, PortNum{in}, PortNum{out});
    table = to_opensm(row);
    const PortIdx peer = fabric.peer[fabric.port_of(*node, PortNum{out})];
    const bool to_switch = peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[peer]);
    if (to_switch && count_used_vls(row) > data_vls(ib_port_info_get_op_vls(&port.port_info)))
      state_.cut.emplace(fabric.node_guid[*node], PortNum{out});
  }
}

// OpenSM cuts SL-to-VL tables to the VLs that ports have, and gives ports their VLs later in the
// same sweep: after a port came up, the tables are right from the sweep after that. Another port
// may have come up during that one. force_heavy_sweep alone counts at OpenSM's next sweep, which
// without a signal is as far off as sweep_interval says.
void EngineSlot::finish_sweep() {
  const CutPorts cut = std::exchange(state_.cut, {});
  const CutPorts before = std::exchange(state_.cut_before, cut);
  if (cut.empty()) return;
  if (cut == before) {
    say(state_.osm,
        OSM_LOG_ERROR,
        name_,
        fmt::format("{} port{} fewer lanes than the routes need; the first is {} port {}",
                    cut.size(),
                    cut.size() == 1 ? " keeps" : "s keep",
                    cut.begin()->first,
                    cut.begin()->second));
    return;
  }
  say(state_.osm, OSM_LOG_INFO, name_, "ports have got their lanes: sweeping once more");
  state_.osm.subn.force_heavy_sweep = TRUE;
  osm_sm_signal(&state_.osm.sm, OSM_SIGNAL_SWEEP);
}

}  // namespace smd::opensm
