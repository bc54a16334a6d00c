// Which P_Keys every port of a snapshot shall have: the rules of the partition file, applied.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/policy/partition_file.h"

namespace smd {

/// What switch ports towards hosts and routers check (PortInfo.PartitionEnforcement*).
enum class PartitionEnforcement : std::uint8_t { Off, In, Out, Both };

struct PartitionPolicy {
  PartitionFile rules;
  PartitionEnforcement enforcement = PartitionEnforcement::Both;
  bool allow_both = false;  // `both` means two keys; else it means full

  friend bool operator==(const PartitionPolicy&, const PartitionPolicy&) = default;
};

/// Of one port. Full members have bit 15 set (IBA 10.9.1.2).
struct PortKeys {
  std::vector<PKey> keys;  // in the order of the rules, each once
  PKey first;              // of them, the one that stands first in the table; 0: the default

  friend bool operator==(const PortKeys&, const PortKeys&) = default;
};

/// Empty for ports that are no end ports (Fabric::is_end_port).
using PartitionMap = IndexVector<PortIdx, PortKeys>;

/// The manager's own port is a full member of the default partition whatever the rules say: else
/// limited members could not ask it.
[[nodiscard]] PartitionMap build_partition_map(const Fabric& fabric, const PartitionPolicy& policy);

/// A packet with one of the keys is taken by a port that has the other (IBA 10.9.3): the same
/// partition, and not both limited.
[[nodiscard]] bool keys_match(PKey a, PKey b);

/// Two ports can talk in some partition; a port can talk to itself.
[[nodiscard]] bool share_partition(const PartitionMap& map, PortIdx a, PortIdx b);

/// The switch port that checks what the end port sends and is sent; kNone where none does: the
/// other end is no switch, has no such table, or the end port is a switch's.
[[nodiscard]] PortIdx find_enforcer(const Fabric& fabric, PortIdx end_port);

/// What the enforcer of a port with these keys holds: a full key makes a limited one of its
/// partition needless.
[[nodiscard]] std::vector<PKey> enforced_keys(const PortKeys& keys);

/// A table that is too small.
struct KeyOverflow {
  PortIdx port = kNone<PortIdx>;
  bool enforcement = false;  // of a switch port towards another
  std::size_t wanted = 0;
  std::size_t capacity = 0;
  std::vector<PKey> left_over;  // the last of the wanted ones; of an end port in the order in which
                                // keys get what room there is

  friend bool operator==(const KeyOverflow&, const KeyOverflow&) = default;
};

/// Entries that the table of a port has room for: PartitionCap, or PartitionEnforcementCap for
/// external ports of switches.
[[nodiscard]] std::size_t key_capacity(const Fabric& fabric, PortIdx port);

/// In port order. Enforcement tables count where `policy` wants enforcement. What room an end port
/// has goes to its key of the default partition, by which it reaches the subnet administration,
/// then to the one that is to stand first, then to the others in the order of the rules.
[[nodiscard]] std::vector<KeyOverflow> find_overflows(const Fabric& fabric,
                                                      const PartitionMap& map,
                                                      const PartitionPolicy& policy);

/// Takes out of `map` the keys that end ports have no room for; what found none, in port order.
/// Enforcement tables are those of what is left.
std::vector<KeyOverflow> fit_keys(const Fabric& fabric,
                                  PartitionMap& map,
                                  const PartitionPolicy& policy);

/// What a fabric shall hold.
struct PartitionPlan {
  PartitionMap map;
  PartitionEnforcement enforcement = PartitionEnforcement::Both;
  std::vector<PortIdx> too_small;  // ascending: end ports, whose other keys are not in the map; and
                                   // switch ports, whose tables are left as they are
  std::map<std::uint16_t, std::uint8_t> sls;  // by key of 15 bits, where the file gives one
  PartitionFile rules;                        // in force, whatever the file says now
};

/// "sw-0-1:3: room for 8 P_Keys, 9 wanted; 0x8123 would not fit".
[[nodiscard]] std::string print_overflow(const Fabric& fabric, const KeyOverflow& overflow);

}  // namespace smd
