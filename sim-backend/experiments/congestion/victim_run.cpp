#include "sim-backend/experiments/congestion/victim_run.h"

#include "sim-backend/congestion/preset.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/surroundings.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kPayload = 256;
constexpr Picos kBegin = 500 * kMicro;
constexpr Picos kEnd = 1500 * kMicro;
constexpr int kBacklog = 6000;  // packets: more than a link takes until the end

FabricSpec draw_row() {
  FabricSpec spec;
  const auto add = [&](NodeType type, const char* name, std::uint64_t guid) {
    return add_node(spec, type, name, Guid{guid}, type == NodeType::Switch ? 8 : 1);
  };
  const std::array switches{add(NodeType::Switch, "Sx", 0x1100),
                            add(NodeType::Switch, "Sy", 0x1200),
                            add(NodeType::Switch, "Sz", 0x1300)};
  std::array<std::uint8_t, 3> used{};
  const auto join = [&](std::uint32_t node, PortNum port, std::size_t at) {
    const PortNum next{++used[at]};
    connect(spec, node, port, switches[at], next, LinkWidth::X1, LinkSpeed::Sdr);
  };
  constexpr std::array kNames{"X1", "X2", "X3", "Y1", "Y2", "V", "Z"};
  constexpr std::array<std::size_t, 7> kPlaces{0, 0, 0, 1, 1, 1, 2};
  for (std::size_t host = 0; host < kNames.size(); ++host)
    join(add(NodeType::Ca, kNames[host], 0x20100 + 0x100 * host), PortNum{1}, kPlaces[host]);
  for (std::size_t at = 0; at + 1 < switches.size(); ++at)
    join(switches[at], PortNum{++used[at]}, at + 1);
  spec.sm_node = switches[0];
  spec.sm_port = PortNum{0};
  return spec;
}

class Flood final : public Workload {
 public:
  Flood(const std::vector<Lid>& lids, bool with_victim) : lids_(lids), with_victim_(with_victim) {}

  Picos first(HostNum) override { return 0; }

  Picos emit(PacketNet& net, HostNum host, Picos) override {
    const auto who = static_cast<VictimHost>(host);
    if (who == VictimHost::V || who == VictimHost::Z) return kNever;
    if (who == VictimHost::X3 && !with_victim_) return kNever;
    const VictimHost to = who == VictimHost::X3 ? VictimHost::V : VictimHost::Z;
    const Lid dlid = lids_[static_cast<std::size_t>(to)];
    for (int i = 0; i < kBacklog; ++i) net.send(host, {.dlid = dlid, .payload = kPayload});
    return kNever;
  }

 private:
  const std::vector<Lid>& lids_;
  bool with_victim_;
};

class Count final : public PacketObserver {
 public:
  explicit Count(unsigned header) : header_(header) {}

  void on_delivered(const Delivery& arrival) override {
    if (arrival.tail > kBegin) bytes[arrival.source] += arrival.payload + header_;
  }

  std::array<double, 7> bytes{};

 private:
  unsigned header_;
};

}  // namespace

Result<VictimShares> run_victim(std::string_view mechanism, bool with_victim) {
  const FabricSpec spec = draw_row();
  const auto fabric = program_nodes(spec, {.engine = "updn", .mtu = Mtu::B256});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  CongestionSpec control_spec;
  if (!find_mechanism(mechanism, control_spec)) return fail(Errc::Invalid, "no such mechanism");
  const PacketOptions options = PacketOptions::multistage();
  PacketNet net(spec, options);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  Flood flood(fabric->host_lids, with_victim);
  Count count(options.cables.header_bytes);
  CongestionControl control(control_spec, survey(net, *fabric, kPayload));
  net.set_congestion_control(control.hooks());
  net.set_workload(&flood);
  net.set_observer(&count);
  net.start();
  net.run_until(kEnd);
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));
  VictimShares out;
  for (std::size_t host = 0; host < out.of.size(); ++host)
    out.of[host] = count.bytes[host] / (double(kEnd - kBegin) / kNano);
  return out;
}

}  // namespace smd::sim
