#include "smd/sa/path_query.h"

#include <algorithm>
#include <array>

namespace smd::sa {
namespace {

namespace part = path_component;

constexpr std::uint16_t kPartitionBits = 0x7fff;
constexpr std::uint8_t kNotTheFirst = 2;  // preference of paths beyond the matched pairs of LIDs

struct Request {
  PathRecord wanted;
  std::uint64_t mask = 0;

  [[nodiscard]] bool asks(std::uint64_t components) const {
    return (mask & components) == components;
  }
};

/// Ports that one end of the request means.
struct End {
  Status status = Status::Ok;
  std::vector<PortIdx> ports;
  Lid only = kUnassignedLid;  // the one LID of the port that is asked for
};

End find_end(const SubnetView& view, bool by_gid, const Gid& gid, bool by_lid, Lid lid) {
  if (by_lid) {
    const PortIdx port = view.lids().owner_of(lid);
    if (port == kNone<PortIdx>) return {};
    if (!by_gid) return {.ports = {port}, .only = lid};
    if (view.fabric().port_guid[port] != gid.guid) return {};
  }
  if (!by_gid) return {.ports = view.end_ports()};
  const bool here = gid.prefix == view.parts().subnet_prefix || gid.prefix == kDefaultSubnetPrefix;
  const PortIdx port = here ? view.find_port(gid.guid) : kNone<PortIdx>;
  if (port == kNone<PortIdx>) return {.status = Status::InvalidGid};
  return {.ports = {port}, .only = by_lid ? lid : kUnassignedLid};
}

class PathFinder {
 public:
  PathFinder(const SubnetView& view,
             const Request& request,
             std::size_t most,
             const QueryLimits& limits)
      : view_(view), request_(request), most_(most), limits_(limits) {}

  /// False when the answer has become too large.
  [[nodiscard]] bool add_pair(PortIdx source, Lid only_source, PortIdx target, Lid only_target) {
    const Lid from = only_source != kUnassignedLid ? only_source : view_.lids().base[source];
    const Lid to = only_target != kUnassignedLid ? only_target : view_.lids().base[target];
    const unsigned sources = only_source != kUnassignedLid ? 1 : 1u << view_.lids().lmc[source];
    const unsigned targets = only_target != kUnassignedLid ? 1 : 1u << view_.lids().lmc[target];
    std::size_t found = 0;
    const auto add = [&](unsigned s, unsigned t, std::uint8_t preference) {
      if (found == most_) return;
      if (add_path(source, offset(from, s), target, offset(to, t), preference)) ++found;
    };
    for (unsigned i = 0; i < std::min(sources, targets); ++i) add(i, i, 0);
    for (unsigned s = 0; s < sources && found < most_; ++s) {
      for (unsigned t = 0; t < targets; ++t) {
        if (s != t) add(s, t, kNotTheFirst);
      }
    }
    return records_.size() <= limits_.bytes;
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(records_); }

 private:
  static Lid offset(Lid base, unsigned by) {
    return Lid{static_cast<std::uint16_t>(base.value() + by)};
  }

  bool add_path(PortIdx source, Lid slid, PortIdx target, Lid dlid, std::uint8_t preference) {
    const std::optional<Way> way = find_way(view_, source, dlid);
    if (!way) return false;
    const bool reversible = find_way(view_, target, slid).has_value();
    if (request_.asks(part::kReversible) && request_.wanted.reversible && !reversible) return false;

    const std::uint8_t life = way->links == 0 ? std::uint8_t{0} : view_.parts().packet_life_time;
    const auto mtu =
        bounded(part::kMtuSelector | part::kMtu, request_.wanted.mtu, way->mtu, choose_mtu);
    const auto rate =
        bounded(part::kRateSelector | part::kRate, request_.wanted.rate, way->rate, choose_rate);
    const auto life_time = bounded(part::kLifeTimeSelector | part::kLifeTime,
                                   request_.wanted.life_time,
                                   life,
                                   choose_life_time);
    if (!mtu || !rate || !life_time) return false;

    std::uint8_t sl = way->sl.value_or(0);
    if (request_.asks(part::kSl)) {
      if (way->sl && *way->sl != request_.wanted.sl) return false;
      sl = request_.wanted.sl;
    }
    const bool raw = request_.asks(part::kRawTraffic) && request_.wanted.raw_traffic;
    const PKey p_key = request_.asks(part::kPKey) ? request_.wanted.p_key : kDefaultPKey;
    append({.service_id = request_.wanted.service_id,
            .dgid = {view_.parts().subnet_prefix, view_.fabric().port_guid[target]},
            .sgid = {view_.parts().subnet_prefix, view_.fabric().port_guid[source]},
            .dlid = dlid,
            .slid = slid,
            .raw_traffic = raw,
            .reversible = reversible,
            .p_key = raw ? PKey{} : p_key,
            .sl = sl,
            .mtu = {Selector::Exactly, *mtu},
            .rate = {Selector::Exactly, *rate},
            .life_time = {Selector::Exactly, *life_time},
            .preference = preference});
    return true;
  }

  template <class Choose>
  std::optional<std::uint8_t> bounded(std::uint64_t components,
                                      const Bound& bound,
                                      std::uint8_t path,
                                      Choose choose) const {
    return request_.asks(components) ? choose(bound, path) : std::optional(path);
  }

  void append(const PathRecord& record) {
    std::array<std::byte, kPathRecordSize> bytes{};
    encode_record(record, bytes);
    records_.insert(records_.end(), bytes.begin(), bytes.end());
  }

  const SubnetView& view_;
  const Request& request_;
  std::size_t most_;  // paths for each pair of ports
  const QueryLimits& limits_;
  std::vector<std::byte> records_;
};

std::size_t paths_per_pair(const Request& request, SaMethod method) {
  if (method == SaMethod::Get) return 1;  // one record is what a Get can carry
  if (!request.asks(part::kNumbPath)) return SIZE_MAX;
  return request.wanted.numb_path;
}

}  // namespace

Answer find_path_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  Request request{.wanted = *decode_path_record(query.data), .mask = query.header.component_mask};
  const PathRecord& wanted = request.wanted;
  const End source = find_end(
      view, request.asks(part::kSgid), wanted.sgid, request.asks(part::kSlid), wanted.slid);
  if (source.status != Status::Ok) return {.status = source.status};
  const End target = find_end(
      view, request.asks(part::kDgid), wanted.dgid, request.asks(part::kDlid), wanted.dlid);
  if (target.status != Status::Ok) return {.status = target.status};
  if (source.ports.size() * target.ports.size() > limits.pairs)
    return {.status = Status::NoResources};
  const bool other_partition =
      request.asks(part::kPKey) &&
      (wanted.p_key.value() & kPartitionBits) != (kDefaultPKey.value() & kPartitionBits);

  constexpr std::uint16_t kOffset = kPathRecordSize / 8;
  if (other_partition) return {.offset = kOffset};
  const auto method = static_cast<SaMethod>(query.header.mad.method);
  PathFinder finder(view, request, paths_per_pair(request, method), limits);
  for (const PortIdx from : source.ports) {
    for (const PortIdx to : target.ports) {
      if (!finder.add_pair(from, source.only, to, target.only))
        return {.status = Status::NoResources};
    }
  }
  return {.offset = kOffset, .records = finder.take()};
}

}  // namespace smd::sa
