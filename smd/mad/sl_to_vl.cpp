#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/tables.h"

namespace smd {

Result<SlToVl> decode_sl_to_vl(std::span<const std::byte> data) {
  ByteReader in(data);
  SlToVl map;
  for (std::size_t sl = 0; sl < map.size(); sl += 2) {
    const std::uint8_t pair = in.u8();
    map[sl] = Vl{codec::bits(pair, 4, 4)};
    map[sl + 1] = Vl{codec::bits(pair, 0, 4)};
  }
  if (!in.ok()) return codec::too_short("SLtoVLMappingTable", data.size());
  return map;
}

void encode_sl_to_vl(const SlToVl& map, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (std::size_t sl = 0; sl < map.size(); sl += 2) {
    out.u8(
        codec::join(codec::place(map[sl].value(), 4, 4), codec::place(map[sl + 1].value(), 0, 4)));
  }
  codec::pad(out, data.size());
}

std::string print_sl_to_vl(const SlToVl& map) {
  std::string line = "vls";
  for (const Vl vl : map) line += fmt::format(" {}", vl);
  return line;
}

}  // namespace smd
