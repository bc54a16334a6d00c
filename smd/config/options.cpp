#include "smd/config/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "smd/base/host_port.h"
#include "smd/config/congestion_options.h"
#include "smd/config/option_kinds.h"
#include "smd/config/reconfiguration_mode.h"
#include "smd/replica/stream.h"

namespace smd {

namespace {

using namespace config_kinds;

using Options = std::vector<ConfigOption>;

/// sun_path holds 108 bytes with its terminator.
constexpr std::size_t kSocketPathBytes = 107;

bool is_absolute_path(const std::string& path) { return path.starts_with('/'); }

/// "warning" for one release: log::parse_level() says so.
bool is_log_level(const std::string& level) {
  static constexpr std::string_view kLevels[] = {
      "debug", "info", "warn", "error", "off", "warning"};
  return std::ranges::find(kLevels, level) != std::end(kLevels);
}

// Where a row has a fifth word in its braces, a new value needs a restart.
constexpr bool kRestart = true;

Options transport_options() {
  const auto section = &Config::transport;
  using T = TransportConfig;
  return {
      choice({"transport", "kind", "Real adapters, or the built-in simulated fabric", "", kRestart},
             numeric(section, &T::kind),
             {"umad", "sim"}),
      text({"transport",
            "device",
            "Adapter to manage the subnet from; \"\" is the first usable",
            "",
            kRestart},
           plain(section, &T::device),
           "the name of an adapter, such as \"mlx5_0\", or \"\""),
      number({"transport", "port", "Port of that adapter; 0 is the first usable", "", kRestart},
             numeric(section, &T::port),
             0,
             254),
      guid({"transport",
            "port_guid",
            "Port by its GUID, which goes before device and port; \"\" is by name",
            "",
            kRestart},
           plain(section, &T::port_guid)),
      text({"transport", "fabric", "Fabric that kind \"sim\" simulates", "", kRestart},
           plain(section, &T::fabric),
           "a fabric file or a generator, such as \"fat-tree:k=8\", or \"\""),
      number({"transport",
              "retry_backoff_min_s",
              "First wait before a lost adapter is tried again; doubles up to the maximum",
              "seconds",
              kRestart},
             numeric(section, &T::retry_backoff_min_s),
             1,
             3600),
      number({"transport",
              "retry_backoff_max_s",
              "Longest wait before a lost adapter is tried again",
              "seconds",
              kRestart},
             numeric(section, &T::retry_backoff_max_s),
             1,
             3600),
  };
}

Options smp_options() {
  const auto section = &Config::smp;
  using T = SmpConfig;
  return {
      number({"smp", "window_min", "Window at its smallest", "SMPs on the wire", kRestart},
             numeric(section, &T::window_min),
             1,
             4096),
      number({"smp", "window_start", "Window at the start", "SMPs on the wire", kRestart},
             numeric(section, &T::window_start),
             1,
             4096),
      number({"smp", "window_max", "Window at its largest", "SMPs on the wire", kRestart},
             numeric(section, &T::window_max),
             1,
             4096),
      number({"smp",
              "retries",
              "Injections after the first before a request is given up",
              "",
              kRestart},
             numeric(section, &T::retries),
             0,
             20),
      number({"smp",
              "timeout_ms",
              "Wait for an answer until the fabric's own timeouts are known, and the longest wait "
              "afterwards; below 50 counts as 50 then, and real adapters give up after 5000",
              "milliseconds",
              kRestart},
             numeric(section, &T::timeout_ms),
             1,
             60000),
      number({"smp", "max_per_second", "Rate limit; 0 is none", "SMPs per second", kRestart},
             numeric(section, &T::max_per_second),
             0,
             10000000),
  };
}

Options sm_identity_options() {
  const auto section = &Config::sm;
  using T = SmConfig;
  return {
      number({"sm", "priority", "Priority of this subnet manager; the highest becomes master"},
             numeric(section, &T::priority),
             0,
             15),
      number({"sm",
              "master_priority",
              "Priority while this manager is master, where it is above sm.priority: a failed "
              "master that comes back does not take over again"},
             numeric(section, &T::master_priority),
             0,
             15),
      hex64({"sm", "sm_key", "SM_Key that other subnet managers must know"},
            numeric(section, &T::sm_key),
            false),
      number({"sm",
              "poll_interval_ms",
              "Time between two questions of a standby whether the master lives; the same on every "
              "manager of a subnet, as is the next",
              "milliseconds"},
             numeric(section, &T::poll_interval_ms),
             100,
             60000),
      number(
          {"sm",
           "poll_retries",
           "Questions after the first unanswered one before a standby takes the master for dead"},
          numeric(section, &T::poll_retries),
          1,
          100),
      hex64({"sm", "m_key", "M_Key put on every port and every SMP; 0 is none"},
            numeric(section, &T::m_key),
            false),
      number({"sm",
              "m_key_protect",
              "What a port shows without the M_Key: 0 all, 1 all but the key, 2 and 3 nothing"},
             numeric(section, &T::m_key_protect),
             0,
             3),
      number({"sm",
              "m_key_lease_s",
              "Time until a port forgets the M_Key of a manager that is gone; 0 is never",
              "seconds"},
             numeric(section, &T::m_key_lease_s),
             0,
             65535),
      hex64({"sm", "subnet_prefix", "Upper half of every GID in the subnet"},
            numeric(section, &T::subnet_prefix),
            true),
      checked_text(
          {"sm", "state_dir", "Folder of what survives a restart, such as the LIDs", "", kRestart},
          plain(section, &T::state_dir),
          "an absolute path",
          is_absolute_path),
  };
}

Options sm_routing_options() {
  const auto section = &Config::sm;
  using T = SmConfig;
  return {
      checked_text({"sm", "engine", "Routing engine"},
                   plain(section, &T::engine),
                   "the name of an engine, such as \"updn\" or \"minhop\"",
                   [](const std::string& name) { return !name.empty(); }),
      guid_list({"sm", "roots", "Switches that updn orients from; empty lets the engine choose"},
                plain(section, &T::roots)),
      checked_text(
          {"sm", "roots_file", "File with more of them, one GUID a line; # begins a remark"},
          plain(section, &T::roots_file),
          "an absolute path, or \"\"",
          [](const std::string& path) { return path.empty() || is_absolute_path(path); }),
      choice({"sm",
              "root_choice",
              "How the engine chooses: by routing a sample of the traffic, or the most central "
              "switch"},
             numeric(section, &T::root_choice),
             {"trial", "central"}),
      choice({"sm", "orientation", "How far a switch stands from the root, for updn"},
             numeric(section, &T::orientation),
             {"breadth-first", "depth-first"}),
      choice({"sm",
              "lane_cut",
              "Where itb-vl changes lanes: where updn would forbid the turn, breadth-first or "
              "depth-first, or where cycles close"},
             numeric(section, &T::lane_cut),
             {"up-down", "depth-first", "cycles"}),
      choice(
          {"sm",
           "gateways",
           "By which switch of its group dragonfly's traffic leaves: one with a link there, else "
           "the nearest; the same for the group; or, as the first, the one that carries least"},
          numeric(section, &T::gateways),
          {"own-first", "uniform", "least-loaded"}),
      choice({"sm",
              "multicast_trees",
              "How multicast trees are laid: along directions of links, or along the labels of "
              "engine hamiltonian, by all of them or by short cuts; where there are no labels, the "
              "first"},
             numeric(section, &T::multicast_trees),
             {"up-down", "path-shared", "dual-path"}),
      guid_weights({"sm",
                    "weights",
                    "Traffic that ports draw, against the 1 of all others; 0 for I/O nodes that no "
                    "balance shall count. Routes in force stay until something else changes them"},
                   plain(section, &T::weights)),
      number({"sm", "lmc", "Adapter and router ports get 2^lmc LIDs"},
             numeric(section, &T::lmc),
             0,
             7),
      number({"sm", "lmc_enhanced_port0", "Enhanced switch ports 0 get 2^lmc_enhanced_port0 LIDs"},
             numeric(section, &T::lmc_enhanced_port0),
             0,
             7),
      number({"sm", "lid_min", "Lowest LID to hand out"},
             numeric(section, &T::lid_min),
             1,
             kTopUnicastLid.value()),
      number({"sm", "lid_max", "Highest LID to hand out"},
             numeric(section, &T::lid_max),
             1,
             kTopUnicastLid.value()),
      number({"sm",
              "drain_us",
              "Wait after each phase of a plan that counts on channels to empty between phases",
              "microseconds"},
             numeric(section, &T::drain_us),
             0,
             10000000),
      checked_text(
          {"sm", "mode", "How a change is taken in: discovery, routes and the way tables change"},
          plain(section, &T::mode),
          std::string(reconfiguration_mode_grammar()),
          [](const std::string& text) { return parse_reconfiguration_mode(text).has_value(); }),
  };
}

Options sweep_options() {
  const auto section = &Config::sweep;
  using T = SweepConfig;
  return {
      number({"sweep",
              "interval_s",
              "Time between two checks of every switch; 0 is never, only traps and commands",
              "seconds"},
             numeric(section, &T::interval_s),
             0,
             86400),
      number({"sweep",
              "factor",
              "Sweeps begin this many times their own length apart, whatever interval_s says; 0 is "
              "off"},
             numeric(section, &T::factor),
             0,
             1000000),
      number({"sweep",
              "debounce_ms",
              "Quiet time awaited after a trap, so that one sweep answers a burst",
              "milliseconds"},
             numeric(section, &T::debounce_ms),
             0,
             60000),
      number({"sweep",
              "debounce_max_ms",
              "Longest that a stream of traps can put a sweep off",
              "milliseconds"},
             numeric(section, &T::debounce_max_ms),
             0,
             600000),
      number({"sweep",
              "relief_s",
              "Time at rest after a change before routes move off channels that it left fuller "
              "than they need be; 0 is never",
              "seconds"},
             numeric(section, &T::relief_s),
             0,
             86400),
  };
}

Options port_options() {
  const auto section = &Config::port;
  using T = PortConfig;
  const std::string_view exponent = "4.096 us * 2^value";
  return {
      one_of({"port",
              "mtu_max",
              "Largest MTU to set; a link gets the largest that both its ends have",
              "bytes"},
             numeric(section, &T::mtu_max),
             {256, 512, 1024, 2048, 4096}),
      one_of({"port",
              "max_operational_vls",
              "Most data VLs to set; a link gets the most that both its ends have",
              "VLs"},
             numeric(section, &T::max_operational_vls),
             {1, 2, 4, 8, 15}),
      number({"port", "subnet_timeout", "SubnetTimeOut of PortInfo", exponent},
             numeric(section, &T::subnet_timeout),
             0,
             31),
      number({"port",
              "packet_life_time",
              "LifeTimeValue of SwitchInfo: older packets are discarded; above 19 is never",
              exponent},
             numeric(section, &T::packet_life_time),
             0,
             31),
      number({"port",
              "hoq_life",
              "HOQLife of ports between switches: packets longer at the head of their queue are "
              "discarded; above 19 is never",
              exponent},
             numeric(section, &T::hoq_life),
             0,
             31),
      number({"port", "leaf_hoq_life", "HOQLife of switch ports to adapters and routers", exponent},
             numeric(section, &T::leaf_hoq_life),
             0,
             31),
      number({"port",
              "vl_stall_count",
              "Packets in a row discarded by HOQLife that stall a VL, on ports between switches",
              "packets"},
             numeric(section, &T::vl_stall_count),
             1,
             7),
      number({"port",
              "leaf_vl_stall_count",
              "The same on switch ports to adapters and routers",
              "packets"},
             numeric(section, &T::leaf_vl_stall_count),
             1,
             7),
      number({"port", "local_phy_errors", "Marginal link errors that raise a trap", "errors"},
             numeric(section, &T::local_phy_errors),
             0,
             15),
      number({"port", "overrun_errors", "Buffer overruns in a row that raise a trap", "errors"},
             numeric(section, &T::overrun_errors),
             0,
             15),
  };
}

/// A field of the tables of one kind of port.
template <class Tables, class T>
Field<T> of_kind(Tables QosConfig::*kind, T QosTableConfig::*field) {
  return {[=](const Config& config) { return config.qos.*kind.*field; },
          [=](Config& config, T value) { config.qos.*kind.*field = std::move(value); }};
}

template <class T>
Field<T> of_all(T QosTableConfig::*field) {
  return {[=](const Config& config) { return config.qos.*field; },
          [=](Config& config, T value) { config.qos.*field = std::move(value); }};
}

struct QosKeys {
  QosTableConfig QosConfig::*kind;
  std::string_view sl2vl, vl_high_limit, vl_arb_high, vl_arb_low;
  std::string_view whose;
};

constexpr QosKeys kQosKinds[] = {
    {&QosConfig::ca,
     "ca_sl2vl",
     "ca_vl_high_limit",
     "ca_vl_arb_high",
     "ca_vl_arb_low",
     "The same of adapters alone"},
    {&QosConfig::rtr,
     "rtr_sl2vl",
     "rtr_vl_high_limit",
     "rtr_vl_arb_high",
     "rtr_vl_arb_low",
     "The same of routers alone"},
    {&QosConfig::sw0,
     "sw0_sl2vl",
     "sw0_vl_high_limit",
     "sw0_vl_arb_high",
     "sw0_vl_arb_low",
     "The same of enhanced switch ports 0 alone"},
    {&QosConfig::swe,
     "swe_sl2vl",
     "swe_vl_high_limit",
     "swe_vl_arb_high",
     "swe_vl_arb_low",
     "The same of external switch ports alone"},
};

Options qos_options() {
  using T = QosTableConfig;
  Options options = {
      sl2vl({"qos", "sl2vl", "VL of each SL, from 0 to 15; VL 15 discards"}, of_all(&T::sl2vl)),
      optional_number({"qos",
                       "vl_high_limit",
                       "Data of high priority before a packet of low priority may pass; 0 is one "
                       "packet, 255 no limit",
                       "4096 bytes"},
                      of_all(&T::vl_high_limit),
                      255,
                      "4"),
      vl_weights({"qos", "vl_arb_high", "High priority table of VL arbitration"},
                 of_all(&T::vl_arb_high)),
      vl_weights({"qos", "vl_arb_low", "Low priority table of VL arbitration"},
                 of_all(&T::vl_arb_low)),
      checked_text({"qos",
                    "policy_file",
                    "Which paths get which SL, MTU and rate, as OpenSM's qos-policy.conf; \"\" is "
                    "none"},
                   plain(&Config::qos, &QosConfig::policy_file),
                   "an absolute path, or \"\"",
                   [](const std::string& path) { return path.empty() || is_absolute_path(path); }),
  };
  for (const QosKeys& keys : kQosKinds) {
    options.push_back(sl2vl({"qos", keys.sl2vl, keys.whose}, of_kind(keys.kind, &T::sl2vl)));
    options.push_back(optional_number({"qos", keys.vl_high_limit, keys.whose, "4096 bytes"},
                                      of_kind(keys.kind, &T::vl_high_limit),
                                      255,
                                      "4"));
    options.push_back(
        vl_weights({"qos", keys.vl_arb_high, keys.whose}, of_kind(keys.kind, &T::vl_arb_high)));
    options.push_back(
        vl_weights({"qos", keys.vl_arb_low, keys.whose}, of_kind(keys.kind, &T::vl_arb_low)));
  }
  return options;
}

Options partition_options() {
  const auto section = &Config::partitions;
  using T = PartitionsConfig;
  return {
      checked_text(
          {"partitions",
           "file",
           "Partitions and their members, as OpenSM's partitions.conf; \"\" is everybody in "
           "the default one"},
          plain(section, &T::file),
          "an absolute path, or \"\"",
          [](const std::string& path) { return path.empty() || is_absolute_path(path); }),
      choice({"partitions",
              "enforcement",
              "What switch ports to hosts check against the host's P_Keys: packets from it, to it, "
              "both"},
             numeric(section, &T::enforcement),
             {"off", "in", "out", "both"}),
      choice({"partitions",
              "allow_both",
              "Whether members as `both` get a full and a limited P_Key; else a full one"},
             numeric(section, &T::allow_both),
             {"no", "yes"}),
  };
}

Options log_options() {
  const auto section = &Config::log;
  return {
      checked_text({"log", "level", "Least severe line to log"},
                   plain(section, &LogConfig::level),
                   R"(one of "debug", "info", "warn", "error", "off")",
                   is_log_level),
      checked_text({"log", "sink", "Where log lines go"},
                   plain(section, &LogConfig::sink),
                   "\"stderr\", \"syslog\" or an absolute path",
                   [](const std::string& sink) {
                     return sink == "stderr" || sink == "syslog" || is_absolute_path(sink);
                   }),
  };
}

Options admin_options() {
  const auto section = &Config::admin;
  return {
      checked_text({"admin", "socket", "Unix socket that smctl talks to", "", kRestart},
                   plain(section, &AdminConfig::socket),
                   fmt::format("an absolute path of at most {} bytes", kSocketPathBytes),
                   [](const std::string& path) {
                     return is_absolute_path(path) && path.size() <= kSocketPathBytes;
                   }),
      mode_bits({"admin", "socket_mode", "Who may use that socket, as file mode", "", kRestart},
                numeric(section, &AdminConfig::socket_mode)),
  };
}

Options metrics_options() {
  return {checked_text(
      {"metrics",
       "listen",
       "Where Prometheus may read `/metrics`: an address, or a Unix socket; \"\" is nowhere. "
       "Whoever reaches it may read it",
       "",
       kRestart},
      plain(&Config::metrics, &MetricsConfig::listen),
      "HOST:PORT, such as \"127.0.0.1:9684\", an absolute path, or \"\"",
      [](const std::string& text) {
        return text.empty() || (is_absolute_path(text) && text.size() <= kSocketPathBytes) ||
               (!is_absolute_path(text) && parse_host_port(text).has_value());
      })};
}

Options replica_options() {
  const auto section = &Config::replica;
  using T = ReplicaConfig;
  const auto is_host_port = [](const std::string& text) {
    return parse_host_port(text).has_value();
  };
  const auto file = [section](std::string_view key, std::string_view meaning, auto member) {
    return checked_text(
        {"replica", key, meaning, "", kRestart},
        plain(section, member),
        "an absolute path, or \"\"",
        [](const std::string& path) { return path.empty() || is_absolute_path(path); });
  };
  return {
      checked_text(
          {"replica",
           "listen",
           "Where managers that stand by may connect to; \"\" is nowhere",
           "",
           kRestart},
          plain(section, &T::listen),
          "HOST:PORT or [ADDRESS]:PORT, such as \"10.0.0.1:7011\", or \"\"",
          [is_host_port](const std::string& text) { return text.empty() || is_host_port(text); }),
      text_list({"replica",
                 "peers",
                 "Where the other managers listen, and the names in their certificates",
                 "",
                 kRestart},
                plain(section, &T::peers),
                "a list of HOST:PORT, each as \"sm2.example.com:7011\", or with the name in its "
                "certificate before it: \"sm2@10.0.0.2:7011\"",
                [](const std::string& text) { return replica::parse_peer(text).has_value(); }),
      file("certificate",
           "Our certificate, with the chain up to the authority, in PEM",
           &T::certificate),
      file("key", "Its key, in PEM", &T::key),
      file("ca", "Certificate of the authority that signs those of all managers, in PEM", &T::ca),
  };
}

/// A limit of all ports together and the one of a single port.
Options sa_limit(std::string_view key,
                 unsigned SaConfig::*all,
                 std::string_view key_of_port,
                 unsigned SaConfig::*of_one_port,
                 std::string_view meaning,
                 std::string_view meaning_of_port,
                 std::string_view unit) {
  const auto section = &Config::sa;
  constexpr Number kMost = 10000000;
  return {
      number({"sa", key, meaning, unit}, numeric(section, all), 1, kMost),
      number({"sa", key_of_port, meaning_of_port, unit}, numeric(section, of_one_port), 1, kMost)};
}

Options sa_options() {
  using T = SaConfig;
  Options all;
  for (Options pair :
       {sa_limit("groups",
                 &T::groups,
                 "groups_per_port",
                 &T::groups_per_port,
                 "Multicast groups that clients created; those of partitions do not count",
                 "Multicast groups that one port created",
                 "groups"),
        sa_limit("joins",
                 &T::joins,
                 "joins_per_port",
                 &T::joins_per_port,
                 "Memberships in groups that clients created",
                 "Memberships that one port asked for, for itself or for others",
                 "memberships"),
        sa_limit("services",
                 &T::services,
                 "services_per_port",
                 &T::services_per_port,
                 "Services that are registered",
                 "Services that one port registered",
                 "ServiceRecords"),
        sa_limit("subscriptions",
                 &T::subscriptions,
                 "subscriptions_per_port",
                 &T::subscriptions_per_port,
                 "Subscriptions to events",
                 "Subscriptions of one port",
                 "InformInfos"),
        sa_limit("aliases",
                 &T::aliases,
                 "aliases_per_port",
                 &T::aliases_per_port,
                 "Further GUIDs of ports",
                 "Further GUIDs of one port",
                 "GUIDs"),
        sa_limit("reports",
                 &T::reports,
                 "reports_per_port",
                 &T::reports_per_port,
                 "Reports that wait for an answer",
                 "Reports to one port that wait for an answer",
                 "Reports"),
        sa_limit("requests",
                 &T::requests,
                 "requests_per_port",
                 &T::requests_per_port,
                 "Requests that wait for their turn; what comes beyond is dropped",
                 "Requests of one port that wait for their turn",
                 "requests"),
        sa_limit("segmented_requests",
                 &T::segmented_requests,
                 "segmented_requests_per_port",
                 &T::segmented_requests_per_port,
                 "Requests of which segments are still to come",
                 "Requests of one port of which segments are still to come",
                 "requests"),
        sa_limit("transfers",
                 &T::transfers,
                 "transfers_per_port",
                 &T::transfers_per_port,
                 "Tables under way to clients; beyond, the answer is busy",
                 "Tables under way to one port",
                 "tables"),
        sa_limit("transfer_mib",
                 &T::transfer_mib,
                 "transfer_mib_per_port",
                 &T::transfer_mib_per_port,
                 "What tables under way take; one alone may be larger",
                 "What tables under way to one port take; one alone may be larger",
                 "MiB")}) {
    std::ranges::move(pair, std::back_inserter(all));
  }
  return all;
}

Options make_options() {
  Options all;
  for (Options part : {transport_options(),
                       smp_options(),
                       sm_identity_options(),
                       sm_routing_options(),
                       sweep_options(),
                       port_options(),
                       qos_options(),
                       partition_options(),
                       congestion_options(),
                       sa_options(),
                       log_options(),
                       admin_options(),
                       metrics_options(),
                       replica_options()}) {
    std::ranges::move(part, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::string ConfigOption::name() const { return fmt::format("{}.{}", section, key); }

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
  if (section == "admin") return "The daemon's socket for smctl.";
  return "";
}

}  // namespace smd
