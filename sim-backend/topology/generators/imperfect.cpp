#include "sim-backend/topology/generators/imperfect.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/limits.h"
#include "smd/base/rng.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kFirstExtraGuid = 0x0003000000000000u;
constexpr std::uint16_t kSpineHostDevice = 0x101b;  // ConnectX-6

/// One end of a cable between switches.
struct LinkEnd {
  std::uint32_t node;
  unsigned port;
};

class ImperfectTree {
 public:
  ImperfectTree(FabricSpec spec, const Arguments& arguments)
      : spec_(std::move(spec)), arguments_(arguments), rng_(arguments.number("seed")) {
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (spec_.nodes[n].type != NodeType::Switch) continue;
      switches_.push_back(n);
      top_ = std::max(top_, level(n));
    }
  }

  Result<FabricSpec> run() {
    make_uneven();
    if (std::string why = take_cables(); !why.empty()) return fail(Errc::Invalid, std::move(why));
    slow_down();
    if (std::string why = add_adapters(); !why.empty()) return fail(Errc::Invalid, std::move(why));
    return std::move(spec_);
  }

 private:
  /// "sw-1-7" is on level 1.
  [[nodiscard]] unsigned level(std::uint32_t node) const {
    const std::string& name = spec_.nodes[node].description;
    unsigned value = 0;
    std::from_chars(name.data() + 3, name.data() + name.size(), value);
    return value;
  }

  [[nodiscard]] const PortSpec& port(LinkEnd end) const {
    return spec_.nodes[end.node].ports[end.port];
  }

  /// Cables that lead up from a switch, by its ports.
  [[nodiscard]] std::vector<LinkEnd> up_cables(std::uint32_t node) const {
    std::vector<LinkEnd> out;
    for (unsigned p = 1; p < spec_.nodes[node].ports.size(); ++p) {
      const std::uint32_t peer = spec_.nodes[node].ports[p].peer_node;
      if (peer == kNoNode || spec_.nodes[peer].type != NodeType::Switch) continue;
      if (level(peer) > level(node)) out.push_back({node, p});
    }
    return out;
  }

  [[nodiscard]] std::vector<LinkEnd> all_cables() const {
    std::vector<LinkEnd> out;
    for (const std::uint32_t node : switches_)
      std::ranges::copy(up_cables(node), std::back_inserter(out));
    return out;
  }

  template <class Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t left = values.size(); left > 1; --left)
      std::swap(values[left - 1], values[rng_.below(left)]);
  }

  // Two switches with both parents in common exchange a cable: one has one more to the first parent
  // and one less to the second, the other the other way round. Ports stay as full as they were.
  void make_uneven() {
    std::vector<std::uint32_t> lower;
    for (const std::uint32_t node : switches_) {
      if (level(node) < top_) lower.push_back(node);
    }
    shuffle(lower);
    for (unsigned at = 0; at < top_; ++at) {
      std::vector<std::uint32_t> some;
      std::ranges::copy_if(
          lower, std::back_inserter(some), [&](std::uint32_t node) { return level(node) == at; });
      some.resize(some.size() * arguments_.number("uneven") / 100);
      for (std::size_t i = 0; i + 1 < some.size(); i += 2) exchange(some[i], some[i + 1]);
    }
  }

  /// Requires: of one level.
  void exchange(std::uint32_t a, std::uint32_t b) {
    std::vector<LinkEnd> of_a = up_cables(a), of_b = up_cables(b);
    shuffle(of_a);
    shuffle(of_b);
    for (const LinkEnd one : of_a) {
      for (const LinkEnd other : of_b) {
        if (port(one).peer_node == port(other).peer_node) continue;
        std::swap(spec_.nodes[a].ports[one.port].peer_node,
                  spec_.nodes[b].ports[other.port].peer_node);
        std::swap(spec_.nodes[a].ports[one.port].peer_port,
                  spec_.nodes[b].ports[other.port].peer_port);
        for (const LinkEnd end : {one, other}) {
          PortSpec& peer = spec_.nodes[port(end).peer_node].ports[port(end).peer_port.value()];
          peer.peer_node = end.node;
          peer.peer_port = port_num(end.port);
        }
        return;
      }
    }
  }

  [[nodiscard]] bool hangs_together() const {
    std::vector<char> seen(spec_.nodes.size(), 0);
    std::vector<std::uint32_t> queue{switches_[0]};
    seen[switches_[0]] = 1;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const PortSpec& each : spec_.nodes[queue[at]].ports) {
        if (each.peer_node == kNoNode || seen[each.peer_node] ||
            spec_.nodes[each.peer_node].type != NodeType::Switch)
          continue;
        seen[each.peer_node] = 1;
        queue.push_back(each.peer_node);
      }
    }
    return queue.size() == switches_.size();
  }

  std::string take_cables() {
    const std::uint32_t wanted = arguments_.number("missing");
    if (wanted == 0) return {};
    std::vector<LinkEnd> cables = all_cables();
    const std::size_t all = cables.size();
    shuffle(cables);
    std::uint32_t taken = 0;
    for (const LinkEnd end : cables) {
      if (taken == wanted) break;
      PortSpec& near = spec_.nodes[end.node].ports[end.port];
      PortSpec& far = spec_.nodes[near.peer_node].ports[near.peer_port.value()];
      const PortSpec near_was = near, far_was = far;
      near.peer_node = far.peer_node = kNoNode;
      near.peer_port = far.peer_port = PortNum{};
      if (hangs_together()) {
        near = PortSpec{.guid = near_was.guid};
        far = PortSpec{.guid = far_was.guid};
        ++taken;
      } else {
        near = near_was;
        far = far_was;
      }
    }
    if (taken == wanted) return {};
    return fmt::format(
        "missing={} is too many: of {} cables between switches {} may be missing "
        "before the tree falls apart",
        wanted,
        all,
        taken);
  }

  void slow_down() {
    const std::uint32_t share = arguments_.number("slow");
    if (share == 0) return;
    std::vector<LinkEnd> cables = all_cables();
    shuffle(cables);
    cables.resize(cables.size() * share / 100);
    for (const LinkEnd end : cables) {
      PortSpec& near = spec_.nodes[end.node].ports[end.port];
      const LinkSpeed lower = half_of(near.speed);
      near.speed = lower;
      spec_.nodes[near.peer_node].ports[near.peer_port.value()].speed = lower;
    }
  }

  static LinkSpeed half_of(LinkSpeed speed) {
    LinkSpeed lower = speed;
    while (lower > LinkSpeed::Sdr && 2 * lane_mbps(lower) > lane_mbps(speed))
      lower = static_cast<LinkSpeed>(static_cast<std::uint8_t>(lower) - 1);
    return lower;
  }

  std::string add_adapters() {
    const std::uint32_t spine_hosts = arguments_.number("spine_hosts");
    const bool aggregation = arguments_.number("aggregation") != 0;
    std::vector<std::uint32_t> spines;
    for (const std::uint32_t node : switches_) {
      if (level(node) == top_) spines.push_back(node);
    }
    std::size_t radix = 0;
    for (const std::uint32_t node : switches_)
      radix = std::max<std::size_t>(radix, spec_.nodes[node].num_ports());
    const std::size_t each = (spine_hosts + spines.size() - 1) / spines.size();
    const std::size_t adapters = spec_.nodes.size() - switches_.size() + spine_hosts;
    if (std::string why = check_size({.switches = switches_.size(),
                                      .host_ports = adapters + (aggregation ? switches_.size() : 0),
                                      .radix = radix + each + (aggregation ? 1 : 0)});
        !why.empty())
      return why;
    for (std::uint32_t h = 0; h < spine_hosts; ++h)
      hang(spines[h % spines.size()], fmt::format("spine-host-{:05}", h), kSpineHostDevice);
    if (!aggregation) return {};
    for (const std::uint32_t node : switches_)
      hang(node, "Mellanox Technologies Aggregation Node", kAggregationDevice);
    return {};
  }

  // On a new port, the last one. At the speed of the ports that the switch has.
  void hang(std::uint32_t sw, std::string description, std::uint16_t device) {
    PortSpec like;
    for (const PortSpec& each : spec_.nodes[sw].ports) {
      if (each.peer_node != kNoNode && each.speed >= like.speed) like = each;
    }
    const std::uint32_t node =
        add_node(spec_, NodeType::Ca, std::move(description), Guid{kFirstExtraGuid + extra_}, 1);
    extra_ += 2;  // the node's own and its port's
    spec_.nodes[node].device_id = device;
    spec_.nodes[sw].ports.emplace_back();
    connect(spec_,
            sw,
            port_num(spec_.nodes[sw].num_ports()),
            node,
            PortNum{1},
            like.width,
            arguments_.speed);
  }

  FabricSpec spec_;
  const Arguments& arguments_;
  Rng rng_;
  std::vector<std::uint32_t> switches_;
  unsigned top_ = 0;
  std::uint64_t extra_ = 0;
};

}  // namespace

Result<FabricSpec> make_imperfect(FabricSpec spec, const Arguments& arguments) {
  return ImperfectTree{std::move(spec), arguments}.run();
}

}  // namespace smd::sim
