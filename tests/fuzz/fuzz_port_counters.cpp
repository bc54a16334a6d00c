// General management: the common header, then its data as counters or as any attribute of
// congestion control.
#include "smd/mad/congestion.h"
#include "smd/mad/port_counters.h"
#include "tests/fuzz/decode_checks.h"

namespace {

using namespace smd;

template <class T, std::size_t N>
void check(std::span<const std::byte> data,
           Result<T> (*decode)(std::span<const std::byte>),
           void (*encode)(const T&, std::span<std::byte, N>),
           std::string (*print)(const T&)) {
  fuzz::check_codec(
      data,
      N,
      decode,
      [encode](const T& value, std::span<std::byte> out) { encode(value, out.first<N>()); },
      print);
}

void check_congestion(std::span<const std::byte> body) {
  check(body, cc::decode_class_port_info, cc::encode_class_port_info, cc::print_class_port_info);
  check(body, cc::decode_congestion_info, cc::encode_congestion_info, cc::print_congestion_info);
  check(body, cc::decode_key_info, cc::encode_key_info, cc::print_key_info);
  check(body, cc::decode_switch_setting, cc::encode_switch_setting, cc::print_switch_setting);
  check(body, cc::decode_port_settings, cc::encode_port_settings, cc::print_port_settings);
  check(body, cc::decode_ca_setting, cc::encode_ca_setting, cc::print_ca_setting);
  check(body, cc::decode_cct_block, cc::encode_cct_block, cc::print_cct_block);
  check(body, cc::decode_time_stamp, cc::encode_time_stamp, cc::print_time_stamp);
  check(body, cc::decode_switch_log, cc::encode_switch_log, cc::print_switch_log);
  check(body, cc::decode_ca_log, cc::encode_ca_log, cc::print_ca_log);
  if (const auto notice = decode_notice(body)) {
    if (const auto violation = cc::find_key_violation(*notice)) {
      const Notice again = cc::key_notice(*violation, NodeType::Ca);
      fuzz::require(cc::find_key_violation(again) == violation);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::as_bytes(data, size);
  fuzz::check_codec(bytes, 24, decode_mad_header, encode_mad_header, print_mad_header);
  const auto body = bytes.size() > kPerfDataOffset ? bytes.subspan(kPerfDataOffset) : bytes;
  check(body, decode_port_counters, encode_port_counters, print_port_counters);
  check(body,
        decode_port_counters_extended,
        encode_port_counters_extended,
        print_port_counters_extended);
  check_congestion(body);
  return 0;
}
