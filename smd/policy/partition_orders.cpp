// The text of orders, and of what they name.
#include "smd/policy/partition_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "smd/base/fault_list.h"
#include "smd/base/text.h"

namespace smd {
namespace {

using partition_text::GroupFlags;

/// One flag of a group: its name in partitions.conf, its range, where it stands.
struct FlagField {
  std::string_view name;
  std::uint64_t min;
  std::uint64_t max;
  std::optional<std::uint64_t> (*get)(const GroupFlags& flags);
  void (*set)(GroupFlags& flags, std::uint64_t value);
};

template <auto kMember>
constexpr FlagField flag_field(std::string_view name, std::uint64_t min, std::uint64_t max) {
  return {
      .name = name,
      .min = min,
      .max = max,
      .get = [](const GroupFlags& flags) -> std::optional<std::uint64_t> { return flags.*kMember; },
      .set =
          [](GroupFlags& flags, std::uint64_t value) {
            using Value = typename std::remove_reference_t<decltype(flags.*kMember)>::value_type;
            flags.*kMember = static_cast<Value>(value);
          }};
}

constexpr std::array kFlagFields{flag_field<&GroupFlags::rate>("rate", 2, 24),
                                 flag_field<&GroupFlags::mtu>("mtu", 1, 5),
                                 flag_field<&GroupFlags::sl>("sl", 0, 15),
                                 flag_field<&GroupFlags::q_key>("Q_Key", 0, 0xffffffff),
                                 flag_field<&GroupFlags::tclass>("TClass", 0, 0xff),
                                 flag_field<&GroupFlags::flow_label>("FlowLabel", 0, 0xfffff)};

std::vector<std::string_view> words_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> words;
  for (line = trim(line); !line.empty() && words.size() + 1 < most; line = trim(line)) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  if (!line.empty()) words.push_back(line);
  return words;
}

std::string print_key(std::uint16_t key) { return fmt::format("0x{:04x}", key); }

}  // namespace

std::vector<std::pair<std::string_view, std::uint64_t>> list_group_flags(const GroupFlags& flags) {
  std::vector<std::pair<std::string_view, std::uint64_t>> out;
  for (const FlagField& field : kFlagFields) {
    if (const auto value = field.get(flags)) out.emplace_back(field.name, *value);
  }
  for (unsigned scope = 1; scope < 16; ++scope) {
    if ((flags.scopes >> scope & 1) != 0) out.emplace_back("scope", scope);
  }
  return out;
}

bool set_group_flag(std::string_view name,
                    std::uint64_t value,
                    GroupFlags& flags,
                    std::string& fault) {
  if (name == "scope") {
    if (value >= 1 && value <= 15) {
      flags.scopes = static_cast<std::uint16_t>(flags.scopes | 1u << value);
      return true;
    }
    fault = fmt::format("scope={}; a number from 1 to 15", value);
    return false;
  }
  const auto field = std::ranges::find(kFlagFields, name, &FlagField::name);
  if (field == kFlagFields.end()) {
    fault = fmt::format("no flag '{}' of a group; rate, mtu, sl, scope, Q_Key, TClass, FlowLabel",
                        printable(name));
    return false;
  }
  if (value < field->min || value > field->max) {
    fault = fmt::format("{}={}; a number from {} to {}", name, value, field->min, field->max);
    return false;
  }
  field->set(flags, value);
  return true;
}

std::string print_partition_orders(const PartitionOrders& orders) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const OrderedPartition& each : orders) {
    const std::string key = print_key(each.key);
    fmt::format_to(out, "{} {} {}\n", each.created ? "create" : "extend", key, each.name);
    if (each.ipoib) {
      fmt::format_to(out, "ipoib {}", key);
      for (const auto& [name, value] : list_group_flags(*each.ipoib))
        fmt::format_to(out, " {}={}", name, value);
      text += '\n';
    }
    for (const auto& [port, membership] : each.members)
      fmt::format_to(out,
                     "member {} {} {}{}\n",
                     key,
                     port,
                     print_membership(membership),
                     each.first.contains(port) ? " index0" : "");
  }
  return text;
}

namespace {

/// Those in whose tables the P_Key stands first, or the others.
void add_members(const OrderedPartition& of, bool first, std::string& text) {
  const char* mark = " ";
  for (const auto& [port, membership] : of.members) {
    if (of.first.contains(port) != first) continue;
    fmt::format_to(std::back_inserter(text),
                   "{}{}={}",
                   std::exchange(mark, ",\n  "),
                   port,
                   print_membership(membership));
  }
  text += ";\n";
}

}  // namespace

std::vector<std::string> find_missing(const PartitionOrders& before, const PartitionOrders& now) {
  std::vector<std::string> out;
  for (const OrderedPartition& each : before) {
    const auto found = std::ranges::find(now, each.key, &OrderedPartition::key);
    OrderedPartition missing = each;
    if (found != now.end()) {
      std::erase_if(missing.members, [&](const auto& member) {
        const auto there = found->members.find(member.first);
        return there != found->members.end() && there->second == member.second;
      });
      if (missing.members.empty()) continue;
    }
    std::string line =
        fmt::format("{} {} {}", each.created ? "create" : "extend", print_key(each.key), each.name);
    for (const auto& [port, membership] : missing.members)
      line += fmt::format(" {}={}", port, print_membership(membership));
    out.push_back(std::move(line));
  }
  return out;
}

std::string print_as_definitions(const PartitionOrders& orders) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const OrderedPartition& each : orders) {
    fmt::format_to(out, "{}={}", each.name, print_key(each.key));
    if (each.ipoib) {
      text += ",ipoib";
      for (const auto& [name, value] : list_group_flags(*each.ipoib))
        fmt::format_to(out, ",{}={}", name, value);
    }
    text += ":";
    add_members(each, false, text);
    if (each.first.empty()) continue;
    fmt::format_to(out, "{}={},indx0:", each.name, print_key(each.key));
    add_members(each, true, text);
  }
  return text;
}

namespace {

/// Why a line is none; empty where it was taken into `orders`.
std::string take_order_line(std::string_view line, PartitionOrders& orders) {
  const auto words = words_of(line, 3);
  const std::string_view verb = words.front();
  const bool known = verb == "create" || verb == "extend" || verb == "ipoib" || verb == "member";
  const auto key = words.size() > 1 ? parse_partition_key(words[1]) : std::nullopt;
  if (!known || !key)
    return "is no order; create KEY NAME, extend KEY NAME, ipoib KEY [FLAG=VALUE]... or member KEY "
           "GUID full|limited, with a KEY from 0x0001 to 0x7fff";
  const auto at = std::ranges::find(orders, *key, &OrderedPartition::key);
  if (verb == "create" || verb == "extend") {
    if (words.size() != 3) return "has no name behind the P_Key";
    if (at != orders.end()) return fmt::format("0x{:04x} is '{}' already", *key, at->name);
    orders.push_back({.key = *key, .name = std::string(words[2]), .created = verb == "create"});
    return "";
  }
  if (at == orders.end())
    return fmt::format("0x{:04x} stands in no line create or extend before it", *key);
  if (verb == "ipoib") {
    if (at->ipoib) return fmt::format("0x{:04x} has an IPoIB group already", *key);
    at->ipoib.emplace();
    for (const std::string_view flag :
         words_of(words.size() == 3 ? words[2] : std::string_view{}, ~std::size_t{0})) {
      const std::size_t equals = std::min(flag.find('='), flag.size());
      const auto value =
          partition_text::read_number(flag.substr(std::min(equals + 1, flag.size())));
      std::string fault = fmt::format("'{}' is no FLAG=VALUE", flag);
      if (!value || !set_group_flag(flag.substr(0, equals), *value, *at->ipoib, fault))
        return fault;
    }
    return "";
  }
  const auto port = words_of(words.size() == 3 ? words[2] : std::string_view{}, 4);
  const bool first = port.size() == 3 && port[2] == "index0";
  const bool fine = port.size() == 2 || first;
  const auto guid = fine ? parse_port_guid(port[0]) : std::nullopt;
  const auto membership = fine ? parse_membership(port[1]) : std::nullopt;
  if (!guid || !membership) return "is no member; member KEY GUID full|limited [index0]";
  if (!at->members.emplace(*guid, *membership).second)
    return fmt::format("{} is a member of 0x{:04x} already", *guid, *key);
  if (first) at->first.insert(*guid);
  return "";
}

}  // namespace

Parsed<PartitionOrders> parse_partition_orders(std::string_view text, const std::string& file) {
  PartitionOrders orders;
  FaultList faults(file);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (std::string why = take_order_line(line, orders); !why.empty())
      faults.add(number, fmt::format("'{}': {}", printable(line), why));
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return orders;
}

std::optional<std::uint16_t> parse_partition_key(std::string_view text) {
  const auto number = partition_text::read_number(text);
  if (!number || *number > 0xffff || (*number & kPartitionBits) == 0) return std::nullopt;
  return static_cast<std::uint16_t>(*number & kPartitionBits);
}

std::optional<Guid> parse_port_guid(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto number = partition_text::read_number(text);
  if (!number || !may_be_port_guid(Guid{*number})) return std::nullopt;
  return Guid{*number};
}

bool may_be_port_guid(Guid guid) { return guid != Guid{} && guid != Guid{~std::uint64_t{0}}; }

std::optional<Membership> parse_membership(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (std::string_view("full").starts_with(text)) return Membership::Full;
  if (std::string_view("limited").starts_with(text)) return Membership::Limited;
  return std::nullopt;
}

std::string_view print_membership(Membership membership) {
  switch (membership) {
    case Membership::Full:
      return "full";
    case Membership::Both:
      return "both";
    case Membership::Limited:
      break;
  }
  return "limited";
}

}  // namespace smd
