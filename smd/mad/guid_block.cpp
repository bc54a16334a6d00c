#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<GuidBlock> decode_guid_block(std::span<const std::byte> data) {
  ByteReader in(data);
  GuidBlock block;
  for (Guid& guid : block) guid = Guid{in.u64()};
  if (!in.ok()) return codec::too_short("GUIDInfo", data.size());
  return block;
}

void encode_guid_block(const GuidBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const Guid guid : block) out.u64(guid.value());
}

std::string print_guid_block(const GuidBlock& block) {
  std::string line = "guids";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != Guid{}) line += fmt::format(" {}:{}", i, block[i]);
  }
  return line;
}

}  // namespace smd
