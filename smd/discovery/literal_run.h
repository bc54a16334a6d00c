// Partial discovery in the form of the thesis.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "smd/discovery/discovery.h"
#include "smd/discovery/partial_run.h"

namespace smd {

// Which devices a switch serves: all whose route from or to the manager passes it. When the switch
// is gone they are missing too, until they have another route.

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

// Partial discovery in the form of the thesis: a sweep of every known switch by LID, then missing
// devices are found again step by step from the switches that are reachable.
//
// Every switch is waiting (being read), reachable or missing; adapters are reachable or missing.
// While a switch waits, or a port is asked who is behind it, nothing missing is looked for.

class LiteralRun final : public PartialRun {
 public:
  LiteralRun(SmpClient& client,
             const PartialOptions& options,
             Epoch epoch,
             const KnownSubnet& known,
             PartialDiscovery::Done done);

  void start() override;

 private:
  void on_step() override;
  void on_read(std::uint32_t node, const SwitchReader::Reading& reading) override;
  void on_silent(std::uint32_t node, std::string why) override;
  void on_port_down(LinkEnd end) override;

  void on_port_up(LinkEnd end) override { probe(end); }

  void on_joined(LinkEnd a, LinkEnd b) override;

  bool is_stale(std::uint32_t node) override { return missing_.contains(node); }

  std::optional<SmpRoute> route_to(std::uint32_t node) override;

  void lose(std::uint32_t node);
  void miss(std::uint32_t node);
  bool find_missing();
  [[nodiscard]] std::optional<LinkEnd> find_route_to(std::uint32_t node) const;

  DestinationDevices served_;
  std::set<std::uint32_t> missing_;
  std::map<std::uint32_t, LinkEnd> asked_across_;  // switches on a new route: its last link
};

}  // namespace smd
