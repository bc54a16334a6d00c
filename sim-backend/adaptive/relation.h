// A rule as a relation: every way that it may ever choose, for whoever proves it.
#pragma once

#include "sim-backend/adaptive/rule.h"
#include "smd/routing/verify/relation.h"

namespace smd::sim {

class RuleRelation final : public RoutingRelation {
 public:
  /// Requires: `fabric` is the snapshot of the shape's drawing; both outlive the relation. `ways`
  /// may have other VLs than the rule's own.
  RuleRelation(const Fabric& fabric, const CandidatePaths& paths, const RuleSpec& rule);

  void starts(const std::function<void(const RelationPlace&)>& begin) const override;
  bool moves(const RelationPlace& place, std::vector<RelationStep>& out) const override;

 private:
  void add_moves(Router at,
                 Router from,
                 Router to,
                 const PathState& state,
                 std::vector<RelationStep>& out) const;

  const Fabric& fabric_;
  CandidatePaths paths_;
  RuleSpec rule_;
};

}  // namespace smd::sim
