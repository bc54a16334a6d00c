// What flattened butterflies and dragonflies are made of, counted from their cables, against
// published counts and equations (Benito, 2014), and from which price of cables between groups on a
// dragonfly is the cheaper one.
#include <fmt/core.h>

#include "sim-backend/cost/balance.h"
#include "sim-backend/cost/network_parts.h"
#include "sim-backend/experiments/tables.h"

namespace smd::sim::cost {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "A9-counts",
     .text = "routers, hosts, cables by class and ports of the published networks",
     .source = "Benito 2014, tables 3.1 to 3.3, 4.1 and 4.2",
     .must_hold = true,
     .measured = "{farthest:.4f} times where it fits worst",
     .expected = "1 to 1 times"},
    {.id = "A9-trunks",
     .text = "trunks of the published networks are those that balance them",
     .source = "Benito 2014, 3.2.1",
     .must_hold = true,
     .measured = "{farthest:.4f} times where it fits worst",
     .expected = "1 to 1 times"},
    {.id = "A10",
     .text = "hosts of the largest balanced networks of a radix",
     .source = "Benito 2014, figures 3.2 and 4.1, derived again",
     .must_hold = true,
     .measured = "{farthest:.4f} times where it fits worst",
     .expected = "1 to 1 times"},
    {.id = "E13",
     .text = "where cables between groups are dear enough, those of a dragonfly cost a fifth less "
             "than those of a butterfly of as many hosts",
     .source = "Benito 2014, 4.1, who quotes Kim and others, 2008, without prices",
     .measured = "as much where one is {least:.2f} times one within, a fifth less where it is "
                 "{most:.2f} times",
     .expected = "more than 0: there is such a price"},
};

struct CountRow {
  const char* fabric;
  std::uint32_t group;
  std::uint64_t routers, hosts;
  std::uint64_t near, far;  // a butterfly's, together, and 0; within groups, between them
  unsigned radix;
};

constexpr std::array kCounts{
    CountRow{"hamming:dims=16.16,hosts=16", 0, 256, 4096, 3840, 0, 46},
    CountRow{"hamming:dims=6.16,hosts=16", 0, 96, 1536, 960, 0, 36},
    CountRow{"hamming:dims=6.16,hosts=16,trunk=2.1", 0, 96, 1536, 1200, 0, 41},
    CountRow{"hamming:dims=6.16,hosts=16,trunk=3.1", 0, 96, 1536, 1440, 0, 46},
    CountRow{"hamming:dims=4.4.7,hosts=7", 0, 112, 784, 672, 0, 19},
    CountRow{"hamming:dims=4.4.7,hosts=7,trunk=2.2.1", 0, 112, 784, 1008, 0, 25},
    CountRow{"hamming:dims=4.7.7,hosts=7", 0, 196, 1372, 1470, 0, 22},
    CountRow{"hamming:dims=4.7.7,hosts=7,trunk=2.1.1", 0, 196, 1372, 1764, 0, 25},
    CountRow{"dragonfly:a=5,c=2,h=2", 5, 55, 110, 110, 55, 8},
    CountRow{"dragonfly:a=9,c=4,h=4", 9, 333, 1332, 1332, 666, 16},
    CountRow{"dragonfly:a=9,c=4,h=2,groups=19", 9, 171, 684, 684, 171, 14},
    CountRow{"dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2", 9, 171, 684, 684, 342, 16},
    CountRow{"dragonfly:a=9,c=8,h=8", 9, 657, 5256, 2628, 2628, 24},
    CountRow{"dragonfly:a=9,c=8,h=8,local-trunk=2", 9, 657, 5256, 5256, 2628, 32},
    CountRow{"dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9", 9, 81, 648, 324, 324, 24},
};

double ratio(std::uint64_t measured, std::uint64_t published) {
  return static_cast<double>(measured) / static_cast<double>(published);
}

Result<NetworkParts> parts_of(const char* fabric, std::uint32_t group = 0) {
  const auto spec = load_fabric(fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  return count_parts(*spec, {}, {.dims = {}, .group = group});
}

/// Cables of a host that stay near, and that do not: a butterfly's first dimension is in one place,
/// as a dragonfly's groups are.
struct LinksOfHost {
  double near = 0, far = 0;
};

LinksOfHost links_of_host(const NetworkParts& parts) {
  const auto hosts = static_cast<double>(parts.hosts);
  const auto near = static_cast<double>(parts.classes[1].count);
  return {.near = near / hosts, .far = (static_cast<double>(parts.switch_cables()) - near) / hosts};
}

/// From which price of a far cable, in near ones, a dragonfly's cost at most `share` of a
/// butterfly's.
double price_of_far(const LinksOfHost& dragonfly, const LinksOfHost& butterfly, double share) {
  return (dragonfly.near - share * butterfly.near) / (share * butterfly.far - dragonfly.far);
}

Result<Findings> run(const ExperimentOptions& options) {
  Findings out{.plot = {.title = "Cables between switches of a host",
                        .x_label = "hosts",
                        .y_label = "cables",
                        .log_x = true}};
  Range counts, trunks, sizes, prices;
  const auto add = [&](const NetworkParts& parts, TableCell even, TableCell fifth) {
    const LinksOfHost of = links_of_host(parts);
    out.add_row({{"fabric", parts.title},
                 {"switches", parts.switch_count()},
                 {"ports_of_switch", parts.switches.begin()->first},
                 {"hosts", parts.hosts},
                 {"near_cables", parts.classes[1].count},
                 {"far_cables", parts.switch_cables() - parts.classes[1].count},
                 {"alike_from", std::move(even)},
                 {"a_fifth_less_from", std::move(fifth)}});
    out.plot.add_point("near", static_cast<double>(parts.hosts), of.near);
    out.plot.add_point("far", static_cast<double>(parts.hosts), of.far);
  };
  for (const CountRow& row : kCounts) {
    const auto parts = parts_of(row.fabric, row.group);
    if (!parts) return tl::unexpected<Error>(parts.error());
    add(*parts, TableCell(), TableCell());
    counts.add(ratio(parts->switch_count(), row.routers));
    counts.add(ratio(parts->hosts, row.hosts));
    counts.add(ratio(parts->switches.rbegin()->first, row.radix));
    counts.add(ratio(parts->switch_cables(), row.near + row.far));
    if (row.far > 0) counts.add(ratio(parts->classes.at(1).count, row.near));
  }
  for (const auto& [sides, published] :
       {std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>{{6, 16}, {3, 1}},
        {{4, 4, 7}, {2, 2, 1}},
        {{4, 7, 7}, {2, 1, 1}}}) {
    const auto balanced = balanced_trunks(sides);
    for (std::size_t d = 0; d < sides.size(); ++d) {
      trunks.add(balanced ? ratio((*balanced)[d], published[d]) : 0);
    }
  }
  for (const auto& [radix, hosts] :
       {std::pair{16u, 1332u}, {32u, 18632u}, {64u, 279312u}, {128u, 4328480u}}) {
    sizes.add(ratio(largest_dragonfly(radix).hosts, hosts));
  }
  for (const auto& [dimensions, hosts] :
       {std::pair{1u, 1024u}, {2u, 10648u}, {3u, 65536u}, {4u, 371293u}}) {
    sizes.add(ratio(largest_butterfly(64, dimensions).hosts, hosts));
  }
  // Balanced networks of about as many hosts, on switches of 36 ports against 27, and of 45
  // against 32.
  const std::array alike{
      std::pair{"hamming:dims=9.9.9,hosts=9", "dragonfly:a=13,c=6,h=6"},
      std::pair{"hamming:dims=12.12.12,hosts=12", "dragonfly:a=17,c=8,h=8"},
  };
  for (const auto& [first, second] : alike) {
    if (options.quick && first != alike[0].first) continue;
    const auto butterfly = parts_of(first), dragonfly = parts_of(second);
    if (!butterfly) return tl::unexpected<Error>(butterfly.error());
    if (!dragonfly) return tl::unexpected<Error>(dragonfly.error());
    const LinksOfHost of = links_of_host(*dragonfly), against = links_of_host(*butterfly);
    const double even = price_of_far(of, against, 1), fifth = price_of_far(of, against, 0.8);
    add(*butterfly, TableCell(), TableCell());
    add(*dragonfly, even, fifth);
    prices.add(even);
    prices.add(fifth);
  }
  out.verdicts = decide(
      kClaims, {{"A9-counts", counts}, {"A9-trunks", trunks}, {"A10", sizes}, {"E13", prices}});
  return out;
}

}  // namespace
}  // namespace smd::sim::cost

namespace smd::sim {

std::vector<Experiment> cost_tables() {
  return {
      {.name = "002-cost",
       .source = "Benito 2014, tables 3.1 to 3.3, 4.1 and 4.2, figures 3.2 and 4.1",
       .about = "what butterflies and dragonflies are made of, and at which prices which is less",
       .claims = cost::kClaims,
       .run = cost::run}};
}

}  // namespace smd::sim
