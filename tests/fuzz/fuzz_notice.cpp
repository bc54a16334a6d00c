// A Notice and the details of whichever trap it claims to be.
#include "smd/mad/notice.h"

#include "tests/fuzz/decode_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  const auto bytes = fuzz::as_bytes(data, size);
  fuzz::check_codec(
      bytes,
      kSmpDataSize,
      decode_notice,
      [](const Notice& notice, std::span<std::byte> out) {
        encode_notice(notice, out.first<kSmpDataSize>());
      },
      print_notice);

  const Result<Notice> notice = decode_notice(bytes);
  if (!notice) return 0;
  (void)notice_subject(*notice);
  const auto producer = NodeType::Switch;
  if (const auto report = find_port_error(*notice)) {
    fuzz::require(find_port_error(port_error_notice(*report, producer)) == report);
  }
  if (const auto change = find_capability_change(*notice)) {
    const Notice rebuilt = capability_notice(
        change->lid, producer, change->capability_mask, change->description_changed);
    fuzz::require(notice_subject(rebuilt) == change->lid);
  }
  if (const auto violation = find_m_key_violation(*notice)) {
    fuzz::require(find_m_key_violation(m_key_notice(*violation, producer)) == violation);
  }
  if (const auto violation = find_key_violation(*notice)) {
    fuzz::require(find_key_violation(key_notice(*violation, producer)) == violation);
  }
  return 0;
}
