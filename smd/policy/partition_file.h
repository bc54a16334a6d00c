// What OpenSM's partitions.conf says: partitions with their keys and members, and the multicast
// groups it wants. The grammar is in partition_text.h.
//
// As OpenSM reads it: definitions of one P_Key are one partition; where two members name one port,
// the later counts; every end port is in the default partition, limited where the file does not say
// otherwise, the manager's port in full. Other than there, a chosen P_Key is never one that the
// file gives to another partition, and a fault leaves nothing in force.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/policy/group_wish.h"
#include "smd/policy/partition_text.h"

namespace smd {

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
  std::vector<GroupWish> groups;      // MGIDs differ

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
