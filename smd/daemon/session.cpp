#include "smd/daemon/session.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace smd {

namespace {

/// Until paths lead to a further GUID that was just given.
constexpr Duration kForAliases = std::chrono::milliseconds(20);

/// Ports that are given no table hold what they held when `before` was the view.
bool sets_tables_of(const sa::SubnetView& now, const sa::SubnetView& before) {
  const auto has_rows = [](const sa::SubnetView& view) {
    return view.parts().rows != nullptr && !view.parts().rows->empty();
  };
  return now.parts().qos == before.parts().qos &&
         (now.parts().rows == before.parts().rows || (!has_rows(now) && !has_rows(before)));
}

/// Further GUIDs that ports had `before` and have no more, and whose they were.
std::map<Guid, Guid> find_given_back(const sa::AliasTable::Map& before,
                                     const sa::AliasTable::Map& now) {
  std::map<Guid, Guid> out;
  for (const auto& [port, had] : before) {
    const auto found = now.find(port);
    for (const Guid guid : had) {
      const bool has =
          found != now.end() && std::ranges::find(found->second, guid) != found->second.end();
      if (guid != Guid{} && !has) out.emplace(guid, port);
    }
  }
  return out;
}

}  // namespace

Session::Session(Runtime& runtime,
                 Transport& transport,
                 Settings settings,
                 const SaConfig& limits,
                 StateStore& store,
                 Hooks hooks)
    : runtime_(runtime),
      records_(store.records()),
      wall_ms_(std::move(hooks.wall_ms)),
      split_(transport),
      administration_(
          runtime,
          split_.general(),
          Administration::Hooks{
              .on_change = [this] { records_.note_change(); },
              .on_aliases = [this] { adopt_view_soon(); },
              .is_known = [&store](Guid port) { return store.get().lids.contains(port); }}),
      congestion_gate_(split_.congestion(), [this] { return manager_.election().may_write(); }),
      congestion_(runtime, congestion_gate_, store),
      manager_(runtime, split_.subnet(), std::move(settings), store, observe(hooks.observer)),
      watch_(runtime,
             split_.performance(),
             path_order_,
             [this] {
               return manager_.at_rest() && !manager_.is_light_sweeping() && congestion_.at_rest();
             }),
      aliases_(manager_.client()),
      clients_(manager_.client()),
      groups_(group_parts(manager_)),
      tables_(runtime, manager_.client(), held_, [this] { administration_.server().go_on(); }),
      table_reads_(held_, [this](const auto& blocks) { tables_.read(blocks); }) {
  set_limits(limits);
  administration_.server().add_manager(groups_);
  administration_.server().add_manager(table_reads_);
  administration_.server().set_wall(hooks.observer.wall);
  administration_.server().set_expects_view([this] { return manager_.expects_to_publish(); });
  connect();
  records_.open(*this);
}

Session::~Session() { records_.close(); }

void Session::set_limits(const SaConfig& limits) {
  administration_.set_limits(limits);
  manager_.multicast().groups().set_limits(group_limits(limits));
}

SubnetManager::Observer Session::observe(SubnetManager::Observer observer) {
  observer.on_role = [this, then = std::move(observer.on_role)](SmState state) {
    // Before anything is done in the new role.
    if (state == SmState::Master) records_.adopt_copy();
    then(state);
  };
  return observer;
}

/// Who hears of what.
void Session::connect() {
  manager_.came_up().subscribe([this](const auto& ports) { on_came_up(ports); });
  manager_.cycle_ended().subscribe([this](const CycleReport& cycle) { on_cycle(cycle); });
  manager_.active().subscribe([this](const auto& change) { on_active(change); });
  manager_.noticed().subscribe([this](const Notice& notice) {
    counters_.note(notice);
    administration_.tell(sa::TrapEvent{notice});
  });
  manager_.multicast().on_change([this](const std::vector<GroupChange>& changes) {
    for (const GroupChange& each : changes)
      administration_.tell(sa::GroupEvent{each.mgid, each.p_key, each.created});
    records_.note_change();
  });
}

void Session::on_cycle(const CycleReport& cycle) {
  const std::uint64_t changes = manager_.change_count();
  counters_.note(cycle, std::exchange(changes_seen_, changes) != changes);
  choose_paths();  // settings may be new; the subnet in force is told with on_active()
  if (cycle.error || cycle.cut_off || !std::exchange(congestion_waits_, false)) return;
  const bool measured = manager_.settings().statistics;
  const std::shared_ptr<const ActiveSubnet> now = manager_.active().current();
  congestion_.adopt(now,
                    manager_.settings(),
                    measured ? cycle.routes.max_hops + 1 : 0,
                    take_came_up(now->fabric()));
}

/// In cycles that were not published as well: those ports have lost their settings.
std::vector<PortIdx> Session::take_came_up(const Fabric& fabric) {
  std::vector<PortIdx> out;
  for (const PortRef& port : std::exchange(came_up_, {})) {
    const auto node = fabric.find_node(port.node);
    if (node && port.port.value() <= fabric.num_ports(*node))
      out.push_back(fabric.port_of(*node, port.port));
  }
  return out;
}

void Session::on_came_up(const SubnetManager::PortsUp& up) {
  aliases_.forget(up.fabric, up.ports);
  clients_.note_came_up(up.fabric, up.ports);
  for (const PortIdx port : up.ports) {
    const Guid node = up.fabric.node_guid[up.fabric.node_of[port]];
    held_.forget(node);
    came_up_.insert({node, up.fabric.number_of(port)});
  }
}

void Session::on_active(const Publisher<ActiveSubnet>::Change& change) {
  choose_paths();
  if (!change.before) aliases_.doubt_all();
  if (!change.now) {
    congestion_waits_ = false;
    came_up_.clear();
    congestion_.stop();
  } else if (!change.before || !change.now->has_routes_of(*change.before)) {
    congestion_waits_ = true;  // for the end of the cycle, which says how long paths are
  } else if (!congestion_waits_) {
    congestion_.refresh(change.now);
  }
  adopt_view();
}

/// How PathRecords are ordered, and who watches for that.
void Session::choose_paths() {
  const Settings& settings = manager_.settings();
  path_order_.set_choice(settings.path_choice, settings.path_margin);
  administration_.server().decide_off_loop();
  const std::shared_ptr<const ActiveSubnet> now = manager_.active().current();
  now ? watch_.adopt(now, settings) : watch_.stop();
}

/// Who asks for many further GUIDs, or for the same again and again, gets one view for them.
void Session::adopt_view_soon() {
  if (std::exchange(view_due_, true)) return;
  view_timer_ = Timer(runtime_, runtime_.now() + kForAliases, [this] { adopt_view(); });
}

/// The subnet is another or better known, or ports have other GUIDs.
void Session::end_memberships(const std::map<Guid, Guid>& given_back) {
  MulticastManager& multicast = manager_.multicast();
  const std::uint64_t before = multicast.groups().version();
  multicast.groups().end_memberships(given_back);
  if (multicast.groups().version() != before) multicast.note_change();
}

void Session::adopt_view() {
  view_due_ = false;
  const std::shared_ptr<const ActiveSubnet> now = manager_.active().current();
  const auto& aliases = administration_.aliases();
  const std::vector<Guid> before = administration_.inform().in_service();
  const sa::SubnetView* const last = administration_.inform().view();
  if (last != nullptr && last->parts().aliases && *last->parts().aliases != aliases)
    end_memberships(find_given_back(*last->parts().aliases, aliases));
  std::shared_ptr<const sa::SubnetView> next =
      make_view(manager_, aliases, &held_, last, &path_order_);
  if (!next || last == nullptr || !sets_tables_of(*next, *last)) held_.forget_all();
  administration_.adopt(std::move(next));
  tables_.adopt(now, manager_.settings().ports.m_key);
  held_.forget_unanswered();
  if (!now) return;
  const MKey m_key = manager_.settings().ports.m_key;
  aliases_.write(*now, aliases, m_key);
  clients_.call(*now, before, administration_.inform().in_service(), m_key);
}

Moment Session::now() const {
  const TimePoint now = runtime_.now();
  if (wall_ms_) return {now, wall_ms_()};
  const auto since_start = std::chrono::duration_cast<std::chrono::milliseconds>(now - TimePoint{});
  return {now, since_start.count()};
}

ClientRecords Session::collect() const {
  ClientRecords kept = administration_.collect();
  kept.in_service = clients_.without_owed(kept.in_service);
  kept.groups = manager_.multicast().to_restore();
  return kept;
}

bool Session::take_changes(std::string& out) {
  const bool administration = administration_.take_changes(now(), out);
  const bool groups = smd::take_changes(manager_.multicast().groups(), out);
  const std::vector<Guid> before =
      std::exchange(in_service_, clients_.without_owed(administration_.inform().in_service()));
  print_changes(before, in_service_, out);
  return administration && groups;
}

void Session::restore(const ClientRecords& records) {
  administration_.restore(records);
  clients_.restore(records);
  manager_.multicast().restore(records.groups);
}

}  // namespace smd
