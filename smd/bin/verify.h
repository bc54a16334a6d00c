// `smd verify`: tables that another subnet manager wrote, checked from their dumps.
#pragma once

#include <string>

namespace smd::bin {

struct VerifyOptions {
  std::string fabric;
  std::string lft;
  std::string sl2vl;            // empty: one VL
  std::string path_sl;          // empty: any SL on any path
  unsigned permutations = 100;  // of the effective bisection
  bool any_sl = false;          // hosts may use any SL
  bool json = false;
  bool progress = false;  // on standard error, though it is no terminal
};

/// The exit code: 0 when the routes are sound, 1 when not, 2 when the input is wrong.
[[nodiscard]] int verify(const VerifyOptions& options);

}  // namespace smd::bin
