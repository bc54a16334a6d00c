// Everything counted again from what is there, by code that moves no packet.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {
namespace {

/// Blocks that packets take, by VL: in input buffers, in output buffers, on their way to an input.
struct Blocks {
  explicit Blocks(const NetState& state)
      : input(state.ins.size()), output(state.ins.size()), on_link(state.ins.size()) {
    for (SparseArray<std::uint32_t>* each : {&input, &output, &on_link}) {
      for (const auto& range : state.ins.made()) each->make({range.first, range.count});
    }
  }

  SparseArray<std::uint32_t> input, output, on_link;
};

struct PacketCounts {
  std::uint64_t alive = 0;
  std::uint64_t waiting = 0;
  std::uint64_t notices = 0;
  std::uint64_t impossible = 0;
};

/// The packets of a partition.
PacketCounts count_packets(const PartState& part, const Blocks& blocks) {
  PacketCounts found;
  for (const DataPacket& packet : part.packets) {
    const Marking* marking = part.hooks.marking;
    const bool exists = packet.place != Place::Free && !is_counted_lost(packet);
    if (exists && packet.feedback != FeedbackKind::None) {
      ++found.notices;
    } else {
      found.waiting += packet.place == Place::Source;
      found.alive += exists;
    }
    if (exists && marking != nullptr && !marking->may_occur(packet.marks)) ++found.impossible;
    const bool inside = packet.place == Place::Input || packet.place == Place::Pending ||
                        packet.place == Place::Dead;
    const auto port = [&] { return part.ports[part.port_of_vl(packet.in)]; };
    if (inside && packet.epoch == port().serial) blocks.input[packet.in] += packet.blocks;
    if (packet.place == Place::Output) blocks.output[packet.out] += packet.blocks;
    const bool on_link = packet.place == Place::Wire || packet.place == Place::Cut;
    if (on_link && packet.epoch == port().epoch) blocks.on_link[packet.in] += packet.blocks;
  }
  return found;
}

/// What does not hold of the partition's buffers and credits: the first, or nothing.
class BufferCheck {
 public:
  BufferCheck(const PacketNet::Impl& net, const Blocks& blocks, std::span<const RemoteBuffer> far)
      : net_(net), blocks_(blocks), far_(far) {}

  [[nodiscard]] std::string check(PortVl at) const {
    const PortAt port = net_.port_of_vl(at);
    const NetPort& here = net_.state_.ports[port];
    const InputVl& in = net_.state_.ins[at];
    const OutputVl& out = net_.state_.outs[at];
    const unsigned used = blocks_.input[at] + in.moving;
    if (in.free + used != in.capacity) return say(at, "input room", in.free, in.capacity - used);
    const SwitchModel& sw = net_.options_.switches;
    if (sw.output_buffers && net_.is_switch_port(port)) {
      const unsigned leaving = here.link_running && here.link_vl == at ? here.link_blocks : 0;
      const unsigned room = sw.output_buffer_bytes / kBlockBytes - blocks_.output[at] - leaving;
      if (out.room != room) return say(at, "output room", out.room, room);
    }
    const PortAt peer = net_.wiring_.wires[port].peer;
    if (peer == kNowhere || here.state == PortState::Down) return {};
    const RemoteBuffer far = read_far(peer * net_.vls_ + net_.vl_of(at));
    if (far.is_up == 0) return {};
    // What may be sent and what is on the way is what the far end has room for.
    const unsigned credit = credit_left(far.advertised, out.fctbs);
    if (credit + far.on_link == far.free) return {};
    return say(at, "credit", credit, far.free - far.on_link);
  }

 private:
  [[nodiscard]] RemoteBuffer read_far(PortVl at) const {
    const NetState& state = net_.state_;
    const PortAt port = net_.port_of_vl(at);
    if (!state.is_here[net_.wiring_.wires[port].node]) return find_remote_buffer(far_, at);
    return {.at = at,
            .advertised = state.ins[at].advertised,
            .free = state.ins[at].free,
            .on_link = blocks_.on_link[at],
            .is_up = state.ports[port].state != PortState::Down};
  }

  [[nodiscard]] std::string say(PortVl at,
                                std::string_view what,
                                unsigned is,
                                unsigned should) const {
    const Wire& wire = net_.wiring_.wires[net_.port_of_vl(at)];
    return fmt::format("node {} port {} VL{}: {} is {}, should be {}",
                       wire.node,
                       wire.number,
                       net_.vl_of(at),
                       what,
                       is,
                       should);
  }

  const PacketNet::Impl& net_;
  const Blocks& blocks_;
  std::span<const RemoteBuffer> far_;
};

}  // namespace

std::string PacketNet::Impl::audit() const {
  const NetStats& s = stats();
  std::uint64_t data_discards = s.discards();
  // VL15 has its own place among the causes but is not among the packets.
  data_discards -= s.discarded[static_cast<std::size_t>(Discard::OutputOverflow)];
  if (s.generated + s.replicated != s.delivered + s.taken_in + data_discards + s.in_flight) {
    return fmt::format(
        "{} generated and {} copied, but {} delivered, {} taken in, {} discarded, {} in flight",
        s.generated,
        s.replicated,
        s.delivered,
        s.taken_in,
        data_discards,
        s.in_flight);
  }
  const Blocks blocks(state_);
  PacketCounts found{.impossible = s.impossible_marks};
  const auto by_part = gather<PacketCounts>(
      [&](unsigned part) { return std::vector{count_packets(parts_[part]->state, blocks)}; });
  for (const PacketCounts& each : by_part) {
    found.alive += each.alive;
    found.waiting += each.waiting;
    found.notices += each.notices;
    found.impossible += each.impossible;
  }
  if (found.alive != s.in_flight) {
    return fmt::format("{} packets exist, {} are said to be in flight", found.alive, s.in_flight);
  }
  if (found.notices != s.feedback.in_flight ||
      s.feedback.made != s.feedback.delivered + s.feedback.lost + s.feedback.in_flight) {
    return fmt::format("{} notices exist; {} made, but {} delivered, {} lost, {} in flight",
                       found.notices,
                       s.feedback.made,
                       s.feedback.delivered,
                       s.feedback.lost,
                       s.feedback.in_flight);
  }
  if (found.impossible != 0) {
    return fmt::format("{} packets bear marks that cannot occur", found.impossible);
  }
  if (found.waiting != s.waiting) {
    return fmt::format("{} packets wait at their source, {} are said to", found.waiting, s.waiting);
  }
  // A line for each partition where something does not hold.
  const std::vector<RemoteBuffer> far = gather_remote_buffers(blocks.on_link.all());
  const BufferCheck check(*this, blocks, far);
  const auto faults = gather<char>([&](unsigned part) {
    std::string fault;
    visit_ports(part, [&](PortAt port) {
      for (PortVl at = port * vls_; at < (port + 1) * vls_ && fault.empty(); ++at) {
        fault = check.check(at);
      }
    });
    if (!fault.empty()) fault += '\n';
    return std::vector(fault.begin(), fault.end());
  });
  return {faults.begin(), std::ranges::find(faults, '\n')};
}

}  // namespace smd::sim
