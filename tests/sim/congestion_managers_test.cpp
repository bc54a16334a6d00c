// Two managers with congestion control, as the daemon wires them: agents are set by whoever rules,
// and by nobody beside it.
#include <gtest/gtest.h>

#include <utility>

#include "smd/daemon/session.h"
#include "smd/mad/header.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace congestion_managers_test {

using namespace std::chrono_literals;

/// A Set of congestion control.
bool sets_agent(const MadPacket& packet) {
  const MadHeader header = *decode_mad_header(packet.mad);
  return header.mgmt_class == static_cast<std::uint8_t>(MgmtClass::CongestionControl) &&
         header.method == static_cast<std::uint8_t>(Method::Set);
}

bool is_sm_info(const Smp& smp, Method method) {
  return smp.method == method && is_about(smp, AttributeId::SmInfo);
}

/// What a machine sends, and what comes to it; the process may stand still.
struct CongestedMachine {
  CongestedMachine(TimedFabric& on, const std::string& host, Settings settings)
      : runtime(on.runtime), transport(on.fabric, on.node(host), PortNum{1}), tap(transport) {
    tap.on_departure = [this](const MadPacket& packet) {
      agent_sets += sets_agent(packet) ? 1 : 0;
      if (on_departure) on_departure(packet);
    };
    tap.on_arrival = [this](const MadPacket& packet) {
      const bool passes = !loses || !loses(packet);
      if (passes && runtime.paused()) waiting.push_back(packet);
      return passes && !runtime.paused();
    };
    session.emplace(
        runtime, tap, std::move(settings), SaConfig{}, store, Session::Hooks{.wall_ms = [this] {
          return std::chrono::duration_cast<std::chrono::milliseconds>(runtime.now().since_epoch)
              .count();
        }});
    session->start();
  }

  void resume() {
    runtime.resume();
    for (const MadPacket& packet : std::exchange(waiting, {}))
      runtime.post([this, packet] { tap.deliver(packet); });
  }

  [[nodiscard]] SubnetManager& manager() { return session->manager(); }

  [[nodiscard]] SmState state() { return manager().election().state(); }

  [[nodiscard]] bool rests() {
    return manager().at_rest() && session->congestion().at_rest() &&
           (state() == SmState::Standby ||
            (state() == SmState::Master && manager().last_cycle() && manager().last_cycle()->up()));
  }

  PausableRuntime runtime;
  sim::SimTransport transport;
  sim::SmpTap tap;
  StateStore store;
  std::uint64_t agent_sets = 0;  // given to the port, as often as they were tried
  std::function<void(const MadPacket&)> on_departure;
  std::function<bool(const MadPacket&)> loses;  // on the way in
  std::vector<MadPacket> waiting;               // in the kernel, while the process stands still
  std::optional<Session> session;
};

struct CongestedManagers : testing::Test, TimedFabric {
  CongestedManagers() : TimedFabric(spec_of("fat-tree:k=4,levels=2")) {}

  Settings settings_of(unsigned priority, unsigned threshold = 8) const {
    Settings settings = manager_settings(priority);
    settings.congestion.enabled = true;
    settings.congestion.log_interval_s = 0;
    settings.congestion.threshold = threshold;
    settings.smp.retries = retries;
    return settings;
  }

  bool run_until(const std::function<bool()>& done, Duration limit = 60s) {
    return TimedFabric::run_until(done, limit);
  }

  void start(std::optional<CongestedMachine>& which, const std::string& host, unsigned priority) {
    which.emplace(*this, host, settings_of(priority));
    ASSERT_TRUE(run_until([&] { return which->rests(); }));
  }

  /// The first has other settings to give to agents; what they answer is lost from now on.
  void leave_sets_unanswered() {
    first->loses = [](const MadPacket& packet) {
      return decode_mad_header(packet.mad)->mgmt_class ==
             static_cast<std::uint8_t>(MgmtClass::CongestionControl);
    };
    first->manager().adopt(settings_of(priority_of_first, 4));
    first->manager().request_sweep("configuration");
    const std::uint64_t before = first->agent_sets;
    ASSERT_TRUE(run_until([&] { return first->agent_sets > before; }));
  }

  unsigned retries = 30;  // 6 s: what is not answered is still asked for after that
  unsigned priority_of_first = 2;
  std::optional<CongestedMachine> first, second;
};

TEST_F(CongestedManagers, WhoHandsOverSetsNoAgentMeanwhile) {
  start(first, "host-00000", priority_of_first);
  second.emplace(*this, "host-00007", settings_of(9));
  std::optional<TimePoint> out;  // the order was
  first->tap.on_send = [&](const Smp& smp) {
    if (is_sm_info(smp, Method::Set) &&
        smp.attribute_modifier == static_cast<std::uint32_t>(SmControl::Handover))
      out = out.value_or(runtime.now());
    // It neither asks whether the other one has taken over nor is told, for a while.
    return !out || runtime.now() > *out + 2s || !is_sm_info(smp, Method::Get);
  };
  second->tap.on_send = [&](const Smp& smp) {
    return !out || runtime.now() > *out + 2s || !is_sm_info(smp, Method::Set);
  };
  leave_sets_unanswered();
  ASSERT_TRUE(run_until([&] { return out.has_value(); }));
  const std::uint64_t before = first->agent_sets;
  ASSERT_TRUE(run_until([&] { return second->state() == SmState::Master; }));
  run_for(1s);
  ASSERT_TRUE(first->manager().election().holding());
  EXPECT_EQ(first->agent_sets, before);
  ASSERT_TRUE(run_until([&] { return first->state() == SmState::Standby; }));
  ASSERT_TRUE(run_until([&] { return second->rests(); }));
  EXPECT_EQ(first->agent_sets, before);
  EXPECT_GT(second->agent_sets, 0u) << "it has what the first had not";
}

TEST_F(CongestedManagers, WhoGoesOnAsksAgentsAgain) {
  retries = 3;
  start(first, "host-00000", priority_of_first);
  second.emplace(*this, "host-00007", settings_of(9));
  std::optional<TimePoint> out;
  first->tap.on_send = [&](const Smp& smp) {
    if (is_sm_info(smp, Method::Set) &&
        smp.attribute_modifier == static_cast<std::uint32_t>(SmControl::Handover))
      out = out.value_or(runtime.now());
    return true;
  };
  // It takes the order, and dies of it.
  second->tap.on_send = [&, answers = 0](const Smp& smp) mutable {
    if (!out) return true;
    answers += is_sm_info(smp, Method::GetResp) ? 1 : 0;
    return answers == 1 && is_sm_info(smp, Method::GetResp);
  };
  leave_sets_unanswered();
  ASSERT_TRUE(run_until([&] { return out.has_value(); }));
  first->loses = nullptr;
  ASSERT_TRUE(run_until([&] { return !first->manager().election().holding(); }));
  ASSERT_EQ(first->state(), SmState::Master);
  second.reset();
  const CcManager& agents = first->session->congestion();
  EXPECT_GT(agents.count(CcAgentStatus::Silent), 0u) << "what was asked of them meanwhile is lost";
  EXPECT_TRUE(run_until([&] { return agents.count(CcAgentStatus::Managed) == 14; }, 70s));
}

TEST_F(CongestedManagers, WhoStoodStillSetsNoAgentBesideTheNext) {
  priority_of_first = 9;
  start(first, "host-00000", priority_of_first);
  start(second, "host-00007", 2);
  leave_sets_unanswered();
  first->runtime.pause();
  ASSERT_TRUE(run_until([&] { return second->state() == SmState::Master; }));
  ASSERT_TRUE(run_until([&] { return second->rests(); }));
  unsigned beside = 0;
  first->on_departure = [&](const MadPacket& packet) {
    beside += sets_agent(packet) && second->state() == SmState::Master ? 1 : 0;
  };
  first->loses = nullptr;
  first->resume();
  ASSERT_TRUE(run_until([&] {
    return first->state() == SmState::Master && first->rests() && second->rests();
  })) << "it is the higher";
  EXPECT_EQ(beside, 0u);
}

}  // namespace congestion_managers_test
}  // namespace smd::test
