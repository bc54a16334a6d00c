#include "smd/app/look.h"

#include <utility>

#include "smd/app/cycle_log.h"

namespace smd::app {
namespace {

/// Looks again at new silence within one cycle.
constexpr unsigned kMostLooks = 3;

/// What was read again is as it was, and as it should be: every linked port that has its LIDs is
/// Active. Requires: nodes and cables are the same.
bool same_registers(const Fabric& a, const Fabric& b, const LidMap& lids) {
  if (a.port_count() != b.port_count() || a.switch_count() != b.switch_count()) return false;
  const auto plain = [](PortInfo info) {
    info.client_reregister = false;  // shows in the answer to a Set alone
    info.m_key_violations = info.p_key_violations = info.q_key_violations = 0;
    return info;
  };
  for (const PortIdx port : a.port_info.indices()) {
    if (plain(a.port_info[port]) != plain(b.port_info[port])) return false;
    if (is_to_be_active(b, lids, port) && b.port_info[port].state() < PortState::Active)
      return false;
  }
  for (const SwitchIdx sw : a.switch_info.indices()) {
    SwitchInfo here = a.switch_info[sw];
    here.port_state_change = b.switch_info[sw].port_state_change;
    if (here != b.switch_info[sw]) return false;
  }
  return true;
}

}  // namespace

std::string print_silence(std::size_t ports) {
  return fmt::format("{} ports lead to silence", ports);
}

Look::Look(Runtime& runtime,
           SmpClient& client,
           const Settings& settings,
           Holdings& holdings,
           bool only_look)
    : runtime_(runtime),
      client_(client),
      settings_(settings),
      holdings_(holdings),
      only_look_(only_look) {}

/// A stage calls from one of its own handlers: its frame is left before it is destroyed.
template <class Stage, class Value>
void Look::leave(std::optional<Stage>& stage, Value value, void (Look::*then)(Value)) {
  deferred_ =
      Timer(runtime_, runtime_.now(), [this, &stage, value = std::move(value), then]() mutable {
        stage.reset();
        (this->*then)(std::move(value));
      });
}

void Look::start(Suspicion why, Done done) {
  done_ = std::move(done);
  relief_ = why.relief;
  if (relief_ && holdings_.stale.empty()) return look_partially({});
  if (settings_.assimilation.discovery == Assimilation::Discovery::Full) return look_fully("");
  if (!holdings_.stale.empty()) return look_fully(holdings_.stale);
  if (!why.full.empty()) return look_fully(std::move(why.full));
  look_partially(std::move(why.switches));
}

void Look::look_fully(std::string why) {
  seen_.partial = false;
  seen_.full_why = std::move(why);
  holdings_.stale = "the cycle before did not end";
  DiscoveryOptions options{.literal = settings_.assimilation.literal,
                           .m_key = settings_.ports.m_key,
                           .look_only = only_look_};
  if (options.literal) {
    // The thesis numbers anew in every full discovery. Not in those that our own deactivation of
    // ports caused: numbers change with the order of answers, tables with the numbers, and the
    // tables would be written, with ports deactivated, without end.
    if (runtime_.now() >= holdings_.echoes_end) holdings_.book.clear();
    next_literal_lid_ = settings_.lids.min.value();
    options.set_end_port = literal_lids();
  }
  discovery_.emplace(client_, std::move(options), Epoch{holdings_.next_epoch++});
  discovery_->start(
      [this](Result<SweepReport> found) { leave(discovery_, std::move(found), &Look::on_found); });
}

void Look::look_partially(std::vector<Guid> suspects) {
  const ActiveSubnet& now = *holdings_.in_force;
  seen_.partial = true;
  holdings_.stale = "the cycle before did not end";
  PartialOptions options{.m_key = settings_.ports.m_key, .literal = settings_.assimilation.literal};
  if (options.literal) {
    next_literal_lid_ = now.lids->top.value() + 1u;
    options.set_end_port = literal_lids();
  }
  partial_.emplace(client_, std::move(options), Epoch{holdings_.next_epoch++});
  partial_->start({.sweep = &now.sweep, .lids = &*now.lids, .lft = &now.routing->lft},
                  std::move(suspects),
                  [this](Result<PartialReport> found) {
                    leave(partial_, std::move(found), &Look::on_partially_found);
                  });
}

/// Literal discoveries set LIDs as they go: the known ones as they were, then the next free.
std::function<std::optional<PortInfo>(Guid, const PortInfo&)> Look::literal_lids() {
  return [this](Guid guid, const PortInfo& now) -> std::optional<PortInfo> {
    LidBook& book = holdings_.book;
    const auto known = book.find(guid);
    const Lid lid = known != book.end() ? known->second.base
                                        : Lid{static_cast<std::uint16_t>(next_literal_lid_++)};
    book[guid] = {.base = lid};
    if (lid == settings_.lids.min) client_.set_local_lid(lid);
    PortInfo wanted = now;
    wanted.lid = lid;
    wanted.lmc = 0;
    wanted.master_sm_lid = settings_.lids.min;
    return set_body(wanted, PortState::NoChange);
  };
}

void Look::on_partially_found(Result<PartialReport> found) {
  if (!found) return on_found(tl::unexpected<Error>(found.error()));
  if (!found->full_needed.empty()) return look_fully(std::move(found->full_needed));
  const bool nothing_new =
      found->delta.empty() && found->look_again.empty() &&
      (found->reread.empty() ||
       (!settings_.assimilation.literal &&
        found->sweep.silent == holdings_.in_force->sweep.silent &&
        same_registers(
            *found->sweep.fabric, holdings_.in_force->fabric(), holdings_.in_force->lids)));
  if (nothing_new && relief_) {
    seen_.relief = true;
    return on_found(std::move(found->sweep));
  }
  if (nothing_new) {
    holdings_.stale.clear();
    seen_.quiet = true;
    return end();
  }
  log_delta(found->delta);
  seen_.look_again = std::move(found->look_again);
  for (const Guid restarted : found->delta.restarted) {
    holdings_.program.forget(restarted);
    holdings_.program.multicast.forget(restarted);
  }
  on_found(std::move(found->sweep));
}

/// A switch that was lost on the way, but lives, still forwards by its old entries: while anything
/// carries data, silence is believed only once it stays.
void Look::on_found(Result<SweepReport> found) {
  if (!found) {
    seen_.error = found.error();
    return end();
  }
  seen_.sweep = std::move(*found);
  const std::vector<SilentPort>& silent = seen_.sweep.silent;
  seen_.new_silence = !silent.empty() && silent != holdings_.silence;
  if (seen_.new_silence && holdings_.in_force && looks_++ < kMostLooks) {
    holdings_.silence = silent;
    return look_fully(print_silence(silent.size()));
  }
  end();
}

void Look::end() { std::exchange(done_, nullptr)(std::move(seen_)); }

}  // namespace smd::app
