#include "smd/sa/access.h"

#include <algorithm>

namespace smd::sa {
namespace {

constexpr std::uint16_t kPartition = 0x7fff;

bool same_partition(PKey a, PKey b) {
  return (a.value() & kPartition) == (b.value() & kPartition) && (a.value() & kPartition) != 0;
}

}  // namespace

const std::vector<PKey>& keys_of(const SubnetView& view, PortIdx port) {
  static const std::vector<PKey> everybody{kDefaultPKey};
  static const std::vector<PKey> nobody;
  if (port == kNone<PortIdx>) return nobody;
  return view.partitions() != nullptr ? view.partitions()->map[port].keys : everybody;
}

bool shares_partition(const SubnetView& view, PortIdx port, const std::vector<PKey>& keys) {
  return std::ranges::any_of(keys_of(view, port), [&](PKey own) {
    return std::ranges::any_of(keys, [own](PKey other) { return keys_match(own, other); });
  });
}

bool is_member(const SubnetView& view, PortIdx port, PKey key) {
  return std::ranges::any_of(keys_of(view, port),
                             [key](PKey own) { return same_partition(own, key); });
}

}  // namespace smd::sa
