#include "sim-backend/multicast/labelled_net.h"

#include <algorithm>
#include <map>

#include "sim-backend/topology/snapshot.h"
#include "smd/routing/topology/grid.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd::sim {

Result<LabelledNet> LabelledNet::build(const FabricSpec& spec) {
  LabelledNet net;
  net.fabric_ = build_snapshot(spec);
  const Fabric& fabric = *net.fabric_;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    net.first_.push_back(static_cast<std::uint32_t>(net.hops_.size()));
    net.entry_.push_back(kNone<PortIdx>);
    std::map<Node, NetHop> found;
    for (const PortIdx out : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx in = fabric.peer[out];
      if (in == kNone<PortIdx>) continue;
      const SwitchIdx to = fabric.switch_at(in);
      if (to == kNone<SwitchIdx>) {
        if (net.entry_.back() == kNone<PortIdx>) net.entry_.back() = out;
      } else if (to != sw) {
        found.try_emplace(to.value(), NetHop{to.value(), out, in});
      }
    }
    for (const auto& [to, hop] : found) net.hops_.push_back(hop);
  }
  net.first_.push_back(static_cast<std::uint32_t>(net.hops_.size()));
  if (net.nodes() < 2) return fail(Errc::Invalid, "a network of two switches or more is needed");
  net.distances_.resize(net.nodes());
  for (Node node = 0; node < net.nodes(); ++node) {
    if (net.distance(node, 0) == 0xffff)
      return fail(Errc::Invalid, net.name(node) + " is not joined to " + net.name(0));
  }
  net.find_mesh();
  net.find_labels();
  return net;
}

/// x is the dimension whose neighbours have the nearer GUIDs, as generators number them.
void LabelledNet::find_mesh() {
  const NeighbourGraph graph(*fabric_);
  const Result<GridShape> grid = recognise_grid(*fabric_, graph);
  if (!grid || grid->torus() || grid->lattice.dimensions() != 2 || !grid->lattice.full()) return;
  const Lattice& lattice = grid->lattice;
  const auto step = [&](std::size_t d) {
    return std::max(graph.rank(lattice.at[lattice.stride(d)]), graph.rank(lattice.at[0])) -
           std::min(graph.rank(lattice.at[lattice.stride(d)]), graph.rank(lattice.at[0]));
  };
  const std::size_t along = step(0) < step(1) ? 0 : 1;
  width_ = static_cast<int>(lattice.sides[along]);
  height_ = static_cast<int>(lattice.sides[1 - along]);
  at_.assign(nodes(), kNoWhere);
  for (Node node = 0; node < nodes(); ++node) {
    x_.push_back(static_cast<int>(lattice.coordinate(SwitchIdx{node}, along)));
    y_.push_back(static_cast<int>(lattice.coordinate(SwitchIdx{node}, 1 - along)));
    at_[static_cast<std::size_t>(y_[node] * width_ + x_[node])] = node;
  }
  // A cable that is missing leaves ways by coordinates without it.
  if (hops_.size() !=
      2 * (static_cast<std::size_t>(width_ - 1) * static_cast<std::size_t>(height_) +
           static_cast<std::size_t>(height_ - 1) * static_cast<std::size_t>(width_))) {
    x_.clear();
    y_.clear();
  }
}

void LabelledNet::find_labels() {
  if (is_mesh()) {
    for (Node node = 0; node < nodes(); ++node) {
      const int along = y_[node] % 2 == 0 ? x_[node] : width_ - 1 - x_[node];
      label_.push_back(static_cast<std::uint32_t>(y_[node] * width_ + along));
    }
    return;
  }
  const NeighbourGraph graph(*fabric_);
  const auto path = find_hamiltonian_path(*fabric_, graph, 1);
  if (!path) {
    why_unlabelled_ = path.error().context;
    return;
  }
  label_.resize(nodes());
  for (std::uint32_t label = 0; label < path->size(); ++label)
    label_[(*path)[label].value()] = label;
}

Node LabelledNet::at(int x, int y) const {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return kNoWhere;
  return at_[static_cast<std::size_t>(y * width_ + x)];
}

unsigned LabelledNet::distance(Node from, Node to) const {
  if (is_mesh()) {
    return static_cast<unsigned>(std::max(x_[from], x_[to]) - std::min(x_[from], x_[to]) +
                                 std::max(y_[from], y_[to]) - std::min(y_[from], y_[to]));
  }
  std::vector<std::uint16_t>& row = distances_[to];
  if (row.empty()) {
    row.assign(nodes(), 0xffff);
    row[to] = 0;
    std::vector<Node> line{to};
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (const NetHop& hop : around(line[i])) {
        if (row[hop.to] != 0xffff) continue;
        row[hop.to] = static_cast<std::uint16_t>(row[line[i]] + 1);
        line.push_back(hop.to);
      }
    }
  }
  return row[from];
}

std::string LabelledNet::name(Node node) const {
  return fabric_->description[fabric_->switch_node[SwitchIdx{node}]];
}

Node LabelledNet::find(const std::string& name) const {
  for (Node node = 0; node < nodes(); ++node) {
    if (this->name(node) == name) return node;
  }
  return kNoWhere;
}

}  // namespace smd::sim
