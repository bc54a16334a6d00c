// Whatever fails inside the plugin is a line in OpenSM's log, and OpenSM goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "plugins/opensm/say.h"
#include "smd/base/check.h"
#include "tests/unit/plugin-opensm/osm_log_stub.h"

namespace smd::opensm {
namespace {

using testing::HasSubstr;

class Barrier : public testing::Test {
 protected:
  Barrier() { logged.clear(); }

  template <class Work>
  int guard(Work&& work) {
    return guarded(osm_, "smd-updn", -1, std::forward<Work>(work));
  }

  osm_opensm_t osm_{};
};

TEST_F(Barrier, LetsResultsThrough) {
  EXPECT_EQ(guard([] { return 7; }), 7);
  EXPECT_EQ(logged, "");
}

TEST_F(Barrier, StopsOutOfMemory) {
  EXPECT_EQ(guard([]() -> int { throw std::bad_alloc(); }), -1);
  EXPECT_EQ(logged, "smd-updn: refused: out of memory\n");
  EXPECT_EQ(logged_level, OSM_LOG_ERROR);
}

TEST_F(Barrier, StopsExceptions) {
  EXPECT_EQ(guard([]() -> int { throw std::runtime_error("refused: the dog ate it"); }), -1);
  EXPECT_EQ(logged, "smd-updn: refused: the dog ate it\n");
  logged.clear();
  EXPECT_EQ(guard([]() -> int { throw 1; }), -1);
  EXPECT_THAT(logged, HasSubstr("smd-updn: refused"));
}

TEST_F(Barrier, StopsFailedChecks) {
  const bool holds = false;
  EXPECT_EQ(guard([&] {
              SMD_CHECK(holds, "the world is round");
              return 0;
            }),
            -1);
  EXPECT_THAT(logged, HasSubstr("bug at"));
  EXPECT_THAT(logged, HasSubstr("the world is round (holds)"));
}

TEST_F(Barrier, LinesFitIntoOpensmsBuffer) {
  say(osm_, OSM_LOG_INFO, std::string(5000, 'w'), std::string(100000, 't'));
  EXPECT_LT(logged.size(), 2000u);
  EXPECT_TRUE(logged.ends_with("t\n"));
  EXPECT_EQ(logged_level, OSM_LOG_INFO);
}

}  // namespace
}  // namespace smd::opensm
