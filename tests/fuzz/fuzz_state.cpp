// Any bytes as each file of the state directory, as a bundle of them and as what OpenSM left: a
// reading that survives being printed and read again, or faults that name a line.
#include <string>

#include "smd/config/config.h"
#include "smd/policy/lid_assignment.h"
#include "smd/state/client_records.h"
#include "smd/state/opensm_state.h"
#include "smd/state/state_bundle.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_store.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

constexpr std::int64_t kWallMs = 1'700'000'000'000;

Moment now() { return {.runtime = TimePoint{}, .wall_ms = kWallMs}; }

template <class T>
bool is_fine(const Parsed<T>& parsed) {
  if (parsed) return true;
  require(!parsed.error().empty());
  for (const Fault& fault : parsed.error()) {
    require(!fault.message.empty() && fault.message.find('\n') == std::string::npos);
    require(fault.line >= 0);
  }
  return false;
}

void check_wrapping(const std::string& text) {
  (void)is_fine(unwrap_state("records", text, "f"));
  if (!text.empty() && text.back() != '\n') return;
  const auto again = unwrap_state("records", wrap_state("records", text), "f");
  require(again.has_value() && again->ends_with(text));
}

void check_kinds(const std::string& text) {
  if (const auto keys = parse_cc_keys(text, "f"); is_fine(keys))
    require(parse_cc_keys(print_cc_keys(*keys), "f").value() == *keys);
  if (const auto turns = parse_turns(text, "f"); is_fine(turns))
    require(parse_turns(print_turns(*turns), "f").value() == *turns);
  if (const auto ranks = parse_directions(text, "f"); is_fine(ranks))
    require(parse_directions(print_directions(*ranks), "f").value() == *ranks);
  if (const auto lattice = parse_lattice(text, "f"); is_fine(lattice))
    require(parse_lattice(print_lattice(*lattice), "f").value() == *lattice);
  if (const auto book = parse_lid_book(text, "f"); is_fine(book))
    require(parse_lid_book(print_lid_book(*book), "f").value() == *book);
  if (const auto records = parse_records(text, "f", now()); is_fine(records))
    require(parse_records(print_records(*records, now()), "f", now()).value() == *records);
  (void)is_fine(parse_root_file(text, "f"));
  (void)is_fine(parse_node_name_map(text, "f"));
}

/// As a file that changes are applied to, and as changes: what is kept of either can be read.
void check_changes(const std::string& text) {
  if (const auto lines = RecordLines::read(text))
    require(parse_records(lines->print(), "f", now()).has_value());
  auto none = RecordLines::read("");
  none->apply(text);
  require(parse_records(none->print(), "f", now()).has_value());
  (void)shift_leases(text, kWallMs);
}

void check_bundles(const std::string& text) {
  if (const auto bundle = parse_bundle(text, "f"); is_fine(bundle))
    require(parse_bundle(print_bundle(*bundle), "f").value() == *bundle);
  (void)is_fine(import_state(text, "f", kWallMs));
  (void)is_fine(parse_guid2lid(text, "f"));
  (void)is_fine(parse_opensm_dump(text, "f", now()));
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  smd::fuzz::check_wrapping(text);
  smd::fuzz::check_kinds(text);
  smd::fuzz::check_changes(text);
  smd::fuzz::check_bundles(text);
  return 0;
}
