#include "smd/app/admin_commands.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "smd/app/report_json.h"
#include "smd/base/log.h"

namespace smd::app {
namespace {

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

Result<const InForce*> in_force(const AdminContext& context) {
  SubnetManager* manager = context.manager();
  if (manager == nullptr || manager->in_force() == nullptr) {
    return fail(Errc::Busy, "the subnet is not up yet");
  }
  return manager->in_force();
}

std::string name_of(const Fabric& fabric, NodeIdx node) {
  return fabric.description[node].empty() ? fmt::format("{}", fabric.node_guid[node])
                                          : fabric.description[node];
}

Lid lid_of(const InForce& now, NodeIdx node) {
  const Fabric& fabric = now.fabric();
  for (PortIdx port : fabric.ports_of(node)) {
    if (now.lids.base[port] != kUnassignedLid) return now.lids.base[port];
  }
  return kUnassignedLid;
}

/// A node by description, GUID ("0x…") or LID.
Result<NodeIdx> find_node(const InForce& now, const std::string& name) {
  const Fabric& fabric = now.fabric();
  NodeIdx found = kNone<NodeIdx>;
  for (NodeIdx node : fabric.node_guid.indices()) {
    if (fabric.description[node] != name && fmt::format("{}", fabric.node_guid[node]) != name)
      continue;
    if (found != kNone<NodeIdx>)
      return fail(Errc::Invalid,
                  fmt::format("more than one node is called '{}'; use its GUID", name));
    found = node;
  }
  if (found != kNone<NodeIdx>) return found;
  std::uint16_t lid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), lid);
  if (error == std::errc{} && end == name.data() + name.size()) {
    const PortIdx owner = now.lids.owner_of(Lid{lid});
    if (owner != kNone<PortIdx>) return fabric.node_of[owner];
  }
  return fail(Errc::Invalid,
              fmt::format("no node is called '{}'; a description, GUID or LID would be", name));
}

Result<std::string> text_arg(const nlohmann::json& args, const char* key) {
  if (!args.is_object() || !args.contains(key) || !args.at(key).is_string()) {
    return fail(Errc::Invalid, fmt::format("argument '{}' is missing, or not a text", key));
  }
  return args.at(key).get<std::string>();
}

nlohmann::json cycle_summary(const CycleReport& cycle, TimePoint now_is) {
  return {{"reason", cycle.reason},
          {"ok", cycle.up()},
          {"smps", cycle.smps()},
          {"blocks_written", cycle.blocks_written},
          {"lft_entries_changed_pct", cycle.lft_entries_changed_pct},
          {"seconds_ago", seconds(now_is - cycle.ended)}};
}

nlohmann::json smp_json(const SmpStats& stats) {
  return {{"sent", stats.sent},
          {"answered", stats.answered},
          {"retries", stats.retries},
          {"timeouts", stats.timeouts},
          {"late", stats.late},
          {"malformed", stats.malformed},
          {"refused", stats.refused},
          {"send_errors", stats.send_errors},
          {"unsolicited", stats.unsolicited}};
}

nlohmann::json status(const AdminContext& context) {
  nlohmann::json out = {{"state", "waiting for a device"},
                        {"uptime_s", seconds(context.uptime())},
                        {"standbys", nlohmann::json::array()},
                        {"alarms", nlohmann::json::array()}};
  SubnetManager* manager = context.manager();
  if (manager == nullptr) return out;
  const LocalPort port = context.transport()->local_port();
  out["state"] = print_phase(manager->phase());
  out["device"] = port.device;
  out["port"] = port.port.value();
  out["port_guid"] = fmt::format("{}", port.port_guid);
  out["alarms"] = manager->alarms();
  out["smp"] = smp_json(manager->smp_stats());
  out["engine"] = manager->settings().engine;
  const CycleReport* last = manager->last_cycle();
  if (last == nullptr) return out;
  const TimePoint now_is = manager->now();
  out["engine"] = last->engine;
  out["nodes"] = last->counts.switches + last->counts.cas;
  out["switches"] = last->counts.switches;
  out["cas"] = last->counts.cas;
  out["links"] = last->counts.links;
  out["lids"] = last->counts.lids;
  out["last_sweep"] = cycle_summary(*last, now_is);
  if (!manager->changes().empty())
    out["last_change"] = cycle_summary(manager->changes().front(), now_is);
  return out;
}

nlohmann::json node_json(const InForce& now, NodeIdx node) {
  const Fabric& fabric = now.fabric();
  unsigned active = 0;
  for (PortIdx port : fabric.external_ports(node))
    active += fabric.peer[port] != kNone<PortIdx> ? 1 : 0;
  return {{"guid", fmt::format("{}", fabric.node_guid[node])},
          {"type", print_node_type(static_cast<NodeType>(fabric.node_info[node].node_type))},
          {"description", fabric.description[node]},
          {"lid", lid_of(now, node).value()},
          {"ports", fabric.num_ports(node)},
          {"linked_ports", active}};
}

nlohmann::json link_json(const Fabric& fabric, PortIdx port) {
  const PortIdx peer = fabric.peer[port];
  const PortInfo& info = fabric.port_info[port];
  return {{"from", name_of(fabric, fabric.node_of[port])},
          {"from_port", fabric.number_of(port).value()},
          {"to", name_of(fabric, fabric.node_of[peer])},
          {"to_port", fabric.number_of(peer).value()},
          {"width", print_link_width(active_width(info))},
          {"speed", print_link_speed(link_speed(fabric, port))}};
}

nlohmann::json nodes_json(const InForce& now, bool switches_only) {
  nlohmann::json out = nlohmann::json::array();
  for (NodeIdx node : now.fabric().node_guid.indices()) {
    if (!switches_only || now.fabric().is_switch(node)) out.push_back(node_json(now, node));
  }
  return out;
}

nlohmann::json links_json(const InForce& now) {
  nlohmann::json out = nlohmann::json::array();
  const Fabric& fabric = now.fabric();
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx> && port <= fabric.peer[port])
      out.push_back(link_json(fabric, port));
  }
  return out;
}

Result<nlohmann::json> port_json(const InForce& now, const nlohmann::json& args) {
  const auto name = text_arg(args, "node");
  if (!name) return tl::unexpected<Error>(name.error());
  const auto node = find_node(now, *name);
  if (!node) return tl::unexpected<Error>(node.error());
  const Fabric& fabric = now.fabric();
  if (!args.contains("port") || !args.at("port").is_number_unsigned() ||
      args.at("port").get<std::uint64_t>() > fabric.num_ports(*node)) {
    return fail(Errc::Invalid,
                fmt::format("'port' is a number from 0 to {}", fabric.num_ports(*node)));
  }
  const PortIdx port = fabric.port_of(*node, PortNum{args.at("port").get<std::uint8_t>()});
  nlohmann::json out = {{"node", name_of(fabric, *node)},
                        {"port", fabric.number_of(port).value()},
                        {"lid", now.lids.base[port].value()},
                        {"info", print_port_info(fabric.port_info[port])}};
  if (fabric.peer[port] != kNone<PortIdx>) out["link"] = link_json(fabric, port);
  return out;
}

/// Walks the tables in force from a node to a node.
Result<nlohmann::json> route_json(const InForce& now, const nlohmann::json& args) {
  const auto from_name = text_arg(args, "from");
  if (!from_name) return tl::unexpected<Error>(from_name.error());
  const auto to_name = text_arg(args, "to");
  if (!to_name) return tl::unexpected<Error>(to_name.error());
  const auto from = find_node(now, *from_name);
  if (!from) return tl::unexpected<Error>(from.error());
  const auto to = find_node(now, *to_name);
  if (!to) return tl::unexpected<Error>(to.error());

  const Fabric& fabric = now.fabric();
  const Lid lid = lid_of(now, *to);
  nlohmann::json hops = nlohmann::json::array();
  NodeIdx at = *from;
  for (std::size_t hop = 0; at != *to && hop <= fabric.switch_count() + 1; ++hop) {
    PortIdx out = kNone<PortIdx>;
    if (fabric.is_switch(at)) {
      const PortNum egress = now.routing.lft.route(fabric.switch_of[at], lid);
      if (egress.value() <= fabric.num_ports(at)) out = fabric.port_of(at, egress);
    } else if (at == *from) {
      for (PortIdx port : fabric.external_ports(at)) {
        if (out == kNone<PortIdx> && fabric.peer[port] != kNone<PortIdx>) out = port;
      }
    }
    if (out == kNone<PortIdx> || fabric.peer[out] == kNone<PortIdx>) {
      return fail(Errc::Unreachable, fmt::format("the route ends at {}", name_of(fabric, at)));
    }
    hops.push_back(link_json(fabric, out));
    at = fabric.node_of[fabric.peer[out]];
  }
  if (at != *to) return fail(Errc::Unreachable, "the route does not end");
  return nlohmann::json{{"lid", lid.value()}, {"hops", hops}};
}

nlohmann::json changes_json(const SubnetManager& manager, std::size_t most) {
  nlohmann::json out = nlohmann::json::array();
  for (const CycleReport& cycle : manager.changes()) {
    if (out.size() == most) break;
    out.push_back(nlohmann::json::parse(
        change_json(cycle, cycle.reason, cycle.shrank ? "down" : "up").dump()));
  }
  return {{"changes", out}};
}

}  // namespace

void register_commands(CommandTable& table, AdminContext context) {
  using Json = nlohmann::json;
  const auto ctx = std::make_shared<AdminContext>(std::move(context));
  /// A command that only reads what is in force.
  const auto reads = [ctx](auto read) {
    return [ctx, read](const Json& args) -> Result<Json> {
      const auto now = in_force(*ctx);
      if (!now) return tl::unexpected<Error>(now.error());
      return read(**now, args);
    };
  };
  table.add("status",
            "state, engine, counts, last sweep, alarms",
            [ctx](const Json&) -> Result<Json> { return status(*ctx); });
  table.add(
      "fabric", "switches and links", reads([](const InForce& now, const Json&) -> Result<Json> {
        return Json{{"switches", nodes_json(now, true)}, {"links", links_json(now)}};
      }));
  table.add("nodes", "every node", reads([](const InForce& now, const Json&) -> Result<Json> {
              return Json{{"nodes", nodes_json(now, false)}};
            }));
  table.add("links", "every link", reads([](const InForce& now, const Json&) -> Result<Json> {
              return Json{{"links", links_json(now)}};
            }));
  table.add("port", "one port: node, port", reads(port_json));
  table.add("route", "hops of a route: from, to", reads(route_json));
  table.add("sweep", "discover again", [ctx](const Json&) -> Result<Json> {
    if (ctx->manager() == nullptr) return fail(Errc::Busy, "no device is open");
    ctx->manager()->request_sweep("command");
    return Json{{"requested", true}};
  });
  table.add(
      "engine",
      "the engine in use and the engines there are",
      [ctx](const Json& args) -> Result<Json> {
        if (args.is_object() && args.contains("name")) {
          return fail(
              Errc::Unsupported,
              "the engine is set by sm.engine in the configuration; change it and send SIGHUP");
        }
        Json out = {{"engines", Json::array()}};
        for (std::string_view name : engine_names()) out["engines"].push_back(name);
        if (ctx->manager() != nullptr && ctx->manager()->last_cycle() != nullptr)
          out["engine"] = ctx->manager()->last_cycle()->engine;
        return out;
      });
  table.add(
      "changes", "the latest changes, newest first: n", [ctx](const Json& args) -> Result<Json> {
        if (ctx->manager() == nullptr) return fail(Errc::Busy, "no device is open");
        std::size_t most = 10;
        if (args.is_object() && args.contains("n")) {
          if (!args.at("n").is_number_unsigned())
            return fail(Errc::Invalid, "'n' is a number from 0");
          most = args.at("n").get<std::size_t>();
        }
        return changes_json(*ctx->manager(), most);
      });
  table.add("log", "set the log level: level", [](const Json& args) -> Result<Json> {
    const auto name = text_arg(args, "level");
    if (!name) return tl::unexpected<Error>(name.error());
    const auto level = log::parse_level(*name);
    if (!level) return tl::unexpected<Error>(level.error());
    log::set_level(*level);
    return Json{{"level", *name}};
  });
  table.add(
      "shutdown", "stop the daemon; the fabric stays as it is", [ctx](const Json&) -> Result<Json> {
        ctx->shutdown();
        return Json{{"stopping", true}};
      });
}

}  // namespace smd::app
