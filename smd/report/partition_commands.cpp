// `smctl partition`: what there is, orders, and what an order would change.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "smd/base/text.h"
#include "smd/multicast/group.h"
#include "smd/report/admin_commands.h"
#include "smd/report/subnet_json.h"

namespace smd {
namespace {

using Json = nlohmann::json;

/// Rows of one table.
constexpr std::size_t kMostRows = 1000;

std::string print_p_key(PKey key) { return fmt::format("0x{:04x}", key.value()); }

std::string print_partition(std::uint16_t key) { return print_p_key(PKey{key}); }

PartitionPolicy policy_or_default(const std::optional<PartitionPolicy>& policy) {
  if (policy) return *policy;
  return {.rules = default_partitions(), .enforcement = PartitionEnforcement::Off};
}

/// Kept in the order of its rows; what is beyond kMostRows is counted.
void add_table(Json& out, const char* key, Json rows) {
  if (rows.empty()) return;
  if (rows.size() > kMostRows) {
    out[std::string(key) + "_not_shown"] = rows.size() - kMostRows;
    rows.erase(rows.begin() + kMostRows, rows.end());
  }
  out[key] = std::move(rows);
}

// Orders.

Result<std::string> text_of(const Json& args, const char* key, const char* what) {
  if (args.contains(key) && args.at(key).is_string()) return args.at(key).get<std::string>();
  return fail(Errc::Invalid, fmt::format("argument '{}' is missing, or no text: {}", key, what));
}

Result<std::vector<std::pair<Guid, Membership>>> read_ports(const ActiveSubnet& now,
                                                            const Json& args,
                                                            bool with_membership) {
  std::vector<std::pair<Guid, Membership>> out;
  if (!args.contains("ports")) return out;
  const Json& ports = args.at("ports");
  if (!ports.is_array())
    return fail(Errc::Invalid, "argument 'ports' is no list of PORT[=full|limited]");
  for (const Json& each : ports) {
    if (!each.is_string())
      return fail(Errc::Invalid, "argument 'ports' is no list of PORT[=full|limited]");
    std::string text = each.get<std::string>();
    Membership membership = Membership::Full;
    if (const std::size_t equals = text.rfind('='); equals != std::string::npos) {
      const auto given = parse_membership(std::string_view(text).substr(equals + 1));
      if (!given || !with_membership)
        return fail(Errc::Invalid,
                    fmt::format("'{}' is no {}",
                                printable(text),
                                with_membership ? "PORT=full or PORT=limited"
                                                : "port; a membership is not wanted here"));
      membership = *given;
      text.resize(equals);
    }
    const auto guid = find_port_guid(now, text);
    if (!guid) return tl::unexpected<Error>(guid.error());
    out.emplace_back(*guid, membership);
  }
  return out;
}

Result<std::optional<partition_text::GroupFlags>> read_ipoib(const Json& args) {
  if (!args.contains("ipoib")) return std::nullopt;
  const Json& given = args.at("ipoib");
  partition_text::GroupFlags flags;
  if (!given.is_object())
    return fail(Errc::Invalid, "argument 'ipoib' is no object of flags and numbers");
  for (const auto& item : given.items()) {
    // Scopes may be several.
    const Json values = item.value().is_array() ? item.value() : Json::array({item.value()});
    for (const Json& value : values) {
      std::string fault = fmt::format("flag '{}' has no number", printable(item.key()));
      if (!value.is_number_unsigned() ||
          !set_group_flag(item.key(), value.get<std::uint64_t>(), flags, fault))
        return fail(Errc::Invalid, fault);
    }
  }
  return flags;
}

Result<PartitionOrder> read_order(const ActiveSubnet& now,
                                  PartitionOrder::Action action,
                                  const Json& args) {
  const bool creates = action == PartitionOrder::Action::Create;
  PartitionOrder order{.action = action};
  const auto partition = text_of(args, "partition", "a name, or a P_Key such as 0x0080");
  if (!partition) return tl::unexpected<Error>(partition.error());
  order.partition = *partition;
  if (creates) {
    const auto key = text_of(args, "p_key", "one such as 0x0080");
    if (!key) return tl::unexpected<Error>(key.error());
    order.p_key = *key;
    const auto ipoib = read_ipoib(args);
    if (!ipoib) return tl::unexpected<Error>(ipoib.error());
    order.ipoib = *ipoib;
  }
  auto ports = read_ports(now, args, action != PartitionOrder::Action::Remove);
  if (!ports) return tl::unexpected<Error>(ports.error());
  order.ports = std::move(*ports);
  if (args.contains("index0")) {
    if (!args.at("index0").is_boolean()) return fail(Errc::Invalid, "'index0' is true or false");
    order.first = args.at("index0").get<bool>();
  }
  return order;
}

// What an order changes.

class OrderChanges {
 public:
  OrderChanges(const SubnetManager& manager,
               const ActiveSubnet& now,
               const PartitionControl& control,
               const PartitionControl::Checked& taken)
      : manager_(manager),
        fabric_(now.fabric()),
        before_(policy_or_default(control.policy())),
        after_(policy_or_default(taken.policy)),
        map_before_(build_partition_map(fabric_, before_)),
        map_after_(build_partition_map(fabric_, after_)),
        groups_before_(control.merged().rules.groups),
        groups_after_(taken.groups) {}

  void add_to(Json& out) {
    for (const PortIdx port : map_after_.indices()) add_port(port);
    out["ports"] = ports_;
    out["switch_ports"] = switch_ports_;
    add_table(out, "entries", std::move(entries_));
    add_table(out, "groups", groups());
    add_table(out, "leaving", leaving());
  }

 private:
  void add_port(PortIdx port) {
    const PortKeys& before = map_before_[port];
    const PortKeys& after = map_after_[port];
    if (before != after) ++ports_;
    add_entries(port, before, after);
    const PortIdx enforcer = after.keys.empty() ? kNone<PortIdx> : find_enforcer(fabric_, port);
    if (enforcer == kNone<PortIdx>) return;
    const auto enforced = [](const PortKeys& keys, PartitionEnforcement enforcement) {
      if (enforcement == PartitionEnforcement::Off) return PortKeys{};
      return PortKeys{.keys = enforced_keys(keys), .first = {}};
    };
    const PortKeys table_before = enforced(before, before_.enforcement);
    const PortKeys table_after = enforced(after, after_.enforcement);
    if (table_before != table_after) ++switch_ports_;
    if (!table_after.keys.empty()) add_entries(enforcer, table_before, table_after, true);
  }

  /// Entry by entry where the table is known, else by what is new and what goes.
  void add_entries(PortIdx port,
                   const PortKeys& before,
                   const PortKeys& after,
                   bool enforced = false) {
    if (before == after) return;
    const PortRef ref{fabric_.node_guid[fabric_.node_of[port]], fabric_.number_of(port)};
    const KeyMemory& memory = manager_.program_state().keys;
    const KeyTable* held = memory.find(ref);
    const auto wanted = held == nullptr ? std::nullopt
                                        : arrange_keys(*held,
                                                       {.keys = after.keys,
                                                        .first = after.first,
                                                        .used = memory.used(ref),
                                                        .enforced = enforced});
    if (!wanted) {
      for (const PKey key : before.keys) {
        if (std::ranges::find(after.keys, key) == after.keys.end()) add_entry(port, {}, key, {});
      }
      for (const PKey key : after.keys) {
        if (std::ranges::find(before.keys, key) == before.keys.end()) add_entry(port, {}, {}, key);
      }
      return;
    }
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      if ((*held)[i] != (*wanted)[i]) add_entry(port, i, (*held)[i], (*wanted)[i]);
    }
  }

  void add_entry(PortIdx port, std::optional<std::size_t> index, PKey from, PKey to) {
    const auto print = [](PKey key) { return key == PKey{} ? Json() : Json(print_p_key(key)); };
    entries_.push_back({{"port", print_port(fabric_, port)},
                        {"index", index ? Json(*index) : Json()},
                        {"from", print(from)},
                        {"to", print(to)}});
  }

  [[nodiscard]] Json groups() const {
    Json out = Json::array();
    const auto add_missing = [&out](const auto& all, const auto& others, const char* what) {
      for (const PreconfiguredGroup& each : all) {
        if (std::ranges::find(others, each.mgid, &PreconfiguredGroup::mgid) == others.end())
          out.push_back({{"group", print_gid(each.mgid)},
                         {"change", what},
                         {"mtu", each.mtu},
                         {"rate", each.rate},
                         {"sl", each.sl}});
      }
    };
    add_missing(groups_before_, groups_after_, "deleted");
    add_missing(groups_after_, groups_before_, "created");
    return out;
  }

  /// Members of groups who lose the P_Key.
  [[nodiscard]] Json leaving() const {
    Json out = Json::array();
    std::map<Guid, PortIdx> changed;
    for (const PortIdx port : map_after_.indices()) {
      if (map_before_[port] != map_after_[port]) changed.emplace(fabric_.port_guid[port], port);
    }
    for (const auto& [mgid, group] : manager_.multicast().groups().groups()) {
      for (const auto& [guid, member] : group.members) {
        const auto port = changed.find(guid);
        if (port == changed.end()) continue;
        const bool stays = std::ranges::any_of(map_after_[port->second].keys, [&](PKey key) {
          return same_partition(key, group.traits.p_key);
        });
        if (!stays)
          out.push_back({{"group", print_gid(mgid)}, {"port", print_port(fabric_, port->second)}});
      }
    }
    return out;
  }

  const SubnetManager& manager_;
  const Fabric& fabric_;
  PartitionPolicy before_;
  PartitionPolicy after_;
  PartitionMap map_before_;
  PartitionMap map_after_;
  const std::vector<PreconfiguredGroup>& groups_before_;
  const std::vector<PreconfiguredGroup>& groups_after_;
  std::size_t ports_ = 0;
  std::size_t switch_ports_ = 0;
  Json entries_ = Json::array();
};

/// Whose membership the order is about: those that it names, and those of what it changes.
std::set<Guid> list_ports(const PartitionOrder& order,
                          const PartitionOrders& before,
                          const PartitionOrders& after) {
  std::set<Guid> out;
  for (const auto& [guid, membership] : order.ports) out.insert(guid);
  const auto add_others = [&out](const PartitionOrders& these, const PartitionOrders& those) {
    for (const OrderedPartition& each : these) {
      const auto other = std::ranges::find(those, each.key, &OrderedPartition::key);
      if (other != those.end() && *other == each) continue;
      for (const auto& [guid, membership] : each.members) {
        if (other == those.end() || !other->members.contains(guid)) out.insert(guid);
      }
    }
  };
  add_others(before, after);
  add_others(after, before);
  return out;
}

Result<Json> order_json(PartitionControl& control,
                        SubnetManager& manager,
                        const ActiveSubnet& now,
                        PartitionOrder::Action action,
                        const Json& args) {
  if (args.contains("dry_run") && !args.at("dry_run").is_boolean())
    return fail(Errc::Invalid, "'dry_run' is true or false");
  const auto order = read_order(now, action, args);
  if (!order) return tl::unexpected<Error>(order.error());
  const auto taken = control.check({&*order, 1}, now);
  if (!taken) return tl::unexpected<Error>(taken.error());
  Json out = {{"dry_run", args.value("dry_run", false)},
              {"changed", taken->orders != control.orders()}};
  OrderChanges(manager, now, control, *taken).add_to(out);
  if (out["dry_run"].get<bool>()) return out;
  const std::string what =
      fmt::format("command: partition {} {}", args.at("verb").get<std::string>(), order->partition);
  std::set<Guid> ports = list_ports(*order, control.orders(), taken->orders);
  const std::uint64_t number = control.give(taken->orders, what, std::move(ports));
  if (const auto& refusal = control.find_given(number)->refusal)
    return tl::unexpected<Error>(*refusal);
  out["order"] = number;
  return out;
}

// What there is.

const OrderedPartition* find_in_force(const PartitionControl& control, const Partition& partition) {
  const auto found = std::ranges::find(control.orders(), partition.key, &OrderedPartition::key);
  if (found == control.orders().end()) return nullptr;
  return found->created || found->name == partition.name ? &*found : nullptr;
}

bool is_of_file(const PartitionControl& control, std::uint16_t key) {
  const auto& defined = control.site().reading.rules.partitions;
  return std::ranges::find(defined, key, &Partition::key) != defined.end();
}

std::string print_origin(const PartitionControl& control, std::uint16_t key) {
  return is_of_file(control, key) ? print_definition_place(control.site(), key)
                                  : std::string("order");
}

Json list_json(const PartitionControl& control, const ActiveSubnet* now) {
  const PartitionFile& rules = control.merged().rules;
  PartitionMap map;
  if (now != nullptr) map = build_partition_map(now->fabric(), policy_or_default(control.policy()));
  Json rows = Json::array();
  for (const Partition& each : rules.partitions) {
    std::size_t full = 0;
    std::size_t limited = 0;
    for (const PortKeys& keys : map) {
      for (const PKey key : keys.keys) {
        if (partition_of(key) == each.key) ++(is_full_member(key) ? full : limited);
      }
    }
    const auto groups = std::ranges::count_if(
        rules.groups, [&each](const auto& group) { return partition_of(group.p_key) == each.key; });
    Json row = {{"partition", each.name},
                {"p_key", print_partition(each.key)},
                {"by", print_origin(control, each.key)},
                {"groups", groups}};
    if (now != nullptr) {
      row["full"] = full;
      row["limited"] = limited;
    }
    rows.push_back(std::move(row));
  }
  Json out = {{"partitions", std::move(rows)}};
  if (!control.conflicts().empty()) out["conflicts"] = control.conflicts();
  return out;
}

Json member_json(const PartitionControl& control,
                 const Partition& partition,
                 const PartitionMember& member,
                 const ActiveSubnet* now) {
  const bool is_port = member.kind == MemberKind::Port;
  const auto& named = control.site().reading.lines.named;
  const OrderedPartition* ordered = find_in_force(control, partition);
  const bool by_order = is_port && ordered != nullptr && ordered->members.contains(member.guid) &&
                        !named.contains({partition.key, member.kind, member.guid});
  Json out = {
      {"member", is_port ? fmt::format("{}", member.guid) : print_member(member)},
      {"membership", print_membership(member.membership)},
      {"by",
       by_order ? std::string("order")
                : print_member_place(control.site(), partition.key, member.kind, member.guid)}};
  if (is_port && now != nullptr) {
    const PortIdx port = find_end_port(now->fabric(), member.guid);
    out["port"] = port == kNone<PortIdx> ? Json() : Json(print_port(now->fabric(), port));
  }
  return out;
}

Result<Json> show_json(const PartitionControl& control,
                       const SubnetManager* manager,
                       const ActiveSubnet* now,
                       const Json& args) {
  const auto text = text_of(args, "partition", "a name, or a P_Key such as 0x0080");
  if (!text) return tl::unexpected<Error>(text.error());
  const auto key = find_partition(control.site(), control.orders(), *text);
  if (!key) return fail(Errc::Invalid, key.error());
  const PartitionFile& rules = control.merged().rules;
  const auto partition = std::ranges::find(rules.partitions, *key, &Partition::key);
  if (partition == rules.partitions.end())
    return fail(Errc::Invalid,
                fmt::format("'{}' is not in force: {}",
                            printable(*text),
                            control.is_keeping()
                                ? std::string("the order is not on the disk yet")
                                : fmt::format("{}", fmt::join(control.conflicts(), "; "))));
  Json members = Json::array();
  for (const PartitionMember& each : partition->members)
    members.push_back(member_json(control, *partition, each, now));
  Json groups = Json::array();
  for (const PreconfiguredGroup& each : rules.groups) {
    if (partition_of(each.p_key) != *key) continue;
    Json row = {{"group", print_gid(each.mgid)},
                {"mtu", each.mtu},
                {"rate", each.rate},
                {"sl", each.sl},
                {"q_key", fmt::format("0x{:08x}", each.q_key)}};
    if (manager != nullptr) {
      const Group* group = manager->multicast().groups().find(each.mgid);
      row["joined"] = group == nullptr ? 0 : group->members.size();
    }
    groups.push_back(std::move(row));
  }
  Json out = {{"partition", partition->name},
              {"p_key", print_partition(*key)},
              {"by", print_origin(control, *key)}};
  if (partition->sl) out["sl"] = *partition->sl;
  add_table(out, "members", std::move(members));
  add_table(out, "groups", std::move(groups));
  if (!control.conflicts().empty()) out["conflicts"] = control.conflicts();
  return out;
}

std::string print_fault(const ProgramFault& fault) {
  return fmt::format("{} port {}: {}", fault.node, fault.port, fault.what);
}

/// Whether they are in force, and what keeps them from that.
Json adopting_json(const SubnetManager* manager, std::optional<std::uint64_t> rules) {
  const bool is_master = manager != nullptr && manager->phase() != Phase::Standby &&
                         manager->phase() != Phase::NotActive;
  Json out = {{"adopting", false}, {"rules", is_master}};
  if (manager == nullptr) return out;
  const std::uint64_t number = rules.value_or(manager->partition_rules());
  out["adopting"] = manager->is_adopting_partitions(number);
  if (const auto why = manager->why_not_adopted(number)) out["failed"] = *why;
  return out;
}

/// Whether all orders are in force, and the faults of the last cycle, whomever they concern.
Json progress_json(const PartitionControl& control, const SubnetManager* manager) {
  Json out = adopting_json(manager, std::nullopt);
  if (control.is_keeping()) out["adopting"] = true;
  const CycleReport* last = manager != nullptr ? manager->last_cycle() : nullptr;
  if (last == nullptr) return out;
  const auto& kept = last->partition_faults;
  if (last->fault_count == 0 && kept.empty()) return out;
  out["faults"] = last->fault_count + kept.size();
  if (!kept.empty()) {
    out["fault"] = kept.front();
  } else if (!last->faults.empty()) {
    out["fault"] = print_fault(last->faults.front());
  }
  return out;
}

/// What these ports, or the switch ports before them, did not take: a line each.
std::vector<std::string> find_port_faults(const PartitionControl& control,
                                          const SubnetManager& manager,
                                          const ActiveSubnet& now,
                                          const PartitionControl::Given& order) {
  const Fabric& fabric = now.fabric();
  std::vector<std::string> out;
  std::set<PortIdx> ports;
  std::set<Guid> there;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port) || !order.ports.contains(fabric.port_guid[port])) continue;
    there.insert(fabric.port_guid[port]);
    ports.insert(port);
    if (const PortIdx enforcer = find_enforcer(fabric, port); enforcer != kNone<PortIdx>)
      ports.insert(enforcer);
  }
  // One that went with this order on its way has not got it either.
  for (const auto& [guid, unconfirmed] : manager.unconfirmed_keys()) {
    if (order.ports.contains(guid) && (there.contains(guid) || unconfirmed.rules >= *order.rules))
      out.push_back(unconfirmed.why);
  }
  const PartitionPolicy policy = policy_or_default(control.policy());
  PartitionMap map = build_partition_map(fabric, policy);
  for (const KeyOverflow& each : fit_keys(fabric, map, policy)) {
    if (ports.contains(each.port)) out.push_back(print_overflow(fabric, each));
  }
  const CycleReport* last = manager.last_cycle();
  if (last == nullptr || !out.empty()) return out;
  for (const ProgramFault& each : last->faults) {
    const auto node = fabric.find_node(each.node);
    if (node && each.port.value() <= fabric.num_ports(*node) &&
        ports.contains(fabric.port_of(*node, each.port)))
      out.push_back(print_fault(each));
  }
  return out;
}

/// Whether one order is in force, and at all the ports that it is about.
Result<Json> order_progress_json(const PartitionControl& control,
                                 const SubnetManager* manager,
                                 const ActiveSubnet* now,
                                 const Json& args) {
  if (!args.at("order").is_number_unsigned()) return fail(Errc::Invalid, "'order' is a number");
  const auto number = args.at("order").get<std::uint64_t>();
  const PartitionControl::Given* order = control.find_given(number);
  if (order == nullptr)
    return fail(Errc::Invalid,
                fmt::format("order {} is not known: smd was started again since, or many others "
                            "came; give it again",
                            number));
  if (order->refusal) return tl::unexpected<Error>(*order->refusal);
  Json out = adopting_json(manager, order->rules);
  if (!order->rules) {
    out["adopting"] = true;
    out.erase("failed");
  }
  if (now == nullptr || out["adopting"].get<bool>()) return out;
  const std::vector<std::string> faults = find_port_faults(control, *manager, *now, *order);
  if (faults.empty()) return out;
  out["faults"] = faults.size();
  out["fault"] = faults.front();
  return out;
}

}  // namespace

Result<const ActiveSubnet*> in_order(const AdminContext& context) {
  // A standby has its master's.
  auto up = in_force(context);
  // The next master has its copy already: it would not know of the order, and replace ours.
  if (up && context.manager()->phase() == Phase::HandingOver)
    return fail(Errc::Busy, "the subnet is being handed over; ask the next master in a moment");
  return up;
}

Result<Json> answer_partition_command(const AdminContext& context, const Json& args) {
  using Action = PartitionOrder::Action;
  constexpr std::array<std::pair<std::string_view, Action>, 4> kOrders{
      {{"create", Action::Create},
       {"delete", Action::Delete},
       {"add", Action::Add},
       {"remove", Action::Remove}}};
  if (context.partitions == nullptr) return fail(Errc::Busy, "partitions are not kept here");
  PartitionControl& control = *context.partitions;
  SubnetManager* manager = context.manager();
  const std::shared_ptr<const ActiveSubnet> now =
      manager != nullptr ? manager->active().current() : nullptr;
  if (!args.contains("verb") && args.contains("order"))
    return order_progress_json(control, manager, now.get(), args);
  if (!args.contains("verb")) return progress_json(control, manager);
  const auto verb = text_of(args, "verb", "list, show, create, delete, add or remove");
  if (!verb) return tl::unexpected<Error>(verb.error());
  if (*verb == "list") return list_json(control, now.get());
  if (*verb == "show") return show_json(control, manager, now.get(), args);
  const auto order = std::ranges::find(kOrders, *verb, &decltype(kOrders)::value_type::first);
  if (order == kOrders.end())
    return fail(Errc::Invalid,
                fmt::format("'{}' is none of list, show, create, delete, add and remove",
                            printable(*verb)));
  if (const auto may = in_order(context); !may) return tl::unexpected<Error>(may.error());
  return order_json(control, *manager, *now, order->second, args);
}

}  // namespace smd
