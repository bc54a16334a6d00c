// Rules of the QoS policy on a snapshot: which level a request for a path gets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// What is lost where a row of the site discards SL 0.
inline constexpr std::string_view kSl0Discarded =
    "SL 0 is discarded by qos.sl2vl: so is what hosts ask the manager, and paths and groups that "
    "nothing gives another SL";

/// SLs that packets have without a level, and that are discarded by the rows of the site: 0, and
/// those of partitions. One line each.
[[nodiscard]] std::vector<std::string> find_discarded_sls(
    const PartitionFile& partitions, const std::vector<std::uint8_t>& discarded);

/// Groups of ports that name a partition which is not there; one line each.
[[nodiscard]] std::vector<std::string> find_unknown_partitions(const QosFile& file,
                                                               const PartitionFile& partitions);

}  // namespace smd
