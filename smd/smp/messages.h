// Requests as bytes, and what is answered to requests of others.
#pragma once

#include <cstdint>
#include <optional>

#include "smd/mad/smp.h"
#include "smd/smp/smp_client.h"
#include "smd/transport/transport.h"

namespace smd {

// A request as bytes: what each kind of route puts into the packet (IBA 14.2.2).
//
//             remote LID    class  DrSLID      hop count
// Directed    permissive    0x81   permissive  all hops
// LidRouted   destination   0x01   -           -
// Mixed       first switch  0x81   our LID     hops after that switch

/// `local_lid` is what mixed routes put into DrSLID.
[[nodiscard]] MadPacket build_request(const SmpRequest& request,
                                      Lid local_lid,
                                      std::uint32_t transaction_id);

/// Why `answer` cannot be the answer to `request`, or nullptr when it can. The transaction id is
/// the caller's business.
[[nodiscard]] const char* find_mismatch(const SmpRequest& request, const Smp& answer);

/// "Get PortInfo mod 3 to (1,2)".
[[nodiscard]] std::string print_request(const SmpRequest& request);

// What a subnet manager sends back to those who talk to it: answers to SMInfo, and TrapRepress.

/// The answer to a Get or Set that arrived as `packet`, carrying `data`. `status` as in
/// MadStatus. A directed answer travels back over the request's return path.
[[nodiscard]] MadPacket make_response(const Smp& request,
                                      const MadPacket& packet,
                                      const SmpData& data,
                                      MadStatus status = MadStatus::Ok);

/// Tells the sender of a trap to stop repeating it: the same notice under the same transaction id.
[[nodiscard]] MadPacket make_trap_repress(const Smp& trap,
                                          const MadPacket& packet,
                                          MKey m_key = {});

/// How to ask back whoever sent `request`, which arrived as `packet`. Nothing for routes with a
/// part by LID and a directed one.
[[nodiscard]] std::optional<SmpRoute> find_route_back(const Smp& request, const MadPacket& packet);

}  // namespace smd
