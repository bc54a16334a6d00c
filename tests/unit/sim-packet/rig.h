// Small fabrics at packet level, and workloads that are written down packet by packet.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/programmed_nodes.h"

namespace smd::sim::test {

/// "S1-S2 H1-S1": as in tests/support/fabric_text.h, every cable of the same kind; nodes in order
/// of appearance, ports in order of mention.
inline FabricSpec draw(const std::string& text,
                       LinkWidth width = LinkWidth::X1,
                       LinkSpeed speed = LinkSpeed::Sdr) {
  FabricSpec spec;
  std::map<std::string, std::uint32_t> known;
  std::map<std::uint32_t, unsigned> used;
  const auto node_of = [&](const std::string& name) {
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const bool is_switch = name[0] == 'S';
    const auto guid = Guid{(is_switch ? 0x1000u : 0x20000u) + 0x100u * std::stoul(name.substr(1))};
    const std::uint32_t node =
        add_node(spec, is_switch ? NodeType::Switch : NodeType::Ca, name, guid, is_switch ? 8 : 1);
    return known[name] = node;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string link = text.substr(at, end - at);
    const std::size_t dash = link.find('-');
    const std::uint32_t a = node_of(link.substr(0, dash)), b = node_of(link.substr(dash + 1));
    connect(spec,
            a,
            PortNum{static_cast<std::uint8_t>(++used[a])},
            b,
            PortNum{static_cast<std::uint8_t>(++used[b])},
            width,
            speed);
    at = end + 1;
  }
  if (spec.nodes[0].type == NodeType::Switch) spec.sm_port = PortNum{0};
  return spec;
}

/// Packets at given times; writes down what becomes of them.
class Script final : public Workload, public PacketObserver {
 public:
  struct Line {
    Picos at = 0;
    HostNum source = 0;
    PacketRequest what;
  };

  explicit Script(std::vector<Line> lines) : lines_(std::move(lines)) {}

  Picos first(HostNum host) override { return next(host, 0); }

  Picos emit(DataNet& net, HostNum host, Picos now) override {
    for (Line& line : lines_) {
      if (line.source == host && line.at == now) net.send(host, line.what);
    }
    return next(host, now + 1);
  }

  /// Partitions take turns here.
  [[nodiscard]] bool splits() const override { return true; }

  using PacketObserver::on_delivered;
  using Workload::on_delivered;

  void on_delivered(const Delivery& arrival) override { arrivals.push_back(arrival); }

  void on_discarded(const Loss& loss) override { losses.push_back(loss); }

  std::vector<Delivery> arrivals;
  std::vector<Loss> losses;

 private:
  [[nodiscard]] Picos next(HostNum host, Picos from) const {
    Picos best = kNever;
    for (const Line& line : lines_) {
      if (line.source == host && line.at >= from) best = std::min(best, line.at);
    }
    return best;
  }

  std::vector<Line> lines_;
};

/// A fabric with every port Active and the routes of updn.
struct PacketRig {
  explicit PacketRig(const FabricSpec& drawn,
                     const PacketOptions& options,
                     ProgramOptions with = {})
      : spec(drawn) {
    with.vls = options.vls;
    auto made = program_nodes(spec, with);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().context);
    fabric = std::move(*made);
    net = std::make_unique<PacketNet>(spec, options);
    reload();
  }

  void reload() {
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) net->load(n, fabric.nodes[n]);
  }

  /// From the first host to the last one, `payload` bytes.
  [[nodiscard]] PacketRequest to(HostNum host, std::uint16_t payload, std::uint8_t sl = 0) const {
    return {.dlid = fabric.host_lids[host], .sl = sl, .payload = payload};
  }

  /// Runs the script to its end.
  void run(Script& script, Picos until = kSecond) {
    net->set_workload(&script);
    net->set_observer(&script);
    net->start();
    net->run_until(until);
    EXPECT_EQ(net->audit(), "");
  }

  [[nodiscard]] std::uint64_t discarded(Discard cause) const {
    return net->stats().discarded[static_cast<std::size_t>(cause)];
  }

  /// The node drawn under this name.
  [[nodiscard]] std::uint32_t node(const std::string& name) const {
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (spec.nodes[n].description == name) return n;
    }
    ADD_FAILURE() << name;
    return 0;
  }

  FabricSpec spec;
  ProgrammedFabric fabric;
  std::unique_ptr<PacketNet> net;
};

}  // namespace smd::sim::test
