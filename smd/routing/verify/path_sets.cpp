#include "smd/routing/verify/path_sets.h"

#include <algorithm>

#include "smd/routing/verify/walk.h"

namespace smd {
namespace {

class Measurer {
 public:
  Measurer(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables)
      : fabric_(fabric), lids_(lids), tables_(tables), walk_(fabric, tables) {
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
        const PortIdx peer = fabric.peer[port];
        if (peer == kNone<PortIdx> || fabric.is_switch(fabric.node_of[peer])) continue;
        sources_.push_back(sw);
        break;
      }
    }
  }

  PathSetReport run() {
    count_unused();
    for (std::size_t value = 0; value < lids_.owner.size();) {
      const PortIdx owner = lids_.owner[value];
      std::size_t end = value + 1;
      while (owner != kNone<PortIdx> && end < lids_.owner.size() && lids_.owner[end] == owner)
        ++end;
      if (end - value > 1) compare(value, end, owner);
      value = end;
    }
    return report_;
  }

 private:
  void count_unused() {
    for (std::uint32_t sw = 0; sw < std::min(fabric_.switch_count(), tables_.switches()); ++sw) {
      const auto row = tables_.row(SwitchIdx{sw});
      for (std::size_t lid = 1; lid < row.size(); ++lid) {
        const bool owned = lid < lids_.owner.size() && lids_.owner[lid] != kNone<PortIdx>;
        if (!owned && row[lid] != kNoRoute) ++report_.unused_entries;
      }
    }
  }

  // Two paths are the same when they leave every switch on them by the same port.
  void compare(std::size_t first, std::size_t end, PortIdx owner) {
    std::vector<std::vector<std::uint64_t>> paths(sources_.size());
    for (std::size_t value = first; value < end; ++value) {
      walk_.follow(Lid{static_cast<std::uint16_t>(value)}, owner);
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        // Hosts of one switch have no path to choose.
        if (walk_.result(sources_[i]) != PathResult::Arrives || walk_.hops(sources_[i]) == 0)
          continue;
        ++report_.paths;
        paths[i].push_back(name_path(sources_[i]));
      }
    }
    for (std::vector<std::uint64_t>& names : paths) {
      std::ranges::sort(names);
      const auto again = std::ranges::unique(names);
      report_.duplicate_paths += again.size();
    }
  }

  // A number that differs where paths do, but for one case in 2^64.
  std::uint64_t name_path(SwitchIdx sw) const {
    std::uint64_t name = 0;
    for (; sw != kNone<SwitchIdx>; sw = walk_.next(sw)) {
      const PortIdx egress = fabric_.port_of(fabric_.switch_node[sw], walk_.egress(sw));
      name = (name ^ egress.value()) * 0x9e3779b97f4a7c15u;
      name ^= name >> 32;
    }
    return name;
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const ForwardingTables& tables_;
  Walk walk_;
  std::vector<SwitchIdx> sources_;
  PathSetReport report_;
};

}  // namespace

PathSetReport measure_path_sets(const Fabric& fabric,
                                const LidMap& lids,
                                const ForwardingTables& tables) {
  return Measurer(fabric, lids, tables).run();
}

}  // namespace smd
