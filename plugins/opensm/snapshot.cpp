#include "plugins/opensm/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "smd/fabric/builder.h"

namespace smd::opensm {
namespace {

// OpenSM keeps attributes as they came in MADs.
template <class Attribute>
std::array<std::byte, kSmpDataSize> wire_bytes(const Attribute& attribute) {
  static_assert(sizeof(Attribute) <= kSmpDataSize);
  std::array<std::byte, kSmpDataSize> bytes{};
  std::memcpy(bytes.data(), &attribute, sizeof(Attribute));
  return bytes;
}

Guid guid_of(ib_net64_t guid) { return Guid{cl_ntoh64(guid)}; }

PortNum port_num(unsigned number) { return PortNum{static_cast<std::uint8_t>(number)}; }

template <class Item, class Use>
void for_each(const cl_qmap_t& map, Use&& use) {
  for (const cl_map_item_t* item = cl_qmap_head(&map); item != cl_qmap_end(&map);
       item = cl_qmap_next(item)) {
    // The map item is the first field of what hangs in the map.
    use(*reinterpret_cast<Item*>(const_cast<cl_map_item_t*>(item)));
  }
}

class SnapshotTaker {
 public:
  SnapshotTaker(const osm_subn_t& subnet, Epoch epoch) : subnet_(subnet), epoch_(epoch) {}

  Result<Snapshot> take() {
    collect_nodes();
    for (osm_node_t* const node : nodes_) {
      if (auto added = add_node(*node); !added) return tl::unexpected(added.error());
    }
    for (osm_node_t* const node : nodes_) add_links(*node);
    find_manager();
    out_.fabric = builder_.build(epoch_);
    if (const std::string wrong = check_invariants(*out_.fabric); !wrong.empty())
      return fail(Errc::Malformed, "OpenSM's view of the subnet is inconsistent: " + wrong);
    add_fdr10();
    out_.lids = make_lid_map(*out_.fabric);
    for_each<osm_port_t>(subnet_.port_guid_tbl, [&](const osm_port_t& port) { add_lids(port); });
    return std::move(out_);
  }

 private:
  void collect_nodes() {
    for_each<osm_node_t>(subnet_.node_guid_tbl, [&](osm_node_t& node) {
      if (osm_node_get_type(&node) == IB_NODE_TYPE_SWITCH && node.sw == nullptr) {
        out_.notes.push_back(fmt::format("switch {} without SwitchInfo: left out",
                                         guid_of(node.node_info.node_guid)));
      } else {
        nodes_.push_back(&node);
      }
    });
    std::ranges::sort(
        nodes_, {}, [](const osm_node_t* n) { return cl_ntoh64(n->node_info.node_guid); });
  }

  Result<void> add_node(osm_node_t& node) {
    const auto info = decode_node_info(wire_bytes(node.node_info));
    if (!info) return tl::unexpected(info.error());
    if (info->num_ports + 1u != node.physp_tbl_size || info->num_ports > 254)
      return fail(Errc::Malformed,
                  fmt::format("node {} has no {} ports", info->node_guid, info->num_ports));
    const NodeIdx index = builder_.add_node(*info);
    index_.emplace(&node, index);
    const auto text = decode_node_description(wire_bytes(node.node_desc));
    if (text) builder_.set_description(index, print_node_description(*text));
    if (node.sw != nullptr) {
      const auto switch_info = decode_switch_info(wire_bytes(node.sw->switch_info));
      if (!switch_info) return tl::unexpected(switch_info.error());
      builder_.set_switch_info(index, *switch_info);
      out_.switches.push_back(node.sw);
    }
    for (unsigned p = 0; p <= info->num_ports; ++p) {
      const osm_physp_t* const port = osm_node_get_physp_ptr(&node, p);
      if (port == nullptr) continue;
      const auto port_info = decode_port_info(wire_bytes(port->port_info));
      if (!port_info) return tl::unexpected(port_info.error());
      builder_.set_port_info(index, port_num(p), *port_info);
      if (node.sw == nullptr) builder_.set_port_guid(index, port_num(p), guid_of(port->port_guid));
    }
    return {};
  }

  void add_links(osm_node_t& node) {
    for (unsigned p = 1; p < node.physp_tbl_size; ++p) {
      const osm_physp_t* const near = osm_node_get_physp_ptr(&node, p);
      if (near == nullptr || near->p_remote_physp == nullptr) continue;
      const osm_physp_t* const peer = near->p_remote_physp;
      const auto other = index_.find(peer->p_node);
      if (const char* const why = find_why_not(*near, *peer, other != index_.end()); *why != 0) {
        note_link(*near, *peer, why);
        continue;
      }
      builder_.add_link(index_.at(&node), port_num(p), other->second, port_num(peer->port_num));
    }
  }

  /// Why there is no such link; "": there is. OpenSM leads nothing through an unhealthy link
  /// between switches, but what is for an adapter it sends over an unhealthy one as well.
  static const char* find_why_not(const osm_physp_t& near, const osm_physp_t& peer, bool is_known) {
    if (!is_known) return "its other end is left out";
    if (peer.p_remote_physp != &near || peer.port_num == 0) return "its ends do not agree";
    const bool between_switches = near.p_node->sw != nullptr && peer.p_node->sw != nullptr;
    const bool healthy = osm_physp_is_healthy(&near) && osm_physp_is_healthy(&peer);
    return between_switches && !healthy ? "OpenSM holds it for unhealthy" : "";
  }

  /// Once for each, where both ends are looked at.
  void note_link(const osm_physp_t& near, const osm_physp_t& peer, std::string_view why) {
    const Guid from = guid_of(near.p_node->node_info.node_guid);
    const Guid to = guid_of(peer.p_node->node_info.node_guid);
    if (peer.p_remote_physp == &near && index_.contains(peer.p_node) &&
        std::pair(to, peer.port_num) < std::pair(from, near.port_num))
      return;
    out_.notes.push_back(fmt::format("link between {} port {} and {} port {} left out: {}",
                                     from,
                                     near.port_num,
                                     to,
                                     peer.port_num,
                                     why));
  }

  void find_manager() {
    for_each<osm_port_t>(subnet_.port_guid_tbl, [&](const osm_port_t& port) {
      const auto node = index_.find(port.p_node);
      if (port.guid == subnet_.sm_port_guid && node != index_.end())
        builder_.set_sm_port(node->second, port_num(port.p_physp->port_num));
    });
  }

  void add_fdr10() {
    std::vector<PortIdx> ports;
    for (osm_node_t* const node : nodes_) {
      for (unsigned p = 1; p < node->physp_tbl_size; ++p) {
        const osm_physp_t* const port = osm_node_get_physp_ptr(node, p);
        if (port != nullptr && (port->ext_port_info.link_speed_active & FDR10) != 0)
          ports.push_back(out_.fabric->port_of(index_.at(node), port_num(p)));
      }
    }
    if (!ports.empty()) out_.fabric = with_fdr10(*out_.fabric, std::move(ports));
  }

  void add_lids(const osm_port_t& port) {
    const auto node = index_.find(port.p_node);
    if (node == index_.end() || port.p_physp == nullptr) return;
    const unsigned first = cl_ntoh16(osm_port_get_base_lid(&port));
    const std::uint8_t lmc = osm_port_get_lmc(&port);
    const unsigned last = first + (1u << lmc) - 1;
    bool settled = first != 0 && last <= kTopUnicastLid.value();
    for (unsigned lid = first; settled && lid <= last; ++lid)
      settled = out_.lids.owner_of(Lid{static_cast<std::uint16_t>(lid)}) == kNone<PortIdx>;
    if (!settled) {
      out_.notes.push_back(
          fmt::format("LID {} of port {} is not settled: left out", first, guid_of(port.guid)));
      return;
    }
    set_lid(out_.lids,
            out_.fabric->port_of(node->second, port_num(port.p_physp->port_num)),
            Lid{static_cast<std::uint16_t>(first)},
            lmc);
  }

  const osm_subn_t& subnet_;
  Epoch epoch_;
  FabricBuilder builder_;
  std::vector<osm_node_t*> nodes_;                        // ascending by GUID
  std::unordered_map<const osm_node_t*, NodeIdx> index_;  // look-ups only
  Snapshot out_;
};

}  // namespace

Result<Snapshot> take_snapshot(const osm_opensm_t& osm, Epoch epoch) {
  return SnapshotTaker(osm.subn, epoch).take();
}

}  // namespace smd::opensm
