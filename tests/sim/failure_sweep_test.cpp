// Every single SMP of a bring-up goes wrong once, each in its own run: refused by the port, or
// swallowed on the way.
#include <gtest/gtest.h>

#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

enum class Fault { Refuse, Swallow, AnswerGarbage };

/// False when the run was over before the failing send: the sweep is complete.
bool bring_up(std::uint64_t failing, Fault fault) {
  SimulatedSubnet subnet(spec_of("example:name=fig67"));
  std::uint64_t sends = 0;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    if (sends++ != failing) return true;
    if (fault == Fault::Refuse) return fail(Errc::Busy, "the send queue is full");
    if (fault == Fault::Swallow) return false;
    // The right transaction, the wrong attribute.
    Smp wrong = smp;
    wrong.method = Method::GetResp;
    wrong.returning = wrong.directed;
    wrong.attribute_id = 0x7777;
    MadPacket answer;
    encode_smp(wrong, answer.mad);
    subnet.tap.deliver(answer);
    return true;
  };
  subnet.start();
  EXPECT_TRUE(subnet.is_up()) << "send " << failing;
  EXPECT_EQ(find_inactive_port(subnet), "") << "send " << failing;
  return sends > failing;
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
