#include "smd/policy/partitions.h"

#include <algorithm>

#include "smd/mad/modifiers.h"
#include "smd/mad/tables.h"

namespace smd {
namespace {

constexpr std::uint16_t kPartitionBits = 0x7fff;  // bit 15 is full membership

bool in_partition(PKey key, PKey partition) {
  return (key.value() & kPartitionBits) == (partition.value() & kPartitionBits);
}

std::optional<SmpData> with_default_pkey(const SmpData& now) {
  auto block = decode_p_key_block(now);
  if (!block) return std::nullopt;
  if (std::ranges::find(*block, kDefaultPKey) != block->end()) return std::nullopt;
  auto place =
      std::ranges::find_if(*block, [](PKey key) { return in_partition(key, kDefaultPKey); });
  if (place == block->end())
    place =
        std::ranges::find_if(*block, [](PKey key) { return (key.value() & kPartitionBits) == 0; });
  *(place == block->end() ? block->begin() : place) = kDefaultPKey;
  SmpData wanted{};
  encode_p_key_block(*block, wanted);
  return wanted;
}

}  // namespace

std::vector<TableCheck> build_default_pkey_checks(const Fabric& fabric) {
  std::vector<TableCheck> checks;
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port))
      checks.push_back({port, AttributeId::PKeyTable, 0, with_default_pkey});
  }
  return checks;
}

}  // namespace smd
