// What OpenSM's partitions.conf says: its text word by word, and what that comes to: partitions,
// their members, and multicast groups of the site.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd {

// The text as what it says, word by word: definitions with their flags, members and groups.
//
//   [Name][=P_Key][,flag[=value]]... : [member[=full|limited|both] | mgid=GID[,flag=value]...]... ;
//
// Members stand between commas or on lines of their own; an mgid takes the rest of its line; `#`
// begins a remark.

enum class Membership : std::uint8_t { Limited, Full, Both };

/// Whom a member names.
enum class MemberKind : std::uint8_t { All, AllCas, AllSwitches, AllRouters, Self, Port };

struct PartitionMember {
  MemberKind kind = MemberKind::All;
  Guid guid{};  // of a port, where `kind` is Port
  Membership membership = Membership::Limited;
  bool first = false;  // this partition's key stands first in the member's table

  friend bool operator==(const PartitionMember&, const PartitionMember&) = default;
};

namespace partition_text {

/// Flags of a group. What is not given is inherited.
struct GroupFlags {
  std::optional<std::uint8_t> rate;
  std::optional<std::uint8_t> mtu;
  std::optional<std::uint8_t> sl;
  std::optional<std::uint32_t> q_key;
  std::optional<std::uint8_t> tclass;
  std::optional<std::uint32_t> flow_label;
  std::uint16_t scopes = 0;  // bit n: scope n

  friend bool operator==(const GroupFlags&, const GroupFlags&) = default;
};

struct Group {
  int line = 0;
  Gid mgid;
  GroupFlags flags;
};

struct Member {
  int line = 0;
  PartitionMember member;
};

struct Definition {
  int line = 0;
  std::string name;
  std::optional<std::uint16_t> key;  // absent or without any of the lower 15 bits: to be chosen
  bool ipoib = false;
  GroupFlags flags;
  std::vector<Member> members;
  std::vector<Group> groups;
};

/// Every fault of the text, at most 20.
[[nodiscard]] Parsed<std::vector<Definition>> read_definitions(std::string_view text,
                                                               const std::string& file);

/// A number as C writes it: 0x…, 0… in octal, else decimal. Nothing else may stand there.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view word);

/// An address as RFC 4291 writes it, eight groups of hexadecimal digits with at most one `::`.
[[nodiscard]] std::optional<Gid> read_gid(std::string_view word);

}  // namespace partition_text

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
// groups it wants.
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

/// Where the file says what, by line; of several the last.
struct PartitionLines {
  std::map<std::uint16_t, int> defined;  // by key; the default partition need not be there
  std::map<std::tuple<std::uint16_t, MemberKind, Guid>, int> named;  // members by key
};

struct PartitionReading {
  PartitionFile rules;
  Faults remarks{};  // what is allowed and is seldom meant: doubles, chosen and changed keys
  PartitionLines lines{};
};

/// The rules, or every fault, at most 20. Text without a definition is as no file at all.
[[nodiscard]] Parsed<PartitionReading> parse_partition_file(std::string_view text,
                                                            const std::string& file);

/// The broadcast group of a partition's IPoIB interfaces, in every scope that `flags` names.
[[nodiscard]] std::vector<PreconfiguredGroup> make_ipoib_groups(const Partition& partition,
                                                                partition_text::GroupFlags flags);

/// "ALL", or "port 0x…".
[[nodiscard]] std::string print_member(const PartitionMember& member);

/// Without a file: everybody a full member of the default partition, and its IPoIB group.
[[nodiscard]] PartitionFile default_partitions();

}  // namespace smd
