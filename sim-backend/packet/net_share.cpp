// A net that several processes simulate: links that leave the process, and what each tells the
// others of its partitions between two runs, so that whoever looks at the net sees all of it.
#include <cstring>
#include <type_traits>

#include "sim-backend/packet/net_impl.h"
#include "sim-backend/packet/process_link.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// Copies values to the end of bytes, or the same values from them, one after the other.
class ByteCopy {
 public:
  ByteCopy(Processes::Bytes& bytes, bool reads) : bytes_(bytes), reads_(reads) {
    if (!reads) bytes.clear();
  }

  template <class T>
  void pass(T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t size = count * sizeof(T);
    if (size == 0) return;
    if (!reads_) bytes_.resize(at_ + size);
    SMD_CHECK(at_ + size <= bytes_.size(), "processes have different nets");
    if (reads_) {
      std::memcpy(values, bytes_.data() + at_, size);
    } else {
      std::memcpy(bytes_.data() + at_, values, size);
    }
    at_ += size;
  }

  template <class T>
  void pass(T& value) {
    pass(&value, 1);
  }

  template <class Values>
  void pass_all(Values& values) {
    std::uint64_t count = values.size();
    pass(count);
    if (reads_) values.resize(count);
    pass(values.data(), values.size());
  }

 private:
  Processes::Bytes& bytes_;
  bool reads_;
  std::size_t at_ = 0;
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
      copy.pass(part.extras[port].blocked_since);
    }
  }
}

/// What begins each crossing; a packet and its origin follow, where there is one.
struct CrossingHeader {
  Picos at = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  std::uint32_t argument = 0;
  std::uint32_t has_packet = 0;
};

template <class T>
void append(const T& value, Processes::Bytes& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

template <class T>
bool take_front(T& value, std::span<const std::byte>& in) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (in.size() < sizeof value) return false;
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return true;
}

}  // namespace

void ProcessLink::write(Processes::Bytes& out) {
  append(std::uint64_t{posted_.size()}, out);
  for (const Crossing& crossing : posted_) {
    const bool whole = crossing.step == NetStep::Arrive || crossing.step == NetStep::Deliver;
    append(CrossingHeader{.at = crossing.at,
                          .step = static_cast<std::uint32_t>(crossing.step),
                          .index = crossing.index,
                          .argument = crossing.argument,
                          .has_packet = whole ? 1u : 0u},
           out);
    if (!whole) continue;
    append(crossing.packet, out);
    append(crossing.origin, out);
  }
  posted_.clear();
}

bool ProcessLink::read(std::span<const std::byte>& in) {
  arrived_.clear();
  std::uint64_t count = 0;
  if (!take_front(count, in)) return false;
  for (; count > 0; --count) {
    CrossingHeader head;
    if (!take_front(head, in)) return false;
    Crossing& crossing = arrived_.emplace_back();
    crossing.at = head.at;
    crossing.step = static_cast<NetStep>(head.step);
    crossing.index = head.index;
    crossing.argument = head.argument;
    if (head.has_packet == 0) continue;
    if (!take_front(crossing.packet, in) || !take_front(crossing.origin, in)) return false;
  }
  return true;
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
    Picos due = parts_[i]->next_due();
    if (is_here(i)) {
      ByteCopy copy(bytes, false);
      pass_part(parts_[i]->state, due, copy);
    }
    processes_->share_all(i, bytes);
    if (is_here(i)) continue;
    ByteCopy copy(bytes, true);
    pass_part(parts_[i]->state, due_elsewhere_[i], copy);
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
