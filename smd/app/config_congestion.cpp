#include "smd/app/config_congestion.h"

#include <algorithm>
#include <iterator>

#include "smd/app/config_congestion_kinds.h"
#include "smd/app/config_fields.h"

namespace smd {
namespace {

using namespace config_kinds;
using O = cc::Options;

constexpr auto kSection = &Config::congestion;

std::vector<ConfigOption> own_options() {
  return {
      flag(about("enabled",
                 "Whether congestion control is set up (OpenSM's congestion_control): "
                 "docs/congestion-control.md"),
           plain(kSection, &O::enabled)),
      hex64(about("cc_key", "CC_Key of every MAD of congestion control; 0 is none"),
            numeric(kSection, &O::key),
            false),
      flag(
          about("protect", "Whether that key is written to every agent, which then obeys no other"),
          plain(kSection, &O::protect)),
      number(about("lease_s",
                   "Time until an agent shows the CC_Key of a manager that is gone; 0 is never",
                   "seconds"),
             numeric(kSection, &O::lease_s),
             0,
             65535),
      number(
          about("cc_max_outstanding_mads",
                "MADs of congestion control on the wire; at most a quarter of what the port holds"),
          numeric(kSection, &O::max_outstanding),
          1,
          4096),
      number(about("log_interval_s",
                   "Time between two readings of the congestion logs; 0 is never",
                   "seconds"),
             numeric(kSection, &O::log_interval_s),
             0,
             86400),
      number(about("hop_ns", "Through a switch and its cable", "nanoseconds"),
             numeric(kSection, &O::hop_ns),
             1,
             100000),
      number(
          about("occupancy_pct",
                "How full buffers are under even traffic near saturation: fuller ones are marked "
                "at",
                "percent"),
          numeric(kSection, &O::occupancy_pct),
          1,
          100),
      number(about("floor_hosts",
                   "No host is held below this fraction, one by so many, of the slowest host "
                   "link; 0 counts the hosts of the fabric"),
             numeric(kSection, &O::floor_hosts),
             0,
             65535),
      optional_number(about("host_threshold",
                            "How eagerly switch ports before hosts mark, where they differ from "
                            "those between switches; as cc_sw_cong_setting_threshold"),
                      plain(kSection, &O::host_threshold),
                      15,
                      "8"),
      optional_number(about("host_marking_rate",
                            "Likewise the packets between two marks; as "
                            "cc_sw_cong_setting_marking_rate"),
                      plain(kSection, &O::host_marking_rate),
                      65535,
                      "3"),
  };
}

ConfigOption nodes() {
  return node_overrides(
      about("nodes", "What single nodes get instead, or `off` to leave one alone"),
      plain(kSection, &O::nodes));
}

}  // namespace

std::vector<ConfigOption> congestion_options() {
  std::vector<ConfigOption> all = own_options();
  std::ranges::move(congestion_options_of_opensm(), std::back_inserter(all));
  all.push_back(nodes());
  return all;
}

}  // namespace smd
