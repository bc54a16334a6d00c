// The service on a bench: virtual time, a port that remembers what was sent.
#pragma once

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/sa/node_records.h"
#include "smd/sa/server.h"
#include "tests/unit/sa/subnet.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd::sa {

inline MadPacket packet_of(const Asked& asked, Lid from, std::uint64_t transaction) {
  MadPacket packet{.remote_lid = from, .local_qp = 1, .remote_qp = 1};
  SaHeader header = asked.header;
  header.mad.transaction_id = transaction;
  encode_sa_header(header, packet.mad);
  std::ranges::copy(asked.data, packet.mad.begin() + kHeaderSize);
  return packet;
}

inline Asked node_by_lid(Lid lid) {
  return ask(Method::Get, RecordId::NodeRecord, 1, NodeRecord{.lid = lid}, 112);
}

inline Asked all_nodes() {
  return ask(Method::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, 112);
}

/// The same subnet, where the path from each switch to LID l has SL l modulo 8.
inline std::shared_ptr<const SubnetView> view_with_path_sls(std::string_view text) {
  ViewParts parts = parts_of(text);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  const Lid top = routing->lft.top();
  routing->path_sls = PathSls{parts.fabric->switch_count(), top};
  for (const SwitchIdx sw : parts.fabric->switch_node.indices()) {
    for (std::uint16_t lid = 1; lid <= top.value(); ++lid)
      routing->path_sls.set_sl(sw, Lid{lid}, lid % 8);
  }
  parts.routing = std::move(routing);
  return std::make_shared<const SubnetView>(std::move(parts));
}

struct ServerBench {
  explicit ServerBench(ServerLimits limits = {}, std::string_view text = "H1-S1 H2-S1 S1-S2 H3-S2")
      : view(view_of(text)), server(runtime, transport, limits) {
    server.adopt(view);
  }

  void give(const Asked& asked, Lid from = Lid{40}, std::uint64_t transaction = 1) {
    transport.deliver(packet_of(asked, from, transaction));
  }

  /// A control MAD about the table that was asked for.
  void control(std::uint8_t type,
               std::uint32_t segment,
               std::uint32_t window_last,
               Lid from = Lid{40},
               std::uint64_t transaction = 1) {
    Asked asked = all_nodes();
    asked.header.rmpp = {
        .version = 1, .type = type, .flags = 1, .segment = segment, .length = window_last};
    give(asked, from, transaction);
  }

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  /// Until nothing is left to do now.
  void run() { run_for(Duration{0}); }

  [[nodiscard]] SaHeader sent(std::size_t i) const {
    return *decode_sa_header(transport.sent.at(i).mad);
  }

  sim::SimRuntime runtime;
  FakeTransport transport;
  std::shared_ptr<const SubnetView> view;
  Server server;
};

}  // namespace smd::sa
