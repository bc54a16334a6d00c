// A net that several processes simulate: links that leave the process, and what each tells the
// others of its partitions between two runs. Counts always; what stands in buffers and what ports
// have done when it is asked for, and then by all processes alike.
#include <algorithm>
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

  /// False: the message ended before the values did; the last of them are what they were.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  Processes::Bytes* to_ = nullptr;
  std::span<const std::byte>* from_ = nullptr;
  bool is_whole_ = true;
};

/// What others always know of a partition.
void pass_part(PartState& part, Picos& due, ByteCopy& copy) {
  copy.pass(part.stats);
  copy.pass(part.full);
  copy.pass(due);
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

RemoteBuffer find_remote_buffer(std::span<const RemoteBuffer> sorted, PortVl at) {
  const auto found = std::ranges::lower_bound(sorted, at, {}, &RemoteBuffer::at);
  SMD_CHECK(found != sorted.end() && found->at == at, "a buffer that no other process has");
  return *found;
}

void PacketNet::Impl::join_processes() {
  if (processes_ == nullptr) return;
  ProcessTeam& team = *processes_;
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
  has_totals_ = false;
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

bool PacketNet::Impl::has_same_home(unsigned one, unsigned other) const {
  return processes_ == nullptr || processes_->has_same_home(one, other);
}

void PacketNet::Impl::note_loaded(std::uint32_t node) {
  if (processes_ == nullptr) return;
  loaded_.resize(part_of_node_.size());
  SMD_CHECK(!loaded_[node], "several processes load a node once");
  loaded_[node] = true;
}

std::vector<bool> PacketNet::Impl::nodes_here() const {
  std::vector<bool> out(part_of_node_.size());
  for (std::size_t node = 0; node < out.size(); ++node) out[node] = is_here(part_of_node_[node]);
  return out;
}

std::vector<RemoteBuffer> PacketNet::Impl::gather_remote_buffers(
    std::span<const std::uint32_t> on_link) const {
  if (processes_ == nullptr) return {};
  std::vector<RemoteBuffer> out = gather<RemoteBuffer>([&](unsigned part) {
    std::vector<RemoteBuffer> own;
    visit_ports(part, [&](PortAt port) {
      const Wire& wire = wiring_.wires[port];
      if (!wire.crosses || state_.is_here[wiring_.wires[wire.peer].node]) return;
      for (PortVl at = port * vls_; at < (port + 1) * vls_; ++at) {
        const InputVl& in = state_.ins[at];
        own.push_back({.at = at,
                       .advertised = in.advertised,
                       .free = in.free,
                       .on_link = on_link.empty() ? 0 : on_link[at],
                       .is_up = state_.ports[port].state != PortState::Down});
      }
    });
    return own;
  });
  std::ranges::sort(out, {}, &RemoteBuffer::at);
  return out;
}

void PacketNet::Impl::gather_totals() const {
  if (processes_ == nullptr || has_totals_) return;
  totals_.resize(state_.ports.size());
  sent_.resize(state_.hosts.size());
  const auto count = static_cast<unsigned>(parts_.size());
  // Ports of a partition have an order that all know.
  const std::vector<PortTotal> totals = gather<PortTotal>([&](unsigned part) {
    std::vector<PortTotal> own;
    visit_ports(part, [&](PortAt port) { own.push_back(own_total(port)); });
    return own;
  });
  const std::vector<char> sent = gather<char>([&](unsigned part) {
    std::vector<char> own;
    visit_ports(part, [&](PortAt port) {
      const HostNum host = wiring_.host_of[port];
      if (host != kNowhere) own.push_back(state_.hosts[host].asked ? 1 : 0);
    });
    return own;
  });
  auto total = totals.begin();
  auto has_sent = sent.begin();
  for (unsigned part = 0; part < count; ++part) {
    visit_ports(part, [&](PortAt port) {
      totals_[port] = *total++;
      const HostNum host = wiring_.host_of[port];
      if (host != kNowhere) sent_[host] = *has_sent++ != 0;
    });
  }
  has_totals_ = true;
}

PortTotal PacketNet::Impl::own_total(PortAt port) const {
  const Picos now = parts_[0]->state.now;
  return {.sent_bytes = state_.ports[port].sent_bytes,
          .blocked = state_.extras[port].blocked + (state_.ports[port].blocked ? now : 0)};
}

PortTotal PacketNet::Impl::port_total(PortAt port) const {
  gather_totals();
  return processes_ == nullptr ? own_total(port) : totals_[port];
}

bool PacketNet::Impl::has_sent(HostNum host) const {
  gather_totals();
  return processes_ == nullptr ? state_.hosts[host].asked : sent_[host];
}

Picos PacketNet::Impl::next_due() const {
  Picos out = kNever;
  for (unsigned i = 0; i < parts_.size(); ++i) {
    out = std::min(out, is_here(i) ? parts_[i]->next_due() : due_elsewhere_[i]);
  }
  return out;
}

}  // namespace smd::sim
