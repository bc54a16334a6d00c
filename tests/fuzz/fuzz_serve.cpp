// Any bytes to a served fabric: datagrams of its socket survive being encoded again, and a console
// line is answered in whole lines.
#include <algorithm>
#include <string>

#include "sim-backend/serve/console.h"
#include "sim-backend/serve/frames.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

void check_datagram(std::span<const std::byte> bytes) {
  if (const auto control = sim::decode_control(bytes)) {
    std::array<std::byte, sim::kControlSize> out{};
    sim::encode_control(*control, out);
    require(sim::decode_control(out).value() == *control);
    const sim::ConnectData connect = sim::decode_connect(control->data);
    require(connect.node.size() < 32);
    require(sim::decode_connect(sim::encode_connect(connect)) == connect);
    (void)sim::decode_flag(control->data);
  }
  if (const auto packet = sim::decode_packet(bytes)) {
    require(packet->length <= kMadSize);
    std::array<std::byte, sim::kPacketSize> out{};
    sim::encode_packet(*packet, out);
    require(sim::decode_packet(out).value() == *packet);
  }
}

void check_words(std::string_view line) {
  sim::ConsoleWords words(line);
  std::size_t most = line.size() + 1;  // every step must use up some of the line
  while (!words.at_end()) {
    require(most-- > 0);
    if (words.next_target()) continue;
    if (words.at_end()) break;
    if (!words.next_number(1000)) (void)words.next_word();
  }
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  fuzz::check_datagram(fuzz::as_bytes(data, size));
  const std::string text(data, data + std::min<std::size_t>(size, 4096));
  fuzz::check_words(text);
  return 0;
}
