#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "smd/ib/rates.h"
#include "smd/mad/codec.h"
#include "smd/sa/path_finder.h"

namespace smd::sa {
namespace {

namespace part = path_component;

/// Ports that one end of the request means: mostly a single one.
class End {
 public:
  End() = default;

  explicit End(PortIdx port, Lid lid = kUnassignedLid) : only(lid), one_(port) {}

  explicit End(std::vector<PortIdx> ports) : many_(std::move(ports)) {}

  [[nodiscard]] std::span<const PortIdx> ports() const {
    return one_ == kNone<PortIdx> ? std::span<const PortIdx>(many_) : std::span(&one_, 1);
  }

  /// How many are not kept.
  template <class Predicate>
  std::size_t keep_if(Predicate keep) {
    const bool drops = one_ != kNone<PortIdx> && !keep(one_);
    if (drops) one_ = kNone<PortIdx>;
    return (drops ? 1u : 0u) + std::erase_if(many_, [&](PortIdx port) { return !keep(port); });
  }

  Status status = Status::Ok;
  Lid only = kUnassignedLid;  // the one LID of the port that is asked for

 private:
  PortIdx one_ = kNone<PortIdx>;
  std::vector<PortIdx> many_;  // empty where there is one
};

End refused(Status status) {
  End end;
  end.status = status;
  return end;
}

End find_end(const SubnetView& view, bool by_gid, const Gid& gid, bool by_lid, Lid lid) {
  if (by_lid) {
    const PortIdx port = view.lids().owner_of(lid);
    if (port == kNone<PortIdx> || (by_gid && find_gid(view, gid) != port)) return {};
    return End(port, lid);
  }
  if (!by_gid) return End(view.end_ports());
  const PortIdx port = find_gid(view, gid);
  return port == kNone<PortIdx> ? refused(Status::InvalidGid) : End(port);
}

/// Ports of routers, which lead to a GID of another subnet; by their LID if one
/// is asked for. Where the site says which router leads where, the first line of the prefix counts
/// whose router is there.
End find_routers(const SubnetView& view, std::uint64_t prefix, bool by_lid, Lid lid) {
  const Fabric& fabric = view.fabric();
  const auto is_router = [&](PortIdx port) {
    return fabric.node_info[fabric.node_of[port]].node_type ==
           static_cast<std::uint8_t>(NodeType::Router);
  };
  std::vector<PortIdx> routers;
  std::ranges::copy_if(view.end_ports(), std::back_inserter(routers), is_router);
  if (const auto& lines = view.parts().prefix_routes; !lines.empty()) {
    const auto leads_on = [&](const std::pair<std::uint64_t, Guid>& line, PortIdx port) {
      return (line.first == 0 || line.first == prefix) &&
             (line.second == Guid{} || line.second == fabric.port_guid[port]);
    };
    const auto line = std::ranges::find_if(lines, [&](const auto& each) {
      return std::ranges::any_of(routers, [&](PortIdx port) { return leads_on(each, port); });
    });
    std::erase_if(routers,
                  [&](PortIdx port) { return line == lines.end() || !leads_on(*line, port); });
  }
  if (routers.empty()) return refused(Status::InvalidGid);
  End end(std::move(routers));
  if (by_lid) {
    end.keep_if([&](PortIdx port) { return view.lids().owner_of(lid) == port; });
    end.only = lid;
  }
  return end;
}

/// The one that is nearest to the source, of equals the one with the lowest
/// GUID.
PortIdx find_nearest(const SubnetView& view, PortIdx source, std::span<const PortIdx> routers) {
  return *std::ranges::min_element(routers, {}, [&](PortIdx port) {
    const std::optional<PathFacts> path = find_path(view, source, view.lids().base[port]);
    return std::pair(path ? path->links : ~0u, view.fabric().port_guid[port]);
  });
}

std::size_t paths_per_pair(const PathRequest& request, Method method) {
  if (method == Method::Get) return 1;  // one record is what a Get can carry
  return request.asks(part::kNumbPath) ? request.wanted.numb_path : SIZE_MAX;
}

/// Of a node that the client may not see, what it is, and not who. `port`: by which the path comes
/// or goes.
TraceRecord describe(const SubnetView& view, const Query& query, PortIdx port) {
  const NodeIdx node = view.fabric().node_of[port];
  const NodeInfo& info = view.fabric().node_info[node];
  if (!is_visible(view, query, port))
    return {.gid_prefix = view.parts().subnet_prefix, .node_type = info.node_type};
  return {.gid_prefix = view.parts().subnet_prefix,
          .node_type = info.node_type,
          .node = view.fabric().node_guid[node].value(),
          .chassis = info.system_guid.value()};
}

/// `egresses`: the port by which each node but the last is left.
std::vector<TraceRecord> trace(const SubnetView& view,
                               const Query& query,
                               PortIdx source,
                               const std::vector<PortIdx>& egresses) {
  const Fabric& fabric = view.fabric();
  std::vector<TraceRecord> records{describe(view, query, source)};
  for (const PortIdx egress : egresses) {
    const PortIdx entry = fabric.peer[egress];
    if (is_visible(view, query, egress)) {
      records.back().exit_port = fabric.number_of(egress);
      records.back().exit_port_id = fabric.port_guid[egress].value();
    }
    records.push_back(describe(view, query, entry));
    if (is_visible(view, query, entry)) {
      records.back().entry_port = fabric.number_of(entry);
      records.back().entry_port_id = fabric.port_guid[entry].value();
    }
  }
  return records;
}

}  // namespace

std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t path) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return path > bound.value ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      if (bound.value <= 1) return std::nullopt;  // nothing is less than 256 bytes
      return std::min(path, static_cast<std::uint8_t>(bound.value - 1));
    case Selector::Exactly:
      return bound.value != 0 && path >= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t path) {
  const unsigned wanted = rate_order(bound.value);
  if (bound.selector == Selector::Best) return path;
  if (wanted == 0) return std::nullopt;
  switch (bound.selector) {
    case Selector::GreaterThan:
      return rate_order(path) > wanted ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      if (rate_order(path) < wanted) return path;
      if (const std::uint8_t below = rate_below(bound.value); below != 0) return below;
      return std::nullopt;
    case Selector::Exactly:
      return rate_order(path) == wanted ? std::optional(path) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t path) {
  switch (bound.selector) {
    case Selector::GreaterThan:
      return path > bound.value ? std::optional(path) : std::nullopt;
    case Selector::LessThan:
      return path < bound.value ? std::optional(path) : std::nullopt;
    case Selector::Exactly:
      return path <= bound.value ? std::optional(bound.value) : std::nullopt;
    case Selector::Best:
      break;
  }
  return path;
}

namespace {

/// `rotation`: where the request names both GIDs.
Answer find_paths(const SubnetView& view,
                  const Query& query,
                  const QueryLimits& limits,
                  Rotation rotation) {
  PathRequest request{.wanted = *decode_path_record(query.data),
                      .mask = query.header.component_mask};
  if (request.asks(part::kSgid | part::kDgid)) request.rotation = rotation;
  request.paths_per_pair = paths_per_pair(request, static_cast<Method>(query.header.mad.method));
  if (!query.off_loop) request.order = view.parts().path_order;
  const PathRecord& wanted = request.wanted;
  End source = find_end(
      view, request.asks(part::kSgid), wanted.sgid, request.asks(part::kSlid), wanted.slid);
  if (source.status != Status::Ok) return {.status = source.status};
  const bool leaves = request.asks(part::kDgid) && is_elsewhere(view, wanted.dgid);
  const bool by_dlid = request.asks(part::kDlid);
  End target = leaves
                   ? find_routers(view, wanted.dgid.prefix, by_dlid, wanted.dlid)
                   : find_end(view, request.asks(part::kDgid), wanted.dgid, by_dlid, wanted.dlid);
  if (target.status != Status::Ok) return {.status = target.status};
  std::size_t invisible = 0;
  for (End* end : {&source, &target})
    invisible += end->keep_if([&](PortIdx port) { return is_visible(view, query, port); });
  const bool one = static_cast<Method>(query.header.mad.method) == Method::Get;
  if (leaves && one && source.ports().size() == 1 && !target.ports().empty())
    target = End(find_nearest(view, source.ports().front(), target.ports()), target.only);
  if (source.ports().size() * target.ports().size() > limits.paths)
    return {.status = Status::NoResources, .cost = 1 + invisible};
  PathFinder finder(view, request, limits);
  const auto named = [&](std::uint64_t component, const Gid& gid) {
    return request.asks(component) ? std::optional(gid) : std::nullopt;
  };
  const auto sgid = named(part::kSgid, wanted.sgid), dgid = named(part::kDgid, wanted.dgid);
  bool goes_on = true;
  for (const PortIdx from : source.ports()) {
    for (const PortIdx to : target.ports()) {
      goes_on = goes_on && finder.add_pair({from, source.only, sgid}, {to, target.only, dgid});
    }
  }
  Answer answer = finder.finish();
  answer.cost += invisible;
  return answer;
}

}  // namespace

Answer find_path_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const bool one = static_cast<Method>(query.header.mad.method) == Method::Get;
  return find_paths(view, query, limits, one ? Rotation::Next : Rotation::None);
}

Result<TraceRecord> decode_trace_record(std::span<const std::byte> data) {
  ByteReader in(data);
  TraceRecord record;
  record.gid_prefix = in.u64();
  record.generation = in.u16();
  in.skip(1);
  record.node_type = in.u8();
  record.node = in.u64();
  record.chassis = in.u64();
  record.entry_port_id = in.u64();
  record.exit_port_id = in.u64();
  record.entry_port = PortNum{in.u8()};
  record.exit_port = PortNum{in.u8()};
  if (!in.ok()) return codec::too_short("TraceRecord", data.size());
  return record;
}

void encode_record(const TraceRecord& record, std::span<std::byte> data) {
  ByteWriter out(data.first(kTraceRecordSize));
  out.u64(record.gid_prefix);
  out.u16(record.generation);
  out.zeros(1);
  out.u8(record.node_type);
  out.u64(record.node);
  out.u64(record.chassis);
  out.u64(record.entry_port_id);
  out.u64(record.exit_port_id);
  out.u8(record.entry_port.value());
  out.u8(record.exit_port.value());
  codec::pad(out, kTraceRecordSize);
}

Answer find_trace(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const std::uint64_t mask = query.header.component_mask;
  if ((mask & (part::kSgid | part::kSlid)) == 0 || (mask & (part::kDgid | part::kDlid)) == 0)
    return {.status = Status::InsufficientComponents};
  Query for_path = query;
  for_path.header.mad.method = static_cast<std::uint8_t>(Method::Get);  // one path
  Answer paths = find_paths(view, for_path, limits, Rotation::Last);
  Answer answer{.status = paths.status, .offset = kTraceRecordSize / 8, .cost = paths.cost};
  if (paths.status != Status::Ok || paths.records.empty()) return answer;
  const PathRecord path = *decode_path_record(paths.records);
  const PortIdx source = view.lids().owner_of(path.slid);
  std::vector<PortIdx> egresses;
  if (!find_path(view, source, path.dlid, &egresses)) return answer;
  const std::vector<TraceRecord> records = trace(view, query, source, egresses);
  answer.records.resize(records.size() * kTraceRecordSize);
  for (std::size_t i = 0; i < records.size(); ++i)
    encode_record(records[i], std::span(answer.records).subspan(i * kTraceRecordSize));
  return answer;
}

}  // namespace smd::sa
