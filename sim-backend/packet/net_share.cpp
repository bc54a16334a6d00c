// A net that several processes simulate: links that leave the process, and what each tells the
// others of its partitions between two runs, so that whoever looks at the net sees all of it.
#include <cstring>
#include <type_traits>

#include "sim-backend/packet/net_impl.h"
#include "sim-backend/packet/process_link.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// Copies values to the end of a message, or the same values from its front, one after the other.
class ByteCopy {
 public:
  explicit ByteCopy(Processes::Bytes& to) : to_(&to) {}

  explicit ByteCopy(std::span<const std::byte>& from) : from_(&from) {}

  template <class T>
  void pass(T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t size = count * sizeof(T);
    if (size == 0 || !is_whole_) return;
    if (to_ != nullptr) {
      const std::size_t at = to_->size();
      to_->resize(at + size);
      std::memcpy(to_->data() + at, values, size);
      return;
    }
    is_whole_ = size <= from_->size();
    if (!is_whole_) return;
    std::memcpy(values, from_->data(), size);
    *from_ = from_->subspan(size);
  }

  template <class T>
  void pass(T& value) {
    pass(&value, 1);
  }

  /// Whatever their number.
  template <class Values>
  void pass_all(Values& values) {
    std::uint64_t count = values.size();
    pass(count);
    if (!is_whole_) return;
    if (from_ != nullptr) values.resize(count);
    pass(values.data(), values.size());
  }

  /// False: the message ended before the values did; the last of them are what they were.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  Processes::Bytes* to_ = nullptr;
  std::span<const std::byte>* from_ = nullptr;
  bool is_whole_ = true;
};

/// What others read of a partition while it stands still.
void pass_part(PartState& part, Picos& due, ByteCopy& copy) {
  copy.pass(part.stats);
  copy.pass(part.full);
  copy.pass(due);
  copy.pass_all(part.packets);
  for (std::uint32_t node = 0; node < part.nodes.size(); ++node) {
    if (part.part_of_node[node] != part.number) continue;
    const unsigned number = part.wiring.is_switch[node] != 0 ? 0 : 1;  // of the first port
    const std::size_t first = part.wiring.port_of(node, number);
    const std::size_t ports = std::size_t{part.wiring.num_ports[node]} + 1 - number;
    if (ports == 0) continue;
    copy.pass(&part.ports[first], ports);
    copy.pass(&part.outs[first * part.vls], ports * part.vls);
    copy.pass(&part.ins[first * part.vls], ports * part.vls);
    for (std::size_t port = first; port < first + ports; ++port) {
      copy.pass(part.extras[port].blocked);
      const HostNum host = part.wiring.host_of[port];
      if (host != kNowhere) copy.pass(part.hosts[host].asked);
    }
  }
}

/// What begins each crossing; packet and origin follow where its step is about a packet.
struct CrossingHeader {
  Picos at = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  std::uint64_t argument = 0;
};

/// Those of a step that has no packet stay what they are.
void pass_crossing(Crossing& crossing, ByteCopy& copy) {
  CrossingHeader header{.at = crossing.at,
                        .step = static_cast<std::uint32_t>(crossing.step),
                        .index = crossing.index,
                        .argument = crossing.argument};
  copy.pass(header);
  crossing.at = header.at;
  crossing.step = static_cast<NetStep>(header.step);
  crossing.index = header.index;
  crossing.argument = static_cast<std::uint32_t>(header.argument);
  if (crossing.step != NetStep::Arrive && crossing.step != NetStep::Deliver) return;
  copy.pass(crossing.packet);
  copy.pass(crossing.origin);
}

}  // namespace

void ProcessLink::write(Processes::Bytes& out) {
  ByteCopy copy(out);
  std::uint64_t count = posted_.size();
  copy.pass(count);
  for (Crossing& crossing : posted_) pass_crossing(crossing, copy);
  posted_.clear();
}

bool ProcessLink::read(std::span<const std::byte>& in) {
  ByteCopy copy(in);
  arrived_.clear();
  std::uint64_t count = 0;
  copy.pass(count);
  for (; count > 0 && copy.is_whole(); --count) pass_crossing(arrived_.emplace_back(), copy);
  return copy.is_whole();
}

void PacketNet::Impl::join_processes(ProcessTeam& team) {
  processes_ = &team;
  team_ = &team;
  due_elsewhere_.assign(parts_.size(), kNever);
  for (unsigned from = 0; from < parts_.size(); ++from) {
    for (unsigned to = 0; to < parts_.size(); ++to) {
      if (is_here(from) == is_here(to)) continue;
      auto link = std::make_unique<ProcessLink>();
      team.connect(from, to, *link);
      parts_[from]->state.outgoing[to] = link.get();
      parts_[to]->state.incoming[from] = link.get();
      links_.push_back(std::move(link));
    }
  }
}

void PacketNet::Impl::share_parts() {
  if (processes_ == nullptr) return;
  Processes::Bytes bytes;
  for (unsigned i = 0; i < parts_.size(); ++i) {
    bytes.clear();
    if (is_here(i)) {
      Picos due = parts_[i]->next_due();
      ByteCopy copy(bytes);
      pass_part(parts_[i]->state, due, copy);
    }
    processes_->share_all(i, bytes);
    if (is_here(i)) continue;
    std::span<const std::byte> left(bytes);
    ByteCopy copy(left);
    pass_part(parts_[i]->state, due_elsewhere_[i], copy);
    SMD_CHECK(copy.is_whole() && left.empty(), "processes have different nets");
  }
}

bool PacketNet::Impl::is_here(unsigned part) const {
  return processes_ == nullptr || processes_->is_here(part);
}

Picos PacketNet::Impl::next_due() const {
  Picos out = kNever;
  for (unsigned i = 0; i < parts_.size(); ++i) {
    out = std::min(out, is_here(i) ? parts_[i]->next_due() : due_elsewhere_[i]);
  }
  return out;
}

}  // namespace smd::sim
