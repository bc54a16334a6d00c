#include "smd/sa/gid_watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::sa {

void GidWatch::restore(std::vector<Guid> known) {
  known_ = std::move(known);
  std::ranges::sort(known_);
  knows_ = true;
}

std::vector<GidEvent> GidWatch::look(const SubnetView& view) {
  std::vector<Guid> now;
  for (const PortIdx port : view.end_ports()) {
    const std::size_t guids = view.parts().aliases ? view.fabric().port_info[port].guid_cap : 1;
    now.push_back(view.fabric().port_guid[port]);
    for (std::size_t i = 1; i < guids; ++i) {
      if (const Guid alias = view.guid_of(port, i); alias != Guid{}) now.push_back(alias);
    }
  }
  std::ranges::sort(now);
  std::vector<GidEvent> events;
  const auto compare = [&](const std::vector<Guid>& from, const std::vector<Guid>& to, bool came) {
    std::vector<Guid> changed;
    std::ranges::set_difference(to, from, std::back_inserter(changed));
    for (const Guid guid : changed)
      events.push_back({.gid = {view.parts().subnet_prefix, guid}, .in_service = came});
  };
  if (std::exchange(knows_, true)) {
    compare(now, known_, false);
    compare(known_, now, true);
  }
  known_ = std::move(now);
  return events;
}

}  // namespace smd::sa
