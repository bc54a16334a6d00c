#include "sim-backend/experiments/change/sweeping.h"

#include "sim-backend/experiments/change/change_traffic.h"
#include "smd/base/rng.h"
#include "smd/mad/notice.h"

namespace smd::sim {

Result<Duration> Sweeping::measure() {
  const TimePoint began = subnet_.runtime.now();
  sweep();
  if (auto ended = subnet_.run_until([&] { return scope_.pending() == 0; }, "a sweep"); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  return subnet_.runtime.now() - began;
}

void Sweeping::start(Duration interval) {
  sweep();
  timer_ = Timer(
      subnet_.runtime, subnet_.runtime.now() + interval, [this, interval] { start(interval); });
}

void Sweeping::sweep() {
  const Fabric& fabric = subnet_.snapshot();
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const Lid lid = subnet_.lids.base[fabric.port_of(fabric.switch_node[sw], PortNum{0})];
    scope_.send({.route = SmpRoute::to_lid(lid), .attribute = AttributeId::SwitchInfo},
                [this](const Result<SmpReply>& reply) {
                  if (noticed_ || !reply) return;
                  const auto info = decode_switch_info(reply->data);
                  if (info && info->port_state_change) noticed_ = subnet_.runtime.now();
                });
  }
}

Result<Detection> measure_detection(const DetectionCase& which) {
  Rng rng(which.seed);
  SubnetOptions options{.preset = which.preset};
  if (which.load > 0) options.agents.vl_cap = 2;  // two data VLs
  Subnet subnet(irregular4(which.size, which.seed), options);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  if (auto calm = subnet.calm_down(); !calm) return tl::unexpected<Error>(calm.error());
  Sweeping sweeping(subnet);
  const auto duration = sweeping.measure();
  if (!duration) return tl::unexpected<Error>(duration.error());

  std::optional<TimePoint> trapped;
  subnet.client.on_unsolicited([&](const Smp& smp, const MadPacket&) {
    if (smp.method == Method::Trap && !trapped) trapped = subnet.runtime.now();
  });
  const std::vector<std::uint32_t> switches = subnet.other_switches();
  const std::uint32_t victim = switches[rng.below(switches.size())];
  const Duration interval = *duration * which.factor;
  std::optional<ChangeTraffic> data;
  if (which.load > 0) data.emplace(subnet.runtime, subnet.fabric, which.load);
  sweeping.start(interval);
  const auto phase =
      Duration{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(interval.count())))};
  // From the second interval on, so that sweeping has no beginning.
  subnet.runtime.run_until(subnet.runtime.now() + interval + phase);
  if (data) {
    data->change(victim, false);
  } else {
    subnet.fabric.set_node(victim, false);
  }
  const TimePoint changed = subnet.runtime.now();
  const auto both = [&] { return trapped.has_value() && sweeping.noticed().has_value(); };
  if (auto ended = subnet.run_until(both, "detection"); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  if (data) {
    if (const auto books = data->finish(); !books) return tl::unexpected<Error>(books.error());
  }
  return Detection{seconds(*sweeping.noticed() - changed), seconds(*trapped - changed)};
}

}  // namespace smd::sim
