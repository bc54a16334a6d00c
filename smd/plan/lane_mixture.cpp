#include "smd/plan/lane_mixture.h"

#include <algorithm>
#include <bit>

namespace smd {
namespace {

constexpr std::uint16_t kDiscarded = 1u << 15;

std::array<std::uint16_t, 16> lanes_of_row(const SlToVl& row) {
  std::array<std::uint16_t, 16> lanes{};
  for (std::size_t sl = 0; sl < row.size(); ++sl)
    lanes[sl] = static_cast<std::uint16_t>(1u << (row[sl].value() & 15));
  return lanes;
}

}  // namespace

LaneMixture::LaneMixture(const TransitionTask& task,
                         const PlanScene& scene,
                         const std::vector<EntryChange>& changes)
    : task_(task),
      scene_(scene),
      fabric_(*task.fabric),
      lane_task_(*task.lanes),
      changes_(changes),
      stage_(changes.size(), Stage::Fresh),
      entrances_(fabric_.switch_count()),
      ways_(fabric_.switch_count()),
      sls_(fabric_.switch_count(), 0),
      arrivals_(fabric_.switch_count()) {
  const std::size_t lids = std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize;
  first_change_.assign(lids + 1, 0);
  for (const EntryChange& change : changes_) ++first_change_[change.lid.value() + 1u];
  for (std::size_t lid = 0; lid < lids; ++lid) first_change_[lid + 1] += first_change_[lid];
  by_lid_.resize(changes_.size());
  std::vector<std::uint32_t> at(first_change_.begin(), first_change_.end() - 1);
  for (std::uint32_t i = 0; i < changes_.size(); ++i) by_lid_[at[changes_[i].lid.value()]++] = i;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    entrances_[sw].push_back(PortNum{0});
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (fabric_.peer[port] != kNone<PortIdx> && scene_.beyond[port] == kNone<SwitchIdx>)
        entrances_[sw].push_back(fabric_.number_of(port));
    }
  }
  build_row_lanes();
}

void LaneMixture::build_row_lanes() {
  for (const SlToVl& row : lane_task_.held.rows()) held_lanes_.push_back(lanes_of_row(row));
  for (const SlToVl& row : lane_task_.wanted.rows()) wanted_lanes_.push_back(lanes_of_row(row));
  for (const auto* rows : {&held_lanes_, &wanted_lanes_}) {
    for (const LaneSets& row : *rows) {
      for (const std::uint16_t lanes : row)
        lanes_ = std::max(
            lanes_,
            static_cast<unsigned>(std::bit_width(static_cast<std::uint16_t>(lanes & ~kDiscarded))));
    }
  }
}

void LaneMixture::set_rows(Rows rows) { rows_ = rows; }

void LaneMixture::set_silent() {
  silent_ = told_ = true;
  rows_ = Rows::Wanted;
  std::ranges::fill(stage_, Stage::Fresh);
}

void LaneMixture::set_stage(std::size_t change, Stage stage) {
  stage_[change] = scene_.idle[changes_[change].sw] ? Stage::Fresh : stage;
}

void LaneMixture::set_stages(Stage stage) {
  for (std::size_t i = 0; i < changes_.size(); ++i) set_stage(i, stage);
}

std::uint16_t LaneMixture::offered(SwitchIdx sw, Lid lid) const {
  std::uint16_t sls = 0;
  if (!silent_ && lane_task_.told.covers(fabric_.switch_count(), lid))
    sls = lane_task_.told.of(sw, lid);
  if (told_ && lane_task_.wanted_sls.covers(fabric_.switch_count(), lid))
    sls = static_cast<std::uint16_t>(sls | lane_task_.wanted_sls.of(sw, lid));
  return sls;
}

void LaneMixture::add_way(SwitchIdx sw, PortNum egress, bool is_now) {
  const NodeIdx node = fabric_.switch_node[sw];
  if (egress.value() > fabric_.num_ports(node)) return;
  const PortIdx out = fabric_.port_of(node, egress);
  if (scene_.flow[out] == Flow::Never) return;
  std::array<Way, 2>& ways = ways_[sw.value()];
  Way& way = ways[0].out == kNone<PortIdx> || ways[0].out == out ? ways[0] : ways[1];
  if (way.out == kNone<PortIdx>) arrivals_[scene_.beyond[out].value()].push_back(fabric_.peer[out]);
  way = {out, way.is_now || is_now};
}

void LaneMixture::find_ways(std::size_t lid) {
  const Lid to{static_cast<std::uint16_t>(lid)};
  for (std::vector<PortIdx>& ports : arrivals_) ports.clear();
  std::ranges::fill(ways_, std::array<Way, 2>{});
  const auto changes = changes_of(lid);
  auto at = changes.begin();  // as changes are, by switch
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    const bool changes_here = at != changes.end() && changes_[*at].sw == sw;
    if (!changes_here || scene_.idle[sw] || silent_) {
      add_way(sw, entry_of(*task_.wanted, sw, to), true);
    } else {
      const Stage stage = stage_[*at];
      add_way(sw, entry_of(*task_.held, sw, to), stage != Stage::Fresh);
      if (stage != Stage::Pending) add_way(sw, entry_of(*task_.wanted, sw, to), true);
    }
    if (changes_here) ++at;
  }
}

// From the switches where hosts send, along all ways, until nothing new arrives anywhere.
void LaneMixture::spread_sls(std::size_t lid) {
  const Lid to{static_cast<std::uint16_t>(lid)};
  std::vector<SwitchIdx> open;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    sls_[sw.value()] = offered(sw, to);
    if (sls_[sw.value()] != 0) open.push_back(sw);
  }
  while (!open.empty()) {
    const SwitchIdx sw = open.back();
    open.pop_back();
    for (const Way& way : ways_[sw.value()]) {
      if (way.out == kNone<PortIdx>) continue;
      std::uint16_t& there = sls_[scene_.beyond[way.out].value()];
      if ((sls_[sw.value()] & ~there) == 0) continue;
      there = static_cast<std::uint16_t>(there | sls_[sw.value()]);
      open.push_back(scene_.beyond[way.out]);
    }
  }
}

LaneMixture::LaneSets LaneMixture::lanes_of(SwitchIdx sw, PortNum in, PortNum out) const {
  LaneSets lanes{};
  if (rows_ != Rows::Wanted) lanes = held_lanes_[lane_task_.held.row_number(sw, in, out)];
  if (rows_ == Rows::Held) return lanes;
  for (std::uint16_t& held : lanes) held = static_cast<std::uint16_t>(held & ~kDiscarded);
  const LaneSets& wanted = wanted_lanes_[lane_task_.wanted.row_number(sw, in, out)];
  for (std::size_t sl = 0; sl < lanes.size(); ++sl)
    lanes[sl] = static_cast<std::uint16_t>(lanes[sl] | wanted[sl]);
  return lanes;
}

// Where packets of each SL may be in the channel that begins at `out`.
LaneMixture::LaneSets LaneMixture::lanes_on(SwitchIdx sw, PortIdx out, Lid lid) const {
  LaneSets on{};
  const PortNum number = fabric_.number_of(out);
  const auto add = [&](PortNum in, std::uint16_t sls) {
    if (sls == 0) return;
    const LaneSets lanes = lanes_of(sw, in, number);
    for (unsigned sl = 0; sl < on.size(); ++sl) {
      if (sls >> sl & 1) on[sl] = static_cast<std::uint16_t>(on[sl] | lanes[sl]);
    }
  };
  for (const PortNum in : entrances_[sw]) add(in, offered(sw, lid));
  for (const PortIdx in : arrivals_[sw.value()]) {
    if (in != out) add(fabric_.number_of(in), sls_[scene_.beyond[in].value()]);
  }
  return on;
}

// A packet that would leave by the port it came in by is discarded by the switch.
bool LaneMixture::add_edges(PortIdx from,
                            const LaneSets& on,
                            std::uint16_t sls,
                            PortIdx to,
                            std::vector<LaneTurnGraph::Edge>& edges) {
  const PortIdx in = fabric_.peer[from];
  if (in == to) return false;
  const SwitchIdx sw = scene_.beyond[from];
  if (std::ranges::binary_search(scene_.kept,
                                 Turn{sw, fabric_.number_of(in), fabric_.number_of(to)}))
    return false;
  const LaneSets row = lanes_of(sw, fabric_.number_of(in), fabric_.number_of(to));
  bool passes = true;
  std::array<std::uint16_t, 16> wait{};  // by lane: lanes that its packets wait for
  for (unsigned sl = 0; sl < on.size(); ++sl) {
    if ((sls >> sl & 1) == 0) continue;
    const std::uint16_t next = row[sl];
    if (next & kDiscarded) passes = false;
    for (unsigned vl = 0; vl < lanes_; ++vl) {
      if ((on[sl] >> vl & 1) == 0) continue;
      wait[vl] = static_cast<std::uint16_t>(wait[vl] | next);
      if (uses_ == nullptr) continue;
      for (std::uint32_t left = next & ~std::uint32_t{kDiscarded}; left != 0; left &= left - 1) {
        const auto there = static_cast<unsigned>(std::countr_zero(left));
        uses_->push_back({{lane_at(from, vl, lanes_).value(), lane_at(to, there, lanes_).value()},
                          {sw, fabric_.number_of(in), fabric_.number_of(to)},
                          sl});
      }
    }
  }
  for (unsigned vl = 0; vl < lanes_; ++vl) {
    for (std::uint32_t left = wait[vl] & ~std::uint32_t{kDiscarded}; left != 0; left &= left - 1) {
      const auto next = static_cast<unsigned>(std::countr_zero(left));
      edges.emplace_back(lane_at(from, vl, lanes_).value(), lane_at(to, next, lanes_).value());
    }
  }
  return passes;
}

// What the switch hands to its own hosts is not discarded at the last step.
bool LaneMixture::delivers(SwitchIdx sw, std::size_t lid) const {
  const Lid to{static_cast<std::uint16_t>(lid)};
  const NodeIdx node = fabric_.switch_node[sw];
  const PortNum egress = entry_of(*task_.wanted, sw, to);
  if (egress.value() == 0 || egress.value() > fabric_.num_ports(node)) return true;
  const PortIdx out = fabric_.port_of(node, egress);
  if (fabric_.peer[out] == kNone<PortIdx> || scene_.beyond[out] != kNone<SwitchIdx>) return true;
  for (const PortIdx in : arrivals_[sw.value()]) {
    const LaneSets row = lanes_of(sw, fabric_.number_of(in), egress);
    const std::uint16_t sls = sls_[scene_.beyond[in].value()];
    for (unsigned sl = 0; sl < row.size(); ++sl) {
      if ((sls >> sl & 1) && (row[sl] & kDiscarded)) return false;
    }
  }
  return true;
}

bool LaneMixture::collect(std::size_t lid, std::vector<LaneTurnGraph::Edge>& edges) {
  const Lid to{static_cast<std::uint16_t>(lid)};
  find_ways(lid);
  spread_sls(lid);
  bool passes = true;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    if (sls_[sw.value()] == 0) continue;
    passes = passes && delivers(sw, lid);
    for (const Way& way : ways_[sw.value()]) {
      if (way.out == kNone<PortIdx> || !way.is_now) continue;
      const LaneSets on = lanes_on(sw, way.out, to);
      for (unsigned sl = 0; sl < on.size(); ++sl) {
        if (on[sl] & kDiscarded) passes = false;
      }
      for (const Way& next : ways_[scene_.beyond[way.out].value()]) {
        if (next.out == kNone<PortIdx> || !next.is_now) continue;
        passes = add_edges(way.out, on, sls_[sw.value()], next.out, edges) && passes;
      }
    }
  }
  return passes;
}

}  // namespace smd
