// A group table, and requests of ports of a subnet that answers as a test wants.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "smd/multicast/group.h"
#include "smd/multicast/group_table.h"

namespace smd::test {

inline constexpr PKey kOther{0x8123};

/// Ports 1 … 9; 9 is slow, 7 and 8 are of another partition, 8 limited.
class FakeRealm final : public SubnetLimits {
 public:
  [[nodiscard]] std::optional<Ability> find_port(Guid port) const override {
    if (port.value() < 1 || port.value() > 9) return std::nullopt;
    if (port == Guid{9}) return Ability{.mtu = 4, .rate = 3, .mtu_all = 4};
    return Ability{.mtu = 5, .rate = 16, .mtu_all = mtu_of_switches};
  }

  [[nodiscard]] bool in_partition(Guid port, PKey p_key) const override {
    const bool others = port == Guid{7} || port == Guid{8};
    return (p_key.value() & 0x7fff) == (others ? 0x0123 : 0x7fff);
  }

  [[nodiscard]] bool share_partition(Guid a, Guid b) const override {
    return in_partition(a, kOther) == in_partition(b, kOther);
  }

  [[nodiscard]] std::uint64_t subnet_prefix() const override { return 0xfec0000000000001u; }

  [[nodiscard]] std::uint8_t life_time() const override { return 18; }

  [[nodiscard]] std::uint32_t mlids() const override { return room; }

  [[nodiscard]] std::optional<std::uint8_t> multicast_sl() const override { return lane; }

  std::uint32_t room = 1024;
  std::uint8_t mtu_of_switches = 5;
  std::optional<std::uint8_t> lane;  // SL
};

inline constexpr Gid kMgid{0xff12401bffff0000u, Guid{0x101}};

inline constexpr Gid kElse{0xff12401bffff0000u, Guid{0x102}};

inline Gid port_gid(std::uint64_t port) { return {kDefaultSubnetPrefix, Guid{port}}; }

/// All that creating takes.
inline GroupRequest creation(std::uint64_t port = 1, Gid mgid = kMgid) {
  return {.mgid = mgid,
          .port_gid = port_gid(port),
          .q_key = 0xb1b,
          .tclass = 0,
          .p_key = kDefaultPKey,
          .sl = 0,
          .flow_label = 0,
          .join_state = join_state::kFull};
}

inline GroupRequest joining(std::uint64_t port, std::uint8_t state = join_state::kFull) {
  return {.mgid = kMgid, .port_gid = port_gid(port), .join_state = state};
}

class Groups : public ::testing::Test {
 protected:
  GroupTable::Answer join(const GroupRequest& request) {
    return table.join(subnet, request, request.port_gid->guid);
  }

  GroupTable::Answer leave(const GroupRequest& request) {
    return table.leave(subnet, request, request.port_gid->guid);
  }

  /// The refusal; fails where there is none.
  static Refusal refusal(const GroupTable::Answer& answer) {
    EXPECT_FALSE(answer.has_value());
    return answer ? Refusal{} : answer.error();
  }

  FakeRealm subnet;
  GroupTable table;
};

}  // namespace smd::test
