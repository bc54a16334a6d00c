// Watches how contended links are, by the counters of switch ports (PMA), for who chooses between
// paths: sa.path_choice = "least-contended". Not tried on hardware.
//
// Round after round every cabled port of every switch is read, so many MADs a second, one after the
// other, never while a cycle runs. Counters are read, never reset: others may read them too. What a
// port says is compared with what it said the last time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

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

  friend bool operator==(const LinkSample&, const LinkSample&) = default;
};

/// In hundredths: the time until all was sent against the time that sending took, with a tick as
/// long as 4 bytes take. At most 100 times as long. Nothing where a counter has reached its end, or
/// begun anew.
[[nodiscard]] std::optional<std::uint32_t> measure_contention(const LinkSample& before,
                                                              const LinkSample& now);

/// What a link is taken for after a round: the new value, or a tenth less than before where that is
/// more, so that a burst is not forgotten at once. `now`: nothing where nobody knows.
[[nodiscard]] std::uint32_t settle_contention(std::uint32_t before,
                                              std::optional<std::uint32_t> now);

struct PathWatchStats {
  std::uint64_t rounds = 0;    // over all ports, that ended
  std::uint64_t readings = 0;  // of ports, that were answered
  std::uint64_t skipped = 0;   // ports that could not be read, round by round
};

class PathWatch {
 public:
  /// Tells `order` what it finds. `may_ask`: nothing is more urgent. All outlive this.
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
    bool silent = false;  // in this round
  };

  struct Port {
    std::optional<LinkSample> last;
    bool read = false;  // in this round
  };

  void arm();
  void ask_next();
  void end_round();
  void ask_agent(Guid node, Agent& agent);
  void ask_port(const Link& link, const Agent& agent);
  void on_agent(Guid node, const Result<MadBytes>& answer);
  void on_port(const Link& link, Counters counters, const Result<MadBytes>& answer);
  template <class Done>
  void send(const Agent& agent, std::uint16_t attribute, PortNum port, Done done);

  Runtime& runtime_;
  GmpClient client_;
  sa::PathOrder& order_;
  std::function<bool()> may_ask_;
  std::shared_ptr<const ActiveSubnet> now_;  // null: not enabled
  Settings adopted_;                         // when the ports were listed
  Duration pause_{};
  std::map<Guid, Agent> agents_;
  std::map<Link, Port> ports_;  // in the order of a round
  std::optional<Link> last_;    // that was asked in this round
  bool asking_ = false;
  PathWatchStats stats_;
  Timer timer_;
};

}  // namespace smd
