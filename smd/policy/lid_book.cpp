// The text form of the LID book.

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "smd/base/fault_list.h"
#include "smd/policy/lid_assignment.h"

namespace smd {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    word.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

struct Line {
  Guid guid;
  LidRecord record;
};

/// What is wrong with a line, and the word of it.
struct Wrong {
  std::string_view word;
  std::string why;
};

/// Requires: there is a word.
tl::expected<Line, Wrong> parse_line(const std::vector<std::string_view>& words) {
  const auto wrong = [&](std::size_t word, std::string why) {
    return tl::unexpected(Wrong{words[word], std::move(why)});
  };
  if (words.size() != 3)
    return wrong(
        words.size() > 3 ? 3 : 0,
        fmt::format("{} words; a line is PORT_GUID LID LMC, as in 0x0002c90300000001 0x0001 0",
                    words.size()));
  const auto guid = parse_number(words[0]);
  if (!guid || *guid == 0)
    return wrong(
        0,
        fmt::format("'{}' is no GUID; it has up to 16 hexadecimal digits after 0x, and is not 0",
                    words[0]));
  const auto lid = parse_number(words[1]);
  if (!lid || *lid == 0 || *lid > kTopUnicastLid.value())
    return wrong(1, fmt::format("'{}' is no unicast LID; those are 0x0001 … 0xbfff", words[1]));
  const auto lmc = parse_number(words[2]);
  if (!lmc || *lmc > 7) return wrong(2, fmt::format("'{}' is no LMC; it is 0 … 7", words[2]));
  const std::uint64_t size = std::uint64_t{1} << *lmc;
  if (*lid % size != 0)
    return wrong(
        1,
        fmt::format(
            "LID 0x{:04x} with LMC {}: the LID has to be a multiple of {}", *lid, *lmc, size));
  if (*lid + size - 1 > kTopUnicastLid.value())
    return wrong(1, fmt::format("LID 0x{:04x} with LMC {} reaches beyond 0xbfff", *lid, *lmc));
  return Line{Guid{*guid},
              {Lid{static_cast<std::uint16_t>(*lid)}, static_cast<std::uint8_t>(*lmc)}};
}

}  // namespace

std::string print_lid_book(const LidBook& book) {
  std::string text;
  for (const auto& [guid, record] : book)
    fmt::format_to(
        std::back_inserter(text), "{} 0x{:04x} {}\n", guid, record.base.value(), record.lmc);
  return text;
}

Parsed<LidBook> parse_lid_book(std::string_view text, const std::string& file) {
  LidBook book;
  FaultList faults(file);
  std::vector<int> line_of(kTopUnicastLid.value() + 1u, 0);
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view raw = text.substr(at, end - at);
    at = end + 1;
    raw = raw.substr(0, raw.find('#'));
    const std::vector<std::string_view> words = split(raw);
    if (words.empty()) continue;
    const auto line = parse_line(words);
    if (!line) {
      faults.add(number, column_of(raw, line.error().word), line.error().why);
      continue;
    }
    const unsigned first = line->record.base.value();
    const unsigned last = first + (1u << line->record.lmc) - 1;
    int taken = 0;
    for (unsigned lid = first; taken == 0 && lid <= last; ++lid) taken = line_of[lid];
    if (book.contains(line->guid)) {
      faults.add(number, column_of(raw, words[0]), fmt::format("{} is here twice", line->guid));
    } else if (taken != 0) {
      faults.add(number,
                 column_of(raw, words[1]),
                 fmt::format("LID 0x{:04x} is already given by line {}", first, taken));
    } else {
      book.emplace(line->guid, line->record);
      for (unsigned lid = first; lid <= last; ++lid) line_of[lid] = number;
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return book;
}

LidBook follow_fabric(const Fabric& fabric, LidBook book) {
  std::vector<bool> taken(kTopUnicastLid.value() + 1u, false);
  LidBook::sequence_type records;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const PortInfo& info = fabric.port_info[port];
    const unsigned last = info.lid.value() + (1u << info.lmc) - 1u;
    if (!is_unicast(info.lid) || last > kTopUnicastLid.value()) continue;
    records.emplace_back(fabric.port_guid[port], LidRecord{.base = info.lid, .lmc = info.lmc});
    for (unsigned lid = info.lid.value(); lid <= last; ++lid) taken[lid] = true;
  }
  const auto guid_of = [](const auto& record) { return record.first; };
  std::ranges::reverse(records);  // of ports with one GUID the last one counts
  std::ranges::stable_sort(records, {}, guid_of);
  const auto again = std::ranges::unique(records, {}, guid_of);
  records.erase(again.begin(), again.end());
  const std::size_t present = records.size();
  for (const auto& [guid, record] : book) {
    if (std::ranges::binary_search(records.begin(),
                                   records.begin() + static_cast<std::ptrdiff_t>(present),
                                   guid,
                                   {},
                                   guid_of))
      continue;
    const unsigned last = record.base.value() + (1u << record.lmc) - 1u;
    bool free = last <= kTopUnicastLid.value();
    for (unsigned lid = record.base.value(); free && lid <= last; ++lid) free = !taken[lid];
    if (free) records.emplace_back(guid, record);
  }
  std::ranges::sort(records, {}, guid_of);
  book.adopt_sequence(boost::container::ordered_unique_range, std::move(records));
  return book;
}

}  // namespace smd
