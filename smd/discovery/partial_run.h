// What both forms of partial discovery share: the known subnet as a survey, switches that are read
// again, and the report. The forms decide whom to ask and what a port that went down means.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "smd/discovery/explorer.h"
#include "smd/discovery/partial_discovery.h"
#include "smd/discovery/switch_reader.h"

namespace smd {

class PartialRun : public Explorer {
 public:
  PartialRun(SmpClient& client,
             const PartialOptions& options,
             Epoch epoch,
             const KnownSubnet& known,
             PartialDiscovery::Done done);

  /// The first requests.
  virtual void start() = 0;

 protected:
  /// Asks the switch, cancelling what it was asked before.
  struct ReadRequest {
    SmpRoute route;
    std::optional<PortNum> arrival;  // where a directed route must end; none: the route is by LID
    std::vector<PortNum> anyway;     // ports to read even if PortStateChange is clear
  };

  void read_switch(std::uint32_t node, ReadRequest request);

  void cancel_reading(std::uint32_t node);

  [[nodiscard]] bool is_reading() const { return !readers_.empty(); }

  [[nodiscard]] bool is_reading(std::uint32_t node) const { return readers_.contains(node); }

  /// Keeps the ports, and calls on_port_down and on_port_up where they are not as they were. False
  /// when all are.
  bool apply(std::uint32_t node, const SwitchReader::Reading& reading);

  /// Nothing leads to a switch that has restarted until it is found again as a new one.
  void forget_restarted(std::uint32_t node);

  void need_full(std::string why);

  /// True when the run has ended in on_step().
  bool finish_early();
  void finish();

  void on_contradiction(CableEnd end) override;

  // What the forms decide.
  virtual void on_read(std::uint32_t node, const SwitchReader::Reading& reading) = 0;
  virtual void on_silent(std::uint32_t node, std::string why) = 0;
  virtual void on_port_down(CableEnd end) = 0;
  virtual void on_port_up(CableEnd end) = 0;

  [[nodiscard]] bool is_known(std::uint32_t node) const { return node < known_nodes_; }

  /// The manager's adapter port; nothing when it sits on a switch.
  [[nodiscard]] std::optional<CableEnd> own_link() const;

  SmpClient& client_;
  PartialOptions partial_;
  KnownSubnet known_;

 private:
  [[nodiscard]] bool had_tables(std::uint32_t node) const;
  void carry_silent();
  void carry_twins();
  [[nodiscard]] bool has_unread_open_port() const;

  Epoch epoch_;
  PartialDiscovery::Done done_;
  std::uint32_t known_nodes_ = 0;
  std::map<std::uint32_t, std::unique_ptr<SwitchReader>> readers_;
  std::set<std::uint32_t> cleared_;  // PortStateChange, but the ports were not read then
  std::set<Guid> reread_;
  std::set<Guid> restarted_;
  std::set<Guid> look_again_;
  std::string full_needed_;
};

}  // namespace smd
