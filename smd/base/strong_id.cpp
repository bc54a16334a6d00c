#include "smd/base/strong_id.h"

#include <fmt/format.h>

namespace smd {

fmt::appender append_decimal(fmt::appender out, unsigned long long number) {
  return fmt::format_to(out, "{}", number);
}

fmt::appender append_hex64(fmt::appender out, unsigned long long number) {
  return fmt::format_to(out, "0x{:016x}", number);
}

}  // namespace smd
