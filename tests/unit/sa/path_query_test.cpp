// PathRecords: the way along the tables in force, and the bounds that a request may set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/ib/rates.h"
#include "smd/sa/path_finder.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace path_query_test {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;
namespace part = path_component;

constexpr std::string_view kTree = "H1-S1 H2-S1 S1-S2 H3-S2";
constexpr std::uint64_t kByLid = part::kSlid | part::kDlid;

struct Paths {
  Status status;
  std::vector<PathRecord> records;
};

Paths paths(const SubnetView& view,
            std::uint64_t mask,
            const PathRecord& wanted,
            Method method = Method::GetTable,
            const QueryLimits& limits = {}) {
  const Answer answer =
      answer_query(view, ask(method, RecordId::PathRecord, mask, wanted, 64).query(), limits);
  Paths out{.status = answer.status};
  for (std::size_t i = 0; i < answer.count(); ++i)
    out.records.push_back(decode_path_record(std::span(answer.records).subspan(i * 64)).value());
  return out;
}

PathRecord between(const SubnetView& view, std::string_view from, std::string_view to) {
  return {.dgid = {kDefaultSubnetPrefix, guid_of(view, to)},
          .sgid = {kDefaultSubnetPrefix, guid_of(view, from)},
          .dlid = lid_of(view, to),
          .slid = lid_of(view, from)};
}

/// The view with one port's registers changed.
SubnetView with_port(std::string_view text, std::string_view port, void (*change)(PortInfo&)) {
  ViewParts parts = parts_of(text);
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  change(fabric->port_info[test::port(*fabric, port)]);
  parts.fabric = fabric;
  return SubnetView(parts);
}

TEST(SaPath, SaysWhatAHostMustKnow) {
  const auto view = view_of(kTree);
  const Paths found = paths(*view, kByLid, between(*view, "H1", "H3"), Method::Get);
  ASSERT_EQ(found.records.size(), 1u);
  const PathRecord& path = found.records[0];
  EXPECT_EQ(path.sgid.guid, guid_of(*view, "H1"));
  EXPECT_EQ(path.dgid, (Gid{kDefaultSubnetPrefix, guid_of(*view, "H3")}));
  EXPECT_EQ(path.slid, lid_of(*view, "H1"));
  EXPECT_EQ(path.dlid, lid_of(*view, "H3"));
  EXPECT_TRUE(path.reversible);
  EXPECT_EQ(path.p_key, kDefaultPKey);
  EXPECT_EQ(path.mtu, (Bound{Selector::Exactly, 5}));
  EXPECT_EQ(path.rate, (Bound{Selector::Exactly, 16}));
  EXPECT_EQ(path.life_time, (Bound{Selector::Exactly, 18}));
  EXPECT_EQ(path.preference, 0);
}

TEST(SaPath, NoRateHasACodeThatHostsDoNotKnow) {
  const auto rate_up_to = [](std::uint8_t code) {
    ViewParts parts = parts_of(kTree);
    parts.max_rate = code;
    const SubnetView view(parts);
    PathRecord wanted = between(view, "H1", "H3");
    const Paths found = paths(view, kByLid, wanted, Method::Get);
    EXPECT_EQ(found.records.size(), 1u);
    return found.records.at(0).rate.value;
  };
  EXPECT_EQ(rate_up_to(63), 16) << "100 Gb/s";
  EXPECT_EQ(rate_up_to(16), 16);
  EXPECT_EQ(rate_up_to(15), 9) << "80 Gb/s is the fastest below with a code up to 15";
  EXPECT_EQ(rate_up_to(8), 8);
  EXPECT_EQ(rate_up_to(7), 7) << "40 Gb/s: 60 has code 8, 56 has 12, 50 has 20";
  EXPECT_EQ(rate_up_to(2), 2);

  ViewParts parts = parts_of(kTree);
  parts.max_rate = 10;
  const SubnetView view(parts);
  PathRecord wanted = between(view, "H1", "H3");
  wanted.rate = {Selector::LessThan, 8};
  const Paths less = paths(view, kByLid | part::kRateSelector | part::kRate, wanted, Method::Get);
  ASSERT_EQ(less.records.size(), 1u);
  EXPECT_EQ(less.records[0].rate.value, 7) << "below 60 Gb/s: 56 has code 12, 50 has 20, 40 has 7";
}

TEST(SaPath, OtherSubnetsLieBehindRouters) {
  const auto view = view_of("H1-S1 S1-S2 H2-S2 R1-S2 R2-S1 R3-S1");
  const Gid far{0xfec0000000000099, Guid{0x4711}};
  PathRecord wanted = between(*view, "H1", "H2");
  wanted.dgid = far;
  constexpr std::uint64_t kByGid = part::kSgid | part::kDgid;
  const Paths one = paths(*view, kByGid, wanted, Method::Get);
  ASSERT_EQ(one.records.size(), 1u);
  EXPECT_EQ(one.records[0].dgid, far);
  EXPECT_EQ(one.records[0].dlid, lid_of(*view, "R2")) << "the nearest, of those the lowest GUID";
  EXPECT_EQ(one.records[0].hop_limit, 255);
  EXPECT_EQ(one.records[0].mtu, (Bound{Selector::Exactly, 5}));
  const Paths all = paths(*view, kByGid, wanted);
  std::vector<Lid> lids;
  for (const PathRecord& path : all.records) lids.push_back(path.dlid);
  EXPECT_THAT(
      lids,
      testing::UnorderedElementsAre(lid_of(*view, "R1"), lid_of(*view, "R2"), lid_of(*view, "R3")));
  wanted.dlid = lid_of(*view, "R1");
  EXPECT_EQ(paths(*view, kByGid | part::kDlid, wanted).records.size(), 1u);
  wanted.dlid = lid_of(*view, "H2");
  EXPECT_TRUE(paths(*view, kByGid | part::kDlid, wanted).records.empty()) << "no router's";
  // Nobody routes multicast to one port, and from here there is no path that begins elsewhere.
  wanted.dgid.prefix = 0xff12000000000000;
  EXPECT_EQ(paths(*view, kByGid, wanted).status, Status::InvalidGid);
  wanted = between(*view, "H1", "H2");
  EXPECT_EQ(paths(*view, kByGid, wanted, Method::Get).records.at(0).hop_limit, 0);
  wanted.sgid = far;
  EXPECT_EQ(paths(*view, kByGid, wanted).status, Status::InvalidGid);
  wanted = between(*view_of(kTree), "H1", "H3");
  wanted.dgid = far;
  EXPECT_EQ(paths(*view_of(kTree), kByGid, wanted).status, Status::InvalidGid) << "no router";
}

TEST(SaPath, ASiteSaysWhichRouterLeadsWhere) {
  ViewParts parts = parts_of("H1-S1 S1-S2 R1-S2 R2-S1");
  const SubnetView plain(parts);
  const Guid far = guid_of(plain, "R1"), near = guid_of(plain, "R2");
  constexpr std::uint64_t kSeven = 0xfec0000000000007, kEight = 0xfec0000000000008;
  const auto router = [&](std::vector<std::pair<std::uint64_t, Guid>> lines, std::uint64_t prefix) {
    parts.prefix_routes = std::move(lines);
    const SubnetView view(parts);
    PathRecord wanted = between(view, "H1", "H1");
    wanted.dgid = {prefix, Guid{0x4711}};
    const Paths found = paths(view, part::kSgid | part::kDgid, wanted, Method::Get);
    if (found.records.empty()) return Guid{};
    return view.fabric().port_guid[view.lids().owner_of(found.records[0].dlid)];
  };
  EXPECT_EQ(router({}, kSeven), near);
  EXPECT_EQ(router({{kSeven, far}, {kEight, near}}, kSeven), far);
  EXPECT_EQ(router({{kSeven, far}, {kEight, near}}, kEight), near);
  EXPECT_EQ(router({{kSeven, far}}, kEight), Guid{}) << "nobody leads there";
  EXPECT_EQ(router({{0, far}}, kEight), far) << "any prefix";
  EXPECT_EQ(router({{kSeven, Guid{}}}, kSeven), near) << "any router: the nearest";
  EXPECT_EQ(router({{kSeven, Guid{0x99}}, {0, far}}, kSeven), far) << "the first that is there";
}

TEST(SaPath, AreFoundByGidToo) {
  const auto view = view_of(kTree);
  const PathRecord wanted = between(*view, "H2", "H3");
  const Paths by_gid = paths(*view, part::kSgid | part::kDgid, wanted);
  EXPECT_EQ(by_gid.records, paths(*view, kByLid, wanted).records);
  EXPECT_EQ(by_gid.records.size(), 1u);
}

TEST(SaPath, UnknownEnds) {
  const auto view = view_of(kTree);
  PathRecord wanted = between(*view, "H1", "H3");
  wanted.dlid = Lid{500};
  EXPECT_EQ(paths(*view, kByLid, wanted).status, Status::Ok);
  EXPECT_TRUE(paths(*view, kByLid, wanted).records.empty());
  EXPECT_EQ(paths(*view, kByLid, wanted, Method::Get).status, Status::NoRecords);
  wanted.dgid.guid = Guid{0x404};
  EXPECT_EQ(paths(*view, part::kSgid | part::kDgid, wanted).status, Status::InvalidGid);
  wanted = between(*view, "H1", "H3");
  wanted.sgid.prefix = 0x1234;
  EXPECT_EQ(paths(*view, part::kSgid | part::kDgid, wanted).status, Status::InvalidGid);
}

TEST(SaPath, ALidThatIsNotThePortsIsNoPath) {
  const auto view = view_of(kTree);
  PathRecord wanted = between(*view, "H1", "H3");
  wanted.dlid = lid_of(*view, "H2");
  EXPECT_TRUE(paths(*view, part::kSgid | part::kDgid | part::kDlid, wanted).records.empty());
}

TEST(SaPath, IsAsNarrowAsItsNarrowestLink) {
  const SubnetView view = with_port(kTree, "S1:3", [](PortInfo& info) {
    info.neighbor_mtu = 4;
    info.link_width_active = static_cast<std::uint8_t>(LinkWidth::X1);
  });
  const PathRecord far = paths(view, kByLid, between(view, "H1", "H3")).records.at(0);
  EXPECT_EQ(far.mtu.value, 4);
  EXPECT_EQ(far.rate.value, 15);  // 25 Gb/s
  const PathRecord near = paths(view, kByLid, between(view, "H1", "H2")).records.at(0);
  EXPECT_EQ(near.mtu.value, 5);
  EXPECT_EQ(near.rate.value, 16);
}

TEST(SaPath, ToASwitchIsAsNarrowAsItsPortZero) {
  const SubnetView view = with_port(kTree, "S2:0", [](PortInfo& info) { info.mtu_cap = 3; });
  EXPECT_EQ(paths(view, kByLid, between(view, "H1", "S2")).records.at(0).mtu.value, 3);
  EXPECT_EQ(paths(view, kByLid, between(view, "S2", "H1")).records.at(0).mtu.value, 3);
  EXPECT_EQ(paths(view, kByLid, between(view, "H1", "S1")).records.at(0).mtu.value, 5);
}

TEST(SaPath, ToOneselfTakesNoTime) {
  const auto view = view_of(kTree);
  const Paths self = paths(*view, kByLid, between(*view, "H1", "H1"));
  ASSERT_EQ(self.records.size(), 1u);
  EXPECT_EQ(self.records[0].life_time.value, 0);
}

TEST(SaPath, WhereTheTablesLeadNowhereThereIsNone) {
  ViewParts parts = parts_of(kTree);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  const Fabric& fabric = *parts.fabric;
  const Lid h3 = parts.lids->base[test::end_port(fabric, "H3")];
  routing->lft.set_route(test::switch_named(fabric, "S1"), h3, kNoRoute);
  parts.routing = routing;
  const SubnetView view(parts);
  EXPECT_TRUE(paths(view, kByLid, between(view, "H1", "H3")).records.empty());
  // The other way there is a path, but none that answers could take.
  const Paths back = paths(view, kByLid, between(view, "H3", "H1"));
  ASSERT_EQ(back.records.size(), 1u);
  EXPECT_FALSE(back.records[0].reversible);
  PathRecord wanted = between(view, "H3", "H1");
  wanted.reversible = true;
  EXPECT_TRUE(paths(view, kByLid | part::kReversible, wanted).records.empty());
}

TEST(SaPath, RandomTablesLeadOnByTheirDefaultPort) {
  ViewParts parts = parts_of(kTree);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  const Fabric& fabric = *parts.fabric;
  const SwitchIdx s1 = test::switch_named(fabric, "S1");
  const Lid h3 = parts.lids->base[test::end_port(fabric, "H3")];
  const PortNum out = routing->lft.route(s1, h3);
  routing->lft.set_route(s1, h3, kNoRoute);
  for (std::size_t i = 0; i < fabric.switch_count(); ++i) routing->default_port.push_back(kNoRoute);
  routing->default_port[s1] = out;
  parts.routing = routing;
  const SubnetView view(parts);
  EXPECT_EQ(paths(view, kByLid, between(view, "H1", "H3")).records.size(), 1u);
}

TEST(SaPath, TablesThatRunInCirclesAreNoPath) {
  ViewParts parts = parts_of("H1-S1 S1-S2 S2-S3 S3-S1 H2-S2");
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  const Fabric& fabric = *parts.fabric;
  const Lid h2 = parts.lids->base[test::end_port(fabric, "H2")];
  const auto send = [&](const char* sw, const char* port) {
    routing->lft.set_route(
        test::switch_named(fabric, sw), h2, fabric.number_of(test::port(fabric, port)));
  };
  send("S1", "S1:2");  // to S2
  send("S2", "S2:2");  // to S3
  send("S3", "S3:2");  // to S1
  parts.routing = routing;
  const SubnetView view(parts);
  EXPECT_TRUE(paths(view, kByLid, between(view, "H1", "H2")).records.empty());
}

TEST(SaPath, OffsetsOfOnePortAreMatchedFirst) {
  const auto view = view_of(kTree, 1);
  PathRecord wanted = between(*view, "H1", "H3");
  const auto lids = [&](const Paths& found) {
    std::vector<std::pair<int, int>> out;
    for (const PathRecord& each : found.records)
      out.emplace_back(each.slid.value() - wanted.slid.value(),
                       each.dlid.value() - wanted.dlid.value());
    return out;
  };
  constexpr std::uint64_t kByGid = part::kSgid | part::kDgid;
  const Paths all = paths(*view, kByGid, wanted);
  EXPECT_THAT(lids(all), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(0, 1), Pair(1, 0)));
  EXPECT_EQ(all.records[1].preference, 0);
  EXPECT_EQ(all.records[2].preference, 2);
  wanted.numb_path = 3;
  EXPECT_EQ(paths(*view, kByGid | part::kNumbPath, wanted).records.size(), 3u);
  EXPECT_EQ(paths(*view, kByGid, wanted, Method::Get).records.size(), 1u);
  EXPECT_EQ(paths(*view, kByLid, wanted).records.size(), 1u);
}

TEST(SaPath, OneEndAloneMeansEveryOther) {
  const auto view = view_of(kTree);
  EXPECT_EQ(paths(*view, part::kSlid, between(*view, "H1", "H1")).records.size(), 5u);
  EXPECT_EQ(paths(*view, 0, {}).records.size(), 25u);
  EXPECT_EQ(paths(*view, 0, {}, Method::GetTable, {.paths = 24}).status, Status::NoResources);
  EXPECT_EQ(paths(*view, 0, {}, Method::Get).status, Status::TooManyRecords);
}

TEST(SaPath, ManyLidsOfOnePairAreBoundedToo) {
  const auto view = view_of(kTree, 3);
  const Asked asked = ask(Method::GetTable,
                          RecordId::PathRecord,
                          part::kSgid | part::kDgid,
                          between(*view, "H1", "H3"),
                          64);
  EXPECT_EQ(answer_query(*view, asked.query(), {.paths = 64}).count(), 64u);
  const Answer refused = answer_query(*view, asked.query(), {.paths = 20});
  EXPECT_EQ(refused.status, Status::NoResources);
  EXPECT_EQ(refused.cost, 21u) << "no more is walked than shows that it is too much";
}

TEST(SaPath, CarriesTheServiceLevelThatTheEngineGaveIt) {
  ViewParts parts = parts_of(kTree);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  const Fabric& fabric = *parts.fabric;
  const Lid h3 = parts.lids->base[test::end_port(fabric, "H3")];
  routing->path_sls = PathSls(fabric.switch_count(), parts.lids->top);
  routing->path_sls.set_sl(test::switch_named(fabric, "S1"), h3, 6);
  parts.routing = routing;
  const SubnetView view(parts);
  PathRecord wanted = between(view, "H1", "H3");
  EXPECT_EQ(paths(view, kByLid, wanted).records.at(0).sl, 6);
  EXPECT_EQ(paths(view, kByLid, between(view, "H1", "H2")).records.at(0).sl, 0);
  wanted.sl = 6;
  EXPECT_EQ(paths(view, kByLid | part::kSl, wanted).records.size(), 1u);
  wanted.sl = 5;
  EXPECT_TRUE(paths(view, kByLid | part::kSl, wanted).records.empty());
}

TEST(SaPath, BetweenLidsOfTwoSetsOfPathsNoAnswerComesBack) {
  // The first LIDs have SL 0, those beyond SL 1, both ways: between a first and a second one the
  // way back is of routes that have another SL.
  ViewParts parts = parts_of(kTree, 1);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  routing->path_sls = PathSls(parts.fabric->switch_count(), parts.lids->top);
  for (const SwitchIdx sw : parts.fabric->switch_node.indices()) {
    for (const PortIdx port : parts.lids->base.indices()) {
      const unsigned base = parts.lids->base[port].value();
      if (base != 0 && parts.lids->lmc[port] != 0)
        routing->path_sls.set_sl(sw, Lid{static_cast<std::uint16_t>(base + 1)}, 1);
    }
  }
  parts.routing = routing;
  const SubnetView view(parts);
  PathRecord wanted = between(view, "H1", "H3");
  constexpr std::uint64_t kByGid = part::kSgid | part::kDgid;
  const Paths all = paths(view, kByGid, wanted);
  ASSERT_EQ(all.records.size(), 4u);
  const auto seen = [&](std::size_t i) {
    return std::tuple(all.records[i].dlid.value() - wanted.dlid.value(),
                      unsigned{all.records[i].sl},
                      all.records[i].reversible);
  };
  EXPECT_EQ(seen(0), std::tuple(0, 0u, true));
  EXPECT_EQ(seen(1), std::tuple(1, 1u, true));
  EXPECT_EQ(seen(2), std::tuple(1, 1u, false));
  EXPECT_EQ(seen(3), std::tuple(0, 0u, false));
  wanted.reversible = true;
  EXPECT_EQ(paths(view, kByGid | part::kReversible, wanted).records.size(), 2u);
}

TEST(SaPath, AnyServiceLevelWillDoWhereTheEngineGaveNone) {
  const auto view = view_of(kTree);
  PathRecord wanted = between(*view, "H1", "H3");
  wanted.sl = 5;
  EXPECT_EQ(paths(*view, kByLid | part::kSl, wanted).records.at(0).sl, 5);
}

TEST(SaPath, PartitionsOtherThanTheDefaultHaveNone) {
  const auto view = view_of(kTree);
  PathRecord wanted = between(*view, "H1", "H3");
  wanted.p_key = PKey{0x7fff};
  EXPECT_EQ(paths(*view, kByLid | part::kPKey, wanted).records.at(0).p_key, PKey{0x7fff});
  wanted.p_key = PKey{0x8001};
  EXPECT_TRUE(paths(*view, kByLid | part::kPKey, wanted).records.empty());
}

TEST(SaPath, BoundsNeedSelectorAndValue) {
  const auto view = view_of(kTree);
  PathRecord wanted = between(*view, "H1", "H3");
  wanted.mtu = {Selector::GreaterThan, 5};
  EXPECT_EQ(paths(*view, kByLid | part::kMtu, wanted).records.size(), 1u);
  EXPECT_TRUE(paths(*view, kByLid | part::kMtu | part::kMtuSelector, wanted).records.empty());
  wanted.rate = {Selector::LessThan, 11};
  EXPECT_EQ(
      paths(*view, kByLid | part::kRate | part::kRateSelector, wanted).records.at(0).rate.value, 3);
  wanted.life_time = {Selector::LessThan, 18};
  EXPECT_TRUE(
      paths(*view, kByLid | part::kLifeTime | part::kLifeTimeSelector, wanted).records.empty());
}

TEST(SaBounds, OfMtu) {
  EXPECT_THAT(choose_mtu({Selector::GreaterThan, 3}, 4), Optional(4));
  EXPECT_EQ(choose_mtu({Selector::GreaterThan, 4}, 4), std::nullopt);
  EXPECT_THAT(choose_mtu({Selector::LessThan, 4}, 5), Optional(3));
  EXPECT_THAT(choose_mtu({Selector::LessThan, 5}, 2), Optional(2));
  EXPECT_EQ(choose_mtu({Selector::LessThan, 1}, 5), std::nullopt);
  EXPECT_THAT(choose_mtu({Selector::Exactly, 4}, 5), Optional(4));
  EXPECT_EQ(choose_mtu({Selector::Exactly, 5}, 4), std::nullopt);
  EXPECT_EQ(choose_mtu({Selector::Exactly, 0}, 4), std::nullopt);
  EXPECT_THAT(choose_mtu({Selector::Best, 1}, 5), Optional(5));
}

TEST(SaBounds, OfRateGoBySpeedNotByCode) {
  constexpr std::uint8_t k10 = 3, k5 = 5, k20 = 6, k14 = 11, k100 = 16;
  EXPECT_THAT(choose_rate({Selector::GreaterThan, k14}, k20), Optional(k20));
  EXPECT_EQ(choose_rate({Selector::GreaterThan, k20}, k14), std::nullopt);
  EXPECT_THAT(choose_rate({Selector::LessThan, k14}, k100), Optional(k10));
  EXPECT_THAT(choose_rate({Selector::LessThan, k14}, k5), Optional(k5));
  EXPECT_EQ(choose_rate({Selector::LessThan, 2}, k100), std::nullopt);
  EXPECT_THAT(choose_rate({Selector::Exactly, k20}, k20), Optional(k20));
  EXPECT_EQ(choose_rate({Selector::Exactly, k14}, k20), std::nullopt);
  EXPECT_EQ(choose_rate({Selector::Exactly, k20}, k14), std::nullopt);
  EXPECT_EQ(choose_rate({Selector::Exactly, 40}, k20), std::nullopt);
  EXPECT_THAT(choose_rate({Selector::Best, 0}, k20), Optional(k20));
}

TEST(SaBounds, OfLifeTimeMayBeStretched) {
  EXPECT_THAT(choose_life_time({Selector::GreaterThan, 17}, 18), Optional(18));
  EXPECT_EQ(choose_life_time({Selector::GreaterThan, 18}, 18), std::nullopt);
  EXPECT_THAT(choose_life_time({Selector::LessThan, 19}, 18), Optional(18));
  EXPECT_EQ(choose_life_time({Selector::LessThan, 18}, 18), std::nullopt);
  EXPECT_THAT(choose_life_time({Selector::Exactly, 20}, 18), Optional(20));
  EXPECT_EQ(choose_life_time({Selector::Exactly, 17}, 18), std::nullopt);
}

TEST(SaRates, OfLinks) {
  EXPECT_EQ(rate_code(LinkWidth::X1, LinkSpeed::Sdr), 2);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Sdr), 3);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Qdr), 7);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Fdr10), 7);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Fdr), 12);
  EXPECT_EQ(rate_code(LinkWidth::X2, LinkSpeed::Fdr), 19);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Edr), 16);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Hdr), 17);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Ndr), 21);
  EXPECT_EQ(rate_code(LinkWidth::X4, LinkSpeed::Xdr), 23);
  EXPECT_EQ(rate_code(LinkWidth::X12, LinkSpeed::Ndr), 24);
  EXPECT_EQ(rate_code(LinkWidth::None, LinkSpeed::Edr), 0);
}

TEST(Rates, TheTableOfLinksAndThePlacesAgreeWithTheCodes) {
  for (const unsigned width : {0u, 1u, 2u, 4u, 8u, 16u}) {
    for (unsigned speed = 0; speed <= static_cast<unsigned>(LinkSpeed::Xdr); ++speed) {
      const auto w = static_cast<LinkWidth>(width);
      const auto s = static_cast<LinkSpeed>(speed);
      EXPECT_EQ(link_rate_order(w, s), rate_order(rate_code(w, s))) << width << " " << speed;
      EXPECT_EQ(rate_at(link_rate_order(w, s)), rate_code(w, s)) << width << " " << speed;
    }
  }
}

}  // namespace path_query_test
}  // namespace smd::sa
