#include "smd/routing/verify/vl_flow.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>

namespace smd {
namespace {

SlToVl constant_row(Vl vl) {
  SlToVl row;
  row.fill(vl);
  return row;
}

std::vector<SlToVl> rows_of(const Fabric& fabric, const RoutingTables& routing) {
  if (!routing.sl_to_vl.empty())
    return routing.sl_to_vl.fits(fabric) ? routing.sl_to_vl.rows()
                                         : std::vector{constant_row(kManagementVl)};
  SlToVl row;
  const unsigned vls = std::clamp(routing.vls, 1u, 15u);
  for (unsigned sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
  return {row};
}

std::uint16_t bit(unsigned number) { return static_cast<std::uint16_t>(1u << number); }

SlMask both(SlMask a, SlMask b) { return static_cast<SlMask>(a & b); }

unsigned lowest(unsigned mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

}  // namespace

SlClasses::SlClasses(const Fabric& fabric, const RoutingTables& routing) {
  if (!routing.sl_to_vl.empty() && routing.sl_to_vl.fits(fabric)) maps_ = &routing.sl_to_vl;
  const std::vector<SlToVl> rows = rows_of(fabric, routing);
  read_limits(fabric);
  merge_classes(rows);
  for (const auto& vls_by_class : vls_by_row_) {
    std::array<SlMask, 16> passing{};
    for (unsigned c = 0; c < classes_; ++c) {
      if (vls_by_class[c] >= kManagementVl.value()) continue;
      vls_ = std::max(vls_, vls_by_class[c] + 1u);
      for (unsigned limit = vls_by_class[c] + 1u; limit < passing.size(); ++limit)
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

void SlClasses::merge_classes(const std::vector<SlToVl>& rows) {
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
    std::array<std::uint8_t, 16> vls_by_class{};
    for (unsigned c = 0; c < classes_; ++c) vls_by_class[c] = row[sl_of_[c]].value();
    vls_by_row_.push_back(vls_by_class);
  }
}

// A port that does not say how many VLs it has is taken for one that has them all, and so is port
// 0, which is no link. Where the tables have no rows of their own, whoever writes them takes a VL
// modulo those of the link: to an adapter with fewer VLs nothing is discarded, and nothing waits in
// a circle there. Engines count the VLs of links between switches alone.
void SlClasses::read_limits(const Fabric& fabric) {
  constexpr unsigned kAll = 15;
  const auto known = [&](PortIdx port) {
    const unsigned vls = data_vls(fabric.port_info[port].vl_cap);
    return vls == 0 ? kAll : vls;
  };
  limit_.assign(fabric.port_count(), kAll);
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx>) continue;
    const bool between_switches =
        fabric.is_switch(fabric.node_of[port]) && fabric.is_switch(fabric.node_of[peer]);
    if (maps_ != nullptr || between_switches)
      limit_[port] = static_cast<std::uint8_t>(std::min({known(port), known(peer), kAll}));
  }
}

VlFlow::VlFlow(const Fabric& fabric,
               const RoutingTables& routing,
               const SlSets* offered,
               bool any_sl)
    : fabric_(fabric),
      path_sls_(routing.path_sls.empty() ? nullptr : &routing.path_sls),
      sl_sets_(offered),
      said_something_(path_sls_ != nullptr || sl_sets_ != nullptr),
      any_sl_(any_sl || !said_something_),
      sl_classes_(fabric, routing),
      vl_bits_(static_cast<unsigned>(std::bit_width(sl_classes_.vls() - 1))),
      words_(((sl_classes_.classes() << vl_bits_) + 63) / 64),
      ends_(fabric.switch_count()),
      seen_(words_, 0),
      leaving_(fabric.switch_count() * words_, 0),
      arriving_(fabric.switch_count()) {
  for (const SwitchIdx sw : ends_.indices()) {
    ends_[sw].push_back(PortNum{0});
    for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx> && !fabric.is_switch(fabric.node_of[peer]))
        ends_[sw].push_back(fabric.number_of(port));
    }
  }
  find_starts();
  std::size_t turns = 0;
  for (const PortIdx port : fabric.peer.indices()) {
    first_turn_.push_back(turns);
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[port])) continue;
    if (fabric.is_switch(fabric.node_of[peer]))
      turns += (fabric.num_ports(fabric.node_of[peer]) + 1) * words_;
  }
  turns_.assign(turns, 0);
}

void VlFlow::find_starts() {
  starts_.assign(fabric_.port_count() * sl_classes_.classes(), 0);
  open_.assign(fabric_.port_count(), sl_classes_.all_classes());
  for (const SwitchIdx sw : ends_.indices()) {
    for (const PortIdx egress : fabric_.ports_of(fabric_.switch_node[sw])) {
      for (const PortNum in : ends_[sw]) {
        const std::uint16_t row = sl_classes_.row(sw, in, fabric_.number_of(egress));
        const SlMask passing = sl_classes_.passing(row, egress);
        // Nobody but the owner of a LID would leave by the port that it came in by.
        if (in != fabric_.number_of(egress)) open_[egress] = both(open_[egress], passing);
        for (unsigned left = passing; left != 0; left &= left - 1)
          starts_[egress.value() * sl_classes_.classes() + lowest(left)] |=
              bit(sl_classes_.vls_of(row)[lowest(left)]);
      }
    }
  }
}

SlMask VlFlow::said_of(SwitchIdx source, Lid lid) const {
  const std::size_t switches = ends_.size();
  if (sl_sets_ == nullptr) {
    if (!path_sls_->covers(switches, lid)) return 0;
    const std::uint8_t sl_class = sl_classes_.class_of(path_sls_->sl(source, lid));
    return sl_class == SlClasses::kNoClass ? SlMask{0} : bit(sl_class);
  }
  SlMask classes = 0;
  if (!sl_sets_->covers(switches, lid)) return classes;
  for (unsigned left = sl_sets_->of(source, lid); left != 0; left &= left - 1)
    classes |= bit(sl_classes_.class_of(static_cast<std::uint8_t>(lowest(left))));
  return classes;
}

// Without the SL of a path nothing passes on it.
void VlFlow::load_sls(std::size_t first_lid) {
  first_lid_ = first_lid;
  const std::size_t switches = ends_.size();
  said_.assign(kColumns * switches, 0);
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    for (std::size_t i = 0; i < kColumns; ++i)
      said_[i * switches + sw] =
          said_of(SwitchIdx{sw}, Lid{static_cast<std::uint16_t>(first_lid + i)});
  }
}

SlMask VlFlow::passing(SwitchIdx sw, PortNum in, PortNum out) const {
  return sl_classes_.passing(sl_classes_.row(sw, in, out),
                             fabric_.port_of(fabric_.switch_node[sw], out));
}

// Walks that end somewhere have a distance from there; those that loop have none.
void VlFlow::order_switches(const Walk& walk) {
  looping_.clear();
  by_hops_.clear();
  for (const SwitchIdx sw : ends_.indices()) {
    if (walk.result(sw) == PathResult::Loop) {
      looping_.push_back(sw);
      continue;
    }
    const std::uint32_t hops = walk.hops(sw);
    if (by_hops_.size() <= hops) by_hops_.resize(hops + 1, 0);
    ++by_hops_[hops];
  }
  std::uint32_t before = 0;
  for (std::size_t hops = by_hops_.size(); hops-- > 0;) {
    const std::uint32_t first = before;
    before += by_hops_[hops];
    by_hops_[hops] = first;
  }
  order_.resize(before);
  for (const SwitchIdx sw : ends_.indices()) {
    if (walk.result(sw) != PathResult::Loop) order_[by_hops_[walk.hops(sw)]++] = sw;
  }
}

void VlFlow::follow(Lid lid, const Walk& walk) {
  lid_ = lid;
  const std::size_t first_lid = lid.value() - lid.value() % kColumns;
  if (said_something_ && first_lid != first_lid_) load_sls(first_lid);
  order_switches(walk);
  std::ranges::fill(leaving_, 0);
  for (const SwitchIdx sw : ends_.indices()) {
    if (walk.next(sw) != kNone<SwitchIdx>) start(sw, walk.egress(sw));
  }
  for (const SwitchIdx sw : order_) pass_on(sw, walk);
  for (bool news = true; news;) {
    news = false;
    for (const SwitchIdx sw : looping_) news = pass_on(sw, walk) || news;
  }
  if (sl_classes_.may_discard()) find_arriving(walk);
  all_pass_ = true;
  if (!said_something_ && !sl_classes_.may_discard()) return;
  for (const SwitchIdx sw : ends_.indices()) all_pass_ = all_pass_ && passes(sw, walk);
}

void VlFlow::start(SwitchIdx source, PortNum out) {
  const PortIdx egress = fabric_.port_of(fabric_.switch_node[source], out);
  const std::uint16_t* const vls_by_class = starts_.data() + egress.value() * sl_classes_.classes();
  std::uint64_t* const states = leaving_.data() + source.value() * words_;
  for (unsigned left = offered(source, any_sl_); left != 0; left &= left - 1) {
    // The VLs of a class lie in one word: there are 1, 2, 4, 8 or 16.
    const unsigned first = state_of(lowest(left), 0);
    states[first / 64] |= std::uint64_t{vls_by_class[lowest(left)]} << (first % 64);
  }
}

// What has left one switch leaves the next. Returns whether that was news.
bool VlFlow::pass_on(SwitchIdx from, const Walk& walk) {
  const SwitchIdx sw = walk.next(from);
  if (sw == kNone<SwitchIdx>) return false;
  const std::uint64_t* const arrived = leaving_.data() + from.value() * words_;
  for (std::size_t word = 0; word < words_; ++word) seen_[word] |= arrived[word];
  if (walk.next(sw) == kNone<SwitchIdx>) return false;

  const PortIdx left_by = fabric_.port_of(fabric_.switch_node[from], walk.egress(from));
  const PortNum out = walk.egress(sw);
  const std::uint16_t row = sl_classes_.row(sw, fabric_.number_of(fabric_.peer[left_by]), out);
  const SlMask passing = sl_classes_.passing(row, fabric_.port_of(fabric_.switch_node[sw], out));
  std::uint64_t* const turn = turns_.data() + first_turn_[left_by.value()] + out.value() * words_;
  std::uint64_t* const leaving = leaving_.data() + sw.value() * words_;
  bool news = false;
  for (std::size_t word = 0; word < words_; ++word) {
    turn[word] |= arrived[word];
    for (std::uint64_t left = arrived[word]; left != 0; left &= left - 1) {
      const unsigned sl_class = class_of(static_cast<unsigned>(word * 64) +
                                         static_cast<unsigned>(std::countr_zero(left)));
      if ((passing >> sl_class & 1u) == 0) continue;
      const unsigned next = state_of(sl_class, sl_classes_.vls_of(row)[sl_class]);
      const std::uint64_t state = std::uint64_t{1} << (next % 64);
      news = news || (leaving[next / 64] & state) == 0;
      leaving[next / 64] |= state;
    }
  }
  return news;
}

void VlFlow::add_to(ChannelGraph& graph) const {
  for (const PortIdx egress : fabric_.peer.indices()) {
    const PortIdx in = fabric_.peer[egress];
    if (in == kNone<PortIdx> || !fabric_.is_switch(fabric_.node_of[egress])) continue;
    const SwitchIdx sw = fabric_.switch_at(in);
    if (sw == kNone<SwitchIdx>) continue;
    for (const PortIdx then : fabric_.ports_of(fabric_.node_of[in])) {
      const PortNum out = fabric_.number_of(then);
      const std::uint16_t row = sl_classes_.row(sw, fabric_.number_of(in), out);
      const SlMask passing = sl_classes_.passing(row, then);
      const std::uint64_t* const turn =
          turns_.data() + first_turn_[egress.value()] + out.value() * words_;
      for (unsigned state = 0; state < words_ * 64; ++state) {
        if (turn[state / 64] == 0) {
          state |= 63;
          continue;
        }
        const unsigned sl_class = class_of(state);
        if ((turn[state / 64] >> (state % 64) & 1) == 0 || (passing >> sl_class & 1u) == 0)
          continue;
        graph.add(in, vl_of(state), out.value(), sl_classes_.vls_of(row)[sl_class]);
      }
    }
  }
}

void VlFlow::find_arriving(const Walk& walk) {
  for (std::size_t i = order_.size(); i-- > 0;) {
    const SwitchIdx from = order_[i];
    const SwitchIdx sw = walk.next(from);
    arriving_[from] = sl_classes_.all_classes();
    // Beyond a switch whose own entry leads nowhere nothing arrives anyway.
    if (sw == kNone<SwitchIdx> || walk.result(sw) != PathResult::Arrives) continue;
    arriving_[from] =
        both(passing(sw, fabric_.number_of(walk.entered(from)), walk.egress(sw)), arriving_[sw]);
  }
}

// Packets of all end ports, the owner's among them.
bool VlFlow::passes(SwitchIdx source, const Walk& walk) const {
  const SlMask wanted = offered(source, !said_something_);
  if (wanted == 0) return false;
  if (!sl_classes_.may_discard() || walk.result(source) != PathResult::Arrives) return true;
  const SlMask open = open_[fabric_.port_of(fabric_.switch_node[source], walk.egress(source))];
  return both(wanted, both(open, arriving_[source])) == wanted;
}

std::uint32_t VlFlow::count_discarded(SwitchIdx source, const Walk& walk) const {
  const SlMask wanted = offered(source, !said_something_);
  const bool last = walk.next(source) == kNone<SwitchIdx>;
  const auto all = static_cast<std::uint32_t>(ends_[source].size()) - (last ? 1u : 0u);
  if (wanted == 0) return all;
  if (passes(source, walk)) return 0;
  const PortNum out = walk.egress(source);
  if (both(wanted, arriving_[source]) != wanted) return all;
  std::uint32_t discarded = 0;
  for (const PortNum in : ends_[source]) {
    if (last && in == out) continue;
    if (both(wanted, passing(source, in, out)) != wanted) ++discarded;
  }
  return discarded;
}

std::string VlFlow::print_discard(SwitchIdx source, const Walk& walk) const {
  const SlMask wanted = offered(source, !said_something_);
  if (wanted == 0) return "the path has no SL";
  const auto stopped = [&](SwitchIdx sw, PortNum in) {
    return static_cast<SlMask>(wanted & ~passing(sw, in, walk.egress(sw)));
  };
  for (const PortNum in : ends_[source]) {
    if (walk.next(source) == kNone<SwitchIdx> && in == walk.egress(source)) continue;
    if (const SlMask mask = stopped(source, in); mask != 0)
      return print_stop(source, in, walk.egress(source), mask);
  }
  for (SwitchIdx from = source; walk.next(from) != kNone<SwitchIdx>; from = walk.next(from)) {
    const PortNum in = fabric_.number_of(walk.entered(from));
    const SwitchIdx sw = walk.next(from);
    if (const SlMask mask = stopped(sw, in); mask != 0)
      return print_stop(sw, in, walk.egress(sw), mask);
  }
  return {};
}

std::string VlFlow::print_stop(SwitchIdx sw, PortNum in, PortNum out, SlMask stopped) const {
  return fmt::format("SL {} is discarded at {} from port {} to port {}",
                     sl_classes_.sl_of(lowest(stopped)),
                     name_of(fabric_, fabric_.switch_node[sw]),
                     in,
                     out);
}

unsigned VlFlow::count_used() const {
  unsigned used = 0;
  for (unsigned state = 0; state < words_ * 64; ++state) {
    if ((seen_[state / 64] >> (state % 64) & 1) != 0) used |= 1u << vl_of(state);
  }
  return std::max(1u, static_cast<unsigned>(std::popcount(used)));
}

}  // namespace smd
