// Processes that run one command together: whose word counts, and how all end alike.
#include "sim-backend/bin/joined_processes.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/support/memory_processes.h"

namespace smd::sim::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;
using End = std::optional<int>;

/// What each of several makes of it, by number.
template <class Value>
std::vector<Value> ask_each(unsigned count,
                            const std::function<Value(const JoinedProcesses&)>& ask) {
  std::vector<Value> out(count);
  MemoryProcesses processes(count);
  EXPECT_EQ(processes.run([&](Processes& own) { out[own.number()] = ask(JoinedProcesses(&own)); }),
            "");
  return out;
}

/// How each ends that would end with these, who complains, and what is printed.
struct Ends {
  std::vector<End> with;
  std::vector<unsigned> complain;
  std::string printed;
};

Ends end_together(const std::vector<End>& own) {
  Ends out{.with = std::vector<End>(own.size())};
  std::vector<std::uint8_t> complains(own.size(), 0);
  MemoryProcesses processes(static_cast<unsigned>(own.size()));
  testing::internal::CaptureStderr();
  EXPECT_EQ(processes.run([&](Processes& each) {
    const unsigned number = each.number();
    out.with[number] = JoinedProcesses(&each).end_together(
        own[number], [&complains, number] { complains[number] = 1; });
  }),
            "");
  out.printed = testing::internal::GetCapturedStderr();
  for (unsigned i = 0; i < complains.size(); ++i) {
    if (complains[i] != 0) out.complain.push_back(i);
  }
  return out;
}

TEST(JoinedProcessesAlone, TheirWordIsTheOnlyOne) {
  const JoinedProcesses alone(nullptr);
  EXPECT_EQ(alone.count(), 1u);
  EXPECT_TRUE(alone.is_first());
  EXPECT_FALSE(alone.is_joint());
  EXPECT_STREQ(alone.program(), "smsim");
  EXPECT_TRUE(alone.any(true));
  EXPECT_FALSE(alone.any(false));
  EXPECT_EQ(alone.as_first(7), 7);
  EXPECT_EQ(alone.first_of(true), 0u);
  EXPECT_EQ(alone.first_of(false), std::nullopt);
  EXPECT_TRUE(alone.is_alike("whatever"));
  unsigned complaints = 0;
  for (const End end : {End(), End(0), End(1), End(2)}) {
    EXPECT_EQ(alone.end_together(end, [&complaints] { ++complaints; }), end);
  }
  EXPECT_EQ(complaints, 2u) << "of 1 and 2";
}

TEST(JoinedProcesses, OneOfThemIsEnoughForAny) {
  for (unsigned who = 0; who < 4; ++who) {  // 3: nobody
    EXPECT_THAT(ask_each<int>(
                    3, [who](const JoinedProcesses& all) { return all.any(all.number() == who); }),
                Each(who < 3 ? 1 : 0))
        << who;
  }
}

TEST(JoinedProcesses, TheFirstHasTheLastWord) {
  EXPECT_THAT(ask_each<int>(3,
                            [](const JoinedProcesses& all) {
                              return all.as_first(static_cast<int>(40 - all.number()));
                            }),
              Each(40));
  EXPECT_THAT(ask_each<int>(3, [](const JoinedProcesses& all) { return all.is_first(); }),
              ElementsAre(1, 0, 0));
  EXPECT_THAT(ask_each<std::string>(2, [](const JoinedProcesses& all) { return all.program(); }),
              Each("smsim-mpi"));
}

TEST(JoinedProcesses, TheLowestNumberIsFirstOfThoseThatSaySo) {
  // A bit for each process.
  for (unsigned says = 0; says < 8; ++says) {
    std::optional<unsigned> lowest;
    for (unsigned i = 3; i-- > 0;) {
      if ((says >> i & 1u) != 0) lowest = i;
    }
    EXPECT_THAT(
        (ask_each<std::optional<unsigned>>(3,
                                           [says](const JoinedProcesses& all) {
                                             return all.first_of((says >> all.number() & 1u) != 0);
                                           })),
        Each(Eq(lowest)))
        << says;
  }
}

TEST(JoinedProcesses, GoOnWhereNobodyEndsAndEndWhereAllHaveEndedWell) {
  const Ends on = end_together({End(), End(), End()});
  EXPECT_THAT(on.with, Each(Eq(End())));
  EXPECT_THAT(on.complain, ElementsAre());
  const Ends well = end_together({End(0), End(0)});
  EXPECT_THAT(well.with, Each(Eq(End(0))));
  EXPECT_THAT(well.complain, ElementsAre());
  EXPECT_EQ(on.printed + well.printed, "");
}

TEST(JoinedProcesses, AFaultOfOneEndsAllAndIsToldOnce) {
  const Ends second = end_together({End(), End(1), End()});
  EXPECT_THAT(second.with, ElementsAre(End(kExitBadInput), End(1), End(kExitBadInput)));
  EXPECT_THAT(second.complain, ElementsAre(1));
  const Ends two = end_together({End(0), End(2), End(1)});
  EXPECT_THAT(two.with, ElementsAre(End(kExitBadInput), End(2), End(1)));
  EXPECT_THAT(two.complain, ElementsAre(1)) << "the first of those at fault";
  EXPECT_EQ(second.printed + two.printed, "");
}

TEST(JoinedProcesses, WhereSomeEndWellAndOthersGoOnTheyDiffer) {
  for (const std::vector<End>& own :
       {std::vector<End>{End(0), End(), End()}, std::vector<End>{End(), End(0), End(0)}}) {
    const Ends ends = end_together(own);
    EXPECT_THAT(ends.with, Each(Eq(End(kExitBadInput))));
    EXPECT_THAT(ends.complain, ElementsAre());
    EXPECT_EQ(ends.printed,
              "smsim-mpi: processes have different scenarios, fabrics, traces, options or builds "
              "of smsim-mpi: give all of them the same\n");
  }
}

TEST(JoinedProcesses, AreAlikeWhereEveryByteIs) {
  const auto alike = [](const std::vector<std::string>& said) {
    const std::vector<int> all = ask_each<int>(
        static_cast<unsigned>(said.size()),
        [&said](const JoinedProcesses& each) { return each.is_alike(said[each.number()]); });
    EXPECT_THAT(all, Each(all[0])) << "they agree on it";
    return all[0] != 0;
  };
  EXPECT_TRUE(alike({"abc", "abc", "abc"}));
  EXPECT_TRUE(alike({"", ""}));
  EXPECT_FALSE(alike({"abc", "abc", "abd"}));
  EXPECT_FALSE(alike({"abc", "ab"}));
  EXPECT_FALSE(alike({"ab", "abc"}));
  EXPECT_FALSE(alike({"", "abc"}));
  EXPECT_FALSE(alike({"abc", ""}));
}

}  // namespace
}  // namespace smd::sim::test
