// The agents of the subnet that congestion control knows, and the ports that they reported as hot.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "smd/cc/cc_agent.h"
#include "smd/runtime/runtime.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

using CcPort = std::pair<Guid, PortNum>;  // a switch's agent has port 0

/// Of a MAD from the manager's port to the LID.
[[nodiscard]] std::uint8_t sl_to(const ActiveSubnet& now, Lid lid);

struct CcAgentEntry {
  explicit CcAgentEntry(bool is_switch) : agent(is_switch) {}

  CcAgent agent;
  std::string name;
  Lid lid;
  std::uint8_t sl = 0;
  bool busy = false;             // a request is on its way
  std::uint64_t generation = 0;  // answers to an earlier one do not count
};

class CcAgentTable {
 public:
  /// Those of the snapshot, but for the ones that are to be left alone. Those that left the subnet
  /// are forgotten.
  void update(const ActiveSubnet& now, const cc::Options& options);

  /// Nothing holds any more of what was known of the agent of this port; what is on its way is of
  /// a former generation.
  void reset_agent(const Fabric& fabric, PortIdx port);

  void clear();

  [[nodiscard]] const std::map<CcPort, CcAgentEntry>& all() const { return agents_; }

  [[nodiscard]] std::vector<CcPort> ports() const;

  /// Requires: it is one of them.
  [[nodiscard]] CcAgentEntry& at(const CcPort& port) { return agents_.at(port); }

  /// Nothing where it left, or began another life.
  [[nodiscard]] CcAgentEntry* find(const CcPort& port, std::uint64_t generation);

  void begin(CcAgentEntry& entry);
  void end(CcAgentEntry& entry);

  [[nodiscard]] std::size_t busy() const { return busy_; }

  [[nodiscard]] std::size_t count(CcAgentStatus status) const;

  [[nodiscard]] std::size_t count_trouble() const;

  /// We have spoken to the agent at this LID with a key that was not its own.
  [[nodiscard]] bool was_lease_probed(Lid lid) const;

  /// The agent of this port holds the key.
  [[nodiscard]] bool is_under(const Fabric& fabric, PortIdx port, cc::CcKey key) const;

  /// Some agent may yet show a foreign key.
  [[nodiscard]] bool waits_for_lease() const;

  /// One line for each agent that is in trouble or not ours, after those that are in `lines`;
  /// where they would be too many, one for the rest.
  void add_alarms(std::vector<std::string>& lines) const;

 private:
  void reset_agent(CcAgentEntry& entry);

  std::map<CcPort, CcAgentEntry> agents_;
  std::uint64_t generations_ = 0;
  std::size_t busy_ = 0;
};

// Which ports are congested, as the logs of their agents say.

/// A port that stood in a log of congestion.
struct HotPort {
  std::uint64_t readings = 0;  // of the log in which it stood
  std::uint64_t events = 0;    // of its switch, or its own where it is an adapter's
  TimePoint last;
};

class HotPorts {
 public:
  /// An agent's answer to a Get of its log. Requires: its node is of `fabric`.
  void take(const CcPort& agent,
            bool is_switch,
            const Fabric& fabric,
            const MadBytes& answer,
            TimePoint now);

  /// Ports of nodes that left the subnet.
  void forget_gone(const Fabric& fabric);

  void clear() { ports_.clear(); }

  [[nodiscard]] const std::map<CcPort, HotPort>& ports() const { return ports_; }

 private:
  void note(const CcPort& port, std::uint16_t events, TimePoint now);

  std::map<CcPort, HotPort> ports_;
};

}  // namespace smd
