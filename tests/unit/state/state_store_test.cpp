// What survives a restart: its text, and who is told when it changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "smd/state/state_store.h"
#include "tests/support/files.h"

namespace smd {

namespace {

const std::vector<TurnRef> kTurns = {{Guid{0xff}, PortNum{1}, PortNum{2}},
                                     {Guid{0x0002c90300000001}, PortNum{36}, PortNum{254}}};

std::vector<int> lines_at_fault(const std::string& text) {
  std::vector<int> lines;
  const auto turns = parse_turns(text, "turns");
  if (turns) return lines;
  for (const Fault& each : turns.error()) lines.push_back(each.line);
  return lines;
}

TEST(TurnsFile, PrintsOneLinePerTurnAndReadsItBack) {
  const std::string text = print_turns(kTurns);
  EXPECT_EQ(text, "0x00000000000000ff 1 2\n0x0002c90300000001 36 254\n");
  EXPECT_EQ(parse_turns(text, "turns").value(), kTurns);
}

TEST(TurnsFile, NamesEveryFaultWithItsLine) {
  for (const char* bad : {"0x1 2",
                          "0x1 2 3 4",
                          "0x0 2 3",
                          "1 2 3",
                          "0x1 2 255",
                          "0x1 255 2",
                          "0x1 -2 3",
                          "0x1 2 3x",
                          "0x1g 2 3",
                          "0x 2 3",
                          "0x11111111111111111 2 3"}) {
    EXPECT_THAT(lines_at_fault(std::string("0x1 2 3\n\n") + bad + "\n"), testing::ElementsAre(3))
        << bad;
  }
  EXPECT_THAT(lines_at_fault("what\n0x1 2 3\nwhat"), testing::ElementsAre(1, 3));
  EXPECT_EQ(print_fault(parse_turns("0x1 2\n", "turns").error().front()),
            "turns:1: '0x1 2' is no turn; a line is SWITCH_GUID IN OUT, as in 0x0002c90300000001 3 "
            "7");
}

TEST(TurnsFile, KeepsThemInTheStateDirectory) {
  std::string folder = testing::TempDir() + "/smd-turns-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_TRUE(load_state(folder)->turns.empty());  // no file yet
  ASSERT_TRUE(save_state(folder + "/new", {.turns = kTurns}, StateKind::kTurns));
  EXPECT_EQ(load_state(folder + "/new")->turns, kTurns);
  ASSERT_TRUE(save_state(folder + "/new", {}, StateKind::kTurns));
  EXPECT_TRUE(load_state(folder + "/new")->turns.empty());
  std::filesystem::remove_all(folder);
}

const std::vector<cc::CcKey> kKeys = {cc::CcKey{0x22}, cc::CcKey{0x1122334455667788}};

TEST(SavedState, ThatTheNextStartWouldRefuseIsNotSavedAndWhatIsThereStays) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  ASSERT_TRUE(save_state(folder, {.turns = kTurns}, StateKind::kTurns));
  const auto saved = save_state(folder, {.turns = {{}}}, StateKind::kTurns);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, Errc::Malformed);
  EXPECT_THAT(saved.error().context, testing::HasSubstr("turns:1: '"));
  const auto found = load_state(folder);
  ASSERT_TRUE(found) << print_fault(found.error().front());
  EXPECT_EQ(found->turns, kTurns);
}

TEST(CcKeysFile, PrintsOneLinePerKeyAndReadsItBack) {
  const std::string text = print_cc_keys(kKeys);
  EXPECT_EQ(text, "0x0000000000000022\n0x1122334455667788\n");
  EXPECT_EQ(parse_cc_keys(text, "cc_keys").value(), kKeys);
}

TEST(CcKeysFile, NamesEveryFaultWithItsLineAndShowsNoKey) {
  for (const char* bad : {"22", "0x", "0x0", "0x1g", "0x11111111111111111", "0x1 0x2"}) {
    const auto keys = parse_cc_keys(std::string("0x1\n\n") + bad + "\n", "cc_keys");
    ASSERT_FALSE(keys) << bad;
    EXPECT_EQ(print_fault(keys.error().front()),
              "cc_keys:3: no key; a line is one, as in 0x0000000000000022");
  }
}

TEST(CcKeysFile, IsReadableForItsOwnerAlone) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  EXPECT_TRUE(load_state(folder)->cc_keys.empty()) << "there is none yet";
  ASSERT_TRUE(save_state(folder, {.cc_keys = kKeys}, StateKind::kCcKeys));
  EXPECT_EQ(load_state(folder)->cc_keys, kKeys);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "cc_keys").permissions() & perms::all,
            perms::owner_read | perms::owner_write);
}

const KeyPort kHostEnd{
    .node = Guid{0x10}, .port = Guid{0x11}, .number = PortNum{1}, .is_switch = false};
const KeyPort kSwitchEnd{
    .node = Guid{0x20}, .port = Guid{0x20}, .number = PortNum{3}, .is_switch = true};

TEST(MKeyLinksFile, PrintsOneLinePerLinkAndReadsItBack) {
  const std::vector<KeyLink> links{{kHostEnd, kSwitchEnd}};
  const std::string text = print_m_key_links(links);
  EXPECT_EQ(text,
            "0x0000000000000010 0x0000000000000011 1 end "
            "0x0000000000000020 0x0000000000000020 3 switch\n");
  EXPECT_EQ(parse_m_key_links(text, "m_key_links").value(), links);
}

TEST(MKeyLinksFile, HasNoLinkThatItsReaderWouldRefuse) {
  KeyPort nobody = kSwitchEnd, nowhere = kSwitchEnd;
  nobody.node = Guid{};
  nowhere.number = PortNum{255};
  const KeyLink good{kHostEnd, kSwitchEnd};
  const std::string text = print_m_key_links(
      {{kHostEnd, nobody}, {nobody, kHostEnd}, good, {kHostEnd, nowhere}, {nowhere, kHostEnd}});
  const auto links = parse_m_key_links(text, "m_key_links");
  ASSERT_TRUE(links) << print_fault(links.error().front());
  EXPECT_EQ(*links, std::vector{good});
}

TEST(MKeyLinksFile, NamesEveryFaultWithItsLine) {
  const std::string one = "0x1 0x2 1 end ";
  for (const std::string& bad : {one,
                                 one + "0x3 0x3 1",
                                 one + "0x3 0x3 1 router",
                                 one + "0x3 0x3 255 end",
                                 one + "0x0 0x3 1 end",
                                 one + "3 0x3 1 end",
                                 one + "0x3 0x3 1 end 4"}) {
    const auto links = parse_m_key_links("\n" + bad + "\n", "m_key_links");
    ASSERT_FALSE(links) << bad;
    EXPECT_EQ(print_fault(links.error().front()),
              fmt::format("m_key_links:2: '{}' is no link; a line is twice NODE PORT_GUID NUMBER "
                          "switch|end",
                          bad));
  }
}

TEST(DirectionsFile, PrintsOneLinePerSwitchAndReadsItBack) {
  const SwitchRanks ranks{{Guid{0x10}, 0}, {Guid{0x20}, 4'294'967'295}};
  const std::string text = print_directions(ranks);
  EXPECT_EQ(text, "0x0000000000000010 0\n0x0000000000000020 4294967295\n");
  EXPECT_EQ(parse_directions(text, "directions").value(), ranks);
}

TEST(DirectionsFile, NamesEveryFaultWithItsLine) {
  for (const char* bad :
       {"0x20", "0x20 1 2", "20 1", "0x0 1", "0x20 4294967296", "0x20 -1", "0x10 1", "0x8 1"}) {
    const auto ranks = parse_directions(fmt::format("0x10 3\n{}\n", bad), "directions");
    ASSERT_FALSE(ranks) << bad;
    EXPECT_EQ(print_fault(ranks.error().front()),
              fmt::format("directions:2: '{}' is no rank; a line is SWITCH_GUID RANK, as in "
                          "0x0002c90300000001 3, the GUIDs ascending",
                          bad));
  }
}

TEST(LatticeFile, PrintsOneLinePerSwitchAndReadsItBack) {
  const LatticeRecord grid{.engine = "dor",
                           .sides = {4, 3},
                           .wraps = {1, 0},
                           .cells = {{Guid{0x10}, 11}, {Guid{0x20}, 4}}};
  EXPECT_EQ(print_lattice(grid),
            "dor ring:4 line:3\n0x0000000000000010 3 2\n0x0000000000000020 1 1\n");
  const LatticeRecord rows{
      .engine = "hamming", .sides = {5, 2}, .wraps = {}, .cells = {{Guid{0x10}, 9}}};
  EXPECT_EQ(print_lattice(rows), "hamming full:5 full:2\n0x0000000000000010 4 1\n");
  for (const LatticeRecord& lattice : {grid, rows, LatticeRecord{}})
    EXPECT_EQ(parse_lattice(print_lattice(lattice), "lattice").value(), lattice);
}

TEST(LatticeFile, NamesEveryFaultWithItsLine) {
  for (const char* bad : {"dor",
                          "dor 4",
                          "dor ring:",
                          "dor ring:0",
                          "dor ring:4 full:4",
                          "dor round:4",
                          "dor ring:-4",
                          "dor line:65536 line:65536"}) {
    const auto lattice = parse_lattice(fmt::format("{}\n0x10 1\n", bad), "lattice");
    ASSERT_FALSE(lattice) << bad;
    EXPECT_EQ(
        print_fault(lattice.error().front()),
        fmt::format("lattice:1: '{}' is no lattice; the first line is ENGINE KIND:SIDE..., as "
                    "in dor ring:8 line:4",
                    bad));
  }
  for (const char* bad : {"0x20",
                          "0x20 1",
                          "0x20 1 1 1",
                          "20 1 1",
                          "0x0 1 1",
                          "0x20 4 0",
                          "0x20 -1 0",
                          "0x10 1 1",
                          "0x8 1 1",
                          "0x20 3 2"}) {
    const auto lattice =
        parse_lattice(fmt::format("dor ring:4 line:3\n0x10 3 2\n{}\n", bad), "lattice");
    ASSERT_FALSE(lattice) << bad;
    EXPECT_EQ(print_fault(lattice.error().front()),
              fmt::format("lattice:3: '{}' is no place of its own in the lattice; a line is "
                          "SWITCH_GUID COORDINATE..., the GUIDs ascending",
                          bad));
  }
}

TEST(StateStore, TellsOfWhatChangedAndOfNothingElse) {
  const LidBook lids{{Guid{0xff}, {Lid{3}, 1}}};
  StateStore store({.turns = kTurns});
  std::vector<std::string_view> told;
  store.changed().subscribe([&](const StateKind& kind) { told.push_back(kind.name); });
  store.put_turns(kTurns);
  EXPECT_THAT(store.put_text(StateKind::kSlToVlMark, "", "f"), testing::IsEmpty());
  EXPECT_THAT(store.put_text(StateKind::kTurns, "what\n", "f"), testing::SizeIs(1));
  EXPECT_THAT(told, testing::IsEmpty());
  store.set_sl_to_vl_mark();
  store.put_lids(lids);
  store.put_turns({});
  store.put_cc_keys(kKeys);
  EXPECT_THAT(told, testing::ElementsAre("rows", "lids", "turns", "cc_keys"));
}

TEST(StateStore, OfAnotherManagerHasAllOfIt) {
  const StateStore theirs(
      {.lids = {{Guid{0xff}, {Lid{4}, 1}}},
       .turns = kTurns,
       .sl_to_vl_mark = true,
       .cc_keys = kKeys,
       .lattice = {.engine = "hamming", .sides = {2, 2}, .wraps = {}, .cells = {{Guid{0x10}, 3}}}});
  StateStore store;
  for (const StateKind* kind : {&StateKind::kLids,
                                &StateKind::kTurns,
                                &StateKind::kSlToVlMark,
                                &StateKind::kCcKeys,
                                &StateKind::kLattice})
    EXPECT_TRUE(store.put_text(*kind, kind->print(theirs.get()), "f").empty()) << kind->name;
  EXPECT_EQ(store.get(), theirs.get());
  EXPECT_TRUE(store.put_text(StateKind::kSlToVlMark, "", "f").empty());
  EXPECT_TRUE(store.get().sl_to_vl_mark) << "it is never taken back";
}

}  // namespace

}  // namespace smd
