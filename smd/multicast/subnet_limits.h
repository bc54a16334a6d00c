// What the subnet allows to multicast groups: MTU, rate, partitions, MLIDs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "smd/fabric/fabric.h"
#include "smd/ib/types.h"

namespace smd {

// What groups need to know of the subnet that they live in.

/// MLIDs are 0xC000 … 0xFFFE.
inline constexpr Lid kFirstMlid{0xc000};
inline constexpr std::uint32_t kMostMlids = 0x3fff;

/// From 0: where an MLID stands in a switch's table.
[[nodiscard]] constexpr std::uint32_t place_of(Lid mlid) {
  return std::uint32_t{mlid.value()} - kFirstMlid.value();
}

class SubnetLimits {
 public:
  /// What a port can take part in: codes of its MTU and rate.
  struct Ability {
    std::uint8_t mtu = 0;  // its own
    std::uint8_t rate = 0;
    std::uint8_t mtu_all = 0;  // that links between switches carry as well
  };

  virtual ~SubnetLimits() = default;

  /// Nothing for a port that is not in this subnet.
  [[nodiscard]] virtual std::optional<Ability> find_port(Guid port) const = 0;

  /// Of the partition, as a full or limited member.
  [[nodiscard]] virtual bool in_partition(Guid port, PKey p_key) const = 0;

  [[nodiscard]] virtual bool share_partition(Guid a, Guid b) const = 0;

  [[nodiscard]] virtual std::uint64_t subnet_prefix() const = 0;

  /// Code of PacketLifeTime.
  [[nodiscard]] virtual std::uint8_t life_time() const = 0;

  /// That packets of all groups have; nothing: the one that was asked for.
  [[nodiscard]] virtual std::optional<std::uint8_t> multicast_sl() const { return std::nullopt; }

  /// The SL that packets of a group have for which `asked` was asked.
  [[nodiscard]] std::uint8_t packet_sl(std::uint8_t asked) const {
    return multicast_sl().value_or(asked);
  }

  /// Code of the largest MTU that the site lets ports use.
  [[nodiscard]] virtual std::uint8_t mtu_max() const {
    return static_cast<std::uint8_t>(Mtu::B4096);
  }

  /// MLIDs that every switch has room for, from the first one on.
  [[nodiscard]] virtual std::uint32_t mlids() const = 0;
};

// The subnet that groups live in, as a snapshot and its addressing show it.

/// Who is of which partition.
struct PartitionFacts {
  std::function<bool(Guid port, PKey p_key)> in_partition;
  std::function<bool(Guid a, Guid b)> share_partition;

  /// Everybody is of the default partition, and of no other.
  static PartitionFacts only_default();
};

class SnapshotLimits final : public SubnetLimits {
 public:
  struct Parts {
    std::shared_ptr<const Fabric> fabric;
    std::shared_ptr<const LidMap> lids;
    PartitionFacts partitions = PartitionFacts::only_default();
    std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
    std::uint8_t life_time = 18;
    std::optional<std::uint8_t> multicast_sl{};  // of all groups; nothing: what was asked for
    std::uint8_t mtu_max = 5;                    // code; that the site lets ports use
  };

  /// `before`: of which the index is taken over where it is the same; may be null.
  explicit SnapshotLimits(Parts parts, const SnapshotLimits* before = nullptr);

  [[nodiscard]] std::optional<Ability> find_port(Guid port) const override;
  [[nodiscard]] bool in_partition(Guid port, PKey p_key) const override;
  [[nodiscard]] bool share_partition(Guid a, Guid b) const override;

  [[nodiscard]] std::uint64_t subnet_prefix() const override { return parts_.subnet_prefix; }

  [[nodiscard]] std::uint8_t life_time() const override { return parts_.life_time; }

  [[nodiscard]] std::optional<std::uint8_t> multicast_sl() const override {
    return parts_.multicast_sl;
  }

  [[nodiscard]] std::uint8_t mtu_max() const override { return parts_.mtu_max; }

  [[nodiscard]] std::uint32_t mlids() const override { return mlids_; }

  /// The end port with that GUID and a LID; kNone when there is none.
  [[nodiscard]] PortIdx port_of(Guid guid) const;

  [[nodiscard]] const Fabric& fabric() const { return *parts_.fabric; }

  /// Code of the MTU that every link between switches carries.
  [[nodiscard]] std::uint8_t mtu_of_switches() const { return mtu_; }

 private:
  Parts parts_;
  std::shared_ptr<const std::unordered_map<Guid, PortIdx>> by_guid_;  // look-ups only
  std::uint8_t mtu_;  // that every link between switches carries
  std::uint32_t mlids_;
};

}  // namespace smd
