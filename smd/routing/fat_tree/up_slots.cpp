#include "smd/routing/fat_tree/up_slots.h"

#include <algorithm>
#include <array>

#include "smd/routing/graph/disjoint_sets.h"

namespace smd {

// Parents that share children, directly or not, and those children.
struct ParentFamily {
  std::vector<SwitchIdx> parents;  // by GUID
  std::uint32_t links = 0;         // between two switches, at most
  bool by_port = true;             // parents have the numbers that the ports to them say
};

class UpSlotsBuilder {
 public:
  UpSlotsBuilder(const SwitchGraph& graph,
                 const IndexVector<SwitchIdx, Guid>& guids,
                 const FatTreeShape& tree,
                 UpSlots& out)
      : graph_(graph),
        guids_(guids),
        tree_(tree),
        out_(out),
        models_(tree.levels.size()),
        number_(graph.switches(), kUnreached) {}

  void run() {
    find_models();
    find_families();
    number_parents();
    for (const SwitchIdx sw : guids_.indices()) {
      out_.first_.push_back(static_cast<std::uint32_t>(out_.slots_.size()));
      if (family_of_[sw] == kUnreached) continue;
      const ParentFamily& family = families_[family_of_[sw]];
      if (family.by_port) {
        add_by_port(sw);
      } else {
        add_by_guid(sw, family);
      }
    }
    out_.first_.push_back(static_cast<std::uint32_t>(out_.slots_.size()));
  }

 private:
  static constexpr std::uint16_t kNoSlot = 0xffff;
  static constexpr std::size_t kMostSlots = 1024;

  struct Model {
    std::array<std::uint16_t, 256> slot_of_port;
    std::vector<std::uint16_t> parent_of_slot;
  };

  template <class Each>
  void for_each_up(SwitchIdx sw, Each&& each) const {
    std::uint32_t position = graph_.first_edge(sw);
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (tree_.level[edge.to] == tree_.level[sw] + 1) each(edge, position);
      ++position;
    }
  }

  void find_models() {
    std::vector<SwitchIdx> model(models_.size(), kNone<SwitchIdx>);
    std::vector<std::size_t> most(models_.size(), 0);
    for (const SwitchIdx sw : guids_.indices()) {
      std::size_t links = 0;
      for_each_up(sw, [&](const SwitchEdge&, std::uint32_t) { ++links; });
      const std::uint32_t level = tree_.level[sw];
      if (links < most[level] || links == 0) continue;
      if (links == most[level] && guids_[model[level]] < guids_[sw]) continue;
      model[level] = sw;
      most[level] = links;
    }
    for (std::size_t level = 0; level < models_.size(); ++level) {
      models_[level].slot_of_port.fill(kNoSlot);
      UpSlots::Kind kind;
      if (model[level] != kNone<SwitchIdx>) kind.parents = describe(model[level], models_[level]);
      kind.count = static_cast<std::uint32_t>(models_[level].parent_of_slot.size());
      out_.kinds_.push_back(kind);
    }
  }

  // Parents in the order of the lowest port to each. Returns how many there are.
  std::uint32_t describe(SwitchIdx sw, Model& model) const {
    std::vector<SwitchIdx> parents;

    struct UpLink {
      std::uint16_t round, parent;
      PortNum port;
    };

    std::vector<UpLink> links;
    std::vector<std::uint16_t> rounds;
    for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t) {
      const auto found = std::find(parents.begin(), parents.end(), edge.to);
      const auto parent = static_cast<std::uint16_t>(found - parents.begin());
      if (found == parents.end()) {
        parents.push_back(edge.to);
        rounds.push_back(0);
      }
      links.push_back({rounds[parent]++, parent, edge.port});
    });
    std::sort(links.begin(), links.end(), [](const UpLink& a, const UpLink& b) {
      return std::pair{a.round, a.parent} < std::pair{b.round, b.parent};
    });
    for (const UpLink& link : links) {
      model.slot_of_port[link.port.value()] =
          static_cast<std::uint16_t>(model.parent_of_slot.size());
      model.parent_of_slot.push_back(link.parent);
    }
    return static_cast<std::uint32_t>(parents.size());
  }

  void find_families() {
    // A switch is a child in one family and a parent in another: it has two handles here.
    const auto as_parent = [&](SwitchIdx sw) {
      return SwitchIdx{static_cast<std::uint32_t>(graph_.switches() + sw.value())};
    };
    DisjointSets sets{2 * graph_.switches()};
    for (const SwitchIdx sw : guids_.indices())
      for_each_up(
          sw, [&](const SwitchEdge& edge, std::uint32_t) { sets.join(sw, as_parent(edge.to)); });
    family_of_.assign(graph_.switches(), kUnreached);
    IndexVector<SwitchIdx, std::uint32_t> number(2 * graph_.switches(), kUnreached);
    for (const SwitchIdx sw : guids_.indices()) {
      bool any = false;
      for_each_up(sw, [&](const SwitchEdge&, std::uint32_t) { any = true; });
      if (!any) continue;
      std::uint32_t& family = number[sets.find(sw)];
      if (family == kUnreached) {
        family = static_cast<std::uint32_t>(families_.size());
        families_.emplace_back();
      }
      family_of_[sw] = family;
    }
    for (const SwitchIdx sw : guids_.indices()) {
      const std::uint32_t family = number[sets.find(as_parent(sw))];
      if (family != kUnreached) families_[family].parents.push_back(sw);
    }
    for (ParentFamily& family : families_)
      std::sort(family.parents.begin(), family.parents.end(), [&](SwitchIdx a, SwitchIdx b) {
        return guids_[a] < guids_[b];
      });
  }

  // A parent has the number that most of its cables have at the model.
  void number_parents() {
    IndexVector<SwitchIdx, std::vector<std::uint16_t>> votes(graph_.switches());
    IndexVector<SwitchIdx, std::uint32_t> met(graph_.switches(), 0);
    for (const SwitchIdx sw : guids_.indices()) {
      if (family_of_[sw] == kUnreached) continue;
      ParentFamily& family = families_[family_of_[sw]];
      const Model& model = models_[tree_.level[sw]];
      for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t) {
        family.links = std::max(family.links, ++met[edge.to]);
        const std::uint16_t slot = model.slot_of_port[edge.port.value()];
        if (slot == kNoSlot) return;
        votes[edge.to].resize(out_.parents(tree_.level[sw]), 0);
        ++votes[edge.to][model.parent_of_slot[slot]];
      });
      for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t) { met[edge.to] = 0; });
    }
    std::vector<std::uint32_t> taken;
    for (ParentFamily& family : families_) {
      taken.clear();
      for (const SwitchIdx sw : family.parents) {
        const auto most = std::max_element(votes[sw].begin(), votes[sw].end());
        number_[sw] = static_cast<std::uint32_t>(most - votes[sw].begin());
        family.by_port = family.by_port && !votes[sw].empty();
        taken.push_back(number_[sw]);
      }
      std::sort(taken.begin(), taken.end());
      family.by_port =
          family.by_port && std::adjacent_find(taken.begin(), taken.end()) == taken.end();
    }
  }

  void add_by_port(SwitchIdx sw) {
    const Model& model = models_[tree_.level[sw]];
    const std::size_t first = out_.slots_.size();
    for (const std::uint16_t parent : model.parent_of_slot)
      out_.slots_.push_back({.parent = parent});
    const auto put = [&](std::size_t at, const SwitchEdge& edge, std::uint32_t position) {
      if (at == out_.slots_.size()) out_.slots_.emplace_back();
      out_.slots_[at] = {.edge = position,
                         .parent = static_cast<std::uint16_t>(number_[edge.to]),
                         .port = edge.port};
    };
    // A cable at another port than the model's takes what is left to its parent.
    const auto is_as_model = [&](const SwitchEdge& edge) {
      const std::uint16_t slot = model.slot_of_port[edge.port.value()];
      return slot != kNoSlot && model.parent_of_slot[slot] == number_[edge.to];
    };
    for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t position) {
      if (is_as_model(edge)) put(first + model.slot_of_port[edge.port.value()], edge, position);
    });
    for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t position) {
      if (is_as_model(edge)) return;
      std::size_t at = first;
      while (at < out_.slots_.size() &&
             (out_.slots_[at].edge != kUnreached || out_.slots_[at].parent != number_[edge.to]))
        ++at;
      put(at, edge, position);
    });
  }

  void add_by_guid(SwitchIdx sw, const ParentFamily& family) {
    std::vector<SwitchIdx> parents = family.parents;
    // Too many to keep a place for each: only those it has.
    if (parents.size() * family.links > kMostSlots)
      std::erase_if(parents, [&](SwitchIdx parent) {
        const auto edges = graph_.edges(sw);
        return std::none_of(
            edges.begin(), edges.end(), [&](const SwitchEdge& edge) { return edge.to == parent; });
      });
    const std::size_t first = out_.slots_.size();
    for (std::uint32_t round = 0; round < family.links; ++round) {
      for (std::size_t i = 0; i < parents.size(); ++i)
        out_.slots_.push_back({.parent = static_cast<std::uint16_t>(i)});
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
      std::size_t at = first + i;
      for_each_up(sw, [&](const SwitchEdge& edge, std::uint32_t position) {
        if (edge.to != parents[i]) return;
        out_.slots_[at].edge = position;
        out_.slots_[at].port = edge.port;
        at += parents.size();
      });
    }
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  const FatTreeShape& tree_;
  UpSlots& out_;
  std::vector<Model> models_;  // by level
  std::vector<ParentFamily> families_;
  IndexVector<SwitchIdx, std::uint32_t> family_of_;  // of children
  IndexVector<SwitchIdx, std::uint32_t> number_;     // of parents, as the model counts
};

UpSlots::UpSlots(const SwitchGraph& graph,
                 const IndexVector<SwitchIdx, Guid>& guids,
                 const FatTreeShape& tree) {
  UpSlotsBuilder{graph, guids, tree, *this}.run();
}

}  // namespace smd
