// A client on virtual time and a fake port.
#pragma once

#include <gmock/gmock.h>

#include <optional>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/smp/smp_client.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd {

using namespace std::chrono_literals;

class SmpClientTest : public ::testing::Test {
 protected:
  static constexpr Duration kTimeout = 10ms;

  void make_client(SmpClientConfig config) {
    scope_.reset();
    client_.emplace(runtime_, port_, config);
    scope_.emplace(*client_);
  }

  void make_client() { make_client({.retries = 2, .timeout = kTimeout}); }

  static SmpRequest node_info(SmpRoute route) {
    return {.route = route, .attribute = AttributeId::NodeInfo};
  }

  static SmpRequest node_info(std::uint8_t exit = 1) {
    return node_info(SmpRoute::directed({PortNum{exit}}));
  }

  /// Sends and keeps the outcome.
  std::shared_ptr<std::optional<Result<SmpReply>>> ask(const SmpRequest& request) {
    auto outcome = std::make_shared<std::optional<Result<SmpReply>>>();
    scope_->send(request, [outcome](Result<SmpReply> reply) {
      EXPECT_FALSE(*outcome) << "completed twice";
      *outcome = std::move(reply);
    });
    return outcome;
  }

  void answer(std::size_t i) { port_.deliver(answer_to(port_.sent_smp(i))); }

  void run_for(Duration duration) { runtime_.run_until(runtime_.now() + duration); }

  sim::SimRuntime runtime_;
  FakeTransport port_;
  std::optional<SmpClient> client_;
  std::optional<SmpScope> scope_;
};

}  // namespace smd
