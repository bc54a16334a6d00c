// Whatever cable or switch is lost, and when it is back: at rest no channel carries over 5 % more
// than routes from scratch let the fullest carry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "smd/manager/route_job.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd {
namespace {

using test::Reshaped;

struct View {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
};

View view_of(Fabric fabric) {
  LidMap lids = test::lids_in_order(fabric);
  return {std::make_shared<const Fabric>(std::move(fabric)), std::move(lids)};
}

// Every port has the LID that it has in `whole`.
View with_lids_of(const View& whole, Fabric fabric) {
  LidMap lids = make_lid_map(fabric);
  for (const NodeIdx n : fabric.node_guid.indices()) {
    const NodeIdx was = *whole.fabric->find_node(fabric.node_guid[n]);
    for (unsigned p = 0; p <= fabric.num_ports(n); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const Lid lid = whole.lids.base[whole.fabric->port_of(was, number)];
      if (lid != Lid{}) set_lid(lids, fabric.port_of(n, number), lid, 0);
    }
  }
  return {std::make_shared<const Fabric>(std::move(fabric)), std::move(lids)};
}

class RebalanceJob : public ::testing::TestWithParam<const char*> {
 protected:
  // Its routes may block each other, and are refused then.
  [[nodiscard]] static bool is_minhop() { return std::string(GetParam()) == "minhop"; }

  [[nodiscard]] static RouteJob job_on(const View& on) {
    return {.fabric = on.fabric, .lids = on.lids, .engine = GetParam(), .max_vls = 8};
  }

  [[nodiscard]] static RouteJob job_after(const View& on, const View& was, const Routed& in_force) {
    RouteJob job = job_on(on);
    job.orientation = in_force.tables.orientation;
    job.in_force = std::make_shared<const ActiveSubnet>(ActiveSubnet{
        .sweep = {.fabric = was.fabric}, .lids = was.lids, .routing = in_force.tables, .rows = {}});
    return job;
  }

  /// Paths on the fullest channel, were all as fast as the slowest.
  [[nodiscard]] static double judge(const View& on, const Routed& routed) {
    EXPECT_TRUE(check_routes(*on.fabric, on.lids, routed.tables, {.minimality = false}).ok());
    return measure_load(*on.fabric, on.lids, routed.tables.lft).fullest;
  }

  // Takes in the change, and what follows at rest. Returns the tables in force then.
  Routed change(const View& was, const View& on, const Routed& in_force) {
    Routed now = compute_routed(job_after(on, was, in_force));
    if (now.error) return now;
    ++changes_;
    const RouteJob rest = job_after(on, on, now);
    if (auto evener = compute_rebalance(rest)) {
      ++reliefs_;
      EXPECT_FALSE(evener->error);
      EXPECT_LT(judge(on, *evener), judge(on, now));
      now = std::move(*evener);
    }
    const Routed fresh = compute_routed(job_on(on));
    EXPECT_TRUE(!fresh.error || is_minhop());
    if (!fresh.error) {
      EXPECT_LE(20 * judge(on, now), 21 * judge(on, fresh));
    }
    EXPECT_FALSE(compute_rebalance(job_after(on, on, now))) << "and there it ends";
    return now;
  }

  /// `of_one_lane`: a cable between two switches that has one lane in place of four.
  void lose_each_in_turn(const char* call, std::optional<std::size_t> of_one_lane = {}) {
    const auto build = [&](Reshaped shape) {
      Fabric fabric = shape.build();
      if (of_one_lane) slow_down(fabric, Reshaped{call}.cables().at(*of_one_lane));
      return fabric;
    };
    const View whole = view_of(build(Reshaped{call}));
    const Routed first = compute_routed(job_on(whole));
    ASSERT_TRUE(!first.error || is_minhop()) << first.error->context;
    if (first.error) return;
    const auto lose = [&](const std::string& what, Fabric fabric) {
      SCOPED_TRACE(fmt::format("{} without {}", call, what));
      const View left = with_lids_of(whole, std::move(fabric));
      const Routed meanwhile = change(whole, left, first);
      if (!meanwhile.error) change(left, whole, meanwhile);
    };
    for (const auto& [a, b] : Reshaped{call}.cables())
      lose(a + "-" + b, build(Reshaped{call}.without_cable(a, b)));
    for (const std::string& name : Reshaped{call}.switches())
      lose(name, build(Reshaped{call}.without_switch(name)));
  }

  static void slow_down(Fabric& fabric, const std::pair<std::string, std::string>& cable) {
    for (const PortIdx port : fabric.peer.indices()) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.description[fabric.node_of[port]] != cable.first ||
          fabric.description[fabric.node_of[peer]] != cable.second)
        continue;
      for (const PortIdx end : {port, peer}) fabric.port_info[end].link_width_active = 1;
    }
  }

  unsigned changes_ = 0;
  unsigned reliefs_ = 0;
};

TEST_P(RebalanceJob, MakesEvenWhatAnyLossLeft) {
  for (const char* call : {"fat-tree:k=4,levels=3",
                           "torus:dims=5.5,hosts=2",
                           "hamming:dims=4.3,hosts=2",
                           "dragonfly:a=4,h=1,c=2",
                           "irregular:switches=16,links=4,hosts=2,seed=3"})
    lose_each_in_turn(call);
  EXPECT_GT(changes_, is_minhop() ? 60u : 300u);
  EXPECT_LT(2 * reliefs_, changes_) << "most changes leave nothing to relieve";
  EXPECT_TRUE(reliefs_ > 0 || std::string(GetParam()) != "updn");
}

// The channel with most paths is not the fullest.
TEST_P(RebalanceJob, MakesEvenWhatAnyLossLeftBesideACableOfOneLane) {
  lose_each_in_turn("fat-tree:k=4,levels=3", 3);
  lose_each_in_turn("torus:dims=4.4,hosts=2", 5);
  EXPECT_GT(changes_, is_minhop() ? 30u : 100u);
}

INSTANTIATE_TEST_SUITE_P(Each,
                         RebalanceJob,
                         ::testing::Values("minhop", "updn", "dfsssp", "lash", "nue", "itb-vl"),
                         [](const auto& row) {
                           std::string name{row.param};
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace smd
