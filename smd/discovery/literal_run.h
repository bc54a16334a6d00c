// Partial discovery in the form of the thesis: a sweep of every known switch by LID, then missing
// devices are found again step by step from the switches that are reachable.
//
// Every switch is waiting (being read), reachable or missing; adapters are reachable or missing.
// While a switch waits, or a port is asked who is behind it, nothing missing is looked for.
#pragma once

#include <map>
#include <set>

#include "smd/discovery/destination_devices.h"
#include "smd/discovery/partial_run.h"

namespace smd {

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
  void on_port_down(CableEnd end) override;

  void on_port_up(CableEnd end) override { probe(end); }

  void on_joined(CableEnd a, CableEnd b) override;

  bool is_stale(std::uint32_t node) override { return missing_.contains(node); }

  std::optional<SmpRoute> route_to(std::uint32_t node) override;

  void lose(std::uint32_t node);
  void miss(std::uint32_t node);
  bool find_missing();
  [[nodiscard]] std::optional<CableEnd> find_way_to(std::uint32_t node) const;

  DestinationDevices served_;
  std::set<std::uint32_t> missing_;
  std::map<std::uint32_t, CableEnd> asked_across_;  // switches on a new route: its last cable
};

}  // namespace smd
