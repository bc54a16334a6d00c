// The rows of [congestion], and the rules between them.
#include "smd/config/congestion_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "smd/config/option_kinds.h"
#include "smd/congestion/throttle.h"

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

template <class T>
Field<T> of(T O::*field) {
  return plain(&Config::congestion, field);
}

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
  std::vector<ConfigOption> all = own_options();
  std::ranges::move(congestion_options_of_opensm(), std::back_inserter(all));
  all.push_back(nodes());
  return all;
}

std::vector<ConfigOption> congestion_options_of_opensm() {
  return {
      optional_number(about("cc_sw_cong_setting_control_map",
                            "Which of these a switch is told: 1 victim mask, 2 credit mask, 4 "
                            "threshold and packet size, 8 credit starvation, 16 marking rate"),
                      of(&O::sw_control_map),
                      31,
                      "0x15"),
      port_mask(about("cc_sw_cong_setting_victim_mask",
                      "Switch ports that mark though they are victims; those before hosts where "
                      "it is not set"),
                of(&O::victim_mask)),
      port_mask(
          about("cc_sw_cong_setting_credit_mask", "Switch ports that look for credit starvation"),
          of(&O::credit_mask)),
      optional_number(
          about("cc_sw_cong_setting_threshold", "How eagerly a switch marks: 0 never, 15 most"),
          of(&O::threshold),
          15,
          "11"),
      optional_number(
          about("cc_sw_cong_setting_packet_size", "Shorter packets are not marked", "64 bytes"),
          of(&O::packet_size),
          255,
          "8"),
      optional_number(about("cc_sw_cong_setting_credit_starvation_threshold",
                            "How eagerly a switch takes a port for starved: 0 never, 15 most"),
                      of(&O::cs_threshold),
                      15,
                      "0"),
      cct_entry(about("cc_sw_cong_setting_credit_starvation_return_delay",
                      "How long a switch port that starved goes on as if it did, as an entry of "
                      "cc_cct"),
                of(&O::cs_return_delay)),
      optional_number(
          about("cc_sw_cong_setting_marking_rate", "Mean of packets between two marks", "packets"),
          of(&O::marking_rate),
          65535,
          "3"),
      optional_number(about("cc_ca_cong_setting_port_control",
                            "Whether an adapter holds back queue pairs, 0, or whole SLs of the "
                            "port, 1"),
                      of(&O::port_control),
                      1,
                      "0"),
      optional_number(
          about("cc_ca_cong_setting_control_map", "SLs that adapters are told of, bit n for SL n"),
          of(&O::ca_control_map),
          0xffff,
          "0xffff"),
      by_sl(about("cc_ca_cong_setting_ccti_timer",
                  "Units of 1.024 us after which the index of a flow falls by one"),
            of(&O::ccti_timer),
            65535,
            "[\"0 10\", \"1 10\"]"),
      by_sl(about("cc_ca_cong_setting_ccti_increase", "Steps that the index rises with a mark"),
            of(&O::ccti_increase),
            255,
            "[\"0 1\", \"1 1\"]"),
      by_sl(
          about("cc_ca_cong_setting_trigger_threshold", "Index at which the adapter logs the flow"),
          of(&O::trigger_threshold),
          255,
          "[\"0 2\", \"1 2\"]"),
      by_sl(about("cc_ca_cong_setting_ccti_min", "Index that no flow falls below"),
            of(&O::ccti_min),
            255,
            "[\"0 0\", \"1 0\"]"),
      cct_entries(about("cc_cct",
                        "Congestion control table of adapters: waits between two packets, in "
                        "packet times, as multiplier / 2^shift; by rate of the link where it is "
                        "not set"),
                  of(&O::cct)),
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
