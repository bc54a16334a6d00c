#include "smd/state/state_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "smd/state/client_records.h"
#include "smd/state/opensm_state.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_files.h"
#include "smd/state/state_store.h"

namespace smd {
namespace {

constexpr std::string_view kBundleMark = "# smd-export 1";
constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kSection = "== ";
constexpr std::array<std::string_view, 8> kKinds{
    "lids", "turns", "rows", "partition_orders", "m_key_links", "directions", "lattice", "records"};

template <class Value>
void collect(const Parsed<Value>& parsed, Faults& faults) {
  if (!parsed) faults.insert(faults.end(), parsed.error().begin(), parsed.error().end());
}

void check(const StateBundle& bundle, const std::string& file, Faults& faults) {
  for (const auto& [kind, text] : bundle) {
    const std::string where = file + " (" + kind + ")";
    if (kind == "lids") collect(parse_lid_book(text, where), faults);
    if (kind == "turns") collect(parse_turns(text, where), faults);
    if (kind == "partition_orders") collect(parse_partition_orders(text, where), faults);
    if (kind == "m_key_links") collect(parse_m_key_links(text, where), faults);
    if (kind == "directions") collect(parse_directions(text, where), faults);
    if (kind == "lattice") collect(parse_lattice(text, where), faults);
    if (kind == "records") collect(parse_records(text, where, {}), faults);
  }
}

/// The first line that says something.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Parsed<Imported> import_dump(std::string_view text, const std::string& file, std::int64_t wall_ms) {
  const Moment now{.runtime = {}, .wall_ms = wall_ms};
  auto dump = parse_opensm_dump(text, file, now);
  if (!dump) return tl::unexpected<Faults>(dump.error());
  Imported out;
  out.bundle["records"] = print_records(dump->records, now);
  out.note = fmt::format(
      "{} subscribers, {} services; {} multicast groups and {} tables of alias "
      "GUIDs are left to their owners, who are asked to register again",
      dump->records.subscriptions.size(),
      dump->records.services.size(),
      dump->groups,
      dump->aliases);
  return out;
}

/// A port and its key in every line; OpenSM's guid2lid has a third word.
bool is_guid2mkey(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t words = 0;
    for (; !line.empty(); line.remove_prefix(std::min(line.find_first_of(kSpace), line.size()))) {
      line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
      if (line.empty()) break;
      if (!line.starts_with("0x")) return false;
      ++words;
    }
    if (words != 0 && words != 2) return false;
  }
  return true;
}

Parsed<Imported> import_lids(std::string_view text, const std::string& file) {
  auto book = parse_guid2lid(text, file);
  if (!book) return tl::unexpected<Faults>(book.error());
  Imported out;
  out.bundle["lids"] = print_lid_book(*book);
  out.note = fmt::format("{} ports with LIDs", book->size());
  return out;
}

}  // namespace

std::string print_bundle(const StateBundle& bundle) {
  std::string out = fmt::format("{}\n", kBundleMark);
  for (const std::string_view kind : kKinds) {
    const auto found = bundle.find(std::string(kind));
    if (found == bundle.end()) continue;
    fmt::format_to(std::back_inserter(out), "{}{}\n{}", kSection, kind, found->second);
    if (!found->second.empty() && found->second.back() != '\n') out += '\n';
  }
  return out;
}

Parsed<StateBundle> parse_bundle(std::string_view text, const std::string& file) {
  StateBundle bundle;
  Faults faults;
  std::string* section = nullptr;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      if (line != kBundleMark)
        return fault(file, 1, fmt::format("the first line is not '{}'", kBundleMark));
    } else if (line.starts_with(kSection)) {
      const std::string kind(line.substr(kSection.size()));
      if (std::ranges::find(kKinds, kind) == kKinds.end())
        faults.push_back({file, number, fmt::format("there is no state '{}'", kind)});
      section = &bundle[kind];
    } else if (section != nullptr) {
      *section += fmt::format("{}\n", line);
    } else if (!line.empty()) {
      faults.push_back({file, number, "stands before the first '== KIND'"});
    }
  }
  check(bundle, file, faults);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return bundle;
}

Parsed<StateBundle> read_bundle(const std::string& state_dir) {
  StateBundle bundle;
  Faults faults;
  for (const std::string_view kind : kKinds) {
    auto text = kind == "records" ? read_records(state_dir) : read_state(state_dir, kind);
    collect(text, faults);
    // The store's first line leaves an empty one.
    if (text && text->find_first_not_of('\n') != std::string::npos)
      bundle[std::string(kind)] = text->substr(text->find_first_not_of('\n'));
  }
  check(bundle, state_dir, faults);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return bundle;
}

Parsed<Imported> import_state(std::string_view text,
                              const std::string& file,
                              std::int64_t wall_ms) {
  const std::string_view first = first_line(text);
  if (first.starts_with("# smd-export")) {
    auto bundle = parse_bundle(text, file);
    if (!bundle) return tl::unexpected<Faults>(bundle.error());
    return Imported{.bundle = std::move(*bundle), .note = {}};
  }
  for (const std::string_view word :
       {"MC Group ", "mcm_port:", "InformInfo Record:", "Service Record:", "GUIDInfo Record:"}) {
    if (first.starts_with(word)) return import_dump(text, file, wall_ms);
  }
  if (first.starts_with("0x") && first.find(':') != std::string_view::npos)
    return Imported{.bundle = {}, .note = "OpenSM's neighbors: smd asks the links themselves"};
  if (first.starts_with("0x") && is_guid2mkey(text))
    return Imported{.bundle = {},
                    .note =
                        "OpenSM's guid2mkey: smd's keys are those of sm.m_key or sm.m_key_file; a "
                        "port under another one is named when it is met"};
  if (first.starts_with("0x")) return import_lids(text, file);
  return fault(file,
               first.empty() ? 0 : 1,
               "is no export of smd, and none of OpenSM's guid2lid, guid2mkey, neighbors and "
               "opensm-sa.dump");
}

}  // namespace smd
