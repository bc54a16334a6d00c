// `smctl sa`: asks the administration what a host would ask, and prints the records by field name.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/server.h"

namespace smd {

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

// `smctl sa`: asks the administration what a host would ask, and prints the records by field name.

/// `args`: "record", a name, and "where", fields and their values as text. Gives {"record",
/// "count", "records"}, of which at most "limit" (1000) are shown; where that is more than come at
/// once, "limited" is true. Whoever may use the socket is trusted, but keys are not shown. Invalid
/// when a name or a value is none; Busy before the subnet is up; Refused, with the status,
/// otherwise.
[[nodiscard]] Result<nlohmann::json> answer_sa_command(sa::Server& server,
                                                       const nlohmann::json& args);

/// The data behind sa_records(), from sa_field_tables.cpp.
[[nodiscard]] std::vector<SaRecordText> make_sa_records();

}  // namespace smd
