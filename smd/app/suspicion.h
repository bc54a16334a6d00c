// Why the fabric may be other than it is believed to be, and where; or why its routes should be.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "smd/ib/types.h"

namespace smd::app {

struct Suspicion {
  std::string reason;          // of the first: "trap 128 from lid 5"
  std::vector<Guid> switches;  // where; may name one twice
  std::string full;            // not empty: everything must be looked at, and why
  bool relief = false;         // loads are to be made even where nothing has changed

  static Suspicion of(std::string reason, std::vector<Guid> switches) {
    return {
        .reason = std::move(reason), .switches = std::move(switches), .full = {}, .relief = false};
  }

  static Suspicion of_everything(std::string reason) {
    std::string full = reason;
    return {.reason = std::move(reason), .switches = {}, .full = std::move(full), .relief = false};
  }

  static Suspicion of_unevenness(std::string reason) {
    return {.reason = std::move(reason), .switches = {}, .full = {}, .relief = true};
  }

  [[nodiscard]] bool empty() const { return reason.empty(); }

  void merge(Suspicion other) {
    if (reason.empty()) reason = std::move(other.reason);
    if (full.empty()) full = std::move(other.full);
    switches.insert(switches.end(), other.switches.begin(), other.switches.end());
  }
};

}  // namespace smd::app
