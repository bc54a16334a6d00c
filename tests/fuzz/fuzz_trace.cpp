// Any bytes as a trace: messages in the order of their times between hosts that exist, or one
// fault with its line.
#include <sstream>
#include <string>

#include "sim-backend/traffic/trace.h"
#include "tests/fuzz/decode_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  constexpr sim::HostNum kHosts = 8;
  std::istringstream in(std::string(data, data + size));
  sim::TraceReader reader(in, "f", kHosts);
  std::uint64_t messages = 0;
  sim::Picos last = 0;
  bool fine = true;
  while (true) {
    const auto next = reader.next();
    if (!next) {
      fuzz::require(next.error().size() == 1 && next.error().front().line > 0);
      fuzz::require(next.error().front().message.find('\n') == std::string::npos);
      fine = false;
      break;
    }
    if (!*next) break;
    const sim::TraceLine& line = **next;
    fuzz::require(line.source < kHosts && line.destination < kHosts && line.sl < 16);
    fuzz::require(line.at >= last);
    last = line.at;
    ++messages;
  }
  std::istringstream again(std::string(data, data + size));
  const auto counted = sim::check_trace(again, "f", kHosts);
  fuzz::require(counted.has_value() == fine && (!fine || *counted == messages));
  return 0;
}
