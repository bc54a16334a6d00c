// A look at the fabric: partial where that will do, full where not, and why; again where it found
// new silence.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "smd/app/holdings.h"
#include "smd/app/settings.h"
#include "smd/app/suspicion.h"
#include "smd/discovery/discovery.h"
#include "smd/discovery/partial_discovery.h"

namespace smd::app {

struct Seen {
  std::optional<Error> error;  // and nothing below
  SweepReport sweep;
  bool partial = false;          // what was suspected was looked at, and no more
  bool quiet = false;            // nothing is other than it was in force
  bool relief = false;           // likewise, and channels are to be relieved
  std::string full_why;          // of a full look where a partial one was wanted
  std::vector<Guid> look_again;  // to be suspected in the next cycle
  bool new_silence = false;      // ports lead to silence that did not before
};

/// "3 ports lead to silence".
[[nodiscard]] std::string print_silence(std::size_t ports);

class Look {
 public:
  using Done = std::function<void(Seen)>;

  /// All outlive this. `only_look`: nothing is set, not even a bit cleared.
  Look(Runtime& runtime,
       SmpClient& client,
       const Settings& settings,
       Holdings& holdings,
       bool only_look = false);
  Look(const Look&) = delete;

  /// `done` runs once, last, from a frame of its own.
  void start(Suspicion why, Done done);

 private:
  void look_fully(std::string why);
  void look_partially(std::vector<Guid> suspects);
  void on_found(Result<SweepReport> found);
  void on_partially_found(Result<PartialReport> found);
  void end();

  [[nodiscard]] std::function<std::optional<PortInfo>(Guid, const PortInfo&)> literal_lids();

  template <class Stage, class Value>
  void leave(std::optional<Stage>& stage, Value value, void (Look::*then)(Value));

  Runtime& runtime_;
  SmpClient& client_;
  const Settings& settings_;
  Holdings& holdings_;
  bool only_look_;
  bool relief_ = false;
  Done done_;
  Seen seen_;
  unsigned looks_ = 0;  // again, at new silence
  std::uint64_t next_literal_lid_ = 1;
  std::optional<Discovery> discovery_;
  std::optional<PartialDiscovery> partial_;
  Timer deferred_;  // leaves the frame of a stage that is about to be destroyed
};

}  // namespace smd::app
