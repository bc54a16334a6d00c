#include "plugins/opensm/say.h"

#include <algorithm>

namespace smd::opensm {
namespace {

// OpenSM formats a line into 4 KiB without looking.
constexpr std::size_t kLongestText = 1500;
constexpr std::size_t kLongestName = 64;

}  // namespace

void say(osm_opensm_t& osm,
         osm_log_level_t level,
         std::string_view who,
         std::string_view text) noexcept {
  osm_log(&osm.log,
          level,
          "%.*s: %.*s\n",
          static_cast<int>(std::min(who.size(), kLongestName)),
          who.data(),
          static_cast<int>(std::min(text.size(), kLongestText)),
          text.data());
}

}  // namespace smd::opensm
