// Circles of full buffers. Every buffer is a FIFO, so its first packet waits for one thing: room in
// the output buffer, or credit for the input buffer at the far end; for itself, or for whom stands
// in line before it: nothing overtakes there but an older packet (`oldest_first`), which takes room
// or credit away. A circle of such waits stays closed whatever else
// happens.
//
// Where packets grow old they make room, so that the wait of one that is discarded before the run
// ends closes no circle.
//
// One thing opens a line: where the VLs of an input port share its way into the crossbar, the line
// passes over an input whose port is busy with another VL. Who waits only behind such an input is
// stuck as long as that port's other VLs are, or no other is in use.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {
namespace {

/// What a buffer waits for. Buffer i is input VL i; with output buffers, buffer `count of VLs` + j
/// is output VL j. Copies that leave together wait for several.
struct Waiting {
  std::uint32_t buffer = 0;
  std::uint32_t to = 0;
  PortVl behind = kNowhere;         // the input VL in line before it that waits so
  std::uint32_t behind_filled = 0;  // VLs of that one's port that hold packets, by bit
};

/// Those of one partition.
class WaitingList {
 public:
  /// `end`: of the run, at the latest.
  WaitingList(const PacketNet::Impl& net, std::span<const RemoteBuffer> far, Picos end)
      : net_(net),
        state_(net.state_),
        vls_(net.vls_),
        port_vls_(static_cast<std::uint32_t>(net.state_.ins.size())),
        far_(far),
        end_(end) {}

  void add_inputs(PortAt port) {
    if (!net_.is_switch_port(port)) return;
    for (PortVl at = port * vls_; at < (port + 1) * vls_; ++at) add_input(at);
  }

  void add_outputs(PortAt port) {
    if (!net_.is_switch_port(port) || !net_.options_.switches.output_buffers) return;
    for (PortVl at = port * vls_; at < (port + 1) * vls_; ++at) {
      const PacketAt head = state_.outs[at].head;
      if (head == kNowhere) continue;
      add({.buffer = port_vls_ + at, .to = waits_for_credit(at, at, head)});
    }
  }

  std::vector<Waiting> all;

 private:
  void add(const Waiting& waiting) {
    if (waiting.to != kNowhere) all.push_back(waiting);
  }

  void add_input(PortVl at) {
    const InputVl& in = state_.ins[at];
    if (in.wants == kNowhere || in.busy) return;
    if (next_copy(net_.packet(at, in.head)) != kNowhere) {
      // What leaves together waits for room in all of its outputs; any may be in a circle.
      for (PacketAt copy = in.head; copy != kNowhere; copy = next_copy(net_.packet(at, copy))) {
        const DataPacket& first = net_.packet(at, copy);
        if (!has_room(first)) add({.buffer = at, .to = port_vls_ + first.out});
      }
      return;
    }
    if (const std::uint32_t to = waits_for_way(at); to != kNowhere) {
      return add({.buffer = at, .to = to});
    }
    const PortVl behind = served_next(in.wants);
    if (behind == kNowhere) return;
    std::uint32_t filled = 0;
    const PortVl first = net_.port_of_vl(behind) * vls_;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      const InputVl& other = state_.ins[first + vl];
      if (other.free != other.capacity) filled |= 1u << vl;
    }
    add({.buffer = at, .to = waits_for_way(behind), .behind = behind, .behind_filled = filled});
  }

  /// The input that a packet waits for at the far end of its way out, if it has no credit.
  [[nodiscard]] std::uint32_t waits_for_credit(PortVl out, PortVl from, PacketAt head) const {
    const PortAt peer = net_.wiring_.wires[net_.port_of_vl(out)].peer;
    if (!state_.ports[net_.port_of_vl(out)].sends()) return kNowhere;
    if (peer == kNowhere || !net_.is_switch_port(peer)) return kNowhere;
    const DataPacket& first = net_.packet(from, head);
    if (grows_old(net_.port_of_vl(out), first)) return kNowhere;
    const unsigned blocks = unsigned{first.blocks} + first.copy_blocks;
    if (has_credit(net_.known_limit(out, far_), state_.outs[out].fctbs, blocks)) return kNowhere;
    return peer * vls_ + net_.vl_of(out);
  }

  /// Who is first there and has no credit is discarded before the run ends.
  [[nodiscard]] bool grows_old(PortAt port, const DataPacket& first) const {
    if (!net_.options_.lifetimes) return false;
    const Picos head_life = state_.extras[port].head_life;
    const Picos switch_life = state_.nodes[net_.wiring_.wires[port].node].tables.switch_life();
    return (head_life != kNever && first.ready + head_life < end_) ||
           (switch_life != kNever && first.entered + switch_life < end_);
  }

  /// What is on the link gives its room back.
  [[nodiscard]] bool has_room(const DataPacket& first) const {
    const NetPort& port = state_.ports[net_.port_of_vl(first.out)];
    const unsigned leaving = port.link_running && port.link_vl == first.out ? port.link_blocks : 0;
    return state_.outs[first.out].room + leaving >= unsigned{first.blocks} + first.copy_blocks;
  }

  /// What the packet that has just one way waits for there: room, or credit.
  [[nodiscard]] std::uint32_t waits_for_way(PortVl from) const {
    const InputVl& in = state_.ins[from];
    if (!net_.options_.switches.output_buffers) return waits_for_credit(in.wants, from, in.head);
    const DataPacket& first = net_.packet(from, in.head);
    return has_room(first) ? kNowhere : port_vls_ + first.out;
  }

  /// Who is served next of the line that an input stands in.
  [[nodiscard]] PortVl served_next(PortVl out) const {
    PortVl ask = state_.outs[out].asks_head;
    while (ask != kNowhere && net_.options_.switches.multiplexed &&
           state_.ports[net_.port_of_vl(ask)].input_busy) {
      ask = state_.ins[ask].next_ask;
    }
    return ask;
  }

  const PacketNet::Impl& net_;
  const NetState& state_;
  unsigned vls_;
  std::uint32_t port_vls_;
  std::span<const RemoteBuffer> far_;
  Picos end_;
};

/// Who waits for whom, by place in a list of the buffers that wait.
class WaitGraph {
 public:
  /// `in_use`: VLs, by bit, on which something may still come. `opens`: VLs of an input port share
  /// its way into the crossbar.
  WaitGraph(std::vector<Waiting> all, unsigned vls, std::uint32_t in_use, bool opens)
      : all_(std::move(all)), vls_(vls), in_use_(in_use) {
    if (!std::ranges::is_sorted(all_, {}, &Waiting::buffer)) {
      std::ranges::stable_sort(all_, {}, &Waiting::buffer);
    }
    if (!all_.empty()) words_.resize(all_.back().buffer / 64 + 1);
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (i > 0 && all_[i].buffer == all_[i - 1].buffer) continue;
      words_[all_[i].buffer / 64].buffers |= std::uint64_t{1} << all_[i].buffer % 64;
      first_.push_back(i);
    }
    std::uint32_t count = 0;
    for (Word& word : words_) {
      word.before = count;
      count += static_cast<std::uint32_t>(std::popcount(word.buffers));
    }
    if (opens) find_moving();
  }

  /// In the order of buffers.
  [[nodiscard]] std::size_t size() const { return first_.size(); }

  [[nodiscard]] std::uint32_t buffer(std::size_t place) const { return all_[first_[place]].buffer; }

  /// Its ways: buffers. What stands behind an input that is passed over waits for nothing.
  [[nodiscard]] std::span<const Waiting> ways(std::size_t place) const {
    const std::size_t end = place + 1 < first_.size() ? first_[place + 1] : all_.size();
    const std::span<const Waiting> out(all_.data() + first_[place], all_.data() + end);
    return is_passed_over(out.front()) ? std::span<const Waiting>() : out;
  }

  /// size(): the buffer waits for nothing.
  [[nodiscard]] std::size_t place_of(std::uint32_t buffer) const {
    if (buffer / 64 >= words_.size()) return size();
    const Word& word = words_[buffer / 64];
    const std::uint64_t bit = std::uint64_t{1} << buffer % 64;
    if ((word.buffers & bit) == 0) return size();
    return word.before + static_cast<std::size_t>(std::popcount(word.buffers & (bit - 1)));
  }

 private:
  /// By another VL of its port, which moves and has, or may yet have, something.
  [[nodiscard]] bool is_passed_over(const Waiting& waiting) const {
    if (moves_.empty() || waiting.behind == kNowhere) return false;
    const PortVl first = waiting.behind / vls_ * vls_;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      if (first + vl == waiting.behind) continue;
      if (((waiting.behind_filled | in_use_) >> vl & 1) != 0 && moves(first + vl)) return true;
    }
    return false;
  }

  [[nodiscard]] bool moves(std::uint32_t buffer) const {
    const std::size_t place = place_of(buffer);
    return place == size() || moves_[place];
  }

  /// What will move by and by.
  void find_moving() {
    moves_.assign(size(), false);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t place = 0; place < size(); ++place) {
        if (moves_[place]) continue;
        const auto free = [this](const Waiting& way) { return moves(way.to); };
        if (!std::ranges::all_of(ways(place), free)) continue;
        moves_[place] = true;
        more = true;
      }
    }
  }

  /// Which of 64 buffers wait, and how many before them.
  struct Word {
    std::uint64_t buffers = 0;
    std::uint32_t before = 0;
  };

  std::vector<Waiting> all_;
  std::vector<Word> words_;
  std::vector<std::uint32_t> first_;  // in `all_`, by place
  std::vector<bool> moves_;           // by place; empty: nothing is passed over
  unsigned vls_;
  std::uint32_t in_use_;
};

/// Depth first. The line holds what is being looked at, and which of its ways was taken.
struct Step {
  std::size_t place = 0;
  std::size_t way = 0;  // the next one
};

/// The ways of a circle, from one buffer to the next; empty: there is none.
std::vector<Waiting> find_circle(const WaitGraph& graph) {
  enum : std::uint8_t { kNew, kOnLine, kDone };

  std::vector<std::uint8_t> seen(graph.size(), kNew);
  std::vector<Step> line;
  for (std::size_t start = 0; start < graph.size(); ++start) {
    if (seen[start] != kNew) continue;
    seen[start] = kOnLine;
    line.push_back({.place = start});
    while (!line.empty()) {
      Step& here = line.back();
      const auto ways = graph.ways(here.place);
      if (here.way == ways.size()) {
        seen[here.place] = kDone;
        line.pop_back();
        continue;
      }
      const std::size_t to = graph.place_of(ways[here.way++].to);
      if (to == graph.size() || seen[to] == kDone) continue;
      if (seen[to] == kNew) {
        seen[to] = kOnLine;
        line.push_back({.place = to});
        continue;
      }
      std::vector<Waiting> circle;
      for (auto step = std::ranges::find(line, to, &Step::place); step != line.end(); ++step) {
        circle.push_back(graph.ways(step->place)[step->way - 1]);
      }
      return circle;
    }
  }
  return {};
}

}  // namespace

std::uint16_t PacketNet::Impl::known_limit(PortVl out, std::span<const RemoteBuffer> far) const {
  const PortAt peer = wiring_.wires[port_of_vl(out)].peer;
  if (peer == kNowhere) return state_.outs[out].fccl;
  const PortVl at = peer * vls_ + vl_of(out);
  if (!state_.is_here[wiring_.wires[peer].node]) return find_remote_buffer(far, at).advertised;
  return state_.ins[at].advertised;
}

std::vector<WaitingHop> PacketNet::Impl::find_deadlock(Picos end) const {
  const auto port_vls = static_cast<std::uint32_t>(state_.ins.size());
  const bool buffered = options_.switches.output_buffers;
  const bool opens = options_.switches.multiplexed && vls_ > 1;
  const std::vector<RemoteBuffer> far = gather_remote_buffers({});
  auto waiting = gather<Waiting>([&](unsigned part) {
    WaitingList list(*this, far, end);
    visit_ports(part, [&list](PortAt port) { list.add_inputs(port); });
    visit_ports(part, [&list](PortAt port) { list.add_outputs(port); });
    return std::move(list.all);
  });
  // Another VL opens a line with what is still to come, unless nothing comes any more.
  std::uint32_t in_use = 0;
  if (opens && next_due() != kNever) {
    const auto by_part = gather<std::uint32_t>([&](unsigned part) {
      std::uint32_t own = 0;
      visit_ports(part, [&](PortAt port) {
        for (unsigned vl = 0; vl < vls_; ++vl) {
          if (state_.ins[port * vls_ + vl].abr != 0) own |= 1u << vl;
        }
      });
      return std::vector{own};
    });
    for (const std::uint32_t own : by_part) in_use |= own;
  }
  std::vector<WaitingHop> circle;
  for (const Waiting& way : find_circle(WaitGraph(std::move(waiting), vls_, in_use, opens))) {
    if (way.buffer >= port_vls) continue;
    // Where it waits for room, that says the way out; else the far end of it.
    const PortAt port =
        buffered ? port_of_vl(way.to - port_vls) : wiring_.wires[port_of_vl(way.to)].peer;
    const Wire& wire = wiring_.wires[port];
    circle.push_back(
        {.node = wire.node,
         .port = PortNum{wire.number},
         .vl = Vl{static_cast<std::uint8_t>(vl_of(buffered ? way.to - port_vls : way.to))}});
  }
  return circle;
}

std::string print_deadlock(const FabricSpec& spec, const std::vector<WaitingHop>& circle) {
  std::string out;
  for (const WaitingHop& hop : circle) {
    if (!out.empty()) out += " -> ";
    out += fmt::format(
        "{}:{}(VL{})", spec.nodes[hop.node].description, hop.port.value(), hop.vl.value());
    if (hop.holder) out += fmt::format(" held by worm {}", *hop.holder);
  }
  return out;
}

}  // namespace smd::sim
