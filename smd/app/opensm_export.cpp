#include "smd/app/opensm_export.h"

#include <fmt/format.h>

#include <iterator>

#include "smd/app/opensm_dump.h"

namespace smd::app {
namespace {

std::string_view text_of(const StateBundle& bundle, const std::string& kind) {
  const auto found = bundle.find(kind);
  return found == bundle.end() ? std::string_view{} : found->second;
}

std::string describe(const OpensmDumpText& dump) {
  return fmt::format(
      "{} multicast groups, {} subscriptions, {} services, {} tables of alias GUIDs; left out: {}",
      dump.groups,
      dump.subscriptions,
      dump.services,
      dump.aliases,
      dump.left_out);
}

}  // namespace

std::string print_guid2lid(const LidBook& book) {
  std::string text;
  for (const auto& [guid, record] : book) {
    const unsigned first = record.base.value();
    fmt::format_to(std::back_inserter(text),
                   "{} 0x{:04x} 0x{:04x}\n\n",
                   guid,
                   first,
                   first + (1U << record.lmc) - 1);
  }
  return text;
}

Parsed<std::vector<OpensmFile>> export_for_opensm(const StateBundle& bundle,
                                                  const ExportContext& context) {
  const auto book = parse_lid_book(text_of(bundle, "lids"), context.from);
  if (!book) return tl::unexpected<Faults>(book.error());
  if (book->empty()) return fault(context.from, 0, "has no LIDs, which is what OpenSM would need");
  std::vector<OpensmFile> files{
      {"guid2lid", print_guid2lid(*book), fmt::format("{} ports with LIDs", book->size())}};
  const Moment now{.runtime = {}, .wall_ms = context.wall_ms};
  const auto records = parse_records(text_of(bundle, "records"), context.from, now);
  if (!records) return tl::unexpected<Faults>(records.error());
  OpensmDumpText dump = print_opensm_dump(
      *records, {.lids = *book, .subnet_prefix = context.subnet_prefix, .now = now});
  if (!dump.text.empty() || dump.left_out > 0) {
    std::string note = describe(dump);
    files.push_back({"opensm-sa.dump", std::move(dump.text), std::move(note)});
  }
  return files;
}

}  // namespace smd::app
