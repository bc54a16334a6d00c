// OpenSM's headers. osm_config.h comes first: without it osm_subn_opt_t loses fields, and every
// offset behind them is another than in the binary. A field of osm_event_plugin_t is called
// `delete`.
#pragma once

#include <cstdlib>
#include <cstring>

#define delete delete_
#include <opensm/osm_config.h>
//
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>
#undef delete
