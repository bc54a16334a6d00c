// The multicast groups of a subnet: who is in which, and what each is like. Changes by requests of
// clients, by what the site preconfigured groups, and by ports that are gone.
//
// Invariants: every group has an MLID; a group that the site does not want has a member that keeps
// it; a member has at least one bit of JoinState.
//
// What ports make us keep is limited, by port and in all: groups count against the port that the
// request to create them came from, memberships against the port that asked for them, whatever
// PortGID it named, so that nobody uses up what is another's. Groups that the site wants, and
// memberships in them, do not count.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>
#include "smd/base/publisher.h"
#include "smd/multicast/group.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/policy/partition_file.h"

namespace smd {

/// A group was created or deleted.
struct GroupChange {
  Gid mgid;
  PKey p_key;
  bool created = true;

  friend bool operator==(const GroupChange&, const GroupChange&) = default;
};

/// One who may be copied to, and who may send: everybody who shares an MLID.
struct MlidMember {
  Guid port;
  bool receives = true;
  bool sends = true;  // false: in all its groups another one is the only sender

  friend bool operator==(const MlidMember&, const MlidMember&) = default;
};

/// Of groups of the site: the first of each kind, as a line.
struct MtuFindings {
  std::string lessened;   // has the MTU that ports may use, and not the larger one of its own
  std::string too_large;  // has a larger one than some link between switches
};

/// `mtu_max`: that ports may use; codes.
[[nodiscard]] MtuFindings find_mtu_conflicts(const std::vector<PreconfiguredGroup>& groups,
                                             std::uint8_t mtu_max,
                                             std::uint8_t mtu_of_switches);

struct GroupLimits {
  std::size_t groups = std::size_t{1} << 16;
  std::size_t groups_of_one_port = 512;  // that it created
  std::size_t joins = std::size_t{1} << 18;
  std::size_t joins_of_one_port = 16384;  // that it asked for
};

class GroupTable {
 public:
  using Answer = tl::expected<GroupMembership, Refusal>;

  /// From now on; what is beyond stays.
  void set_limits(const GroupLimits& limits) { limits_ = limits; }

  /// Creates the group where there is none. `requester`: the port that the request came from.
  Answer join(const SubnetLimits& subnet, const GroupRequest& request, Guid requester);

  /// Takes bits of JoinState away, of the GUID that is named; the answer has what remains. A group
  /// that nobody keeps goes, with all who are left in it.
  Answer leave(const SubnetLimits& subnet, const GroupRequest& request, Guid requester);

  /// Groups that the site wants exist from now on, as it wants them, and hosts' groups of IPoIB
  /// that were like its broadcast group still are; what it no longer wants lives as long as its
  /// members. Those for which there was no MLID are returned.
  std::vector<PreconfiguredGroup> keep(const SubnetLimits& subnet,
                                       const std::vector<PreconfiguredGroup>& preconfigured_groups);

  /// Partitions that keep() made a group with members something else of, since the last call: these
  /// go on with the Q_Key, SL, MTU or rate of before until they join again. So do members of other
  /// groups there, who take such things from the broadcast group when they create one.
  [[nodiscard]] std::set<std::uint16_t> take_changed_partitions() {
    return std::exchange(changed_partitions_, {});
  }

  /// Members for whom `gone` is true leave the group.
  void drop(const std::function<bool(Guid, const Group&)>& gone);

  /// Of further GUIDs that ports have given back, each with its port: who used one need not have
  /// left.
  void end_memberships(const std::map<Guid, Guid>& given_back);

  [[nodiscard]] const std::map<Gid, Group>& groups() const { return groups_; }

  /// Null when there is none.
  [[nodiscard]] const Group* find(const Gid& mgid) const;

  /// Of all groups with this MLID, ascending by port.
  [[nodiscard]] std::vector<MlidMember> members_of(Lid mlid) const;

  /// That have this MLID, ascending.
  [[nodiscard]] std::vector<Gid> groups_of(Lid mlid) const { return pool_.groups_of(mlid); }

  /// In use, ascending.
  [[nodiscard]] std::vector<Lid> mlids() const { return pool_.mlids(); }

  /// MLIDs whose members or groups changed since the last call; ascending.
  [[nodiscard]] std::vector<Lid> take_touched();

  /// Groups that were created or deleted or are not like they were, and members who joined, left or
  /// changed their JoinState, whatever became of their group; see ChangedKeys.
  [[nodiscard]] std::optional<std::set<Gid>> take_changed_groups() {
    return changed_groups_.take();
  }

  [[nodiscard]] std::optional<std::set<std::pair<Gid, Guid>>> take_changed_members() {
    return changed_members_.take();
  }

  /// All of it will be something else at the next restore().
  void note_restored() { changed_groups_.note_everything(); }

  /// Since the last call, in order.
  [[nodiscard]] std::vector<GroupChange> take_changes();

  /// Grows with every change of a group or member: whoever keeps copies compares.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  [[nodiscard]] std::vector<Group> snapshot() const;

  /// Instead of all there is, whatever the limits. Groups that break an invariant are left out; a
  /// bad MLID is replaced; a group without a creator counts against its first member that keeps it.
  /// No changes are reported, all MLIDs are touched.
  void restore(const SubnetLimits& subnet, const std::vector<Group>& groups);

 private:
  using Groups = std::map<Gid, Group>;

  /// What counts against limits.
  struct Count {
    std::size_t groups = 0;
    std::size_t joins = 0;
  };

  tl::expected<Groups::iterator, Refusal> create(const SubnetLimits& subnet,
                                                 const GroupRequest& request,
                                                 Guid port,
                                                 const SubnetLimits::Ability& ability,
                                                 Guid requester);
  [[nodiscard]] SubnetLimits::Ability ability_for(const GroupRequest& request,
                                                  SubnetLimits::Ability ability) const;
  [[nodiscard]] std::uint8_t own_sl(const SubnetLimits& subnet, const GroupTraits& traits) const;
  bool take_over(Group& group, std::map<Guid, Member>::iterator member);
  [[nodiscard]] bool has_room(Guid port, Count more) const;
  void count(Guid port, Count more, bool gone);
  void count_member(const Group& group, const std::pair<const Guid, Member>& member, bool gone);
  void end_member(Group& group, std::map<Guid, Member>::iterator member);
  void drop_foreign(const Gid& mgid, Guid guid, Guid port);
  void count_group(const Group& group, bool gone);
  void set_permanent(Group& group, bool permanent);
  void change_traits(Group& group, const GroupTraits& traits);
  bool insert(Group group);
  void touch(Lid mlid);
  Groups::iterator erase(Groups::iterator group);
  Groups::iterator erase_if_unkept(Groups::iterator group);

  GroupLimits limits_;
  Groups groups_;
  Count all_;
  std::map<Guid, Count> by_port_;  // those that are not 0
  MlidPool pool_;
  std::set<Lid> touched_;
  std::vector<GroupChange> changes_;
  std::set<std::uint16_t> changed_partitions_;
  ChangedKeys<Gid> changed_groups_;
  ChangedKeys<std::pair<Gid, Guid>> changed_members_;
  std::uint64_t version_ = 0;
  std::uint32_t last_id_ = 0;  // of an MGID that was made up
};

}  // namespace smd
