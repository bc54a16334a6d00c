#include "sim-backend/experiments/congestion/hot_spot_run.h"

#include <algorithm>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

Mtu mtu_for(unsigned payload) {
  for (const Mtu mtu : {Mtu::B256, Mtu::B512, Mtu::B1024, Mtu::B2048}) {
    if (mtu_bytes(mtu) >= payload) return mtu;
  }
  return Mtu::B4096;
}

void add(HotSpotBin::Of& sum, const HotSpotBin::Of& more) {
  sum.packets += more.packets;
  sum.marked += more.marked;
  sum.fully_marked += more.fully_marked;
  sum.latency += more.latency;
}

HotSpotBin sum_of(std::span<const HotSpotBin> bins) {
  HotSpotBin sum;
  for (const HotSpotBin& bin : bins) {
    add(sum.cold, bin.cold);
    add(sum.hot, bin.hot);
    sum.link_bytes += bin.link_bytes;
  }
  return sum;
}

HotSpotClass sum_up(const HotSpotResult& result,
                    HotSpotBin::Of HotSpotBin::*of,
                    std::size_t window) {
  const HotSpotBin::Of total = sum_of(result.bins).*of;
  const double packets = std::max(1u, total.packets);
  return {.packets = total.packets,
          .mean_latency = total.latency / packets,
          .peak_latency = peak_latency(result, of, window),
          .marked = total.marked / packets,
          .fully_marked = total.fully_marked / packets};
}

/// What is told window by window: `window` bins each, the last one not being whole.
void look_at_windows(HotSpotResult& out, std::size_t window, HostNum cold_hosts) {
  const double cycles = double(window) * kHotSpotBin / kNano;
  const std::span<const HotSpotBin> bins(out.bins);
  double link_bytes = 0;
  std::size_t windows = 0;
  for (std::size_t at = 0; at + window < bins.size(); at += window, ++windows) {
    const HotSpotBin sum = sum_of(bins.subspan(at, window));
    const double cold_rate = sum.cold.packets * 1000 / cycles / cold_hosts;
    out.least_cold_rate = windows == 0 ? cold_rate : std::min(out.least_cold_rate, cold_rate);
    if (windows == 0) continue;
    const double share = sum.link_bytes / cycles;
    out.least_link_share = windows == 1 ? share : std::min(out.least_link_share, share);
    link_bytes += sum.link_bytes;
  }
  if (windows > 1) out.link_share = link_bytes / (cycles * double(windows - 1));
}

/// Looks on: what arrives, bin by bin, and what sources do about marks.
class HotSpotProbe final : public PacketObserver, private Reaction {
 public:
  /// Requires: all outlive the watch.
  HotSpotProbe(const PacketNet& net,
               const HotSpotTraffic& traffic,
               const CongestionControl& control,
               const CongestionSpec& mechanism);

  /// The mechanism's own, looked at on their way.
  [[nodiscard]] CongestionHooks hooks();

  void on_delivered(const Delivery& arrival) override;

  [[nodiscard]] Picos longest_gap() const { return gap_; }

  /// Requires: no more packets come.
  [[nodiscard]] std::vector<HotSpotBin> take_bins();

 private:
  Picos allowed_at(const Flow& flow, Picos now) override { return inner_->allowed_at(flow, now); }

  void on_queued(const Flow& flow) override { inner_->on_queued(flow); }

  void on_unqueued(const Flow& flow) override { inner_->on_unqueued(flow); }

  void on_injected(const Flow& flow, Picos begin, Picos end) override {
    inner_->on_injected(flow, begin, end);
  }

  void on_lost(const Flow& flow) override { inner_->on_lost(flow); }

  void on_feedback(const Flow& flow, const Feedback& feedback, Picos now) override;

  /// Null before the pulse began.
  [[nodiscard]] HotSpotBin* bin_at(Picos now);
  void read_link();

  const PacketNet& net_;
  const HotSpotTraffic& traffic_;
  CongestionHooks hooks_;
  Reaction* inner_;
  WindowReaction* window_;
  Marks all_;
  std::uint32_t link_node_;  // of the hot spot's link
  PortNum link_port_;
  std::uint64_t link_bytes_ = 0;  // when it was last read
  Picos last_hot_ = kNever, gap_ = 0;
  std::vector<HotSpotBin> bins_;
};

bool has_two_bits(const CongestionSpec& mechanism) {
  return mechanism.marking == MarkingKind::Iopm || mechanism.marking == MarkingKind::Mvpm;
}

HotSpotProbe::HotSpotProbe(const PacketNet& net,
                           const HotSpotTraffic& traffic,
                           const CongestionControl& control,
                           const CongestionSpec& mechanism)
    : net_(net),
      traffic_(traffic),
      hooks_(control.hooks()),
      inner_(hooks_.reaction),
      window_(control.window()),
      all_(has_two_bits(mechanism) ? kFirstMark | kSecondMark : kFirstMark) {
  const Wiring& wiring = net.wiring();
  const Wire& near = wiring.wires[wiring.wires[wiring.host_port[traffic.hot_spot()]].peer];
  link_node_ = near.node;
  link_port_ = PortNum{near.number};
}

CongestionHooks HotSpotProbe::hooks() {
  CongestionHooks out = hooks_;
  if (out.reaction != nullptr) out.reaction = this;
  return out;
}

/// What went over the link since the last look belongs to the bin that is open.
void HotSpotProbe::read_link() {
  const std::uint64_t bytes = net_.sent_bytes(link_node_, link_port_);
  if (!bins_.empty()) bins_.back().link_bytes += double(bytes - link_bytes_);
  link_bytes_ = bytes;
}

HotSpotBin* HotSpotProbe::bin_at(Picos now) {
  if (traffic_.began() == kNever || now < traffic_.began()) return nullptr;
  const auto at = static_cast<std::size_t>((now - traffic_.began()) / kHotSpotBin);
  if (at >= bins_.size()) {
    read_link();
    bins_.resize(at + 1);
  }
  return &bins_.back();
}

void HotSpotProbe::on_delivered(const Delivery& arrival) {
  HotSpotBin* bin = bin_at(arrival.tail);
  if (bin == nullptr) return;
  const bool hot = arrival.tag == kHotPacket;
  HotSpotBin::Of& of = hot ? bin->hot : bin->cold;
  ++of.packets;
  of.latency += double(arrival.tail - arrival.generated) / kNano;
  of.marked += arrival.marks != 0;
  of.fully_marked += arrival.marks == all_;
  if (!hot) return;
  if (last_hot_ != kNever) gap_ = std::max(gap_, arrival.tail - last_hot_);
  last_hot_ = arrival.tail;
}

void HotSpotProbe::on_feedback(const Flow& flow, const Feedback& feedback, Picos now) {
  HotSpotBin* bin = feedback.marks == 0 || window_ == nullptr ? nullptr : bin_at(now);
  if (bin == nullptr) return inner_->on_feedback(flow, feedback, now);
  const WindowReaction::View before = window_->view(flow);
  inner_->on_feedback(flow, feedback, now);
  const WindowReaction::View after = window_->view(flow);
  if (after.window == before.window && after.pace == before.pace) return;
  ++bin->actions;
  const bool hot = flow.destination == traffic_.hot_spot() &&
                   std::ranges::binary_search(traffic_.hot_sources(), flow.source);
  if (!hot) ++bin->wrong_actions;
}

std::vector<HotSpotBin> HotSpotProbe::take_bins() {
  read_link();
  return std::move(bins_);
}

}  // namespace

double peak_latency(const HotSpotResult& result, HotSpotBin::Of HotSpotBin::*of, std::size_t bins) {
  double peak = 0;
  const std::span<const HotSpotBin> all(result.bins);
  for (std::size_t at = 0; at < all.size(); at += bins) {
    const HotSpotBin::Of sum = sum_of(all.subspan(at, std::min(bins, all.size() - at))).*of;
    if (sum.packets >= kLeastPackets) peak = std::max(peak, sum.latency / sum.packets);
  }
  return peak;
}

Result<HotSpotResult> run_hot_spot(const HotSpotNetwork& network,
                                   const CongestionSpec& mechanism,
                                   double rate,
                                   std::uint64_t seed) {
  auto spec = load_fabric(network.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  HotSpotOptions options = network.traffic;
  options.load = rate;
  options.seed = seed;
  options.header_bytes = network.packet.links.header_bytes;
  const unsigned largest = std::max(options.payload, options.other_payload);
  auto fabric = program_nodes(*spec, {.engine = network.engine, .mtu = mtu_for(largest)});
  if (!fabric) return tl::unexpected<Error>(fabric.error());
  PacketNet net(*spec, network.packet);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);

  HotSpotTraffic traffic(
      options, net.host_count(), net.wiring().wires[net.wiring().host_port[0]].byte_time);
  CongestionControl control(mechanism, survey(net, *fabric, largest));
  HotSpotProbe watch(net, traffic, control, mechanism);
  net.set_congestion_control(watch.hooks());
  net.set_workload(&traffic);
  net.set_observer(&watch);
  net.start();
  while (!traffic.finished()) {
    if (net.now() > network.give_up) return fail(Errc::Invalid, "the pulse does not end");
    if (!net.run_one()) return fail(Errc::Invalid, "nothing is sent any more");
  }
  const Picos ended = net.now();
  if (network.after > 0) {
    while (net.now() < ended + network.after && net.run_one()) {
    }
  }
  if (std::string why = net.audit(); !why.empty()) return fail(Errc::Invalid, std::move(why));

  HotSpotResult out{.notices = net.stats().feedback.made,
                    .impossible_marks = net.stats().impossible_marks,
                    .digest = net.stats().digest,
                    .bins = watch.take_bins()};
  const auto bins_meanwhile =
      static_cast<std::ptrdiff_t>((ended - traffic.began()) / kHotSpotBin + 1);
  if (bins_meanwhile < std::ssize(out.bins)) {
    out.trailer.assign(out.bins.begin() + bins_meanwhile, out.bins.end());
    out.bins.resize(static_cast<std::size_t>(bins_meanwhile));
  }
  const auto window = static_cast<std::size_t>(network.window / kHotSpotBin);
  const auto cold_hosts = static_cast<HostNum>(traffic.hosts() - traffic.hot_sources().size());
  out.drained = double(ended - traffic.began()) / kNano;
  out.longest_gap = double(watch.longest_gap()) / kNano;
  out.cold_rate_before =
      double(options.warm_packets) * 1000 / (double(traffic.began()) / kNano) / cold_hosts;
  look_at_windows(out, window, cold_hosts);
  out.cold = sum_up(out, &HotSpotBin::cold, window);
  out.hot = sum_up(out, &HotSpotBin::hot, window);
  return out;
}

}  // namespace smd::sim
