#include "smd/sa/candidates.h"

#include "smd/base/byte_reader.h"

namespace smd::sa {

Lid wanted_lid(const Query& query) { return Lid{ByteReader(query.data).u16()}; }

void drop_invisible(const SubnetView& view, const Query& query, std::vector<PortIdx>& ports) {
  std::erase_if(ports, [&](PortIdx port) { return !is_visible(view, query, port); });
}

std::vector<PortIdx> find_candidates(const SubnetView& view, const Query& query) {
  std::vector<PortIdx> ports;
  if (!asks(query, kLid)) {
    ports = view.end_ports();
  } else if (const PortIdx port = view.lids().owner_of(wanted_lid(query)); port != kNone<PortIdx>) {
    ports.push_back(port);
  }
  drop_invisible(view, query, ports);
  return ports;
}

}  // namespace smd::sa
