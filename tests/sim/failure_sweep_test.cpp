// Every single SMP of a bring-up goes wrong once, each in its own run: refused by the port, or
// swallowed on the way.
#include <gtest/gtest.h>

#include "tests/support/world.h"

namespace smd::test {
namespace {

enum class Fault { Refuse, Swallow, AnswerGarbage };

/// Passes everything on but the n-th send.
class FlakyTransport final : public Transport {
 public:
  FlakyTransport(Transport& inner, std::uint64_t failing, Fault fault)
      : inner_(inner), failing_(failing), fault_(fault) {}

  LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    if (sends_++ != failing_) return inner_.send(packet);
    hit = true;
    if (fault_ == Fault::Refuse) return fail(Errc::Busy, "the send queue is full");
    if (fault_ == Fault::AnswerGarbage) {
      // The right transaction, the wrong attribute.
      auto smp = decode_smp(packet.mad);
      smp->method = Method::GetResp;
      smp->returning = smp->directed;
      smp->attribute_id = 0x7777;
      MadPacket answer = packet;
      encode_smp(*smp, answer.mad);
      receive_(answer);
      return inner_.send(packet);
    }
    return {};
  }

  void set_handlers(Receive receive, Lost lost) override {
    receive_ = receive;
    inner_.set_handlers(std::move(receive), std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  bool hit = false;

 private:
  Transport& inner_;
  Receive receive_;
  std::uint64_t sends_ = 0;
  std::uint64_t failing_;
  Fault fault_;
};

/// False when the run was over before the failing send: the sweep is complete.
bool bring_up(std::uint64_t failing, Fault fault) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, spec_of("example:name=fig67"), sim::Timing::modern(), 1);
  sim::SimTransport port(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  FlakyTransport flaky(port, failing, fault);
  SubnetManager manager(runtime, flaky, WorldOptions::default_settings(), {}, {});
  manager.start();
  runtime.run_while_not([&] { return manager.cycles() > 0 && manager.at_rest(); },
                        runtime.now() + Duration(std::chrono::minutes(1)));
  EXPECT_TRUE(manager.last_cycle() != nullptr && manager.last_cycle()->up()) << "send " << failing;
  for (std::uint32_t node = 0; node < fabric.spec().nodes.size(); ++node) {
    for (unsigned p = 1; p <= fabric.spec().nodes[node].num_ports(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      if (!fabric.link_up(node, number)) continue;
      EXPECT_EQ(fabric.port_info(node, number).state(), PortState::Active) << "send " << failing;
    }
  }
  return flaky.hit;
}

class FailureSweep : public testing::TestWithParam<Fault> {};

TEST_P(FailureSweep, TheSubnetComesUpWhicheverSmpFails) {
  std::uint64_t failing = 0;
  while (bring_up(failing, GetParam())) {
    ASSERT_FALSE(HasFailure()) << "send " << failing;
    ++failing;
  }
  EXPECT_GT(failing, 100u) << "the sweep covered too little";
}

INSTANTIATE_TEST_SUITE_P(Faults,
                         FailureSweep,
                         testing::Values(Fault::Refuse, Fault::Swallow, Fault::AnswerGarbage),
                         [](const auto& param) {
                           switch (param.param) {
                             case Fault::Refuse:
                               return "Refuse";
                             case Fault::Swallow:
                               return "Swallow";
                             case Fault::AnswerGarbage:
                               break;
                           }
                           return "AnswerGarbage";
                         });

}  // namespace
}  // namespace smd::test
