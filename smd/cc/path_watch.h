// Watches how contended links are, by the counters of switch ports (PMA), for who chooses between
// paths: sa.path_choice = "least-contended". Not tried on hardware.
//
// Round after round every cabled port of every switch is read, one MAD after the other. Agents take
// turns, each with its next port, so that none is asked for all of its ports at once. While a cycle
// runs nothing is sent; what is under way when one begins is given up, and asked again afterwards.
// Counters are read, never reset: others may read them too. What a port says is compared with what
// it said the last time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "smd/config/settings.h"
#include "smd/mad/port_counters.h"
#include "smd/sa/path_choice.h"
#include "smd/smp/gmp_client.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

/// Of one port at one time.
struct LinkSample {
  std::uint64_t data = 0;  // sent, in units of 4 bytes
  std::uint64_t wait = 0;  // ticks with something to send and nothing sent
  std::uint64_t most = 0;  // where the counters stay, or begin anew
  TimePoint at;            // when the answer came

  friend bool operator==(const LinkSample&, const LinkSample&) = default;
};

/// In hundredths: the time until all was sent against the time that sending took, with a tick as
/// long as 4 bytes take. At most 100 times as long. What carried less is taken for 10 Mb/s, else a
/// tick beside no data would be endless contention; a link whose other end takes nothing still
/// shows.
/// Nothing where a counter has reached its end, or begun anew.
[[nodiscard]] std::optional<std::uint32_t> measure_contention(const LinkSample& before,
                                                              const LinkSample& now);

/// What a link is taken for after a round: the new value, or where that is more, half of what it
/// was above a free link before, and 0.1 less at least: a burst is not forgotten at once, and the
/// worst one within 11 rounds. `now`: nothing where nobody knows.
[[nodiscard]] std::uint32_t settle_contention(std::uint32_t before,
                                              std::optional<std::uint32_t> now);

struct PathWatchStats {
  std::uint64_t rounds = 0;    // over all ports, that ended
  std::uint64_t readings = 0;  // of ports, that were answered
  std::uint64_t skipped = 0;   // ports that could not be read, round by round
  std::uint64_t busy = 0;      // answers that said so: asked again later
  std::uint64_t given_up = 0;  // requests that were under way when a cycle began
};

class PathWatch {
 public:
  /// Tells `order` what it finds. `may_ask`: nothing is more urgent, a cycle for one. All outlive
  /// this.
  PathWatch(Runtime& runtime,
            Transport& transport,
            sa::PathOrder& order,
            std::function<bool()> may_ask);
  PathWatch(const PathWatch&) = delete;

  /// The subnet is another one, or its settings are. A round under way goes on with the ports that
  /// are left; links that are gone are forgotten.
  void adopt(std::shared_ptr<const ActiveSubnet> now, const Settings& settings);

  /// Another manager is master: nothing is asked, nothing is known.
  void stop();

  [[nodiscard]] bool enabled() const { return now_ != nullptr; }

  [[nodiscard]] const PathWatchStats& stats() const { return stats_; }

  [[nodiscard]] const GmpStats& mads() const { return client_.stats(); }

  /// Ports of a round.
  [[nodiscard]] std::size_t ports() const { return ports_.size(); }

  /// Switches whose agents have no counter of waits, or none at all.
  [[nodiscard]] std::size_t without_counters() const;

  [[nodiscard]] const sa::PathOrder& order() const { return order_; }

 private:
  using Link = sa::PathOrder::Link;

  enum class Counters : std::uint8_t { Unknown, Extended, Short, None };

  struct Agent {
    Lid lid;
    std::uint8_t sl = 0;
    Counters counters = Counters::Unknown;
    unsigned unanswered = 0;  // requests, in a row
    TimePoint due;            // not asked before
    // In this round.
    std::optional<PortNum> at;  // the last port that was read, or cannot be
    unsigned busy = 0;          // answers
    unsigned given_up = 0;      // requests
    bool done = false;
  };

  struct Port {
    std::optional<LinkSample> last;
    bool read = false;  // in this round
  };

  using Ports = std::map<Link, Port>;

  void list_ports(const Fabric& fabric);
  void arm();
  void on_turn();
  void give_up();
  void begin_round();
  void end_round();
  [[nodiscard]] Ports::iterator next_port(Guid node, const Agent& agent);
  void line_up(Guid node, Agent& agent, Duration pause);
  void skip_rest(Guid node, Agent& agent);
  void ask(Guid node, const Agent& agent);
  void on_answer(Guid node, const std::optional<PortNum>& port, const Result<MadBytes>& answer);
  [[nodiscard]] bool read_agent(Agent& agent, const MadBytes& answer) const;
  void read_port(const Link& link, Agent& agent, const MadBytes& answer);

  Runtime& runtime_;
  GmpClient client_;
  sa::PathOrder& order_;
  std::function<bool()> may_ask_;
  std::shared_ptr<const ActiveSubnet> now_;  // null: not enabled
  Settings adopted_;                         // when the ports were listed
  Duration pause_{};                         // between two MADs
  std::map<Guid, Agent> agents_;             // that have ports
  Ports ports_;
  std::set<std::pair<TimePoint, Guid>> turns_;  // agents with something left, but the one asked
  std::optional<Guid> asked_;                   // its answer is not here yet
  TimePoint round_ends_;                        // not before
  PathWatchStats stats_;
  Timer timer_;
};

}  // namespace smd
