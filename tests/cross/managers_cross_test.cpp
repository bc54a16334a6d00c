// smd and Debian's opensm as managers of one fabric of Debian's ibsim: the higher rules, the lower
// stands by or hands over. What opensm does once it stood by is asked where TrapRepress arrives:
// managers_served_test.cpp.
#include "tests/cross/two_managers.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

class ManagersOnIbsim : public TwoManagers {
 protected:
  void SetUp() override {
    TwoManagers::SetUp();
    ASSERT_TRUE(ibsim_.ready()) << ibsim_.complaint();
  }

  [[nodiscard]] Environment client(const std::string& host) const override {
    return ibsim_.client_environment(host);
  }

  Ibsim ibsim_{net_};
};

TEST_F(ManagersOnIbsim, OpensmHandsOverToAHigherSmdWhichKeepsEveryLid) {
  start_opensm(3);
  ASSERT_TRUE(wait_until([&] { return rules(opensm_host_) && faults().empty(); }, 30s));
  const auto before = lids();
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_)) << "smd is the higher";
  EXPECT_EQ(lids(), before);
  const nlohmann::json now = status();
  ASSERT_EQ(now.at("managers").size(), 1U) << now;
  EXPECT_EQ(now.at("managers").at(0).at("state"), "standby");
  EXPECT_EQ(now.at("managers").at(0).at("priority"), 3);
}

TEST_F(ManagersOnIbsim, ALowerSmdWaitsUntilOpensmIsKilled) {
  start_opensm(9);
  ASSERT_TRUE(wait_until([&] { return rules(opensm_host_) && faults().empty(); }, 30s));
  const auto before = lids();
  start_smd(3);
  ASSERT_TRUE(wait_until([&] { return status().value("state", "") == "standby"; }, 10s));
  std::this_thread::sleep_for(3s);
  ASSERT_TRUE(one_rules(opensm_host_));
  kill(opensm_);
  ASSERT_TRUE(one_rules(smd_host_));
  EXPECT_EQ(lids(), before);
}

TEST_F(ManagersOnIbsim, ALowerOpensmStandsBy) {
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_));
  start_opensm(3);
  EXPECT_TRUE(wait_until([&] { return status().at("standbys").size() == 1; }, 20s)) << status();
  ASSERT_TRUE(one_rules(smd_host_));
}

}  // namespace
}  // namespace smd::test
