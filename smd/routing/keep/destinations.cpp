#include "smd/routing/keep/destinations.h"

#include <optional>

namespace smd {
namespace {

// The switch that hands a LID over, and its port: what routes lead to.
struct Place {
  Guid last;
  PortNum exit;

  friend bool operator==(const Place&, const Place&) = default;
};

std::optional<Place> find_place(const Fabric& fabric, const LidMap& lids, Lid lid) {
  const PortIdx owner = lids.owner_of(lid);
  if (owner == kNone<PortIdx>) return std::nullopt;
  if (fabric.is_switch(fabric.node_of[owner]))
    return Place{fabric.node_guid[fabric.node_of[owner]], PortNum{0}};
  const PortIdx far = fabric.peer[owner];
  if (far == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[far])) return std::nullopt;
  return Place{fabric.node_guid[fabric.node_of[far]], fabric.number_of(far)};
}

}  // namespace

std::vector<Destination> list_destinations(const Targets& targets, Lid top) {
  bool hosts = false;
  for (const std::uint32_t count : targets.hosts) hosts = hosts || count != 0;
  std::vector<Destination> by_lid(std::size_t{top.value()} + 1);
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      // Without hosts the switches themselves are all the traffic there is.
      const bool weighs = target.host || !hosts;
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        by_lid[target.base.value() + offset] = {.last = sw,
                                                .exit = target.exit,
                                                .base = target.base,
                                                .weighs = weighs,
                                                .draws = weighs ? target.draws : 0};
    }
  }
  return by_lid;
}

std::vector<char> find_fresh(const Fabric& fabric,
                             const LidMap& lids,
                             const PreviousRoutes& before,
                             const std::vector<Destination>& destinations) {
  std::vector<char> fresh(destinations.size(), 0);
  for (std::size_t value = 1; value < destinations.size(); ++value) {
    if (destinations[value].last == kNone<SwitchIdx>) continue;
    const Lid lid{static_cast<std::uint16_t>(value)};
    fresh[value] = find_place(fabric, lids, lid) != find_place(*before.fabric, *before.lids, lid);
  }
  return fresh;
}

bool are_worth_keeping(const std::vector<Destination>& destinations,
                       const std::vector<char>& fresh,
                       const IndexVector<SwitchIdx, SwitchIdx>& row_before) {
  std::size_t owned = 0, new_lids = 0, new_switches = 0;
  for (std::size_t value = 1; value < destinations.size(); ++value) {
    owned += destinations[value].last != kNone<SwitchIdx>;
    new_lids += fresh[value] != 0;
  }
  for (const SwitchIdx sw : row_before) new_switches += sw == kNone<SwitchIdx>;
  return 2 * new_lids <= owned && 2 * new_switches <= row_before.size();
}

}  // namespace smd
