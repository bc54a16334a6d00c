#include "sim-backend/experiments/change/subnet.h"

#include <fmt/core.h>

#include "smd/policy/port_policy.h"

namespace smd::sim {
namespace {

constexpr Lid kManagersLid{1};

}  // namespace

bool tells_of_change(const MadPacket& packet) {
  const auto smp = decode_smp(packet.mad);
  if (!smp || smp->method != Method::GetResp || !is_about(*smp, AttributeId::SwitchInfo))
    return false;
  const auto info = decode_switch_info(smp->data);
  return info && info->port_state_change;
}

Subnet::Subnet(const std::string& fabric_text, const SubnetOptions& options)
    : TimedFabric(spec_of(fabric_text), options.preset.timing(), options.seed, options.agents),
      port(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
      tap(port),
      client(runtime, tap, options.preset.smp()),
      meter(runtime, client, {}),
      options_(options) {
  (void)tap.set_is_sm(true);
}

Result<void> Subnet::run_until(const std::function<bool()>& done, const std::string& what) {
  if (TimedFabric::run_until(done, std::chrono::minutes(10))) return {};
  return fail(Errc::Timeout, what + " does not end");
}

DiscoveryOptions Subnet::thesis_requests() {
  const auto set_end_port = [this](Guid port_guid, const PortInfo& now) {
    LidRecord& record = book[port_guid];
    if (record.base == kUnassignedLid) record.base = Lid{next_lid_++};
    if (record.base == kManagersLid) client.set_local_lid(kManagersLid);
    PortInfo wanted = now;
    wanted.lid = record.base;
    wanted.lmc = 0;
    wanted.master_sm_lid = kManagersLid;
    return set_body(wanted, PortState::NoChange);
  };
  return {.requests = RequestSet::Thesis, .set_end_port = set_end_port};
}

Result<DiscoveryCost> Subnet::discover_fully() {
  book.clear();
  next_lid_ = 1;
  meter.lap();
  std::optional<Result<SweepReport>> found;
  Discovery discovery(client, thesis_requests(), Epoch{1});
  discovery.start([&](Result<SweepReport> report) { found = std::move(report); });
  if (auto ended = run_until([&] { return found.has_value(); }, "discovery"); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  if (!*found) return tl::unexpected<Error>(found->error());
  sweep = std::move(**found);
  const PhaseCost cost = meter.lap();
  return DiscoveryCost{cost.smps, cost.time};
}

Result<DiscoveryCost> Subnet::discover_partially() {
  meter.lap();
  std::optional<TimePoint> noticed;
  tap.on_arrival = [&](const MadPacket& packet) {
    if (!noticed && tells_of_change(packet)) noticed = runtime.now();
    return true;
  };
  std::optional<Result<PartialReport>> found;
  PartialDiscovery discovery(client, thesis_requests(), Epoch{2});
  discovery.start({.sweep = &sweep, .lids = &lids, .lft = &routing.lft},
                  {},
                  [&](Result<PartialReport> report) { found = std::move(report); });
  const auto ended = run_until([&] { return found.has_value(); }, "partial discovery");
  tap.on_arrival = {};
  if (!ended) return tl::unexpected<Error>(ended.error());
  if (!*found) return tl::unexpected<Error>(found->error());
  if (!(*found)->full_needed.empty()) return fail(Errc::Unsupported, (*found)->full_needed);
  if (!noticed) return fail(Errc::Invalid, "nothing had changed");
  sweep = std::move((*found)->sweep);
  return DiscoveryCost{meter.lap().smps, runtime.now() - *noticed};
}

Result<void> Subnet::compute_routes(const Orientation* previous) {
  auto assigned = assign_lids(snapshot(), book, {});
  if (!assigned) return tl::unexpected<Error>(assigned.error());
  book = std::move(assigned->book);
  lids = std::move(assigned->map);
  client.set_local_lid(lids.base[snapshot().sm_port]);
  const Engine* engine = find_engine(options_.engine);
  if (engine == nullptr) return fail(Errc::Invalid, "no engine " + options_.engine);
  // Directions are those of distances from the manager's switch.
  NodeIdx root = snapshot().sm_node;
  if (!snapshot().is_switch(root)) {
    root = snapshot().node_of[snapshot().peer[snapshot().sm_port]];
  }
  auto routes = engine->compute(
      snapshot(), lids, {.options = {.roots = {snapshot().node_guid[root]}}, .previous = previous});
  if (!routes) return tl::unexpected<Error>(routes.error());
  routing = std::move(*routes);
  return {};
}

Result<void> Subnet::plan_routes() {
  if (auto found = discover_fully(); !found) return tl::unexpected<Error>(found.error());
  return compute_routes(nullptr);
}

Result<void> Subnet::look_again() {
  std::optional<Result<SweepReport>> found;
  Discovery discovery(client, {}, Epoch{3});
  discovery.start([&](Result<SweepReport> report) { found = std::move(report); });
  if (auto ended = run_until([&] { return found.has_value(); }, "discovery"); !ended) return ended;
  if (!*found) return tl::unexpected<Error>(found->error());
  sweep = std::move(**found);
  const Orientation kept = routing.orientation;
  return compute_routes(&kept);
}

Result<ProgramReport> Subnet::program(ProgramInput input) {
  input.report = &sweep;
  input.lids = &lids;
  input.lft = &routing.lft;
  input.policy.master_sm_lid = lids.base[snapshot().sm_port];
  meter.lap();
  std::optional<ProgramReport> report;
  Programmer programmer(runtime, client, state, meter);
  programmer.start(input, [&](ProgramReport done) { report = std::move(done); });
  if (auto ended = run_until([&] { return report.has_value(); }, "programming"); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  if (report->fault_count > 0 || report->ports_not_active > 0 || report->plan_interrupted) {
    return fail(
        Errc::Io,
        fmt::format("programming left {} faults and {} ports that are not Active; {}",
                    report->fault_count,
                    report->ports_not_active,
                    report->plan_interrupted ? report->plan_interrupted->why : "no plan left"));
  }
  Fabric now = snapshot();
  now.port_info = report->port_info;
  now.switch_info = report->switch_info;
  sweep.fabric = std::make_shared<const Fabric>(std::move(now));
  return std::move(*report);
}

Result<void> Subnet::bring_up() {
  if (auto planned = plan_routes(); !planned) return planned;
  if (auto done = program({}); !done) return tl::unexpected<Error>(done.error());
  return {};
}

Result<void> Subnet::calm_down() {
  runtime.run_until(runtime.now() + Duration(std::chrono::minutes(1)));
  SmpScope scope(client);
  std::size_t waiting = snapshot().switch_count();
  bool refused = false;
  for (SwitchIdx sw : snapshot().switch_node.indices()) {
    SwitchInfo info = snapshot().switch_info[sw];
    info.port_state_change = true;  // written as one, it clears
    const PortIdx port0 = snapshot().port_of(snapshot().switch_node[sw], PortNum{0});
    SmpRequest request{.route = SmpRoute::to_lid(lids.base[port0]),
                       .method = Method::Set,
                       .attribute = AttributeId::SwitchInfo};
    encode_switch_info(info, request.data);
    scope.send(request, [&](const Result<SmpReply>& reply) {
      --waiting;
      refused = refused || !reply || reply->status != 0;
    });
  }
  if (auto ended = run_until([&] { return waiting == 0; }, "clearing"); !ended) return ended;
  if (refused) return fail(Errc::Refused, "a switch does not clear PortStateChange");
  return {};
}

std::vector<std::uint32_t> Subnet::other_switches() const {
  const FabricSpec& spec = fabric.spec();
  std::vector<std::uint32_t> out;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch && n != spec.sm_node) out.push_back(n);
  }
  return out;
}

std::string irregular4(const NetworkSize& size, std::uint64_t seed) {
  return fmt::format("irregular4:switches={},nodes={},seed={}", size.switches, size.nodes, seed);
}

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace smd::sim
