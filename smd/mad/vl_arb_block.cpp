#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<VlArbBlock> decode_vl_arb_block(std::span<const std::byte> data) {
  ByteReader in(data);
  VlArbBlock block;
  for (VlArbEntry& entry : block) {
    entry.vl = Vl{codec::bits(in.u8(), 0, 4)};
    entry.weight = in.u8();
  }
  if (!in.ok()) return codec::too_short("VLArbitrationTable", data.size());
  return block;
}

void encode_vl_arb_block(const VlArbBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const VlArbEntry& entry : block) {
    out.u8(codec::place(entry.vl.value(), 0, 4));
    out.u8(entry.weight);
  }
}

std::string print_vl_arb_block(const VlArbBlock& block) {
  std::string line = "vl:weight";
  for (const VlArbEntry& entry : block) {
    if (entry.weight != 0) line += fmt::format(" {}:{}", entry.vl, entry.weight);
  }
  return line;
}

}  // namespace smd
