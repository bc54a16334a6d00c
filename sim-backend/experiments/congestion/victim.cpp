// The example by which the source explains what a victim is, against runs: three switches in a row,
// hosts that flood one of them, and one that only shares a link:
//
//   X1 \                    / V       X1, X2, Y1, Y2 send to Z all they can; X3, the victim, to V.
//   X2 - Sx ─ xy ─ Sy ─ yz ─ Sz - Z
//   X3 /          /  \.
//               Y1    Y2              V hangs on Sy.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim-backend/congestion/preset.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim::victim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R32-feeders",
     .text = "Y1, Y2 and the link xy get a third of the hot link each, X1 and X2 a sixth",
     .source = "Ferrer 2012, Figure 3.4",
     .must_hold = true,
     .expected = "0.333 and 0.167 (0.01)"},
    {.id = "R32-victim",
     .text = "with a victim, X1, X2 and X3 get a ninth each, and xy is idle for two thirds",
     .source = "Ferrer 2012, Figure 3.5",
     .expected = "0.111 each (0.01); idle for 0.657 or more"},
    {.id = "R32-freed",
     .text = "X3 could have 7/9 of xy where X1 and X2 are held back at the source",
     .source = "Ferrer 2012, Figure 3.5",
     .expected = "iocm and mvcm: X3 0.739 or more"},
};

enum class VictimHost : std::uint8_t { X1, X2, X3, Y1, Y2, V, Z };

using enum VictimHost;

struct VictimShares {
  std::array<double, 7> of{};  // of a link, by VictimHost: what arrives of each once all is steady

  [[nodiscard]] double operator[](VictimHost host) const {
    return of[static_cast<std::size_t>(host)];
  }

  [[nodiscard]] double xy() const { return (*this)[X1] + (*this)[X2] + (*this)[X3]; }

  [[nodiscard]] double yz() const { return xy() - (*this)[X3] + of[3] + of[4]; }
};

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

  Picos emit(DataNet& net, HostNum host, Picos) override {
    const auto who = static_cast<VictimHost>(host);
    if (who == V || who == Z) return kNever;
    if (who == X3 && !with_victim_) return kNever;
    const VictimHost to = who == X3 ? V : Z;
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

/// `mechanism`: as find_mechanism() knows it.
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
  Count count(options.links.header_bytes);
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

struct Case {
  const char* name;
  const char* mechanism;
  bool with_victim;
};

constexpr std::array kCases{Case{"without victim", "none", false},
                            Case{"none", "none", true},
                            Case{"standard", "standard", true},
                            Case{"renato", "renato", true},
                            Case{"pfister", "pfister", true},
                            Case{"iocm", "iocm", true},
                            Case{"mvcm", "mvcm", true}};

bool near(double measured, double expected) { return std::abs(measured - expected) <= 0.01; }

Result<Findings> run(const ExperimentOptions& options) {
  auto measured = collect<VictimShares>(options.jobs, kCases.size(), [](std::size_t i) {
    return run_victim(kCases[i].mechanism, kCases[i].with_victim);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.plot = {.title = "What a victim gets",
                        .x_label = "mechanism, in the order of the table",
                        .y_label = "share of a link"}};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const VictimShares& shares = (*measured)[i];
    out.add_row({{"case", kCases[i].name},
                 {"x1", shares[X1]},
                 {"x2", shares[X2]},
                 {"x3", shares[X3]},
                 {"y1", shares[Y1]},
                 {"y2", shares[Y2]},
                 {"xy", shares.xy()},
                 {"yz", shares.yz()}});
    out.plot.add_point("X3", double(i + 1), shares[X3]);
    out.plot.add_point("hot link", double(i + 1), shares.yz());
  }
  const VictimShares& alone = (*measured)[0];
  const VictimShares& none = (*measured)[1];
  std::string freed;
  bool all_freed = true;
  for (std::size_t i = 5; i < kCases.size(); ++i) {
    const VictimShares& shares = (*measured)[i];
    freed += fmt::format("{}{} {:.3f}, hot link {:.3f}",
                         freed.empty() ? "" : "; ",
                         kCases[i].name,
                         shares[X3],
                         shares.yz());
    all_freed = all_freed && shares[X3] >= 0.95 * 7 / 9;
  }
  const bool fed = near(alone[Y1], 1.0 / 3) && near(alone[Y2], 1.0 / 3) &&
                   near(alone.xy(), 1.0 / 3) && near(alone[X1], 1.0 / 6) &&
                   near(alone[X2], 1.0 / 6);
  const bool held = near(none[X1], 1.0 / 9) && near(none[X2], 1.0 / 9) && near(none[X3], 1.0 / 9) &&
                    none.xy() <= 1.0 / 3 + 0.01;
  out.verdicts = decide(
      kClaims,
      {{"R32-feeders",
        fmt::format("{:.3f}, {:.3f}, {:.3f}; {:.3f}, {:.3f}",
                    alone[Y1],
                    alone[Y2],
                    alone.xy(),
                    alone[X1],
                    alone[X2]),
        fed},
       {"R32-victim",
        fmt::format(
            "{:.3f}, {:.3f}, {:.3f}; idle for {:.3f}", none[X1], none[X2], none[X3], 1 - none.xy()),
        held},
       {"R32-freed", freed, all_freed}});
  return out;
}

}  // namespace
}  // namespace smd::sim::victim

namespace smd::sim {

std::vector<Experiment> victim_tables() {
  return {{.name = "004-victim",
           .source = "Ferrer 2012, 3.2",
           .about = "what a flow gets that only shares a link with those who cause the congestion",
           .claims = victim::kClaims,
           .run = victim::run}};
}

}  // namespace smd::sim
