// A manager whose SMPs are looked at on the way: what it sends by LID, and what it says of values
// that agents do not keep.
#include <gtest/gtest.h>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

class Tap final : public Transport {
 public:
  explicit Tap(Transport& inner) : inner_(inner) {}

  LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    const auto smp = decode_smp(packet.mad);
    if (smp && smp->method == Method::Set &&
        smp->attribute_id == static_cast<std::uint16_t>(AttributeId::PortInfo))
      ++(smp->directed ? directed : by_lid);
    return inner_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    inner_.set_handlers(
        [this, receive = std::move(receive)](const MadPacket& packet) {
          MadPacket edited = packet;
          auto smp = decode_smp(packet.mad);
          if (edit && smp &&
              smp->attribute_id == static_cast<std::uint16_t>(AttributeId::PortInfo)) {
            if (auto info = decode_port_info(smp->data)) {
              edit(*info);
              encode_port_info(*info, smp->data);
              encode_smp(*smp, edited.mad);
            }
          }
          receive(edited);
        },
        std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  std::function<void(PortInfo&)> edit;
  unsigned directed = 0;
  unsigned by_lid = 0;

 private:
  Transport& inner_;
};

struct TappedManager : testing::Test {
  void bring_up(const std::string& mode) {
    app::Settings settings = WorldOptions::default_settings();
    settings.assimilation = parse_assimilation(mode).value();
    manager = std::make_unique<app::SubnetManager>(
        runtime, tap, settings, app::Kept{}, app::SubnetManager::Observer{});
    manager->start();
    ASSERT_TRUE(settle(1));
  }

  bool settle(std::uint64_t cycles) {
    const std::uint64_t wanted = manager->cycles() + cycles;
    return runtime.run_while_not([&] { return manager->cycles() >= wanted && manager->at_rest(); },
                                 runtime.now() + Duration(std::chrono::minutes(1)));
  }

  sim::SimRuntime runtime;
  sim::SimFabric fabric{runtime, spec_of("example:name=fig76"), sim::Timing::modern(), 1};
  sim::SimTransport port{fabric, fabric.spec().sm_node, fabric.spec().sm_port};
  Tap tap{port};
  std::unique_ptr<app::SubnetManager> manager;
};

TEST_F(TappedManager, ActivatesByLidWhereItIsAskedTo) {
  bring_up("full+engine+proved+whole+lid-routed");
  EXPECT_EQ(tap.by_lid, 0u) << "nobody had its LID yet";
  const std::uint32_t node = sim::find_node(fabric.spec(), "node-5");
  fabric.set_link(node, PortNum{2}, false);
  ASSERT_TRUE(settle(1));
  fabric.set_link(node, PortNum{2}, true);
  ASSERT_TRUE(settle(1));
  EXPECT_GT(tap.by_lid, 0u);
  EXPECT_EQ(manager->smp_stats().timeouts, 0u);
}

TEST_F(TappedManager, SendsEverythingDirectedOtherwise) {
  bring_up("certified");
  EXPECT_EQ(tap.by_lid, 0u);
}

TEST_F(TappedManager, FollowsProvisionalRoutesWithFinalOnes) {
  bring_up("partial+pira-fera+proved+delta");
  EXPECT_EQ(manager->last_cycle()->engine, "fera");
  EXPECT_TRUE(manager->last_cycle()->provisional);
  EXPECT_EQ(manager->in_force()->routing.engine, "fera");
}

TEST_F(TappedManager, NamesAValueThatAPortDoesNotKeepOnce) {
  const unsigned long before = log::count(log::Level::Warn);
  tap.edit = [](PortInfo& info) { info.hoq_life = 3; };
  bring_up("certified");
  const unsigned long said = log::count(log::Level::Warn) - before;
  EXPECT_GT(said, 0u);
  manager->request_sweep("test");
  ASSERT_TRUE(settle(1));
  EXPECT_EQ(log::count(log::Level::Warn) - before, said) << "no news";
}

}  // namespace
}  // namespace smd::test
