#include "smd/app/sa_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "smd/app/sa_fields.h"

namespace smd::app {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostShown = 1000;

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

}  // namespace

Result<Json> answer_sa_command(Administration& administration, const Json& args) {
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
  const sa::Answer answer = administration.server().ask(
      {.header = {.mad = {.method = static_cast<std::uint8_t>(Method::GetTable),
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
  Json records = Json::array();
  for (std::size_t i = 0; i < answer.count() && i < most; ++i)
    records.push_back(
        print_record(*record, std::span(answer.records).subspan(i * record->size, record->size)));
  return Json{{"record", record->name}, {"count", answer.count()}, {"records", records}};
}

}  // namespace smd::app
