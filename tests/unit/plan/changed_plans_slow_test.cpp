// Many random changes: plans that are made and judged by what differs are those that are made and
// judged in full, and so are verdicts on their mutants.
#include "tests/unit/plan/plan_mutants.h"

namespace smd::test {
namespace {

TEST(TransitionPropertySlow, PlansByWhatDiffersAreThoseInFull) {
  compare_made_by_change(10'001, 12'000, 20);
}

}  // namespace
}  // namespace smd::test
