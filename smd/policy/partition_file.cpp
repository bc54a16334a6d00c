#include "smd/policy/partition_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "smd/base/fault_list.h"

namespace smd {
namespace {

using partition_text::Definition;
using partition_text::Group;
using partition_text::GroupFlags;
using partition_text::Member;

constexpr std::uint32_t kIpoibQKey = 0x0b1b;
constexpr std::uint8_t kLinkLocal = 2;
constexpr std::size_t kMostFaults = 20;

constexpr std::uint64_t kScopeNibble = std::uint64_t{0xf} << 48;
constexpr std::uint64_t kSignature = std::uint64_t{0xffff} << 32;
constexpr std::uint64_t kIpv4Signature = std::uint64_t{0x401b} << 32;
constexpr std::uint64_t kIpv6Signature = std::uint64_t{0x601b} << 32;
constexpr std::uint64_t kKeyField = std::uint64_t{0xffff} << 16;

/// ff12:401b:PPPP::ffff:ffff, the P_Key left out.
constexpr Gid kIpoibBroadcast{0xff12401b00000000, Guid{0xffffffff}};

bool is_ip(const Gid& mgid) {
  const std::uint64_t signature = mgid.prefix & kSignature;
  return signature == kIpv4Signature || signature == kIpv6Signature;
}

std::uint16_t key_in(const Gid& mgid) { return static_cast<std::uint16_t>(mgid.prefix >> 16); }

Gid with_key(Gid mgid, std::uint16_t key) {
  mgid.prefix = (mgid.prefix & ~kKeyField) | std::uint64_t{key} << 16;
  return mgid;
}

Gid with_scope(Gid mgid, std::uint8_t scope) {
  mgid.prefix = (mgid.prefix & ~kScopeNibble) | std::uint64_t{scope} << 48;
  return mgid;
}

/// A group in every scope that is asked for.
std::vector<PreconfiguredGroup> in_scopes(const Partition& partition,
                                          const Gid& mgid,
                                          const GroupFlags& flags) {
  std::vector<PreconfiguredGroup> out;
  const unsigned scopes = flags.scopes == 0 ? 1u << kLinkLocal : flags.scopes;
  for (std::uint8_t scope = 1; scope < 16; ++scope) {
    if ((scopes >> scope & 1) == 0) continue;
    out.push_back({.mgid = with_scope(mgid, scope),
                   .p_key = full_member_of(partition.key),
                   .q_key = flags.q_key.value_or(0),
                   .mtu = flags.mtu.value_or(4),
                   .rate = flags.rate.value_or(3),
                   .sl = flags.sl.value_or(0),
                   .scope = scope,
                   .tclass = flags.tclass.value_or(0),
                   .flow_label = flags.flow_label.value_or(0),
                   .partition = partition.name});
  }
  return out;
}

std::string print_mgid(const Gid& mgid) {
  std::string text;
  for (const std::uint64_t half : {mgid.prefix, mgid.guid.value()}) {
    for (int shift = 48; shift >= 0; shift -= 16)
      text += fmt::format("{}{:x}", text.empty() ? "" : ":", half >> shift & 0xffff);
  }
  return text;
}

/// What the group says, over what its partition says. TClass is the group's own.
GroupFlags inherit(GroupFlags flags, const GroupFlags& from) {
  if (!flags.rate) flags.rate = from.rate;
  if (!flags.mtu) flags.mtu = from.mtu;
  if (!flags.sl) flags.sl = from.sl;
  if (!flags.q_key) flags.q_key = from.q_key;
  if (!flags.flow_label) flags.flow_label = from.flow_label;
  flags.scopes |= from.scopes;
  return flags;
}

class Resolver {
 public:
  explicit Resolver(const std::string& file) : file_(file) {}

  Parsed<PartitionReading> resolve(const std::vector<Definition>& definitions) && {
    add_partition("Default", kDefaultPartition);
    add_member(0, 0, {.kind = MemberKind::All, .membership = Membership::Limited});
    add_member(0, 0, {.kind = MemberKind::Self, .membership = Membership::Full});
    listed_.clear();  // what the file says of the default partition is no double of these
    for (const Definition& each : definitions) {
      if (each.key && (*each.key & kPartitionBits) != 0) given_.insert(*each.key & kPartitionBits);
    }
    for (const Definition& each : definitions) add(each);
    sort_by_place(faults_);
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    return std::move(out_);
  }

 private:
  void add(const Definition& definition) {
    const auto at = find_partition(definition);
    if (!at) return;
    const std::uint16_t key = out_.rules.partitions[*at].key;
    out_.lines.defined[key] = definition.line;
    for (const Member& each : definition.members)
      out_.lines.named[{key, each.member.kind, each.member.guid}] = each.line;
    // Each definition begins with the default one, as in OpenSM.
    out_.rules.partitions[*at].sl = definition.flags.sl;
    for (const Member& each : definition.members) add_member(*at, each.line, each.member);
    if (definition.ipoib) add_broadcast(*at, definition);
    for (const Group& each : definition.groups) add_group(*at, definition, each);
  }

  std::optional<std::size_t> find_partition(const Definition& definition) {
    const std::uint16_t key = definition.key.value_or(0) & kPartitionBits;
    if (key == 0) return choose_key(definition);
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return add_partition(definition.name, key);
    const Partition& partition = out_.rules.partitions[known->second];
    if (!definition.name.empty() && definition.name != partition.name) {
      remark(definition.line,
             fmt::format("0x{:04x} is '{}' already; '{}' is taken for more of it",
                         key,
                         partition.name,
                         definition.name));
    }
    return known->second;
  }

  /// A name that is known stands for its partition; else the first key that nobody names.
  std::optional<std::size_t> choose_key(const Definition& definition) {
    const auto& partitions = out_.rules.partitions;
    const auto known = std::ranges::find(partitions, definition.name, &Partition::name);
    if (!definition.name.empty() && known != partitions.end())
      return static_cast<std::size_t>(known - partitions.begin());
    std::uint16_t key = 1;
    while (key < kDefaultPartition && (given_.contains(key) || by_key_.contains(key))) ++key;
    if (key == kDefaultPartition) {
      fault(definition.line, "no P_Key is left to choose; at most 32766 partitions");
      return std::nullopt;
    }
    remark(definition.line,
           fmt::format("'{}' has no P_Key; 0x{:04x} is chosen, which another definition before it "
                       "can change",
                       definition.name,
                       key));
    return add_partition(definition.name, key);
  }

  std::size_t add_partition(const std::string& name, std::uint16_t key) {
    const std::size_t at = out_.rules.partitions.size();
    out_.rules.partitions.push_back({.name = name.empty() ? fmt::format("{:04x}", key) : name,
                                     .key = key,
                                     .sl = {},
                                     .members = {}});
    by_key_.emplace(key, at);
    return at;
  }

  void add_member(std::size_t at, int line, const PartitionMember& member) {
    Partition& partition = out_.rules.partitions[at];
    partition.members.push_back(member);
    const auto [before, is_new] =
        listed_.emplace(std::tuple(at, member.kind, member.guid), Listed{line, member.membership});
    if (is_new) return;
    const bool same = before->second.membership == member.membership;
    remark(line,
           fmt::format("{} is in partition '{}' since line {}{}",
                       print_member(member),
                       partition.name,
                       before->second.line,
                       same ? " already" : "; the membership of this line counts"));
    before->second = {line, member.membership};
  }

  void add_broadcast(std::size_t at, const Definition& definition) {
    add_groups(definition.line, make_ipoib_groups(out_.rules.partitions[at], definition.flags));
  }

  void add_group(std::size_t at, const Definition& definition, const Group& group) {
    GroupFlags flags = inherit(group.flags, definition.flags);
    Gid mgid = group.mgid;
    if (is_ip(mgid)) {
      const std::uint16_t key = out_.rules.partitions[at].key;
      const std::uint16_t named = key_in(mgid);
      const bool broadcast = mgid == with_key(kIpoibBroadcast, 0xffff);
      if (named != 0 && (named & kPartitionBits) != key && !broadcast) {
        return fault(group.line,
                     fmt::format("{} names P_Key 0x{:04x}; 0, or 0x{:04x} of its partition",
                                 print_mgid(mgid),
                                 named,
                                 key | kFullMembership));
      }
      if (!agrees("rate", group, flags.rate, definition.flags.rate, 3) ||
          !agrees("mtu", group, flags.mtu, definition.flags.mtu, 4))
        return;
      mgid = with_key(mgid, key | kFullMembership);
      if (flags.q_key.value_or(0) == 0) flags.q_key = kIpoibQKey;
    }
    add_groups(group.line, in_scopes(out_.rules.partitions[at], mgid, flags));
  }

  /// IP groups must have the rate and MTU of their partition's broadcast group.
  bool agrees(std::string_view what,
              const Group& group,
              std::optional<std::uint8_t> own,
              std::optional<std::uint8_t> of_partition,
              std::uint8_t otherwise) {
    const std::uint8_t wanted = of_partition.value_or(otherwise);
    if (own.value_or(otherwise) == wanted) return true;
    fault(group.line,
          fmt::format("{} of the IP group {} is {}; {}, as its partition has",
                      what,
                      print_mgid(group.mgid),
                      *own,
                      wanted));
    return false;
  }

  void add_groups(int line, const std::vector<PreconfiguredGroup>& groups) {
    for (const PreconfiguredGroup& wanted : groups) {
      const auto [before, is_new] = group_line_.emplace(wanted.mgid, line);
      if (is_new) {
        out_.rules.groups.push_back(wanted);
      } else {
        remark(line,
               fmt::format("group {} is there since line {}; that line counts",
                           print_mgid(wanted.mgid),
                           before->second));
      }
    }
  }

  void remark(int line, std::string message) {
    if (out_.remarks.size() < kMostFaults)
      out_.remarks.push_back({file_, line, std::move(message)});
  }

  void fault(int line, std::string message) {
    if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(message)});
  }

  struct Listed {
    int line = 0;
    Membership membership = Membership::Limited;
  };

  const std::string& file_;
  PartitionReading out_;
  Faults faults_;
  std::set<std::uint16_t> given_;  // keys that the file names, anywhere
  std::map<std::uint16_t, std::size_t> by_key_;
  std::map<std::tuple<std::size_t, MemberKind, Guid>, Listed> listed_;
  std::map<Gid, int> group_line_;
};

}  // namespace

Parsed<PartitionReading> parse_partition_file(std::string_view text, const std::string& file) {
  auto definitions = partition_text::read_definitions(text, file);
  if (!definitions) return tl::unexpected(std::move(definitions.error()));
  if (definitions->empty()) return PartitionReading{.rules = default_partitions()};
  return Resolver(file).resolve(*definitions);
}

std::vector<PreconfiguredGroup> make_ipoib_groups(const Partition& partition, GroupFlags flags) {
  if (flags.q_key.value_or(0) == 0) flags.q_key = kIpoibQKey;
  const std::uint16_t key = partition.key | kFullMembership;
  return in_scopes(partition, with_key(kIpoibBroadcast, key), flags);
}

std::string print_member(const PartitionMember& member) {
  switch (member.kind) {
    case MemberKind::All:
      return "ALL";
    case MemberKind::AllCas:
      return "ALL_CAS";
    case MemberKind::AllSwitches:
      return "ALL_SWITCHES";
    case MemberKind::AllRouters:
      return "ALL_ROUTERS";
    case MemberKind::Self:
      return "SELF";
    case MemberKind::Port:
      break;
  }
  return fmt::format("port {}", member.guid);
}

PartitionFile default_partitions() {
  PartitionFile out;
  out.partitions.push_back(
      {.name = "Default",
       .key = kDefaultPartition,
       .sl = {},
       .members = {{.kind = MemberKind::All, .membership = Membership::Full}}});
  out.groups.push_back({.mgid = with_key(kIpoibBroadcast, kDefaultPartition | kFullMembership),
                        .p_key = kDefaultPKey,
                        .q_key = kIpoibQKey,
                        .partition = "Default"});
  return out;
}

}  // namespace smd
