#include "smd/report/admin_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "smd/base/log.h"
#include "smd/report/cycle_text.h"
#include "smd/report/dump.h"
#include "smd/report/sa_query.h"
#include "smd/report/subnet_json.h"

namespace smd {

Result<const ActiveSubnet*> in_force(const AdminContext& context) {
  SubnetManager* manager = context.manager();
  if (manager == nullptr) return fail(Errc::Busy, "the subnet is not up yet");
  if (manager->active().current() == nullptr) {
    const bool waits = manager->election().state() == SmState::Standby;
    return fail(Errc::Busy,
                waits ? fmt::format("this manager is standby; ask the master, {}",
                                    manager->election().counterpart())
                      : std::string("the subnet is not up yet"));
  }
  return manager->active().current().get();
}

namespace {

Result<std::string> text_arg(const nlohmann::json& args, const char* key) {
  if (!args.is_object() || !args.contains(key) || !args.at(key).is_string()) {
    return fail(Errc::Invalid, fmt::format("argument '{}' is missing, or not a text", key));
  }
  return args.at(key).get<std::string>();
}

bool is_key(char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); }

/// What stands between quotes, without the backslashes that log::escape() put there.
std::string take_quoted(std::string_view& text) {
  std::string out;
  for (text.remove_prefix(1); !text.empty(); text.remove_prefix(1)) {
    if (text.front() == '"') {
      text.remove_prefix(1);
      break;
    }
    if (text.starts_with("\\\"") || text.starts_with("\\\\")) text.remove_prefix(1);
    out += text.front();
  }
  return out;
}

std::string take_word(std::string_view& text) {
  std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  if (word.ends_with(';')) word.remove_suffix(1);
  return std::string(word);
}

/// What a line says as key=value or key="some words".
nlohmann::ordered_json fields_of(std::string_view text) {
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  while (!text.empty()) {
    const auto key_end =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_key) - text.begin());
    if (key_end == 0 || key_end == text.size() || text[key_end] != '=') {
      text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
      continue;
    }
    const std::string key(text.substr(0, key_end));
    text.remove_prefix(key_end + 1);
    std::string value = text.starts_with('"') ? take_quoted(text) : take_word(text);
    if (!fields.contains(key)) fields[key] = std::move(value);
  }
  return fields;
}

nlohmann::ordered_json event_json(const log::Entry& entry) {
  return {{"number", entry.number},
          {"time", entry.time},
          {"level", log::name_of(entry.level)},
          {"event", entry.event},
          {"text", entry.text},
          {"fields", fields_of(entry.text)}};
}

/// Since a daemon that was started anew counts from 1 again, an answer says which one gave it. A
/// process number is not enough: in a container it is always the same.
Result<nlohmann::json> answer_events(const nlohmann::json& args) {
  static const auto daemon = std::chrono::system_clock::now().time_since_epoch().count();
  const std::vector<log::Entry> kept = log::entries_after(0);
  const std::uint64_t last = kept.empty() ? 0 : kept.back().number;
  const std::uint64_t first = kept.empty() ? 1 : kept.front().number;
  std::uint64_t after =
      args.contains("n") ? last - std::min(last, args["n"].get<std::uint64_t>()) : last;
  if (args.contains("after")) after = args["after"].get<std::uint64_t>();
  nlohmann::json events = nlohmann::json::array();
  for (const log::Entry& each : kept) {
    if (each.number > after) events.emplace_back(event_json(each));
  }
  return nlohmann::json{{"daemon", daemon},
                        {"last", last},
                        {"lost", after + 1 < first ? first - after - 1 : 0},
                        {"events", std::move(events)}};
}

nlohmann::json cycle_summary(const CycleReport& cycle, TimePoint now_is) {
  return {{"reason", cycle.reason},
          {"ok", cycle.up()},
          {"smps", cycle.smps()},
          {"blocks_written", cycle.blocks_written},
          {"lft_entries_changed_pct", cycle.lft_entries_changed_pct},
          {"seconds_ago", in_seconds(now_is - cycle.ended)}};
}

nlohmann::json smp_json(const SmpStats& stats) {
  return {{"sent", stats.sent},
          {"answered", stats.answered},
          {"retries", stats.retries},
          {"timeouts", stats.timeouts},
          {"silent_timeouts", stats.silent_timeouts},
          {"late", stats.late},
          {"malformed", stats.malformed},
          {"refused", stats.refused},
          {"send_errors", stats.send_errors},
          {"unsolicited", stats.unsolicited}};
}

nlohmann::json traps_json(const TrapHandler& traps) {
  const TrapStats& stats = traps.stats();
  return {{"received", stats.received},
          {"malformed", stats.malformed},
          {"unknown_issuer", stats.unknown_issuer},
          {"wrong_issuer", stats.wrong_issuer},
          {"held_back", stats.held_back},
          {"no_room", stats.no_room},
          {"unrepressed", stats.unrepressed},
          {"sources_now", traps.sources()}};
}

/// MADs that found no room between the receiving thread and the loop.
nlohmann::json receive_queue_json(const ReceiveStats& stats) {
  return {{"traps_dropped", stats.dropped_of(MadKind::Trap)},
          {"requests_dropped", stats.dropped_of(MadKind::Request)},
          {"of_managers_dropped", stats.dropped_of(MadKind::Manager)},
          {"answers_dropped", stats.dropped_of(MadKind::Answer)}};
}

nlohmann::json reports_json(const sa::ReporterStats& stats) {
  return {{"events", stats.events},
          {"sent", stats.reports},
          {"resent", stats.resent},
          {"answered", stats.answered},
          {"failed", stats.failed},
          {"missed", stats.missed},
          {"subscribers_given_up", stats.given_up},
          {"unasked", stats.unasked}};
}

nlohmann::json administration_json(const SaView& sa) {
  const sa::Server& server = sa.server;
  const sa::ServerStats& stats = server.stats();
  return {{"requests", stats.requests},
          {"answered", stats.answered},
          {"refused", stats.refused},
          {"busy", stats.busy},
          {"records", stats.records},
          {"malformed", stats.malformed},
          {"unasked", stats.unasked},
          {"wrong_key", stats.wrong_key},
          {"flooded", stats.flooded},
          {"too_fast", stats.too_fast},
          {"foreign", stats.foreign},
          {"repeated", stats.repeated},
          {"tables", stats.transfers},
          {"tables_failed", stats.transfers_failed},
          {"segments_resent", stats.segments_resent},
          {"send_errors", stats.send_errors},
          {"tables_now", server.transfers()},
          {"waiting_now", server.waiting()},
          {"subscribers", sa.inform.table().all().size()},
          {"subscriptions", sa.inform.table().count()},
          {"reports", reports_json(sa.inform.reporter().stats())},
          {"services", sa.services.table().all().size()}};
}

/// The other managers as they last answered.
nlohmann::json managers_json(const Election& election) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [guid, known] : election.others()) {
    out.push_back({{"guid", fmt::format("{}", guid)},
                   {"lid", known.at.lid.value()},
                   {"state", known.info ? print_sm_state(state_of(*known.info)) : "silent"},
                   {"priority", known.info ? nlohmann::json(known.info->priority) : nullptr},
                   {"activity", known.info ? nlohmann::json(known.info->act_count) : nullptr},
                   {"foreign_key", known.foreign}});
  }
  return out;
}

nlohmann::json standbys_json(const Election& election) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [guid, known] : election.others()) {
    if (known.info && state_of(*known.info) == SmState::Standby)
      out.push_back(fmt::format("{} (priority {})", guid, known.info->priority));
  }
  return out;
}

/// Who reads from us, and whom we read from.
nlohmann::json replica_json(const ReplicaView& replica) {
  nlohmann::json sources = nlohmann::json::array();
  for (const replica::PeerView& peer : replica.client.peers()) {
    sources.push_back(
        {{"peer", peer.peer},
         {"connected", peer.connected},
         {"state", peer.hello ? nlohmann::json(print_sm_state(peer.hello->state)) : nullptr},
         {"parts", peer.parts},
         {"failures", peer.failures},
         {"trouble", peer.connected ? "" : peer.trouble}});
  }
  return {{"readers", replica.server.peers()},
          {"readers_current", replica.server.is_current()},
          {"refused", replica.refused},
          {"cut", replica.server.cut()},
          {"sources", sources}};
}

/// The engine in force, the one that was asked for last, and why they are not the same.
nlohmann::json engine_state_json(const SubnetManager& manager) {
  const CycleReport* last = manager.last_cycle();
  const std::optional<EngineTrial>& trial = manager.engine_trial();
  const bool routed = last != nullptr && !last->engine.empty();
  std::string refused = routed ? last->engine_refused : "";
  if (trial && !manager.is_trying_engine() && !trial->taken) refused = trial->why;
  const std::string& configured = manager.settings().engine;
  const ActiveSubnet* now = manager.in_force();
  nlohmann::json out = {{"engine", now != nullptr ? now->routing->engine : configured},
                        {"engine_requested", trial ? trial->engine : configured}};
  if (const auto& next = manager.settings().next_engines; !next.empty()) out["next_engines"] = next;
  if (now != nullptr && !now->routing->notes.empty()) out["engine_notes"] = now->routing->notes;
  if (now != nullptr && !now->routing->candidates.empty())
    out["engine_candidates"] = candidates_json(now->routing->candidates);
  if (manager.is_trying_engine()) out["engine_undecided"] = true;
  if (!refused.empty()) out["engine_refused"] = refused;
  if (!refused.empty() && trial && trial->needs_force) out["engine_needs_force"] = true;
  return out;
}

nlohmann::json status(const AdminContext& context) {
  nlohmann::json out = {{"state", "waiting for a device"},
                        {"version", context.version},
                        {"uptime_s", in_seconds(context.uptime())},
                        {"standbys", nlohmann::json::array()},
                        {"alarms", nlohmann::json::array()}};
  if (const auto replica = context.replica ? context.replica() : std::nullopt)
    out["replica"] = replica_json(*replica);
  if (context.alarms) out["alarms"] = context.alarms();
  SubnetManager* manager = context.manager();
  if (manager == nullptr) return out;
  const LocalPort port = context.transport()->local_port();
  // One that sees nobody looks on, with pauses.
  const bool looks_on =
      manager->phase() == Phase::Idle && manager->election().state() == SmState::Discovering;
  out["state"] = print_phase(looks_on ? Phase::Discovering : manager->phase());
  out["device"] = port.device;
  out["port"] = port.port.value();
  out["port_guid"] = fmt::format("{}", port.port_guid);
  for (std::string& line : manager->alarms()) out["alarms"].push_back(std::move(line));
  if (const auto* cc_manager = context.congestion ? context.congestion() : nullptr) {
    for (std::string& line : cc_manager->alarms()) out["alarms"].push_back(std::move(line));
  }
  const Election& election = manager->election();
  out["priority"] = election.info().priority;
  out["standbys"] = standbys_json(election);
  out["managers"] = managers_json(election);
  if (election.state() == SmState::Standby) {
    out["master"] = fmt::format("{}", election.counterpart());
    out["missed_polls"] = election.missed_polls();
  }
  out["smp"] = smp_json(manager->smp_stats());
  out["traps"] = traps_json(manager->traps());
  out["receive_queue"] = receive_queue_json(context.transport()->receive_stats());
  if (const auto sa = context.sa ? context.sa() : std::nullopt)
    out["sa"] = administration_json(*sa);
  if (const PathWatch* watch = context.watch ? context.watch() : nullptr;
      watch != nullptr && watch->enabled())
    out["path_watch"] = path_watch_json(*watch, manager->active().current().get());
  out.update(engine_state_json(*manager));
  const CycleReport* last = manager->last_cycle();
  if (last == nullptr) return out;
  const TimePoint now_is = manager->now();
  out["nodes"] = last->counts.switches + last->counts.cas;
  out["switches"] = last->counts.switches;
  out["cas"] = last->counts.cas;
  const AdapterCounts& no_data = last->counts.no_data;
  if (no_data.aggregation_nodes != 0) out["aggregation_nodes"] = no_data.aggregation_nodes;
  if (no_data.routers != 0) out["routers"] = no_data.routers;
  if (no_data.excepted != 0) out["without_data"] = no_data.excepted;
  const HostCounts& hosts = last->counts.hosts;
  if (hosts.most > 1) {
    out["hosts"] = hosts.hosts;
    out["least_adapters"] = hosts.least;
    out["most_adapters"] = hosts.most;
  }
  out["links"] = last->counts.links;
  out["lids"] = last->counts.lids;
  out["last_sweep"] = cycle_summary(*last, now_is);
  // One that found everything as it was says nothing else.
  if (const auto& sweep = manager->last_sweep())
    out["last_sweep"]["seconds_ago"] = in_seconds(now_is - sweep->ended);
  if (!manager->changes().empty())
    out["last_change"] = cycle_summary(manager->changes().front(), now_is);
  return out;
}

Result<nlohmann::json> port_json(const ActiveSubnet& now, const nlohmann::json& args) {
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
                        {"lid", now.lids->base[port].value()},
                        {"info", print_port_info(fabric.port_info[port])}};
  if (fabric.peer[port] != kNone<PortIdx>) out["link"] = link_json(now, port);
  return out;
}

Result<nlohmann::json> route_args_json(const ActiveSubnet& now, const nlohmann::json& args) {
  const auto from = text_arg(args, "from");
  if (!from) return tl::unexpected<Error>(from.error());
  const auto to = text_arg(args, "to");
  if (!to) return tl::unexpected<Error>(to.error());
  return route_json(now, *from, *to);
}

/// Of two sets of paths the engine of the second one.
const Engine* find_engine_of_routes(std::string_view routes) {
  const std::string two_sets = name_of_routes("", {.path_sets = true});
  if (routes.starts_with(two_sets)) routes.remove_prefix(two_sets.size());
  return find_engine(routes);
}

/// What is in use, or the order to use another.
Result<nlohmann::json> engine_json(SubnetManager* manager, const nlohmann::json& args) {
  nlohmann::json out = {{"engines", nlohmann::json::array()}};
  for (std::string_view name : engine_names()) out["engines"].push_back(name);
  if (!args.contains("name")) {
    if (manager == nullptr) return out;
    out.update(engine_state_json(*manager));
    if (const Engine* engine = find_engine_of_routes(out["engine"].get<std::string>()))
      out["contract"] = engine->contract();
    return out;
  }
  const auto name = text_arg(args, "name");
  if (!name) return tl::unexpected<Error>(name.error());
  const Engine* engine = find_engine(*name);
  if (engine == nullptr) {
    std::string known;
    for (std::string_view each : engine_names()) known += fmt::format(" {}", each);
    return fail(Errc::Invalid, fmt::format("there is no engine '{}'; there are:{}", *name, known));
  }
  if (manager == nullptr) return fail(Errc::Busy, "no device is open");
  if (args.contains("force") && !args.at("force").is_boolean())
    return fail(Errc::Invalid, "'force' is true or false");
  const bool force = args.contains("force") && args.at("force").get<bool>();
  if (const auto asked = manager->request_engine(*name, force); !asked)
    return tl::unexpected<Error>(asked.error());
  out["engine"] = *name;
  out["force"] = force;
  out["contract"] = engine->contract();
  out["requested"] = true;
  return out;
}

nlohmann::json changes_json(const SubnetManager& manager, std::size_t most) {
  nlohmann::json out = nlohmann::json::array();
  for (const CycleReport& cycle : manager.changes()) {
    if (out.size() == most) break;
    nlohmann::json change = nlohmann::json::parse(
        change_json(cycle, cycle.reason, cycle.shrank ? "down" : "up").dump());
    change["seconds_ago"] = in_seconds(manager.now() - cycle.ended);
    change["ok"] = cycle.up();
    if (cycle.changes.count != 0) change["found"] = print_changes(cycle.changes);
    out.push_back(std::move(change));
  }
  return {{"changes", out}};
}

/// The order to write dumps, or what became of the last one.
Result<nlohmann::json> dump_json(const AdminContext& context, const nlohmann::json& args) {
  if (context.dumps == nullptr) return fail(Errc::Busy, "dumps are not written here");
  DumpWriter& dumps = *context.dumps;
  if (args.contains("dir")) {
    const auto dir = text_arg(args, "dir");
    if (!dir) return tl::unexpected<Error>(dir.error());
    if (!dir->starts_with('/'))
      return fail(Errc::Invalid, fmt::format("'{}' is no absolute path of a folder", *dir));
    if (const auto now = in_force(context); !now) return tl::unexpected<Error>(now.error());
    if (dumps.busy()) return fail(Errc::Busy, "dumps are being written; ask again");
    dumps.write(*dir, dump_input_of(*context.manager()));
  }
  nlohmann::json out = {{"dumping", dumps.busy()}};
  if (!dumps.last()) return out;
  out["dir"] = dumps.last()->directory;
  if (!dumps.last()->why.empty()) {
    out["dump_failed"] = dumps.last()->why;
  } else {
    out["files"] = dumps.last()->files;
  }
  return out;
}

}  // namespace

std::string print_event(const log::Entry& entry) {
  return event_json(entry).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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
  table.add("fabric",
            "switches and links",
            reads([](const ActiveSubnet& now, const Json&) -> Result<Json> {
              return Json{{"switches", nodes_json(now, true)}, {"links", links_json(now)}};
            }));
  table.add("nodes", "every node", reads([](const ActiveSubnet& now, const Json&) -> Result<Json> {
              return Json{{"nodes", nodes_json(now, false)}};
            }));
  table.add("links", "every link", reads([](const ActiveSubnet& now, const Json&) -> Result<Json> {
              return Json{{"links", links_json(now)}};
            }));
  table.add("port", "one port: node, port", reads(port_json));
  table.add("route", "hops of a route: from, to", reads(route_args_json));
  table.add("sweep",
            "look at every switch and take in what changed; or discover everything: full",
            [ctx](const Json& args) -> Result<Json> {
              if (ctx->manager() == nullptr) return fail(Errc::Busy, "no device is open");
              const bool given = args.is_object() && args.contains("full");
              if (given && !args.at("full").is_boolean())
                return fail(Errc::Invalid, "'full' is true or false");
              const bool full = given && args.at("full").get<bool>();
              full ? ctx->manager()->request_audit("command")
                   : ctx->manager()->request_light_sweep();
              return Json{{"requested", true}, {"full", full}};
            });
  table.add("engine",
            "the engine in use, its contract, and those there are; or use another where that takes "
            "nothing down: name, force",
            [ctx](const Json& args) { return engine_json(ctx->manager(), args); });
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
  table.add("multicast",
            "multicast trees: the largest ones beside shortest ways, cables that they share",
            [ctx](const Json&) -> Result<Json> {
              const auto now = in_force(*ctx);
              if (!now) return tl::unexpected<Error>(now.error());
              const MulticastManager& multicast = ctx->manager()->multicast();
              if (multicast.realm() == nullptr) return fail(Errc::Busy, "the subnet is not up yet");
              return multicast_json(multicast);
            });
  table.add("congestion",
            "congestion control: agents, the plan, hot ports",
            [ctx](const Json&) -> Result<Json> {
              const auto* cc_manager = ctx->congestion ? ctx->congestion() : nullptr;
              if (cc_manager == nullptr) return fail(Errc::Busy, "no device is open");
              return congestion_json(*cc_manager, ctx->manager()->active().current().get());
            });
  table.add("log", "set the log level: level", [](const Json& args) -> Result<Json> {
    const auto name = text_arg(args, "level");
    if (!name) return tl::unexpected<Error>(name.error());
    const auto level = log::parse_level(*name);
    if (!level) return tl::unexpected<Error>(level.error());
    log::set_level(*level);
    return Json{{"level", *name}};
  });
  table.add("events", "log lines: after, or the latest n", answer_events);
  table.add("sa",
            "records of the subnet administration: record, where, limit",
            [ctx](const Json& args) -> Result<Json> {
              const auto sa = ctx->sa ? ctx->sa() : std::nullopt;
              if (!sa) return fail(Errc::Busy, "no device is open");
              return answer_sa_command(sa->server, args);
            });
  table.add("dump",
            "write the files of OpenSM that other tools read: dir; or how far that is",
            [ctx](const Json& args) { return dump_json(*ctx, args); });
  table.add("partition",
            "partitions, and orders to change them: verb, partition, p_key, ports, ipoib, index0, "
            "dry_run",
            [ctx](const Json& args) { return answer_partition_command(*ctx, args); });
  table.add(
      "shutdown", "stop the daemon; the fabric stays as it is", [ctx](const Json&) -> Result<Json> {
        ctx->shutdown();
        return Json{{"stopping", true}};
      });
}

}  // namespace smd
