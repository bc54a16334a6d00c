// What both forms of partial discovery share: reading known switches again, comparing, the report.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smd/discovery/discovery.h"
#include "smd/discovery/explorer.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Asks one known switch what became of its ports: SwitchInfo, and where PortStateChange is set,
// clearing it and every port. Clearing comes first, so that a change during the reading raises it
// again. A switch with a SwitchPortStateTable is asked for that instead, and for PortInfo of the
// ports where the table says anything new. It is not trusted blindly: where nothing in it explains
// PortStateChange, or a port's PortInfo says otherwise, every port is asked. A switch that does not
// let the bit be cleared is read all the same, port 0 too; the next look finds it raised again.
//
// Nothing is cleared before NodeInfo says that the route leads to that switch: when a link
// was moved, it leads to another one. Destroying the reader cancels what is pending.

class SwitchReader {
 public:
  /// Who answers, and where the request arrives.
  struct Identity {
    Guid guid;
    PortNum arrival;

    friend bool operator==(const Identity&, const Identity&) = default;
  };

  struct Wanted {
    SmpRoute route;
    std::optional<Identity> identity;  // none: the route is by LID
    MKey m_key;
    unsigned num_ports = 0;
    std::uint32_t capability_mask = 0;  // of port 0
    bool had_tables = false;            // LinearFDBTop 0 means that it has restarted
    bool cleared_before = false;   // PortStateChange, by somebody who did not read the ports then
    bool lid_without_lft = false;  // port 0 is read of a switch that has no linear table
    std::vector<PortNum> anyway;   // ports to read even if PortStateChange is clear

    /// By port: the state in which nothing is new about it; NoChange: there is none. Empty: the
    /// switch has no SwitchPortStateTable.
    std::vector<PortState> expected;
  };

  struct PortReading {
    PortNum port;
    std::optional<PortInfo> info;
    std::string why;  // there is none: the agent will not talk of this port
  };

  struct Reading {
    SwitchInfo info;
    bool raised = false;     // PortStateChange was set; it no longer is, unless `info` says so
    bool restarted = false;  // then nothing else was asked, and the bit was left alone
    bool unknown = false;    // another node answers; nothing else was asked
    std::vector<PortReading> ports;  // ascending
  };

  using Done = std::function<void(Result<Reading>)>;

  SwitchReader(SmpClient& client, Wanted wanted);
  SwitchReader(const SwitchReader&) = delete;

  /// `done` runs once, last; it may destroy this. Fails when the switch stops answering.
  void start(Done done);

  /// PortStateChange may be cleared by now.
  [[nodiscard]] bool may_have_cleared() const { return reading_.raised; }

 private:
  void send(Method method,
            AttributeId attribute,
            std::uint32_t modifier,
            const SmpData& data,
            std::function<void(const SmpReply&)> on_answer);
  void on_switch_info(const SmpReply& reply);
  void on_node_info(const SmpReply& reply);
  void proceed();
  void clear();
  void read_unclear();
  void ask_switch_info();
  void ask_ports();
  void ask_states();
  void on_states(std::size_t block, const Result<SmpReply>& reply);
  void ask_changed_ports();
  void ask_rest();
  void ask(std::vector<PortNum> ports);
  [[nodiscard]] std::vector<PortNum> list_ports(bool all) const;
  void on_port(PortNum port, const Result<SmpReply>& reply);

  [[nodiscard]] bool has_no_lft() const { return reading_.info.linear_fdb_cap == 0; }

  void finish();
  void give_up(Error error);

  SmpScope scope_;
  Wanted wanted_;
  Done done_;
  Reading reading_;
  bool asked_to_clear_ = false;
  std::size_t outstanding_ = 0;
  std::vector<PortState>
      states_;  // as the table says, by port; empty: it was not read, or not used
  std::set<PortNum> asked_;
};

// What both forms of partial discovery share: the known subnet as a survey, switches that are read
// again, and the report. The forms decide whom to ask and what a port that went down means.

class PartialRun : public Explorer {
 public:
  PartialRun(SmpClient& client,
             const DiscoveryOptions& options,
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

    /// A switch without linear tables shows by its LID alone that it has restarted.
    bool lid_without_lft = false;
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

  void on_contradiction(LinkEnd end) override;

  // What the forms decide.
  virtual void on_read(std::uint32_t node, const SwitchReader::Reading& reading) = 0;
  virtual void on_silent(std::uint32_t node, std::string why) = 0;
  virtual void on_port_down(LinkEnd end) = 0;
  virtual void on_port_up(LinkEnd end) = 0;

  /// Down and up again between two looks: whoever is there now need not be who was.
  [[nodiscard]] virtual bool has_retrained(PortState before, PortState now) const = 0;

  [[nodiscard]] bool is_known(std::uint32_t node) const { return node < known_nodes_; }

  /// The manager's adapter port; nothing when it sits on a switch.
  [[nodiscard]] std::optional<LinkEnd> own_link() const;

  SmpClient& client_;
  KnownSubnet known_;
  std::set<PortRef> doubtful_;  // see PartialReport

 private:
  [[nodiscard]] bool had_tables(std::uint32_t node) const;
  [[nodiscard]] std::vector<PortState> expected_states(std::uint32_t node) const;
  [[nodiscard]] bool is_known_silence(LinkEnd end, PortState before, PortState now) const;
  void carry_silent();
  void carry_duplicates();
  [[nodiscard]] bool has_unread_open_port() const;

  Epoch epoch_;
  PartialDiscovery::Done done_;
  std::uint32_t known_nodes_ = 0;
  std::map<std::uint32_t, std::unique_ptr<SwitchReader>> readers_;
  std::set<std::uint32_t> cleared_;  // PortStateChange, but the ports were not read then
  std::set<LinkEnd> asked_for_;      // ports that were to be read whatever the switch says
  std::set<LinkEnd> still_silent_;   // read, and as they were: nobody was asked who is there
  std::set<Guid> reread_;
  std::set<Guid> restarted_;
  std::set<Guid> look_again_;
  std::string full_needed_;
};

}  // namespace smd
