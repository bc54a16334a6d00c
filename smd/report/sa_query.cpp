// Names of fields, and a query by them.
#include "smd/report/sa_query.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace smd {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Fields of up to 64 bits may lie anywhere; longer ones begin and end with a byte.
std::uint64_t read_bits(std::span<const std::byte> record, const sa::Component& place) {
  std::uint64_t value = 0;
  for (unsigned bit = place.first; bit < unsigned{place.first} + place.width; ++bit) {
    const bool one = (record[bit / 8] & (std::byte{0x80} >> bit % 8)) != std::byte{0};
    value = value << 1 | (one ? 1u : 0u);
  }
  return value;
}

void write_bits(std::span<std::byte> record, const sa::Component& place, std::uint64_t value) {
  for (unsigned i = 0; i < place.width; ++i) {
    const unsigned bit = unsigned{place.first} + place.width - 1 - i;
    const std::byte one = std::byte{0x80} >> bit % 8;
    record[bit / 8] &= ~one;
    if ((value >> i & 1) != 0) record[bit / 8] |= one;
  }
}

template <class Bytes>
Bytes bytes_of(Bytes record, const sa::Component& place) {
  return record.subspan(place.first / 8, place.width / 8);
}

std::string print_gid(std::span<const std::byte> gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, gid.data(), text.data(), text.size());
  return text.data();
}

std::optional<std::uint64_t> parse_number(std::string_view text, unsigned width) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, base);
  if (error != std::errc{} || end != text.end()) return std::nullopt;
  if (width < 64 && value >> width != 0) return std::nullopt;
  return value;
}

/// Two digits for each byte.
bool parse_bytes(std::string_view text, std::span<std::byte> out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = parse_number("0x" + std::string(text.substr(2 * i, 2)), 8);
    if (!byte) return false;
    out[i] = static_cast<std::byte>(*byte);
  }
  return true;
}

using Json = nlohmann::json;

constexpr std::uint64_t kMostShown = 1000;

/// Whatever is asked for: making the text of more would keep the loop from answering others.
constexpr std::uint64_t kMostAtAll = 10'000;
constexpr std::size_t kMostText = std::size_t{4} << 20;  // bytes, about

std::string list_records() {
  std::string text;
  for (const SaRecordText& each : sa_records()) text += fmt::format(" {}", each.name);
  return text;
}

std::string list_fields(const SaRecordText& record) {
  std::string text;
  for (const SaField& each : record.fields) text += fmt::format(" {}", each.name);
  return text;
}

std::string_view explain(sa::Status status) {
  switch (status) {
    case sa::Status::Busy:
      return "busy";
    case sa::Status::NoResources:
      return "the answer would be too large; name a LID or a GUID";
    case sa::Status::InvalidGid:
      return "nobody in this subnet has that GID";
    case sa::Status::BadMethodAttribute:
      return "not supported";
    default:
      return "refused";
  }
}

/// Fills the request's record and mask.
Result<void> read_conditions(const SaRecordText& record,
                             const Json& where,
                             std::span<std::byte> data,
                             std::uint64_t& mask) {
  if (!where.is_object()) return fail(Errc::Invalid, "'where' is an object of texts and numbers");
  for (const auto& item : where.items()) {
    const SaField* field = find_sa_field(record, item.key());
    if (field == nullptr) {
      return fail(
          Errc::Invalid,
          fmt::format(
              "{} has no field '{}'; it has:{}", record.name, item.key(), list_fields(record)));
    }
    const Json& value = item.value();
    if (!value.is_string() && !value.is_number_unsigned()) {
      return fail(Errc::Invalid,
                  fmt::format("{}: a condition is a text or a number from 0", field->name));
    }
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (auto parsed = parse_sa_field(*field, text, data); !parsed) return parsed;
    mask |= sa::component_bit(field->place.bit);
  }
  return {};
}

Json print_record(const SaRecordText& record, std::span<const std::byte> data) {
  Json out = Json::object();
  for (const SaField& field : record.fields) {
    out[std::string(field.name)] = print_sa_field(field, data);
  }
  return out;
}

Json print_records(const SaRecordText& record, const sa::Answer& answer, std::uint64_t most) {
  const std::uint64_t wanted = std::min<std::uint64_t>(answer.count(), most);
  Json records = Json::array();
  std::size_t text = 0;
  for (std::size_t i = 0; i < std::min(wanted, kMostAtAll) && text < kMostText; ++i) {
    records.push_back(
        print_record(record, std::span(answer.records).subspan(i * record.size, record.size)));
    text += records.back().dump(-1, ' ', false, Json::error_handler_t::replace).size();
  }
  Json out{{"record", record.name}, {"count", answer.count()}, {"records", records}};
  if (records.size() < wanted) out["limited"] = true;
  return out;
}

}  // namespace

std::span<const SaRecordText> sa_records() {
  static const std::vector<SaRecordText> records = make_sa_records();
  return records;
}

const SaRecordText* find_sa_record(std::string_view name) {
  for (const SaRecordText& each : sa_records()) {
    if (same_name(each.name, name) || same_name(each.short_name, name)) return &each;
  }
  return nullptr;
}

const SaField* find_sa_field(const SaRecordText& record, std::string_view name) {
  for (const SaField& each : record.fields) {
    if (same_name(each.name, name)) return &each;
  }
  return nullptr;
}

nlohmann::json print_sa_field(const SaField& field, std::span<const std::byte> record) {
  switch (field.kind) {
    case FieldKind::Number:
      return read_bits(record, field.place);
    case FieldKind::Hex:
      return fmt::format("0x{:0{}x}", read_bits(record, field.place), (field.place.width + 3) / 4);
    case FieldKind::Gid:
      return print_gid(bytes_of(record, field.place));
    case FieldKind::Text: {
      std::string text;
      for (const std::byte each : bytes_of(record, field.place)) {
        if (each == std::byte{0}) break;
        text += static_cast<char>(each);
      }
      return text;
    }
    case FieldKind::Bytes: {
      std::string text;
      for (const std::byte each : bytes_of(record, field.place))
        fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(each));
      return text;
    }
    case FieldKind::Ports: {
      nlohmann::json ports = nlohmann::json::array();
      for (const std::byte each : bytes_of(record, field.place))
        ports.push_back(std::to_integer<unsigned>(each));
      return ports;
    }
  }
  return nullptr;
}

Result<void> parse_sa_field(const SaField& field,
                            std::string_view text,
                            std::span<std::byte> record) {
  const auto no = [&](std::string_view wanted) {
    return fail(Errc::Invalid, fmt::format("{}: '{}' is {}", field.name, text, wanted));
  };
  const std::span<std::byte> bytes = bytes_of(record, field.place);
  switch (field.kind) {
    case FieldKind::Number:
    case FieldKind::Hex: {
      const auto value = parse_number(text, field.place.width);
      if (!value) return no(fmt::format("no number of {} bits", field.place.width));
      write_bits(record, field.place, *value);
      return {};
    }
    case FieldKind::Gid:
      if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1)
        return no("no GID; one is fe80::2:c903:0:1");
      return {};
    case FieldKind::Text:
      if (text.size() > bytes.size()) return no("too long");
      std::ranges::fill(bytes, std::byte{0});
      std::ranges::copy(std::as_bytes(std::span(text)), bytes.begin());
      return {};
    case FieldKind::Bytes:
    case FieldKind::Ports:
      if (!parse_bytes(text, bytes)) return no(fmt::format("not {} hex digits", 2 * bytes.size()));
      return {};
  }
  return {};
}

Result<Json> answer_sa_command(sa::Server& server, const Json& args) {
  const bool named = args.is_object() && args.contains("record") && args.at("record").is_string();
  if (!named) return fail(Errc::Invalid, "argument 'record' is missing, or not a text");
  const auto name = args.at("record").get<std::string>();
  const SaRecordText* record = find_sa_record(name);
  if (record == nullptr) {
    return fail(Errc::Invalid,
                fmt::format("there is no record '{}'; there are:{}", name, list_records()));
  }
  std::array<std::byte, sa::kDataSize> data{};
  std::uint64_t mask = 0;
  if (args.contains("where")) {
    if (auto read = read_conditions(*record, args.at("where"), data, mask); !read)
      return tl::unexpected<Error>(read.error());
  }
  std::uint64_t most = kMostShown;
  if (args.contains("limit")) {
    if (!args.at("limit").is_number_unsigned())
      return fail(Errc::Invalid, "'limit' is a number from 0");
    most = args.at("limit").get<std::uint64_t>();
  }
  const sa::Answer answer =
      server.ask({.header = {.mad = {.method = static_cast<std::uint8_t>(Method::GetTable),
                                     .attribute_id = static_cast<std::uint16_t>(record->id)},
                             .component_mask = mask},
                  .data = data,
                  .trusted = true});
  if (answer.status == sa::Status::Busy) return fail(Errc::Busy, "the subnet is not up yet");
  if (answer.status != sa::Status::Ok) {
    return fail(Errc::Refused,
                fmt::format("{}: {} (status 0x{:04x})",
                            record->name,
                            explain(answer.status),
                            static_cast<unsigned>(answer.status)));
  }
  return print_records(*record, answer, most);
}

}  // namespace smd
