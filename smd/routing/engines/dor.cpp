// Dimension order on meshes and tori, with dateline VLs.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/grid.h"
#include "smd/routing/topology/lattice_record.h"
#include "smd/routing/topology/topology_tables.h"

namespace smd {
namespace {

constexpr std::uint32_t kShortestRing = 4;  // with a second hop in the same direction
constexpr std::size_t kMostRings = 4;       // 16 SLs

/// Which way round a ring, and whether that leads past its end, where coordinates begin anew.
struct Step {
  bool up = false;
  bool crosses = false;
};

// Two opposite switches are as far apart either way. Both use the same half of the ring, so that
// answers can travel on the SL of the question; halves take turns by `parity`.
Step choose_step(
    std::uint32_t side, bool wraps, std::uint32_t from, std::uint32_t to, bool parity) {
  if (!wraps) return {.up = from < to, .crosses = false};
  const std::uint32_t ahead = (to + side - from) % side;
  const bool crosses = 2 * ahead == side ? parity != (std::min(from, to) % 2 == 1)
                                         : (2 * ahead < side) != (from < to);
  return {.up = (from < to) != crosses, .crosses = crosses};
}

class GridRoutes {
 public:
  GridRoutes(const NeighbourGraph& graph, const GridShape& grid)
      : graph_(graph), grid_(grid), dims_(grid.lattice.dimensions()) {
    for (std::size_t d = 0; d < dims_; ++d) {
      stride_.push_back(grid.lattice.stride(d));
      vl_bit_.push_back(0);
      if (grid.wraps[d] && side(d) >= kShortestRing) {
        vl_bit_[d] = static_cast<std::uint8_t>(1u << rings_);
        ++rings_;
      }
    }
    find_places();
    find_parities();
    find_whole_lines();
  }

  [[nodiscard]] std::size_t rings() const { return rings_; }

  [[nodiscard]] Columns columns() const {
    return {.first = grid_.lattice.cell,
            .cell = grid_.lattice.cell,
            .count = static_cast<std::uint32_t>(grid_.lattice.cells())};
  }

  // Cells that have the same coordinates as the switch in dimensions before d, from `begin` on.
  void fill_hops(SwitchIdx sw, std::span<std::uint8_t> row) const {
    std::size_t begin = 0;
    bool parity = false;
    std::vector<std::uint32_t> own(dims_);
    for (std::size_t d = 0; d < dims_; ++d) own[d] = grid_.lattice.coordinate(sw, d);
    for (std::size_t d = 0; d < dims_; ++d) parity = parity != (own[d] % 2 == 1);
    for (std::size_t d = 0; d < dims_; ++d) {
      parity = parity != (own[d] % 2 == 1);
      fill_line(sw, d, own[d], parity, row.subspan(begin, std::size_t{side(d)} * stride_[d]));
      begin += std::size_t{own[d]} * stride_[d];
    }
    row[begin] = kHere;
  }

  void fill_sls(SwitchIdx sw, std::span<std::uint8_t> row) {
    scratch_.assign(1, 0);
    bool parity = false;
    for (std::size_t d = dims_; d-- > 0;) {
      const std::uint32_t own = grid_.lattice.coordinate(sw, d);
      const std::size_t block = stride_[d];
      for (std::uint32_t x = 0; x < side(d); ++x) {
        const std::uint8_t even = sl_bit(d, own, x, parity), odd = sl_bit(d, own, x, !parity);
        std::uint8_t* const to = row.data() + std::size_t{x} * block;
        for (std::size_t i = 0; i < block; ++i)
          to[i] = static_cast<std::uint8_t>(scratch_[i] | (odd_[d][i] ? odd : even));
      }
      scratch_.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(block * side(d)));
      parity = parity != (own % 2 == 1);
    }
  }

  [[nodiscard]] std::vector<VlBySl> list_vls() const {
    std::vector<VlBySl> rows;
    for (std::size_t d = 0; d < dims_; ++d) {
      rows.emplace_back();
      for (std::size_t sl = 0; sl < rows.back().size(); ++sl)
        rows.back()[sl] = (sl & vl_bit_[d]) != 0 ? 1 : 0;
    }
    return rows;
  }

  [[nodiscard]] std::size_t dimension(SwitchIdx sw, std::uint8_t place) const {
    const std::uint32_t neighbour = grid_.lattice.cell[graph_.around(sw)[place].to];
    std::size_t d = 0;
    while (neighbour / stride_[d] % side(d) == grid_.lattice.coordinate(sw, d)) ++d;
    return d;
  }

 private:
  [[nodiscard]] std::uint32_t side(std::size_t d) const { return grid_.lattice.sides[d]; }

  [[nodiscard]] std::uint8_t place(SwitchIdx sw, std::size_t d, bool up) const {
    return places_[(sw.value() * dims_ + d) * 2 + (up ? 1 : 0)];
  }

  [[nodiscard]] std::uint8_t sl_bit(std::size_t d,
                                    std::uint32_t from,
                                    std::uint32_t to,
                                    bool parity) const {
    if (vl_bit_[d] == 0 || from == to) return 0;
    return choose_step(side(d), true, from, to, parity).crosses ? vl_bit_[d] : 0;
  }

  void find_places() {
    places_.assign(graph_.switches() * dims_ * 2, kNoHop);
    for (std::uint32_t s = 0; s < graph_.switches(); ++s) {
      const SwitchIdx sw{s};
      for (std::uint8_t i = 0; i < graph_.around(sw).size(); ++i) {
        const std::size_t d = dimension(sw, i);
        const std::uint32_t from = grid_.lattice.coordinate(sw, d);
        const std::uint32_t to = grid_.lattice.coordinate(graph_.around(sw)[i].to, d);
        const bool up = grid_.wraps[d] ? (from + 1) % side(d) == to : from < to;
        places_[(s * dims_ + d) * 2 + (up ? 1 : 0)] = i;
      }
    }
  }

  // odd_[d]: of every cell of a line's cross-section, whether its later coordinates sum to an odd
  // number.
  void find_parities() {
    odd_.assign(dims_, {});
    for (std::size_t d = dims_; d-- > 0;) {
      if (d + 1 == dims_) {
        odd_[d] = {0};
        continue;
      }
      for (std::uint32_t x = 0; x < side(d + 1); ++x) {
        for (const char odd : odd_[d + 1])
          odd_[d].push_back(static_cast<char>((odd + static_cast<char>(x % 2)) % 2));
      }
    }
  }

  // A line with all its switches and links: the closed form holds.
  void find_whole_lines() {
    whole_.assign(graph_.switches() * dims_, 1);
    for (std::uint32_t s = 0; s < graph_.switches(); ++s) {
      const SwitchIdx sw{s};
      for (std::size_t d = 0; d < dims_; ++d) {
        const std::uint32_t own = grid_.lattice.coordinate(sw, d);
        const std::uint32_t first = grid_.lattice.cell[sw] - own * stride_[d];
        for (std::uint32_t x = 0; x < side(d); ++x) {
          const SwitchIdx member = grid_.lattice.at[first + x * stride_[d]];
          const bool leads_on = x + 1 < side(d) || grid_.wraps[d];
          if (member != kNone<SwitchIdx> && (!leads_on || place(member, d, true) != kNoHop))
            continue;
          whole_[s * dims_ + d] = 0;
          break;
        }
      }
    }
  }

  // `row` holds the cells of the switch's coordinates before d.
  void fill_line(SwitchIdx sw,
                 std::size_t d,
                 std::uint32_t own,
                 bool parity,
                 std::span<std::uint8_t> row) const {
    const std::size_t block = stride_[d];
    if (!whole_[sw.value() * dims_ + d]) return fill_broken(sw, d, own, row);
    const std::uint8_t up = place(sw, d, true), down = place(sw, d, false);
    for (std::uint32_t x = 0; x < side(d); ++x) {
      if (x == own) continue;
      std::uint8_t* const to = row.data() + x * block;
      const bool even = choose_step(side(d), grid_.wraps[d] != 0, own, x, parity).up;
      const bool odd = choose_step(side(d), grid_.wraps[d] != 0, own, x, !parity).up;
      if (even == odd) {
        std::fill(to, to + block, even ? up : down);
      } else {
        for (std::size_t i = 0; i < block; ++i) to[i] = (odd_[d][i] ? odd : even) ? up : down;
      }
    }
  }

  // Straight on in the only direction that arrives, until something is missing.
  void fill_broken(SwitchIdx sw,
                   std::size_t d,
                   std::uint32_t own,
                   std::span<std::uint8_t> row) const {
    const std::size_t block = stride_[d];
    for (const bool up : {true, false}) {
      SwitchIdx at = sw;
      const std::uint8_t first = place(sw, d, up);
      while (place(at, d, up) != kNoHop) {
        at = graph_.around(at)[place(at, d, up)].to;
        const std::uint32_t x = grid_.lattice.coordinate(at, d);
        if (x == own) break;
        std::fill_n(row.data() + x * block, block, first);
      }
    }
  }

  const NeighbourGraph& graph_;
  const GridShape& grid_;
  std::size_t dims_;
  std::vector<std::uint32_t> stride_;
  std::vector<std::uint8_t> vl_bit_;  // by dimension: its bit in the SL; 0 where one VL does
  std::size_t rings_ = 0;
  std::vector<std::uint8_t> places_;  // by switch, dimension and direction
  std::vector<std::vector<char>> odd_;
  std::vector<char> whole_;  // by switch and dimension: the line it is on
  std::vector<std::uint8_t> scratch_;
};

class Dor final : public Engine {
 public:
  std::string_view name() const override { return "dor"; }

  std::string_view contract() const override {
    return "Meshes and tori of any dimensions, recognised by their cables alone, also with links "
           "or switches missing; not more than four rings of four switches or more. Corrects one "
           "coordinate after the other, the short way round each ring. 1 VL and any SL on meshes; "
           "on tori 2 VLs and an SL of one bit per ring dimension, which says whether the path "
           "passes the end of that ring: such paths take VL 1 in it, the others VL 0. Free of "
           "deadlock: channels of a dimension wait for the same or later ones; on VL 0 of a ring "
           "nothing passes its end, on VL 1 no path that does is longer than half of it. Where a "
           "ring is broken everything goes the other way round, on the same SL, and no circle is "
           "left in it; paths that would turn where something is missing go around it, on meshes "
           "on the same VL as long as that closes no cycle (tried hop by hop), else on further "
           "VLs (mostly one), each free of cyclic dependencies by trial. Source: dimension-order "
           "routing with datelines (Dally and Seitz, 1987).";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<GridShape> grid =
        recognise_grid(fabric, graph, find_lattice_before(request, name()));
    if (!grid) return fail(Errc::Unsupported, "no mesh or torus: " + grid.error().context);
    GridRoutes form{graph, *grid};
    if (form.rings() > kMostRings) {
      return fail(Errc::Unsupported,
                  fmt::format("{}: one bit of the SL for each of {} rings is more than 16 SLs",
                              print_grid(*grid),
                              form.rings()));
    }
    Columns columns = form.columns();
    const std::uint32_t cells = columns.count;
    ShapeRoutes routes{.engine = name(),
                       .shape = print_grid(*grid),
                       .columns = std::move(columns),
                       .hops = {graph.switches(), cells},
                       .lattice = std::make_shared<const LatticeRecord>(
                           record_lattice(name(), fabric, graph, grid->lattice, grid->wraps)),
                       .sls = std::nullopt,
                       .rows = {},
                       .row_of = {}};
    for (const SwitchIdx sw : graph.by_guid()) form.fill_hops(sw, routes.hops.row(sw));
    if (form.rings() != 0) {
      routes.regular_sls = 1u << form.rings();
      routes.regular_vls = 2;
      routes.sls.emplace(graph.switches(), cells, std::uint8_t{0});
      for (const SwitchIdx sw : graph.by_guid()) form.fill_sls(sw, routes.sls->row(sw));
      routes.rows = form.list_vls();
      routes.row_of = [&form](SwitchIdx sw, std::uint8_t, std::uint8_t out) {
        return form.dimension(sw, out);
      };
    }
    return finish_tables(fabric, lids, request, graph, std::move(routes));
  }
};

}  // namespace

const Engine& dor_engine() {
  static const Dor engine;
  return engine;
}

}  // namespace smd
