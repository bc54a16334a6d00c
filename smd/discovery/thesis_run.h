// Discovery as the thesis prints it, SMP by SMP: the requests of both its forms, and its partial
// one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "smd/discovery/discovery.h"
#include "smd/discovery/partial_run.h"

namespace smd {

// What a run asks of what it finds: a switch and its ports at once, every up port for who is behind
// it, however many requests are out; nothing is cleared. A port that takes a LID is set on the way.

template <class Run>
class ThesisExplorer : public Run {
 public:
  using Run::Run;

 private:
  void explore_switch(std::uint32_t node) override {
    this->ask_switch_info(node, [] {});
    this->ask_switch_ports(node);
  }

  void on_port_read(LinkEnd end, const SmpRoute& route) override {
    const bool is_own = end.port == PortNum{0};
    if (!this->options_.set_end_port || this->survey_.node(end.node).info.is_switch() != is_own)
      return;
    const Survey::Port& port = this->survey_.port(end);
    const auto wanted = this->options_.set_end_port(port.guid, port.info);
    if (wanted) this->set_port(end, route, *wanted);
  }

  [[nodiscard]] bool probes_known_links() const override { return true; }

  std::size_t room() override { return std::numeric_limits<std::size_t>::max(); }
};

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

class ThesisRun final : public ThesisExplorer<PartialRun> {
 public:
  /// Requires: has_routes(known).
  ThesisRun(SmpClient& client,
            const DiscoveryOptions& options,
            Epoch epoch,
            const KnownSubnet& known,
            PartialDiscovery::Done done);

  /// LIDs and tables of all that is known, so that the sweep can go by LID.
  [[nodiscard]] static bool has_routes(const KnownSubnet& known);

  void start() override;

 private:
  void on_step() override;
  void on_read(std::uint32_t node, const SwitchReader::Reading& reading) override;
  void on_silent(std::uint32_t node, std::string why) override;
  void on_port_down(LinkEnd end) override;

  void on_port_up(LinkEnd end) override { probe(end); }

  [[nodiscard]] bool has_retrained(PortState before, PortState now) const override {
    return now == PortState::Initialize && before > PortState::Initialize;
  }

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
