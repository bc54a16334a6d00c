// What OpenSM calls. Every function here is a barrier: nothing thrown passes it.
#pragma once

#include <cstdint>

#include "plugins/opensm/osm.h"

namespace smd::opensm {

/// `setup` of every engine. Requires: the engine's context is its EngineSlot.
int set_up_callbacks(osm_routing_engine_t* engine, osm_opensm_t* osm) noexcept;

void update_sl2vl(void* context,
                  osm_physp_t* port,
                  std::uint8_t in,
                  std::uint8_t out,
                  ib_slvl_table_t* table) noexcept;

}  // namespace smd::opensm
