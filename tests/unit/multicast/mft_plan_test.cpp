// Every Set on the way from one set of trees to another, in any order, with some that get lost: at
// no moment a packet goes round or comes twice.
#include "smd/multicast/mft_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "smd/multicast/check_tree.h"
#include "tests/unit/multicast/random_fabric.h"

namespace smd {
namespace mft_plan_test {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Lid nth(unsigned n) { return Lid{static_cast<std::uint16_t>(0xc000 + n)}; }

/// Switches with their tables, and what the manager knows of them.
class Bench {
 public:
  explicit Bench(std::shared_ptr<const Fabric> snapshot) : fabric(std::move(snapshot)) {
    const MftGoals all{{nth(0), {}}};
    for (const MftWrite& each : find_unread(*fabric, memory, all)) confirm(each);
  }

  /// The switch takes it; nobody has heard so.
  void apply(const MftWrite& write) {
    memory.send(guid_of(write.sw), write.at, write.masks);
    registers_[{write.sw, encode_modifier(write.at)}] = write.masks;
  }

  /// It is on its way, and gets lost.
  void lose(const MftWrite& write) { memory.send(guid_of(write.sw), write.at, write.masks); }

  void confirm(const MftWrite& write) { memory.confirm(guid_of(write.sw), write.at, held(write)); }

  [[nodiscard]] bool copies(Lid mlid, SwitchIdx sw, PortNum port) const {
    const unsigned place = mlid.value() - 0xc000u;
    const MftModifier at{static_cast<std::uint16_t>(place / 32),
                         static_cast<std::uint8_t>(port.value() / 16)};
    const auto found = registers_.find({sw, encode_modifier(at)});
    return found != registers_.end() && (found->second[place % 32] >> port.value() % 16 & 1) != 0;
  }

  /// Over all MLIDs 0 … count - 1, whoever sends.
  [[nodiscard]] std::string find_repetition(unsigned count) const {
    return find_repetition(count, test::end_ports(*fabric));
  }

  [[nodiscard]] std::string find_repetition(unsigned count,
                                            const std::vector<PortIdx>& senders) const {
    for (unsigned n = 0; n < count; ++n) {
      std::string found = test::find_repetition(
          *fabric, [&](SwitchIdx sw, PortNum port) { return copies(nth(n), sw, port); }, senders);
      if (!found.empty()) return found;
    }
    return {};
  }

  std::shared_ptr<const Fabric> fabric;
  MftMemory memory;

 private:
  [[nodiscard]] Guid guid_of(SwitchIdx sw) const {
    return fabric->node_guid[fabric->switch_node[sw]];
  }

  [[nodiscard]] MftBlock held(const MftWrite& write) const {
    const auto found = registers_.find({write.sw, encode_modifier(write.at)});
    return found == registers_.end() ? MftBlock{} : found->second;
  }

  std::map<std::pair<SwitchIdx, std::uint32_t>, MftBlock> registers_;
};

struct Wanted {
  MftGoals goals;
  std::map<Lid, std::vector<TreeMember>> members;
};

/// Directions of their own, so that trees of different calls have little in common.
Wanted random_goals(const Fabric& fabric, Rng& rng, unsigned groups) {
  IndexVector<SwitchIdx, std::uint32_t> rank(fabric.switch_count());
  const SwitchIdx top{static_cast<std::uint32_t>(rng.below(fabric.switch_count()))};
  rank = compute_distances(SwitchGraph(fabric), {&top, 1});
  Forest forest;
  forest.adopt(std::make_shared<const Fabric>(fabric), rank);
  Wanted wanted;
  for (unsigned n = 0; n < groups; ++n) {
    auto members =
        rng.below(5) == 0 ? std::vector<TreeMember>{} : test::random_members(fabric, rng);
    wanted.goals[nth(n)] = compute_masks(fabric, forest.update(nth(n), members), members);
    wanted.members[nth(n)] = std::move(members);
  }
  return wanted;
}

void shuffle(std::vector<MftWrite>& writes, Rng& rng) {
  for (std::size_t i = writes.size(); i > 1; --i) std::swap(writes[i - 1], writes[rng.below(i)]);
}

std::string find_misdelivery(const Bench& bench, const Wanted& wanted) {
  for (const auto& [mlid, members] : wanted.members) {
    std::vector<std::pair<PortIdx, bool>> all;
    for (const TreeMember& member : members) all.emplace_back(member.port, member.receives);
    std::string found = test::find_misdelivery(
        *bench.fabric,
        [&, lid = mlid](SwitchIdx sw, PortNum port) { return bench.copies(lid, sw, port); },
        all);
    if (!found.empty()) return found;
  }
  return {};
}

TEST(MftPlan, NoMixtureRepeatsAPacket) {
  unsigned in_two_steps = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Bench bench(test::with_tables(
        test::fabric_from(test::random_text(rng, static_cast<unsigned>(rng.below(6)) + 2))));
    constexpr unsigned kGroups = 3;
    for (unsigned change = 0; change < 4; ++change) {
      const Wanted wanted = random_goals(*bench.fabric, rng, kGroups);
      unsigned stages = 0;
      for (;; ++stages) {
        MftStage stage = plan_stage(*bench.fabric, bench.memory, wanted.goals);
        if (stage.writes.empty()) break;
        in_two_steps += stage.first_steps.empty() ? 0u : 1u;
        shuffle(stage.writes, rng);
        for (const MftWrite& write : stage.writes) {
          bench.apply(write);
          ASSERT_EQ(bench.find_repetition(kGroups), "");
        }
        for (const MftWrite& write : stage.writes) bench.confirm(write);
      }
      ASSERT_LE(stages, 2u);
      ASSERT_THAT(find_unmet(*bench.fabric, bench.memory, wanted.goals), IsEmpty());
      ASSERT_EQ(find_misdelivery(bench, wanted), "");
    }
  }
  EXPECT_GT(in_two_steps, 20u);
}

TEST(MftPlan, WhatGotLostHoldsUpWhatWouldNotBeSafe) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Bench bench(test::with_tables(
        test::fabric_from(test::random_text(rng, static_cast<unsigned>(rng.below(6)) + 2))));
    constexpr unsigned kGroups = 3;
    for (unsigned change = 0; change < 4; ++change) {
      const Wanted wanted = random_goals(*bench.fabric, rng, kGroups);
      // Nobody waits for lost ones: the next change may come before they are made good.
      const std::uint64_t rounds = rng.below(5);
      for (std::uint64_t round = 0; round < 40; ++round) {
        const bool quiet = round > rounds;
        MftStage stage = plan_stage(*bench.fabric, bench.memory, wanted.goals);
        if (stage.writes.empty()) break;
        shuffle(stage.writes, rng);
        for (const MftWrite& write : stage.writes) {
          const std::uint64_t fate = quiet ? 9 : rng.below(10);
          if (fate == 0) {
            bench.lose(write);
          } else {
            bench.apply(write);
            if (fate > 1) bench.confirm(write);
          }
          ASSERT_EQ(bench.find_repetition(kGroups), "");
        }
        if (!quiet && rng.below(4) == 0) break;
      }
      if (change == 3) {
        for (MftStage stage = plan_stage(*bench.fabric, bench.memory, wanted.goals);
             !stage.writes.empty();
             stage = plan_stage(*bench.fabric, bench.memory, wanted.goals)) {
          for (const MftWrite& write : stage.writes) {
            bench.apply(write);
            ASSERT_EQ(bench.find_repetition(kGroups), "");
            bench.confirm(write);
          }
        }
        ASSERT_EQ(find_misdelivery(bench, wanted), "");
      }
    }
  }
}

class OneFabric : public ::testing::Test {
 protected:
  OneFabric()
      : bench(test::with_tables(test::fabric_from("H1-S1 S3/40 H2-S2 H3-S3 S1-S2 S2-S3 S3-S1"))) {
    const SwitchIdx top = test::switch_named(*bench.fabric, "S1");
    forest.adopt(bench.fabric, compute_distances(SwitchGraph(*bench.fabric), {&top, 1}));
  }

  MftGoals goal(const std::vector<std::string>& hosts, Lid mlid = nth(0)) {
    std::vector<TreeMember> members;
    for (const std::string& host : hosts) members.push_back({test::end_port(*bench.fabric, host)});
    return {{mlid, compute_masks(*bench.fabric, forest.update(mlid, members), members)}};
  }

  void write(const MftGoals& goals) {
    for (const MftWrite& each : plan_stage(*bench.fabric, bench.memory, goals).writes) {
      bench.apply(each);
      bench.confirm(each);
    }
  }

  Bench bench;
  Forest forest;
};

TEST_F(OneFabric, AJoinWritesWhatItTouches) {
  write(goal({"H1", "H2"}));
  const MftGoals goals = goal({"H1", "H2", "H3"});
  const MftStage stage = plan_stage(*bench.fabric, bench.memory, goals);
  EXPECT_THAT(stage.writes, SizeIs(2)) << "S3 and the one above it";
  EXPECT_THAT(stage.first_steps, IsEmpty());
  write(goals);
  EXPECT_THAT(plan_stage(*bench.fabric, bench.memory, goals).writes, IsEmpty());
}

TEST_F(OneFabric, OtherMlidsOfABlockStayAsTheyAre) {
  const MftGoals first = goal({"H1", "H2"}, nth(3));
  write(first);
  write(goal({"H1", "H3"}, nth(5)));
  EXPECT_THAT(find_unmet(*bench.fabric, bench.memory, first), IsEmpty());
}

TEST_F(OneFabric, NothingIsDecidedOnWhatIsNotKnown) {
  MftMemory nothing;
  const MftGoals goals = goal({"H1", "H2", "H3"});
  // S3 has 40 ports: three positions; the others have one each.
  EXPECT_THAT(find_unread(*bench.fabric, nothing, goals), SizeIs(5));
  EXPECT_THAT(find_unread(*bench.fabric, bench.memory, goals), IsEmpty());
}

TEST_F(OneFabric, WhatSomebodyElseLeftIsTakenAwayFirst) {
  // A circle of somebody's: S1 -> S2 -> S3 -> S1.
  const auto leave = [&](const char* name, std::uint16_t ports) {
    const SwitchIdx sw = test::switch_named(*bench.fabric, name);
    MftWrite write{.sw = sw, .at = {}};
    write.masks[0] = ports;
    bench.apply(write);
    bench.confirm(write);
  };
  leave("S1", 1u << 2);
  leave("S2", 1u << 3);
  leave("S3", 1u << 3);
  const MftGoals goals = goal({"H1", "H2", "H3"});
  MftStage stage = plan_stage(*bench.fabric, bench.memory, goals);
  EXPECT_EQ(stage.first_steps, std::vector{nth(0)});
  for (const MftWrite& each : stage.writes) {
    bench.apply(each);
    bench.confirm(each);
  }
  EXPECT_EQ(bench.find_repetition(1), "");
  stage = plan_stage(*bench.fabric, bench.memory, goals);
  EXPECT_THAT(stage.first_steps, IsEmpty());
  EXPECT_FALSE(stage.writes.empty());
}

TEST(MftMemory, WhatWasSentMayBeHeld) {
  MftMemory memory;
  const MftBlock one{1};
  const MftBlock two{2};
  EXPECT_FALSE(memory.find(Guid{1}, {}).sure);
  memory.confirm(Guid{1}, {}, one);
  memory.send(Guid{1}, {}, two);
  EXPECT_FALSE(memory.find(Guid{1}, {}).sure);
  EXPECT_EQ(memory.find(Guid{1}, {}).may[0], 3);
  const auto held = [&] {
    std::vector<MftBlock> blocks;
    memory.each_held(Guid{1}, [&](MftModifier, const MftBlock& block) { blocks.push_back(block); });
    return blocks;
  };
  EXPECT_THAT(held(), IsEmpty());
  memory.confirm(Guid{1}, {}, two);
  EXPECT_EQ(memory.find(Guid{1}, {}).may[0], 2);
  EXPECT_EQ(held(), std::vector{two});
  memory.forget(Guid{1});
  EXPECT_FALSE(memory.find(Guid{1}, {}).sure);
}

// What such a block holds may close a loop with what is written beside it.
TEST(MftPlan, WritesNoBlockThatNobodyHasRead) {
  Rng rng(1);
  const auto fabric = test::with_tables(test::fabric_from(test::random_text(rng, 5)));
  const Wanted wanted = random_goals(*fabric, rng, 3);
  MftMemory memory;
  EXPECT_THAT(plan_stage(*fabric, memory, wanted.goals).writes, IsEmpty());
  for (const MftWrite& each : find_unread(*fabric, memory, wanted.goals))
    memory.confirm(fabric->node_guid[fabric->switch_node[each.sw]], each.at, MftBlock{});
  const std::vector<MftWrite> all = plan_stage(*fabric, memory, wanted.goals).writes;
  ASSERT_FALSE(all.empty());
  const SwitchIdx sw = all.front().sw;
  memory.forget(fabric->node_guid[fabric->switch_node[sw]]);
  for (const MftWrite& each : plan_stage(*fabric, memory, wanted.goals).writes)
    EXPECT_NE(each.sw, sw);
}

/// Switches hold trees of somebody else, and of some no Get is answered.
struct TakenOver {
  TakenOver(Rng& rng, unsigned groups)
      : bench(test::with_tables(
            test::fabric_from(test::random_text(rng, static_cast<unsigned>(rng.below(6)) + 3)))) {
    const Wanted theirs = random_goals(*bench.fabric, rng, groups);
    for (const MftWrite& each : plan_stage(*bench.fabric, bench.memory, theirs.goals).writes)
      bench.apply(each);
    for (const MftWrite& each :
         find_unread(*bench.fabric, bench.memory, theirs.goals))  // what was just sent
      bench.confirm(each);
    for (const SwitchIdx sw : bench.fabric->switch_node.indices()) {
      if (rng.below(4) != 0) continue;
      unread.insert(sw);
      bench.memory.forget(bench.fabric->node_guid[bench.fabric->switch_node[sw]]);
    }
    // What those that nobody could read do with what their own hosts send is their former tree.
    for (const PortIdx port : test::end_ports(*bench.fabric)) {
      const PortIdx entry = entry_of(*bench.fabric, port);
      if (!unread.contains(bench.fabric->switch_at(entry))) senders.push_back(port);
    }
  }

  Bench bench;
  std::set<SwitchIdx> unread;
  std::vector<PortIdx> senders;
};

TEST(MftPlan, WhatNobodyCouldReadLetsNothingGoRound) {
  constexpr unsigned kGroups = 3;
  unsigned held_up = 0, met = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TakenOver site(rng, kGroups);
    Bench& bench = site.bench;
    ASSERT_EQ(bench.find_repetition(kGroups), "");
    const Wanted wanted = random_goals(*bench.fabric, rng, kGroups);
    MftStage stage;
    for (unsigned stages = 0;; ++stages) {
      stage = plan_stage(*bench.fabric, bench.memory, wanted.goals);
      if (stage.writes.empty()) break;
      ASSERT_LT(stages, 2u);
      ASSERT_EQ(find_mixture_fault(*bench.fabric, bench.memory, stage.writes, {}), "");
      shuffle(stage.writes, rng);
      for (const MftWrite& write : stage.writes) {
        bench.apply(write);
        ASSERT_EQ(bench.find_repetition(kGroups, site.senders), "");
      }
      for (const MftWrite& write : stage.writes) bench.confirm(write);
    }
    held_up += static_cast<unsigned>(stage.held_up.size());
    if (!site.unread.empty()) met += kGroups - static_cast<unsigned>(stage.held_up.size());
    for (const MftWrite& each : find_unread(*bench.fabric, bench.memory, wanted.goals))
      bench.confirm(each);
    for (stage = plan_stage(*bench.fabric, bench.memory, wanted.goals); !stage.writes.empty();
         stage = plan_stage(*bench.fabric, bench.memory, wanted.goals)) {
      for (const MftWrite& write : stage.writes) {
        bench.apply(write);
        ASSERT_EQ(bench.find_repetition(kGroups, site.senders), "");
      }
      for (const MftWrite& write : stage.writes) bench.confirm(write);
    }
    ASSERT_EQ(find_misdelivery(bench, wanted), "");
  }
  EXPECT_GT(held_up, 100u);
  EXPECT_GT(met, 100u) << "they hold up what can close a circle, and nothing else";
}

TEST(MftMemory, AFreshSwitchIsBelievedOnce) {
  MftMemory memory;
  memory.note_restarted(Guid{1});
  EXPECT_TRUE(memory.find(Guid{1}, {}).sure);
  memory.note_restarted(Guid{1});
  EXPECT_TRUE(memory.find(Guid{1}, {}).sure) << "it was not written meanwhile";
  memory.send(Guid{1}, {}, MftBlock{1});
  memory.note_restarted(Guid{1});
  EXPECT_FALSE(memory.find(Guid{1}, {}).sure) << "off and on, or its LinearFDBTop was not set";
  memory.note_restarted(Guid{1});
  EXPECT_FALSE(memory.find(Guid{1}, {}).sure);
  memory.confirm(Guid{1}, {}, MftBlock{});
  EXPECT_TRUE(memory.find(Guid{1}, {}).sure);
}

}  // namespace mft_plan_test
}  // namespace smd
