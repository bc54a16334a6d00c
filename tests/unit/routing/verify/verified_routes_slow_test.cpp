// As verified_routes_test, over as many fabrics as RC_PARAMS says, twenty changes each.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/routing/support/verified_changes.h"

namespace smd::test {
namespace {

RC_GTEST_PROP(ManyVerifiedRoutes, OfIrregularFabrics, ()) {
  RC_CLASSIFY(check_any_irregular(20, 2), "mostly by changes");
}

RC_GTEST_PROP(ManyVerifiedRoutes, OfTreesToriAndDragonflies, ()) {
  RC_CLASSIFY(check_any_regular(20, 2), "mostly by changes");
}

}  // namespace
}  // namespace smd::test
