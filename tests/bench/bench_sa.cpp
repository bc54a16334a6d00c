// The administration of the three-level fat tree of 36-port switches (11,664 hosts): requests
// answered, from the MAD that came in to the MAD that goes out. One thread; no wire.
#include <benchmark/benchmark.h>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/server.h"

namespace smd::sa {
namespace {

ViewParts parts() {
  static const ViewParts built = [] {
    const std::shared_ptr<const Fabric> fabric =
        sim::build_snapshot(sim::load_fabric("fat-tree:k=36,levels=3").value());
    auto lids = std::make_shared<const LidMap>(assign_lids(*fabric, {}, {}).value().map);
    auto routing = std::make_shared<const RoutingTables>(
        find_engine("updn")->compute(*fabric, *lids, {}).value());
    return ViewParts{.fabric = fabric, .lids = lids, .routing = routing};
  }();
  return built;
}

std::shared_ptr<const SubnetView> view() {
  static const auto built = std::make_shared<const SubnetView>(parts());
  return built;
}

/// Takes everything, keeps nothing.
struct Sink final : Transport {
  [[nodiscard]] LocalPort local_port() const override { return {}; }

  Result<void> send(const MadPacket& packet) override {
    benchmark::DoNotOptimize(packet.mad[kHeaderSize]);
    ++sent;
    return {};
  }

  void set_handlers(Receive r, Lost) override { receive = std::move(r); }

  Result<void> set_is_sm(bool) override { return {}; }

  Receive receive;
  std::uint64_t sent = 0;
};

template <class Record>
MadPacket request(RecordId id, std::uint64_t mask, const Record& wanted, std::size_t size) {
  MadPacket packet{.remote_lid = Lid{7}, .local_qp = 1, .remote_qp = 1};
  encode_sa_header({.mad = {.mgmt_class = 3,
                            .class_version = kClassVersion,
                            .method = static_cast<std::uint8_t>(Method::Get),
                            .attribute_id = static_cast<std::uint16_t>(id)},
                    .component_mask = mask},
                   packet.mad);
  encode_record(wanted, std::span(packet.mad).subspan(kHeaderSize, size));
  return packet;
}

/// Random requests, sixteen in the queue at a time.
template <class Make>
void answer(benchmark::State& state, Make make) {
  sim::SimRuntime runtime;
  Sink transport;
  Server server(runtime, transport);
  server.adopt(view());
  Rng rng(1);
  std::vector<MadPacket> requests;
  for (int i = 0; i < 4096; ++i) requests.push_back(make(rng));
  std::size_t next = 0;
  for (auto _ : state) {
    for (int i = 0; i < 16; ++i) transport.receive(requests[next++ % requests.size()]);
    runtime.run_until(runtime.now());
  }
  if (server.stats().answered != transport.sent)
    state.SkipWithError("not every request was answered");
  state.SetItemsProcessed(static_cast<std::int64_t>(transport.sent));
}

PortIdx any_port(Rng& rng) {
  const std::vector<PortIdx>& ports = view()->end_ports();
  return ports[rng.below(ports.size())];
}

Gid gid_of(PortIdx port) { return {kDefaultSubnetPrefix, view()->fabric().port_guid[port]}; }

void path_by_gid(benchmark::State& state) {
  answer(state, [](Rng& rng) {
    const PathRecord wanted{.dgid = gid_of(any_port(rng)), .sgid = gid_of(any_port(rng))};
    return request(RecordId::PathRecord,
                   path_component::kDgid | path_component::kSgid,
                   wanted,
                   kPathRecordSize);
  });
}

void node_by_guid(benchmark::State& state) {
  answer(state, [](Rng& rng) {
    const NodeRecord wanted{.info = {.port_guid = gid_of(any_port(rng)).guid}};
    return request(RecordId::NodeRecord, component_bit(8), wanted, kNodeRecord.size);
  });
}

void paths_of_one_host(benchmark::State& state) {
  std::array<std::byte, kDataSize> data{};
  encode_record(PathRecord{.slid = view()->lids().base[view()->end_ports().back()]}, data);
  const Query query{
      .header = {.mad = {.method = static_cast<std::uint8_t>(Method::GetTable),
                         .attribute_id = static_cast<std::uint16_t>(RecordId::PathRecord)},
                 .component_mask = path_component::kSlid},
      .data = data};
  for (auto _ : state) benchmark::DoNotOptimize(answer_query(*view(), query));
}

void adopt_view(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(SubnetView(parts()));
}

BENCHMARK(path_by_gid)->Unit(benchmark::kMicrosecond);
BENCHMARK(node_by_guid)->Unit(benchmark::kMicrosecond);
BENCHMARK(paths_of_one_host)->Unit(benchmark::kMillisecond);
BENCHMARK(adopt_view)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smd::sa

BENCHMARK_MAIN();
