#include "smd/app/session.h"

#include <utility>

namespace smd::app {

Session::Session(Runtime& runtime,
                 Transport& transport,
                 Settings settings,
                 const SaConfig& limits,
                 Kept kept,
                 const KeptRecords& left,
                 Hooks hooks)
    : on_records_(std::move(hooks.on_records)),
      split_(transport),
      administration_(runtime,
                      split_.general(),
                      Administration::Hooks{.on_change = [this] { on_records_(); },
                                            .on_aliases = [this] { adopt_view(); }}),
      congestion_(runtime, split_.congestion()),
      manager_(runtime,
               split_.subnet(),
               std::move(settings),
               std::move(kept),
               std::move(hooks.observer)),
      aliases_(manager_.client()),
      clients_(manager_.client()),
      groups_(group_parts(manager_)) {
  set_limits(limits);
  administration_.server().add_keeper(groups_);
  connect();
  take_records(left);
}

void Session::set_limits(const SaConfig& limits) {
  administration_.set_limits(limits);
  manager_.multicast().groups().set_limits(group_limits(limits));
}

/// Who hears of what.
void Session::connect() {
  manager_.cycle_ended().subscribe([this](const CycleReport& cycle) { on_cycle(cycle); });
  manager_.active().subscribe([this](const auto& change) { on_active(change); });
  manager_.noticed().subscribe([this](const Notice& notice) {
    tally_.note(notice);
    administration_.tell(sa::TrapEvent{notice});
  });
  manager_.multicast().on_change([this](const std::vector<GroupChange>& changes) {
    for (const GroupChange& each : changes)
      administration_.tell(sa::GroupEvent{each.mgid, each.p_key, each.created});
    on_records_();
  });
}

void Session::on_cycle(const CycleReport& cycle) {
  const std::uint64_t changes = manager_.change_count();
  tally_.note(cycle, std::exchange(changes_seen_, changes) != changes);
  if (cycle.error) return;
  const Fabric& fabric = manager_.in_force()->fabric();
  aliases_.forget(fabric, cycle.came_up);
  clients_.note_came_up(fabric, cycle.came_up);
}

void Session::on_active(const Publisher<ActiveSubnet>::Change& change) {
  if (!change.now) {
    congestion_.stop();
  } else if (change.before && change.now->has_routes_of(*change.before)) {
    congestion_.refresh(change.now);
  } else {
    const CycleReport& cycle = *manager_.last_cycle();
    const bool measured = manager_.settings().statistics;
    congestion_.adopt(
        change.now, manager_.settings(), measured ? cycle.routes.max_hops + 1 : 0, cycle.came_up);
  }
  adopt_view();
}

/// The subnet is another or better known, or ports have other GUIDs.
void Session::adopt_view() {
  const auto& aliases = administration_.aliases();
  const std::vector<Guid> before = administration_.inform().in_service();
  administration_.adopt(make_view(manager_, aliases));
  const std::shared_ptr<const ActiveSubnet> now = manager_.active().current();
  if (!now) return;
  const MKey m_key = manager_.settings().ports.m_key;
  aliases_.write(*now, aliases, m_key);
  clients_.call(*now, before, administration_.inform().in_service(), m_key);
}

KeptRecords Session::collect() const {
  KeptRecords kept = administration_.collect();
  kept.in_service = clients_.without_owed(kept.in_service);
  kept.groups = manager_.multicast().to_keep();
  return kept;
}

void Session::take_records(const KeptRecords& records) {
  administration_.restore(records);
  manager_.multicast().restore(records.groups);
}

}  // namespace smd::app
