#include "smd/routing/lane_rows.h"

#include <algorithm>

namespace smd {
namespace {

SlToVl constant_row(Vl vl) {
  SlToVl row;
  row.fill(vl);
  return row;
}

std::vector<SlToVl> rows_of(const Fabric& fabric, const RoutingTables& routing) {
  if (!routing.lanes.empty())
    return routing.lanes.fits(fabric) ? routing.lanes.rows()
                                      : std::vector{constant_row(kManagementVl)};
  SlToVl row;
  const unsigned vls = std::clamp(routing.vls, 1u, 15u);
  for (unsigned sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
  return {row};
}

}  // namespace

LaneRows::LaneRows(const Fabric& fabric, const RoutingTables& routing) {
  if (!routing.lanes.empty() && routing.lanes.fits(fabric)) maps_ = &routing.lanes;
  const std::vector<SlToVl> rows = rows_of(fabric, routing);
  read_limits(fabric);
  merge_classes(rows);
  for (const auto& lanes : lanes_) {
    std::array<SlMask, 16> passing{};
    for (unsigned c = 0; c < classes_; ++c) {
      if (lanes[c] >= kManagementVl.value()) continue;
      vls_ = std::max(vls_, lanes[c] + 1u);
      for (unsigned limit = lanes[c] + 1u; limit < passing.size(); ++limit)
        passing[limit] = static_cast<SlMask>(passing[limit] | 1u << c);
    }
    passing_.push_back(passing);
  }
  std::array<bool, 16> found{};
  for (const std::uint8_t limit : limit_) found[limit] = true;
  for (const auto& passing : passing_) {
    for (unsigned limit = 0; limit < found.size(); ++limit)
      may_discard_ = may_discard_ || (found[limit] && passing[limit] != all_classes());
  }
}

void LaneRows::merge_classes(const std::vector<SlToVl>& rows) {
  class_of_.fill(kNoClass);
  classes_ = 0;
  for (unsigned sl = 0; sl < 16; ++sl) {
    unsigned c = 0;
    while (c < classes_ && !std::ranges::all_of(rows, [&](const SlToVl& row) {
             return row[sl] == row[sl_of_[c]];
           })) {
      ++c;
    }
    class_of_[sl] = static_cast<std::uint8_t>(c);
    if (c == classes_) sl_of_[classes_++] = static_cast<std::uint8_t>(sl);
  }
  for (const SlToVl& row : rows) {
    std::array<std::uint8_t, 16> lanes{};
    for (unsigned c = 0; c < classes_; ++c) lanes[c] = row[sl_of_[c]].value();
    lanes_.push_back(lanes);
  }
}

// A port that does not say how many VLs it has is taken for one that has them all, and so is port
// 0, which is no cable.
void LaneRows::read_limits(const Fabric& fabric) {
  constexpr unsigned kAll = 15;
  const auto known = [&](PortIdx port) {
    const unsigned vls = data_vls(fabric.port_info[port].vl_cap);
    return vls == 0 ? kAll : vls;
  };
  limit_.assign(fabric.port_count(), kAll);
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx far = fabric.peer[port];
    if (far != kNone<PortIdx>)
      limit_[port] = static_cast<std::uint8_t>(std::min({known(port), known(far), kAll}));
  }
}

}  // namespace smd
