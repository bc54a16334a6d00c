// Everything counted again from what is there, by code that moves no packet.
#include <fmt/core.h>

#include <array>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {

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
  std::uint64_t alive = 0, waiting = 0, notices = 0, impossible = s.impossible_marks;
  std::vector<unsigned> input(state_.ins.size()), output(state_.outs.size()),
      wire(state_.ins.size());
  for (const auto& part : parts_) {
    for (const DataPacket& packet : part->state.packets) {
      const Marking* marking = part->state.hooks.marking;
      const bool exists = packet.place != Place::Free && !is_counted_lost(packet);
      if (exists && packet.feedback != FeedbackKind::None) {
        ++notices;
      } else {
        waiting += packet.place == Place::Source;
        alive += exists;
      }
      if (exists && marking != nullptr && !marking->may_occur(packet.marks)) ++impossible;
      const bool inside = packet.place == Place::Input || packet.place == Place::Pending ||
                          packet.place == Place::Dead;
      if (inside && packet.epoch == state_.ports[port_of_vl(packet.in)].serial)
        input[packet.in] += packet.blocks;
      if (packet.place == Place::Output) output[packet.out] += packet.blocks;
      if ((packet.place == Place::Wire || packet.place == Place::Cut) &&
          packet.epoch == state_.ports[port_of_vl(packet.in)].epoch) {
        wire[packet.in] += packet.blocks;
      }
    }
  }
  if (alive != s.in_flight) {
    return fmt::format("{} packets exist, {} are said to be in flight", alive, s.in_flight);
  }
  if (notices != s.feedback.in_flight ||
      s.feedback.made != s.feedback.delivered + s.feedback.lost + s.feedback.in_flight) {
    return fmt::format("{} notices exist; {} made, but {} delivered, {} lost, {} in flight",
                       notices,
                       s.feedback.made,
                       s.feedback.delivered,
                       s.feedback.lost,
                       s.feedback.in_flight);
  }
  if (impossible != 0) {
    return fmt::format("{} packets bear marks that cannot occur", impossible);
  }
  if (waiting != s.waiting) {
    return fmt::format("{} packets wait at their source, {} are said to", waiting, s.waiting);
  }
  const bool buffered = options_.switches.output_buffers;
  const unsigned output_capacity =
      buffered ? options_.switches.output_buffer_bytes / kBlockBytes : 0;
  for (PortAt port = 0; port < state_.ports.size(); ++port) {
    const NetPort& here = state_.ports[port];
    const Wire& out_wire = wiring_.wires[port];
    for (unsigned vl = 0; vl < vls_; ++vl) {
      const PortVl at = port * vls_ + vl;
      const InputVl& in = state_.ins[at];
      const auto where = [&](std::string_view what, unsigned is, unsigned should) {
        return fmt::format("node {} port {} VL{}: {} is {}, should be {}",
                           out_wire.node,
                           out_wire.number,
                           vl,
                           what,
                           is,
                           should);
      };
      const unsigned used = input[at] + in.moving;
      if (in.free + used != in.capacity) return where("input room", in.free, in.capacity - used);
      if (buffered && is_switch_port(port)) {
        const unsigned leaving = here.link_running && here.link_vl == at ? here.link_blocks : 0;
        const unsigned held = output[at] + leaving;
        if (state_.outs[at].room + held != output_capacity) {
          return where("output room", state_.outs[at].room, output_capacity - held);
        }
      }
      if (out_wire.peer == kNowhere || here.state == PortState::Down ||
          state_.ports[out_wire.peer].state == PortState::Down) {
        continue;
      }
      // What may be sent and what is on the way is what the far end has room for.
      const PortVl far = out_wire.peer * vls_ + vl;
      const unsigned credit = credit_left(known_limit(at), state_.outs[at].fctbs);
      if (credit + wire[far] != state_.ins[far].free) {
        return where("credit", credit, state_.ins[far].free - wire[far]);
      }
    }
  }
  return {};
}

}  // namespace smd::sim
