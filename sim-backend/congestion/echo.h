// What a destination sends back to the source of a flow.
//
//   acknowledgements   one for each packet; marks are copied (FECN to BECN, or both bits). As the
//                      reliable service does, and as windows need it.
//   notifications      one for each marked packet alone (CNP): unreliable services
#pragma once

#include <functional>
#include <memory>

#include "sim-backend/packet/congestion_hooks.h"

namespace smd::sim {

/// SL of the way back, from the destination to the source. Empty: that of the flow.
using ReplySl = std::function<std::uint8_t(HostNum from, HostNum to)>;

inline constexpr std::uint16_t kAckPayload = 0;   // AETH is counted with the headers
inline constexpr std::uint16_t kCnpPayload = 16;  // reserved bytes after BTH

[[nodiscard]] std::unique_ptr<Echo> acknowledge(std::uint16_t payload = kAckPayload,
                                                ReplySl sl = {});
[[nodiscard]] std::unique_ptr<Echo> notify(std::uint16_t payload = kCnpPayload, ReplySl sl = {});

}  // namespace smd::sim
