// The symbol that OpenSM looks for, and the life of the plugin behind it.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "plugins/opensm/engine_slot.h"
#include "plugins/opensm/say.h"

namespace smd::opensm {
namespace {

constexpr std::string_view kWho = "smd_opensm";

struct Plugin {
  PluginState state;
  std::vector<std::unique_ptr<EngineSlot>> slots;  // OpenSM holds their addresses
};

std::string list_names(const Plugin& plugin) {
  std::string names;
  for (const auto& slot : plugin.slots) names += " " + slot->name();
  return names;
}

/// Null: nothing is registered, and OpenSM goes on without us.
std::unique_ptr<Plugin> create_plugin(osm_opensm_t& osm) {
  const char* const text = osm.subn.opt.event_plugin_options;
  const auto options = parse_options(text == nullptr ? "" : text);
  if (!options) {
    for (const Fault& fault : options.error())
      say(osm,
          OSM_LOG_ERROR,
          kWho,
          fmt::format("event_plugin_options: '{}': {}; no engine is registered",
                      fault.where,
                      fault.message));
    return nullptr;
  }
  std::unique_ptr<Plugin> plugin(new Plugin{.state = {.osm = osm, .options = *options}});
  for (const std::string_view name : engine_names())
    plugin->slots.push_back(std::make_unique<EngineSlot>(plugin->state, *find_engine(name)));
  const std::string chosen = print_options(*options);
  const std::string welcome =
      "engines" + list_names(*plugin) + (chosen.empty() ? "" : "; options " + chosen);
  // From the first registration on OpenSM holds addresses of ours: nothing below may fail.
  for (const auto& slot : plugin->slots) {
    if (!slot->register_with_opensm()) say(osm, OSM_LOG_ERROR, slot->name(), "OpenSM refused it");
  }
  say(osm, OSM_LOG_INFO, kWho, welcome);
  return plugin;
}

void* create(osm_opensm_t* osm) noexcept {
  return guarded(
      *osm, kWho, static_cast<Plugin*>(nullptr), [&] { return create_plugin(*osm).release(); });
}

void destroy(void* data) noexcept { delete static_cast<Plugin*>(data); }

/// Whose tables are in the switches; null: not ours.
EngineSlot* find_used(const Plugin& plugin) {
  const osm_routing_engine_t* const used = plugin.state.osm.routing_engine_used;
  for (const auto& slot : plugin.slots) {
    if (used != nullptr && used->context == slot.get()) return slot.get();
  }
  return nullptr;
}

// Both are told by the thread that sweeps.
void report(void* data, osm_epi_event_id_t event, void*) noexcept {
  auto& plugin = *static_cast<Plugin*>(data);
  if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE) {
    // Another engine's tables are nothing to stay near to.
    if (find_used(plugin) == nullptr) plugin.state.in_force.set(nullptr);
  } else if (event == OSM_EVENT_ID_SUBNET_UP) {
    EngineSlot* const used = find_used(plugin);
    if (used == nullptr) return;
    guarded(plugin.state.osm, used->name(), 0, [&] {
      used->finish_sweep();
      return 0;
    });
  }
}

}  // namespace
}  // namespace smd::opensm

extern "C" {
// OpenSM compares the version with its own: a plugin is for one release.
__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    OSM_VERSION, smd::opensm::create, smd::opensm::destroy, smd::opensm::report};
}
