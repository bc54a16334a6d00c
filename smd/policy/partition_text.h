// The text of OpenSM's partitions.conf as what it says, word by word: definitions with their flags,
// members and groups. What it means is decided in partition_file.
//
//   [Name][=P_Key][,flag[=value]]... : [member[=full|limited|both] | mgid=GID[,flag=value]...]... ;
//
// Members stand between commas or on lines of their own; an mgid takes the rest of its line; `#`
// begins a remark.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/ib/types.h"

namespace smd {

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

[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace partition_text
}  // namespace smd
