// Which lines a cycle leaves in the log: what is wrong for long is said when it begins.
#include "smd/manager/cycle_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "smd/base/log.h"

namespace smd::test {
namespace cycle_log_test {

using testing::ElementsAre;
using testing::IsEmpty;

/// "event text" of the lines that it leaves, without those of every cycle.
std::vector<std::string> lines_of(const CycleReport& cycle, SaidFaults& said) {
  const std::vector<log::Entry> before = log::entries_after(0);
  log_cycle(cycle, said);
  std::vector<std::string> out;
  for (const log::Entry& each : log::entries_after(before.empty() ? 0 : before.back().number)) {
    if (!each.event.starts_with("cycle.")) out.push_back(each.event + " " + each.text);
  }
  return out;
}

SilentPort silent(std::uint64_t node, std::string why) {
  return {.node = Guid{node}, .port = PortNum{1}, .why = std::move(why)};
}

CycleReport failed() {
  CycleReport out;
  out.error = Error{Errc::Io, "the port is gone"};
  return out;
}

TEST(CycleLog, SaysWhoIsSilentOnceAndWhenThatEnds) {
  SaidFaults said;
  CycleReport cycle;
  cycle.silent = {silent(1, "one way")};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre("discovery.silent node=0x0000000000000001 port=1 why=\"one way\""));
  cycle.silent = {silent(1, "another way"), silent(2, "here")};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre("discovery.silent node=0x0000000000000002 port=1 why=\"here\""));
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  EXPECT_THAT(lines_of(failed(), said), IsEmpty()) << "it may not have come to them";
  cycle.silent = {silent(2, "here")};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre("discovery.silence_over node=0x0000000000000001 port=1"));
  cycle.silent = {silent(1, "again")};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre("discovery.silent node=0x0000000000000001 port=1 why=\"again\"",
                          "discovery.silence_over node=0x0000000000000002 port=1"));
}

TEST(CycleLog, SaysWhoWasBehindAPortThatLeadsToSilence) {
  const std::map<PortRef, std::string> led_to = {{{Guid{1}, PortNum{1}}, "rack-3 leaf"}};
  CycleReport cycle;
  cycle.silent = {silent(1, "here"), silent(2, "there")};
  EXPECT_THAT(alarms_of(cycle, {.led_to = &led_to}),
              ElementsAre("0x0000000000000001 port 1 (led to rack-3 leaf): here",
                          "0x0000000000000002 port 1: there"));
}

TEST(CycleLog, SaysWhatACycleThatFailedFoundOnceAsWell) {
  SaidFaults said;
  CycleReport cycle = failed();
  cycle.silent = {silent(1, "here")};
  EXPECT_THAT(lines_of(cycle, said), testing::SizeIs(1));
  cycle.error.reset();
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
}

TEST(CycleLog, WhoSeesNobodySaysNothingOfOthers) {
  SaidFaults said;
  CycleReport cycle;
  cycle.silent = {silent(1, "here")};
  cycle.lid_shortage = "2 LIDs are missing";
  EXPECT_THAT(lines_of(cycle, said), testing::SizeIs(2));
  CycleReport alone;
  alone.cut_off = true;
  EXPECT_THAT(lines_of(alone, said), ElementsAre(testing::StartsWith("discovery.cut_off")));
  EXPECT_THAT(lines_of(alone, said), IsEmpty());
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  EXPECT_THAT(lines_of(alone, said), testing::SizeIs(1)) << "for the second time";
}

TEST(CycleLog, SaysAGuidThatStandsTwiceOnce) {
  SaidFaults said;
  CycleReport cycle;
  cycle.duplicates = {{Guid{7}, {PortNum{1}}, {PortNum{2}}}};
  EXPECT_THAT(lines_of(cycle, said), testing::SizeIs(1));
  cycle.duplicates = {{Guid{7}, {PortNum{2}}, {PortNum{1}}}, {Guid{8}, {PortNum{1}}, {PortNum{3}}}};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre(testing::StartsWith("discovery.duplicate_guid guid=0x0000000000000008")));
  EXPECT_THAT(lines_of(failed(), said), IsEmpty());
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  EXPECT_THAT(lines_of({}, said), IsEmpty());
  EXPECT_THAT(lines_of(cycle, said), testing::SizeIs(2));
}

TEST(CycleLog, SaysAgainWhatIsMoreOrLessThanItWas) {
  SaidFaults said;
  CycleReport cycle;
  cycle.lid_shortage = "2 LIDs are missing";
  cycle.foreign_keys = {.ports = 3, .first = {}, .longest_lease_s = 0, .forever = 3};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre("lid.none_left what=\"2 LIDs are missing\"",
                          testing::StartsWith("m_key.foreign what=\"3 ports")));
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  EXPECT_THAT(lines_of(failed(), said), IsEmpty());
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  cycle.foreign_keys = {.ports = 1, .first = {}, .longest_lease_s = 0, .forever = 1};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre(testing::StartsWith("m_key.foreign what=\"1 port")));
  cycle.lid_shortage.clear();
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
  cycle.lid_shortage = "2 LIDs are missing";
  EXPECT_THAT(lines_of(cycle, said), ElementsAre("lid.none_left what=\"2 LIDs are missing\""));
}

TEST(CycleLog, SaysWhatIsOutOfReachOnce) {
  SaidFaults said;
  CycleReport cycle;
  cycle.silent = {out_of_reach(Guid{1}, PortNum{1})};
  EXPECT_THAT(lines_of(cycle, said),
              ElementsAre(testing::StartsWith("discovery.out_of_reach why=")));
  EXPECT_THAT(lines_of(cycle, said), IsEmpty());
}

}  // namespace cycle_log_test
}  // namespace smd::test
