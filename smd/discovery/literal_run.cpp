#include "smd/discovery/literal_run.h"

#include <algorithm>
#include <utility>

namespace smd {

LiteralRun::LiteralRun(SmpClient& client,
                       const PartialOptions& options,
                       Epoch epoch,
                       const KnownSubnet& known,
                       PartialDiscovery::Done done)
    : PartialRun(client, options, epoch, known, std::move(done)), served_(known) {}

void LiteralRun::start() {
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

void LiteralRun::on_step() {
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

void LiteralRun::on_read(std::uint32_t node, const SwitchReader::Reading& reading) {
  if (!reading.restarted) {
    apply(node, reading);
    return;
  }
  lose(node);
  missing_.erase(node);
  forget_restarted(node);
}

/// Its route may be what failed: it is looked for again, across each of its cables once.
void LiteralRun::on_silent(std::uint32_t node, std::string why) {
  const auto across = asked_across_.extract(node);
  if (!across.empty() && survey_.peer(across.mapped())) {
    const CableEnd last = across.mapped();
    oddities_.silent.push_back({survey_.node(last.node).info.node_guid, last.port, std::move(why)});
    survey_.unlink(last);
  }
  lose(node);
}

void LiteralRun::on_port_down(CableEnd end) {
  const auto far = survey_.peer(end);
  survey_.unlink(end);
  lose(far->node);
}

/// The node is missing, and so is everything whose route passes it.
void LiteralRun::lose(std::uint32_t node) {
  const std::set<std::uint32_t> behind = served_.devices_of(node);
  miss(node);
  for (const std::uint32_t device : behind) miss(device);
}

void LiteralRun::miss(std::uint32_t node) {
  if (node == 0) return;
  cancel_reading(node);
  asked_across_.erase(node);
  served_.purge(node);
  missing_.insert(node);
}

void LiteralRun::on_joined(CableEnd a, CableEnd b) {
  if (!is_known(b.node) && served_.switches_to(b.node).empty()) served_.reroute(b.node, a.node);
}

std::optional<SmpRoute> LiteralRun::route_to(std::uint32_t node) {
  if (missing_.contains(node)) return std::nullopt;
  return survey_.node(node).route;
}

/// One step: whatever is missing and hangs on a reachable switch has a route now.
bool LiteralRun::find_missing() {
  std::vector<std::pair<std::uint32_t, CableEnd>> found;
  for (const std::uint32_t node : missing_) {
    if (const auto last = find_way_to(node)) found.emplace_back(node, *last);
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

std::optional<CableEnd> LiteralRun::find_way_to(std::uint32_t node) const {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const auto far = survey_.peer({node, PortNum{static_cast<std::uint8_t>(p)}});
    if (!far || missing_.contains(far->node)) continue;
    const Survey::Node& last = survey_.node(far->node);
    if (!last.info.is_switch() || last.broken) continue;
    if (extend(last.route, far->port)) return far;
  }
  return std::nullopt;
}

}  // namespace smd
