// The network that multicast algorithms see: switches with their neighbours, labels along a path
// that meets each once, and places in a mesh where it is one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/result.h"
#include "smd/fabric/fabric.h"

namespace smd::sim {

using Node = std::uint32_t;  // a switch, by its SwitchIdx
inline constexpr Node kNoWhere = 0xffffffff;

/// Of parallel cables the one with the lowest port.
struct NetHop {
  Node to = kNoWhere;
  PortIdx out, in;
};

class LabelledNet {
 public:
  /// Labels of a mesh of two dimensions rise row by row, every other row backwards; those of other
  /// networks are what engine `hamiltonian` finds. Networks without such a path have none.
  [[nodiscard]] static Result<LabelledNet> build(const FabricSpec& spec);

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }

  [[nodiscard]] Node nodes() const { return static_cast<Node>(first_.size() - 1); }

  [[nodiscard]] std::span<const NetHop> around(Node node) const {
    return {hops_.data() + first_[node], hops_.data() + first_[node + 1]};
  }

  [[nodiscard]] bool is_mesh() const { return !x_.empty(); }

  [[nodiscard]] bool has_labels() const { return !label_.empty(); }

  /// Why there are none.
  [[nodiscard]] const std::string& why_unlabelled() const { return why_unlabelled_; }

  // Requires: a mesh. Rows run along x.
  [[nodiscard]] int x(Node node) const { return x_[node]; }

  [[nodiscard]] int y(Node node) const { return y_[node]; }

  /// kNoWhere beyond the edge.
  [[nodiscard]] Node at(int x, int y) const;

  /// Requires: labels.
  [[nodiscard]] std::uint32_t label(Node node) const { return label_[node]; }

  /// Links on a shortest way.
  [[nodiscard]] unsigned distance(Node from, Node to) const;

  /// A port by which packets enter there from an adapter; kNone where there is none.
  [[nodiscard]] PortIdx entry(Node node) const { return entry_[node]; }

  [[nodiscard]] std::string name(Node node) const;

  /// kNoWhere: there is no such switch.
  [[nodiscard]] Node find(const std::string& name) const;

 private:
  void find_mesh();
  void find_labels();

  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::uint32_t> first_;
  std::vector<NetHop> hops_;
  std::vector<PortIdx> entry_;
  std::vector<int> x_, y_;
  int width_ = 0, height_ = 0;
  std::vector<Node> at_;  // by y * width + x
  std::vector<std::uint32_t> label_;
  std::string why_unlabelled_;
  mutable std::vector<std::vector<std::uint16_t>> distances_;  // by destination, when asked for
};

}  // namespace smd::sim
