// The rows of [congestion], and the rules between them.
#include "smd/config/congestion_options.h"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<ConfigOption> congestion_options() {
  using namespace config_kinds;
  using O = cc::Options;
  const auto congestion = option_section<Config>("congestion", &Config::congestion);
  return {
      congestion("enabled", &O::enabled, flag())
          .means("Whether congestion control is set up (OpenSM's congestion_control): "
                 "docs/congestion-control.md"),
      congestion("cc_key", &O::key, hex64())
          .means("CC_Key of every MAD of congestion control; 0 is none"),
      congestion("protect", &O::protect, flag())
          .means("Whether that key is written to every agent, which then obeys no other"),
      congestion("lease_s", &O::lease_s, number(0, 65535, "seconds"))
          .means("Time until an agent shows the CC_Key of a manager that is gone; 0 is never"),
      congestion("cc_max_outstanding_mads", &O::max_outstanding, number(1, 4096))
          .means(
              "MADs of congestion control on the wire; at most a quarter of what the port holds"),
      congestion("log_interval_s", &O::log_interval_s, number(0, 86400, "seconds"))
          .means("Time between two readings of the congestion logs; 0 is never"),
      congestion("hop_ns", &O::hop_ns, number(1, 100000, "nanoseconds"))
          .means("Through a switch and its cable"),
      congestion("occupancy_pct", &O::occupancy_pct, number(1, 100, "percent"))
          .means(
              "How full buffers are under even traffic near saturation: fuller ones are marked at"),
      congestion("floor_hosts", &O::floor_hosts, number(0, 65535))
          .means("No host is held below this fraction, one by so many, of the slowest host link; 0 "
                 "counts the hosts of the fabric"),
      congestion("host_threshold", &O::host_threshold, number(0, 15, "", "8"))
          .means("How eagerly switch ports before hosts mark, where they differ from those between "
                 "switches; as cc_sw_cong_setting_threshold"),
      congestion("host_marking_rate", &O::host_marking_rate, number(0, 65535, "", "3"))
          .means("Likewise the packets between two marks; as cc_sw_cong_setting_marking_rate"),
      // Those that OpenSM has under the same names.
      congestion("cc_sw_cong_setting_control_map", &O::sw_control_map, number(0, 31, "", "0x15"))
          .means("Which of these a switch is told: 1 victim mask, 2 credit mask, 4 threshold and "
                 "packet size, 8 credit starvation, 16 marking rate"),
      congestion("cc_sw_cong_setting_victim_mask", &O::victim_mask, port_mask())
          .means("Switch ports that mark though they are victims; those before hosts where it is "
                 "not set"),
      congestion("cc_sw_cong_setting_credit_mask", &O::credit_mask, port_mask())
          .means("Switch ports that look for credit starvation"),
      congestion("cc_sw_cong_setting_threshold", &O::threshold, number(0, 15, "", "11"))
          .means("How eagerly a switch marks: 0 never, 15 most"),
      congestion("cc_sw_cong_setting_packet_size", &O::packet_size, number(0, 255, "64 bytes", "8"))
          .means("Shorter packets are not marked"),
      congestion("cc_sw_cong_setting_credit_starvation_threshold",
                 &O::cs_threshold,
                 number(0, 15, "", "0"))
          .means("How eagerly a switch takes a port for starved: 0 never, 15 most"),
      congestion(
          "cc_sw_cong_setting_credit_starvation_return_delay", &O::cs_return_delay, cct_entry())
          .means("How long a switch port that starved goes on as if it did, as an entry of cc_cct"),
      congestion(
          "cc_sw_cong_setting_marking_rate", &O::marking_rate, number(0, 65535, "packets", "3"))
          .means("Mean of packets between two marks"),
      congestion("cc_ca_cong_setting_port_control", &O::port_control, number(0, 1, "", "0"))
          .means("Whether an adapter holds back queue pairs, 0, or whole SLs of the port, 1"),
      congestion(
          "cc_ca_cong_setting_control_map", &O::ca_control_map, number(0, 0xffff, "", "0xffff"))
          .means("SLs that adapters are told of, bit n for SL n"),
      congestion(
          "cc_ca_cong_setting_ccti_timer", &O::ccti_timer, by_sl(65535, "[\"0 10\", \"1 10\"]"))
          .means("Units of 1.024 us after which the index of a flow falls by one"),
      congestion(
          "cc_ca_cong_setting_ccti_increase", &O::ccti_increase, by_sl(255, "[\"0 1\", \"1 1\"]"))
          .means("Steps that the index rises with a mark"),
      congestion("cc_ca_cong_setting_trigger_threshold",
                 &O::trigger_threshold,
                 by_sl(255, "[\"0 2\", \"1 2\"]"))
          .means("Index at which the adapter logs the flow"),
      congestion("cc_ca_cong_setting_ccti_min", &O::ccti_min, by_sl(255, "[\"0 0\", \"1 0\"]"))
          .means("Index that no flow falls below"),
      congestion("cc_cct", &O::cct, cct_entries())
          .means("Congestion control table of adapters: waits between two packets, in packet "
                 "times, as multiplier / 2^shift; by rate of the link where it is not set"),
      congestion("nodes", &O::nodes, node_overrides())
          .means("What single nodes get instead, or `off` to leave one alone"),
  };
}

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
