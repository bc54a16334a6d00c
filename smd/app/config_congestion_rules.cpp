// What options of [congestion] ask of each other.
#include <fmt/format.h>

#include <algorithm>

#include "smd/app/config_congestion.h"
#include "smd/congestion/throttle.h"

namespace smd {
namespace {

std::optional<std::string> find_throttle(const Config& config) {
  const cc::Options& options = config.congestion;
  if (!options.cct || options.floor_hosts == 0) return std::nullopt;
  const double longest = options.floor_hosts - 1;
  for (std::size_t i = 0; i < options.cct->size(); ++i) {
    const double delay = cc::delay_of((*options.cct)[i]);
    if (delay <= longest) continue;
    return fmt::format(
        "entry {} of congestion.cc_cct waits {:g} packet times: a host falls to {:.4g} % of its "
        "link, below its floor of {:.4g} %; at most {:g}, which is congestion.floor_hosts - 1",
        i,
        delay,
        100 / (1 + delay),
        100.0 / options.floor_hosts,
        longest);
  }
  return std::nullopt;
}

}  // namespace

std::vector<ConfigRule> congestion_rules() {
  return {
      {{"congestion.cc_cct", "congestion.floor_hosts"}, find_throttle},
      {{"congestion.protect", "congestion.cc_key"},
       [](const Config& c) -> std::optional<std::string> {
         if (!c.congestion.protect || c.congestion.key != cc::CcKey{}) return std::nullopt;
         return "congestion.protect is true; a congestion.cc_key that is not 0, to protect with";
       }},
      {{"congestion.cc_ca_cong_setting_ccti_min", "congestion.cc_cct"},
       [](const Config& c) -> std::optional<std::string> {
         if (!c.congestion.cct) return std::nullopt;
         const std::size_t size = std::max<std::size_t>(c.congestion.cct->size(), 1);
         for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
           const unsigned min = c.congestion.ccti_min[sl].value_or(0);
           if (min >= size)
             return fmt::format(
                 "congestion.cc_ca_cong_setting_ccti_min of SL {} is {}; at most {}, the last "
                 "index of congestion.cc_cct",
                 sl,
                 min,
                 size - 1);
         }
         return std::nullopt;
       }},
  };
}

}  // namespace smd
