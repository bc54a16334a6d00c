#include "sim-backend/packet/net_state.h"

#include <algorithm>
#include <utility>

#include "sim-backend/packet/credits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::size_t kLids = 1 << 16;

}  // namespace

NetState::NetState(const Wiring& wiring, const PacketOptions& options, std::vector<bool> here)
    : is_here(std::move(here)),
      nodes(wiring.is_switch.size()),
      ports(wiring.wires.size()),
      extras(ports.size()),
      outs(ports.size() * options.vls),
      ins(ports.size() * options.vls),
      hosts(wiring.host_port.size()),
      host_lids(hosts.size()),
      lid_owner(kLids, kNowhere) {
  for (std::size_t first = 0; first < nodes.size(); ++first) {
    if (!is_here[first]) continue;
    std::size_t end = first + 1;
    while (end < nodes.size() && is_here[end]) ++end;
    make_nodes(wiring, options, first, end);
    first = end;
  }
  SMD_CHECK(check_queues(options, hosts.size()).empty(), "source queues have numbers of 32 bits");
  queues_per_vl = static_cast<std::uint32_t>(count_queues(options.adapters, hosts.size()));
  if (queues_per_vl > 1) source_queues.resize(hosts.size() * options.vls);
  if (options.adapters.static_rate) allowed.resize(hosts.size());
}

void NetState::make_nodes(const Wiring& wiring,
                          const PacketOptions& options,
                          std::size_t first,
                          std::size_t end) {
  const PortAt first_port = wiring.begin_of(first), end_port = wiring.begin_of(end);
  const std::size_t count = end_port - first_port;
  const auto host_at = [&](PortAt port) {
    return static_cast<std::size_t>(std::ranges::lower_bound(wiring.host_port, port) -
                                    wiring.host_port.begin());
  };
  nodes.make({first, end - first});
  ports.make({first_port, count});
  extras.make({first_port, count});
  outs.make({std::size_t{first_port} * options.vls, count * options.vls});
  ins.make({std::size_t{first_port} * options.vls, count * options.vls});
  hosts.make({host_at(first_port), host_at(end_port) - host_at(first_port)});
  for (PortAt port = first_port; port < end_port; ++port) {
    const bool on_switch = wiring.wires[port].on_switch;
    for (unsigned vl = 0; vl < options.vls; ++vl) {
      InputVl& in = ins[port * options.vls + vl];
      in.capacity = in.free = input_capacity(options, on_switch);
      outs[port * options.vls + vl].room = static_cast<std::uint16_t>(
          on_switch ? options.switches.output_buffer_bytes / kBlockBytes : 0);
    }
  }
}

}  // namespace smd::sim
