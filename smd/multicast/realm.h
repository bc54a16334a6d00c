// What groups need to know of the subnet that they live in.
#pragma once

#include <cstdint>
#include <optional>

#include "smd/ib/types.h"

namespace smd {

/// MLIDs are 0xC000 … 0xFFFE.
inline constexpr Lid kFirstMlid{0xc000};
inline constexpr std::uint32_t kMostMlids = 0x3fff;

class Realm {
 public:
  /// What a port can take part in: codes of its MTU and rate.
  struct Ability {
    std::uint8_t mtu = 0;
    std::uint8_t rate = 0;
  };

  virtual ~Realm() = default;

  /// Nothing for a port that is not in this subnet.
  [[nodiscard]] virtual std::optional<Ability> find_port(Guid port) const = 0;

  /// Of the partition, as a full or limited member.
  [[nodiscard]] virtual bool in_partition(Guid port, PKey p_key) const = 0;

  [[nodiscard]] virtual bool share_partition(Guid a, Guid b) const = 0;

  [[nodiscard]] virtual std::uint64_t subnet_prefix() const = 0;

  /// Code of PacketLifeTime.
  [[nodiscard]] virtual std::uint8_t life_time() const = 0;

  /// The SL that packets of a group have for which `asked` was asked.
  [[nodiscard]] virtual std::uint8_t packet_sl(std::uint8_t asked) const { return asked; }

  /// MLIDs that every switch has room for, from the first one on.
  [[nodiscard]] virtual std::uint32_t mlids() const = 0;
};

}  // namespace smd
