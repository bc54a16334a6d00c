// Two or three managers on a ring through kills, restarts, pauses, lost packets, cuts and joints,
// also of their own cables, by seeds. At every moment no two may write in one part for longer than
// documented; in the end one rules, every port is Active under it, and no LID has moved.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/support/cables.h"
#include "tests/support/managers.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace managers_storm_test {

using namespace std::chrono_literals;

// docs/several-managers.md: sweep.interval_s plus 12 s.
constexpr Duration kLongestRivalry = 22s;

constexpr std::uint64_t kSeedsPerShard = 50;

class Storm {
 public:
  explicit Storm(std::uint64_t seed)
      : rng_(seed), all_("torus:dims=4,hosts=2", choose_hosts(rng_), seed) {
    ring_ = cables_between_switches(all_.fabric.spec());
  }

  void run() {
    for (std::size_t i = 0; i < all_.members.size(); ++i) {
      priorities_.push_back(static_cast<unsigned>(rng_.below(3)));
      all_[i].start(settings(i));
      all_.run_for(std::chrono::milliseconds(rng_.below(1500)));
    }
    ASSERT_TRUE(settle(60s)) << all_.find_fault();
    const auto lids = all_.lids();
    OracleWatch watch(all_);
    for (unsigned n = 0; n < 8; ++n) {
      disturb();
      all_.run_for(std::chrono::milliseconds(rng_.below(9000)));
    }
    calm();
    ASSERT_TRUE(settle(120s)) << all_.find_fault() << "\n" << story_;
    EXPECT_EQ(all_.lids(), lids) << story_;
    EXPECT_LE(all_.longest_rivalry, kLongestRivalry) << story_;
    EXPECT_TRUE(watch.connected()) << story_;
    EXPECT_EQ(watch.timeline().now().find_cycle(), "") << story_;
    all_.run_for(30s);  // a higher one is handed the subnet by now
    ASSERT_TRUE(settle(60s)) << all_.find_fault() << "\n" << story_;
    EXPECT_TRUE(is_highest_master()) << story_;
    // Whoever rules goes on ruling, and nobody else writes.
    std::vector<std::uint64_t> sets;
    for (const auto& member : all_.members) sets.push_back(member->sets);
    all_.run_for(25s);
    EXPECT_TRUE(all_.settled()) << all_.find_fault() << "\n" << story_;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (all_[i].state() == SmState::Master) continue;
      EXPECT_EQ(all_[i].sets, sets[i]) << i << story_;
    }
    EXPECT_EQ(watch.never_allowed(), "") << story_;
  }

  [[nodiscard]] Duration rivalry() const { return all_.longest_rivalry; }

 private:
  static std::vector<std::string> choose_hosts(Rng& rng) {
    std::vector<std::string> hosts{"host-00000", "host-00004"};
    if (rng.below(2) == 0) hosts.push_back(rng.below(2) == 0 ? "host-00006" : "host-00002");
    return hosts;
  }

  Settings settings(std::size_t i) const { return manager_settings(priorities_[i]); }

  bool settle(Duration limit) {
    return all_.run_until([this] { return all_.settled(); }, limit);
  }

  void note(const std::string& what) {
    story_ +=
        "\n  " + std::to_string(all_.runtime.now().since_epoch.count() / 1'000'000) + " ms " + what;
  }

  void disturb() {
    const std::size_t i = rng_.below(all_.members.size());
    Member& member = all_[i];
    const std::string name = "manager " + std::to_string(i);
    switch (rng_.below(7)) {
      case 0:
      case 1:
        if (!member.alive()) {
          note(name + " starts");
          return member.start(settings(i));
        }
        note(name + " dies");
        return member.kill();
      case 2:
        if (!member.alive()) return;
        note(name + (member.runtime->paused() ? " goes on" : " stands still"));
        return member.runtime->paused() ? member.resume() : member.pause();
      case 3:
        for (unsigned cuts = 0; cuts < 2; ++cuts) set_cable(rng_.below(ring_.size()), false);
        return;
      case 4:
        for (std::size_t c = 0; c < ring_.size(); ++c) set_cable(c, true);
        return;
      case 5:
        note("packets are lost");
        return all_.fabric.set_wire_faults({.drop = 0.02});
      case 6:
        return set_own_cable(i, !all_.fabric.link_up(member.node, PortNum{1}));
    }
  }

  void set_cable(std::size_t cable, bool up) {
    note("cable " + std::to_string(cable) + (up ? " up" : " down"));
    all_.fabric.set_link(ring_[cable].node, ring_[cable].port, up);
  }

  void set_own_cable(std::size_t i, bool up) {
    note("cable of manager " + std::to_string(i) + (up ? " up" : " down"));
    all_.fabric.set_link(all_[i].node, PortNum{1}, up);
  }

  void calm() {
    note("calm");
    all_.fabric.set_wire_faults({});
    for (std::size_t i = 0; i < all_.members.size(); ++i) set_own_cable(i, true);
    for (std::size_t c = 0; c < ring_.size(); ++c) set_cable(c, true);
    bool any = false;
    for (const auto& member : all_.members) {
      if (member->alive() && member->runtime->paused()) member->resume();
      any = any || member->alive();
    }
    if (!any) all_[0].start(settings(0));
  }

  /// By rank alone: whoever rules is the highest of those that live.
  bool is_highest_master() {
    const Member* best = nullptr;
    std::size_t best_at = 0;
    for (std::size_t i = 0; i < all_.members.size(); ++i) {
      const Member& each = all_[i];
      if (!each.alive()) continue;
      const auto& spec = all_.fabric.spec();
      const auto guid = [&](const Member& m) { return spec.nodes[m.node].ports[1].guid; };
      if (best == nullptr || priorities_[i] > priorities_[best_at] ||
          (priorities_[i] == priorities_[best_at] && guid(each) < guid(*best))) {
        best = &each;
        best_at = i;
      }
    }
    return best->state() == SmState::Master;
  }

  Rng rng_;
  Managers all_;
  std::vector<unsigned> priorities_;
  std::vector<Cable> ring_;
  std::string story_;
};

class Storms : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Storms, EndWithOneMasterAndNoMovedLid) {
  Duration longest{0};
  for (std::uint64_t seed = GetParam() * kSeedsPerShard; seed < (GetParam() + 1) * kSeedsPerShard;
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm storm(seed);
    storm.run();
    longest = std::max(longest, storm.rivalry());
    if (HasFailure()) break;
  }
  RecordProperty(
      "longest_rivalry_ms",
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Storms, testing::Range(std::uint64_t{0}, std::uint64_t{4}));

}  // namespace managers_storm_test
}  // namespace smd::test
