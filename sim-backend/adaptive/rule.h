// Rules that choose a packet's way from what stands in buffers: minimal, by a random place, or
// whichever of the two seems shorter (UGAL; Singh, 2005), and how one of several cables is taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim-backend/adaptive/candidate_paths.h"
#include "sim-backend/packet/route_hook.h"

namespace smd::sim {

enum class RuleKind : std::uint8_t {
  Tables,           // none: the switches' tables
  Minimal,          // dimensions in order; local, global, local
  MinimalAdaptive,  // of a butterfly: any dimension that differs (Kim and others, 2007)
  Valiant,          // by a random place
  UgalLocal,        // minimal unless its first queue, by hops, is longer by more than the threshold
  UgalGlobal,       // the same of all queues of both ways
  Dal,              // of a butterfly: any dimension, astray once in each (Ahn and others, 2009)
  Progressive,      // UGAL, and once more at the second router of a minimal way (PAR)
  Piggyback         // UGAL, and whether the group's global cable of the minimal way is congested
};

/// How one of several cables to one router, or of several gateways, is taken.
enum class Spread : std::uint8_t {
  ShortestQueue,  // JSQ; drawn among equals
  Random,
  Hash,     // by source and destination: a flow stays on one
  OwnFirst  // of gateways: the router's own, else drawn
};

struct RuleSpec {
  RuleKind rule = RuleKind::Tables;
  int threshold = 0;  // T of UGAL, in blocks of 64 bytes; more of it is more minimal ways
  IntermediateKind via = IntermediateKind::ByGroup;
  IntermediateSet among = IntermediateSet::All;
  Spread trunk = Spread::ShortestQueue;
  Spread gateway = Spread::OwnFirst;
};

/// "min", "min-adaptive", "valiant", "ugal-l", "ugal-g", "par", "piggyback", "dal", "tables"; false
/// for other names.
[[nodiscard]] bool find_rule(std::string_view name, RuleKind& out);

[[nodiscard]] std::string_view rule_name(RuleKind rule);

/// Why a rule is not for a shape; nothing where it is.
[[nodiscard]] std::string check_rule(const Shape& shape, const RuleSpec& spec);

/// A rule on a shape. Requires: the rule is not Tables, and check_rule() says nothing.
class AdaptiveRoutes final : public RouteChoice {
 public:
  AdaptiveRoutes(Shape shape, const RuleSpec& spec);
  AdaptiveRoutes(const AdaptiveRoutes&) = delete;

  [[nodiscard]] std::optional<RouteAnswer> choose(const RouteView& view,
                                                  const PortFill& fill) const override;

  [[nodiscard]] bool looks_far() const override;

  /// VLs that its relation takes: check_relation says so of it.
  [[nodiscard]] unsigned vls() const;

  [[nodiscard]] const RuleSpec& spec() const { return spec_; }

  [[nodiscard]] const Shape& shape() const { return shape_; }

  [[nodiscard]] const CandidatePaths& paths() const { return paths_; }

 private:
  [[nodiscard]] PathState begin(const RouteView& view,
                                Router at,
                                Router to,
                                const PortFill& fill) const;
  [[nodiscard]] PathState weigh(const RouteView& view,
                                Router at,
                                Router from,
                                Router to,
                                const PathState& minimal,
                                const PortFill& fill) const;
  [[nodiscard]] bool is_congested(Router at, Router to, const PortFill& fill) const;
  [[nodiscard]] unsigned queues_ahead(
      const RouteView& view, Router at, Router to, PathState state, const PortFill& fill) const;
  [[nodiscard]] const Candidate& pick(const CandidateSet& from,
                                      Router at,
                                      const RouteView& view,
                                      const PortFill& fill) const;

  [[nodiscard]] const Candidate& pick_dimension(const CandidateSet& from,
                                                Router at,
                                                Router to,
                                                const RouteView& view,
                                                const PortFill& fill) const;

  Shape shape_;
  RuleSpec spec_;
  CandidatePaths paths_;
};

}  // namespace smd::sim
