// What a subnet manager sends back to those who talk to it: answers to SMInfo, and TrapRepress.
#pragma once

#include <optional>

#include "smd/mad/smp.h"
#include "smd/smp/smp_client.h"
#include "smd/transport/transport.h"

namespace smd {

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
