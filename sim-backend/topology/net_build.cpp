// Second half of reading a fabric file: cables, rates and the checks that need the whole file.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "sim-backend/topology/limits.h"
#include "sim-backend/topology/net_lines.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

PortNum port_num(unsigned port) { return PortNum{static_cast<std::uint8_t>(port)}; }

struct End {
  std::uint32_t node = kNoNode;
  unsigned port = 0;

  friend bool operator==(const End&, const End&) = default;
};

/// One line of the file, resolved.
struct Claim {
  const PortRecord* record = nullptr;
  End peer;
  LinkSpeed speed = LinkSpeed::None;  // of the cable, where the file says it
};

LinkWidth best_width(const RateMasks& x, const RateMasks& y) {
  constexpr unsigned kDefault = 2;  // 4x, as in ibsim
  const unsigned common = (x.width == 0 ? kDefault : x.width) & (y.width == 0 ? kDefault : y.width);
  for (const LinkWidth width :
       {LinkWidth::X12, LinkWidth::X8, LinkWidth::X4, LinkWidth::X2, LinkWidth::X1}) {
    if ((common & static_cast<unsigned>(width)) != 0) return width;
  }
  return LinkWidth::None;
}

LinkSpeed best_speed(const RateMasks& x, const RateMasks& y) {
  constexpr unsigned kDefault = 1;  // SDR, as in ibsim
  constexpr std::array kExtended{LinkSpeed::Fdr, LinkSpeed::Edr, LinkSpeed::Hdr, LinkSpeed::Ndr};
  constexpr std::array kPlain{LinkSpeed::Sdr, LinkSpeed::Ddr, LinkSpeed::Qdr};
  const unsigned extended = x.extended & y.extended;
  const unsigned plain = (x.speed == 0 ? kDefault : x.speed) & (y.speed == 0 ? kDefault : y.speed);
  for (std::size_t bit = kExtended.size(); bit-- > 0;) {
    if ((extended >> bit & 1u) != 0) return kExtended[bit];
  }
  for (std::size_t bit = kPlain.size(); bit-- > 0;) {
    if ((plain >> bit & 1u) != 0) return kPlain[bit];
  }
  return LinkSpeed::None;
}

class Builder {
 public:
  Builder(NetRecords records, Faults& notes) : records_(std::move(records)), notes_(notes) {}

  Parsed<FabricSpec> run() {
    take_nodes();
    for (std::uint32_t n = 0; n < records_.nodes.size(); ++n) {
      for (const PortRecord& cable : records_.nodes[n].ports) take_claim(n, cable);
    }
    for (std::uint32_t n = 0; n < claims_.size(); ++n) {
      for (unsigned p = 1; p < claims_[n].size(); ++p) {
        if (claims_[n][p].record != nullptr) settle({n, p});
      }
    }
    find_unknown_speeds();
    check_guids();
    place_sm();
    if (records_.faults.empty()) {
      if (std::string why = check_spec(spec_); !why.empty()) {
        records_.faults.push_back({records_.files[0], 0, std::move(why)});
      }
    }
    if (!records_.faults.empty()) return tl::unexpected<Faults>(std::move(records_.faults));
    return std::move(spec_);
  }

 private:
  void take_nodes();
  void take_claim(std::uint32_t node, const PortRecord& cable);
  void settle(End end);
  void set_rate(End a, const Claim& mine, End b, const Claim* theirs);
  void find_unknown_speeds();
  [[nodiscard]] LinkSpeed nearest_speed(End a, End b) const;
  void check_guids();
  void report_duplicates(std::vector<std::pair<Guid, std::uint32_t>> guids, std::string_view what);
  void place_sm();
  [[nodiscard]] std::string nearest_id(std::string_view id) const;

  [[nodiscard]] std::string name(End end) const {
    return fmt::format("\"{}\"[{}]", spec_.nodes[end.node].id, end.port);
  }

  [[nodiscard]] std::string line_of(FilePlace place) const {
    return place.file == 0 ? fmt::format("line {}", place.line)
                           : fmt::format("{}:{}", records_.files[place.file], place.line);
  }

  NetRecords records_;
  Faults& notes_;
  FabricSpec spec_;
  std::unordered_map<std::string, std::uint32_t> by_id_;
  std::vector<std::vector<Claim>> claims_;  // by node and port
  std::vector<End> unknown_;                // cables of which the file has a rate without a speed
};

void Builder::take_nodes() {
  spec_.title = std::move(records_.title);
  for (NodeRecord& record : records_.nodes) {
    const auto index = static_cast<std::uint32_t>(spec_.nodes.size());
    const auto [known, is_new] = by_id_.emplace(record.node.id, index);
    if (!is_new) {
      records_.add_fault(record.place,
                         fmt::format("node id \"{}\" is already taken by {}",
                                     record.node.id,
                                     line_of(records_.nodes[known->second].place)));
    }
    claims_.emplace_back(record.node.ports.size());
    spec_.nodes.push_back(std::move(record.node));
  }
}

void Builder::take_claim(std::uint32_t node, const PortRecord& cable) {
  const End here{node, cable.port};
  const auto found = by_id_.find(cable.peer_id);
  if (found == by_id_.end()) {
    return records_.add_fault(cable.place, [&] {
      return fmt::format("no node is called \"{}\": {}", cable.peer_id, nearest_id(cable.peer_id));
    });
  }
  const End there{found->second, cable.peer_port};
  const NodeSpec& peer = spec_.nodes[there.node];
  if (there.port > peer.num_ports()) {
    return records_.add_fault(
        cable.place,
        fmt::format("\"{}\" has ports 1 to {}, not {}", peer.id, peer.num_ports(), there.port));
  }
  if (here == there) {
    return records_.add_fault(
        cable.place, fmt::format("{} is cabled to itself: a cable has two ends", name(here)));
  }
  Claim& claim = claims_[node][cable.port];
  if (claim.record != nullptr) {
    return records_.add_fault(
        cable.place,
        fmt::format("{} already has a cable in {}", name(here), line_of(claim.record->place)));
  }
  claim = {&cable, there};
  if (spec_.nodes[node].type != NodeType::Switch) {
    PortSpec& port = spec_.nodes[node].ports[cable.port];
    if (cable.guid != Guid{}) port.guid = cable.guid;
    port.lid = cable.lid;
    port.lmc = cable.lmc;
  }
}

/// A cable that only one end lists is a cable; two ends that disagree are a fault.
void Builder::settle(End end) {
  const Claim& mine = claims_[end.node][end.port];
  const End there = mine.peer;
  const Claim& theirs = claims_[there.node][there.port];
  if (theirs.record != nullptr && theirs.peer != end) {
    return records_.add_fault(mine.record->place,
                              fmt::format("{} leads to {}, but {} says that {} leads to {}: both "
                                          "ends must agree",
                                          name(end),
                                          name(there),
                                          line_of(theirs.record->place),
                                          name(there),
                                          name(theirs.peer)));
  }
  const PortSpec& taken = spec_.nodes[there.node].ports[there.port];
  if (theirs.record != nullptr && taken.peer_node != kNoNode) return;  // done from the other end
  if (taken.peer_node != kNoNode) {
    return records_.add_fault(mine.record->place,
                              fmt::format("{} leads to {}, which already leads to {}",
                                          name(end),
                                          name(there),
                                          name({taken.peer_node, taken.peer_port.value()})));
  }
  connect(spec_, end.node, port_num(end.port), there.node, port_num(there.port));
  set_rate(end, mine, there, theirs.record == nullptr ? nullptr : &theirs);
  if (theirs.record == nullptr && mine.record->peer_guid != Guid{} &&
      spec_.nodes[there.node].type != NodeType::Switch) {
    spec_.nodes[there.node].ports[there.port].guid = mine.record->peer_guid;
  }
}

/// The comment's rate, else the best that ibsim's masks have in common, else the usual one.
void Builder::set_rate(End a, const Claim& mine, End b, const Claim* theirs) {
  const PortRecord& x = *mine.record;
  const PortRecord& y = theirs == nullptr ? x : *theirs->record;
  LinkWidth width = x.width != LinkWidth::None ? x.width : y.width;
  LinkSpeed speed = x.speed != LinkSpeed::None ? x.speed : y.speed;
  if ((y.width != LinkWidth::None && y.width != width) ||
      (y.speed != LinkSpeed::None && y.speed != speed)) {
    return records_.add_fault(x.place,
                              fmt::format("{}{} here but {}{} in {}: one cable has one rate",
                                          print_link_width(width),
                                          print_link_speed(speed),
                                          print_link_width(y.width),
                                          print_link_speed(y.speed),
                                          line_of(y.place)));
  }
  if (width == LinkWidth::None && (x.masks.width | y.masks.width) != 0) {
    width = best_width(x.masks, y.masks);
    if (width == LinkWidth::None) {
      records_.add_fault(x.place,
                         fmt::format("{} and {} have no width (w=) in common; 2 (4x) where none is "
                                     "given",
                                     name(a),
                                     name(b)));
    }
  }
  if (speed == LinkSpeed::None &&
      (x.masks.speed | y.masks.speed | x.masks.extended | y.masks.extended) != 0) {
    speed = best_speed(x.masks, y.masks);
    if (speed == LinkSpeed::None) {
      records_.add_fault(x.place,
                         fmt::format("{} and {} have no speed (s=) in common; 1 (SDR) where none "
                                     "is given",
                                     name(a),
                                     name(b)));
    }
  }
  for (const End end : {a, b}) {
    PortSpec& port = spec_.nodes[end.node].ports[end.port];
    if (width != LinkWidth::None) port.width = width;
    if (speed != LinkSpeed::None) port.speed = speed;
    claims_[end.node][end.port].speed = speed;
  }
  if (speed == LinkSpeed::None && (x.is_speed_unknown || y.is_speed_unknown)) unknown_.push_back(a);
}

/// That of another cable between the two nodes, else the most that both are known to have; None
/// where neither has a cable of a known speed.
LinkSpeed Builder::nearest_speed(End a, End b) const {
  LinkSpeed beside = LinkSpeed::None, of_a = LinkSpeed::None, of_b = LinkSpeed::None;
  for (std::size_t p = 1; p < claims_[a.node].size(); ++p) {
    const LinkSpeed speed = claims_[a.node][p].speed;
    of_a = std::max(of_a, speed);
    if (spec_.nodes[a.node].ports[p].peer_node == b.node) beside = std::max(beside, speed);
  }
  for (const Claim& each : claims_[b.node]) of_b = std::max(of_b, each.speed);
  if (beside != LinkSpeed::None) return beside;
  if (of_a == LinkSpeed::None || of_b == LinkSpeed::None) return std::max(of_a, of_b);
  return std::min(of_a, of_b);
}

/// Programs print ??? for speeds that are newer than they are.
void Builder::find_unknown_speeds() {
  if (unknown_.empty()) return;
  std::size_t like_others = 0;
  for (const End a : unknown_) {
    PortSpec& port = spec_.nodes[a.node].ports[a.port];
    const End b{port.peer_node, port.peer_port.value()};
    const LinkSpeed speed = nearest_speed(a, b);
    if (speed == LinkSpeed::None) continue;
    ++like_others;
    port.speed = spec_.nodes[b.node].ports[b.port].speed = speed;
  }
  const std::size_t all = unknown_.size();
  const std::string usual{print_link_speed(PortSpec{}.speed)};
  const std::string taken =
      like_others == 0 ? fmt::format("taken for {}", usual)
      : like_others == all
          ? "taken for that of other cables of their nodes"
          : fmt::format("{} taken for that of other cables of their nodes, {} for {}",
                        like_others,
                        all - like_others,
                        usual);
  const FilePlace place = claims_[unknown_[0].node][unknown_[0].port].record->place;
  notes_.push_back({records_.files[place.file],
                    place.line,
                    fmt::format("note: ??? in place of the speed of {} {}: the program that wrote "
                                "the file did not know it; {}; write what it is, such as 4xXDR",
                                all,
                                all == 1 ? "cable" : "cables",
                                taken)});
}

void Builder::check_guids() {
  std::vector<std::pair<Guid, std::uint32_t>> nodes;
  std::vector<std::pair<Guid, std::uint32_t>> ports;
  for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
    const NodeSpec& node = spec_.nodes[n];
    nodes.emplace_back(node.guid, n);
    if (node.guid == Guid{}) records_.add_fault(records_.nodes[n].place, "GUID 0 is no GUID");
    if (node.type == NodeType::Switch) ports.emplace_back(node.guid, n);
    for (std::size_t p = 1; p < node.ports.size() && node.type != NodeType::Switch; ++p) {
      ports.emplace_back(node.ports[p].guid, n);
    }
  }
  const std::size_t before = records_.faults.size();
  report_duplicates(std::move(nodes), "GUID");
  if (records_.faults.size() == before) report_duplicates(std::move(ports), "port GUID");
}

void Builder::report_duplicates(std::vector<std::pair<Guid, std::uint32_t>> guids,
                                std::string_view what) {
  std::ranges::sort(guids);
  for (std::size_t i = 1; i < guids.size(); ++i) {
    if (guids[i].first != guids[i - 1].first) continue;
    records_.add_fault(records_.nodes[guids[i].second].place,
                       fmt::format("{} {} is already taken by the node in {}",
                                   what,
                                   guids[i].first,
                                   line_of(records_.nodes[guids[i - 1].second].place)));
  }
}

/// Where the file says that it was discovered from, else the first port of the file.
void Builder::place_sm() {
  for (std::uint32_t n = 0; n < spec_.nodes.size() && records_.sm_node != Guid{}; ++n) {
    if (spec_.nodes[n].guid == records_.sm_node) spec_.sm_node = n;
  }
  if (spec_.nodes.empty()) return;
  const NodeSpec& node = spec_.nodes[spec_.sm_node];
  spec_.sm_port = PortNum{node.type == NodeType::Switch ? std::uint8_t{0} : std::uint8_t{1}};
  if (node.type == NodeType::Switch) return;
  for (unsigned p = node.num_ports(); p >= 1; --p) {
    if (node.ports[p].peer_node != kNoNode) spec_.sm_port = port_num(p);
  }
  for (unsigned p = 1; p <= node.num_ports() && records_.sm_node == node.guid; ++p) {
    if (node.ports[p].guid == records_.sm_port) spec_.sm_port = port_num(p);
  }
}

/// Looks at every node.
std::string Builder::nearest_id(std::string_view id) const {
  std::vector<std::string_view> ids;
  for (const NodeSpec& node : spec_.nodes) ids.push_back(node.id);
  return fmt::format("did you mean \"{}\"?", find_nearest(id, ids));
}

}  // namespace

Parsed<FabricSpec> build_fabric(NetRecords records, Faults& notes) {
  if (records.nodes.empty()) return tl::unexpected<Faults>(std::move(records.faults));
  return Builder(std::move(records), notes).run();
}

}  // namespace smd::sim
