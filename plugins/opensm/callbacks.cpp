#include "plugins/opensm/callbacks.h"

#include "plugins/opensm/engine_slot.h"
#include "plugins/opensm/say.h"

namespace smd::opensm {
namespace {

EngineSlot& slot_of(void* context) { return *static_cast<EngineSlot*>(context); }

// Below 0 OpenSM goes on with its next engine; above 0 it would do this half with its own minhop.
constexpr int kDone = 0;
constexpr int kRefused = -1;

int build_lid_matrices(void* context) noexcept {
  EngineSlot& slot = slot_of(context);
  return guarded(
      slot.osm(), slot.name(), kRefused, [&] { return slot.prepare() ? kDone : kRefused; });
}

int build_fwd_tables(void* context) noexcept {
  EngineSlot& slot = slot_of(context);
  return guarded(
      slot.osm(), slot.name(), kRefused, [&] { return slot.hand_over() ? kDone : kRefused; });
}

std::uint8_t path_sl(void* context,
                     std::uint8_t hint,
                     const ib_net16_t source,
                     const ib_net16_t destination) noexcept {
  EngineSlot& slot = slot_of(context);
  return guarded(slot.osm(), slot.name(), hint, [&] {
    return slot.path_sl(hint, Lid{cl_ntoh16(source)}, Lid{cl_ntoh16(destination)});
  });
}

}  // namespace

void update_sl2vl(void* context,
                  osm_physp_t* port,
                  std::uint8_t in,
                  std::uint8_t out,
                  ib_slvl_table_t* table) noexcept {
  EngineSlot& slot = slot_of(context);
  guarded(slot.osm(), slot.name(), 0, [&] {
    slot.fill_sl_to_vl(*port, in, out, *table);
    return 0;
  });
}

// Left to OpenSM: dumps, VL arbitration (its tables serve every VL), multicast trees (by the LID
// matrices), and destruction, since the slot is the plugin's.
int set_up_callbacks(osm_routing_engine_t* engine, osm_opensm_t*) noexcept {
  engine->build_lid_matrices = build_lid_matrices;
  engine->ucast_build_fwd_tables = build_fwd_tables;
  engine->path_sl = path_sl;
  return 0;
}

}  // namespace smd::opensm
