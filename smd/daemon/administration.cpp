#include "smd/daemon/administration.h"

#include <utility>

#include "smd/manager/effective_settings.h"
#include "smd/report/subnet_json.h"

namespace smd {

std::shared_ptr<const sa::SubnetView> make_view(const SubnetManager& manager,
                                                const sa::AliasTable::Map& aliases,
                                                const sa::HeldTables* held,
                                                const sa::SubnetView* before,
                                                sa::PathOrder* path_order) {
  const std::shared_ptr<const ActiveSubnet> now = manager.active().current();
  const Election& election = manager.election();
  if (!now || election.state() != SmState::Master) return nullptr;
  const Settings& settings = manager.settings();
  std::vector<sa::KnownManager> others;
  for (const auto& [guid, known] : election.others()) {
    const PortIdx port = find_end_port(now->fabric(), guid);
    if (port == kNone<PortIdx> || !known.info) continue;
    others.push_back({.lid = now->lids->base[port], .info = *known.info});
    others.back().info.sm_key = SmKey{};
  }
  const SmKey trust_key = settings.sa_key != SmKey{} ? settings.sa_key : settings.election.sm_key;
  SmInfo own = election.info();
  // Who may ask for everything need not be one who may give orders to managers.
  if (trust_key != settings.election.sm_key) own.sm_key = SmKey{};
  sa::ViewParts parts{
      .fabric = now->sweep.fabric,
      .lids = now->lids.share(),
      .routing = now->routing.share(),
      .aliases = aliases.empty() ? nullptr : std::make_shared<const sa::AliasTable::Map>(aliases),
      .partitions = now->partitions,
      .keys = manager.program_state().keys,
      .qos = choose_qos(settings, now->routing->vls, now->multicast_vl),
      .rows = now->rows.share(),
      .held = held,
      .qos_rules = make_qos_rules(settings, *now),
      .path_order = path_order,
      .multicast_sl = now->multicast_vl ? std::optional(now->multicast_vl->sl) : std::nullopt,
      .sm = own,
      .other_managers = std::move(others),
      .trust_key = trust_key,
      .m_keys = settings.m_keys,
      .shows_m_keys = settings.sa_key != SmKey{} && settings.sa_key != settings.election.sm_key,
      .subnet_prefix = settings.ports.subnet_prefix,
      .packet_life_time = settings.ports.subnet_timeout,
      .prefix_routes = settings.prefix_routes,
      .max_rate = settings.max_rate};
  return std::make_shared<const sa::SubnetView>(std::move(parts), before);
}

Administration::Administration(Runtime& runtime, Transport& transport, Hooks hooks)
    : hooks_(std::move(hooks)),
      server_(runtime, transport),
      inform_(
          runtime,
          [this](const MadPacket& packet) { return server_.send_request(packet); },
          [this] { hooks_.on_change(); }),
      services_(runtime, [this] { hooks_.on_change(); }),
      aliases_([this] {
        hooks_.on_change();
        hooks_.on_aliases();
      }) {
  server_.add_manager(inform_);
  server_.add_manager(services_);
  server_.add_manager(aliases_);
  aliases_.set_reserved(hooks_.is_known);
  server_.on_answer([this](const MadPacket& packet) { inform_.on_answer(packet); });
}

ClientRecords Administration::collect() const {
  ClientRecords kept{.subscriptions = inform_.table().all(),
                     .services = {},
                     .aliases = aliases_.table().all(),
                     .in_service = inform_.in_service()};
  for (const auto& [id, service] : services_.table().all()) kept.services.push_back(service);
  return kept;
}

void Administration::set_limits(const SaConfig& limits) {
  constexpr std::size_t kMib = std::size_t{1} << 20;
  server_.set_limits({.requests = limits.requests,
                      .requests_of_one_port = limits.requests_per_port,
                      .requests_of_one_port_in_100ms = limits.requests_per_port_in_100ms,
                      .transfers = limits.transfers,
                      .transfers_of_one_port = limits.transfers_per_port,
                      .transfer_bytes = limits.transfer_mib * kMib,
                      .transfer_bytes_of_one_port = limits.transfer_mib_per_port * kMib,
                      .half_open = limits.segmented_requests,
                      .half_open_of_one_port = limits.segmented_requests_per_port,
                      .own_gids_only = limits.refuse_foreign_gids});
  inform_.set_limits(
      {.table = {.all = limits.subscriptions, .of_one_port = limits.subscriptions_per_port},
       .reports = {.under_way = limits.reports, .under_way_to_one_port = limits.reports_per_port}});
  services_.set_limits({.all = limits.services, .of_one_port = limits.services_per_port});
  aliases_.set_limits({.all = limits.aliases, .of_one_port = limits.aliases_per_port});
}

bool Administration::take_changes(const Moment& now, std::string& out) {
  const auto subscribers = inform_.table().take_changed();
  const auto aliases = aliases_.table().take_changed();
  const auto services = services_.table().take_changed();
  if (!subscribers || !aliases || !services) return false;
  print_changes(inform_.table().all(), *subscribers, out);
  print_changes(aliases_.table().all(), *aliases, out);
  print_changes(services_.table().all(), *services, now, out);
  return true;
}

bool take_changes(GroupTable& groups, std::string& out) {
  const auto changed = groups.take_changed_groups();
  const auto members = groups.take_changed_members();
  if (!changed || !members) return false;
  print_changes(groups.groups(), *changed, *members, out);
  return true;
}

void Administration::restore(const ClientRecords& kept) {
  services_.restore(kept.services);
  aliases_.restore(kept.aliases);
  inform_.restore(kept.subscriptions, kept.in_service);
}

void Administration::adopt(std::shared_ptr<const sa::SubnetView> view) {
  server_.adopt(view);
  inform_.adopt(std::move(view));
}

GroupLimits group_limits(const SaConfig& limits) {
  return {.groups = limits.groups,
          .groups_of_one_port = limits.groups_per_port,
          .joins = limits.joins,
          .joins_of_one_port = limits.joins_per_port};
}

sa::GroupManager::Parts group_parts(SubnetManager& manager) {
  MulticastManager& multicast = manager.multicast();
  return {.groups = multicast.groups(),
          .tables = multicast.tables(),
          .subnet = [&multicast] { return multicast.realm(); },
          .on_changed = [&multicast] { multicast.note_change(); }};
}

}  // namespace smd
