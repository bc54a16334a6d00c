// Lines in OpenSM's own log, and the barrier that keeps our failures out of OpenSM.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "plugins/opensm/osm.h"

namespace smd::opensm {

/// One line, cut to what OpenSM's log takes. `who` is what the operator wrote: "smd-updn".
void say(osm_opensm_t& osm,
         osm_log_level_t level,
         std::string_view who,
         std::string_view text) noexcept;

/// What `work` returns, or `failed` with a line in the log when it throws: OpenSM is C, and no
/// failure of ours may end it.
template <class Work, class Value>
Value guarded(osm_opensm_t& osm, std::string_view who, Value failed, Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    say(osm, OSM_LOG_ERROR, who, "refused: out of memory");
  } catch (const std::exception& problem) {
    say(osm, OSM_LOG_ERROR, who, problem.what());
  } catch (...) {
    say(osm, OSM_LOG_ERROR, who, "refused: unknown failure");
  }
  return failed;
}

}  // namespace smd::opensm
