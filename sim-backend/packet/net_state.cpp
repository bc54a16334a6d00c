#include "sim-backend/packet/net_state.h"

#include <algorithm>

#include "sim-backend/packet/credits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::size_t kLids = 1 << 16;

}  // namespace

NetState::NetState(const Wiring& wiring, const PacketOptions& options)
    : nodes(wiring.is_switch.size()),
      ports(wiring.wires.size()),
      extras(ports.size()),
      outs(ports.size() * options.vls),
      ins(ports.size() * options.vls),
      hosts(wiring.host_port.size()),
      host_lids(hosts.size()),
      lid_owner(kLids, kNowhere) {
  const SwitchModel& sw = options.switches;
  for (PortAt port = 0; port < ports.size(); ++port) {
    const bool on_switch = wiring.wires[port].on_switch;
    const unsigned bytes = on_switch ? sw.input_buffer_bytes : options.adapters.buffer_bytes;
    for (unsigned vl = 0; vl < options.vls; ++vl) {
      InputVl& in = ins[port * options.vls + vl];
      in.capacity = in.free = static_cast<std::uint16_t>(bytes / kBlockBytes);
      outs[port * options.vls + vl].room =
          static_cast<std::uint16_t>(on_switch ? sw.output_buffer_bytes / kBlockBytes : 0);
    }
  }
  SMD_CHECK(check_queues(options, hosts.size()).empty(), "source queues have numbers of 32 bits");
  queues_per_vl = static_cast<std::uint32_t>(count_queues(options.adapters, hosts.size()));
  if (queues_per_vl > 1) source_queues.resize(hosts.size() * options.vls);
  if (options.adapters.static_rate) allowed.resize(hosts.size());
}

}  // namespace smd::sim
