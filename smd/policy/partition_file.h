// What OpenSM's partitions.conf says: partitions, their members, and multicast groups of the site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"
#include "smd/policy/partition_text.h"

namespace smd {

// A multicast group that the site wants to exist before anybody joins it: the partition file's
// `ipoib` flag and its `mgid=` lines. Whoever keeps the groups makes them.

struct PreconfiguredGroup {
  Gid mgid;    // its first and its last 64 bits; scope and P_Key are put in already
  PKey p_key;  // of full members, as in the group's record
  std::uint32_t q_key = 0;
  std::uint8_t mtu = 4;  // codes of IBA 15.2.5.17: exactly this
  std::uint8_t rate = 3;
  std::uint8_t sl = 0;
  std::uint8_t scope = 2;  // 2: of this subnet, with HopLimit 0; wider ones have 255
  std::uint8_t tclass = 0;
  std::uint32_t flow_label = 0;  // 20 bits
  std::string partition;         // its name, for people

  friend bool operator==(const PreconfiguredGroup&, const PreconfiguredGroup&) = default;
};

// What OpenSM's partitions.conf says: partitions with their keys and members, and the multicast
// groups it wants. The grammar is in partition_text.h.
//
// As OpenSM reads it: definitions of one P_Key are one partition; where two members name one port,
// the later counts; every end port is in the default partition, limited where the file does not say
// otherwise, the manager's port in full. Other than there, a chosen P_Key is never one that the
// file gives to another partition, and a fault leaves nothing in force.

inline constexpr std::uint16_t kDefaultPartition = 0x7fff;

struct Partition {
  std::string name;                      // "0080" where the file gives none
  std::uint16_t key = 0;                 // the lower 15 bits; not 0
  std::optional<std::uint8_t> sl;        // of its packets, where the file says so
  std::vector<PartitionMember> members;  // in order: the later counts

  friend bool operator==(const Partition&, const Partition&) = default;
};

struct PartitionFile {
  std::vector<Partition> partitions;  // the default first, then as they are defined; keys differ
  std::vector<PreconfiguredGroup> groups;  // MGIDs differ

  friend bool operator==(const PartitionFile&, const PartitionFile&) = default;
};

struct PartitionReading {
  PartitionFile rules;
  Faults remarks;  // what is allowed and is seldom meant: doubles, chosen and changed keys
};

/// The rules, or every fault, at most 20. Text without a definition is as no file at all.
[[nodiscard]] Parsed<PartitionReading> parse_partition_file(std::string_view text,
                                                            const std::string& file);

/// Without a file: everybody a full member of the default partition, and its IPoIB group.
[[nodiscard]] PartitionFile default_partitions();

}  // namespace smd
