#include "smd/transport/umad_ports.h"

#include <endian.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <string_view>

namespace smd {

std::vector<UmadPort> list_ports() {
  std::vector<UmadPort> ports;
  char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
  umad_init();
  const int devices = umad_get_cas_names(names, UMAD_MAX_DEVICES);
  for (int i = 0; i < devices; ++i) {
    umad_ca_t ca;
    if (umad_get_ca(names[i], &ca) < 0) continue;  // unplugged meanwhile
    const int last = std::min(ca.numports, UMAD_CA_MAX_PORTS - 1);
    for (int number = 0; number <= last; ++number) {
      const umad_port_t* port = ca.ports[number];
      if (port == nullptr) continue;
      ports.push_back({.device = names[i],
                       .port = PortNum{static_cast<std::uint8_t>(port->portnum)},
                       .port_guid = Guid{be64toh(port->port_guid)},
                       .state = static_cast<PortState>(port->state),
                       // Kernels before 2.6.37 know no other link layer and do not say.
                       .is_infiniband = std::string_view(port->link_layer) != "Ethernet"});
    }
    umad_release_ca(&ca);
  }
  return ports;
}

}  // namespace smd
