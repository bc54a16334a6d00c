// In which order the paths between two ports with several LIDs come: in turn, and by contention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/sa/path_choice.h"
#include "smd/sa/path_finder.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace path_order_test {

using ::testing::ElementsAre;
namespace part = path_component;

// Two ways that are alike: even offsets of H2 are led over S3, odd ones over S4.
//
//   H1 - S1 < S3, S4 > S2 - H2
constexpr std::string_view kTwoWays = "H1:1-S1:1 S1:2-S3:1 S1:3-S4:1 S3:2-S2:1 S4:2-S2:2 H2:1-S2:3";
constexpr std::uint64_t kGids = part::kSgid | part::kDgid;

class PathOrderOf : public testing::Test {
 protected:
  explicit PathOrderOf(std::uint8_t lmc = 1) : parts_(parts_of(kTwoWays, lmc)) {
    const Lid to = parts_.lids->base[test::end_port(*parts_.fabric, "H2")];
    for (std::uint16_t i = 0; i < 1u << lmc; ++i) {
      const Lid lid{static_cast<std::uint16_t>(to.value() + i)};
      lead("S1", lid, i % 2 == 0 ? 2 : 3);
      lead("S3", lid, 2);
      lead("S4", lid, 2);
      lead("S2", lid, 3);
    }
    parts_.path_order = &order_;
  }

  void lead(std::string_view sw, Lid lid, std::uint8_t port) {
    auto tables = std::make_shared<RoutingTables>(*parts_.routing);
    tables->lft.set_route(test::switch_named(*parts_.fabric, sw), lid, PortNum{port});
    parts_.routing = tables;
  }

  [[nodiscard]] SubnetView view() const { return SubnetView(parts_); }

  [[nodiscard]] Lid lid(std::string_view host, unsigned offset = 0) const {
    return Lid{static_cast<std::uint16_t>(lid_of(view(), host).value() + offset)};
  }

  [[nodiscard]] PathRecord wanted() const {
    return {.dgid = {kDefaultSubnetPrefix, guid_of(view(), "H2")},
            .sgid = {kDefaultSubnetPrefix, guid_of(view(), "H1")},
            .dlid = lid("H2"),
            .slid = lid("H1")};
  }

  /// Offsets of the matched pairs of LIDs, in order.
  [[nodiscard]] std::vector<unsigned> ask_for(Method method, std::uint64_t mask = kGids) const {
    const Answer answer = answer_query(
        view(), ask(method, RecordId::PathRecord, mask, wanted(), kPathRecordSize).query());
    std::vector<unsigned> out;
    for (std::size_t i = 0; i < answer.count(); ++i) {
      const PathRecord path =
          decode_path_record(std::span(answer.records).subspan(i * kPathRecordSize)).value();
      const unsigned offset = path.dlid.value() - lid("H2").value();
      if (path.slid == lid("H1", offset)) out.push_back(offset);
    }
    return out;
  }

  [[nodiscard]] std::vector<unsigned> get() const { return ask_for(Method::Get); }

  /// The switch between S1 and S2.
  [[nodiscard]] std::string trace(std::uint64_t mask = kGids) const {
    const Answer answer = answer_query(
        view(),
        ask(Method::GetTraceTable, RecordId::TraceRecord, mask, wanted(), kPathRecordSize).query());
    EXPECT_EQ(answer.count(), 5u) << "H1, three switches and H2";
    if (answer.count() != 5) return "";
    const TraceRecord third =
        decode_trace_record(std::span(answer.records).subspan(2 * kTraceRecordSize)).value();
    const Fabric& fabric = *parts_.fabric;
    return fabric.description[*fabric.find_node(Guid{third.node})];
  }

  /// Of the link from `sw` to S2.
  void contend(std::string_view sw, std::uint32_t value) {
    const Fabric& fabric = *parts_.fabric;
    order_.set_contention({fabric.node_guid[test::node(fabric, sw)], PortNum{2}}, value);
  }

  PathOrder order_;
  ViewParts parts_;
};

class PathsInTurn : public PathOrderOf {
 protected:
  PathsInTurn() { order_.set_choice(PathChoice::Rotate, 0); }
};

TEST_F(PathsInTurn, AreCountedByGetsOfBothGidsAlone) {
  EXPECT_THAT(get(), ElementsAre(0));
  EXPECT_THAT(ask_for(Method::GetTable), ElementsAre(0, 1)) << "as LIDs ascend";
  EXPECT_THAT(ask_for(Method::GetTable, part::kSgid), ElementsAre(0, 1));
  EXPECT_THAT(ask_for(Method::Get, part::kSlid | part::kDlid), ElementsAre(0));
  EXPECT_THAT(ask_for(Method::Get, part::kSgid | part::kDlid), ElementsAre(0));
  EXPECT_THAT(ask_for(Method::Get, kGids | part::kDlid), ElementsAre(0)) << "it has no choice";
  EXPECT_THAT(get(), ElementsAre(1));
  EXPECT_THAT(ask_for(Method::GetTable), ElementsAre(0, 1));
  EXPECT_THAT(get(), ElementsAre(0));
}

TEST_F(PathsInTurn, AreTracedAsTheyWereDealtLast) {
  EXPECT_EQ(trace(), "S3") << "none was";
  EXPECT_THAT(get(), ElementsAre(0)) << "a trace deals none";
  EXPECT_EQ(trace(), "S3");
  EXPECT_THAT(get(), ElementsAre(1));
  EXPECT_EQ(trace(), "S4");
  EXPECT_EQ(trace(), "S4") << "however often";
  EXPECT_EQ(trace(part::kSlid | part::kDlid), "S3") << "of the LIDs that are named";
  EXPECT_THAT(get(), ElementsAre(0));
  EXPECT_EQ(trace(), "S3");
}

class PathsInTurnOfFour : public PathOrderOf {
 protected:
  PathsInTurnOfFour() : PathOrderOf(2) { order_.set_choice(PathChoice::Rotate, 0); }
};

TEST_F(PathsInTurnOfFour, AreThoseThatTheSiteAllows) {
  const auto file = parse_qos_file(
      "qos-levels\n qos-level\n name: DEFAULT\n sl: 0\n path-bits: 0-1,3\n"
      " end-qos-level\nend-qos-levels\n",
      "qos-policy.conf");
  ASSERT_TRUE(file) << print_fault(file.error().front());
  parts_.qos_rules =
      std::make_shared<const QosRules>(*parts_.fabric, file->rules, nullptr, PartitionFile{});
  for (int round = 0; round < 3; ++round) {
    for (const unsigned offset : {0u, 1u, 3u}) EXPECT_THAT(get(), ElementsAre(offset)) << round;
  }
}

class PathsByContention : public PathOrderOf {
 protected:
  PathsByContention() { order_.set_choice(PathChoice::LeastContended, 60); }
};

TEST_F(PathsByContention, LeaveTheFirstLidsForMoreThanTheMarginAlone) {
  contend("S3", 160);
  EXPECT_THAT(get(), ElementsAre(0)) << "60 against a free one";
  contend("S3", 161);
  EXPECT_THAT(get(), ElementsAre(1));
  contend("S4", 101);
  EXPECT_THAT(get(), ElementsAre(0)) << "60 against one that is contended, too";
  contend("S3", 162);
  EXPECT_THAT(get(), ElementsAre(1));
  order_.set_choice(PathChoice::LeastContended, 0);
  contend("S4", kNoContention);
  contend("S3", 101);
  EXPECT_THAT(get(), ElementsAre(1)) << "without a margin";
  EXPECT_THAT(ask_for(Method::GetTable), ElementsAre(1, 0));
  EXPECT_EQ(trace(), "S4") << "as it would be answered";
}

/// Walks for the order alone are bounded as those that are answered; then nothing is refused, paths
/// come as LIDs ascend.
TEST_F(PathsByContention, AreOrderedWhileTheRequestHasWalksLeft) {
  order_.set_choice(PathChoice::LeastContended, 0);
  contend("S3", 200);
  PathRequest request{.mask = 0, .paths_per_pair = 1, .order = &order_};
  const SubnetView now = view();
  const PortIdx from = test::end_port(now.fabric(), "H1"), to = test::end_port(now.fabric(), "H2");
  const QueryLimits limits{.paths = 5};
  PathFinder finder(now, request, limits);
  // Two walks compare two paths: after three times there have been six.
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(finder.add_pair({from}, {to})) << i;
  const Answer answer = finder.finish();
  EXPECT_EQ(answer.status, Status::Ok);
  EXPECT_EQ(answer.cost, 5u + 6u + 1u);
  std::vector<unsigned> offsets;
  for (std::size_t i = 0; i < 5; ++i) {
    const PathRecord path =
        decode_path_record(std::span(answer.records).subspan(i * kPathRecordSize)).value();
    offsets.push_back(path.dlid.value() - lid("H2").value());
  }
  EXPECT_THAT(offsets, ElementsAre(1, 1, 1, 0, 0));
}

class PathsOfBadTables : public PathOrderOf {
 protected:
  /// Of four offsets the first one goes to and fro.
  PathsOfBadTables() : PathOrderOf(2) { lead("S3", lid("H2"), 1); }
};

TEST_F(PathsOfBadTables, AreWalkedNoFurtherThanThereAreSwitches) {
  const SubnetView now = view();
  std::vector<PortIdx> egresses;
  EXPECT_FALSE(find_path(now, test::end_port(now.fabric(), "H1"), lid("H2"), &egresses));
  EXPECT_EQ(egresses.size(), 1u + now.fabric().switch_count());
  EXPECT_THAT(get(), ElementsAre(1));
}

TEST_F(PathsOfBadTables, AreNotTakenForFree) {
  order_.set_choice(PathChoice::LeastContended, 0);
  contend("S4", 300);
  EXPECT_THAT(get(), ElementsAre(2)) << "0 leads nowhere, 1 and 3 are contended";
  EXPECT_THAT(ask_for(Method::GetTable), ElementsAre(2, 1, 3));
}

// A walk may pass every switch that there is.
TEST(PathsOfChains, AreWalkedToTheirEnd) {
  const auto view = view_of("H1-S1 S1-S2 S2-S3 S3-S4 H2-S4");
  for (const auto& [from, to] : {std::pair("H1", "H2"), {"H1", "S4"}, {"S1", "H2"}, {"S1", "S4"}}) {
    std::vector<PortIdx> egresses;
    const auto path =
        find_path(*view, test::end_port(view->fabric(), from), lid_of(*view, to), &egresses);
    ASSERT_TRUE(path) << from << ' ' << to;
    EXPECT_EQ(path->links, egresses.size());
  }
}

}  // namespace path_order_test
}  // namespace smd::sa
