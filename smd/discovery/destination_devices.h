// Which devices a switch serves: all whose route from or to the manager passes it. When the switch
// is gone they are missing too, until they have another route.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "smd/discovery/partial_discovery.h"

namespace smd {

class DestinationDevices {
 public:
  /// From the tables that routes by LID follow. Devices are handles of the snapshot.
  explicit DestinationDevices(const KnownSubnet& known);

  /// The switches on the device's routes; itself is not among them.
  [[nodiscard]] const std::set<std::uint32_t>& switches_to(std::uint32_t device) const;

  [[nodiscard]] const std::set<std::uint32_t>& devices_of(std::uint32_t sw) const;

  /// Replaces the device's routes by one behind `last`, over the routes that `last` has.
  void reroute(std::uint32_t device, std::uint32_t last);

  /// Takes the device from every list.
  void purge(std::uint32_t device);

 private:
  void add_walk(const KnownSubnet& known, NodeIdx from, Lid lid, std::uint32_t device);

  std::map<std::uint32_t, std::set<std::uint32_t>> switches_;  // by device
  std::map<std::uint32_t, std::set<std::uint32_t>> devices_;   // by switch
};

}  // namespace smd
