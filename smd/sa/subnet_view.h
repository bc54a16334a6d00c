// The subnet as one request sees it: snapshot, indices, and who may know of whom.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "smd/fabric/fabric.h"
#include "smd/mad/node_info.h"
#include "smd/policy/p_key_tables.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/qos.h"
#include "smd/policy/qos_rules.h"
#include "smd/routing/tables.h"
#include "smd/smp/m_keys.h"

namespace smd::sa {

// What the administration answers from: an immutable picture of the subnet and its indices. Made on
// the loop when a cycle has ended; requests that come meanwhile are answered from the last one.

/// Another manager, as its own SMInfo says.
struct KnownManager {
  Lid lid;
  SmInfo info;
};

class HeldTables;
class PathOrder;

/// All pointers not null, but where it says so; what they point to does not change, but for `held`.
struct ViewParts {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const LidMap> lids;
  std::shared_ptr<const RoutingTables> routing;

  /// Further GUIDs by port GUID and index, 0 where there is none; null: nobody has any.
  std::shared_ptr<const std::map<Guid, std::vector<Guid>>> aliases;

  std::shared_ptr<const PartitionPlan> partitions{};  // null: all are in the default one
  KeyMemory keys{};                                   // as agents confirmed them
  QosPolicy qos{};                                    // tables that the site wants
  std::shared_ptr<const SlToVlMaps> rows{};           // SL-to-VL rows that routes need; may be null
  const HeldTables* held = nullptr;  // what ports were asked for: grows, on the loop; may be null
  std::shared_ptr<const QosRules> qos_rules{};  // null: no rules
  PathOrder* path_order = nullptr;              // counts Gets, on the loop; null: as LIDs ascend

  std::optional<std::uint8_t> multicast_sl{};  // of multicast packets alone

  SmInfo sm;  // this manager
  std::vector<KnownManager> other_managers;
  SmKey trust_key;           // 0: nobody is trusted
  MKeySources m_keys{};      // behind the M_Keys in `fabric`
  bool shows_m_keys = true;  // to the trusted: not by a key that managers show each other
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  std::uint8_t packet_life_time = 18;  // 4.096 us * 2^n, of paths between different ports
  std::vector<std::pair<std::uint64_t, Guid>>
      prefix_routes{};                // routers by the prefixes that they lead to; 0: any
  std::uint8_t max_rate = 63;         // the highest code of a rate that hosts understand
  std::uint8_t resp_time_value = 16;  // likewise, of our answers
};

class SubnetView {
 public:
  /// `before`: of which the index is taken over where it is the same; may be null.
  explicit SubnetView(ViewParts parts, const SubnetView* before = nullptr);

  [[nodiscard]] const Fabric& fabric() const { return *parts_.fabric; }

  [[nodiscard]] const LidMap& lids() const { return *parts_.lids; }

  [[nodiscard]] const RoutingTables& routing() const { return *parts_.routing; }

  [[nodiscard]] const ViewParts& parts() const { return parts_; }

  /// End ports with a LID, in port order.
  [[nodiscard]] const std::vector<PortIdx>& end_ports() const { return index_->end_ports; }

  /// The same end ports under the same GUIDs, without looking at one. False says nothing.
  [[nodiscard]] bool shares_ports(const SubnetView& other) const { return index_ == other.index_; }

  /// An end port with a LID, by its own GUID or one of its further ones; kNone when no such port is
  /// known.
  [[nodiscard]] PortIdx find_port(Guid port_guid) const;

  /// Entry `index` of the port's table of GUIDs; 0 where there is none.
  [[nodiscard]] Guid guid_of(PortIdx port, std::size_t index) const;

  /// Null where all are full members of the default partition and of no other.
  [[nodiscard]] const PartitionPlan* partitions() const { return parts_.partitions.get(); }

  /// The ports can talk to each other in some partition. A switch is in the partitions of port 0.
  [[nodiscard]] bool share_partition(PortIdx a, PortIdx b) const;

  /// Of our packets to `lid`, whose port sent us some with `asked`: the SL of the path, where paths
  /// have one. The way back may have another one than the way here.
  [[nodiscard]] std::uint8_t sl_to(Lid lid, std::uint8_t asked) const;

  /// P_Key table of our own port, as far as it is known; else null.
  [[nodiscard]] const KeyTable* own_keys() const;

  /// LID of the port, or of port 0 where the port belongs to a switch.
  [[nodiscard]] Lid lid_of(PortIdx port) const;

 private:
  /// The port itself, or port 0 where it belongs to a switch.
  [[nodiscard]] PortIdx end_of(PortIdx port) const;

  struct Index {
    std::vector<PortIdx> end_ports;
    std::unordered_map<Guid, PortIdx> by_guid;  // look-ups only
  };

  [[nodiscard]] bool has_index_of(const SubnetView& before) const;
  [[nodiscard]] Index make_index() const;

  ViewParts parts_;
  std::shared_ptr<const Index> index_;
};

// Who may know of whom: ports that share a partition (IBA 10.9.3; 15.4.1.1).

/// The port's keys; of a port that is not known (kNone), none.
[[nodiscard]] const std::vector<PKey>& keys_of(const SubnetView& view, PortIdx port);

/// The port has a key that matches one of `keys`.
[[nodiscard]] bool shares_partition(const SubnetView& view,
                                    PortIdx port,
                                    const std::vector<PKey>& keys);

/// The port is a member, of whatever kind, of the partition of `key`.
[[nodiscard]] bool is_member(const SubnetView& view, PortIdx port, PKey key);

}  // namespace smd::sa
