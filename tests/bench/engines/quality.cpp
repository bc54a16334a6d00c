#include "tests/bench/engines/quality.h"

#include <algorithm>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/patterns.h"
#include "smd/routing/verify/walk.h"

namespace smd::bench {
namespace {

constexpr unsigned kPermutations = 50;
constexpr std::uint64_t kSeed = 1;

void measure_hops(const Fabric& fabric,
                  const LidMap& lids,
                  const ForwardingTables& tables,
                  const std::vector<PortIdx>& hosts,
                  RouteQuality& out) {
  IndexVector<SwitchIdx, std::uint32_t> hosts_at(fabric.switch_count(), 0);
  const auto switch_by = [&](PortIdx host) { return fabric.switch_at(fabric.peer[host]); };
  for (const PortIdx host : hosts) ++hosts_at[switch_by(host)];
  Walk walk(fabric, tables);
  std::uint64_t pairs = 0, hops = 0;
  for (const PortIdx host : hosts) {
    walk.follow(lids.base[host], host);
    for (const SwitchIdx sw : hosts_at.indices()) {
      const std::uint64_t sources = hosts_at[sw] - (sw == switch_by(host) ? 1u : 0u);
      if (sources == 0) continue;
      if (walk.result(sw) != PathResult::Arrives) {
        out.lost += sources;
        continue;
      }
      pairs += sources;
      hops += sources * walk.hops(sw);
      out.max_hops = std::max(out.max_hops, walk.hops(sw));
    }
  }
  if (pairs != 0) out.mean_hops = static_cast<double>(hops) / static_cast<double>(pairs);
}

/// SLs of paths between hosts alone; what switches themselves send is not asked for.
SlSets host_sls(const Fabric& fabric,
                const LidMap& lids,
                const PathSls& path_sls,
                const std::vector<PortIdx>& hosts) {
  SlSets out{fabric.switch_count(), lids.top};
  SwitchIdx last = kNone<SwitchIdx>;
  for (const PortIdx source : hosts) {
    const SwitchIdx sw = fabric.switch_at(fabric.peer[source]);
    if (sw == last) continue;
    last = sw;
    for (const PortIdx host : hosts) {
      const Lid lid = lids.base[host];
      out.add(sw, lid, path_sls.empty() ? std::uint8_t{0} : path_sls.sl(sw, lid));
    }
  }
  return out;
}

}  // namespace

RouteQuality measure_quality(const Fabric& fabric,
                             const LidMap& lids,
                             const RoutingTables& tables) {
  RouteQuality out;
  const std::vector<PortIdx> hosts = find_hosts(fabric, lids);
  measure_hops(fabric, lids, tables.lft, hosts, out);
  // With one lane the checker would take in what switches send.
  RoutingTables laned = tables;
  laned.vls = std::max(2u, tables.vls);
  const SlSets sls = host_sls(fabric, lids, tables.path_sls, hosts);
  const RouteReport report =
      check_routes(fabric, lids, laned, {.minimality = false, .offered = &sls});
  out.credit_loop = !report.acyclic;
  out.lanes = report.vls;
  out.max_load = measure_load(fabric, lids, tables.lft).max;
  out.bisection =
      measure_effective_bisection(fabric, lids, tables.lft, hosts, kPermutations, kSeed).mean;
  return out;
}

}  // namespace smd::bench
