// How orders and the partition file come together, and which orders are taken.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "smd/base/text.h"
#include "smd/policy/partition_orders.h"

namespace smd {
namespace {

constexpr std::size_t kLongestPartitionName = 64;

/// Partitions that a fault names.
constexpr std::size_t kMostPartitionsNamed = 8;

const Partition* find_defined(const SitePartitions& site, std::uint16_t key) {
  const auto& all = site.reading.rules.partitions;
  const auto found = std::ranges::find(all, key, &Partition::key);
  return found == all.end() ? nullptr : &*found;
}

template <class Orders>
auto find_ordered(Orders& orders, std::uint16_t key) {
  return std::ranges::find(orders, key, &OrderedPartition::key);
}

/// What the file says of this very port; nothing where it does not name it.
std::optional<Membership> find_named_membership(const Partition& partition, Guid port) {
  std::optional<Membership> out;
  for (const PartitionMember& member : partition.members) {
    if (member.kind == MemberKind::Port && member.guid == port) out = member.membership;
  }
  return out;
}

/// A member that may mean the port without naming it, as the later of several. `own`: it is the
/// manager's.
const PartitionMember* find_keyword(const Partition& partition, bool own, bool full) {
  const PartitionMember* out = nullptr;
  for (const PartitionMember& member : partition.members) {
    if (member.kind == MemberKind::Port || (member.kind == MemberKind::Self && !own)) continue;
    if (!full || member.membership != Membership::Limited) out = &member;
  }
  return out;
}

/// Why nothing of the orders on this key is in force; empty where it is.
std::string find_conflict(const SitePartitions& site, const OrderedPartition& ordered) {
  const Partition* defined = find_defined(site, ordered.key);
  if (defined == nullptr && ordered.created) return "";
  const std::string take_away =
      fmt::format("smctl partition delete {} takes it away", ordered.name);
  if (defined == nullptr)
    return fmt::format(
        "{}: 0x{:04x} '{}', to which ports were added by order, is not defined any "
        "more; they are out of it; {}",
        site.file.empty() ? "partitions.file is not set" : site.file,
        ordered.key,
        ordered.name,
        take_away);
  if (defined->name == ordered.name) return "";
  return fmt::format("{}: 0x{:04x} is '{}'; what was ordered as '{}' is not in force; {}",
                     print_definition_place(site, ordered.key),
                     ordered.key,
                     defined->name,
                     ordered.name,
                     take_away);
}

class PartitionMerge {
 public:
  explicit PartitionMerge(const SitePartitions& site)
      : site_(site), out_{.rules = site.reading.rules} {}

  MergedPartitions merge(const PartitionOrders& orders) && {
    for (const OrderedPartition& each : orders) {
      std::string conflict = find_conflict(site_, each);
      if (!conflict.empty()) {
        out_.conflicts.push_back(std::move(conflict));
      } else {
        add(each);
      }
    }
    return std::move(out_);
  }

 private:
  void add(const OrderedPartition& ordered) {
    out_.ordered = true;
    std::vector<Partition>& all = out_.rules.partitions;
    auto at = std::ranges::find(all, ordered.key, &Partition::key);
    if (at == all.end()) {
      all.push_back({.name = free_name(ordered), .key = ordered.key, .sl = {}, .members = {}});
      at = std::prev(all.end());
      if (ordered.ipoib) at->sl = ordered.ipoib->sl;
    }
    add_members(*at, ordered);
    if (ordered.ipoib) add_groups(make_ipoib_groups(*at, *ordered.ipoib));
  }

  /// Names tell partitions apart, in the file as well.
  std::string free_name(const OrderedPartition& ordered) {
    const auto& all = site_.reading.rules.partitions;
    const auto other = std::ranges::find(all, ordered.name, &Partition::name);
    if (other == all.end()) return ordered.name;
    out_.conflicts.push_back(
        fmt::format("{}: '{}' is 0x{:04x}; 0x{:04x}, which was ordered under "
                    "that name, goes by its key",
                    print_definition_place(site_, other->key),
                    ordered.name,
                    other->key,
                    ordered.key));
    return fmt::format("{:04x}", ordered.key);
  }

  /// Later members count: what is limited stands before all that the file says, and takes nothing
  /// from whom it makes a full member; what is full stands behind, but for ports that it names.
  void add_members(Partition& partition, const OrderedPartition& ordered) {
    const Partition* defined = find_defined(site_, partition.key);
    const std::map<Guid, Membership> named = collect_named(defined);
    const PartitionMember* keyword = find_keyword(partition, false, false);
    const bool first_for_all = keyword != nullptr && keyword->first;
    std::vector<PartitionMember> before, behind;
    for (const auto& [port, membership] : ordered.members) {
      if (const auto as = named.find(port); as != named.end()) {
        if (as->second != membership)
          out_.conflicts.push_back(
              fmt::format("{}: {} is a {} member of '{}'; that it was made a {} one "
                          "by order is not in force",
                          print_member_place(site_, partition.key, MemberKind::Port, port),
                          port,
                          print_membership(as->second),
                          partition.name,
                          print_membership(membership)));
        continue;
      }
      const bool is_before = membership == Membership::Limited && defined != nullptr;
      (is_before ? before : behind)
          .push_back({.kind = MemberKind::Port,
                      .guid = port,
                      .membership = membership,
                      .first = first_for_all || ordered.first.contains(port)});
    }
    auto& members = partition.members;
    members.insert(members.begin(), before.rbegin(), before.rend());
    members.insert(members.end(), behind.begin(), behind.end());
  }

  /// Ports that the file names, as the later of several lines has them.
  static std::map<Guid, Membership> collect_named(const Partition* defined) {
    std::map<Guid, Membership> named;
    if (defined == nullptr) return named;
    for (const PartitionMember& member : defined->members) {
      if (member.kind == MemberKind::Port) named[member.guid] = member.membership;
    }
    return named;
  }

  void add_groups(const std::vector<PreconfiguredGroup>& groups) {
    for (const PreconfiguredGroup& each : groups) {
      auto& all = out_.rules.groups;
      const auto there = std::ranges::find(all, each.mgid, &PreconfiguredGroup::mgid);
      if (there == all.end()) {
        all.push_back(each);
      } else if (*there != each) {
        out_.conflicts.push_back(
            fmt::format("{}: '{}' has an IPoIB group; the one that was ordered is not in force",
                        print_definition_place(site_, partition_of(each.p_key)),
                        each.partition));
      }
    }
  }

  const SitePartitions& site_;
  MergedPartitions out_;
};

using Refused = tl::unexpected<std::string>;

template <class... Args>
Refused refuse(fmt::format_string<Args...> text, Args&&... args) {
  return Refused(fmt::format(text, std::forward<Args>(args)...));
}

class OrderChecker {
 public:
  OrderChecker(const SitePartitions& site,
               const PartitionOrders& before,
               const PartitionOrder& order,
               Guid own_port)
      : site_(site), next_(before), order_(order), own_port_(own_port) {}

  tl::expected<PartitionOrders, std::string> take() && {
    std::string why;
    switch (order_.action) {
      case PartitionOrder::Action::Create:
        why = create();
        break;
      case PartitionOrder::Action::Delete:
        why = with_partition([this] { return drop(); });
        break;
      case PartitionOrder::Action::Add:
        why = with_partition([this] { return add(); });
        break;
      case PartitionOrder::Action::Remove:
        why = with_partition([this] { return remove(); });
        break;
      case PartitionOrder::Action::SetGroup:
        why = with_partition([this] { return set_group(); });
        break;
    }
    if (!why.empty()) return Refused(std::move(why));
    return std::move(next_);
  }

 private:
  std::string create() {
    if (std::string why = find_name_fault(); !why.empty()) return why;
    const auto key = parse_partition_key(order_.p_key);
    if (!key) return fmt::format("'{}' is no P_Key; 0x0001 to 0x7ffe", printable(order_.p_key));
    key_ = *key;
    if (key_ == kDefaultPartition)
      return "0x7fff is the default partition, which is there; 0x0001 to 0x7ffe";
    if (const Partition* defined = find_defined(site_, key_))
      return fmt::format("{}: 0x{:04x} is '{}'; another P_Key, or smctl partition add {}",
                         print_definition_place(site_, key_),
                         key_,
                         defined->name,
                         defined->name);
    if (const auto at = find_ordered(next_, key_); at != next_.end())
      return fmt::format("0x{:04x} is '{}' already; another P_Key, or smctl partition add {}",
                         key_,
                         at->name,
                         at->name);
    if (const auto other = find_partition(site_, next_, order_.partition))
      return fmt::format("'{}' is 0x{:04x} already; another name, or smctl partition add {}",
                         order_.partition,
                         *other,
                         order_.partition);
    if (std::string why = find_double_port(); !why.empty()) return why;
    for (const auto& [port, membership] : order_.ports) {
      if (std::string why = find_first_fault(port); !why.empty()) return why;
    }
    OrderedPartition created{
        .key = key_, .name = order_.partition, .created = true, .ipoib = order_.ipoib};
    for (const auto& [port, membership] : order_.ports) set_member(created, port, membership);
    next_.push_back(std::move(created));
    return "";
  }

  std::string find_name_fault() const {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    constexpr std::string_view kOthers = "0123456789.-";
    const std::string& name = order_.partition;
    const bool fine = !name.empty() && name.size() <= kLongestPartitionName &&
                      kLetters.find(name.front()) != std::string_view::npos &&
                      std::ranges::all_of(name, [&](char c) {
                        return kLetters.find(c) != std::string_view::npos ||
                               kOthers.find(c) != std::string_view::npos;
                      });
    if (fine) return "";
    return fmt::format(
        "'{}' is no name of a partition; a letter and up to {} letters, digits, '.', '_' and '-'",
        printable(name),
        kLongestPartitionName - 1);
  }

  template <class Then>
  std::string with_partition(Then then) {
    const auto key = find_partition(site_, next_, order_.partition);
    if (!key) return key.error();
    key_ = *key;
    return then();
  }

  std::string drop() {
    if (key_ == kDefaultPartition)
      return "the default partition cannot be deleted: ports reach the subnet administration in it";
    const auto at = find_ordered(next_, key_);
    const bool aside = at != next_.end() && !find_conflict(site_, *at).empty();
    const Partition* defined = find_defined(site_, key_);
    if (defined != nullptr && !aside)
      return fmt::format(
          "{}: defines '{}'; delete it there, or take out with smctl partition remove what orders "
          "added",
          print_definition_place(site_, key_),
          defined->name);
    next_.erase(at);
    return "";
  }

  std::string add() {
    if (std::string why = find_no_ports(); !why.empty()) return why;
    auto at = find_ordered(next_, key_);
    if (at != next_.end()) {
      if (std::string why = find_conflict(site_, *at); !why.empty()) return why;
    }
    const Partition* defined = find_defined(site_, key_);
    for (const auto& [port, membership] : order_.ports) {
      if (std::string why = find_first_fault(port); !why.empty()) return why;
      if (defined == nullptr) continue;
      if (std::string why = find_contradiction(*defined, port, membership); !why.empty())
        return why;
    }
    OrderedPartition extended =
        at != next_.end() ? *at : OrderedPartition{.key = key_, .name = defined->name};
    for (const auto& [port, membership] : order_.ports) {
      if (defined != nullptr && find_named_membership(*defined, port)) continue;
      set_member(extended, port, membership);
    }
    if (at != next_.end()) {
      *at = std::move(extended);
    } else if (!extended.members.empty()) {
      next_.push_back(std::move(extended));
    }
    return "";
  }

  /// One P_Key stands first in a table: that of the last order that wants it there. An order that
  /// does not takes its own P_Key from there, and nobody else's.
  void set_member(OrderedPartition& partition, Guid port, Membership membership) {
    partition.members[port] = membership;
    if (!order_.first) return;
    partition.first.erase(port);
    if (!*order_.first) return;
    for (OrderedPartition& each : next_) each.first.erase(port);
    partition.first.insert(port);
  }

  /// Why the P_Key cannot stand first in the port's table; empty where it can, or need not.
  std::string find_first_fault(Guid port) const {
    if (!order_.first.value_or(false)) return "";
    if (port == own_port_ && key_ != kDefaultPartition)
      return fmt::format(
          "{} is the manager's own port, in whose table the default partition stands first: what "
          "the manager asks goes by that entry",
          port);
    const auto is_meant = [&](const PartitionMember& member) {
      if (member.kind == MemberKind::Port) return member.guid == port;
      return member.kind != MemberKind::Self || port == own_port_;
    };
    for (const Partition& each : site_.reading.rules.partitions) {
      const auto last = std::find_if(each.members.rbegin(), each.members.rend(), is_meant);
      if (last == each.members.rend() || last->first == (each.key == key_)) continue;
      const std::string place = print_member_place(site_, each.key, last->kind, last->guid);
      if (each.key == key_)
        return fmt::format("{}: {} is in '{}' without indx0; change it there",
                           place,
                           print_member(*last),
                           each.name);
      return fmt::format("{}: indx0 has '{}' stand first for {}; change it there",
                         place,
                         each.name,
                         print_member(*last));
    }
    return "";
  }

  /// What the file says of the port, where that is something else.
  std::string find_contradiction(const Partition& defined, Guid port, Membership wanted) const {
    if (key_ == kDefaultPartition && port == own_port_ && wanted == Membership::Limited)
      return fmt::format(
          "{} is the manager's own port, which stays a full member of the default "
          "partition: limited members could not ask it",
          port);
    if (const auto named = find_named_membership(defined, port)) {
      if (*named == wanted) return "";
      return fmt::format("{}: {} is a {} member of '{}'; change it there",
                         print_member_place(site_, key_, MemberKind::Port, port),
                         port,
                         print_membership(*named),
                         defined.name);
    }
    const PartitionMember* keyword = find_keyword(defined, port == own_port_, true);
    if (wanted != Membership::Limited || keyword == nullptr) return "";
    return fmt::format("{}: {} makes full members of '{}', {} perhaps among them; change it there",
                       print_member_place(site_, key_, keyword->kind),
                       print_member(*keyword),
                       defined.name,
                       port);
  }

  std::string remove() {
    if (std::string why = find_no_ports(); !why.empty()) return why;
    auto at = find_ordered(next_, key_);
    const Partition* defined = find_defined(site_, key_);
    for (const auto& [port, membership] : order_.ports) {
      if (key_ == kDefaultPartition && port == own_port_)
        return fmt::format(
            "{} is the manager's own port, which stays in the default partition: "
            "nobody could ask it",
            port);
      if (at != next_.end() && at->members.contains(port)) continue;
      return explain_no_member(defined, at != next_.end() ? at->name : defined->name, port);
    }
    for (const auto& [port, membership] : order_.ports) {
      at->members.erase(port);
      at->first.erase(port);
    }
    if (!at->created && at->members.empty()) next_.erase(at);
    return "";
  }

  std::string set_group() {
    const auto at = find_ordered(next_, key_);
    if (at == next_.end() || !at->created || !find_conflict(site_, *at).empty())
      return fmt::format("{}: defines 0x{:04x} and its group; change it there",
                         print_definition_place(site_, key_),
                         key_);
    if (!at->ipoib)
      return fmt::format(
          "'{}' has no IPoIB group, whose rate, MTU and SL these would be; delete "
          "it, and create it with one",
          at->name);
    at->ipoib = order_.ipoib;
    return "";
  }

  std::string explain_no_member(const Partition* defined,
                                const std::string& name,
                                Guid port) const {
    if (defined != nullptr && find_named_membership(*defined, port))
      return fmt::format("{}: {} is a member of '{}'; take it out there",
                         print_member_place(site_, key_, MemberKind::Port, port),
                         port,
                         defined->name);
    const PartitionMember* keyword =
        defined != nullptr ? find_keyword(*defined, port == own_port_, false) : nullptr;
    if (keyword != nullptr)
      return fmt::format(
          "{}: {} are members of '{}', {} perhaps among them, and no order added it; "
          "change it there",
          print_member_place(site_, key_, keyword->kind),
          print_member(*keyword),
          defined->name,
          port);
    return fmt::format(
        "{} is no member of '{}'; smctl partition show {} lists them", port, name, name);
  }

  std::string find_no_ports() const {
    if (order_.ports.empty()) return "no port is named; a GUID such as 0x0002c90300000001";
    return find_double_port();
  }

  std::string find_double_port() const {
    std::map<Guid, Membership> seen;
    for (const auto& [port, membership] : order_.ports) {
      if (!seen.emplace(port, membership).second)
        return fmt::format("{} is named twice; once", port);
    }
    return "";
  }

  const SitePartitions& site_;
  PartitionOrders next_;
  const PartitionOrder& order_;
  Guid own_port_;
  std::uint16_t key_ = 0;
};

}  // namespace

MergedPartitions merge_partitions(const SitePartitions& site, const PartitionOrders& orders) {
  return PartitionMerge(site).merge(orders);
}

tl::expected<PartitionOrders, std::string> take_order(const SitePartitions& site,
                                                      const PartitionOrders& before,
                                                      const PartitionOrder& order,
                                                      Guid own_port) {
  return OrderChecker(site, before, order, own_port).take();
}

tl::expected<std::uint16_t, std::string> find_partition(const SitePartitions& site,
                                                        const PartitionOrders& orders,
                                                        const std::string& text) {
  const auto& defined = site.reading.rules.partitions;
  const auto by_name = std::ranges::find(defined, text, &Partition::name);
  if (by_name != defined.end()) return by_name->key;
  const auto ordered = std::ranges::find(orders, text, &OrderedPartition::name);
  if (ordered != orders.end()) return ordered->key;
  const auto key = parse_partition_key(text);
  if (key && (find_defined(site, *key) != nullptr || find_ordered(orders, *key) != orders.end()))
    return *key;
  std::vector<std::string> names;
  for (const Partition& each : defined) names.push_back(each.name);
  for (const OrderedPartition& each : orders) {
    if (each.created) names.push_back(each.name);
  }
  std::string there;
  for (std::size_t i = 0; i < std::min(names.size(), kMostPartitionsNamed); ++i)
    there += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostPartitionsNamed)
    there += fmt::format(" and {} more", names.size() - kMostPartitionsNamed);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = find_nearest(text, candidates);
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!is_number && edit_distance(text, nearest) <= 2)
    return refuse(
        "there is no partition '{}'; '{}'? there are: {}", printable(text), nearest, there);
  return refuse("there is no partition '{}'; there are: {}", printable(text), there);
}

std::string print_definition_place(const SitePartitions& site, std::uint16_t key) {
  if (site.file.empty()) return "without partitions.file";
  const auto at = site.reading.lines.defined.find(key);
  return at == site.reading.lines.defined.end() ? site.file
                                                : fmt::format("{}:{}", site.file, at->second);
}

std::string print_member_place(const SitePartitions& site,
                               std::uint16_t key,
                               MemberKind kind,
                               Guid port) {
  const auto& named = site.reading.lines.named;
  const auto at = named.find({key, kind, port});
  return at == named.end() ? print_definition_place(site, key)
                           : fmt::format("{}:{}", site.file, at->second);
}

}  // namespace smd
