// A configuration file: faults of one line each, or a configuration that survives printing.
#include "smd/config/config.h"
#include "tests/fuzz/decode_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  const std::string text(data, data + size);
  const Parsed<Config> config = parse_config(text, "f");
  if (!config) {
    fuzz::require(!config.error().empty());
    for (const Fault& fault : config.error()) {
      fuzz::require(!fault.message.empty() && fault.message.find('\n') == std::string::npos);
      fuzz::require(fault.line >= 0);
    }
    return 0;
  }
  const Parsed<Config> again = parse_config(print_config(*config), "f");
  fuzz::require(again.has_value() && *again == *config);
  return 0;
}
