#include "smd/app/session.h"

#include <utility>

namespace smd::app {

Session::Session(Runtime& runtime,
                 Transport& transport,
                 Settings settings,
                 Kept kept,
                 const KeptRecords& left,
                 Hooks hooks)
    : hooks_(std::move(hooks)),
      split_(transport),
      administration_(runtime,
                      split_.general(),
                      Administration::Hooks{.on_change = [this] { hooks_.on_records(); },
                                            .on_aliases = [this] { adopt_view(); }}),
      congestion_(runtime, split_.congestion()),
      manager_(runtime, split_.subnet(), std::move(settings), std::move(kept), observe()),
      aliases_(manager_.client()),
      clients_(manager_.client()),
      groups_(group_parts(manager_)) {
  administration_.server().add_keeper(groups_);
  administration_.server().set_wall(hooks_.observer.wall);
  manager_.multicast().on_change([this](const std::vector<GroupChange>& changes) {
    for (const GroupChange& each : changes)
      administration_.tell(sa::GroupEvent{each.mgid, each.p_key, each.created});
    hooks_.on_records();
  });
  take_records(left);
}

SubnetManager::Observer Session::observe() {
  SubnetManager::Observer observer = hooks_.observer;
  observer.on_known = [this] { adopt_view(); };
  observer.on_notice = [this](const Notice& notice) {
    tally_.note(notice);
    administration_.tell(sa::TrapEvent{notice});
  };
  observer.on_phase = [this](Phase phase) {
    if (phase == Phase::Standby || phase == Phase::NotActive) congestion_.stop();
    hooks_.observer.on_phase(phase);
  };
  observer.on_cycle = [this](const CycleReport& cycle) {
    const std::uint64_t changes = manager_.change_count();
    tally_.note(cycle, std::exchange(changes_seen_, changes) != changes);
    if (!cycle.error) {
      const Fabric& fabric = manager_.in_force()->fabric();
      aliases_.forget(fabric, cycle.came_up);
      clients_.note_came_up(fabric, cycle.came_up);
      const bool measured = manager_.settings().statistics;
      congestion_.adopt(manager_.share_in_force(),
                        manager_.settings(),
                        measured ? cycle.routes.max_hops + 1 : 0,
                        cycle.came_up);
    }
    hooks_.observer.on_cycle(cycle);
  };
  return observer;
}

/// What is in force is new, or better known, or ports have other GUIDs.
void Session::adopt_view() {
  const auto& aliases = administration_.aliases();
  const std::vector<Guid> before = administration_.inform().in_service();
  administration_.adopt(make_view(manager_, aliases));
  if (manager_.in_force() == nullptr) return;
  const MKey m_key = manager_.settings().ports.m_key;
  aliases_.write(*manager_.in_force(), aliases, m_key);
  clients_.call(*manager_.in_force(), before, administration_.inform().in_service(), m_key);
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
