// Dumps joined with a fabric, and the verdict on them.
#include "sim-backend/topology/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smd/bin/verify_report.h"
#include "tests/support/one_way_ring.h"

namespace smd::bin {
namespace {

using test::one_way_ring::identity;
using test::one_way_ring::lanes;
using test::one_way_ring::paths;
using test::one_way_ring::ring;
using test::one_way_ring::tables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Parsed<VerifyInput> join(const std::string& net,
                         const std::string& lft,
                         const std::string& sl2vl = {},
                         const std::string& path_sl = {}) {
  const auto spec = sim::parse_fabric(net, "net");
  EXPECT_TRUE(spec) << print_fault(spec.error().front());
  Dumps dumps{.fabric_file = "net", .lft_file = "lft", .sl2vl_file = "sl2vl", .path_sl_file = "sl"};
  const auto dump = parse_lft_dump(lft, "lft");
  EXPECT_TRUE(dump) << print_fault(dump.error().front());
  if (!spec || !dump) return fault("", 0, "");
  dumps.lft = *dump;
  if (!sl2vl.empty()) dumps.sl2vl = parse_sl2vl_dump(sl2vl, "sl2vl").value();
  if (!path_sl.empty()) dumps.path_sl = parse_path_sl_dump(path_sl, "sl").value();
  return join_dumps(*spec, dumps);
}

std::string first_fault(const Parsed<VerifyInput>& input) {
  return input ? "none" : print_fault(input.error().front());
}

TEST(Verify, FindsTheCreditLoopOfARingAndPrintsIt) {
  const auto input = join(ring(true), tables(true));
  ASSERT_TRUE(input) << first_fault(input);
  const VerifyReport report = verify_tables(*input, false, 10);
  EXPECT_FALSE(report.routes.ok());
  EXPECT_EQ(report.routes.unreachable, 0u);
  EXPECT_EQ(report.routes.pairs, 6u * 5u);
  const std::string text = print_verify(report);
  EXPECT_THAT(text, HasSubstr("FOUND: sw-0:1(VL0) -> sw-1:1(VL0) -> sw-2:1(VL0)"));
  EXPECT_THAT(text, HasSubstr("NOT SOUND"));
  const auto json = verify_json(report);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["deadlock"]["acyclic"], false);
  EXPECT_EQ(json["fabric"]["lids"], 6);
  EXPECT_EQ(json["routes"]["pairs"], 30);
}

TEST(Verify, LidsComeFromTheDumpWhereTheFabricHasNone) {
  const auto with = join(ring(true), tables(false));
  const auto without = join(ring(false), tables(true));
  ASSERT_TRUE(with) << first_fault(with);
  ASSERT_TRUE(without) << first_fault(without);
  EXPECT_EQ(with->lids.base, without->lids.base);
  EXPECT_EQ(with->routing.lft, without->routing.lft);
  EXPECT_THAT(first_fault(join(ring(false), tables(false))),
              HasSubstr("lft: neither this nor net says whose LIDs these are"));
}

TEST(Verify, OpensmsHeadingsNameTheLidsOfSwitches) {
  std::string lft = tables(true);
  // Lines of switches do not say who they are; the headings do.
  for (std::size_t at; (at = lft.find(" : (Switch")) != std::string::npos;)
    lft.erase(at, lft.find('\n', at) - at);
  for (int sw = 0; sw < 3; ++sw) {
    const std::size_t at = lft.find("DR path guid 0x1" + std::to_string(sw));
    lft.replace(at, 7, "Lid " + std::to_string(4 + sw));
  }
  const auto input = join(ring(false), lft);
  ASSERT_TRUE(input) << first_fault(input);
  EXPECT_EQ(input->lids.top, Lid{6});
  EXPECT_THAT(input->notes, IsEmpty());
}

TEST(Verify, LanesOfADumpBreakTheLoop) {
  const auto input = join(ring(true), tables(true), lanes(0, 1, 0));
  ASSERT_TRUE(input) << first_fault(input);
  const VerifyReport report = verify_tables(*input, true, 0);
  EXPECT_TRUE(report.routes.ok()) << report.cycle;
  EXPECT_EQ(report.routes.vls, 2u);
  EXPECT_THAT(print_verify(report), HasSubstr("none on 2 VLs, whatever SLs hosts use"));
  const auto blocked = join(ring(true), tables(true), lanes(0, 15, 0));
  ASSERT_TRUE(blocked);
  EXPECT_EQ(verify_tables(*blocked, false, 0).routes.unreachable, 4u);
}

TEST(Verify, SlsOfPathsTellWhichLanesAreUsed) {
  const auto any = join(ring(true), tables(true), identity());
  ASSERT_TRUE(any) << first_fault(any);
  EXPECT_FALSE(verify_tables(*any, false, 0).routes.ok()) << "every path may take every lane";
  const auto input = join(ring(true), tables(true), identity(), paths());
  ASSERT_TRUE(input) << first_fault(input);
  EXPECT_THAT(input->notes, IsEmpty());
  const VerifyReport report = verify_tables(*input, false, 0);
  EXPECT_TRUE(report.routes.ok()) << report.cycle;
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(report.routes.vls, 2u);
  EXPECT_FALSE(verify_tables(*input, true, 0).routes.ok()) << "strict";
}

// OpenSM's dfsssp gives them any of the lanes that paths of hosts begin with.
TEST(Verify, ALoopThatOnlySwitchesCloseIsOneAndIsSaidToBeTheirs) {
  const auto theirs = join(ring(true), tables(true), identity(), paths(1, 0));
  ASSERT_TRUE(theirs) << first_fault(theirs);
  const VerifyReport report = verify_tables(*theirs, false, 0);
  EXPECT_FALSE(report.sound());
  EXPECT_THAT(print_verify(report),
              HasSubstr("note         the credit loop takes packets that "
                        "switches themselves send; those of hosts have none"));
  EXPECT_THAT(verify_tables(*theirs, true, 0).notes, IsEmpty()) << "strict: hosts close it too";
  const auto everybodys = join(ring(true), tables(true), identity(), paths(0, 0));
  ASSERT_TRUE(everybodys) << first_fault(everybodys);
  EXPECT_FALSE(verify_tables(*everybodys, false, 0).sound());
  EXPECT_THAT(verify_tables(*everybodys, false, 0).notes, IsEmpty());
  const auto hosts = join(ring(true), tables(true), identity(), paths(0, 1));
  ASSERT_TRUE(hosts) << first_fault(hosts);
  EXPECT_FALSE(verify_tables(*hosts, false, 0).sound());
  EXPECT_THAT(verify_tables(*hosts, false, 0).notes, IsEmpty());
}

TEST(Verify, SlsOfPathsMustFitTheFabric) {
  const auto mixed = join(ring(true), tables(true), identity(), paths(2));
  ASSERT_TRUE(mixed) << "a host and its switch may differ";
  EXPECT_EQ(verify_tables(*mixed, false, 0).routes.vls, 3u);
  std::string strange = paths();
  strange.replace(strange.find("slid....................1\n"), 25, "slid....................9");
  EXPECT_THAT(first_fault(join(ring(true), tables(true), identity(), strange)),
              HasSubstr("sl:1: a path from LID 9 to 1, which nobody in net has"));
  const std::string some = paths().substr(0, paths().find("PathRecord", 1));
  const auto input = join(ring(true), tables(true), identity(), some);
  ASSERT_TRUE(input);
  ASSERT_THAT(input->notes, SizeIs(1));
  EXPECT_THAT(input->notes[0], HasSubstr("no record of 17 paths"));
}

TEST(Verify, BothFilesMustShowTheSameFabric) {
  EXPECT_THAT(first_fault(join(ring(true), tables(true, 1))),
              HasSubstr("lft: no table of switch 0x0000000000000011 (sw-1)"));
  std::string other = tables(false);
  other.replace(other.find("0x11"), 4, "0x99");
  EXPECT_THAT(first_fault(join(ring(true), other)),
              HasSubstr("lft:9: switch 0x0000000000000099 is not in net"));
  other = tables(true);
  other.replace(other.find("portguid 0x20"), 13, "portguid 0x77");
  EXPECT_FALSE(parse_lft_dump(other, "lft")) << "two lines disagree";
  for (std::size_t at; (at = other.find("portguid 0x20")) != std::string::npos;)
    other.replace(at, 13, "portguid 0x77");
  EXPECT_THAT(first_fault(join(ring(true), other)),
              HasSubstr("lft:2: port 0x0000000000000077 is not in net"));
  for (std::size_t at; (at = other.find("portguid 0x77")) != std::string::npos;)
    other.replace(at, 13, "portguid 0x21");
  EXPECT_THAT(first_fault(join(ring(true), other)),
              HasSubstr("lft:2: LID 1 belongs to host-1:1 here and to host-0:1 in net"));
}

TEST(Verify, EveryCabledOutputNeedsItsRows) {
  EXPECT_THAT(first_fault(join(ring(true), tables(true), lanes(0, 0, 0, 2))),
              HasSubstr("0 rows for output 2 of 0x0000000000000012 (sw-2)"));
  std::string cut = lanes(0, 0, 0);
  cut.erase(cut.find("Switch 0x12"));
  EXPECT_THAT(first_fault(join(ring(true), tables(true), cut)),
              HasSubstr("sl2vl: no table of switch 0x0000000000000012"));
}

TEST(Verify, CountsEntriesThatNobodyNeeds) {
  std::string lft = tables(true);
  lft.insert(lft.find("6 valid"), "0x0009 001\n");
  lft.replace(lft.find("6 valid"), 1, "7");
  const auto input = join(ring(true), lft);
  ASSERT_TRUE(input) << first_fault(input);
  EXPECT_EQ(verify_tables(*input, false, 0).path_sets.unused_entries, 1u);
}

TEST(Verify, SaysWhatItLeftOut) {
  std::string lft = tables(true);
  for (std::size_t at; (at = lft.find("0x0003 ")) != std::string::npos;)
    lft.erase(at, lft.find('\n', at) + 1 - at);
  for (std::size_t at; (at = lft.find("6 valid")) != std::string::npos;) lft.replace(at, 1, "5");
  const auto input = join(ring(false), lft);
  ASSERT_TRUE(input) << first_fault(input);
  ASSERT_THAT(input->notes, SizeIs(1));
  EXPECT_THAT(input->notes[0], HasSubstr("1 end ports without a LID were left out: host-2:1"));
}

TEST(Verify, TheLastLidMayBeMissingFromDumpFts) {
  // Host 2 has LID 64 instead of 3; the tables end with LID 6.
  std::string net = ring(true), lft = tables(false);
  const std::size_t at = net.find("# lid 3 lmc");
  net.replace(at, 7, "# lid 64");
  for (std::size_t i; (i = lft.find("0x0-0x6")) != std::string::npos;)
    lft.replace(i, 7, "0x0-0x40");
  for (std::size_t i; (i = lft.find("0x0003 ")) != std::string::npos;)
    lft.erase(i, lft.find('\n', i) + 1 - i);
  for (std::size_t i; (i = lft.find("6 valid")) != std::string::npos;) lft.replace(i, 1, "5");
  const auto input = join(net, lft);
  ASSERT_TRUE(input) << first_fault(input);
  ASSERT_THAT(input->notes, SizeIs(1));
  EXPECT_THAT(input->notes[0], HasSubstr("LID 64 of host-2:1 was left out"));
  EXPECT_EQ(verify_tables(*input, false, 0).routes.unreachable, 0u);
  // Where one table lists it, the others should have.
  lft.insert(lft.find("5 valid"), "0x0040 001\n");
  lft.replace(lft.find("5 valid"), 1, "6");
  const auto listed = join(net, lft);
  ASSERT_TRUE(listed);
  EXPECT_THAT(listed->notes, IsEmpty());
  EXPECT_GT(verify_tables(*listed, false, 0).routes.unreachable, 0u);
}

TEST(Verify, PatternsAndBisectionOfARing) {
  const auto input = join(ring(true), tables(true));
  ASSERT_TRUE(input);
  const VerifyReport report = verify_tables(*input, false, 100);
  ASSERT_THAT(report.patterns, SizeIs(6));
  EXPECT_EQ(report.patterns[0].pattern, "uniform");
  EXPECT_DOUBLE_EQ(report.patterns[0].load.max, 1.0) << "1/3 of one host one hop, 1/3 two hops";
  EXPECT_EQ(report.patterns[1].pattern, "shift-1");
  EXPECT_DOUBLE_EQ(report.patterns[1].load.max, 1.0);
  EXPECT_DOUBLE_EQ(report.patterns[1].load.throughput, 1.0);
  EXPECT_GT(report.bisection.mean, 0.5);
  EXPECT_LE(report.bisection.mean, 1.0);
}

TEST(Verify, SharesOfFullRateSayWhatPartArrives) {
  // Switch 0 has no entry for host 2.
  std::string lft = tables(true);
  const std::size_t entry = lft.find("0x0003 ");
  lft.erase(entry, lft.find('\n', entry) + 1 - entry);
  lft.replace(lft.find("6 valid"), 1, "5");
  const auto input = join(ring(true), lft);
  ASSERT_TRUE(input) << first_fault(input);
  const VerifyReport report = verify_tables(*input, false, 100);
  const PatternLoad& uniform = report.patterns[0].load;
  EXPECT_EQ(uniform.flows, 9u);
  EXPECT_EQ(uniform.lost, 1u);
  const std::string text = print_verify(report);
  EXPECT_THAT(text, HasSubstr("  uniform      100.0 % of full rate (of the 88.9 % that arrive);"));
  EXPECT_THAT(text, HasSubstr("% in the worst (of the 88.9 % that arrive)\n"));
  EXPECT_THAT(text, HasSubstr("in the worst; what does not arrive gets nothing\n"));
  const auto whole = verify_tables(*join(ring(true), tables(true)), false, 100);
  EXPECT_LT(report.bisection.mean, whole.bisection.mean);
  EXPECT_THAT(print_verify(whole), Not(HasSubstr("arrive")));
}

TEST(Verify, WhatNobodyMeasuredIsNull) {
  const auto input = join(ring(true), tables(true));
  ASSERT_TRUE(input);
  const auto none = verify_json(verify_tables(*input, false, 0)).at("effective_bisection");
  EXPECT_TRUE(none.at("mean").is_null());
  EXPECT_TRUE(none.at("worst").is_null());
  const auto some = verify_json(verify_tables(*input, false, 5)).at("effective_bisection");
  EXPECT_TRUE(some.at("mean").is_number());
}

TEST(Verify, SaysHowMuchIsLeftToWin) {
  // Three switches with a host each could send directly; these all go one way round.
  const auto input = join(ring(true), tables(true));
  ASSERT_TRUE(input);
  const VerifyReport report = verify_tables(*input, false, 1);
  EXPECT_EQ(report.load.max, 3u);
  EXPECT_EQ(report.bound.fullest, 1);
  EXPECT_EQ(report.measures.shifts, 2 / 3.0) << "one way round in one step, in two for the other";
  EXPECT_EQ(report.measures.worst_shift, 0.5);
  const std::string text = print_verify(report);
  EXPECT_THAT(text,
              HasSubstr("  bound        1 paths must cross some channel whatever the routes; "
                        "these have 3.00 times as many on their fullest\n"));
  EXPECT_THAT(text, HasSubstr("  shifts       66.7 % of full rate"));
  const auto json = verify_json(report);
  EXPECT_EQ(json.at("load").at("bound"), 1);
  EXPECT_EQ(json.at("load").at("ratio"), 3);
  EXPECT_EQ(json.at("shifts").at("worst"), 0.5);
}

}  // namespace
}  // namespace smd::bin
