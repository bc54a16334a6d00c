#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<LftBlock> decode_lft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  LftBlock block;
  for (PortNum& port : block) port = PortNum{in.u8()};
  if (!in.ok()) return codec::too_short("LinearForwardingTable", data.size());
  return block;
}

void encode_lft_block(const LftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const PortNum port : block) out.u8(port.value());
}

std::string print_lft_block(const LftBlock& block) {
  std::string line = "ports";
  for (const PortNum port : block) {
    line += port == kNoRoute ? " -" : fmt::format(" {}", port);
  }
  return line;
}

}  // namespace smd
