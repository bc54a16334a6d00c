#include "smd/discovery/thesis_run.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

const std::set<std::uint32_t> kNobody{};

const std::set<std::uint32_t>& find_in(
    const std::map<std::uint32_t, std::set<std::uint32_t>>& lists, std::uint32_t key) {
  const auto found = lists.find(key);
  return found == lists.end() ? kNobody : found->second;
}

/// The port that a device's LID belongs to, and where its packets enter the switches.
struct Attachment {
  Lid lid = kUnassignedLid;
  NodeIdx entry = kNone<NodeIdx>;
};

Attachment attachment_of(const KnownSubnet& known, NodeIdx node) {
  const Fabric& fabric = *known.sweep->fabric;
  if (fabric.is_switch(node)) return {known.lids->base[fabric.port_of(node, PortNum{0})], node};
  for (const PortIdx port : fabric.external_ports(node)) {
    const PortIdx peer = fabric.peer[port];
    const Lid lid = known.lids->base[port];
    if (peer != kNone<PortIdx> && lid != kUnassignedLid) return {lid, fabric.node_of[peer]};
  }
  return {};
}

}  // namespace

DestinationDevices::DestinationDevices(const KnownSubnet& known) {
  const Fabric& fabric = *known.sweep->fabric;
  const Attachment manager = attachment_of(known, fabric.sm_node);
  if (manager.entry == kNone<NodeIdx>) return;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const Attachment device = attachment_of(known, node);
    if (node == fabric.sm_node || device.entry == kNone<NodeIdx>) continue;
    add_walk(known, manager.entry, device.lid, node.value());
    add_walk(known, device.entry, manager.lid, node.value());
  }
}

void DestinationDevices::add_walk(const KnownSubnet& known,
                                  NodeIdx from,
                                  Lid lid,
                                  std::uint32_t device) {
  const Fabric& fabric = *known.sweep->fabric;
  NodeIdx at = from;
  for (std::size_t step = 0; step < fabric.switch_count() && fabric.is_switch(at); ++step) {
    if (at.value() != device) {
      switches_[device].insert(at.value());
      devices_[at.value()].insert(device);
    }
    const PortNum egress = known.lft->route(fabric.switch_of[at], lid);
    if (egress == PortNum{0} || egress == kNoRoute || egress.value() > fabric.num_ports(at)) return;
    const PortIdx peer = fabric.peer[fabric.port_of(at, egress)];
    if (peer == kNone<PortIdx>) return;
    at = fabric.node_of[peer];
  }
}

const std::set<std::uint32_t>& DestinationDevices::switches_to(std::uint32_t device) const {
  return find_in(switches_, device);
}

const std::set<std::uint32_t>& DestinationDevices::devices_of(std::uint32_t sw) const {
  return find_in(devices_, sw);
}

void DestinationDevices::purge(std::uint32_t device) {
  for (const std::uint32_t sw : switches_to(device)) devices_[sw].erase(device);
  switches_.erase(device);
}

void DestinationDevices::reroute(std::uint32_t device, std::uint32_t last) {
  purge(device);
  std::set<std::uint32_t> route = switches_to(last);
  route.insert(last);
  route.erase(device);
  for (const std::uint32_t sw : route) devices_[sw].insert(device);
  switches_[device] = std::move(route);
}

ThesisRun::ThesisRun(SmpClient& client,
                     const DiscoveryOptions& options,
                     Epoch epoch,
                     const KnownSubnet& known,
                     PartialDiscovery::Done done)
    : ThesisExplorer(client, options, epoch, known, std::move(done)), served_(known) {}

bool ThesisRun::has_routes(const KnownSubnet& known) {
  const Fabric& fabric = *known.sweep->fabric;
  return known.lids != nullptr && known.lft != nullptr &&
         known.lids->base.size() == fabric.port_count() &&
         known.lft->switches() == fabric.switch_count() && known.lft->top() >= known.lids->top;
}

void ThesisRun::start() {
  const Fabric& fabric = *known_.sweep->fabric;
  std::vector<std::pair<Lid, std::uint32_t>> sweep;
  for (const NodeIdx node : fabric.switch_node) {
    sweep.emplace_back(known_.lids->base[fabric.port_of(node, PortNum{0})], node.value());
  }
  std::ranges::sort(sweep);
  for (const auto& [lid, node] : sweep) {
    // A route beyond the manager's own switch starts here, without a LID.
    if (lid != kUnassignedLid && node != 0) survey_.node(node).route = SmpRoute::to_lid(lid);
    read_switch(
        node, {.route = lid == kUnassignedLid ? survey_.node(node).route : SmpRoute::to_lid(lid)});
  }
}

void ThesisRun::on_step() {
  if (finish_early()) return;
  pump_probes();
  if (is_reading() || is_asking()) return;
  while (find_missing()) {
    if (is_reading()) return;
  }
  while (settle_links()) {
    pump_probes();
    if (is_asking()) return;
  }
  for (const std::uint32_t node : missing_) survey_.node(node).broken = true;
  finish();
}

void ThesisRun::on_read(std::uint32_t node, const SwitchReader::Reading& reading) {
  if (!reading.restarted) {
    apply(node, reading);
    return;
  }
  lose(node);
  missing_.erase(node);
  forget_restarted(node);
}

/// Its route may be what failed: it is looked for again, across each of its links once.
void ThesisRun::on_silent(std::uint32_t node, std::string why) {
  const auto across = asked_across_.extract(node);
  if (!across.empty() && survey_.peer(across.mapped())) {
    const LinkEnd last = across.mapped();
    anomalies_.silent.push_back(
        {survey_.node(last.node).info.node_guid, last.port, std::move(why)});
    survey_.unlink(last);
  }
  lose(node);
}

void ThesisRun::on_port_down(LinkEnd end) {
  const auto peer = survey_.peer(end);
  survey_.unlink(end);
  lose(peer->node);
}

/// The node is missing, and so is everything whose route passes it.
void ThesisRun::lose(std::uint32_t node) {
  const std::set<std::uint32_t> behind = served_.devices_of(node);
  miss(node);
  for (const std::uint32_t device : behind) miss(device);
}

void ThesisRun::miss(std::uint32_t node) {
  if (node == 0) return;
  cancel_reading(node);
  asked_across_.erase(node);
  served_.purge(node);
  missing_.insert(node);
}

void ThesisRun::on_joined(LinkEnd a, LinkEnd b) {
  if (!is_known(b.node) && served_.switches_to(b.node).empty()) served_.reroute(b.node, a.node);
}

std::optional<SmpRoute> ThesisRun::route_to(std::uint32_t node) {
  if (missing_.contains(node)) return std::nullopt;
  return survey_.node(node).route;
}

/// One step: whatever is missing and hangs on a reachable switch has a route now.
bool ThesisRun::find_missing() {
  std::vector<std::pair<std::uint32_t, LinkEnd>> found;
  for (const std::uint32_t node : missing_) {
    if (const auto last = find_route_to(node)) found.emplace_back(node, *last);
  }
  for (const auto& [node, last] : found) {
    missing_.erase(node);
    served_.reroute(node, last.node);
    survey_.node(node).route = *extend(survey_.node(last.node).route, last.port);
    if (!survey_.node(node).info.is_switch()) continue;
    asked_across_[node] = last;
    read_switch(node, {.route = survey_.node(node).route});
  }
  return !found.empty();
}

std::optional<LinkEnd> ThesisRun::find_route_to(std::uint32_t node) const {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const auto peer = survey_.peer({node, PortNum{static_cast<std::uint8_t>(p)}});
    if (!peer || missing_.contains(peer->node)) continue;
    const Survey::Node& last = survey_.node(peer->node);
    if (!last.info.is_switch() || last.broken) continue;
    if (extend(last.route, peer->port)) return peer;
  }
  return std::nullopt;
}

}  // namespace smd
