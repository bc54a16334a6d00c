#include "smd/app/opensm_export.h"

#include <fmt/format.h>

#include <iterator>

namespace smd::app {

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
                                                  const std::string& from) {
  const auto lids = bundle.find("lids");
  auto book = parse_lid_book(lids == bundle.end() ? std::string_view{} : lids->second, from);
  if (!book) return tl::unexpected<Faults>(book.error());
  if (book->empty()) return fault(from, 0, "has no LIDs, which is what OpenSM would need");
  return std::vector<OpensmFile>{
      {"guid2lid", print_guid2lid(*book), fmt::format("{} ports with LIDs", book->size())}};
}

}  // namespace smd::app
