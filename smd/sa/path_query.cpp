#include "smd/sa/path_query.h"

#include "smd/sa/path_finder.h"

namespace smd::sa {
namespace {

namespace part = path_component;

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
    if (find_gid(view, gid) != port) return {};
  }
  if (!by_gid) return {.ports = view.end_ports()};
  const PortIdx port = find_gid(view, gid);
  if (port == kNone<PortIdx>) return {.status = Status::InvalidGid};
  return {.ports = {port}, .only = by_lid ? lid : kUnassignedLid};
}

std::size_t paths_per_pair(const PathRequest& request, Method method) {
  if (method == Method::Get) return 1;  // one record is what a Get can carry
  return request.asks(part::kNumbPath) ? request.wanted.numb_path : SIZE_MAX;
}

}  // namespace

Answer find_path_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  PathRequest request{.wanted = *decode_path_record(query.data),
                      .mask = query.header.component_mask};
  request.paths_per_pair = paths_per_pair(request, static_cast<Method>(query.header.mad.method));
  const PathRecord& wanted = request.wanted;
  End source = find_end(
      view, request.asks(part::kSgid), wanted.sgid, request.asks(part::kSlid), wanted.slid);
  if (source.status != Status::Ok) return {.status = source.status};
  End target = find_end(
      view, request.asks(part::kDgid), wanted.dgid, request.asks(part::kDlid), wanted.dlid);
  if (target.status != Status::Ok) return {.status = target.status};
  for (End* end : {&source, &target}) {
    std::erase_if(end->ports, [&](PortIdx port) { return !is_visible(view, query, port); });
  }
  if (source.ports.size() * target.ports.size() > limits.paths)
    return {.status = Status::NoResources};
  PathFinder finder(view, request, limits);
  for (const PortIdx from : source.ports) {
    for (const PortIdx to : target.ports) {
      if (!finder.add_pair(from, source.only, to, target.only)) return finder.finish();
    }
  }
  return finder.finish();
}

}  // namespace smd::sa
