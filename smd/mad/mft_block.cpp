#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<MftBlock> decode_mft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  MftBlock block;
  for (std::uint16_t& mask : block) mask = in.u16();
  if (!in.ok()) return codec::too_short("MulticastForwardingTable", data.size());
  return block;
}

void encode_mft_block(const MftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const std::uint16_t mask : block) out.u16(mask);
}

std::string print_mft_block(const MftBlock& block) {
  std::string line = "masks";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != 0) line += fmt::format(" {}:0x{:04x}", i, block[i]);
  }
  return line;
}

}  // namespace smd
