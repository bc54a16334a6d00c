#include "smd/sa/path_finder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "smd/ib/rates.h"
#include "smd/sa/path_keys.h"
#include "smd/sa/path_query.h"

namespace smd::sa {
namespace {

namespace part = path_component;

constexpr std::uint16_t kPartitionBits = 0x7fff;
constexpr std::uint64_t kMulticastPrefix = 0xff;  // first byte of a multicast GID
constexpr std::uint8_t kMostHops =
    255;  // routers on the way to another subnet, which we do not know
constexpr std::uint8_t kNotTheFirst = 2;  // preference of paths beyond the matched pairs of LIDs

Lid offset(Lid base, unsigned by) { return Lid{static_cast<std::uint16_t>(base.value() + by)}; }

}  // namespace

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
  if (walked_ > limits_.paths) return {.status = Status::NoResources, .cost = walked_};
  return {.offset = kPathRecordSize / 8, .records = std::move(records_), .cost = walked_ + 1};
}

bool PathFinder::add_pair(PortIdx source, Lid only_source, PortIdx target, Lid only_target) {
  const QosLevel* level = find_level(source, target);
  const auto key = find_path_key(
      view_,
      source,
      target,
      request_.asks(part::kPKey) ? std::optional(request_.wanted.p_key) : std::nullopt,
      level == nullptr ? std::vector<NumberRange>{} : level->p_keys);
  if (!key) return true;
  const Pair pair{source, target, *key, level};
  const Lid from = only_source != kUnassignedLid ? only_source : view_.lids().base[source];
  const Lid to = only_target != kUnassignedLid ? only_target : view_.lids().base[target];
  const unsigned sources = only_source != kUnassignedLid ? 1 : 1u << view_.lids().lmc[source];
  const unsigned targets = only_target != kUnassignedLid ? 1 : 1u << view_.lids().lmc[target];
  std::size_t found = 0;
  const auto add = [&](unsigned s, unsigned t, std::uint8_t preference) {
    if (found == request_.paths_per_pair || walked_ > limits_.paths) return;
    if (level != nullptr && !level->path_bits.empty() && !is_in(level->path_bits, s)) return;
    ++walked_;
    if (add_path(pair, offset(from, s), offset(to, t), preference)) ++found;
  };
  for (unsigned i = 0; i < std::min(sources, targets); ++i) add(i, i, 0);
  for (unsigned s = 0; s < sources && found < request_.paths_per_pair; ++s) {
    for (unsigned t = 0; t < targets; ++t) {
      if (s != t) add(s, t, kNotTheFirst);
    }
  }
  return walked_ <= limits_.paths;
}

/// What the site gives to packets of the partition.
std::uint8_t PathFinder::partition_sl(PKey key) const {
  if (view_.partitions() == nullptr) return 0;
  const auto& sls = view_.partitions()->sls;
  const auto found = sls.find(key.value() & kPartitionBits);
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
std::optional<std::uint8_t> PathFinder::choose_sl(const Pair& pair, const Way& way) const {
  std::optional<std::uint8_t> fixed = way.sl;
  if (!fixed && pair.level != nullptr) fixed = pair.level->sl;
  if (!request_.asks(part::kSl)) return fixed.value_or(partition_sl(pair.key));
  if (fixed && *fixed != request_.wanted.sl) return std::nullopt;
  if (view_.parts().multicast_sl == request_.wanted.sl) return std::nullopt;
  return request_.wanted.sl;
}

bool PathFinder::add_path(const Pair& pair, Lid slid, Lid dlid, std::uint8_t preference) {
  const auto [source, target, key, level] = pair;
  const std::optional<Way> way = find_way(view_, source, dlid);
  if (!way) return false;
  const bool reversible = find_way(view_, target, slid).has_value();
  if (request_.asks(part::kReversible) && request_.wanted.reversible && !reversible) return false;

  std::uint8_t life = way->links == 0 ? std::uint8_t{0} : view_.parts().packet_life_time;
  std::uint8_t most_mtu = way->mtu;
  std::uint8_t most_rate = way->rate;
  if (level != nullptr) {
    if (level->mtu_limit) most_mtu = std::min(most_mtu, *level->mtu_limit);
    if (level->rate_limit && rate_order(*level->rate_limit) < rate_order(most_rate))
      most_rate = *level->rate_limit;
    if (level->packet_life) life = std::min(life, *level->packet_life);
  }
  const auto mtu =
      bounded(part::kMtuSelector | part::kMtu, request_.wanted.mtu, most_mtu, choose_mtu);
  const auto rate =
      bounded(part::kRateSelector | part::kRate, request_.wanted.rate, most_rate, choose_rate);
  const auto life_time = bounded(
      part::kLifeTimeSelector | part::kLifeTime, request_.wanted.life_time, life, choose_life_time);
  const auto sl = choose_sl(pair, *way);
  if (!mtu || !rate || !life_time || !sl) return false;

  const bool raw = request_.asks(part::kRawTraffic) && request_.wanted.raw_traffic;
  // A GID that was asked for may be a further one of the port.
  const Guid dguid =
      request_.asks(part::kDgid) ? request_.wanted.dgid.guid : view_.fabric().port_guid[target];
  const bool leaves = request_.asks(part::kDgid) && is_elsewhere(view_, request_.wanted.dgid);
  const std::uint64_t prefix = leaves ? request_.wanted.dgid.prefix : view_.parts().subnet_prefix;
  const Guid sguid =
      request_.asks(part::kSgid) ? request_.wanted.sgid.guid : view_.fabric().port_guid[source];
  const PathRecord record{.service_id = request_.wanted.service_id,
                          .dgid = {prefix, dguid},
                          .sgid = {view_.parts().subnet_prefix, sguid},
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
