// A listener inside the stock OpenSM that takes the time around the two computing callbacks of its
// routing engines. $SMD_PROBE_OUT names the file that gets two lines per engine that is tried,
//
//   NAME 0 begun
//   NAME MS failed | NAME MS routed
//
// and, before the second line of an engine that succeeded, the file of its routes
// ($SMD_PROBE_OUT.routes), in the byte order of the machine:
//
//   u32 switches, u32 LIDs n (0 … n-1)
//   n × u64 port GUID that has the LID, 0 for none
//   switches × { u64 node GUID, n × u8 egress port, n × u8 SL of the path from its first host }
//
// An SL of 255: no host there, or an engine that gives none.
//
// osm_config.h comes first: without it structures of OpenSM have other offsets than in the binary.
// A field of osm_event_plugin_t is called `delete`.
#define delete delete_
#include <opensm/osm_config.h>
//
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_ucast_mgr.h>
#include <opensm/osm_version.h>
#undef delete

#include <time.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::uint8_t kNoSl = 255;

osm_opensm_t* opensm = nullptr;

/// An engine as it was before its callbacks led here.
struct Wrapped {
  osm_routing_engine_t* engine;
  int (*lid_matrices)(void*);
  int (*tables)(void*);
  double spent_ms;
};

constexpr std::size_t kMostEngines = 4;
std::array<Wrapped, kMostEngines> wrapped;
std::size_t wrapped_count = 0;

double now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::string out_path() {
  const char* const path = std::getenv("SMD_PROBE_OUT");
  return path != nullptr ? path : "/dev/null";
}

void put(std::FILE* file, const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, file) != size) std::perror("smd_route_probe");
}

/// The LID of the first host at a switch; 0 without one.
ib_net16_t first_host(osm_switch_t* sw) {
  for (unsigned port = 1; port < sw->num_ports; ++port) {
    std::uint8_t far = 0;
    osm_node_t* const node =
        osm_node_get_remote_node(sw->p_node, static_cast<std::uint8_t>(port), &far);
    if (node != nullptr && osm_node_get_type(node) == IB_NODE_TYPE_CA)
      return osm_node_get_base_lid(node, far);
  }
  return 0;
}

void write_switch(std::FILE* file,
                  osm_switch_t* sw,
                  const osm_routing_engine_t& engine,
                  const std::vector<std::uint64_t>& owners) {
  const std::uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
  put(file, &guid, sizeof guid);
  std::vector<std::uint8_t> ports(owners.size(), OSM_NO_PATH), sls(owners.size(), kNoSl);
  const ib_net16_t source = first_host(sw);
  for (std::size_t lid = 1; lid < owners.size(); ++lid) {
    if (lid < sw->lft_size && lid <= sw->max_lid_ho) ports[lid] = sw->new_lft[lid];
    if (owners[lid] == 0 || source == 0 || engine.path_sl == nullptr) continue;
    sls[lid] =
        engine.path_sl(engine.context, 0, source, cl_hton16(static_cast<std::uint16_t>(lid)));
  }
  put(file, ports.data(), ports.size());
  put(file, sls.data(), sls.size());
}

void write_routes(const osm_routing_engine_t& engine) {
  std::FILE* const file = std::fopen((out_path() + ".routes").c_str(), "w");
  if (file == nullptr) return;
  cl_qmap_t& switches = opensm->subn.sw_guid_tbl;
  const auto lids = static_cast<std::uint32_t>(cl_ptr_vector_get_size(&opensm->subn.port_lid_tbl));
  const auto count = static_cast<std::uint32_t>(cl_qmap_count(&switches));
  put(file, &count, sizeof count);
  put(file, &lids, sizeof lids);
  std::vector<std::uint64_t> owners(lids, 0);
  for (std::uint32_t lid = 1; lid < lids; ++lid) {
    osm_port_t* const port = osm_get_port_by_lid_ho(&opensm->subn, static_cast<std::uint16_t>(lid));
    if (port != nullptr) owners[lid] = cl_ntoh64(port->guid);
  }
  put(file, owners.data(), owners.size() * sizeof(std::uint64_t));
  for (cl_map_item_t* item = cl_qmap_head(&switches); item != cl_qmap_end(&switches);
       item = cl_qmap_next(item))
    write_switch(file, reinterpret_cast<osm_switch_t*>(item), engine, owners);
  std::fclose(file);
}

void say(const Wrapped& each, const char* what) {
  std::FILE* const file = std::fopen(out_path().c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s %.3f %s\n", each.engine->name, each.spent_ms, what);
  std::fclose(file);
}

/// A callback that is missing, or answers more than 0, leaves the step to OpenSM's own.
template <std::size_t kSlot>
int time_lid_matrices(void* context) {
  Wrapped& each = wrapped[kSlot];
  each.spent_ms = 0;
  // Nue takes one lane without it. The tables that QoS writes come later, when nobody looks.
  opensm->subn.opt.qos = TRUE;
  say(each, "begun");
  const double begin = now_ms();
  int answer = each.lid_matrices != nullptr ? each.lid_matrices(context) : 1;
  if (answer > 0) answer = osm_ucast_mgr_build_lid_matrices(&opensm->sm.ucast_mgr);
  each.spent_ms = now_ms() - begin;
  if (answer < 0) say(each, "failed");
  return answer;
}

int (*default_tables)(void*) = nullptr;
void* default_context = nullptr;

template <std::size_t kSlot>
int time_tables(void* context) {
  Wrapped& each = wrapped[kSlot];
  const double begin = now_ms();
  int answer = each.tables != nullptr ? each.tables(context) : 1;
  if (answer > 0 && default_tables != nullptr) answer = default_tables(default_context);
  each.spent_ms += now_ms() - begin;
  if (answer == 0) write_routes(*each.engine);
  say(each, answer == 0 ? "routed" : "failed");
  return answer;
}

/// Engines keep their context, so each has its own pair of callbacks.
template <std::size_t kSlot = 0>
void lead_here(std::size_t slot, osm_routing_engine_t& engine) {
  if constexpr (kSlot < kMostEngines) {
    if (slot != kSlot) return lead_here<kSlot + 1>(slot, engine);
    engine.build_lid_matrices = time_lid_matrices<kSlot>;
    engine.ucast_build_fwd_tables = time_tables<kSlot>;
  }
}

void wrap(osm_routing_engine_t* engine) {
  if (engine == nullptr || wrapped_count == kMostEngines) return;
  for (std::size_t i = 0; i < wrapped_count; ++i) {
    if (wrapped[i].engine == engine) return;
  }
  wrapped[wrapped_count] = {engine, engine->build_lid_matrices, engine->ucast_build_fwd_tables, 0};
  lead_here(wrapped_count++, *engine);
}

void* create(osm_opensm_t* osm) {
  opensm = osm;
  return osm;
}

void destroy(void*) {}

// Engines are set up after the plugins, and before the first sweep.
void report(void*, osm_epi_event_id_t event, void*) {
  if (event != OSM_EVENT_ID_HEAVY_SWEEP_START && event != OSM_EVENT_ID_HEAVY_SWEEP_DONE) return;
  const osm_routing_engine_t* const fallback = opensm->default_routing_engine;
  if (fallback != nullptr && default_tables == nullptr) {
    default_tables = fallback->ucast_build_fwd_tables;
    default_context = fallback->context;
  }
  for (osm_routing_engine_t* each = opensm->routing_engine_list; each != nullptr; each = each->next)
    wrap(each);
  wrap(opensm->default_routing_engine);
}

}  // namespace

extern "C" {
extern osm_event_plugin_t osm_event_plugin;
osm_event_plugin_t osm_event_plugin = {OSM_VERSION, create, destroy, report};
}
