// The CC_Key of a management port: who may read and write congestion control, and when the
// protection of the key expires (IBA A10.4.1).
#pragma once

#include "sim-backend/agents/congestion_state.h"
#include "smd/mad/header.h"

namespace smd::sim {

enum class CcKeyVerdict : std::uint8_t {
  Pass,
  PassHidden,  // Get(CongestionKeyInfo) alone: the key must not be shown
  Refuse       // counted; the MAD is dropped and the trap is due
};

/// Checks a Get or Set. A key of 0 protects nothing. A wrong key starts the lease, a right one
/// stops it; when the lease has run out the key is shown, for a new manager to use.
[[nodiscard]] CcKeyVerdict check_cc_key(CongestionState& state,
                                        const MadHeader& header,
                                        cc::CcKey key,
                                        TimePoint now);

/// Applies an expiry that is due.
void expire_cc_lease(CongestionState& state, TimePoint now);

}  // namespace smd::sim
