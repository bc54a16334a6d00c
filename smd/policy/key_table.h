// A port's P_Key table as it shall be, given the one it has. A key keeps its index as long as it is
// wanted: queue pairs name their partition by index. New keys stand behind all that were ever used,
// while there is room, so that an index does not turn into another partition under a queue pair
// that outlived its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "smd/ib/types.h"

namespace smd {

/// 0 is an entry without a key (IBA 10.9.1).
using KeyTable = std::vector<PKey>;

struct KeyTableWish {
  std::vector<PKey> keys;  // each once
  PKey first;              // of them, the one for index 0; 0: the key of the default partition
  std::size_t used = 0;    // entries that were in use before, by any key
};

/// As long as `now`, which is as long as the agent has room. Nothing when the keys do not fit.
[[nodiscard]] std::optional<KeyTable> arrange_keys(const KeyTable& now, const KeyTableWish& wish);

/// Entries up to the last that holds a key.
[[nodiscard]] std::size_t used_entries(const KeyTable& table);

/// Whether some entry is of the default partition, in full or limited: without one the agent
/// neither asks nor answers the subnet administration.
[[nodiscard]] bool has_default_key(std::span<const PKey> entries);

}  // namespace smd
