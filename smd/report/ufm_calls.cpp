// UFM's calls: what programs ask about partitions and ports, and what they order. Orders are those
// of `smctl partition`, several of them taken as one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "smd/base/text.h"
#include "smd/ib/rates.h"
#include "smd/report/admin_commands.h"
#include "smd/report/subnet_json.h"

namespace smd {
namespace {

using Json = nlohmann::json;
using Action = PartitionOrder::Action;
using partition_text::GroupFlags;

/// A status of HTTP, and the line that says why.
struct Refusal {
  unsigned status;
  std::string line;
};

template <class T>
using Answered = tl::expected<T, Refusal>;

tl::unexpected<Refusal> refuse_call(unsigned status, std::string line) {
  return tl::unexpected<Refusal>({status, std::move(line)});
}

tl::unexpected<Refusal> refuse_call(const Error& error) {
  return refuse_call(error.code == Errc::Busy ? 503
                     : error.code == Errc::Io ? 500
                                              : 400,
                     error.context);
}

// What is asked.

struct Target {
  std::string path;  // behind /ufmRest, /ufmRestV2, /ufmRestV3
  std::map<std::string, std::string, std::less<>> query;

  [[nodiscard]] bool asks(std::string_view what) const {
    const auto at = query.find(what);
    return at != query.end() && (at->second == "true" || at->second == "True");
  }
};

std::optional<Target> read_target(std::string_view text) {
  constexpr std::string_view kRoots[] = {"/ufmRestV3/", "/ufmRestV2/", "/ufmRest/"};
  const auto root =
      std::ranges::find_if(kRoots, [&](std::string_view each) { return text.starts_with(each); });
  if (root == std::end(kRoots)) return std::nullopt;
  text.remove_prefix(root->size());
  Target out;
  std::string_view path = text.substr(0, text.find('?'));
  std::string_view query = text.substr(std::min(path.size() + 1, text.size()));
  if (path.ends_with('/')) path.remove_suffix(1);
  out.path = path;
  while (!query.empty()) {
    const std::string_view each = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(each.size() + 1, query.size()));
    const std::size_t equals = std::min(each.find('='), each.size());
    out.query[std::string(each.substr(0, equals))] = each.substr(std::min(equals + 1, each.size()));
  }
  return out;
}

/// An object of these members alone: one that is not understood would not be obeyed.
Answered<Json> read_body(const std::string& text, std::span<const std::string_view> known) {
  if (nests_too_deep(text)) return refuse_call(400, "the body nests too deep");
  Json body = Json::parse(text, nullptr, false);
  if (body.is_discarded() || !body.is_object())
    return refuse_call(400, "the body is no object of JSON");
  for (const auto& item : body.items()) {
    if (std::ranges::find(known, item.key()) == known.end())
      return refuse_call(
          400, fmt::format("'{}' is none of {}", printable(item.key()), fmt::join(known, ", ")));
  }
  return body;
}

/// In hexadecimal with or without 0x; the lower 15 bits.
Answered<std::uint16_t> parse_key(std::string_view text) {
  const std::string_view digits =
      text.starts_with("0x") || text.starts_with("0X") ? text.substr(2) : text;
  const auto key = digits.size() <= 4 ? parse_partition_key("0x" + std::string(digits))
                                      : std::optional<std::uint16_t>();
  if (key) return *key;
  return refuse_call(
      400, fmt::format("'{}' is no P_Key; hexadecimal, 0x0001 to 0x7fff", printable(text)));
}

Answered<std::uint16_t> read_key(const Json& body) {
  if (!body.contains("pkey") || !body.at("pkey").is_string())
    return refuse_call(400, "'pkey' is missing, or no text such as \"0x0080\"");
  return parse_key(body.at("pkey").get<std::string>());
}

Answered<bool> read_flag(const Json& body, const char* key, bool otherwise) {
  if (!body.contains(key)) return otherwise;
  if (body.at(key).is_boolean()) return body.at(key).get<bool>();
  return refuse_call(400, fmt::format("'{}' is true or false", key));
}

Answered<Membership> read_membership(const Json& value) {
  if (value == "full") return Membership::Full;
  if (value == "limited") return Membership::Limited;
  return refuse_call(400, "a membership is \"full\" or \"limited\"");
}

Answered<Guid> read_guid(const ActiveSubnet& now, std::string_view text) {
  const std::string_view digits =
      text.starts_with("0x") || text.starts_with("0X") ? text.substr(2) : text;
  const bool fine = !digits.empty() && digits.size() <= 16 &&
                    digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  if (!fine)
    return refuse_call(
        400, fmt::format("'{}' is no GUID; up to 16 hexadecimal digits", printable(text)));
  const auto guid = find_port_guid(now, "0x" + std::string(digits));
  if (!guid) return refuse_call(guid.error());
  return *guid;
}

using Ports = std::vector<std::pair<Guid, Membership>>;

Answered<Ports> read_guids(const ActiveSubnet& now, const Json& body) {
  if (!body.contains("guids") || !body.at("guids").is_array())
    return refuse_call(400, "'guids' is missing, or no list of GUIDs");
  const Json& guids = body.at("guids");
  const auto membership = read_membership(body.value("membership", Json("full")));
  if (!membership) return tl::unexpected(membership.error());
  const Json own = body.value("memberships", Json::array());
  if (body.contains("memberships") && (!own.is_array() || own.size() != guids.size()))
    return refuse_call(400, "'memberships' is no list of one for each of 'guids'");
  Ports out;
  for (std::size_t i = 0; i < guids.size(); ++i) {
    if (!guids[i].is_string()) return refuse_call(400, "'guids' is no list of GUIDs");
    const auto guid = read_guid(now, guids[i].get<std::string>());
    if (!guid) return tl::unexpected(guid.error());
    const auto each = own.empty() ? membership : read_membership(own[i]);
    if (!each) return tl::unexpected(each.error());
    out.emplace_back(*guid, *each);
  }
  return out;
}

// What there is.

std::string print_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string print_key(std::uint16_t key) { return fmt::format("0x{:x}", key); }

std::string print_digits(Guid guid) { return fmt::format("{:016x}", guid.value()); }

/// A group of the partition, or what one of it would be like.
Json qos_json(const PartitionFile& rules, const Partition& partition) {
  PreconfiguredGroup group{.sl = partition.sl.value_or(0)};
  const auto found = std::ranges::find(
      rules.groups, partition.key, [](const auto& each) { return partition_of(each.p_key); });
  if (found != rules.groups.end()) group = *found;
  // In KiB: 2 and 4 are what UFM has.
  return {{"mtu_limit", mtu_bytes(static_cast<Mtu>(group.mtu)) / 1024},
          {"service_level", group.sl},
          {"rate_limit", rate_mbps(group.rate) / 1000.0}};
}

bool is_first_key(const SubnetManager& manager, const Fabric& fabric, PortIdx port, PKey key) {
  const KeyTable* table = manager.program_state().keys.find_part(
      {fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)});
  return table != nullptr && same_partition(table->front(), key);
}

class Answers {
 public:
  Answers(const AdminContext& context, bool show_keys)
      : context_(context),
        control_(*context.partitions),
        manager_(context.manager()),
        show_keys_(show_keys) {
    if (manager_ != nullptr) now_ = manager_->active().current();
  }

  /// What a call orders is for whoever asked to carry out.
  struct Ordered {
    PartitionOrders orders;
    std::string what;
  };

  [[nodiscard]] const std::optional<Ordered>& ordered() const { return ordered_; }

  Answered<std::string> answer(const HttpRequest& request) {
    const auto target = read_target(request.target);
    if (!target) return refuse_call(404, "there is /ufmRest, /ufmRestV2 and /ufmRestV3");

    struct Page {
      std::string_view method;
      std::string_view path;  // its beginning, where it ends with '/'
      Answered<Json> (Answers::*answer)(const Target& target, const std::string& body);
    };

    static constexpr std::string_view kKeys = "resources/pkeys/";
    static constexpr std::array kPages{
        Page{"GET", "app/ufm_version", &Answers::version},
        Page{"GET", "app/smconf", &Answers::options},
        Page{"GET", "resources/pkeys", &Answers::partitions},
        Page{"POST", "resources/pkeys", &Answers::add},
        Page{"PUT", "resources/pkeys", &Answers::set},
        Page{"POST", "resources/pkeys/add", &Answers::create},
        Page{"PUT", "resources/pkeys/qos_conf", &Answers::set_qos},
        Page{"POST", "actions/remove_guids_from_pkey", &Answers::remove},
        Page{"GET", kKeys, &Answers::partition},
        Page{"DELETE", kKeys, &Answers::drop}};
    bool known = target->path == "resources/ports";
    if (known && request.method == "GET") return ports(*target);
    for (const Page& page : kPages) {
      const bool fits = page.path.ends_with('/') ? target->path.starts_with(page.path)
                                                 : target->path == page.path;
      known = known || fits;
      if (!fits || page.method != request.method) continue;
      const auto answer = (this->*page.answer)(*target, request.body);
      if (!answer) return tl::unexpected(answer.error());
      return print_json(*answer);
    }
    if (known) return refuse_call(405, "not by that method: docs/formats/rest.md");
    return refuse_call(404, "no such page: docs/formats/rest.md");
  }

 private:
  Answered<Json> version(const Target& /*target*/, const std::string& /*body*/) {
    return Json{{"ufm_release_version", SMD_VERSION}};
  }

  Answered<Json> options(const Target& /*target*/, const std::string& /*body*/) {
    if (manager_ == nullptr) return refuse_call(503, "the subnet is not up yet");
    const Settings& settings = manager_->settings();
    const auto show = [this](std::uint64_t key) {
      if (show_keys_ || key == 0) return fmt::format("0x{:016x}", key);
      return std::string("set");
    };
    const SmKey sm_key = settings.election.sm_key;
    const bool per_port = !settings.m_keys.empty() && !settings.m_keys.front().seed.empty();
    const SmKey sa_key = settings.sa_key != SmKey{} ? settings.sa_key : sm_key;
    return Json{{"subnet_prefix", fmt::format("0x{:016x}", settings.ports.subnet_prefix)},
                {"m_key", show(per_port ? 0 : settings.ports.m_key.value())},
                {"sm_key", show(sm_key.value())},
                {"sa_key", show(sa_key.value())},
                {"m_key_per_port", per_port}};
  }

  /// As text at once: a row for every port of the subnet.
  Answered<std::string> ports(const Target& target) {
    if (const auto up = in_force(context_); !up) return refuse_call(up.error());
    const auto type = target.query.find("sys_type");
    const bool all = type == target.query.end();
    if (!all && type->second != "Computer" && type->second != "Switch")
      return refuse_call(400, "sys_type is Computer or Switch");
    const Fabric& fabric = now_->fabric();
    std::string out = "[";
    for (const NodeIdx node : fabric.node_guid.indices()) {
      const bool is_adapter =
          fabric.node_info[node].node_type == static_cast<std::uint8_t>(NodeType::Ca);
      if (!all && (type->second == "Computer" ? !is_adapter : !fabric.is_switch(node))) continue;
      for (const PortIdx port : fabric.ports_of(node)) {
        if (fabric.is_end_port(port)) add_port(fabric, node, port, out);
      }
    }
    return out + "]";
  }

  void add_port(const Fabric& fabric, NodeIdx node, PortIdx port, std::string& out) const {
    const PortInfo& info = fabric.port_info[port];
    const std::string& label = label_of(fabric, node);
    const std::size_t blank = label.find(' ');
    const unsigned number = fabric.number_of(port).value();
    const auto physical = static_cast<PhysState>(info.port_physical_state);
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"guid":"{:016x}","name":"{:016x}_{}","systemID":"{:016x}","lid":{},)"
                   R"("dname":{},"system_name":{},"physical_state":"{}","logical_state":"{}"}})",
                   out.size() > 1 ? "," : "",
                   fabric.port_guid[port].value(),
                   fabric.port_guid[port].value(),
                   number,
                   fabric.node_info[node].system_guid.value(),
                   now_->lids->base[port].value(),
                   print_json(blank == std::string::npos
                                  ? fmt::format("{}", number)
                                  : fmt::format("{}/{}", label.substr(blank + 1), number)),
                   print_json(label.substr(0, blank)),
                   physical == PhysState::LinkUp ? "Link Up" : print_phys_state(physical),
                   print_port_state(info.state()));
  }

  [[nodiscard]] Json partition_json(const Partition& partition, const Target& target) const {
    const PartitionFile& rules = control_.merged().rules;
    const bool has_group = std::ranges::any_of(rules.groups, [&](const PreconfiguredGroup& each) {
      return partition_of(each.p_key) == partition.key;
    });
    Json out = {{"partition", partition.name}, {"ip_over_ib", has_group}, {"membership", "full"}};
    if (target.asks("guids_data")) out["guids"] = guids_json(partition);
    if (target.asks("qos_conf")) out["qos_conf"] = qos_json(rules, partition);
    return out;
  }

  /// Those that the file or an order names.
  [[nodiscard]] Json guids_json(const Partition& partition) const {
    std::map<Guid, Membership> members;
    for (const PartitionMember& each : partition.members) {
      if (each.kind == MemberKind::Port) members[each.guid] = each.membership;
    }
    std::set<Guid> first;
    if (now_ != nullptr && !members.empty()) {
      const Fabric& fabric = now_->fabric();
      for (const PortIdx port : fabric.peer.indices()) {
        if (fabric.is_end_port(port) && members.contains(fabric.port_guid[port]) &&
            is_first_key(*manager_, fabric, port, PKey{partition.key}))
          first.insert(fabric.port_guid[port]);
      }
    }
    Json out = Json::array();
    for (const auto& [guid, membership] : members) {
      out.push_back({{"guid", print_digits(guid)},
                     {"index0", first.contains(guid)},
                     {"membership", print_membership(membership)}});
    }
    return out;
  }

  Answered<Json> partitions(const Target& target, const std::string& /*body*/) {
    const bool plain = !target.asks("guids_data") && !target.asks("qos_conf");
    Json out = plain ? Json::array() : Json::object();
    for (const Partition& each : control_.merged().rules.partitions) {
      if (plain)
        out.push_back(print_key(each.key));
      else
        out[print_key(each.key)] = partition_json(each, target);
    }
    return out;
  }

  [[nodiscard]] Answered<const Partition*> find(std::uint16_t key) const {
    return find_in(control_.merged().rules.partitions, key);
  }

  /// As it was ordered, kept or not: what is ordered now goes on top of that.
  [[nodiscard]] Answered<const Partition*> find_asked(std::uint16_t key) {
    if (!control_.is_keeping()) return find(key);
    if (!asked_) asked_ = merge_partitions(control_.site(), control_.orders());
    return find_in(asked_->rules.partitions, key);
  }

  static Answered<const Partition*> find_in(const std::vector<Partition>& all, std::uint16_t key) {
    const auto found = std::ranges::find(all, key, &Partition::key);
    if (found == all.end())
      return refuse_call(404, fmt::format("there is no partition {}", print_key(key)));
    return &*found;
  }

  Answered<Json> partition(const Target& target, const std::string& /*body*/) {
    const auto key = parse_key(last_part(target));
    if (!key) return tl::unexpected(key.error());
    const auto found = find(*key);
    if (!found) return tl::unexpected(found.error());
    return partition_json(**found, target);
  }

  static std::string_view last_part(const Target& target) {
    return std::string_view(target.path).substr(target.path.rfind('/') + 1);
  }

  // Orders.

  /// All of them, in force with one cycle, or none.
  Answered<Json> carry_out(std::uint16_t key,
                           const std::vector<PartitionOrder>& orders,
                           std::string_view what) {
    auto checked = control_.check(orders, *now_);
    if (!checked) return refuse_call(409, checked.error().context);
    ordered_ = {.orders = std::move(checked->orders),
                .what = fmt::format("rest: {} {}", what, print_key(key))};
    return Json::object();
  }

  /// What made it so may not be kept yet.
  Answered<Json> leave_as_it_is() {
    ordered_ = {.orders = control_.orders(), .what = ""};
    return Json::object();
  }

  [[nodiscard]] const OrderedPartition* find_ordered(std::uint16_t key) const {
    const auto at = std::ranges::find(control_.orders(), key, &OrderedPartition::key);
    return at == control_.orders().end() ? nullptr : &*at;
  }

  [[nodiscard]] bool is_there(std::uint16_t key) const {
    return find_partition(control_.site(), control_.orders(), print_key(key)).has_value();
  }

  static PartitionOrder create_order(std::uint16_t key, const Json& body, bool ipoib, Ports ports) {
    return {.action = Action::Create,
            .partition = body.value("partition_name", "api_pkey_" + print_key(key)),
            .p_key = print_key(key),
            .ipoib = ipoib ? std::optional(GroupFlags{}) : std::nullopt,
            .ports = std::move(ports)};
  }

  struct Wanted {
    std::uint16_t key = 0;
    bool ipoib = true;
    bool first = false;  // in the tables of these ports
    Ports ports;
    Json body;
  };

  Answered<Wanted> read_wanted(const std::string& text, bool with_ports) {
    static constexpr std::array<std::string_view, 7> kKnown{
        "pkey", "index0", "ip_over_ib", "membership", "memberships", "guids", "partition_name"};
    if (const auto may = in_order(context_); !may) return refuse_call(may.error());
    auto body = read_body(text, kKnown);
    if (!body) return tl::unexpected(body.error());
    const auto key = read_key(*body);
    if (!key) return tl::unexpected(key.error());
    const auto first = read_flag(*body, "index0", false);
    if (!first) return tl::unexpected(first.error());
    const auto ipoib = read_flag(*body, "ip_over_ib", true);
    if (!ipoib) return tl::unexpected(ipoib.error());
    if (body->contains("partition_name") && !body->at("partition_name").is_string())
      return refuse_call(400, "'partition_name' is no text");
    Wanted out{
        .key = *key, .ipoib = *ipoib, .first = *first, .ports = {}, .body = std::move(*body)};
    if (!with_ports) {
      if (out.body.contains("guids"))
        return refuse_call(400, "'guids' are not taken here; POST resources/pkeys adds them");
      return out;
    }
    auto ports = read_guids(*now_, out.body);
    if (!ports) return tl::unexpected(ports.error());
    out.ports = std::move(*ports);
    return out;
  }

  Answered<Json> add(const Target& /*target*/, const std::string& text) {
    auto wanted = read_wanted(text, true);
    if (!wanted) return tl::unexpected(wanted.error());
    const std::uint16_t key = wanted->key;
    if (!is_there(key)) {
      PartitionOrder order =
          create_order(key, wanted->body, wanted->ipoib, std::move(wanted->ports));
      if (wanted->first) order.first = true;
      return carry_out(key, {order}, "create");
    }
    return carry_out(key,
                     {{.action = Action::Add,
                       .partition = print_key(key),
                       .ports = std::move(wanted->ports),
                       .first = wanted->first ? std::optional(true) : std::nullopt}},
                     "add");
  }

  Answered<Json> create(const Target& /*target*/, const std::string& text) {
    const auto wanted = read_wanted(text, false);
    if (!wanted) return tl::unexpected(wanted.error());
    const PartitionOrder order = create_order(wanted->key, wanted->body, wanted->ipoib, {});
    if (const auto there = find_asked(wanted->key); there && (*there)->name == order.partition)
      return leave_as_it_is();
    return carry_out(wanted->key, {order}, "create");
  }

  /// Who is a member, and nobody else.
  Answered<Json> set(const Target& target, const std::string& text) {
    auto wanted = read_wanted(text, true);
    if (!wanted) return tl::unexpected(wanted.error());
    const std::uint16_t key = wanted->key;
    if (!is_there(key)) return add(target, text);
    std::vector<PartitionOrder> orders;
    Ports gone;
    if (const auto now = find_asked(key)) {
      for (const PartitionMember& each : (*now)->members) {
        if (each.kind != MemberKind::Port) continue;
        const auto stays = [&](const auto& port) { return port.first == each.guid; };
        if (std::ranges::none_of(wanted->ports, stays) && std::ranges::none_of(gone, stays))
          gone.emplace_back(each.guid, each.membership);
      }
    }
    if (!gone.empty())
      orders.push_back(
          {.action = Action::Remove, .partition = print_key(key), .ports = std::move(gone)});
    if (!wanted->ports.empty())
      orders.push_back({.action = Action::Add,
                        .partition = print_key(key),
                        .ports = std::move(wanted->ports),
                        .first = wanted->first});
    drop_where_empty(key, orders);
    return carry_out(key, orders, "set");
  }

  /// UFM's partitions end with their last member.
  void drop_where_empty(std::uint16_t key, std::vector<PartitionOrder>& orders) const {
    const OrderedPartition* ordered = find_ordered(key);
    if (ordered == nullptr || !ordered->created || orders.empty()) return;
    std::map<Guid, Membership> left = ordered->members;
    for (const PartitionOrder& order : orders) {
      for (const auto& [guid, membership] : order.ports)
        order.action == Action::Remove ? static_cast<void>(left.erase(guid))
                                       : static_cast<void>(left[guid] = membership);
    }
    if (left.empty()) orders.push_back({.action = Action::Delete, .partition = print_key(key)});
  }

  Answered<Json> remove(const Target& /*target*/, const std::string& text) {
    static constexpr std::array<std::string_view, 2> kKnown{"pkey", "guids"};
    if (const auto may = in_order(context_); !may) return refuse_call(may.error());
    const auto body = read_body(text, kKnown);
    if (!body) return tl::unexpected(body.error());
    const auto key = read_key(*body);
    if (!key) return tl::unexpected(key.error());
    const auto ports = read_guids(*now_, *body);
    if (!ports) return tl::unexpected(ports.error());
    return take_out(*key, *ports);
  }

  /// Who is no member is out already.
  Answered<Json> take_out(std::uint16_t key, const Ports& ports) {
    Ports members;
    for (const auto& each : ports) {
      if (may_be_member(key, each.first)) members.push_back(each);
    }
    if (members.empty()) return leave_as_it_is();
    std::vector<PartitionOrder> orders{
        {.action = Action::Remove, .partition = print_key(key), .ports = std::move(members)}};
    drop_where_empty(key, orders);
    return carry_out(key, orders, "remove");
  }

  /// By an order; or by the file, which then says so.
  [[nodiscard]] bool may_be_member(std::uint16_t key, Guid guid) const {
    const OrderedPartition* ordered = find_ordered(key);
    if (ordered != nullptr && ordered->members.contains(guid)) return true;
    const auto& defined = control_.site().reading.rules.partitions;
    const auto at = std::ranges::find(defined, key, &Partition::key);
    return at != defined.end() && std::ranges::any_of(at->members, [&](const auto& each) {
             return each.kind != MemberKind::Port || each.guid == guid;
           });
  }

  Answered<Json> drop(const Target& target, const std::string& /*body*/) {
    if (const auto may = in_order(context_); !may) return refuse_call(may.error());
    constexpr std::string_view kRoot = "resources/pkeys/";
    const std::string_view rest = std::string_view(target.path).substr(kRoot.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const auto key = parse_key(rest.substr(0, slash));
    if (!key) return tl::unexpected(key.error());
    if (slash != rest.size()) return drop_guids(*key, rest.substr(slash + 1));
    if (!is_there(*key))
      return refuse_call(404, fmt::format("there is no partition {}", print_key(*key)));
    return carry_out(*key, {{.action = Action::Delete, .partition = print_key(*key)}}, "delete");
  }

  /// "guids/GUID,GUID"
  Answered<Json> drop_guids(std::uint16_t key, std::string_view rest) {
    constexpr std::string_view kGuids = "guids/";
    if (!rest.starts_with(kGuids)) return refuse_call(404, "no such page: docs/formats/rest.md");
    rest.remove_prefix(kGuids.size());
    Ports ports;
    for (;;) {
      const std::string_view each = rest.substr(0, rest.find(','));
      const auto guid = read_guid(*now_, each);
      if (!guid) return tl::unexpected(guid.error());
      ports.emplace_back(*guid, Membership::Full);
      if (each.size() == rest.size()) return take_out(key, ports);
      rest.remove_prefix(each.size() + 1);
    }
  }

  Answered<Json> set_qos(const Target& /*target*/, const std::string& text) {
    static constexpr std::array<std::string_view, 4> kKnown{
        "pkey", "mtu_limit", "service_level", "rate_limit"};
    if (const auto may = in_order(context_); !may) return refuse_call(may.error());
    const auto body = read_body(text, kKnown);
    if (!body) return tl::unexpected(body.error());
    const auto key = read_key(*body);
    if (!key) return tl::unexpected(key.error());
    const OrderedPartition* ordered = find_ordered(*key);
    if (ordered == nullptr) {
      if (const auto there = find_asked(*key); !there) return tl::unexpected(there.error());
    }
    GroupFlags flags = ordered != nullptr ? ordered->ipoib.value_or(GroupFlags{}) : GroupFlags{};
    if (body->contains("mtu_limit")) {
      const Json& mtu = body->at("mtu_limit");
      if (mtu != 2 && mtu != 4) return refuse_call(400, "'mtu_limit' is 2 or 4, in KiB");
      flags.mtu = static_cast<std::uint8_t>(mtu == 2 ? Mtu::B2048 : Mtu::B4096);
    }
    if (body->contains("service_level")) {
      const Json& sl = body->at("service_level");
      if (!sl.is_number_unsigned() || sl.get<std::uint64_t>() > 15)
        return refuse_call(400, "'service_level' is 0 to 15");
      flags.sl = sl.get<std::uint8_t>();
    }
    if (body->contains("rate_limit")) {
      const auto rate = read_rate(body->at("rate_limit"));
      if (!rate) return tl::unexpected(rate.error());
      flags.rate = *rate;
    }
    return carry_out(*key,
                     {{.action = Action::SetGroup, .partition = print_key(*key), .ipoib = flags}},
                     "qos_conf");
  }

  static Answered<std::uint8_t> read_rate(const Json& given) {
    const double gbps = given.is_number() ? given.get<double>() : 0;
    const std::uint8_t code = gbps > 0 && gbps < 10000
                                  ? rate_of_mbps(static_cast<unsigned>(std::lround(gbps * 1000)))
                                  : std::uint8_t{0};
    if (code != 0) return code;
    return refuse_call(400, "'rate_limit' is the rate of a link in Gb/s, such as 2.5, 10, 40, 100");
  }

  const AdminContext& context_;
  PartitionControl& control_;
  SubnetManager* manager_;
  std::shared_ptr<const ActiveSubnet> now_;
  std::optional<Ordered> ordered_;
  std::optional<MergedPartitions> asked_;
  bool show_keys_;
};

HttpAnswer json_answer(unsigned status, std::string text, std::string more = "") {
  HttpAnswer out = plain_answer(status, std::move(text), std::move(more));
  out.type = "application/json";
  return out;
}

}  // namespace

UfmCalls::UfmCalls(AdminContext context, Options options)
    : context_(std::move(context)), options_(std::move(options)) {}

HttpAnswer UfmCalls::refuse(unsigned status, const std::string& line) {
  ++stats_.refused;
  return json_answer(status, print_json({{"error", line}}));
}

void UfmCalls::answer(const HttpRequest& request, const HttpServer::Answer& then) {
  if (!options_.tokens.empty() && !shows_token(request.authorization, options_.tokens)) {
    ++stats_.unauthorized;
    return then(json_answer(401,
                            print_json({{"error", "no token of rest.token_file"}}),
                            "WWW-Authenticate: Basic realm=\"smd\"\r\n"));
  }
  Answers answers(context_, options_.show_keys);
  auto answered = answers.answer(request);
  if (!answered) return then(refuse(answered.error().status, answered.error().line));
  const auto agree = [this, then](std::string text) {
    ++stats_.answered;
    then(json_answer(200, std::move(text)));
  };
  if (!answers.ordered()) return agree(std::move(*answered));
  context_.partitions->carry_out(
      answers.ordered()->orders,
      answers.ordered()->what,
      [this, then, agree, text = std::move(*answered)](const Result<void>& kept) {
        // Another manager may be master since, and not have it.
        Result<void> fine = kept;
        if (const auto may = in_order(context_); fine && !may)
          fine = tl::unexpected<Error>(may.error());
        if (fine) return agree(text);
        const auto why = refuse_call(fine.error()).value();
        then(refuse(why.status, why.line));
      });
}

}  // namespace smd
