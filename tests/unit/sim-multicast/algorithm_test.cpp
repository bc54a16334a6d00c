// The published example: 6 x 6 switches, source (3,2), nine destinations; and means over random
// sets.
#include "sim-backend/multicast/algorithm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace smd::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Place = std::pair<int, int>;
using Order = std::vector<Place>;

LabelledNet net_of(const std::string& text) {
  return LabelledNet::build(*load_fabric(text)).value();
}

const LabelledNet& mesh6() {
  static const LabelledNet net = net_of("torus:dims=6.6,mesh=1");
  return net;
}

std::vector<MulticastTrace> trips_of(const std::string& name) {
  const LabelledNet& net = mesh6();
  std::vector<Node> to;
  for (const auto& [x, y] :
       Order{{0, 0}, {0, 2}, {0, 5}, {1, 3}, {4, 5}, {5, 0}, {5, 1}, {5, 3}, {5, 4}})
    to.push_back(net.at(x, y));
  const MulticastAlgorithm* row = find_multicast_algorithm(name);
  EXPECT_NE(row, nullptr) << name;
  EXPECT_EQ(refuse_multicast(net, *row), "");
  return trace_multicast(net, *row, net.at(3, 2), to);
}

std::vector<Order> orders_of(const std::vector<MulticastTrace>& trips) {
  std::vector<Order> out;
  for (const MulticastTrace& trip : trips) {
    out.emplace_back();
    for (const Node node : trip.message.order)
      out.back().emplace_back(mesh6().x(node), mesh6().y(node));
  }
  return out;
}

std::vector<std::size_t> channels_of(const std::vector<MulticastTrace>& trips) {
  std::vector<std::size_t> out;
  for (const MulticastTrace& trip : trips) out.push_back(trip.channels.size());
  return out;
}

MulticastFigures figures_of(const std::vector<MulticastTrace>& trips) {
  MulticastFigures out;
  out.add(trips);
  return out;
}

TEST(Multicast, LabelsRiseRowByRowEveryOtherOneBackwards) {
  const LabelledNet& net = mesh6();
  ASSERT_TRUE(net.is_mesh());
  EXPECT_EQ(net.label(net.at(0, 0)), 0u);
  EXPECT_EQ(net.label(net.at(5, 0)), 5u);
  EXPECT_EQ(net.label(net.at(5, 1)), 6u);
  EXPECT_EQ(net.label(net.at(3, 2)), 15u);
  const LabelledNet wide = net_of("torus:dims=3.5,mesh=1");
  EXPECT_EQ(wide.label(wide.at(0, 1)), wide.at(5, 0) == kNoWhere ? 9u : 0u) << "rows of five";
}

TEST(Multicast, DualPathOfTheExample) {
  const auto trips = trips_of("dual-path");
  EXPECT_THAT(orders_of(trips),
              ElementsAre(Order{{5, 3}, {1, 3}, {5, 4}, {4, 5}, {0, 5}},
                          Order{{0, 2}, {5, 1}, {5, 0}, {0, 0}}));
  EXPECT_THAT(channels_of(trips), ElementsAre(18, 15));
  EXPECT_EQ(figures_of(trips).mean_channels(), 33);
  EXPECT_EQ(figures_of(trips).farthest, 18u);
  EXPECT_NEAR(figures_of(trips).mean_distance(), 10.11, 0.005);
}

// The source has label 2 * 6 + 3, the last of those above 5 * 6 + 5, of those below 0.
TEST(Multicast, EveryLabelOfTheExample) {
  const auto trips = trips_of("label-path");
  EXPECT_EQ(orders_of(trips), orders_of(trips_of("dual-path")));
  EXPECT_THAT(channels_of(trips), ElementsAre(20, 15));
}

// 20 is printed; each of the four takes shortest ways from one destination to the next, and these
// have 21 channels.
TEST(Multicast, MultiPathOfTheExample) {
  const auto trips = trips_of("multi-path");
  EXPECT_THAT(orders_of(trips),
              testing::UnorderedElementsAre(Order{{5, 3}, {5, 4}, {4, 5}},
                                            Order{{1, 3}, {0, 5}},
                                            Order{{5, 1}, {5, 0}},
                                            Order{{0, 2}, {0, 0}}));
  EXPECT_THAT(channels_of(trips), testing::UnorderedElementsAre(6, 6, 4, 5));
  EXPECT_EQ(figures_of(trips).mean_channels(), 21);
  EXPECT_EQ(figures_of(trips).farthest, 6u);
}

TEST(Multicast, DoubleChannelAndSeparateOfTheExample) {
  const auto trips = trips_of("double-channel");
  EXPECT_THAT(orders_of(trips),
              ElementsAre(Order{{4, 5}, {5, 3}, {5, 4}},
                          Order{{0, 5}, {1, 3}},
                          Order{{0, 0}, {0, 2}},
                          Order{{5, 0}, {5, 1}}));
  EXPECT_THAT(channels_of(trips), ElementsAre(7, 7, 5, 4));
  EXPECT_EQ(figures_of(trips).farthest, 6u);
  EXPECT_EQ(figures_of(trips_of("separate")).mean_channels(), 35);
  EXPECT_EQ(figures_of(trips_of("separate-labels")).mean_channels(), 35) << "labels are minimal";
}

TEST(Multicast, QuadrantsTakeEveryDestinationOnce) {
  const LabelledNet& net = mesh6();
  const Node source = net.at(3, 2);
  std::vector<Node> all;
  for (Node node = 0; node < net.nodes(); ++node) {
    if (node != source) all.push_back(node);
  }
  for (const MulticastAlgorithm& row : multicast_algorithms()) {
    std::vector<Node> met;
    for (const MulticastTrace& trip : trace_multicast(net, row, source, all))
      met.insert(met.end(), trip.message.order.begin(), trip.message.order.end());
    std::ranges::sort(met);
    EXPECT_EQ(met, all) << row.name;
  }
}

TEST(Multicast, WestFirstPicksUpItsRowThenColumns) {
  const auto trips = trips_of("pm");
  EXPECT_THAT(
      orders_of(trips),
      ElementsAre(Order{{0, 2}, {0, 5}, {0, 0}, {1, 3}, {4, 5}, {5, 4}, {5, 3}, {5, 1}, {5, 0}}))
      << "north first, then south";
}

TEST(Multicast, MeansOverRandomSetsOfSixteen) {
  static const LabelledNet net = net_of("torus:dims=32.32,mesh=1");

  struct Row {
    const char* name;
    double channels, farthest;
  };

  for (const Row& row : {Row{"dual-path", 196.5, 151.8},
                         Row{"multi-path", 166.6, 102.2},
                         Row{"pm", 203.2, 203.2},
                         Row{"separate", 340.6, 0}}) {
    const MulticastFigures out =
        measure_random_sets(net, *find_multicast_algorithm(row.name), 1000, 16, 1);
    EXPECT_NEAR(out.mean_channels() / row.channels, 1, 0.01) << row.name << out.mean_channels();
    if (row.farthest > 0) {
      EXPECT_NEAR(out.mean_farthest() / row.farthest, 1, 0.01) << row.name << out.mean_farthest();
    }
  }
}

TEST(Multicast, OtherNetworksHaveLabelsOrARefusal) {
  const LabelledNet torus = net_of("torus:dims=4.4");
  EXPECT_FALSE(torus.is_mesh());
  EXPECT_EQ(refuse_multicast(torus, *find_multicast_algorithm("multi-path")), "");
  EXPECT_THAT(refuse_multicast(torus, *find_multicast_algorithm("pm")), HasSubstr("needs a mesh"));
  std::vector<Node> all(15);
  std::iota(all.begin(), all.end(), 1u);
  for (const char* name : {"dual-path", "multi-path"}) {
    std::size_t met = 0;
    for (const auto& trip : trace_multicast(torus, *find_multicast_algorithm(name), 0, all))
      met += trip.message.order.size();
    EXPECT_EQ(met, 15u) << name;
  }
  const LabelledNet tree = net_of("fat-tree:k=4,levels=2");
  EXPECT_THAT(refuse_multicast(tree, *find_multicast_algorithm("dual-path")),
              HasSubstr("dual-path needs labels: "));
  EXPECT_EQ(refuse_multicast(tree, *find_multicast_algorithm("up-down-tree")), "");
  EXPECT_EQ(find_multicast_algorithm("nobody's"), nullptr);
}

TEST(Multicast, ATreeToAllHasAChannelForEachSwitchButItsSource) {
  for (const char* call : {"torus:dims=4.4,mesh=1", "fat-tree:k=4,levels=2"}) {
    const LabelledNet net = net_of(call);
    const MulticastAlgorithm& tree = *find_multicast_algorithm("up-down-tree");
    for (Node source = 0; source < net.nodes(); ++source) {
      std::vector<Node> others;
      for (Node node = 0; node < net.nodes(); ++node) {
        if (node != source) others.push_back(node);
      }
      const auto trips = trace_multicast(net, tree, source, others);
      ASSERT_EQ(trips.size(), 1u);
      EXPECT_EQ(trips[0].channels.size(), net.nodes() - 1) << call;
      for (std::size_t i = 0; source == 0 && i < others.size(); ++i)
        EXPECT_EQ(trips[0].distances[i], net.distance(0, others[i])) << "shortest from the root";
    }
  }
}

}  // namespace
}  // namespace smd::sim
