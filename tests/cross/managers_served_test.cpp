// smd and Debian's opensm as managers of one fabric of `smsim serve`, whose cables are pulled and
// put back: each rules by priority, dies, comes back, rules one half, and meets the other again.
#include "tests/cross/served.h"
#include "tests/cross/two_managers.h"

namespace smd::test {
namespace {

class ManagersServed : public TwoManagers {
 protected:
  [[nodiscard]] Environment client(const std::string& host) const override {
    return served_.env(host);
  }

  /// Takes down or puts back the two cables of the ring that join smd's half with opensm's.
  void set_joints(bool up) {
    if (joints_.empty()) {
      std::vector<std::string> ring{switch_of(smd_host_)};
      const SeenFabric seen = see();
      // Around the ring from smd's switch, until it is met again.
      std::map<std::string, std::map<std::string, PortKey>> ways;
      for (const auto& [port, peer] : seen.links) {
        if (seen.nodes.at(port.first).is_switch && seen.nodes.at(peer.first).is_switch)
          ways[port.first].emplace(peer.first, port);
      }
      ring.push_back(ways.at(ring[0]).begin()->first);
      while (ring.size() < ways.size()) {
        for (const auto& [next, port] : ways.at(ring.back()))
          if (next != ring[ring.size() - 2]) {
            ring.push_back(next);
            break;
          }
      }
      ASSERT_EQ(ring.size(), 4u);
      // Neighbours of smd's switch go with it and with opensm's, one each.
      joints_ = {ways.at(ring[0]).at(ring[3]), ways.at(ring[1]).at(ring[2])};
      ASSERT_EQ(switch_of(opensm_host_), ring[2]);
    }
    for (const auto& [node, port] : joints_) {
      const std::string answer = served_.console((up ? "link up \"" : "link down \"") + node +
                                                 "\"[" + std::to_string(port) + "]");
      ASSERT_NE(answer.find("1 link"), std::string::npos) << answer;
    }
  }

  /// smd does, and opensm stands by.
  void rule_beside_opensm() {
    start_smd(9);
    ASSERT_TRUE(one_rules(smd_host_));
    const auto before = lids();
    start_opensm(3);
    ASSERT_TRUE(wait_until([&] { return status().at("standbys").size() == 1; }, seconds(20)));
    EXPECT_EQ(lids(), before);
  }

  void set_own_cable(bool up) {
    const std::string answer =
        served_.console((up ? "link up \"" : "link down \"") + smd_host_ + "\"[1]");
    ASSERT_NE(answer.find("1 link"), std::string::npos) << answer;
  }

  [[nodiscard]] bool is_smd(const std::string& state) const {
    return wait_until([&] { return status().value("state", "") == state; }, seconds(30));
  }

  /// It does not take itself for a master between two looks.
  [[nodiscard]] bool looks_on() const {
    const auto is_other = [&] { return status().value("state", "") != "discovering"; };
    return is_smd("discovering") && !wait_until(is_other, seconds(3));
  }

  [[nodiscard]] std::string switch_of(const std::string& host) const {
    for (const auto& [port, peer] : see().links)
      if (port.first == host) return peer.first;
    return {};
  }

  Served served_{net_};
  std::vector<PortKey> joints_;
};

TEST_F(ManagersServed, SmdHandsOverToAHigherOpensmAndIsItsStandbyFromThenOn) {
  start_smd(3);
  ASSERT_TRUE(one_rules(smd_host_));
  const auto before = lids();
  start_opensm(9);
  ASSERT_TRUE(one_rules(opensm_host_)) << "opensm is the higher";
  EXPECT_EQ(lids(), before);
  kill(smd_);
  ASSERT_TRUE(one_rules(opensm_host_)) << "a standby less";
  start_smd(3);
  ASSERT_TRUE(one_rules(opensm_host_)) << "a standby more";
  kill(opensm_);
  ASSERT_TRUE(one_rules(smd_host_));
  EXPECT_EQ(lids(), before);
  start_opensm(9);
  ASSERT_TRUE(one_rules(opensm_host_)) << "it came back";
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersServed, OpensmTakesOverFromAKilledSmdAndHandsBack) {
  ASSERT_NO_FATAL_FAILURE(rule_beside_opensm());
  const auto before = lids();
  ASSERT_TRUE(one_rules(smd_host_));
  kill(smd_);
  ASSERT_TRUE(one_rules(opensm_host_)) << "its master died";
  EXPECT_EQ(lids(), before);
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_)) << "it came back";
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersServed, SmdWhoseCableWasOutWhileItRuledIsHandedTheSubnetAgain) {
  ASSERT_NO_FATAL_FAILURE(rule_beside_opensm());
  const auto before = lids();
  set_own_cable(false);
  EXPECT_TRUE(looks_on());
  ASSERT_TRUE(wait_until([&] { return rules(opensm_host_); }, seconds(60)));
  set_own_cable(true);
  ASSERT_TRUE(one_rules(smd_host_)) << "it stood by, and was handed the subnet";
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersServed, SmdWhoseCableWasOutWhileItStoodByStandsBy) {
  start_opensm(9);
  ASSERT_TRUE(one_rules(opensm_host_));
  start_smd(3);
  ASSERT_TRUE(is_smd("standby"));
  const auto before = lids();
  set_own_cable(false);
  EXPECT_TRUE(looks_on());
  set_own_cable(true);
  EXPECT_TRUE(is_smd("standby"));
  ASSERT_TRUE(one_rules(opensm_host_));
  EXPECT_EQ(lids(), before);
}

/// Either obeys an order that shows it alone.
TEST_F(ManagersServed, WithAnMKeyEachHandsOverToTheOther) {
  m_key_ = "0x0badcafe00000001";
  start_opensm(3);
  ASSERT_TRUE(one_rules(opensm_host_));
  const auto before = lids();
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_)) << "smd is the higher";
  kill(smd_);
  ASSERT_TRUE(one_rules(opensm_host_)) << "its master died";
  kill(opensm_);
  start_smd(3);
  ASSERT_TRUE(one_rules(smd_host_));
  start_opensm(9);
  ASSERT_TRUE(one_rules(opensm_host_)) << "opensm is the higher";
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersServed, EachRulesItsHalfUntilTheHalvesMeetAgainAndSmdIsTheHigher) {
  ASSERT_NO_FATAL_FAILURE(rule_beside_opensm());
  const auto before = lids();
  set_joints(false);
  ASSERT_TRUE(rules_its_half(smd_host_));
  ASSERT_TRUE(rules_its_half(opensm_host_));
  set_joints(true);
  ASSERT_TRUE(one_rules(smd_host_));
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersServed, EachRulesItsHalfUntilTheHalvesMeetAgainAndOpensmIsTheHigher) {
  start_opensm(9);
  ASSERT_TRUE(one_rules(opensm_host_));
  start_smd(3);
  ASSERT_TRUE(wait_until([&] { return status().value("state", "") == "standby"; }, seconds(20)));
  const auto before = lids();
  set_joints(false);
  ASSERT_TRUE(rules_its_half(opensm_host_));
  ASSERT_TRUE(rules_its_half(smd_host_));
  set_joints(true);
  ASSERT_TRUE(one_rules(opensm_host_));
  EXPECT_EQ(lids(), before);
}

}  // namespace
}  // namespace smd::test
