// A subnet that somebody brought up, a fault, and what partial discovery makes of it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/discovery/discovery.h"
#include "tests/support/port_num.h"

namespace smd::test {

[[nodiscard]] inline PortNum port(unsigned number) { return port_num(number); }

/// Writes down every request once, as the thesis prints them: "Get PI 3 1→4,(4,3) [(2,2),4→1]", the
/// answer's way back in brackets, empty without an answer.
class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(Transport& inner) : inner_(inner) {}

  [[nodiscard]] LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override;
  void set_handlers(Receive receive, Lost lost) override;

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  void clear() {
    requests_.clear();
    by_id_.clear();
  }

  /// In the order in which they were sent.
  [[nodiscard]] std::vector<std::string> log() const;

  /// Sorted.
  [[nodiscard]] std::vector<std::string> requests() const;

  /// May edit an answer before it is taken; false: it is lost.
  std::function<bool(Smp&)> on_answer;

  /// Called with every request that is sent for the first time, counted from 1.
  std::function<void(std::size_t)> on_request;

 private:
  struct Request {
    std::string text;
    std::string lid_part;
    std::string way_back;
  };

  Transport& inner_;
  std::map<std::uint64_t, std::size_t> by_id_;
  std::vector<Request> requests_;
};

struct PartialLabOptions {
  sim::Timing timing = sim::Timing::modern();
  std::uint64_t seed = 1;
  unsigned retries = 3;
  sim::AgentOptions agents;
};

class PartialLab : public sim::TimedFabric {
 public:
  using Options = PartialLabOptions;

  explicit PartialLab(sim::FabricSpec spec, Options options = {});

  /// Discovers, gives LIDs in node order (literal: in discovery order), writes shortest-path tables
  /// (ties to the lowest port), activates the ports, and discovers again: that is `known`.
  void bring_up(bool literal = false);

  [[nodiscard]] Guid guid(const std::string& name) const;

  /// Who a sweep by LID finds changed, and who does not answer it.
  struct Polled {
    std::vector<Guid> changed;
    std::vector<Guid> silent;

    [[nodiscard]] std::vector<Guid> all() const;
  };

  Polled poll();

  SweepReport full(bool literal = false);

  /// Runs on what is known; the requests of the thesis go by `lft`.
  Result<PartialReport> partial(std::vector<Guid> suspects,
                                DiscoveryOptions options = {},
                                std::vector<PortRef> ports = {});

  /// What was found becomes what is known, with LIDs, tables and active ports.
  void adopt(const SweepReport& found);

  /// Known switches whose PortStateChange is set, as the registers have it.
  [[nodiscard]] std::vector<Guid> raised() const;

  /// Brings every port up that is not Active, as the manager does at the end of a cycle.
  void activate(const SweepReport& report);

  Result<SmpReply> call(const SmpRequest& request);

  [[nodiscard]] KnownSubnet known_subnet() const {
    return {&known, &lids, &lft, &came_up, &left_raised};
  }

  sim::SimTransport wire;
  RecordingTransport transport;
  SmpClient client;
  SweepReport known;
  LidMap lids;
  ForwardingTables lft;
  std::set<PortRef> came_up;
  std::set<Guid> left_raised;

 private:
  void set_lids(const SweepReport& report);
  void write_tables(const SweepReport& report);
  void take_lids(const SweepReport& report);

  std::uint64_t epoch_ = 1;
};

/// The first difference between two reports, in every field that a snapshot has; empty when there
/// is none. Reasons (`why`) are not compared, and places of duplicates only in number.
[[nodiscard]] std::string find_difference(const SweepReport& expected, const SweepReport& found);

}  // namespace smd::test
