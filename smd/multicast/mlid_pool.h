// Which groups have which MLID. A group gets one of its own, the lowest that is free; when switches
// have room for no more, it shares one.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "smd/multicast/group.h"

namespace smd {

class MlidPool {
 public:
  /// MLIDs that may be given, from the first. What has been given beyond stays as it is.
  void set_capacity(std::uint32_t mlids) { capacity_ = mlids; }

  /// Gives `group` an MLID; kUnassignedLid when there are none at all. Shared is, in this order:
  /// not that of a group which the site wants; of a group with the same partition, MTU, rate and
  /// SL; of few groups; the lowest.
  Lid add(const Group& group, const std::map<Gid, Group>& groups);

  /// The group has `mlid` already. Requires: a multicast LID.
  void add(const Gid& mgid, Lid mlid);

  void remove(const Gid& mgid, Lid mlid);

  /// Ascending; empty where nobody has the MLID.
  [[nodiscard]] std::vector<Gid> groups_of(Lid mlid) const;

  /// In use.
  [[nodiscard]] std::size_t size() const { return groups_.size(); }

  [[nodiscard]] std::vector<Lid> mlids() const;

 private:
  std::uint32_t capacity_ = 0;
  [[nodiscard]] Lid choose_shared(const Group& group, const std::map<Gid, Group>& groups) const;
  void count(Lid mlid, std::size_t before, std::size_t now);

  std::map<Lid, std::set<Gid>> groups_;
  std::set<std::pair<std::size_t, Lid>> by_size_;  // those in use, by how many share them
  std::set<Lid> freed_;                            // below the end, unused
  std::uint32_t end_ = 0;  // all from here on are unused: as many from the first one
};

}  // namespace smd
