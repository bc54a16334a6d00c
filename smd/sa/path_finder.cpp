#include "smd/sa/path_finder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "smd/ib/rates.h"
#include "smd/routing/engine.h"
#include "smd/sa/path_choice.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {
namespace {

constexpr unsigned kRawBit = 31;
constexpr std::size_t kMostLids = 128;  // of a port: LMC 7

/// What a path carries so far: the rate as its place in the order of speed.
struct Narrowest {
  std::uint8_t mtu = 0;
  unsigned rate = 0;
  unsigned links = 0;
};

unsigned rate_of(const Fabric& fabric, PortIdx port) {
  return link_rate_order(active_width(fabric.port_info[port]), link_speed(fabric, port));
}

/// Narrows it to what the link behind `port` carries.
void pass_link(const Fabric& fabric, PortIdx port, Narrowest& path) {
  const std::uint8_t mtu = fabric.port_info[port].neighbor_mtu;
  const unsigned rate = rate_of(fabric, port);
  path.mtu = path.links == 0 ? mtu : std::min(path.mtu, mtu);
  path.rate = path.links == 0 ? rate : std::min(path.rate, rate);
  ++path.links;
}

/// Port 0 of a switch has limits of its own.
void pass_end(const Fabric& fabric, PortIdx port, Narrowest& path) {
  if (fabric.number_of(port) != PortNum{0}) return;
  path.mtu = std::min(path.mtu, fabric.port_info[port].mtu_cap);
  const unsigned rate = rate_of(fabric, port);
  if (rate != 0) path.rate = std::min(path.rate, rate);
}

PortNum egress(const RoutingTables& routing, SwitchIdx sw, Lid destination) {
  const PortNum out =
      destination <= routing.lft.top() ? routing.lft.route(sw, destination) : kNoRoute;
  if (out != kNoRoute || routing.default_port.size() == 0) return out;
  return routing.default_port[sw];
}

namespace part = path_component;

constexpr std::uint64_t kMulticastPrefix = 0xff;  // first byte of a multicast GID
constexpr std::uint8_t kMostHops =
    255;  // routers on the way to another subnet, which we do not know
constexpr std::uint32_t kLeadsNowhere = 1u << 31;
constexpr std::uint8_t kNotTheFirst = 2;  // preference of paths beyond the matched pairs of LIDs

Lid offset(Lid base, unsigned by) { return Lid{static_cast<std::uint16_t>(base.value() + by)}; }

}  // namespace

Result<PathRecord> decode_path_record(std::span<const std::byte> data) {
  ByteReader in(data);
  PathRecord record{.service_id = in.u64()};
  record.dgid = read_gid(in);
  record.sgid = read_gid(in);
  record.dlid = Lid{in.u16()};
  record.slid = Lid{in.u16()};
  const std::uint32_t flow = in.u32();
  record.raw_traffic = (flow >> kRawBit) != 0;
  record.flow_label = flow >> 8 & kFlowLabelMask;
  record.hop_limit = static_cast<std::uint8_t>(flow & 0xff);
  record.tclass = in.u8();
  const std::uint8_t paths = in.u8();
  record.reversible = codec::bit(paths, 7);
  record.numb_path = codec::bits(paths, 0, 7);
  record.p_key = PKey{in.u16()};
  const std::uint16_t qos = in.u16();
  record.qos_class = static_cast<std::uint16_t>(qos >> 4);
  record.sl = static_cast<std::uint8_t>(qos & 15);
  record.mtu = read_bound(in.u8());
  record.rate = read_bound(in.u8());
  record.life_time = read_bound(in.u8());
  record.preference = in.u8();
  in.skip(6);
  if (!in.ok()) return codec::too_short("PathRecord", data.size());
  return record;
}

void encode_record(const PathRecord& record, std::span<std::byte> data) {
  ByteWriter out(data.first(kPathRecordSize));
  out.u64(record.service_id);
  write_gid(out, record.dgid);
  write_gid(out, record.sgid);
  out.u16(record.dlid.value());
  out.u16(record.slid.value());
  out.u32((record.raw_traffic ? 1u << kRawBit : 0u) | (record.flow_label & kFlowLabelMask) << 8 |
          record.hop_limit);
  out.u8(record.tclass);
  out.u8(codec::join(codec::place(record.reversible ? 1 : 0, 7, 1),
                     codec::place(record.numb_path, 0, 7)));
  out.u16(record.p_key.value());
  out.u16(static_cast<std::uint16_t>(record.qos_class << 4 | (record.sl & 15)));
  out.u8(write_bound(record.mtu));
  out.u8(write_bound(record.rate));
  out.u8(write_bound(record.life_time));
  out.u8(record.preference);
  codec::pad(out, kPathRecordSize);
}

std::optional<PathFacts> find_path(const SubnetView& view,
                                   PortIdx source,
                                   Lid destination,
                                   std::vector<PortIdx>* egresses) {
  const Fabric& fabric = view.fabric();
  const RoutingTables& routing = view.routing();
  const PortIdx target = view.lids().owner_of(destination);
  if (target == kNone<PortIdx>) return std::nullopt;
  PathFacts path;
  if (source == target) {
    const PortInfo& info = fabric.port_info[source];
    path.mtu = info.mtu_cap;
    path.rate = rate_code(active_width(info), link_speed(fabric, source));
    return path;
  }
  Narrowest narrowest;
  PortIdx at = source;  // where the packet has arrived
  if (!fabric.is_switch(fabric.node_of[source])) {
    pass_link(fabric, source, narrowest);
    if (egresses != nullptr) egresses->push_back(source);
    at = fabric.peer[source];
  }
  if (at == kNone<PortIdx>) return std::nullopt;
  const NodeIdx first = fabric.node_of[at];
  if (fabric.is_switch(first) && !routing.path_sls.empty())
    path.sl = routing.path_sls.sl(fabric.switch_of[first], destination);
  for (std::size_t passed = 0; at != target; ++passed) {
    const NodeIdx node = fabric.node_of[at];
    const SwitchIdx sw = fabric.switch_of[node];
    if (sw == kNone<SwitchIdx>) return std::nullopt;
    if (node == fabric.node_of[target]) break;
    if (passed == fabric.switch_count()) return std::nullopt;
    const PortNum out = egress(routing, sw, destination);
    if (out.value() == 0 || out.value() > fabric.num_ports(node)) return std::nullopt;
    const PortIdx leaving = fabric.port_of(node, out);
    if (fabric.peer[leaving] == kNone<PortIdx>) return std::nullopt;
    pass_link(fabric, leaving, narrowest);
    if (egresses != nullptr) egresses->push_back(leaving);
    at = fabric.peer[leaving];
  }
  pass_end(fabric, source, narrowest);
  pass_end(fabric, target, narrowest);
  path.mtu = narrowest.mtu;
  path.rate = rate_at(narrowest.rate);
  path.links = narrowest.links;
  return path;
}

std::optional<PKey> find_path_key(const SubnetView& view,
                                  PortIdx source,
                                  PortIdx target,
                                  std::optional<PKey> asked,
                                  const std::vector<NumberRange>& allowed) {
  const auto may_be = [&](PKey key) {
    return (!asked || partition_of(key) == partition_of(*asked)) &&
           (allowed.empty() || is_in(allowed, partition_of(key)));
  };
  if (view.partitions() == nullptr) {
    if (!may_be(kDefaultPKey)) return std::nullopt;
    return asked.value_or(kDefaultPKey);
  }
  const PartitionMap& map = view.partitions()->map;
  std::optional<PKey> best;
  for (const PKey key : map[source].keys) {
    if (!may_be(key)) continue;
    // A port compares P_Keys of its own packets, too: only as a full member it talks to itself.
    const bool joins = source == target ? is_full_member(key)
                                        : std::ranges::any_of(map[target].keys, [&](PKey other) {
                                            return keys_match(key, other);
                                          });
    if (!joins) continue;
    if (asked) return asked;
    if (partition_of(key) == kDefaultPartition) return key;
    if (!best) best = key;
  }
  return best;
}

bool is_elsewhere(const SubnetView& view, const Gid& gid) {
  return gid.prefix != view.parts().subnet_prefix && gid.prefix != kDefaultSubnetPrefix &&
         gid.prefix >> 56 != kMulticastPrefix;
}

PortIdx find_gid(const SubnetView& view, const Gid& gid) {
  const bool here = gid.prefix == view.parts().subnet_prefix || gid.prefix == kDefaultSubnetPrefix;
  return here ? view.find_port(gid.guid) : kNone<PortIdx>;
}

PathFinder::PathFinder(const SubnetView& view,
                       const PathRequest& request,
                       const QueryLimits& limits)
    : view_(view), request_(request), limits_(limits) {}

Answer PathFinder::finish() {
  if (walked_ > limits_.paths) return {.status = Status::NoResources, .cost = walked_ + compared_};
  return {.offset = kPathRecordSize / 8,
          .records = std::move(records_),
          .cost = walked_ + compared_ + 1};
}

/// A GID of this subnet has its prefix, whatever the request says.
Gid PathFinder::gid_of(const End& end) const {
  const std::uint64_t here = view_.parts().subnet_prefix;
  if (!end.gid) return {here, view_.fabric().port_guid[end.port]};
  return is_elsewhere(view_, *end.gid) ? *end.gid : Gid{here, end.gid->guid};
}

bool PathFinder::add_pair(const End& from, const End& to) {
  const PortIdx source = from.port, target = to.port;
  const QosLevel* level = find_level(source, target);
  const auto key = find_path_key(
      view_,
      source,
      target,
      request_.asks(part::kPKey) ? std::optional(request_.wanted.p_key) : std::nullopt,
      level == nullptr ? std::vector<NumberRange>{} : level->p_keys);
  if (!key) return true;
  const Pair pair{source, target, gid_of(from), gid_of(to), *key, level};
  const LidRange sources = find_offsets(source, from.only);
  const LidRange targets = find_offsets(target, to.only);
  const bool has_bits = level != nullptr && !level->path_bits.empty();
  // Of two sets of paths the destination's LID says which one it is.
  const bool by_target =
      has_bits && view_.routing().engine.starts_with(name_of_routes("", {.path_sets = true}));
  const auto is_allowed = [&](unsigned bits) { return !has_bits || is_in(level->path_bits, bits); };
  std::size_t found = 0;
  const auto add = [&](unsigned s, unsigned t, std::uint8_t preference) {
    if (found == request_.paths_per_pair || walked_ > limits_.paths) return;
    if (!is_allowed(s) || (by_target && !is_allowed(t))) return;
    ++walked_;
    const LidMap& lids = view_.lids();
    if (add_path(pair, offset(lids.base[source], s), offset(lids.base[target], t), preference))
      ++found;
  };
  const LidRange both{std::max(sources.begin, targets.begin), std::min(sources.end, targets.end)};
  order_offsets(pair, both, is_allowed);
  for (const unsigned i : order_) add(i, i, 0);
  for (unsigned i = both.begin; order_.empty() && i < both.end; ++i) add(i, i, 0);
  for (unsigned s = sources.begin; s < sources.end && found < request_.paths_per_pair; ++s) {
    for (unsigned t = targets.begin; t < targets.end; ++t) {
      if (s != t) add(s, t, kNotTheFirst);
    }
  }
  return walked_ <= limits_.paths;
}

PathFinder::LidRange PathFinder::find_offsets(PortIdx port, Lid only) const {
  const LidMap& lids = view_.lids();
  if (only == kUnassignedLid) return {0, 1u << lids.lmc[port]};
  const unsigned own = static_cast<unsigned>(only.value() - lids.base[port].value());
  return {own, own + 1};
}

/// Into `order_`; nothing where they come as they ascend. Of paths that cost the same the first
/// comes first, so where the first LIDs' path costs no more than any other can, the others are not
/// walked.
template <class IsAllowed>
void PathFinder::order_offsets(const Pair& pair, LidRange among, IsAllowed is_allowed) {
  order_.clear();
  PathOrder* const order = request_.order;
  // Where there are several they begin with the first.
  const unsigned count = among.begin == 0 ? among.end : 1;
  if (order == nullptr || count < 2 || order->choice() == PathChoice::Offset) return;
  const Fabric& fabric = view_.fabric();
  if (order->choice() == PathChoice::Rotate) {
    if (request_.rotation == Rotation::None) return;
    const Guid source = fabric.port_guid[pair.source], to = fabric.port_guid[pair.target];
    const std::uint32_t dealt = request_.rotation == Rotation::Next ? order->deal(source, to)
                                                                    : order->dealt_last(source, to);
    for (unsigned i = 0; i < count; ++i) {
      if (is_allowed(i)) order_.push_back(i);
    }
    if (!order_.empty()) std::ranges::rotate(order_, order_.begin() + dealt % order_.size());
    return;
  }
  // An order is a favour: a request that has had its share of walks is answered without.
  if (order->contended().empty() || compared_ > limits_.paths) return;
  const Lid to = view_.lids().base[pair.target];
  std::array<std::uint32_t, kMostLids> costs{};
  costs[0] = find_worst(pair, to);
  if (costs[0] <= kNoContention + order->margin()) return;
  for (unsigned i = 1; i < count; ++i) costs[i] = find_worst(pair, offset(to, i)) + order->margin();
  for (unsigned i = 0; i < count; ++i) order_.push_back(i);
  std::ranges::stable_sort(order_, {}, [&](unsigned i) { return costs[i]; });
}

/// The contention of the most contended link to this LID; more than any where nothing leads to it.
std::uint32_t PathFinder::find_worst(const Pair& pair, Lid to) {
  ++compared_;
  egresses_.clear();
  if (!find_path(view_, pair.source, to, &egresses_)) return kLeadsNowhere;
  const Fabric& fabric = view_.fabric();
  const PathOrder& order = *request_.order;
  std::uint32_t worst = kNoContention;
  for (const PortIdx egress : egresses_)
    worst = std::max(
        worst,
        order.contention({fabric.node_guid[fabric.node_of[egress]], fabric.number_of(egress)}));
  return worst;
}

/// What the site gives to packets of the partition.
std::uint8_t PathFinder::partition_sl(PKey key) const {
  if (view_.partitions() == nullptr) return 0;
  const auto& sls = view_.partitions()->sls;
  const auto found = sls.find(partition_of(key));
  return found == sls.end() ? std::uint8_t{0} : found->second;
}

const QosLevel* PathFinder::find_level(PortIdx source, PortIdx target) const {
  const QosRules* rules = view_.parts().qos_rules.get();
  if (rules == nullptr) return nullptr;
  const PathRecord& wanted = request_.wanted;
  QosRequest request{
      .source = source, .target = target, .service = {}, .qos_class = {}, .p_key = {}};
  if (request_.asks(part::kServiceId)) request.service = wanted.service_id;
  if (request_.asks(part::kQosClass)) request.qos_class = wanted.qos_class;
  if (request_.asks(part::kPKey)) request.p_key = wanted.p_key;
  return &rules->find_level(request);
}

/// What the routes need goes before what the site wants, and that before what the request asks for;
/// nothing where they do not agree, or where multicast packets have the SL to themselves.
std::optional<std::uint8_t> PathFinder::choose_sl(const Pair& pair, const PathFacts& path) const {
  std::optional<std::uint8_t> fixed = path.sl;
  if (!fixed && pair.level != nullptr) fixed = pair.level->sl;
  if (!request_.asks(part::kSl)) return fixed.value_or(partition_sl(pair.key));
  if (fixed && *fixed != request_.wanted.sl) return std::nullopt;
  if (view_.parts().multicast_sl == request_.wanted.sl) return std::nullopt;
  return request_.wanted.sl;
}

bool PathFinder::add_path(const Pair& pair, Lid slid, Lid dlid, std::uint8_t preference) {
  const auto& [source, target, sgid, dgid, key, level] = pair;
  const std::optional<PathFacts> path = find_path(view_, source, dlid);
  if (!path) return false;
  const std::optional<PathFacts> back = find_path(view_, target, slid);
  // An answer travels on the SL of its request: between LIDs of different offsets the way back may
  // be of routes that have that SL elsewhere.
  const bool same_offset = slid.value() - view_.lids().base[source].value() ==
                           dlid.value() - view_.lids().base[target].value();
  const bool reversible = back && (same_offset || back->sl == path->sl);
  if (request_.asks(part::kReversible) && request_.wanted.reversible && !reversible) return false;

  std::uint8_t life = path->links == 0 ? std::uint8_t{0} : view_.parts().packet_life_time;
  std::uint8_t most_mtu = path->mtu;
  std::uint8_t most_rate = path->rate;
  if (level != nullptr) {
    if (level->mtu_limit) most_mtu = std::min(most_mtu, *level->mtu_limit);
    if (level->rate_limit && rate_order(*level->rate_limit) < rate_order(most_rate))
      most_rate = *level->rate_limit;
    if (level->packet_life) life = std::min(life, *level->packet_life);
  }
  const std::uint8_t max_rate = view_.parts().max_rate;
  while (most_rate > max_rate) most_rate = rate_below(most_rate);
  const auto mtu =
      bounded(part::kMtuSelector | part::kMtu, request_.wanted.mtu, most_mtu, choose_mtu);
  auto rate =
      bounded(part::kRateSelector | part::kRate, request_.wanted.rate, most_rate, choose_rate);
  while (rate && *rate > max_rate) *rate = rate_below(*rate);  // of "less than" some rate
  const auto life_time = bounded(
      part::kLifeTimeSelector | part::kLifeTime, request_.wanted.life_time, life, choose_life_time);
  const auto sl = choose_sl(pair, *path);
  if (!mtu || !rate || !life_time || !sl) return false;

  const bool raw = request_.asks(part::kRawTraffic) && request_.wanted.raw_traffic;
  const bool leaves = is_elsewhere(view_, dgid);
  const PathRecord record{.service_id = request_.wanted.service_id,
                          .dgid = dgid,
                          .sgid = sgid,
                          .dlid = dlid,
                          .slid = slid,
                          .raw_traffic = raw,
                          .hop_limit = leaves ? kMostHops : std::uint8_t{0},
                          .reversible = reversible,
                          .p_key = raw ? PKey{} : key,
                          .sl = *sl,
                          .mtu = {Selector::Exactly, *mtu},
                          .rate = {Selector::Exactly, *rate},
                          .life_time = {Selector::Exactly, *life_time},
                          .preference = preference};
  std::array<std::byte, kPathRecordSize> bytes{};
  encode_record(record, bytes);
  records_.insert(records_.end(), bytes.begin(), bytes.end());
  return true;
}

}  // namespace smd::sa
