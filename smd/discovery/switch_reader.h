// Asks one known switch what became of its ports: SwitchInfo, and where PortStateChange is set,
// clearing it and every port. Clearing comes first, so that a change during the reading raises it
// again. Nothing is cleared before NodeInfo says that the route leads to that switch: when a cable
// was moved, it leads to another one. Destroying the reader cancels what is pending.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/mad/port_info.h"
#include "smd/mad/switch_info.h"
#include "smd/smp/smp_client.h"

namespace smd {

class SwitchReader {
 public:
  /// Who answers, and where the request arrives.
  struct Identity {
    Guid guid;
    PortNum arrival;

    friend bool operator==(const Identity&, const Identity&) = default;
  };

  struct Wish {
    SmpRoute route;
    std::optional<Identity> identity;  // none: the route is by LID
    MKey m_key;
    unsigned num_ports = 0;
    bool had_tables = false;      // LinearFDBTop 0 means that it has restarted
    bool cleared_before = false;  // PortStateChange, by somebody who did not read the ports then
    bool literal = false;         // never port 0
    std::vector<PortNum> anyway;  // ports to read even if PortStateChange is clear
  };

  struct PortReading {
    PortNum port;
    std::optional<PortInfo> info;
    std::string why;  // there is none: the agent will not talk of this port
  };

  struct Reading {
    SwitchInfo info;
    bool raised = false;             // PortStateChange was set; it no longer is
    bool restarted = false;          // then nothing else was asked, and the bit was left alone
    bool stranger = false;           // another node answers; nothing else was asked
    std::vector<PortReading> ports;  // ascending
  };

  using Done = std::function<void(Result<Reading>)>;

  SwitchReader(SmpClient& client, Wish wish);
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
  void ask_ports();
  void ask_port(PortNum port);
  void on_port(PortNum port, const Result<SmpReply>& reply);

  [[nodiscard]] bool has_no_lft() const { return reading_.info.linear_fdb_cap == 0; }

  void finish();
  void give_up(Error error);

  SmpScope scope_;
  Wish wish_;
  Done done_;
  Reading reading_;
  std::size_t outstanding_ = 0;
};

}  // namespace smd
