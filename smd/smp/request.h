// A request as bytes: what each kind of route puts into the packet (IBA 14.2.2).
//
//             remote LID    class  DrSLID      hop count
// Directed    permissive    0x81   permissive  all hops
// LidRouted   destination   0x01   -           -
// Mixed       first switch  0x81   our LID     hops after that switch
#pragma once

#include <cstdint>

#include "smd/smp/smp_client.h"

namespace smd {

/// `local_lid` is what mixed routes put into DrSLID.
[[nodiscard]] MadPacket build_request(const SmpRequest& request,
                                      Lid local_lid,
                                      std::uint32_t transaction_id);

/// Why `answer` cannot be the answer to `request`, or nullptr when it can. The transaction id is
/// the caller's business.
[[nodiscard]] const char* find_mismatch(const SmpRequest& request, const Smp& answer);

/// "Get PortInfo mod 3 to (1,2)".
[[nodiscard]] std::string print_request(const SmpRequest& request);

}  // namespace smd
