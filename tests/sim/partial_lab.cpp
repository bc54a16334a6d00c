#include "tests/sim/partial_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "smd/base/check.h"
#include "smd/discovery/light_sweep.h"
#include "smd/fabric/builder.h"
#include "smd/mad/tables.h"
#include "smd/policy/port_policy.h"

namespace smd::test {
namespace {

std::string print_hops(const HopArray& hops, unsigned first, unsigned count, bool backwards) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned at = backwards ? first + count - 1 - i : first + i;
    text += fmt::format("{}{}", i == 0 ? "" : ",", hops[at]);
  }
  return "(" + text + ")";
}

std::string print_attribute(const Smp& smp) {
  switch (static_cast<AttributeId>(smp.attribute_id)) {
    case AttributeId::NodeInfo:
      return "NI";
    case AttributeId::SwitchInfo:
      return "SI";
    case AttributeId::SwitchPortStateTable:
      return fmt::format("SPST {}", smp.attribute_modifier);
    case AttributeId::PortInfo:
      return fmt::format("PI {}", decode_port_info_modifier(smp.attribute_modifier).port);
    default:
      return fmt::format("{:x}", smp.attribute_id);
  }
}

}  // namespace

Result<void> RecordingTransport::send(const MadPacket& packet) {
  const auto smp = decode_smp(packet.mad);
  SMD_CHECK(smp.has_value(), "we send well-formed SMPs");
  const std::uint64_t id = smp->transaction_id;
  const std::string route =
      smp->directed ? print_hops(smp->initial_path, 1, smp->hop_count, false) : "";
  const bool by_lid = packet.remote_lid != kPermissiveLid;
  Request request;
  if (by_lid) request.lid_part = fmt::format("{}→1", packet.remote_lid);
  request.text = fmt::format("{} {} {}{}{}",
                             smp->method == Method::Get ? "Get" : "Set",
                             print_attribute(*smp),
                             by_lid ? fmt::format("1→{}", packet.remote_lid) : "",
                             by_lid && smp->directed ? "," : "",
                             route);
  const auto again = by_id_.find(id);
  if (again == by_id_.end() || requests_[again->second].text != request.text) {
    by_id_[id] = requests_.size();
    requests_.push_back(std::move(request));
    if (on_request) on_request(requests_.size());
  }
  return inner_.send(packet);
}

void RecordingTransport::set_handlers(Receive receive, Lost lost) {
  inner_.set_handlers(
      [this, receive = std::move(receive)](const MadPacket& packet) {
        const auto smp = decode_smp(packet.mad);
        const auto asked = smp ? by_id_.find(smp->transaction_id) : by_id_.end();
        if (asked != by_id_.end() && asked->second < requests_.size()) {
          Request& request = requests_[asked->second];
          const std::string hops =
              smp->directed ? print_hops(smp->return_path, 1, smp->hop_count, true) : "";
          request.way_back =
              hops + (hops.empty() || request.lid_part.empty() ? "" : ",") + request.lid_part;
        }
        if (!smp || !on_answer) return receive(packet);
        Smp edited = *smp;
        if (!on_answer(edited)) return;
        MadPacket other = packet;
        encode_smp(edited, other.mad);
        receive(other);
      },
      std::move(lost));
}

std::vector<std::string> RecordingTransport::requests() const {
  std::vector<std::string> out = log();
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> RecordingTransport::log() const {
  std::vector<std::string> out;
  for (const Request& request : requests_) {
    out.push_back(fmt::format("{} [{}]", request.text, request.way_back));
  }
  return out;
}

PartialLab::PartialLab(sim::FabricSpec spec, Options options)
    : TimedFabric(std::move(spec), options.timing, options.seed, options.agents),
      wire(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
      transport(wire),
      client(runtime, transport, {.retries = options.retries}) {}

Guid PartialLab::guid(const std::string& name) const {
  return fabric.spec().nodes[node(name)].guid;
}

Result<SmpReply> PartialLab::call(const SmpRequest& request) {
  SmpScope scope(client);
  std::optional<Result<SmpReply>> reply;
  scope.send(request, [&](Result<SmpReply> got) { reply = std::move(got); });
  run_until([&] { return reply.has_value(); }, std::chrono::minutes(10));
  return *reply;
}

SweepReport PartialLab::full(bool literal) {
  std::optional<Result<SweepReport>> result;
  std::uint16_t next_lid = 1;
  DiscoveryOptions options;
  if (literal) {
    options.requests = RequestSet::Thesis;
    options.set_end_port = [&](Guid, const PortInfo& now) {
      PortInfo wanted = now;
      wanted.lid = Lid{next_lid++};
      wanted.master_sm_lid = Lid{1};
      return std::optional(set_body(wanted, PortState::NoChange));
    };
  }
  Discovery discovery(client, std::move(options), Epoch{epoch_++});
  discovery.start([&](Result<SweepReport> found) { result = std::move(found); });
  run_until([&] { return result.has_value(); }, std::chrono::minutes(60));
  SMD_CHECK(result && *result, "full discovery ends well");
  return std::move(**result);
}

Result<PartialReport> PartialLab::partial(std::vector<Guid> suspects,
                                          DiscoveryOptions options,
                                          std::vector<PortRef> ports) {
  std::optional<Result<PartialReport>> result;
  PartialDiscovery discovery(client, std::move(options), Epoch{epoch_++});
  discovery.start(
      known_subnet(), std::move(suspects), std::move(ports), [&](Result<PartialReport> found) {
        result = std::move(found);
      });
  const std::uint64_t limit = client.stats().sent + 100000;
  run_until([&] { return result.has_value() || client.stats().sent > limit; },
            std::chrono::minutes(60));
  SMD_CHECK(result.has_value(), "partial discovery ends, with fewer SMPs than that");
  return std::move(*result);
}

void PartialLab::bring_up(bool literal) {
  const SweepReport first = full(literal);
  if (literal) {
    take_lids(first);
  } else {
    set_lids(first);
  }
  client.set_local_lid(lids.base[first.fabric->sm_port]);
  write_tables(first);
  activate(first);
  known = full();
  // What follows is counted from here.
  transport.clear();
}

namespace {

/// The same with nodes numbered as in `like`, which has the same ones.
SweepReport renumber(const SweepReport& report, const Fabric& like) {
  const Fabric& from = *report.fabric;
  FabricBuilder builder;
  SweepReport out = report;
  IndexVector<NodeIdx, HopPath> path;
  std::vector<PortIdx> fdr10;
  for (const Guid guid : like.node_guid) {
    const NodeIdx n = from.find_node(guid).value();
    builder.add_node(from.node_info[n]);
    path.push_back(report.path[n]);
  }
  for (const NodeIdx here : like.node_guid.indices()) {
    const NodeIdx n = from.find_node(like.node_guid[here]).value();
    if (from.is_switch(n)) builder.set_switch_info(here, from.switch_info[from.switch_of[n]]);
    builder.set_description(here, from.description[n]);
    for (const PortIdx p : from.ports_of(n)) {
      const PortNum number = from.number_of(p);
      builder.set_port_info(here, number, from.port_info[p]);
      builder.set_port_guid(here, number, from.port_guid[p]);
      if (std::ranges::binary_search(from.fdr10, p)) fdr10.push_back(builder.port_of(here, number));
      const PortIdx peer = from.peer[p];
      if (peer == kNone<PortIdx>) continue;
      const NodeIdx there = like.find_node(from.node_guid[from.node_of[peer]]).value();
      builder.add_link(here, number, there, from.number_of(peer));
    }
  }
  builder.set_sm_port(like.sm_node, from.number_of(from.sm_port));
  std::ranges::sort(fdr10);
  builder.set_fdr10(std::move(fdr10));
  builder.set_site_nodes(from.site_nodes);
  out.fabric = builder.build(from.epoch);
  out.path = std::move(path);
  return out;
}

}  // namespace

void PartialLab::adopt(const SweepReport& found) {
  set_lids(found);
  write_tables(found);
  activate(found);
  known = renumber(full(), *found.fabric);
}

std::vector<Guid> PartialLab::raised() const {
  std::vector<Guid> out;
  for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
    const sim::NodeSpec& at = fabric.spec().nodes[n];
    if (at.type != NodeType::Switch || !known.fabric->find_node(at.guid)) continue;
    if (fabric.switch_info(n).port_state_change) out.push_back(at.guid);
  }
  return out;
}

void PartialLab::take_lids(const SweepReport& report) {
  lids = make_lid_map(*report.fabric);
  for (const PortIdx p : report.fabric->peer.indices()) {
    if (report.fabric->is_end_port(p)) set_lid(lids, p, report.fabric->port_info[p].lid, 0);
  }
}

void PartialLab::set_lids(const SweepReport& report) {
  lids = make_lid_map(*report.fabric);
  std::uint16_t next_lid = 1;
  for (const PortIdx p : report.fabric->peer.indices()) {
    if (!report.fabric->is_end_port(p)) continue;
    set_lid(lids, p, Lid{next_lid++}, 0);
    PortInfo wanted = report.fabric->port_info[p];
    wanted.lid = lids.base[p];
    wanted.master_sm_lid = Lid{1};
    SmpRequest request{.route = SmpRoute::directed(path_to(report, p)),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo,
                       .modifier = report.fabric->number_of(p).value()};
    encode_port_info(set_body(wanted, PortState::NoChange), request.data);
    call(request);
  }
}

void PartialLab::write_tables(const SweepReport& report) {
  const Fabric& f = *report.fabric;
  lft = ForwardingTables(f.switch_count(), lids.top);
  for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
    const PortIdx owner = lids.owner_of(Lid{static_cast<std::uint16_t>(lid)});
    if (owner == kNone<PortIdx>) continue;
    IndexVector<NodeIdx, unsigned> distance(f.node_count(), UINT32_MAX);
    std::deque<NodeIdx> queue{f.node_of[owner]};
    distance[queue.front()] = 0;
    while (!queue.empty()) {
      const NodeIdx at = queue.front();
      queue.pop_front();
      if (!f.is_switch(at) && at != f.node_of[owner]) continue;
      for (const PortIdx p : f.external_ports(at)) {
        if (f.peer[p] == kNone<PortIdx>) continue;
        if (!f.is_switch(at) && p != owner) continue;
        const NodeIdx next_node = f.node_of[f.peer[p]];
        if (distance[next_node] != UINT32_MAX) continue;
        distance[next_node] = distance[at] + 1;
        queue.push_back(next_node);
      }
    }
    for (const SwitchIdx sw : f.switch_node.indices()) {
      const NodeIdx at = f.switch_node[sw];
      const Lid to{static_cast<std::uint16_t>(lid)};
      if (at == f.node_of[owner]) lft.set_route(sw, to, PortNum{0});
      for (const PortIdx p : f.external_ports(at)) {
        if (lft.route(sw, to) != kNoRoute || f.peer[p] == kNone<PortIdx>) continue;
        if (distance[at] == UINT32_MAX || distance[f.node_of[f.peer[p]]] + 1 != distance[at])
          continue;
        if (!f.is_switch(f.node_of[f.peer[p]]) && f.peer[p] != owner) continue;
        lft.set_route(sw, to, f.number_of(p));
      }
    }
  }
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const auto route = SmpRoute::directed(report.path[f.switch_node[sw]]);
    for (std::size_t block = 0; block < lft.blocks(); ++block) {
      SmpRequest request{.route = route,
                         .method = Method::Set,
                         .attribute = AttributeId::LinearForwardingTable,
                         .modifier = static_cast<std::uint32_t>(block)};
      LftBlock body{};
      std::ranges::copy(lft.block(sw, block), body.begin());
      encode_lft_block(body, request.data);
      call(request);
    }
    SmpRequest request{.route = route, .method = Method::Set, .attribute = AttributeId::SwitchInfo};
    SwitchInfo info = f.switch_info[sw];
    info.linear_fdb_top = lids.top.value();
    info.port_state_change = true;
    encode_switch_info(info, request.data);
    call(request);
  }
}

void PartialLab::activate(const SweepReport& report) {
  const Fabric& f = *report.fabric;
  for (const PortState state : {PortState::Armed, PortState::Active}) {
    for (const PortIdx p : f.peer.indices()) {
      if (f.peer[p] == kNone<PortIdx> || f.port_info[p].state() != PortState::Initialize) continue;
      PortInfo wanted = f.port_info[p];
      if (f.is_end_port(p) && lids.base.size() == f.port_count()) wanted.lid = lids.base[p];
      SmpRequest request{.route = SmpRoute::directed(path_to(report, p)),
                         .method = Method::Set,
                         .attribute = AttributeId::PortInfo,
                         .modifier = f.number_of(p).value()};
      encode_port_info(set_body(wanted, state), request.data);
      call(request);
    }
  }
}

std::vector<Guid> PartialLab::Polled::all() const {
  std::vector<Guid> out = changed;
  out.insert(out.end(), silent.begin(), silent.end());
  return out;
}

PartialLab::Polled PartialLab::poll() {
  LightSweep poll(runtime, client, {});
  std::optional<LightSweepReport> seen;
  poll.start(*known.fabric, lids, [&](LightSweepReport report) { seen = std::move(report); });
  run_until([&] { return seen.has_value(); }, std::chrono::minutes(10));
  SMD_CHECK(seen.has_value(), "a poll ends");
  Polled out;
  for (const NodeIdx n : seen->changed) out.changed.push_back(known.fabric->node_guid[n]);
  for (const NodeIdx n : seen->silent) out.silent.push_back(known.fabric->node_guid[n]);
  return out;
}

namespace {

/// The other end, as nobody's numbers say.
std::optional<PortRef> peer_of(const Fabric& fabric, PortIdx p) {
  const PortIdx peer = fabric.peer[p];
  if (peer == kNone<PortIdx>) return std::nullopt;
  return PortRef{fabric.node_guid[fabric.node_of[peer]], fabric.number_of(peer)};
}

std::string find_port_difference(const Fabric& a, PortIdx in_a, const Fabric& b, PortIdx in_b) {
  const std::string name =
      fmt::format("{} port {}", a.node_guid[a.node_of[in_a]], a.number_of(in_a).value());
  if (peer_of(a, in_a) != peer_of(b, in_b)) return name + ": another peer";
  if (a.port_guid[in_a] != b.port_guid[in_b]) return name + ": another GUID";
  if (a.demand_of(in_a) != b.demand_of(in_b)) return name + ": sends other data";
  // What the last link of a Down port ran at tells nothing.
  const auto told = [](PortInfo info) {
    if (info.state() != PortState::Down) return info;
    info.link_width_active = info.link_speed_active = 0;
    info.link_speed_ext_active = info.link_speed_ext2_active = 0;
    return info;
  };
  if (told(a.port_info[in_a]) == told(b.port_info[in_b])) return "";
  return fmt::format("{}: PortInfo\n{}\n{}",
                     name,
                     print_port_info(a.port_info[in_a]),
                     print_port_info(b.port_info[in_b]));
}

std::string find_node_difference(const Fabric& a, NodeIdx in_a, const Fabric& b, NodeIdx in_b) {
  if (a.node_info[in_a] != b.node_info[in_b]) {
    return fmt::format(
        "NodeInfo\n{}\n{}", print_node_info(a.node_info[in_a]), print_node_info(b.node_info[in_b]));
  }
  const Guid guid = a.node_guid[in_a];
  if (a.is_switch(in_a) != b.is_switch(in_b)) return fmt::format("{} is a switch or not", guid);
  if (a.num_ports(in_a) != b.num_ports(in_b)) return fmt::format("ports of {}", guid);
  if (a.is_switch(in_a)) {
    const SwitchInfo& was = a.switch_info[a.switch_of[in_a]];
    const SwitchInfo& is = b.switch_info[b.switch_of[in_b]];
    if (was != is)
      return fmt::format(
          "{}: SwitchInfo\n{}\n{}", guid, print_switch_info(was), print_switch_info(is));
  }
  for (const PortIdx p : a.ports_of(in_a)) {
    const PortIdx twin = b.port_of(in_b, a.number_of(p));
    if (std::string text = find_port_difference(a, p, b, twin); !text.empty()) return text;
  }
  return "";
}

/// Of nodes by GUID: a partial discovery numbers them as before, a full one as it finds them.
std::string find_fabric_difference(const SweepReport& one, const SweepReport& other) {
  const Fabric &a = *one.fabric, &b = *other.fabric;
  for (const Guid guid : b.node_guid) {
    if (!a.find_node(guid)) return fmt::format("{} is there", guid);
  }
  if (a.sm_node != NodeIdx{0} || b.sm_node != NodeIdx{0} ||
      a.number_of(a.sm_port) != b.number_of(b.sm_port))
    return "where the manager is";
  for (const NodeIdx n : a.node_guid.indices()) {
    const auto twin = b.find_node(a.node_guid[n]);
    if (!twin) return fmt::format("{} is missing", a.node_guid[n]);
    if (std::string text = find_node_difference(a, n, b, *twin); !text.empty()) return text;
    if (one.path[n] != other.path[*twin]) return fmt::format("path to {}", a.node_guid[n]);
  }
  return "";
}

}  // namespace

std::string find_difference(const SweepReport& expected, const SweepReport& found) {
  if (!found.fabric) return "no snapshot";
  std::string text = find_fabric_difference(expected, found);
  if (!text.empty()) return text;
  const auto place = [](const SilentPort& silent) { return std::pair{silent.node, silent.port}; };
  if (!std::ranges::equal(expected.silent, found.silent, {}, place, place)) {
    std::string lists = "silent ports:";
    for (const auto& s : expected.silent) lists += fmt::format(" {}:{}", s.node, s.port.value());
    lists += " / ";
    for (const auto& s : found.silent) lists += fmt::format(" {}:{}", s.node, s.port.value());
    return lists;
  }
  if (expected.duplicates.size() != found.duplicates.size()) return "duplicates";
  return check_invariants(*found.fabric);
}

}  // namespace smd::test
