// Rules of the QoS policy on a snapshot: which level a request for a path gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/policy/partition_map.h"
#include "smd/policy/qos_file.h"

namespace smd {

/// What a request says that rules ask for.
struct QosRequest {
  PortIdx source;
  PortIdx target;
  std::optional<std::uint64_t> service;
  std::optional<std::uint16_t> qos_class;
  std::optional<PKey> p_key;
};

class QosRules {
 public:
  /// `map`: who is in which partition; null: all are in the default one. `partitions` knows their
  /// names.
  QosRules(const Fabric& fabric,
           const QosFile& file,
           const PartitionMap* map,
           const PartitionFile& partitions);

  /// Of the first rule that matches, else the default.
  [[nodiscard]] const QosLevel& find_level(const QosRequest& request) const;

  [[nodiscard]] const QosFile& file() const { return file_; }

 private:
  [[nodiscard]] bool is_member(const std::vector<std::size_t>& groups, PortIdx port) const;

  QosFile file_;
  std::vector<IndexVector<PortIdx, bool>> members_;  // by group
};

/// Levels that packets cannot have: their SL is discarded by the rows of the site, or is not for
/// them to choose, as the routes fix the SL of every path. One line each.
[[nodiscard]] std::vector<std::string> find_qos_conflicts(
    const QosFile& file, const std::vector<std::uint8_t>& discarded, bool routes_choose);

}  // namespace smd
