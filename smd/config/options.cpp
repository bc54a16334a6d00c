#include "smd/config/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "smd/base/text.h"
#include "smd/config/option_kinds.h"
#include "smd/config/reconfiguration_mode.h"
#include "smd/replica/stream.h"

namespace smd {

namespace {

using namespace config_kinds;

using Options = std::vector<ConfigOption>;

/// sun_path holds 108 bytes with its terminator.
constexpr std::size_t kSocketPathBytes = 107;

constexpr bool kRestart = true;

bool is_something(const std::string& text) { return !text.empty(); }

bool is_absolute_path(const std::string& path) { return path.starts_with('/'); }

bool is_socket_path(const std::string& path) {
  return is_absolute_path(path) && path.size() <= kSocketPathBytes;
}

bool is_host_port(const std::string& text) { return parse_host_port(text).has_value(); }

bool is_peer(const std::string& text) { return replica::parse_peer(text).has_value(); }

bool is_mode(const std::string& text) { return parse_reconfiguration_mode(text).has_value(); }

/// "warning" for one release: log::parse_level() says so.
bool is_log_level(const std::string& level) {
  static constexpr std::string_view kLevels[] = {
      "debug", "info", "warn", "error", "off", "warning"};
  return std::ranges::find(kLevels, level) != std::end(kLevels);
}

bool is_log_sink(const std::string& sink) {
  return sink == "stderr" || sink == "syslog" || is_absolute_path(sink);
}

OptionKind<std::string> path_or_nothing() {
  return checked_text("an absolute path, or \"\"", [](const std::string& path) {
    return path.empty() || is_absolute_path(path);
  });
}

Options transport_options() {
  const auto transport = option_section<Config>("transport", &Config::transport, kRestart);
  using T = TransportConfig;
  return {
      transport("kind", &T::kind, choice({"umad", "sim"}))
          .means("Real adapters, or the built-in simulated fabric"),
      transport("device", &T::device, text("the name of an adapter, such as \"mlx5_0\", or \"\""))
          .means("Adapter to manage the subnet from; \"\" is the first usable"),
      transport("port", &T::port, number(0, 254))
          .means("Port of that adapter; 0 is the first usable"),
      transport("port_guid", &T::port_guid, guid())
          .means("Port by its GUID, which goes before device and port; \"\" is by name"),
      transport("fabric",
                &T::fabric,
                text("a fabric file or a generator, such as \"fat-tree:k=8\", or \"\""))
          .means("Fabric that kind \"sim\" simulates"),
      transport("retry_backoff_min_s", &T::retry_backoff_min_s, number(1, 3600, "seconds"))
          .means("First wait before a lost adapter is tried again; doubles up to the maximum"),
      transport("retry_backoff_max_s", &T::retry_backoff_max_s, number(1, 3600, "seconds"))
          .means("Longest wait before a lost adapter is tried again"),
  };
}

Options smp_options() {
  const auto smp = option_section<Config>("smp", &Config::smp, kRestart);
  using T = SmpConfig;
  return {
      smp("window_min", &T::window_min, number(1, 4096, "SMPs on the wire"))
          .means("Window at its smallest"),
      smp("window_start", &T::window_start, number(1, 4096, "SMPs on the wire"))
          .means("Window at the start"),
      smp("window_max", &T::window_max, number(1, 4096, "SMPs on the wire"))
          .means("Window at its largest"),
      smp("retries", &T::retries, number(0, 20))
          .means("Injections after the first before a request is given up"),
      smp("timeout_ms", &T::timeout_ms, number(1, 60000, "milliseconds"))
          .means(
              "Wait for an answer until the fabric's own timeouts are known, and the longest wait "
              "afterwards; below 50 counts as 50 then, and real adapters give up after 5000"),
      smp("max_per_second", &T::max_per_second, number(0, 10000000, "SMPs per second"))
          .means("Rate limit; 0 is none"),
      smp("directed_only", &T::directed_only, choice({"auto", "no", "yes"}))
          .means("Whether every SMP goes by a directed route and none by LID, as planarized (XDR) "
                 "fabrics need it; auto: where the adapter has its SMI and its GSI on two devices. "
                 "Not tried on hardware"),
  };
}

Options sm_options() {
  const auto sm = option_section<Config>("sm", &Config::sm);
  using T = SmConfig;
  return {
      sm("priority", &T::priority, number(0, 15))
          .means("Priority of this subnet manager; the highest becomes master"),
      sm("master_priority", &T::master_priority, number(0, 15))
          .means("Priority while this manager is master, where it is above sm.priority: a failed "
                 "master that comes back does not take over again"),
      sm("sm_key", &T::sm_key, hex64()).means("SM_Key that other subnet managers must know"),
      sm("allowed_managers", &T::allowed_managers, guid_list())
          .means("Ports where subnet managers may run: whoever manages elsewhere gets nothing "
                 "handed over and its orders are refused; empty is anywhere"),
      sm("sa_key", &T::sa_key, hex64())
          .means("Key that makes a request to the subnet administration a trusted one, as `saquery "
                 "--smkey` sends it; 0 is sm.sm_key"),
      sm("poll_interval_ms", &T::poll_interval_ms, number(100, 60000, "milliseconds"))
          .means("Time between two questions of a standby whether the master lives; the same on "
                 "every manager of a subnet, as is the next"),
      sm("poll_retries", &T::poll_retries, number(1, 100))
          .means("Questions after the first unanswered one before a standby takes the master for "
                 "dead"),
      sm("m_key", &T::m_key, hex64()).means("M_Key put on every port and every SMP; 0 is none"),
      sm("m_key_file", &T::m_key_file, path_or_nothing())
          .means("File of what M_Keys are made from, in place of sm.m_key: `seed` and 32 or more "
                 "hexadecimal digits give each port a key of its own, `key` and a number one for "
                 "all. The first line is what ports get; further ones, what they may still have"),
      sm("m_key_protect", &T::m_key_protect, number(0, 3))
          .means("What a port shows without the M_Key: 0 all, 1 all but the key, 2 and 3 nothing"),
      sm("m_key_lease_s", &T::m_key_lease_s, number(0, 65535, "seconds"))
          .means("Time until a port forgets the M_Key of a manager that is gone; 0 is never"),
      sm("subnet_prefix", &T::subnet_prefix, hex64(true))
          .means("Upper half of every GID in the subnet"),
      sm("state_dir", &T::state_dir, checked_text("an absolute path", is_absolute_path))
          .means("Folder of what survives a restart, such as the LIDs")
          .restart(),
      sm("leftovers", &T::leftovers, choice({"ignore", "report", "clear"}))
          .means("What is done about adaptive routing, hash-based forwarding and forwarding tables "
                 "of single ports that another manager left on in Mellanox switches, whose packets "
                 "then need not go as the tables say: nothing, and nobody is asked; an alarm; or "
                 "they are switched off. Not tried on hardware"),
      sm("dump_dir", &T::dump_dir, path_or_nothing())
          .means("Folder where the files that OpenSM writes for other tools are kept as the subnet "
                 "is, as `smctl dump` writes them: docs/formats/tables.md; \"\" is none"),
      sm("engine", &T::engine, engine_list())
          .means(
              "Routing engines in order: the first that can route the fabric makes its routes. "
              "Behind the last there is updn, with an alarm. auto chooses among engines as far as "
              "sm.auto_vls and sm.auto_changes allow"),
      sm("auto_for", &T::auto_for, choice({"uniform", "permutations", "both"}))
          .means(
              "Which traffic counts where the engine is auto: everybody to everybody, everybody to "
              "one other, or both"),
      sm("auto_budget_ms", &T::auto_budget_ms, number(0, 600000, "milliseconds"))
          .means(
              "What engine auto may spend on computing and measuring the routes of other engines, "
              "by counted steps; 0 takes the first that does not refuse"),
      sm("auto_vls", &T::auto_vls, number(1, 15))
          .means(
              "Data VLs that the routes which engine auto takes may use at most. Off trees 8 carry "
              "much more traffic than 1, where hosts send on the SL of their path record; UCX "
              "sends on one SL whatever that says"),
      sm("auto_changes", &T::auto_changes, choice({"free", "any"}))
          .means("Engines that auto asks: those whose changes hardly ever block turns or discard "
                 "packets (updn and, with several VLs, nue and hamming), or all"),
      sm("roots", &T::roots, guid_list())
          .means("Switches that updn orients from; empty lets the engine choose"),
      sm("node_name_map", &T::node_name_map, path_or_nothing())
          .means(
              "File that gives nodes names, as OpenSM's node_name_map_name: a GUID and a name in "
              "double quotes on each line. Messages, answers and dumps call the nodes so"),
      sm("roots_file", &T::roots_file, path_or_nothing())
          .means("File with more of them, one GUID a line; # begins a remark"),
      sm("root_choice", &T::root_choice, choice({"trial", "central"}))
          .means("How the engine chooses: by routing a sample of the traffic, or the most central "
                 "switch"),
      sm("orientation", &T::orientation, choice({"breadth-first", "depth-first"}))
          .means("How far a switch stands from the root, for updn"),
      sm("lane_cut", &T::lane_cut, choice({"up-down", "depth-first", "cycles"}))
          .means("Where itb-vl changes lanes: where updn would forbid the turn, breadth-first or "
                 "depth-first, or where cycles close"),
      sm("gateways", &T::gateways, choice({"own-first", "uniform", "least-loaded"}))
          .means("By which switch of its group dragonfly's traffic leaves: one with a link there, "
                 "else the nearest; the same for the group; or, as the first, the one that carries "
                 "least"),
      sm("non_minimal", &T::non_minimal, choice({"off", "valiant", "almost-minimal"}))
          .means(
              "What LIDs beyond the first of a port (sm.lmc) lead to, for traffic that shortest "
              "paths would crowd onto a few links: the same paths; valiant, under hamming and "
              "dragonfly, a way by another place for each; almost-minimal, under dfsssp, paths at "
              "most two links longer than the shortest that share few links with those of the "
              "LIDs before"),
      sm("path_sets",
         &T::path_sets,
         text_list("a list of \"updn\" and \"shortest\", in this order, or []", is_something))
          .means("Paths to the LIDs of a port (sm.lmc of 1 and more): [\"updn\", \"shortest\"] "
                 "has the first by up*/down* on VL 0 and the others by shortest paths on VLs of "
                 "their own, as sm.engine makes them: dfsssp, itb-vl or lash. Empty: all by "
                 "sm.engine"),
      sm("multicast_trees",
         &T::multicast_trees,
         choice({"up-down", "by-sender", "path-shared", "dual-path", "multi-path"}))
          .means("How multicast trees are laid: along directions of links, one tree for all who "
                 "send or, of a group with one member that only sends, by the shortest ways from "
                 "it; or along the labels of engine hamiltonian, by all of them, by short cuts, "
                 "or, from such a member, by several paths. Where there are no labels, the first"),
      sm("multicast_proof", &T::multicast_proof, choice({"asynchronous", "lock-step"}))
          .means("How switches are taken to copy in the proof that multicast and unicast packets "
                 "never wait for each other in a circle: to each port when it is free there, or to "
                 "all ports at once"),
      sm("weights", &T::weights, guid_weights())
          .means("Traffic that ports of adapters draw, against the 1 of all others; 0 for I/O "
                 "nodes that no balance shall count. Routes in force stay until something else "
                 "changes them"),
      sm("no_data",
         &T::no_data,
         text_list("a list of GUIDs of adapters or of their ports, or of descriptions, with * for "
                   "any text and ? for one character, such as \"ufm-* HCA-1\"",
                   is_something))
          .means("Adapters that send no data: they have LIDs and routes, but nothing is balanced "
                 "for them and no report counts them. Aggregation nodes and routers are known "
                 "without it; a weight in sm.weights goes before"),
      sm("lmc", &T::lmc, number(0, 7)).means("Adapter and router ports get 2^lmc LIDs"),
      sm("lmc_enhanced_port0", &T::lmc_enhanced_port0, number(0, 7))
          .means("Enhanced switch ports 0 get 2^lmc_enhanced_port0 LIDs"),
      sm("lid_min", &T::lid_min, number(1, kTopUnicastLid.value()))
          .means("Lowest LID to hand out. Ports that have a lower one get another, also those that "
                 "run: their connections end"),
      sm("lid_max", &T::lid_max, number(1, kTopUnicastLid.value()))
          .means(
              "Highest LID to hand out. Ports that have a higher one get another, as with lid_min"),
      sm("drain_us", &T::drain_us, number(0, 10000000, "microseconds"))
          .means("Wait after each phase of a plan that counts on channels to empty between phases"),
      sm("plan_budget_ms", &T::plan_budget_ms, number(1, 600000, "milliseconds"))
          .means(
              "How long to look for a plan on several VLs, about, before the next kind is taken: "
              "counted in steps, so that a change always has the same plan"),
      sm("unproved", &T::unproved, choice({"hold", "write", "block"}))
          .means("What becomes of a change that nothing proves free of deadlock: it waits, or is "
                 "written with an alarm, or while every port is down"),
      sm("mode", &T::mode, checked_text(std::string(reconfiguration_mode_grammar()), is_mode))
          .means("How a change is taken in: discovery, routes and the way tables change"),
  };
}

Options sweep_options() {
  const auto sweep = option_section<Config>("sweep", &Config::sweep);
  using T = SweepConfig;
  return {
      sweep("interval_s", &T::interval_s, number(0, 86400, "seconds"))
          .means("Time between two checks of every switch; 0 is never, only traps and commands"),
      sweep("factor", &T::factor, number(0, 1000000))
          .means("Sweeps begin this many times their own length apart, whatever interval_s says; 0 "
                 "is off"),
      sweep("debounce_ms", &T::debounce_ms, number(0, 60000, "milliseconds"))
          .means("Quiet time awaited after a trap, so that one sweep answers a burst"),
      sweep("debounce_max_ms", &T::debounce_max_ms, number(0, 600000, "milliseconds"))
          .means("Longest that a stream of traps can put a sweep off"),
      sweep("relief_s", &T::relief_s, number(0, 86400, "seconds"))
          .means("Time at rest after a change before routes move off channels that it left fuller "
                 "than they need be; 0 is never"),
      sweep("port_state_tables", &T::port_state_tables, choice({"simulated", "no", "yes"}))
          .means("Whether switches that report a change are asked for SwitchPortStateTable, where "
                 "they offer it, and for the PortInfo of changed ports alone; else of every port. "
                 "Not tried on hardware: by itself on the built-in simulated fabric alone"),
  };
}

Options port_options() {
  const auto port = option_section<Config>("port", &Config::port);
  using T = PortConfig;
  const std::string_view exponent = "4.096 us * 2^value";
  return {
      port("mtu_max", &T::mtu_max, one_of({256, 512, 1024, 2048, 4096}, "bytes"))
          .means("Largest MTU to set; a link gets the largest that both its ends have"),
      port("max_operational_vls", &T::max_operational_vls, one_of({1, 2, 4, 8, 15}, "VLs"))
          .means("Most data VLs to set; a link gets the most that both its ends have"),
      port("subnet_timeout", &T::subnet_timeout, number(0, 31, exponent))
          .means("SubnetTimeOut of PortInfo"),
      port("packet_life_time", &T::packet_life_time, number(0, 31, exponent))
          .means("LifeTimeValue of SwitchInfo: older packets are discarded; above 19 is never"),
      port("hoq_life", &T::hoq_life, number(0, 31, exponent))
          .means("HOQLife of ports between switches: packets that stay longer at the head of their "
                 "queue are discarded; above 19 is never"),
      port("leaf_hoq_life", &T::leaf_hoq_life, number(0, 31, exponent))
          .means("HOQLife of switch ports to adapters and routers"),
      port("vl_stall_count", &T::vl_stall_count, number(1, 7, "packets"))
          .means(
              "Packets in a row discarded by HOQLife that stall a VL, on ports between switches"),
      port("leaf_vl_stall_count", &T::leaf_vl_stall_count, number(1, 7, "packets"))
          .means("The same on switch ports to adapters and routers"),
      port("local_phy_errors", &T::local_phy_errors, number(0, 15, "errors"))
          .means("Marginal link errors that raise a trap"),
      port("overrun_errors", &T::overrun_errors, number(0, 15, "errors"))
          .means("Buffer overruns in a row that raise a trap"),
  };
}

Options qos_options() {
  const auto qos = option_section<Config>("qos", &Config::qos);
  using T = QosConfig;
  Options options = {
      qos("sl2vl", &T::sl2vl, sl2vl()).means("VL of each SL, from 0 to 15; VL 15 discards"),
      qos("vl_high_limit", &T::vl_high_limit, number(0, 255, "4096 bytes", "4"))
          .means("Data of high priority before a packet of low priority may pass; 0 is one packet, "
                 "255 no limit"),
      qos("vl_arb_high", &T::vl_arb_high, vl_weights())
          .means("High priority table of VL arbitration"),
      qos("vl_arb_low", &T::vl_arb_low, vl_weights()).means("Low priority table of VL arbitration"),
      qos("optimized_sl2vl", &T::optimized_sl2vl, choice({"no", "yes"}))
          .means("Whether SL-to-VL entries are written for all ports at once, those of `sl2vl` "
                 "unread, where "
                 "the switch offers it and they are alike; not tried on hardware"),
      qos("policy_file", &T::policy_file, path_or_nothing())
          .means(
              "Which paths get which SL, MTU and rate, as OpenSM's qos-policy.conf; \"\" is none"),
  };
  for (const QosPortKind& kind : kQosPortKinds) {
    const auto own = option_section<Config>(
        "qos", [tables = kind.tables](auto& config) -> auto& { return config.qos.*tables; });
    const auto key = [&](std::string_view name) { return std::string(kind.prefix).append(name); };
    options.push_back(own(key("sl2vl"), &T::sl2vl, sl2vl()).means(kind.meaning));
    options.push_back(
        own(key("vl_high_limit"), &T::vl_high_limit, number(0, 255, "4096 bytes", "4"))
            .means(kind.meaning));
    options.push_back(own(key("vl_arb_high"), &T::vl_arb_high, vl_weights()).means(kind.meaning));
    options.push_back(own(key("vl_arb_low"), &T::vl_arb_low, vl_weights()).means(kind.meaning));
  }
  return options;
}

Options partition_options() {
  const auto partitions = option_section<Config>("partitions", &Config::partitions);
  using T = PartitionsConfig;
  return {
      partitions("file", &T::file, path_or_nothing())
          .means("Partitions and their members, as OpenSM's partitions.conf; \"\" is everybody in "
                 "the default one"),
      partitions("enforcement", &T::enforcement, choice({"off", "in", "out", "both"}))
          .means("What switch ports to hosts check against the host's P_Keys: packets from it, to "
                 "it, both"),
      partitions("allow_both", &T::allow_both, choice({"no", "yes"}))
          .means("Whether members as `both` get a full and a limited P_Key; else a full one"),
  };
}

Options sa_options() {
  const auto sa = option_section<Config>("sa", &Config::sa);
  using T = SaConfig;
  const auto limit = [](std::string_view unit) { return number(1, 10000000, unit); };
  return {
      sa("groups", &T::groups, limit("groups"))
          .means("Multicast groups that clients created; those of partitions do not count"),
      sa("groups_per_port", &T::groups_per_port, limit("groups"))
          .means("Multicast groups that one port created"),
      sa("joins", &T::joins, limit("memberships"))
          .means("Memberships in groups that clients created"),
      sa("joins_per_port", &T::joins_per_port, limit("memberships"))
          .means("Memberships that one port asked for, for itself or for others"),
      sa("services", &T::services, limit("ServiceRecords")).means("Services that are registered"),
      sa("services_per_port", &T::services_per_port, limit("ServiceRecords"))
          .means("Services that one port registered"),
      sa("subscriptions", &T::subscriptions, limit("InformInfos")).means("Subscriptions to events"),
      sa("subscriptions_per_port", &T::subscriptions_per_port, limit("InformInfos"))
          .means("Subscriptions of one port"),
      sa("aliases", &T::aliases, limit("GUIDs")).means("Further GUIDs of ports"),
      sa("aliases_per_port", &T::aliases_per_port, limit("GUIDs"))
          .means("Further GUIDs of one port"),
      sa("reports", &T::reports, limit("Reports")).means("Reports that wait for an answer"),
      sa("reports_per_port", &T::reports_per_port, limit("Reports"))
          .means("Reports to one port that wait for an answer"),
      sa("requests", &T::requests, limit("requests"))
          .means("Requests that wait for their turn; what comes beyond is dropped"),
      sa("requests_per_port", &T::requests_per_port, limit("requests"))
          .means("Requests of one port that wait for their turn"),
      sa("requests_per_port_in_100ms",
         &T::requests_per_port_in_100ms,
         number(0, 10000000, "requests"))
          .means("Requests of one port that are taken in a tenth of a second, what comes beyond is "
                 "dropped; 0 is any number"),
      sa("segmented_requests", &T::segmented_requests, limit("requests"))
          .means("Requests of which segments are still to come"),
      sa("segmented_requests_per_port", &T::segmented_requests_per_port, limit("requests"))
          .means("Requests of one port of which segments are still to come"),
      sa("transfers", &T::transfers, limit("tables"))
          .means("Tables under way to clients; beyond, the answer is busy"),
      sa("transfers_per_port", &T::transfers_per_port, limit("tables"))
          .means("Tables under way to one port"),
      sa("transfer_mib", &T::transfer_mib, limit("MiB"))
          .means("What tables under way take; one alone may be larger"),
      sa("transfer_mib_per_port", &T::transfer_mib_per_port, limit("MiB"))
          .means("What tables under way to one port take; one alone may be larger"),
      sa("foreign_gids", &T::refuse_foreign_gids, choice({"accept", "refuse"}))
          .means("What is answered to a port that joins or leaves a multicast group, registers or "
                 "deletes a service under the GID of another port of its partition, as IBA lets "
                 "it; whoever has the sm.sa_key may"),
      sa("prefix_routes",
         &T::prefix_routes,
         text_list(
             "a list of prefixes of subnets, each with the GUID of a router's port, * for any, "
             "such as \"0xfec0000000000007 0x0002c90300000001\"",
             [](const std::string& line) { return parse_prefix_route(line).has_value(); }))
          .means(
              "Which router leads to which subnet: the first line of a prefix counts whose router "
              "is there; empty is the nearest router for every prefix"),
      sa("max_rate", &T::max_rate, number(2, 63))
          .means("Highest code of a rate in path records, for hosts that know none above: a faster "
                 "path has the fastest rate with such a code. 10 is 120 Gb/s, the last of IBA 1.2; "
                 "18 is 300 Gb/s, the last before HDR's"),
      sa("path_choice", &T::path_choice, choice({"offset", "rotate", "least-contended"}))
          .means("Which path between two ports with several LIDs (sm.lmc) is answered first: that "
                 "of the first LIDs; one offset further with every Get that names both GIDs; or "
                 "the one whose most contended link is least contended, as counters of switch "
                 "ports say. The last is not tried on hardware"),
      sa("path_margin", &T::path_margin, number(0, 10000, "hundredths"))
          .means("How much less contended a path beyond the first LIDs has to be to be answered "
                 "first; 100 is what a link counts that nothing waits for"),
      sa("path_watch_mads_per_s", &T::path_watch_mads_per_s, number(1, 1000, "MADs per second"))
          .means("How many MADs a second read counters of switch ports where path_choice is "
                 "least-contended, retries included; path_choice turns the readings off"),
  };
}

Options log_options() {
  const auto log = option_section<Config>("log", &Config::log);
  return {
      log("level",
          &LogConfig::level,
          checked_text(R"(one of "debug", "info", "warn", "error", "off")", is_log_level))
          .means("Least severe line to log"),
      log("sink",
          &LogConfig::sink,
          checked_text("\"stderr\", \"syslog\" or an absolute path", is_log_sink))
          .means("Where log lines go"),
      log("event_program",
          &LogConfig::event_program,
          checked_text(
              "an absolute path, or \"\" for none",
              [](const std::string& path) { return path.empty() || is_absolute_path(path); }))
          .means(
              "Program that is run for each log line of log.event_level or above, with the event "
              "as a line of JSON on its standard input; one at a time, ended after 5 s"),
      log("event_level",
          &LogConfig::event_level,
          checked_text(R"(one of "info", "warn", "error")",
                       [](const std::string& level) {
                         return level == "info" || level == "warn" || level == "error";
                       }))
          .means("Least severe line that log.event_program is run for"),
  };
}

Options admin_options() {
  const auto admin = option_section<Config>("admin", &Config::admin, kRestart);
  return {
      admin("socket",
            &AdminConfig::socket,
            checked_text(fmt::format("an absolute path of at most {} bytes", kSocketPathBytes),
                         is_socket_path))
          .means("Unix socket that smctl talks to"),
      admin("socket_mode", &AdminConfig::socket_mode, mode_bits())
          .means("Who may use that socket, as file mode"),
  };
}

OptionKind<std::string> address_or_socket(const std::string& example) {
  return checked_text(fmt::format("ADDRESS:PORT (no name but localhost), such as \"{}\", an "
                                  "absolute path, or \"\"",
                                  example),
                      [](const std::string& text) {
                        return text.empty() || is_socket_path(text) ||
                               (!is_absolute_path(text) && is_host_port(text));
                      });
}

Options metrics_options() {
  const auto metrics = option_section<Config>("metrics", &Config::metrics, kRestart);
  return {metrics("listen", &MetricsConfig::listen, address_or_socket("127.0.0.1:9684"))
              .means("Where Prometheus may read `/metrics`: an address, or a Unix socket; \"\" is "
                     "nowhere. Whoever reaches it may read it")};
}

Options rest_options() {
  const auto rest = option_section<Config>("rest", &Config::rest, kRestart);
  using T = RestConfig;
  return {
      rest("listen", &T::listen, address_or_socket("127.0.0.1:9685"))
          .means("Where programs may call: an address, or a Unix socket; \"\" is nowhere. Without "
                 "a certificate of its own only 127.0.0.1, [::1] or a Unix socket"),
      rest("token_file", &T::token_file, path_or_nothing())
          .means("File of tokens, one a line, of which every call must show one; \"\" is none"),
      rest("certificate", &T::certificate, path_or_nothing())
          .means("Certificate for TLS 1.3, with the chain up to the authority, in PEM; \"\" is "
                 "HTTP without TLS"),
      rest("key", &T::key, path_or_nothing()).means("Its key, in PEM"),
      rest("ca", &T::ca, path_or_nothing())
          .means("Certificate of the authority that signs those of the callers, in PEM; \"\" is "
                 "callers without"),
      rest("show_keys", &T::show_keys, choice({"no", "yes"}))
          .means("Whether `app/smconf` shows M_Key, SM_Key and SA_Key; else whether they are set"),
  };
}

Options replica_options() {
  const auto replica = option_section<Config>("replica", &Config::replica, kRestart);
  using T = ReplicaConfig;
  return {
      replica(
          "listen",
          &T::listen,
          checked_text("ADDRESS:PORT or [ADDRESS]:PORT (no name but localhost), such as "
                       "\"10.0.0.1:7011\", or \"\"",
                       [](const std::string& text) { return text.empty() || is_host_port(text); }))
          .means("Where managers that stand by may connect to; \"\" is nowhere"),
      replica("peers",
              &T::peers,
              text_list("a list of HOST:PORT, each as \"sm2.example.com:7011\", or with the name "
                        "in its certificate before it: \"sm2@10.0.0.2:7011\"",
                        is_peer))
          .means("Where the other managers listen, and the names in their certificates"),
      replica("certificate", &T::certificate, path_or_nothing())
          .means("Our certificate, with the chain up to the authority, in PEM"),
      replica("key", &T::key, path_or_nothing()).means("Its key, in PEM"),
      replica("ca", &T::ca, path_or_nothing())
          .means("Certificate of the authority that signs those of all managers, in PEM"),
  };
}

Options make_options() {
  Options all;
  for (Options part : {transport_options(),
                       smp_options(),
                       sm_options(),
                       sweep_options(),
                       port_options(),
                       qos_options(),
                       partition_options(),
                       congestion_options(),
                       sa_options(),
                       log_options(),
                       admin_options(),
                       metrics_options(),
                       rest_options(),
                       replica_options()}) {
    std::ranges::move(part, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::span<const ConfigOption> config_options() {
  static const Options options = make_options();
  return options;
}

std::string_view config_section_meaning(std::string_view section) {
  if (section == "transport") return "Where MADs come from and go to.";
  if (section == "smp") return "How fast SMPs are sent, and when they count as lost.";
  if (section == "sm") return "The subnet: who manages it, its LIDs and its routes.";
  if (section == "sweep") return "When the fabric is looked at.";
  if (section == "port") return "What every port is set to.";
  if (section == "qos") return "Service levels. What is not set here stays as the port has it.";
  if (section == "partitions") return "Who can talk to whom: docs/partitions-and-qos.md.";
  if (section == "congestion") return "Congestion control. What is not set here is computed.";
  if (section == "sa")
    return "What ports can make the administration keep: docs/subnet-administration.md.";
  if (section == "log") return "Log lines.";
  if (section == "replica")
    return "What managers that stand by copy from the master: docs/several-managers.md.";
  if (section == "metrics") return "Numbers for Prometheus.";
  if (section == "rest")
    return "Partitions over HTTP, by the calls that UFM has for them: docs/formats/rest.md.";
  if (section == "admin") return "The daemon's socket for smctl.";
  return "";
}

}  // namespace smd
