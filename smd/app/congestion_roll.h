// The agents of congestion control in the subnet: which there are, how they stand, which of them a
// request is on its way to.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/app/congestion_agent.h"

namespace smd::app {

using CcPort = std::pair<Guid, PortNum>;  // a switch's agent has port 0

struct CcKnown {
  explicit CcKnown(bool is_switch) : agent(is_switch) {}

  CcAgent agent;
  std::string name;
  Lid lid;
  std::uint8_t sl = 0;
  bool busy = false;       // a request is on its way
  std::uint64_t life = 0;  // answers to an earlier one do not count
};

class CcRoll {
 public:
  /// Those of the snapshot, but for the ones that are to be left alone. Those that left the subnet
  /// are forgotten.
  void meet(const ActiveSubnet& now, const cc::Options& options);

  /// Nothing holds any more of what was known of the agent of this port; what is on its way is of
  /// a former life.
  void start_anew(const Fabric& fabric, PortIdx port);

  void clear();

  [[nodiscard]] const std::map<CcPort, CcKnown>& all() const { return agents_; }

  [[nodiscard]] std::vector<CcPort> ports() const;

  /// Requires: it is one of them.
  [[nodiscard]] CcKnown& at(const CcPort& port) { return agents_.at(port); }

  /// Nothing where it left, or began another life.
  [[nodiscard]] CcKnown* find(const CcPort& port, std::uint64_t life);

  void begin(CcKnown& known);
  void end(CcKnown& known);

  [[nodiscard]] std::size_t busy() const { return busy_; }

  [[nodiscard]] std::size_t count(CcStanding standing) const;

  [[nodiscard]] std::size_t count_trouble() const;

  /// We have spoken to the agent at this LID with a key that was not its own.
  [[nodiscard]] bool was_knocked_at(Lid lid) const;

  /// Some agent may yet show a foreign key.
  [[nodiscard]] bool waits_for_lease() const;

  /// One line for each agent that is in trouble or not ours, after those that are in `lines`;
  /// where they would be too many, one for the rest.
  void add_alarms(std::vector<std::string>& lines) const;

 private:
  void start_anew(CcKnown& known);

  std::map<CcPort, CcKnown> agents_;
  std::uint64_t lives_ = 0;
  std::size_t busy_ = 0;
};

}  // namespace smd::app
