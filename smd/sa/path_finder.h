// The ways between two ports that keep what a request asks for, as records.
#pragma once

#include <vector>

#include "smd/sa/path_record.h"
#include "smd/sa/path_walk.h"
#include "smd/sa/query.h"

namespace smd::sa {

/// What is asked of each path; ends aside.
struct PathRequest {
  PathRecord wanted;
  std::uint64_t mask = 0;                 // of path_component
  std::size_t paths_per_pair = SIZE_MAX;  // of ports

  [[nodiscard]] bool asks(std::uint64_t components) const {
    return (mask & components) == components;
  }
};

class PathFinder {
 public:
  /// All outlive this.
  PathFinder(const SubnetView& view, const PathRequest& request, const QueryLimits& limits);

  /// Between the given LIDs of the ports, or between all where one is kUnassignedLid. The pairs of
  /// equal offsets come first. False when the request has cost too much.
  [[nodiscard]] bool add_pair(PortIdx source, Lid only_source, PortIdx target, Lid only_target);

  [[nodiscard]] Answer finish();

 private:
  /// What all paths of a pair have in common.
  struct Pair {
    PortIdx source;
    PortIdx target;
    PKey key;
    const QosLevel* level = nullptr;  // null: the site has no rules
  };

  [[nodiscard]] const QosLevel* find_level(PortIdx source, PortIdx target) const;
  [[nodiscard]] std::optional<std::uint8_t> choose_sl(const Pair& pair, const Way& way) const;

  [[nodiscard]] std::uint8_t partition_sl(PKey key) const;
  bool add_path(const Pair& pair, Lid slid, Lid dlid, std::uint8_t preference);

  template <class Choose>
  [[nodiscard]] std::optional<std::uint8_t> bounded(std::uint64_t components,
                                                    const Bound& bound,
                                                    std::uint8_t path,
                                                    Choose choose) const {
    return request_.asks(components) ? choose(bound, path) : std::optional(path);
  }

  const SubnetView& view_;
  const PathRequest& request_;
  const QueryLimits& limits_;
  std::size_t walked_ = 0;
  std::vector<std::byte> records_;
};

/// Unicast, of another subnet: the way leads to a router.
[[nodiscard]] bool is_elsewhere(const SubnetView& view, const Gid& gid);

/// The port that a GID names; kNone when nobody in this subnet has it.
[[nodiscard]] PortIdx find_gid(const SubnetView& view, const Gid& gid);

}  // namespace smd::sa
