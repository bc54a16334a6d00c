// A listener inside the stock OpenSM: it appends one line per event to the file that
// $SMD_PROBE_OUT names: the event, the time on the monotonic clock in ns, the SMPs sent so far, and
// the blocks of forwarding tables that OpenSM found to differ so far.
//
// osm_config.h comes first: without it structures of OpenSM have other offsets than in the binary.
// A field of osm_event_plugin_t is called `delete`.
#define delete delete_
#include <opensm/osm_config.h>
//
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>
#undef delete

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

osm_opensm_t* opensm = nullptr;
std::atomic<unsigned> blocks = 0;

void* create(osm_opensm_t* osm) {
  opensm = osm;
  return osm;
}

void destroy(void*) {}

const char* name_of(osm_epi_event_id_t event) {
  switch (event) {
    case OSM_EVENT_ID_SUBNET_UP:
      return "up";
    case OSM_EVENT_ID_HEAVY_SWEEP_START:
      return "sweep";
    case OSM_EVENT_ID_UCAST_ROUTING_DONE:
      return "routed";
    default:
      return nullptr;
  }
}

void report(void*, osm_epi_event_id_t event, void*) {
  if (event == OSM_EVENT_ID_LFT_CHANGE) ++blocks;
  const char* name = name_of(event);
  if (name == nullptr) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const char* path = std::getenv("SMD_PROBE_OUT");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file,
               "%s %lld %u %u\n",
               name,
               static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec,
               static_cast<unsigned>(opensm->stats.qp0_mads_sent),
               blocks.load());
  std::fclose(file);
}

}  // namespace

extern "C" {
extern osm_event_plugin_t osm_event_plugin;
osm_event_plugin_t osm_event_plugin = {OSM_VERSION, create, destroy, report};
}
