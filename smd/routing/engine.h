// A routing engine: a pure function from snapshot and LIDs to tables. One file per engine in
// engines/, registered by name. Deterministic: ties go by port number and GUID, or by the seed that
// the request carries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/tables.h"

namespace smd {

/// The routes in force and what they were made for. An engine keeps entries of theirs wherever
/// they are still valid and still balanced.
struct PreviousRoutes {
  const Fabric* fabric = nullptr;
  const LidMap* lids = nullptr;
  const RoutingTables* routing = nullptr;
};

/// How far a switch stands from the root of its orientation.
enum class OrientationSearch : std::uint8_t { BreadthFirst, DepthFirst };

/// How a root is found where the request names none: by routing a sample of the traffic from the
/// most central switch at each distance from the hosts, or the most central switch of all.
enum class RootChoice : std::uint8_t { Trial, Central };

/// Where itb-vl changes VLs: on paths cut as updn (breadth-first, depth-first) would forbid them,
/// or where the dependency graph of all shortest paths has its cycles.
enum class VlChangeRule : std::uint8_t { UpDown, DepthFirst, MinimalCycles };

/// Which switch of its group a dragonfly's packet leaves by. OwnFirst: the source itself where it
/// has a link to the destination's group, else the nearest, by turns. Uniform: the same for the
/// whole group, by turns of destinations. LeastLoaded: as OwnFirst, but the one that carries least.
enum class GatewayChoice : std::uint8_t { OwnFirst, Uniform, LeastLoaded };

/// What LIDs of a port beyond the first lead to; hosts choose. Valiant: a way by another place,
/// which spreads whatever traffic there is over all links, and takes up to twice as many.
/// AlmostMinimal: paths a link or two longer than the shortest, each over other links where there
/// are any.
enum class NonMinimal : std::uint8_t { Off, Valiant, AlmostMinimal };

/// For which traffic auto weighs routes: everybody to everybody, everybody to one other, or
/// whichever of the two comes off worse.
enum class TrafficGoal : std::uint8_t { Uniform, Permutations, Both };

/// Whom auto asks. Free: engines whose changes hardly ever block turns or discard packets. Any:
/// all.
enum class AutoChanges : std::uint8_t { Free, Any };

/// What the operator asks of routes: filled from the configuration in one place, carried whole.
struct EngineOptions {
  /// updn: switches to orient from; empty lets the engine choose. Depth-first starts from the one
  /// of them that forbids fewest turns.
  std::vector<Guid> roots;

  OrientationSearch orientation_search = OrientationSearch::BreadthFirst;  // updn
  RootChoice root_choice = RootChoice::Trial;                              // updn, breadth-first
  VlChangeRule lane_cut = VlChangeRule::UpDown;                            // itb-vl
  GatewayChoice gateways = GatewayChoice::OwnFirst;                        // dragonfly
  /// Of ports with several LIDs. Valiant: hamming, dragonfly; AlmostMinimal: dfsssp.
  NonMinimal non_minimal = NonMinimal::Off;

  /// The first LID of every port by updn on VL 0, the others by the engine on VLs of their own.
  bool path_sets = false;

  TrafficGoal auto_for = TrafficGoal::Both;  // auto

  /// auto: how long it may compute and measure, in milliseconds of about 100,000 counted steps.
  std::uint32_t auto_budget_ms = 2000;

  /// auto: data VLs that the routes it takes may use at most.
  unsigned auto_vls = 15;

  AutoChanges auto_changes = AutoChanges::Any;  // auto; with one VL as Free

  /// With routes in force: routes that a loss makes longer are led elsewhere too, not only those
  /// that it breaks. More even while the loss lasts, more entries, less even when it is made good.
  bool shorten_detours = false;

  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

struct RoutingRequest {
  EngineOptions options;
  const Orientation* previous = nullptr;     // kept where the graph allows it
  const PreviousRoutes* in_force = nullptr;  // null: compute from scratch
  const LatticeRecord* lattice = nullptr;    // of former routes, where those in force have none
  std::uint64_t seed = 1;
  unsigned max_vls = 0;    // that routes may use; 0: what the links between switches have in common
  unsigned max_sls = 16;   // likewise, of those that takes_path_sets()
  bool vl_changes = true;  // the caller can write RoutingTables::sl_to_vl

  /// With routes in force: entries that nothing breaks may move as well, as few as it takes for
  /// loads to be as even as those of routes from scratch were. Engines that always do so heed it
  /// not.
  bool rebalance = false;

  /// auto: entries that switches of this fabric hold, of whichever manager. The engine is taken
  /// whose routes are most like them.
  const ForwardingTables* found = nullptr;

  /// Leave to RoutingTables::default_port what it serves, where the engine has such a form: for
  /// switches with random forwarding tables. Such tables do not stand without it.
  bool default_ports = false;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// One paragraph: what fabrics, how many VLs and SLs, deadlock argument, source.
  [[nodiscard]] virtual std::string_view contract() const = 0;

  /// Whether it makes shortest paths on VLs of their own, which EngineOptions::path_sets needs.
  [[nodiscard]] virtual bool takes_path_sets() const { return false; }

  /// Out of the routes in force where this engine made them and enough of them can stay, else from
  /// scratch. Unsupported, with the reason, when the fabric does not suit the engine.
  [[nodiscard]] Result<RoutingTables> compute(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request) const;

 private:
  /// From scratch.
  [[nodiscard]] virtual Result<RoutingTables> compute_new(const Fabric& fabric,
                                                          const LidMap& lids,
                                                          const RoutingRequest& request) const = 0;

  /// Out of routes that this engine made, the request's `in_force`. Nothing: too little can stay.
  [[nodiscard]] virtual std::optional<Result<RoutingTables>> update(
      const Fabric& /*fabric*/,
      const LidMap& /*lids*/,
      const RoutingRequest& /*request*/,
      const PreviousRoutes& /*previous*/) const {
    return std::nullopt;
  }
};

/// A candidate of auto: updn, with directions by depth-first search where the request has
/// breadth-first.
inline constexpr std::string_view kDepthFirstCandidate = "updn depth-first";

/// Data VLs, of the `there` that links have, that auto lets routes of the engine use. Where changes
/// have to be free one of several is left to multicast packets under nue.
[[nodiscard]] unsigned count_auto_vls(std::string_view engine,
                                      unsigned there,
                                      const EngineOptions& options);

/// Whether routes of another engine are worth a tenth more than those in force: what auto asks at
/// rest before it leaves an engine.
[[nodiscard]] bool are_worth_a_change(const Fabric& fabric,
                                      const LidMap& lids,
                                      const RoutingTables& in_force,
                                      const RoutingTables& others,
                                      TrafficGoal goal);

/// Names in alphabetical order.
[[nodiscard]] std::vector<std::string_view> engine_names();

/// What RoutingTables::engine says of routes by an engine.
[[nodiscard]] std::string name_of_routes(std::string_view engine, const EngineOptions& options);

/// Null when there is no such engine.
[[nodiscard]] const Engine* find_engine(std::string_view name);

}  // namespace smd
