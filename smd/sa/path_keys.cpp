#include "smd/sa/path_keys.h"

#include <algorithm>

namespace smd::sa {
namespace {

constexpr std::uint16_t kPartitionBits = 0x7fff;

std::uint16_t partition_of(PKey key) { return key.value() & kPartitionBits; }

}  // namespace

std::optional<PKey> find_path_key(const SubnetView& view,
                                  PortIdx source,
                                  PortIdx target,
                                  std::optional<PKey> asked,
                                  const std::vector<NumberRange>& allowed) {
  const auto may_be = [&](PKey key) {
    return (!asked || partition_of(key) == partition_of(*asked)) &&
           (allowed.empty() || is_in(allowed, partition_of(key)));
  };
  if (view.partitions() == nullptr) {
    if (!may_be(kDefaultPKey)) return std::nullopt;
    return asked.value_or(kDefaultPKey);
  }
  const PartitionMap& map = view.partitions()->map;
  std::optional<PKey> best;
  for (const PKey key : map[source].keys) {
    if (!may_be(key)) continue;
    const bool joins = source == target || std::ranges::any_of(map[target].keys, [&](PKey other) {
                         return keys_match(key, other);
                       });
    if (!joins) continue;
    if (asked) return asked;
    if (partition_of(key) == kDefaultPartition) return key;
    if (!best) best = key;
  }
  return best;
}

}  // namespace smd::sa
