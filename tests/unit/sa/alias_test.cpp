// Further GUIDs of ports: who may ask for them, what is declined, what Get shows.
#include <gtest/gtest.h>

#include "smd/sa/alias_manager.h"
#include "tests/unit/sa/kept.h"

namespace smd::sa {
namespace {

constexpr std::uint64_t kLidAndBlock = 3;

/// Component of the n-th GUID of a block.
constexpr std::uint64_t guid_bit(unsigned n) { return component_bit(4 + n); }

struct AliasBench : KeptBench {
  explicit AliasBench(AliasLimits limits = {})
      : aliases(
            [this] {
              ++told;
              due = Timer(runtime, runtime.now(), [this] { renew(); });
            },
            AliasTable(limits)) {
    server.add_manager(aliases);
    renew();
  }

  /// A view that knows the aliases, as the daemon makes it.
  void renew() {
    ViewParts parts = parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.guid_cap = 12;
    parts.fabric = fabric;
    parts.aliases = std::make_shared<const AliasTable::Map>(aliases.table().all());
    adopt(std::make_shared<const SubnetView>(std::move(parts)));
  }

  GuidInfoRecord say(Method method,
                     std::uint64_t mask,
                     const GuidInfoRecord& record,
                     std::string_view host) {
    answer(ask(method, RecordId::GuidInfoRecord, mask, record, kGuidInfoRecord.size), host);
    return *decode_guid_info_record(body);
  }

  AliasManager aliases;
  int told = 0;
  Timer due;
};

TEST(Alias, AGuidIsGivenOrChosenAndFound) {
  AliasBench bench;
  GuidInfoRecord wanted{.lid = bench.lid("H1")};
  wanted.guids[3] = Guid{0xaaaa};
  const GuidInfoRecord got =
      bench.say(Method::Set, kLidAndBlock | guid_bit(0) | guid_bit(1) | guid_bit(3), wanted, "H1");
  EXPECT_EQ(bench.answered.mad.status, 0);
  EXPECT_EQ(got.guids[0], guid_of(*bench.view, "H1")) << "its own is not to be changed";
  EXPECT_NE(got.guids[1], Guid{});
  EXPECT_EQ(got.guids[2], Guid{});
  EXPECT_EQ(got.guids[3], Guid{0xaaaa});
  EXPECT_EQ(bench.told, 1);
  const PortIdx h1 = test::end_port(bench.view->fabric(), "H1");
  EXPECT_EQ(bench.view->find_port(got.guids[1]), h1);
  EXPECT_EQ(bench.view->find_port(Guid{0xaaaa}), h1);
  EXPECT_EQ(bench.say(Method::Get, kLidAndBlock, wanted, "H2"), got);
  const GuidInfoRecord again =
      bench.say(Method::Set, kLidAndBlock | guid_bit(1), {.lid = wanted.lid}, "H1");
  EXPECT_EQ(again.guids[1], got.guids[1]) << "it keeps the one it was given";
  EXPECT_EQ(bench.told, 1);
  const GuidInfoRecord less = bench.say(Method::Delete, kLidAndBlock | guid_bit(3), wanted, "H1");
  EXPECT_EQ(less.guids[3], Guid{});
  EXPECT_EQ(less.guids[1], got.guids[1]);
  EXPECT_EQ(bench.view->find_port(Guid{0xaaaa}), kNone<PortIdx>);
}

TEST(Alias, NoGuidStandsForTwoPorts) {
  AliasBench bench;
  GuidInfoRecord wanted{.lid = bench.lid("H1"), .block = 1};
  wanted.guids[0] = Guid{0xaaaa};
  ASSERT_EQ(bench.say(Method::Set, kLidAndBlock | guid_bit(0), wanted, "H1").guids[0],
            Guid{0xaaaa});
  wanted = {.lid = bench.lid("H2")};
  wanted.guids[1] = Guid{0xaaaa};
  wanted.guids[2] = guid_of(*bench.view, "H3");
  wanted.guids[3] = Guid{0xbbbb};
  const std::uint64_t mask = kLidAndBlock | guid_bit(1) | guid_bit(2) | guid_bit(3);
  const GuidInfoRecord got = bench.say(Method::Set, mask, wanted, "H2");
  EXPECT_EQ(got.guids[1], Guid{}) << "H1 has it";
  EXPECT_EQ(got.guids[2], Guid{}) << "H3 is it";
  EXPECT_EQ(got.guids[3], Guid{0xbbbb});
}

TEST(Alias, OnlyThePortItselfOrTheTrustedMayAsk) {
  AliasBench bench;
  GuidInfoRecord wanted{.lid = bench.lid("H1")};
  const auto set = [&](std::uint64_t mask) {
    return ask(Method::Set, RecordId::GuidInfoRecord, mask, wanted, kGuidInfoRecord.size);
  };
  EXPECT_EQ(bench.status_of(set(kLidAndBlock | guid_bit(1)), "H2"), 0x0700);
  EXPECT_EQ(bench.status_of(trusted(set(kLidAndBlock | guid_bit(1))), "H2"), 0);
  EXPECT_EQ(bench.status_of(set(1 | guid_bit(1)), "H1"), 0x0600);
  wanted.block = 2;
  EXPECT_EQ(bench.status_of(set(kLidAndBlock | guid_bit(1)), "H1"), 0x0200) << "it has 12 entries";
  wanted.block = 1;
  EXPECT_EQ(bench.say(Method::Set, kLidAndBlock | guid_bit(4), wanted, "H1").guids[4], Guid{});
  wanted.lid = Lid{99};
  EXPECT_EQ(bench.status_of(set(kLidAndBlock | guid_bit(1)), "H1"), 0x0200);
}

TEST(Alias, NoGuidStandsForTwoPortsBeforeTheViewKnowsIt) {
  AliasTable table;
  const auto view = view_of("H1-S1 H2-S1");
  const Guid one = guid_of(*view, "H1"), two = guid_of(*view, "H2");
  EXPECT_EQ(table.put(*view, one, 1, Guid{0xcc}), Guid{0xcc});
  EXPECT_EQ(table.put(*view, two, 1, Guid{0xcc}), Guid{});
  EXPECT_EQ(table.owner_of(Guid{0xcc}), one);
}

TEST(Alias, AGuidThatWasGivenBackIsFreeBeforeTheViewKnowsIt) {
  AliasTable table;
  const Guid one = guid_of(*view_of("H1-S1 H2-S1"), "H1");
  ViewParts parts = parts_of("H1-S1 H2-S1");
  parts.aliases =
      std::make_shared<const AliasTable::Map>(AliasTable::Map{{one, {Guid{}, Guid{0xcc}}}});
  const SubnetView view(std::move(parts));
  const Guid two = guid_of(view, "H2");
  ASSERT_NE(view.find_port(Guid{0xcc}), kNone<PortIdx>);
  EXPECT_EQ(table.put(view, two, 1, Guid{0xcc}), Guid{0xcc});
  EXPECT_EQ(table.put(view, two, 2, one), Guid{}) << "a port's own";
}

/// A virtual machine that starts on another host after its own has lost its power.
TEST(Alias, AGuidOfAPortThatIsGoneIsGivenToWhoAsksForIt) {
  AliasTable table;
  const auto before = view_of("H1-S1 H2-S1");
  const Guid one = guid_of(*before, "H1"), two = guid_of(*before, "H2");
  EXPECT_EQ(table.put(*before, one, 1, Guid{0xcc}), Guid{0xcc});
  EXPECT_EQ(table.put(*before, one, 2, Guid{0xdd}), Guid{0xdd});
  const auto after = view_of("H2-S1");
  ASSERT_EQ(guid_of(*after, "H2"), two);
  EXPECT_EQ(table.put(*after, two, 3, Guid{0xcc}), Guid{0xcc});
  EXPECT_EQ(table.owner_of(Guid{0xcc}), two);
  EXPECT_EQ(table.at(one, 1), Guid{});
  EXPECT_EQ(table.at(one, 2), Guid{0xdd}) << "what nobody else asked for waits for it";
}

TEST(Alias, APortHasSoManyAndARequestBeyondChangesNothing) {
  AliasBench bench({.of_one_port = 3});
  const auto set = [&](std::string_view host, std::uint64_t bits) {
    const GuidInfoRecord wanted{.lid = bench.lid(host)};
    return bench.status_of(
        ask(Method::Set, RecordId::GuidInfoRecord, kLidAndBlock | bits, wanted, 72), host);
  };
  const std::uint64_t two = guid_bit(1) | guid_bit(2);
  EXPECT_EQ(set("H1", two), 0);
  EXPECT_EQ(set("H1", guid_bit(3) | guid_bit(4)), 0x0100) << "one of them has room";
  EXPECT_EQ(bench.aliases.table().owners().size(), 2u) << "and it is not given";
  EXPECT_EQ(set("H1", two | guid_bit(3)), 0) << "those that it has are not new";
  EXPECT_EQ(set("H2", two), 0) << "others have their own";
  EXPECT_EQ(bench.say(Method::Delete, kLidAndBlock | two, {.lid = bench.lid("H1")}, "H1").guids[1],
            Guid{});
  EXPECT_EQ(set("H1", guid_bit(5) | guid_bit(6)), 0) << "what was given back";
}

TEST(Alias, ThereIsRoomForSoMany) {
  AliasTable table({.all = 2});
  const auto view = view_of("H1-S1 H2-S1");
  EXPECT_NE(table.put(*view, Guid{1}, 1, Guid{}), Guid{});
  EXPECT_NE(table.put(*view, Guid{1}, 2, Guid{}), Guid{});
  EXPECT_EQ(table.put(*view, Guid{1}, 3, Guid{}), Guid{});
  EXPECT_EQ(table.put(*view, Guid{1}, 2, Guid{0xcc}), Guid{0xcc}) << "in place of another";
  EXPECT_EQ(table.owner_of(Guid{0xcc}), Guid{1});
  AliasTable restored;
  AliasTable::Map map = table.all();
  map[Guid{2}] = {Guid{}, Guid{0xcc}};
  restored.restore(map);
  EXPECT_EQ(restored.all(), table.all()) << "a GUID that comes twice counts once";
}

}  // namespace
}  // namespace smd::sa
