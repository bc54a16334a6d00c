#include "smd/sa/path_query.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

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

  template <class Predicate>
  void keep_if(Predicate keep) {
    if (one_ != kNone<PortIdx> && !keep(one_)) one_ = kNone<PortIdx>;
    std::erase_if(many_, [&](PortIdx port) { return !keep(port); });
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
/// is asked for.
End find_routers(const SubnetView& view, bool by_lid, Lid lid) {
  const Fabric& fabric = view.fabric();
  const auto is_router = [&](PortIdx port) {
    return fabric.node_info[fabric.node_of[port]].node_type ==
           static_cast<std::uint8_t>(NodeType::Router);
  };
  std::vector<PortIdx> routers;
  std::ranges::copy_if(view.end_ports(), std::back_inserter(routers), is_router);
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
    const std::optional<Way> way = find_way(view, source, view.lids().base[port]);
    return std::pair(way ? way->links : ~0u, view.fabric().port_guid[port]);
  });
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
  for (End* end : {&source, &target})
    end->keep_if([&](PortIdx port) { return is_visible(view, query, port); });
  const bool one = static_cast<Method>(query.header.mad.method) == Method::Get;
  if (leaves && one && source.ports().size() == 1 && !target.ports().empty())
    target = End(find_nearest(view, source.ports().front(), target.ports()), target.only);
  if (source.ports().size() * target.ports().size() > limits.paths)
    return {.status = Status::NoResources};
  PathFinder finder(view, request, limits);
  for (const PortIdx from : source.ports()) {
    for (const PortIdx to : target.ports()) {
      if (!finder.add_pair(from, source.only, to, target.only)) return finder.finish();
    }
  }
  return finder.finish();
}

}  // namespace smd::sa
