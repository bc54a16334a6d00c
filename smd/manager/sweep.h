// A sweep of the fabric: why it begins, and what it finds. Partial where that will do, full where
// not, and why; repeated where new silence may be that of a switch.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/config/settings.h"
#include "smd/discovery/discovery.h"
#include "smd/discovery/light_sweep.h"
#include "smd/ha/election.h"
#include "smd/ib/types.h"
#include "smd/manager/manager_state.h"
#include "smd/runtime/runtime.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

struct SweepTrigger {
  std::string reason;          // of the first: "trap 128 from lid 5"
  std::vector<Guid> switches;  // where; may name one twice
  std::vector<PortRef> ports;  // likewise: of these switches is to be asked who is there
  std::string full;            // not empty: a full sweep is needed, and why
  bool rebalance = false;      // loads are to be rebalanced where nothing has changed
  bool opens = false;          // likewise, what a plan left blocked is to be opened
  bool rules = false;          // the site's are others: the cycle goes on where nothing has changed
  bool audits = false;         // tables of ports are read again, too

  static SweepTrigger of(std::string reason, std::vector<Guid> switches) {
    return {.reason = std::move(reason),
            .switches = std::move(switches),
            .full = {},
            .rebalance = false};
  }

  static SweepTrigger of_everything(std::string reason) {
    std::string full = reason;
    return {
        .reason = std::move(reason), .switches = {}, .full = std::move(full), .rebalance = false};
  }

  static SweepTrigger of_audit(std::string reason) {
    SweepTrigger why = of_everything(std::move(reason));
    why.audits = true;
    return why;
  }

  static SweepTrigger of_imbalance(std::string reason) {
    return {.reason = std::move(reason), .switches = {}, .full = {}, .rebalance = true};
  }

  static SweepTrigger of_blocked(std::string reason) {
    return {.reason = std::move(reason), .switches = {}, .full = {}, .opens = true};
  }

  static SweepTrigger of_rules(std::string reason) {
    return {.reason = std::move(reason), .switches = {}, .full = {}, .rules = true};
  }

  /// Empty where it found nothing. `in_force`: what it asked about.
  static SweepTrigger of_light_sweep(const std::string& reason,
                                     const LightSweepReport& found,
                                     const Fabric& in_force);

  [[nodiscard]] bool empty() const { return reason.empty(); }

  /// Something may be other than it was, or shall be; not only what is left to do at rest.
  [[nodiscard]] bool names_a_change() const {
    return rules || !full.empty() || !switches.empty() || !ports.empty();
  }

  void merge(SweepTrigger other) {
    if (reason.empty()) reason = std::move(other.reason);
    if (full.empty()) full = std::move(other.full);
    rules |= other.rules;
    audits |= other.audits;
    switches.insert(switches.end(), other.switches.begin(), other.switches.end());
    ports.insert(ports.end(), other.ports.begin(), other.ports.end());
  }
};

// When to look again although nothing was reported: after trouble, and ever more rarely while it
// lasts.

class RetryClock {
 public:
  static constexpr Duration kLongest = std::chrono::minutes(5);

  /// `base` is the first wait; it doubles while trouble is of the same kind, up to kLongest. How
  /// much there is of it changes with every change elsewhere. `partial`: nobody looked where the
  /// trouble is, so what was due before it stays due. `is_new`: the wait begins anew all the same.
  void on_cycle(Trouble trouble, bool partial, TimePoint now, Duration base, bool is_new = false) {
    using Kind = Trouble::Kind;
    const bool same = trouble.kind == trouble_.kind && !is_new;
    const bool had_any = trouble_.kind != Kind::None;
    trouble_ = std::move(trouble);
    if (same && partial) return;
    wait_ = same ? std::min(2 * wait_, kLongest) : base;
    at_ = partial && had_any ? std::min(at_, now + wait_) : now + wait_;
  }

  /// It is looked at by less than a full sweep.
  void on_look(TimePoint now) {
    wait_ = std::min(2 * wait_, kLongest);
    at_ = now + wait_;
  }

  /// Some of it has ended, and more may.
  void begin_anew(TimePoint now, Duration base) {
    wait_ = base;
    at_ = std::min(at_, now + wait_);
  }

  [[nodiscard]] const Trouble& trouble() const { return trouble_; }

  /// Nothing: there is no trouble.
  [[nodiscard]] std::optional<TimePoint> next() const {
    if (trouble_.kind == Trouble::Kind::None) return std::nullopt;
    return at_;
  }

  [[nodiscard]] bool due(TimePoint now) const { return next() && now >= at_; }

 private:
  Trouble trouble_;
  Duration wait_{0};
  TimePoint at_;
};

// A sweep of the fabric: partial where that will do, full where not, and why; repeated where new
// silence may be that of a switch. What a discovery says at first: how much there is, and how long
// an answer may take.

struct SweepResult {
  std::optional<Error> error;  // and nothing below
  SweepReport sweep;
  bool partial = false;        // switches that the trigger named were swept, and no more
  bool quiet = false;          // nothing is other than it was in force
  bool rebalance = false;      // likewise, and loads are to be rebalanced
  bool opens = false;          // likewise, and what a plan left blocked is to be opened
  std::string full_why;        // of a full sweep where a partial one was wanted
  std::optional<Delta> delta;  // of a partial one, against what was in force
  std::vector<Guid> resweep;   // triggers of the next cycle
  bool new_silence = false;    // ports lead to silence that did not before, perhaps to a switch
};

/// "3 ports lead to silence".
[[nodiscard]] std::string print_silence(std::size_t ports);

class Sweep {
 public:
  using Done = std::function<void(SweepResult)>;

  /// All outlive this. `read_only`: nothing is set, not even a bit cleared.
  Sweep(Runtime& runtime,
        SmpClient& client,
        const Settings& settings,
        ManagerState& state,
        bool read_only = false);
  Sweep(const Sweep&) = delete;

  /// `done` runs once, last, from a frame of its own.
  void start(SweepTrigger why, Done done);

 private:
  void discover_fully(std::string why);
  void discover_partially(std::vector<Guid> switches, std::vector<PortRef> ports);
  void on_found(Result<SweepReport> found);
  void on_partially_found(Result<PartialReport> found);
  [[nodiscard]] bool may_hide_a_switch(const std::vector<SilentPort>& silent) const;
  void end();

  /// `next_lid`: the first that is free, where ports get their LIDs on the way.
  [[nodiscard]] DiscoveryOptions discovery_options(unsigned next_lid);
  [[nodiscard]] PortInfo with_lid(Guid guid, PortInfo port);

  Runtime& runtime_;
  SmpClient& client_;
  const Settings& settings_;
  ManagerState& state_;
  bool read_only_;
  bool rebalance_ = false;
  bool opens_ = false;
  bool rules_ = false;
  Done done_;
  SweepResult result_;
  unsigned repeats_ = 0;  // again, at new silence
  unsigned next_lid_ = 1;
  std::optional<Discovery> discovery_;
  std::optional<PartialDiscovery> partial_;
  Timer deferred_;  // see leave()
};

// What a discovery says at first glance: how much there is, who else manages here, and how long an
// answer may take.

[[nodiscard]] std::vector<ManagerAddress> find_other_managers(const SweepReport& found);

/// LIDs and hosts are counted later.
[[nodiscard]] FabricCounts count(const Fabric& fabric);

/// The waiting limit of the specification from what the ports report; at least a floor, and never
/// above the configured limit.
[[nodiscard]] Duration answer_timeout(const SweepReport& found, Duration limit);

}  // namespace smd
