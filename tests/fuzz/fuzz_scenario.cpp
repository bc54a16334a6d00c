// Any bytes as a scenario or as the result of one task of a campaign: either is read, or every
// fault has its line.
#include <string>

#include "sim-backend/campaign/part.h"
#include "sim-backend/scenario/scenario.h"
#include "tests/fuzz/decode_checks.h"

namespace {

template <class T>
void check(const smd::Parsed<T>& parsed) {
  if (parsed) return;
  smd::fuzz::require(!parsed.error().empty());
  for (const smd::Fault& fault : parsed.error()) {
    smd::fuzz::require(fault.line >= 0 && !fault.message.empty());
    smd::fuzz::require(fault.message.find('\n') == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check(smd::sim::parse_scenario(text, "f"));
  check(smd::sim::parse_part(text, "f"));
  return 0;
}
