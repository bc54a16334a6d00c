// Which runs are whose.
#include "sim-backend/campaign/task.h"

#include <gmock/gmock.h>

namespace smd::sim {
namespace {

using testing::ElementsAre;

TEST(Task, IsTwoNumbersOfWhichTheFirstIsNoGreater) {
  ASSERT_TRUE(parse_task("3/16"));
  EXPECT_EQ(parse_task("3/16")->number, 3u);
  EXPECT_EQ(parse_task("3/16")->of, 16u);
  for (const char* wrong :
       {"", "3", "/", "0/4", "5/4", "1/0", "a/4", "1/4x", "-1/4", "1 /4", "1/"}) {
    EXPECT_FALSE(parse_task(wrong)) << wrong;
  }
}

TEST(Task, EveryRunIsOfExactlyOneTask) {
  const CampaignPlan plan{
      .loads = {0.1, 0.2, 0.9}, .first_seed = 5, .seeds = 4, .saturation = true};
  const std::vector<RunKey> all = list_runs(plan);
  EXPECT_EQ(all.size(), 16u);
  for (const std::size_t tasks : {1u, 3u, 16u, 40u}) {
    std::vector<RunKey> together;
    for (std::size_t number = 1; number <= tasks; ++number) {
      const std::vector<RunKey> own = own_runs(plan, {.number = number, .of = tasks});
      EXPECT_LE(own.size(), (all.size() + tasks - 1) / tasks);
      together.insert(together.end(), own.begin(), own.end());
    }
    std::ranges::sort(together);
    EXPECT_EQ(together, all) << tasks << " tasks";
  }
}

TEST(Task, NamesOfRuns) {
  const CampaignPlan plan{.loads = {0.1, 0.25}, .first_seed = 7, .seeds = 1, .saturation = true};
  std::vector<std::string> names, files;
  for (const RunKey& key : list_runs(plan)) {
    names.push_back(print_run(plan, key));
    files.push_back(part_name(key));
  }
  EXPECT_THAT(names, ElementsAre("load 0.1 seed 7", "load 0.25 seed 7", "saturation seed 7"));
  EXPECT_THAT(files,
              ElementsAre("load-0-seed-7.json", "load-1-seed-7.json", "saturation-seed-7.json"));
}

}  // namespace
}  // namespace smd::sim
