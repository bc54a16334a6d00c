// The Transport on real adapters: libibumad's management devices, or libumad2sim beneath it.
#pragma once

#include <memory>

#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"
#include "smd/transport/umad_ports.h"

namespace smd {

/// Opens the selected port and registers for both subnet-management classes on QP0 and for subnet
/// administration and, where nobody else on it does, congestion control on QP1. After an error
/// nothing stays open. The transport must go before the runtime; its destructor takes at most a
/// tenth of a second.
[[nodiscard]] Result<std::unique_ptr<Transport>> open_umad_transport(
    Runtime& runtime, const UmadSelection& selection);

}  // namespace smd
