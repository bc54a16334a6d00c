// Partitions that were ordered while the manager runs, on top of what partitions.conf says: their
// text in the state directory, how the two come together, and which orders are taken.
//
// The file goes before. Orders add partitions and members to it; what contradicts it is not taken,
// and where the file changed afterwards, not in force: a partition of the orders is set aside whole
// when the file gives its P_Key to another, so that nobody gets into a partition that was not
// meant.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/policy/partition_file.h"

namespace smd {

/// What orders made of one P_Key.
struct OrderedPartition {
  std::uint16_t key = 0;  // the lower 15 bits; not 0
  std::string name;       // of the partition that was meant, also of one of the file
  bool created = false;   // by an order; else orders added to what the file defines
  std::optional<partition_text::GroupFlags> ipoib{};  // of those that were created
  std::map<Guid, Membership> members{};               // by port; limited or full
  std::set<Guid> first{};  // of them, those in whose P_Key tables it stands first

  friend bool operator==(const OrderedPartition&, const OrderedPartition&) = default;
};

/// In the order in which they were made; keys differ.
using PartitionOrders = std::vector<OrderedPartition>;

/// One line each: `create KEY NAME`, `extend KEY NAME`, `ipoib KEY [FLAG=VALUE]…`, `member KEY GUID
/// full|limited [index0]` (docs/formats/state.md).
[[nodiscard]] std::string print_partition_orders(const PartitionOrders& orders);

/// Every line that is none of these is a fault. `file` is for the messages.
[[nodiscard]] Parsed<PartitionOrders> parse_partition_orders(std::string_view text,
                                                             const std::string& file);

/// What `before` says and `now` does not: a line for each partition.
[[nodiscard]] std::vector<std::string> find_missing(const PartitionOrders& before,
                                                    const PartitionOrders& now);

/// The same as definitions of partitions.conf, to stand behind those of the file.
[[nodiscard]] std::string print_as_definitions(const PartitionOrders& orders);

/// Flags of a group by the names that partitions.conf has for them; those that are not given are
/// left out. `scope` may be there several times.
[[nodiscard]] std::vector<std::pair<std::string_view, std::uint64_t>> list_group_flags(
    const partition_text::GroupFlags& flags);

/// False where there is no such flag, or the value is beyond it: `fault` says what would be right.
[[nodiscard]] bool set_group_flag(std::string_view name,
                                  std::uint64_t value,
                                  partition_text::GroupFlags& flags,
                                  std::string& fault);

/// What the file says, or what holds without one.
struct SitePartitions {
  std::string file;  // empty: none is named
  PartitionReading reading{.rules = default_partitions()};
};

struct MergedPartitions {
  PartitionFile rules;
  std::vector<std::string> conflicts;  // what orders say and is not in force: a line each
  bool ordered = false;                // something is in force that the file does not say
};

[[nodiscard]] MergedPartitions merge_partitions(const SitePartitions& site,
                                                const PartitionOrders& orders);

/// What somebody wants of one partition.
struct PartitionOrder {
  enum class Action : std::uint8_t { Create, Delete, Add, Remove, SetGroup };

  Action action = Action::Add;
  std::string partition;  // its name; of one that is there also its P_Key
  std::string p_key{};    // of one that is created
  std::optional<partition_text::GroupFlags> ipoib{};  // likewise; of SetGroup the new ones
  std::vector<std::pair<Guid, Membership>> ports{};   // memberships do not matter to Remove
  /// Of Create and Add: whether the P_Key stands first in the tables of these ports; absent: as it
  /// was.
  std::optional<bool> first{};
};

/// The orders with this one; unchanged where it asks for what is there already. Else why it is not
/// taken and what would be right, in a line. `own_port`: the manager's; 0 where it is not known.
[[nodiscard]] tl::expected<PartitionOrders, std::string> take_order(const SitePartitions& site,
                                                                    const PartitionOrders& before,
                                                                    const PartitionOrder& order,
                                                                    Guid own_port);

/// A P_Key with or without its membership bit; 1 to 0x7fff comes out. Nothing where it is none.
[[nodiscard]] std::optional<std::uint16_t> parse_partition_key(std::string_view text);

/// A partition by name or P_Key, of the file or of the orders; its key. Else a line that says which
/// there are.
[[nodiscard]] tl::expected<std::uint16_t, std::string> find_partition(const SitePartitions& site,
                                                                      const PartitionOrders& orders,
                                                                      const std::string& text);

/// Neither 0 nor all ones.
[[nodiscard]] bool may_be_port_guid(Guid guid);

/// A port GUID: "0x" and up to 16 digits, neither 0 nor all ones.
[[nodiscard]] std::optional<Guid> parse_port_guid(std::string_view text);

/// "full" or "limited", or a beginning of the word as in partitions.conf.
[[nodiscard]] std::optional<Membership> parse_membership(std::string_view text);

[[nodiscard]] std::string_view print_membership(Membership membership);

/// Where the file defines the partition with that key: FILE:LINE, or FILE where it is there of
/// itself.
[[nodiscard]] std::string print_definition_place(const SitePartitions& site, std::uint16_t key);

/// Likewise of a member; where it is not named, of its partition.
[[nodiscard]] std::string print_member_place(const SitePartitions& site,
                                             std::uint16_t key,
                                             MemberKind kind,
                                             Guid port = {});

}  // namespace smd
