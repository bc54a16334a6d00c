#include "smd/routing/verify/route_changes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace smd {

RouteSide::RouteSide(const RoutesOnFabric& on)
    : fabric_(*on.fabric),
      lids_(*on.lids),
      tables_(on.routing->lft),
      width_(tables_.blocks() * kLftBlockSize),
      end_ports_(fabric_.switch_count(), 1),
      hosts_(fabric_.switch_count(), 0) {
  const RoutingTables& routing = *on.routing;
  if (routing.vls <= 1 && routing.sl_to_vl.empty()) return;
  sl_classes_.emplace(fabric_, routing);
  path_sls_ = routing.path_sls.empty() ? nullptr : &routing.path_sls;
  maps_ = routing.sl_to_vl.empty() ? nullptr : &routing.sl_to_vl;
  class_sizes_.fill(0);
  for (std::uint8_t sl = 0; sl < 16; ++sl) ++class_sizes_[sl_classes_->class_of(sl)];
  sources_.resize(fabric_.port_count());
}

bool RouteSide::prepare() {
  if (tables_.switches() != fabric_.switch_count() || fabric_.switch_count() == 0) return false;
  std::uint64_t hosts = 0;
  for (const SwitchIdx sw : end_ports_.indices()) {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      const PortIdx peer = fabric_.peer[port];
      if (peer == kNone<PortIdx> || fabric_.is_switch(fabric_.node_of[peer])) continue;
      ++end_ports_[sw];
      if (fabric_.is_host(peer)) ++hosts_[sw];
      ++hosts;
    }
  }
  for (const NodeIdx node : fabric_.node_guid.indices()) {
    if (fabric_.is_switch(node)) continue;
    for (const PortIdx port : fabric_.external_ports(node)) {
      if (fabric_.peer[port] != kNone<PortIdx>) --hosts;
    }
  }
  if (hosts != 0 || (maps_ != nullptr && !maps_->fits(fabric_))) return false;
  for (std::size_t lid = 0; lid < lids_.owner.size(); ++lid) {
    const PortIdx owner = lids_.owner[lid];
    if (owner == kNone<PortIdx>) continue;
    if (lid >= width_ || switch_by(owner) == kNone<SwitchIdx>) return false;
    if (path_sls_ != nullptr &&
        !path_sls_->covers(fabric_.switch_count(), Lid{static_cast<std::uint16_t>(lid)}))
      return false;
  }
  return true;
}

const RouteSide::Source& RouteSide::source(SwitchIdx sw, PortIdx egress) {
  Source& found = sources_[egress.value()];
  if (found.known) return found;
  found = {.known = true, .open = sl_classes_->all_classes()};
  const PortNum out = fabric_.number_of(egress);
  for (const PortIdx in : fabric_.ports_of(fabric_.switch_node[sw])) {
    const PortIdx peer = fabric_.peer[in];
    const PortNum number = fabric_.number_of(in);
    const bool enters = number == PortNum{0} ||
                        (peer != kNone<PortIdx> && !fabric_.is_switch(fabric_.node_of[peer]));
    if (!enters) continue;
    const std::uint16_t row = sl_classes_->row(sw, number, out);
    const SlMask passing = sl_classes_->passing(row, egress);
    // Nobody but the owner of a LID would leave by the port that it came in by.
    if (number != out) found.open = static_cast<SlMask>(found.open & passing);
    for (unsigned left = passing; left != 0; left &= left - 1) {
      const auto sl_class = static_cast<unsigned>(std::countr_zero(left));
      found.vls[sl_class] = static_cast<std::uint16_t>(found.vls[sl_class] |
                                                       1u << sl_classes_->vls_of(row)[sl_class]);
    }
  }
  return found;
}

SlMask RouteSide::offered(SwitchIdx sw, std::size_t lid) const {
  if (path_sls_ == nullptr) return sl_classes_->all_classes();
  const Lid destination{static_cast<std::uint16_t>(lid)};
  if (!path_sls_->covers(fabric_.switch_count(), destination)) return 0;
  const std::uint8_t sl_class = sl_classes_->class_of(path_sls_->sl(sw, destination));
  return sl_class == SlClasses::kNoClass ? SlMask{0} : static_cast<SlMask>(1u << sl_class);
}

std::vector<PortRef> list_no_data(const Fabric& fabric) {
  std::vector<PortRef> out;
  for (const auto& [port, demand] : fabric.demand) {
    if (demand == 0 && !fabric.is_switch(fabric.node_of[port]))
      out.push_back({fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)});
  }
  std::ranges::sort(out);
  return out;
}

namespace {

/// Nothing: a node became another one.
std::optional<IndexMatch> match_indices(const Fabric& before, const Fabric& now) {
  IndexMatch found;
  found.switch_now = IndexVector<SwitchIdx, SwitchIdx>(before.switch_count(), kNone<SwitchIdx>);
  found.as_before = before.node_guid == now.node_guid && before.first_port == now.first_port &&
                    before.switch_node == now.switch_node;
  if (found.as_before) {
    for (const SwitchIdx sw : found.switch_now.indices()) found.switch_now[sw] = sw;
    return found;
  }
  found.port_now = IndexVector<PortIdx, PortIdx>(before.port_count(), kNone<PortIdx>);
  for (const NodeIdx was : before.node_guid.indices()) {
    const std::optional<NodeIdx> is = now.find_node(before.node_guid[was]);
    if (!is) continue;
    if (before.is_switch(was) != now.is_switch(*is) || before.num_ports(was) != now.num_ports(*is))
      return std::nullopt;
    if (before.is_switch(was)) found.switch_now[before.switch_of[was]] = now.switch_of[*is];
    for (const PortIdx port : before.ports_of(was))
      found.port_now[port] = now.port_of(*is, before.number_of(port));
  }
  return found;
}

class ChangeFinder {
 public:
  ChangeFinder(const RouteSide& before, const RouteSide& now) : before_(before), now_(now) {}

  std::optional<RouteChanges> run() {
    auto stay = match_indices(before_.fabric(), now_.fabric());
    if (!stay) return std::nullopt;
    found_.stay = std::move(*stay);
    find_changed_links();
    find_other_senders();
    find_sl_to_vl_rows();
    if (!find_changed_entries()) return std::nullopt;
    return std::move(found_);
  }

 private:
  /// Ports of former switches that stayed whose link leads elsewhere than it did.
  void find_changed_links() {
    const Fabric& was = before_.fabric();
    const Fabric& is = now_.fabric();
    link_changed_.assign(was.port_count(), 0);
    for (const NodeIdx node : was.node_guid.indices()) {
      for (const PortIdx port : was.external_ports(node)) {
        const PortIdx now = found_.stay.now(port);
        if (now == kNone<PortIdx>) continue;
        const PortIdx then = was.peer[port];
        const PortIdx stayed = found_.stay.now(then);
        const bool same =
            is.peer[now] == stayed && (then == kNone<PortIdx>) == (stayed == kNone<PortIdx>);
        if (same && (before_.sl_classes() == nullptr ||
                     before_.sl_classes()->limit(port) == now_.sl_classes()->limit(now)))
          continue;
        link_changed_[port.value()] = 1;
        if (was.is_switch(node)) found_.links.push_back(port);
      }
    }
  }

  /// Switches with other end ports: what they send to anybody counts otherwise.
  void find_other_senders() {
    std::vector<char> has_other_ends(before_.fabric().switch_count(), 0);
    for (const PortIdx port : found_.links) {
      const auto leads_to_end = [](const Fabric& fabric, PortIdx from) {
        return fabric.peer[from] != kNone<PortIdx> &&
               !fabric.is_switch(fabric.node_of[fabric.peer[from]]);
      };
      if (leads_to_end(before_.fabric(), port) ||
          leads_to_end(now_.fabric(), found_.stay.now(port)))
        has_other_ends[switch_of(port).value()] = 1;
    }
    std::vector<char> is_added(now_.fabric().switch_count(), 1);
    for (const SwitchIdx was : found_.stay.switch_now.indices()) {
      const SwitchIdx is = found_.stay.switch_now[was];
      if (is == kNone<SwitchIdx>) {
        found_.gone.push_back(was);
        continue;
      }
      is_added[is.value()] = 0;
      if (has_other_ends[was.value()]) found_.other_senders.push_back(was);
    }
    for (std::uint32_t sw = 0; sw < is_added.size(); ++sw) {
      if (is_added[sw]) found_.added.push_back(SwitchIdx{sw});
    }
  }

  /// Of the former snapshot.
  [[nodiscard]] SwitchIdx switch_of(PortIdx port) const { return before_.fabric().switch_at(port); }

  /// Its owner is the same, at the same place, and its paths count as loads as they did.
  [[nodiscard]] bool is_kept(std::size_t lid) const {
    const PortIdx was = before_.owner(lid), is = now_.owner(lid);
    return was != kNone<PortIdx> && is != kNone<PortIdx> && found_.stay.now(was) == is &&
           !link_changed_[was.value()] && before_.is_base_of_host(lid) == now_.is_base_of_host(lid);
  }

  /// Of LIDs that are kept. False: more differs than it is worth.
  bool find_changed_entries() {
    const std::size_t end = std::max(before_.lids_end(), now_.lids_end());
    const std::size_t paths = end * now_.fabric().switch_count();
    found_.kept.assign(std::max({end, before_.width(), now_.width()}), 0);
    std::size_t all_over = 0;
    for (std::size_t lid = 0; lid < end; ++lid) {
      found_.kept[lid] = is_kept(lid);
      if (!found_.kept[lid] &&
          (before_.owner(lid) != kNone<PortIdx> || now_.owner(lid) != kNone<PortIdx>))
        ++all_over;
    }
    if (!is_worthwhile(all_over * now_.fabric().switch_count(), paths)) return false;
    std::vector<char> has_changed_link(before_.fabric().switch_count(), 0);
    for (const PortIdx port : found_.links) has_changed_link[switch_of(port).value()] = 1;
    for (const SwitchIdx was : found_.stay.switch_now.indices()) {
      const SwitchIdx is = found_.stay.switch_now[was];
      if (is == kNone<SwitchIdx>) continue;
      compare_rows(was, is);
      std::array<char, 256> changed{};
      if (has_changed_link[was.value()]) {
        for (const PortIdx port :
             before_.fabric().external_ports(before_.fabric().switch_node[was]))
          changed[before_.fabric().number_of(port).value()] = link_changed_[port.value()];
      }
      const bool others = before_.maps() != nullptr && find_other_sl_to_vl(was, is, changed);
      if (has_changed_link[was.value()] || others) find_entries(was, changed);
      if (before_.path_sls() != nullptr) compare_sls(was, is);
      // One that differs costs more than a step of a path that is followed with all others.
      if (!is_worthwhile(4 * (found_.entries.size() + found_.sls.size()), paths)) return false;
    }
    sort_out(found_.entries);
    sort_out(found_.sls);
    return is_worthwhile(
        (found_.gone.size() + found_.added.size() + found_.other_senders.size()) * end, paths);
  }

  /// LIDs that are kept have entries in both.
  void compare_rows(SwitchIdx was, SwitchIdx is) {
    const std::span<const PortNum> former = before_.tables().row(was);
    const std::span<const PortNum> latter = now_.tables().row(is);
    before_.tables().for_each_other_block(was, now_.tables(), is, [&](std::size_t block) {
      for (std::size_t lid = block * kLftBlockSize; lid < (block + 1) * kLftBlockSize; ++lid) {
        if (former[lid] != latter[lid]) note(lid, was);
      }
      return true;
    });
  }

  static void sort_out(std::vector<ChangedEntry>& list) {
    std::ranges::sort(list);
    const auto same = std::ranges::unique(list);
    list.erase(same.begin(), same.end());
  }

  /// Of the ports that are marked.
  void find_entries(SwitchIdx was, const std::array<char, 256>& marked) {
    const std::span<const PortNum> row = before_.tables().row(was);
    for (std::size_t lid = 0; lid < row.size(); ++lid) {
      if (marked[row[lid].value()]) note(lid, was);
    }
  }

  void find_sl_to_vl_rows() {
    if (before_.maps() == nullptr) return;
    std::map<SlToVl, std::uint32_t> numbers;
    const std::vector<SlToVl>& rows = now_.maps()->rows();
    for (std::uint32_t number = 0; number < rows.size(); ++number)
      numbers.try_emplace(rows[number], number);
    for (const SlToVl& row : before_.maps()->rows()) {
      const auto found = numbers.find(row);
      row_now_.push_back(found == numbers.end() ? ~0u : found->second);
    }
  }

  /// Marks the ports that packets leave by on other VLs than before. Whether there are any.
  bool find_other_sl_to_vl(SwitchIdx was, SwitchIdx is, std::array<char, 256>& marked) const {
    bool any = false;
    const unsigned ports = before_.fabric().num_ports(before_.fabric().switch_node[was]);
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned out = 0; out <= ports; ++out) {
        const PortNum from{static_cast<std::uint8_t>(in)}, to{static_cast<std::uint8_t>(out)};
        if (marked[out] || row_now_[before_.maps()->row_number(was, from, to)] ==
                               now_.maps()->row_number(is, from, to))
          continue;
        marked[out] = 1;
        any = true;
      }
    }
    return any;
  }

  /// Paths from a switch whose SL is another one.
  void compare_sls(SwitchIdx was, SwitchIdx is) {
    const std::span<const std::uint8_t> former = before_.path_sls()->row(was);
    const std::span<const std::uint8_t> latter = now_.path_sls()->row(is);
    const std::size_t shared = std::min(former.size(), latter.size());
    if (std::memcmp(former.data(), latter.data(), shared) != 0) {
      for (std::size_t lid = 0; lid < shared; ++lid) {
        if (former[lid] != latter[lid] && found_.kept[lid])
          found_.sls.push_back({static_cast<std::uint32_t>(lid), was});
      }
    }
    for (std::size_t lid = shared; lid < std::max(former.size(), latter.size()); ++lid) {
      if (lid < found_.kept.size() && found_.kept[lid])
        found_.sls.push_back({static_cast<std::uint32_t>(lid), was});
    }
  }

  void note(std::size_t lid, SwitchIdx sw) {
    if (found_.kept[lid]) found_.entries.push_back({static_cast<std::uint32_t>(lid), sw});
  }

  const RouteSide& before_;
  const RouteSide& now_;
  RouteChanges found_;
  std::vector<char> link_changed_;      // by port of the former snapshot
  std::vector<std::uint32_t> row_now_;  // by former number of an SL-to-VL row: that of the same now
};

}  // namespace

std::optional<RouteChanges> find_route_changes(const RouteSide& before, const RouteSide& now) {
  return ChangeFinder{before, now}.run();
}

bool are_alike(const RouteSide& before, const RouteSide& now) {
  const SlClasses* const was = before.sl_classes();
  const SlClasses* const is = now.sl_classes();
  if (was == nullptr || is == nullptr) return was == is;
  return was->vls() == is->vls() && (before.path_sls() == nullptr) == (now.path_sls() == nullptr) &&
         (before.maps() == nullptr) == (now.maps() == nullptr);
}

}  // namespace smd
