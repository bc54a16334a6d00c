// Performance management: the common header, then its data as either counter attribute.
#include "smd/mad/port_counters.h"

#include "tests/fuzz/decode_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  const auto bytes = fuzz::as_bytes(data, size);
  fuzz::check_codec(bytes, 24, decode_mad_header, encode_mad_header, print_mad_header);
  const auto body = bytes.size() > kPerfDataOffset ? bytes.subspan(kPerfDataOffset) : bytes;
  fuzz::check_codec(
      body,
      kPerfDataSize,
      decode_port_counters,
      [](const PortCounters& counters, std::span<std::byte> out) {
        encode_port_counters(counters, out.first<kPerfDataSize>());
      },
      print_port_counters);
  fuzz::check_codec(
      body,
      kPerfDataSize,
      decode_port_counters_extended,
      [](const PortCountersExtended& counters, std::span<std::byte> out) {
        encode_port_counters_extended(counters, out.first<kPerfDataSize>());
      },
      print_port_counters_extended);
  return 0;
}
