#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<PKeyBlock> decode_p_key_block(std::span<const std::byte> data) {
  ByteReader in(data);
  PKeyBlock block;
  for (PKey& key : block) key = PKey{in.u16()};
  if (!in.ok()) return codec::too_short("P_KeyTable", data.size());
  return block;
}

void encode_p_key_block(const PKeyBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const PKey key : block) out.u16(key.value());
}

std::string print_p_key_block(const PKeyBlock& block) {
  std::string line = "pkeys";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != PKey{0}) line += fmt::format(" {}:0x{:04x}", i, block[i].value());
  }
  return line;
}

}  // namespace smd
