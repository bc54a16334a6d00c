// The state directory as one text, to be carried to another host or kept (docs/formats/state.md).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "smd/base/result.h"

namespace smd {

/// By kind: "lids", "turns", "rows", "partition_orders", "m_key_links", "directions",
/// "lattice", "records". The text of each, without the store's own lines.
using StateBundle = std::map<std::string, std::string>;

[[nodiscard]] std::string print_bundle(const StateBundle& bundle);

/// Every fault of every kind: what comes out can be loaded. `file` is for the messages.
[[nodiscard]] Parsed<StateBundle> parse_bundle(std::string_view text, const std::string& file);

/// Kinds that are there; a damaged one is a fault.
[[nodiscard]] Parsed<StateBundle> read_bundle(const std::string& state_dir);

struct Imported {
  StateBundle bundle;
  std::string note;  // what the file has that is not taken over; may be empty
};

/// A bundle of ours, OpenSM's guid2lid, neighbors or opensm-sa.dump, told apart by their content.
/// `wall_ms`: since 1970.
[[nodiscard]] Parsed<Imported> import_state(std::string_view text,
                                            const std::string& file,
                                            std::int64_t wall_ms);

}  // namespace smd
