// The keys that OpenSM has too: called as there, and taking what its file says.
#include "smd/app/config_congestion.h"
#include "smd/app/config_congestion_kinds.h"
#include "smd/app/config_fields.h"

namespace smd {
namespace {

using namespace config_kinds;
using O = cc::Options;

template <class T>
Field<T> of(T O::*field) {
  return plain(&Config::congestion, field);
}

}  // namespace

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

}  // namespace smd
