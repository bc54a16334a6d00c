// The names of the fields of SA records, as people and scripts write them: where each lies and how
// it is printed and read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "smd/base/result.h"
#include "smd/sa/component_mask.h"

namespace smd::app {

enum class FieldKind : std::uint8_t {
  Number,
  Hex,    // keys and masks: "0x…", as many digits as it has
  Gid,    // "fe80::2:c903:0:1"
  Text,   // until the first zero byte
  Bytes,  // "0a0b…"
  Ports,  // a list of numbers, one a byte
};

struct SaField {
  std::string_view name;
  sa::Component place;  // its bit in the ComponentMask, its bits in the record
  FieldKind kind = FieldKind::Number;
};

struct SaRecordText {
  std::string_view name;
  std::string_view short_name;  // saquery's
  sa::RecordId id;
  std::size_t size;
  std::vector<SaField> fields;
};

/// Null when nothing is called so. Case does not matter.
[[nodiscard]] const SaRecordText* find_sa_record(std::string_view name);

[[nodiscard]] std::span<const SaRecordText> sa_records();

/// Null likewise.
[[nodiscard]] const SaField* find_sa_field(const SaRecordText& record, std::string_view name);

/// Requires: record.size() covers the field.
[[nodiscard]] nlohmann::json print_sa_field(const SaField& field,
                                            std::span<const std::byte> record);

/// Writes `text` into the field; Invalid when it is no value of it.
Result<void> parse_sa_field(const SaField& field,
                            std::string_view text,
                            std::span<std::byte> record);

}  // namespace smd::app
