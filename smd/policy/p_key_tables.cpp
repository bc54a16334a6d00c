#include "smd/policy/p_key_tables.h"

#include <algorithm>

namespace smd {
namespace {

/// The entry of `now` that the key takes over: its own, or one that was of the other membership and
/// is not wanted as such any more.
std::optional<std::size_t> find_place(const KeyTable& now, const WantedKeyTable& wanted, PKey key) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == key) return i;
    const bool freed = std::ranges::find(wanted.keys, now[i]) == wanted.keys.end();
    if (!place && freed && now[i] != PKey{0} && same_partition(now[i], key)) place = i;
  }
  return place;
}

/// For index 0. Where that is empty a key of the default partition stays where it stands, as every
/// key does; in front of a host, where nobody names partitions by index, wherever it stands.
PKey find_first(const KeyTable& now, const WantedKeyTable& wanted) {
  if (wanted.first != PKey{0}) return wanted.first;
  // Of both memberships the full one.
  PKey first{0};
  for (const PKey key : wanted.keys) {
    if (same_partition(key, kDefaultPKey)) first = std::max(first, key);
  }
  const bool may_stay = wanted.enforced || (!now.empty() && now[0] == PKey{0});
  return may_stay && find_place(now, wanted, first) ? PKey{0} : first;
}

}  // namespace

std::optional<KeyTable> arrange_keys(const KeyTable& now, const WantedKeyTable& wanted) {
  if (wanted.keys.size() > now.size()) return std::nullopt;
  KeyTable table(now.size());
  const PKey first = find_first(now, wanted);
  if (first != PKey{0}) table[0] = first;
  std::vector<PKey> homeless;
  for (const PKey key : wanted.keys) {
    if (key == first) continue;
    const auto place = find_place(now, wanted, key);
    if (place && table[*place] == PKey{0}) {
      table[*place] = key;
    } else {
      homeless.push_back(key);
    }
  }
  std::size_t fresh =
      std::max({wanted.used, used_entries(now), used_entries(table), std::size_t{1}});
  std::size_t any = first == PKey{0} ? 0 : 1;
  for (const PKey key : homeless) {
    if (fresh < table.size()) {
      table[fresh++] = key;
      continue;
    }
    while (table[any] != PKey{0}) ++any;
    table[any] = key;
  }
  return table;
}

std::size_t used_entries(const KeyTable& table) {
  std::size_t used = table.size();
  while (used > 0 && table[used - 1] == PKey{0}) --used;
  return used;
}

bool has_default_key(std::span<const PKey> entries) {
  return std::ranges::any_of(entries, [](PKey key) { return same_partition(key, kDefaultPKey); });
}

}  // namespace smd
