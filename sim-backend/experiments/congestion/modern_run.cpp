#include "sim-backend/experiments/congestion/modern_run.h"

#include <algorithm>
#include <functional>

#include "sim-backend/measure/batch_means.h"
#include "sim-backend/measure/histogram.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "sim-backend/traffic/collective.h"
#include "sim-backend/traffic/contention.h"
#include "smd/congestion/plan.h"

namespace smd::sim {
namespace {

constexpr Mtu kMtu = Mtu::B2048;
constexpr Picos kGiveUp = 100'000 * kMicro;

CongestionSpec spec_of(ModernSetting setting) {
  CongestionSpec spec;
  switch (setting) {
    case ModernSetting::None:
      break;
    case ModernSetting::Planned:
    case ModernSetting::PlannedRare:
    case ModernSetting::PlannedCoarse:
    case ModernSetting::Published:
    case ModernSetting::Vendor:
      (void)find_mechanism("standard", spec);
      spec.iba = {.threshold = 15,
                  .marking_rate = setting == ModernSetting::Vendor ? 10u : 0u,
                  .packet_size = 8,
                  .increase = 1,
                  .limit = 127,
                  .timer = 150};
      break;
    case ModernSetting::Mvcm:
    case ModernSetting::MvcmOfTwo:
      (void)find_mechanism("mvcm", spec);
      if (setting == ModernSetting::MvcmOfTwo) spec.window.most = 2;
      break;
  }
  return spec;
}

/// Waits as the formulas have them, without steps between them.
std::vector<cc::CctEntry> coarse_table(const cc::Facts& facts, const cc::RatePlan& rate) {
  std::vector<cc::CctEntry> table;
  for (const double delay : cc::throttle_delays(rate.window, facts.radix, facts.stages)) {
    if (delay >= rate.longest_delay) break;
    const cc::CctEntry entry = cc::encode_delay(delay);
    if (table.empty() || entry != table.back()) table.push_back(entry);
  }
  table.push_back(cc::encode_delay_below(rate.longest_delay));
  return table;
}

/// The plan of the manager, or of one that was told to mark once in a window, or of a table; the
/// timer follows.
cc::Plan plan_of(ModernSetting setting, const cc::Facts& facts, cc::Options& options) {
  cc::Plan plan = cc::build_plan(facts, options);
  const cc::RatePlan& rate = plan.rates.front();  // all links are alike
  if (setting == ModernSetting::Planned) return plan;
  if (setting == ModernSetting::PlannedRare) {
    options.marking_rate = static_cast<unsigned>(rate.window) - 1;
  } else {
    options.cct = coarse_table(facts, rate);
  }
  return cc::build_plan(facts, options);
}

/// What the manager would write into the registers of every switch and adapter.
void set_as_planned(const FabricSpec& spec,
                    const CongestionControl& control,
                    HostNum hosts,
                    ModernSetting setting) {
  const auto snapshot = build_snapshot(spec);
  cc::Options options;
  const cc::Plan plan =
      plan_of(setting, cc::read_facts(*snapshot, {.mtu_max = mtu_bytes(kMtu)}), options);
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type != NodeType::Switch) continue;
    control.iba_marking()->set(
        node,
        {.setting = cc::switch_setting(plan, options, *snapshot, NodeIdx{node}), .ports = {}});
  }
  const cc::RatePlan& rate = plan.rates.front();
  for (HostNum host = 0; host < hosts; ++host) {
    control.iba_reaction()->set(
        host, {.setting = rate.setting, .table = rate.table, .limit = rate.limit()});
  }
}

class Watch final : public PacketObserver {
 public:
  Watch(HostNum hosts, Picos from) : of_host(hosts, 0), from_(from) {}

  void on_delivered(const Delivery& arrival) override {
    if (arrival.tail < from_) return;
    if (arrival.tag == kContendingPacket) {
      of_host[arrival.source] += 1;
    } else if (arrival.generated >= from_) {
      victims.add(static_cast<std::uint64_t>((arrival.tail - arrival.generated) / kNano));
    }
  }

  std::vector<double> of_host;  // packets of contributors
  Histogram victims;            // ns

 private:
  Picos from_;
};

struct Stage {
  FabricSpec spec;
  ProgrammedFabric fabric;
  PacketOptions options;

  [[nodiscard]] std::uint8_t sl(HostNum from, HostNum to) const {
    const PathSls& sls = fabric.routing.path_sls;
    return sls.empty() ? std::uint8_t{0} : sls.sl(fabric.host_leaf[from], fabric.host_lids[to]);
  }
};

Result<Stage> set_up(const ModernFabric& fabric) {
  auto spec = load_fabric(fabric.call);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  auto programmed = program_nodes(*spec, {.engine = fabric.engine, .vls = fabric.vls, .mtu = kMtu});
  if (!programmed) return tl::unexpected<Error>(programmed.error());
  Stage out{.spec = std::move(*spec), .fabric = std::move(*programmed), .options = {}};
  out.options = PacketOptions::modern();
  out.options.vls = fabric.vls;
  out.options.adapters.waiting = SourceQueues::PerDestination;
  return out;
}

/// A net with its congestion control, for one run.
struct Play {
  Play(const Stage& stage, ModernSetting setting)
      : net(stage.spec, stage.options), control(make(stage, setting)) {
    const bool is_planned = setting == ModernSetting::Planned ||
                            setting == ModernSetting::PlannedRare ||
                            setting == ModernSetting::PlannedCoarse;
    if (is_planned) set_as_planned(stage.spec, control, net.host_count(), setting);
    net.set_congestion_control(control.hooks());
  }

  CongestionControl make(const Stage& stage, ModernSetting setting) {
    for (std::uint32_t n = 0; n < stage.spec.nodes.size(); ++n) net.load(n, stage.fabric.nodes[n]);
    FabricFacts around = survey(net, stage.fabric, mtu_bytes(kMtu));
    around.reply_sl = [&stage](HostNum from, HostNum to) { return stage.sl(from, to); };
    return {spec_of(setting), around};
  }

  PacketNet net;
  CongestionControl control;
};

}  // namespace

Result<ModernResult> run_contention(const ModernFabric& fabric,
                                    ModernSetting setting,
                                    const ModernLoad& load) {
  const auto stage = set_up(fabric);
  if (!stage) return tl::unexpected<Error>(stage.error());
  Play play(*stage, setting);
  PacketNet& net = play.net;
  const Picos start = load.warm_us * kMicro;
  const Wire& host_wire = net.wiring().wires[net.wiring().host_port[0]];
  const Wire& hot_wire = net.wiring().wires[host_wire.peer];
  ContentionTraffic traffic({.hot_spot = 0,
                             .contributors = load.contributors,
                             .packets = load.packets,
                             .load = load.load,
                             .start = start,
                             .sl = [&](HostNum from, HostNum to) { return stage->sl(from, to); }},
                            net.host_count(),
                            host_wire.byte_time);
  Watch watch(net.host_count(), start);
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();
  net.run_until(start);
  const PortNum port{hot_wire.number};
  const std::uint64_t before = net.sent_bytes(hot_wire.node, port);
  if (load.packets == 0) {
    net.run_until(start + load.lasts_us * kMicro);
  } else {
    while (traffic.completed() == kNever) {
      if (net.now() > kGiveUp || !net.run_one()) {
        return fail(Errc::Invalid, "contributors do not come to their end");
      }
    }
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));

  const double lasted = double(net.now() - start);
  const double packet =
      double(mtu_bytes(kMtu) + stage->options.links.header_bytes) * host_wire.byte_time / 65536.0;
  const double victims = double(net.host_count() - load.contributors);
  std::vector<double> shares;
  for (const HostNum host : traffic.contributors()) shares.push_back(watch.of_host[host]);
  ModernResult out{
      .victim_mean_us = watch.victims.mean() / 1000,
      .victim_p99_us = double(watch.victims.percentile(0.99)) / 1000,
      .victim_accepted = double(watch.victims.count()) / (victims * load.load * lasted / packet),
      .link_share = double(net.sent_bytes(hot_wire.node, port) - before) * host_wire.byte_time /
                    65536.0 / lasted,
      .completed_us = load.packets == 0 ? 0 : lasted / kMicro,
      .marked = net.stats().marked};
  if (!shares.empty()) {
    double sum = 0;
    for (const double share : shares) sum += share;
    out.fairness = fairness(shares);
    out.least_share = sum > 0 ? std::ranges::min(shares) * double(shares.size()) / sum : 0;
  }
  return out;
}

Result<ModernResult> run_all_reduce(const ModernFabric& fabric,
                                    ModernSetting setting,
                                    std::uint64_t bytes) {
  const auto stage = set_up(fabric);
  if (!stage) return tl::unexpected<Error>(stage.error());
  Play play(*stage, setting);
  PacketNet& net = play.net;
  Collective ring({.kind = CollectiveKind::RingAllReduce, .bytes = bytes, .mtu = mtu_bytes(kMtu)},
                  stage->fabric.host_lids);
  net.set_workload(&ring);
  net.start();
  while (ring.finished() == kNever) {
    if (net.now() > kGiveUp || !net.run_one()) {
      return fail(Errc::Invalid, "the all-reduce does not come to its end");
    }
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  return ModernResult{.completed_us = double(ring.finished()) / kMicro,
                      .marked = net.stats().marked};
}

}  // namespace smd::sim
