#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<RftBlock> decode_rft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  RftBlock block;
  for (RftEntry& entry : block) {
    entry.lid = Lid{in.u16()};
    const std::uint8_t flags = in.u8();
    entry.valid = codec::bit(flags, 7);
    entry.lmc = codec::bits(flags, 4, 3);
    entry.port = PortNum{in.u8()};
  }
  if (!in.ok()) return codec::too_short("RandomForwardingTable", data.size());
  return block;
}

void encode_rft_block(const RftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const RftEntry& entry : block) {
    out.u16(entry.lid.value());
    out.u8(codec::join(codec::place(entry.valid, 7, 1), codec::place(entry.lmc, 4, 3)));
    out.u8(entry.port.value());
  }
}

std::string print_rft_block(const RftBlock& block) {
  std::string line = "entries";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!block[i].valid) continue;
    line += fmt::format(" {}:lid {}/{} port {}", i, block[i].lid, block[i].lmc, block[i].port);
  }
  return line;
}

}  // namespace smd
