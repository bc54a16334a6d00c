#include "smd/sa/path_finder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "smd/sa/path_query.h"

namespace smd::sa {
namespace {

namespace part = path_component;

constexpr std::uint16_t kPartitionBits = 0x7fff;
constexpr std::uint8_t kNotTheFirst = 2;  // preference of paths beyond the matched pairs of LIDs

bool in_other_partition(const PathRequest& request) {
  return request.asks(part::kPKey) &&
         (request.wanted.p_key.value() & kPartitionBits) != (kDefaultPKey.value() & kPartitionBits);
}

Lid offset(Lid base, unsigned by) { return Lid{static_cast<std::uint16_t>(base.value() + by)}; }

}  // namespace

PortIdx find_gid(const SubnetView& view, const Gid& gid) {
  const bool here = gid.prefix == view.parts().subnet_prefix || gid.prefix == kDefaultSubnetPrefix;
  return here ? view.find_port(gid.guid) : kNone<PortIdx>;
}

PathFinder::PathFinder(const SubnetView& view,
                       const PathRequest& request,
                       const QueryLimits& limits)
    : view_(view),
      request_(request),
      limits_(limits),
      other_partition_(in_other_partition(request)) {}

Answer PathFinder::finish() {
  if (walked_ > limits_.paths) return {.status = Status::NoResources, .cost = walked_};
  return {.offset = kPathRecordSize / 8, .records = std::move(records_), .cost = walked_ + 1};
}

bool PathFinder::add_pair(PortIdx source, Lid only_source, PortIdx target, Lid only_target) {
  if (other_partition_) return true;
  const Lid from = only_source != kUnassignedLid ? only_source : view_.lids().base[source];
  const Lid to = only_target != kUnassignedLid ? only_target : view_.lids().base[target];
  const unsigned sources = only_source != kUnassignedLid ? 1 : 1u << view_.lids().lmc[source];
  const unsigned targets = only_target != kUnassignedLid ? 1 : 1u << view_.lids().lmc[target];
  std::size_t found = 0;
  const auto add = [&](unsigned s, unsigned t, std::uint8_t preference) {
    if (found == request_.paths_per_pair || walked_ > limits_.paths) return;
    ++walked_;
    if (add_path(source, offset(from, s), target, offset(to, t), preference)) ++found;
  };
  for (unsigned i = 0; i < std::min(sources, targets); ++i) add(i, i, 0);
  for (unsigned s = 0; s < sources && found < request_.paths_per_pair; ++s) {
    for (unsigned t = 0; t < targets; ++t) {
      if (s != t) add(s, t, kNotTheFirst);
    }
  }
  return walked_ <= limits_.paths;
}

bool PathFinder::add_path(
    PortIdx source, Lid slid, PortIdx target, Lid dlid, std::uint8_t preference) {
  const std::optional<Way> way = find_way(view_, source, dlid);
  if (!way) return false;
  const bool reversible = find_way(view_, target, slid).has_value();
  if (request_.asks(part::kReversible) && request_.wanted.reversible && !reversible) return false;

  const std::uint8_t life = way->links == 0 ? std::uint8_t{0} : view_.parts().packet_life_time;
  const auto mtu =
      bounded(part::kMtuSelector | part::kMtu, request_.wanted.mtu, way->mtu, choose_mtu);
  const auto rate =
      bounded(part::kRateSelector | part::kRate, request_.wanted.rate, way->rate, choose_rate);
  const auto life_time = bounded(
      part::kLifeTimeSelector | part::kLifeTime, request_.wanted.life_time, life, choose_life_time);
  if (!mtu || !rate || !life_time) return false;

  std::uint8_t sl = way->sl.value_or(0);
  if (request_.asks(part::kSl)) {
    if (way->sl && *way->sl != request_.wanted.sl) return false;
    sl = request_.wanted.sl;
  }
  const bool raw = request_.asks(part::kRawTraffic) && request_.wanted.raw_traffic;
  const PKey p_key = request_.asks(part::kPKey) ? request_.wanted.p_key : kDefaultPKey;
  // A GID that was asked for may be a further one of the port.
  const Guid dguid =
      request_.asks(part::kDgid) ? request_.wanted.dgid.guid : view_.fabric().port_guid[target];
  const Guid sguid =
      request_.asks(part::kSgid) ? request_.wanted.sgid.guid : view_.fabric().port_guid[source];
  const PathRecord record{.service_id = request_.wanted.service_id,
                          .dgid = {view_.parts().subnet_prefix, dguid},
                          .sgid = {view_.parts().subnet_prefix, sguid},
                          .dlid = dlid,
                          .slid = slid,
                          .raw_traffic = raw,
                          .reversible = reversible,
                          .p_key = raw ? PKey{} : p_key,
                          .sl = sl,
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
