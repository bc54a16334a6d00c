// Almost minimal paths for LIDs of a port beyond the first (EngineOptions::non_minimal): layered
// routing as Besta et al. 2020 and Blach et al. 2024 have it, where a "layer" is one offset of
// LIDs.
//
// Where shortest paths are next to unique, as on slim flies, two switches whose hosts send to each
// other have one link's worth of them. The tree of each further offset leaves the shortest paths
// for others that are little longer and share few links with those of the lower offsets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layering.h"

namespace smd {

inline constexpr std::string_view kAlmostMinimalNote =
    "LIDs of a port beyond the first have almost minimal paths, over links that lower ones do not "
    "use";
inline constexpr std::string_view kNoAlmostMinimalNote =
    "LIDs of a port beyond the first have shortest paths: none that are little longer share fewer "
    "links with those of lower ones, or no data VL has room for them";

/// After the number of paths.
inline constexpr std::string_view kSharingNote =
    " paths to such LIDs share links with lower ones, though there are others";

[[nodiscard]] bool wants_almost_minimal(const LidMap& lids, const RoutingRequest& request);

/// By what their notes say.
[[nodiscard]] bool has_almost_minimal(const RoutingTables& tables);

class AlmostMinimalSearch {
 public:
  /// Whether `sw`, by which the paths of `sources` go, may leave by this slot in the tree.
  using Check = std::function<bool(std::uint32_t tree,
                                   std::uint32_t sw,
                                   std::uint8_t slot,
                                   std::span<const std::uint32_t> sources)>;

  /// Which other offsets a path shall share no links with.
  enum class Beside : std::uint8_t { LowerOffsets, AllOffsets };

  /// `slowness`, `loads`: by edge, as of a TreeGrower; loads are kept up to date. All outlive it.
  AlmostMinimalSearch(const SwitchGraph& graph,
                      const TreePlan& plan,
                      InTrees& trees,
                      std::span<const std::uint32_t> slowness,
                      std::vector<std::uint64_t>& loads,
                      std::vector<std::uint32_t> rank);

  /// Lets switches of the tree leave by another link where their paths then share fewer links with
  /// those of other offsets, and returns those that do. `some`: who is looked at. Requires: the
  /// tree is whole and loaded.
  std::vector<std::uint32_t> spread(const TreeFamily& family,
                                    std::uint32_t offset,
                                    Beside beside,
                                    std::span<const std::uint32_t> some,
                                    const Check& fits);

  /// By switch, the links that a path to the root may have.
  [[nodiscard]] std::span<const std::uint32_t> most_links(SwitchIdx root) {
    aim_at(root);
    return most_links_;
  }

  /// Some path of the tree is longer than that.
  [[nodiscard]] bool exceeds(std::uint32_t tree);

  /// Paths of hosts that would have had other links, had a layer taken them.
  [[nodiscard]] std::uint64_t count_refused() const { return refused_; }

  /// Some switch has got a way that is longer than its shortest.
  [[nodiscard]] bool has_lengthened() const { return lengthened_; }

 private:
  struct Candidate {
    std::uint64_t shared;  // links that other offsets use, over all paths that it is for
    std::uint32_t links;
    std::uint64_t load;
    std::uint8_t slot;

    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  void aim_at(SwitchIdx root);
  void measure(std::uint32_t tree);
  void list_behind(std::uint32_t tree, std::uint32_t sw);
  bool find_ways(const TreeFamily& family, std::uint32_t tree, std::uint32_t sw);
  void mark(const TreeFamily& family, std::uint32_t tree, std::uint32_t source);
  void unmark();
  void take(const TreeFamily& family, std::uint32_t tree, std::uint32_t sw, std::uint8_t slot);
  void put_order(std::uint32_t tree);

  [[nodiscard]] std::uint32_t edge_of(std::uint32_t sw, std::uint8_t slot) const {
    return graph_.first_edge(SwitchIdx{sw}) + slot;
  }

  [[nodiscard]] bool is_source(std::uint32_t sw) const { return plan_.weight_of_source[sw] != 0; }

  /// Calls visit(edge) from the switch on to the root.
  template <class Visit>
  void walk(std::uint32_t tree, std::uint32_t sw, Visit&& visit) const;

  const SwitchGraph& graph_;
  const TreePlan& plan_;
  InTrees& trees_;
  std::span<const std::uint32_t> slowness_;
  std::vector<std::uint64_t>& loads_;
  std::vector<std::uint32_t> rank_;  // of switches by GUID
  std::uint32_t diameter_ = 0;
  std::uint64_t refused_ = 0;
  bool lengthened_ = false;

  // Of the root aimed at, by switch.
  SwitchIdx root_ = kNone<SwitchIdx>;
  IndexVector<SwitchIdx, std::uint32_t> least_links_;
  std::vector<std::uint32_t> most_links_;

  // Of the tree in hand, by switch.
  std::vector<std::uint32_t> links_;
  std::vector<std::uint32_t> directly_behind_;

  // Scratch.
  Beside beside_ = Beside::LowerOffsets;
  std::vector<std::uint32_t> used_;  // by edge: offsets whose path from the switch in hand has it
  std::vector<std::uint32_t> marked_;
  std::vector<std::uint32_t> behind_;  // the switch in hand, and whoever comes by it
  std::vector<char> is_behind_;
  std::uint64_t shared_now_ = 0;
  std::vector<Candidate> ways_;
};

/// Gives each further offset the tree of the first, whose paths need fewest layers.
void start_alike(BalancedTrees& trees);

/// The trees of all further offsets, from scratch: whatever `most` layers take beside the shortest
/// paths, which have theirs. Returns the layers that are used, and says in `notes` what there was
/// no room for. Nothing: there are no such paths. Requires: `layering` of Bundle::Path has assigned
/// layers.
[[nodiscard]] std::optional<unsigned> lead_apart(const Fabric& fabric,
                                                 const SwitchGraph& graph,
                                                 BalancedTrees& trees,
                                                 Layering& layering,
                                                 unsigned most,
                                                 std::vector<std::string>& notes);

}  // namespace smd
