#include "smd/sa/path_query.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

/// Ports of routers, which lead to a GID of another subnet; by their LID if one is asked for.
End find_routers(const SubnetView& view, bool by_lid, Lid lid) {
  const Fabric& fabric = view.fabric();
  const auto is_router = [&](PortIdx port) {
    return fabric.node_info[fabric.node_of[port]].node_type ==
           static_cast<std::uint8_t>(NodeType::Router);
  };
  End end;
  std::ranges::copy_if(view.end_ports(), std::back_inserter(end.ports), is_router);
  if (end.ports.empty()) return {.status = Status::InvalidGid};
  if (by_lid) {
    std::erase_if(end.ports, [&](PortIdx port) { return view.lids().owner_of(lid) != port; });
    end.only = lid;
  }
  return end;
}

/// The one that is nearest to the source, of equals the one with the lowest GUID.
void keep_nearest(const SubnetView& view, PortIdx source, std::vector<PortIdx>& routers) {
  const auto order = [&](PortIdx port) {
    const std::optional<Way> way = find_way(view, source, view.lids().base[port]);
    return std::pair(way ? way->links : ~0u, view.fabric().port_guid[port]);
  };
  if (!routers.empty()) routers = {*std::ranges::min_element(routers, {}, order)};
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
  const bool leaves = request.asks(part::kDgid) && is_elsewhere(view, wanted.dgid);
  const bool by_dlid = request.asks(part::kDlid);
  End target = leaves
                   ? find_routers(view, by_dlid, wanted.dlid)
                   : find_end(view, request.asks(part::kDgid), wanted.dgid, by_dlid, wanted.dlid);
  if (target.status != Status::Ok) return {.status = target.status};
  for (End* end : {&source, &target}) {
    std::erase_if(end->ports, [&](PortIdx port) { return !is_visible(view, query, port); });
  }
  const bool one = static_cast<Method>(query.header.mad.method) == Method::Get;
  if (leaves && one && source.ports.size() == 1)
    keep_nearest(view, source.ports.front(), target.ports);
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
