// A listener inside the stock OpenSM: at the first SUBNET UP it writes, in one line, the time on
// the monotonic clock and the SMPs sent so far to the file that $SMD_PROBE_OUT names.
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

#include <cstdio>
#include <cstdlib>

namespace {

osm_opensm_t* opensm = nullptr;
bool reported = false;

void* create(osm_opensm_t* osm) {
  opensm = osm;
  return osm;
}

void destroy(void*) {}

void report(void*, osm_epi_event_id_t event, void*) {
  if (event != OSM_EVENT_ID_SUBNET_UP || reported) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  reported = true;
  const char* path = std::getenv("SMD_PROBE_OUT");
  std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file,
               "%lld %u\n",
               static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec,
               static_cast<unsigned>(opensm->stats.qp0_mads_sent));
  std::fclose(file);
}

}  // namespace

extern "C" {
extern osm_event_plugin_t osm_event_plugin;
osm_event_plugin_t osm_event_plugin = {OSM_VERSION, create, destroy, report};
}
