// What an operator can set. The names of the fields are the keys of the file: sm.lmc is
// Config::sm.lmc. Meaning, unit, default and range of each stand in one table
// (options.cpp) that also drives parsing, etc/smd.toml and docs/formats/config.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"
#include "smd/congestion/options.h"
#include "smd/discovery/sweep_report.h"
#include "smd/ib/types.h"
#include "smd/multicast/tree.h"
#include "smd/plan/make/planner.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/qos_file.h"
#include "smd/routing/engine.h"
#include "smd/sa/path_choice.h"
#include "smd/smp/m_keys.h"

namespace smd {

enum class TransportKind : std::uint8_t { Umad, Sim };

struct TransportConfig {
  TransportKind kind = TransportKind::Umad;
  std::string device;  // "": the first usable
  unsigned port = 0;   // 0: the first usable
  Guid port_guid;      // 0: by device and port
  std::string fabric;  // of kind sim: a file or a generator
  unsigned retry_backoff_min_s = 1;
  unsigned retry_backoff_max_s = 30;

  friend bool operator==(const TransportConfig&, const TransportConfig&) = default;
};

enum class DirectedOnly : std::uint8_t { Auto, No, Yes };

struct SmpConfig {
  unsigned window_min = 4;
  unsigned window_start = 32;
  unsigned window_max = 256;
  unsigned retries = 3;
  unsigned timeout_ms = 200;
  unsigned max_per_second = 0;  // 0: no limit
  DirectedOnly directed_only = DirectedOnly::Auto;

  friend bool operator==(const SmpConfig&, const SmpConfig&) = default;
};

struct SmConfig {
  unsigned priority = 0;
  unsigned master_priority = 0;
  SmKey sm_key;
  SmKey sa_key;  // 0: sm_key
  std::vector<Guid> allowed_managers;
  unsigned poll_interval_ms = 1000;
  unsigned poll_retries = 4;
  MKey m_key;
  std::string m_key_file;
  MKeySources m_keys;  // what it says
  unsigned m_key_protect = 0;
  unsigned m_key_lease_s = 0;
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  std::string state_dir = "/var/lib/smd";
  Leftovers leftovers = Leftovers::Ignore;
  std::string dump_dir;                        // "": nothing is kept there
  std::vector<std::string> engine = {"auto"};  // the first is wanted; others in their order
  std::vector<Guid> roots;
  std::string roots_file;     // "": none; load_config() adds what it names to `roots`
  std::string node_name_map;  // "": none
  std::vector<std::pair<Guid, std::string>> node_names;  // that it gives; sorted by GUID
  RootChoice root_choice = RootChoice::Trial;
  OrientationSearch orientation = OrientationSearch::BreadthFirst;
  VlChangeRule lane_cut = VlChangeRule::UpDown;
  GatewayChoice gateways = GatewayChoice::OwnFirst;
  NonMinimal non_minimal = NonMinimal::Off;
  std::vector<std::string> path_sets;  // empty: all LIDs of a port by the engine
  TrafficGoal auto_for = TrafficGoal::Both;
  unsigned auto_budget_ms = 2000;
  unsigned auto_vls = 1;
  AutoChanges auto_changes = AutoChanges::Free;
  TreeShape multicast_trees = TreeShape::UpDown;
  CopyModel multicast_proof = CopyModel::Asynchronous;
  std::vector<std::pair<Guid, std::uint32_t>> weights;  // sorted by GUID
  std::vector<std::string> no_data;                     // GUIDs and descriptions
  unsigned lmc = 0;
  unsigned lmc_enhanced_port0 = 0;
  Lid lid_min{1};
  Lid lid_max = kTopUnicastLid;
  std::string mode = "certified";  // see reconfiguration_mode.h
  unsigned drain_us = 1000;
  Unproved unproved = Unproved::Write;
  unsigned plan_budget_ms = 1000;

  friend bool operator==(const SmConfig&, const SmConfig&) = default;
};

/// Which fabrics are asked for SwitchPortStateTable: no adapter has been tried yet.
enum class PortStateTables : std::uint8_t { Simulated, Never, Always };

struct SweepConfig {
  unsigned interval_s = 10;  // 0: only on traps and commands
  unsigned factor = 0;       // not 0: goes before interval_s
  unsigned debounce_ms = 3;
  unsigned debounce_max_ms = 200;
  unsigned relief_s = 10;  // 0: never
  PortStateTables port_state_tables = PortStateTables::Simulated;

  friend bool operator==(const SweepConfig&, const SweepConfig&) = default;
};

struct PortConfig {
  unsigned mtu_max = 4096;            // bytes: 256, 512, 1024, 2048 or 4096
  unsigned max_operational_vls = 15;  // 1, 2, 4, 8 or 15
  unsigned subnet_timeout = 18;
  unsigned packet_life_time = 18;
  unsigned hoq_life = 18;
  unsigned leaf_hoq_life = 16;
  unsigned vl_stall_count = 7;
  unsigned leaf_vl_stall_count = 7;
  unsigned local_phy_errors = 8;
  unsigned overrun_errors = 8;

  friend bool operator==(const PortConfig&, const PortConfig&) = default;
};

struct VlWeight {
  Vl vl;
  std::uint8_t weight = 0;

  friend bool operator==(const VlWeight&, const VlWeight&) = default;
};

/// Nothing here is written to a port unless it is set.
struct QosTableConfig {
  std::optional<std::array<Vl, 16>> sl2vl;
  std::optional<unsigned> vl_high_limit;
  std::optional<std::vector<VlWeight>> vl_arb_high;  // at most 64 entries
  std::optional<std::vector<VlWeight>> vl_arb_low;

  friend bool operator==(const QosTableConfig&, const QosTableConfig&) = default;
};

/// Its own tables are those of every kind of port that has none.
struct QosConfig : QosTableConfig {
  QosTableConfig ca;
  QosTableConfig rtr;            // routers
  QosTableConfig sw0;            // enhanced switch ports 0
  QosTableConfig swe;            // external switch ports
  std::string policy_file;       // "": none; load_config() reads it
  std::optional<QosFile> rules;  // what it says
  Faults remarks;                // on it
  bool optimized_sl2vl = false;

  friend bool operator==(const QosConfig&, const QosConfig&) = default;
};

struct PartitionsConfig {
  std::string file;  // "": none; load_config() reads it
  PartitionEnforcement enforcement = PartitionEnforcement::Both;
  bool allow_both = false;
  std::optional<PartitionFile> rules;  // what the file says
  Faults remarks;                      // on it

  friend bool operator==(const PartitionsConfig&, const PartitionsConfig&) = default;
};

/// What ports can make the subnet administration keep: each by itself, and all together.
struct SaConfig {
  unsigned groups = 65536;
  unsigned groups_per_port = 512;
  unsigned joins = 262144;
  unsigned joins_per_port = 16384;
  unsigned services = 65536;
  unsigned services_per_port = 256;
  unsigned subscriptions = 65536;
  unsigned subscriptions_per_port = 64;
  unsigned aliases = 65536;
  unsigned aliases_per_port = 128;
  unsigned reports = 64;
  unsigned reports_per_port = 4;
  unsigned requests = 65536;
  unsigned requests_per_port = 64;
  unsigned requests_per_port_in_100ms = 0;
  unsigned segmented_requests = 256;
  unsigned segmented_requests_per_port = 4;
  unsigned transfers = 1024;
  unsigned transfers_per_port = 32;
  unsigned transfer_mib = 256;
  unsigned transfer_mib_per_port = 16;
  bool refuse_foreign_gids = false;
  unsigned max_rate = 63;
  std::vector<std::string> prefix_routes;  // each as parse_prefix_route() takes it
  PathChoice path_choice = PathChoice::Offset;
  unsigned path_margin = 50;
  unsigned path_watch_mads_per_s = 100;

  friend bool operator==(const SaConfig&, const SaConfig&) = default;
};

struct LogConfig {
  std::string level = "info";
  std::string sink = "stderr";
  std::string event_program;
  std::string event_level = "warn";

  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct AdminConfig {
  std::string socket = "/run/smd/smd.sock";
  unsigned socket_mode = 0660;

  friend bool operator==(const AdminConfig&, const AdminConfig&) = default;
};

struct MetricsConfig {
  std::string listen;  // HOST:PORT or the path of a Unix socket; "": nobody reads them

  friend bool operator==(const MetricsConfig&, const MetricsConfig&) = default;
};

struct ReplicaConfig {
  std::string listen;  // HOST:PORT; "": nobody reads from us
  std::vector<std::string> peers;
  std::string certificate, key, ca;  // PEM files

  [[nodiscard]] bool enabled() const { return !listen.empty() || !peers.empty(); }

  friend bool operator==(const ReplicaConfig&, const ReplicaConfig&) = default;
};

/// UFM's calls over HTTP: docs/formats/rest.md.
struct RestConfig {
  std::string listen;                // HOST:PORT or the path of a Unix socket; "": nobody calls
  std::string certificate, key, ca;  // PEM files
  std::string token_file;
  bool show_keys = false;

  friend bool operator==(const RestConfig&, const RestConfig&) = default;
};

struct Config {
  TransportConfig transport;
  SmpConfig smp;
  SmConfig sm;
  SweepConfig sweep;
  PortConfig port;
  QosConfig qos;
  PartitionsConfig partitions;
  cc::Options congestion;
  SaConfig sa;
  LogConfig log;
  AdminConfig admin;
  MetricsConfig metrics;
  RestConfig rest;
  ReplicaConfig replica;

  friend bool operator==(const Config&, const Config&) = default;
};

/// Where a file sets its options: lines by name, such as "sm.lmc".
using ConfigLines = std::map<std::string, int, std::less<>>;

/// Names of options that a command line sets. Rules about them are not for the file to keep: who
/// sets them asks find_broken_rules().
using OptionNames = std::vector<std::string>;

/// The file at `path` and the files that it names, or every fault in them. Nothing is half-applied:
/// what the file does not name has its default.
[[nodiscard]] Parsed<Config> load_config(const std::string& path,
                                         ConfigLines* lines = nullptr,
                                         const OptionNames& overridden = {});

/// The same of that file alone: those that it names are read by read_named_files().
[[nodiscard]] Parsed<Config> load_options(const std::string& path,
                                          ConfigLines* lines = nullptr,
                                          const OptionNames& overridden = {});

/// The same from text; `file` names it in faults.
[[nodiscard]] Parsed<Config> parse_config(std::string_view text,
                                          const std::string& file,
                                          ConfigLines* lines = nullptr,
                                          const OptionNames& overridden = {});

// Files that options name and that are read with them: sm.roots_file, partitions.file,
// qos.policy_file and sm.node_name_map.

/// One of them, as its content is in force.
struct NamedFile {
  std::string kind;  // "roots", "partitions", "qos_policy" or "node_names"
  std::string text;
  Faults faults;   // why a former text of it is in force; empty: its own is
  std::string at;  // where that one is
};

/// A former text of the file, and what messages call that.
struct PreviousText {
  std::string text;
  std::string at;
};

/// Finds the text that was in force last; nothing where there is none.
using FindPreviousText =
    std::function<Parsed<std::optional<PreviousText>>(const std::string& kind)>;

/// Those that `config` names, with their rules put into it. `find_previous` gives the text that
/// takes the place of a file that cannot be read or has faults; without one they are faults. What
/// an former text has of faults comes behind those of the file.
[[nodiscard]] Parsed<std::vector<NamedFile>> read_named_files(
    Config& config, const FindPreviousText& find_previous = nullptr);

/// All that there can be.
inline constexpr std::array<std::string_view, 5> kNamedFileKinds = {
    "roots", "partitions", "qos_policy", "node_names", "m_keys"};

// Several managers on one machine, one for each port: instances with a name.

/// Letters, digits, '.', '_' and '-', 64 at most, none but a letter or digit in front.
[[nodiscard]] bool is_instance_name(std::string_view name);

/// Gives the instance a state directory, a socket and a log file of its own, called after it, and
/// where the name is the GUID of a port, as 0x0002c9030002fb06, that port if none is named. To the
/// TCP ports of metrics.listen and rest.listen are added 2 * (1 + n), where n is the last byte of
/// that GUID, or the sum of the bytes of another name, modulo 256; taken away where that is beyond
/// 65535. Their Unix sockets are called after it. `own_file`: it has a configuration for itself,
/// and what that names stays.
void set_instance(std::string_view name, bool own_file, Config& config);

/// TOML that parse_config turns back into `config`.
[[nodiscard]] std::string print_config(const Config& config);

/// The same of every option, with a remark on where its value comes from: FILE:LINE or "default";
/// behind it `command_line` for options that are otherwise than in `from_file`.
[[nodiscard]] std::string print_config_sources(const Config& config,
                                               const ConfigLines& lines,
                                               const std::string& file,
                                               const Config& from_file,
                                               const std::string& command_line);

/// etc/smd.toml: every option commented out at its default, with meaning, unit and range.
[[nodiscard]] std::string print_default_config();

/// The table of docs/formats/config.md.
[[nodiscard]] std::string print_config_reference();

/// A rule between options that a configuration breaks.
struct BrokenRule {
  std::vector<std::string> options;  // names; the first one is where the fault is reported
  std::string why;                   // what is wrong, and what would be right
};

/// All that `config` breaks. Whatever changes a configuration that was read without faults, such as
/// a command line, asks again.
[[nodiscard]] std::vector<BrokenRule> find_broken_rules(const Config& config);

/// What breaks no rule and does not do what it says, by option: names to listen on, which nobody
/// looks up.
[[nodiscard]] Faults find_remarks(const Config& config);

/// An option that two configurations disagree on.
struct ConfigChange {
  std::string key;             // "sm.lmc"
  bool needs_restart = false;  // a running daemon cannot adopt it

  friend bool operator==(const ConfigChange&, const ConfigChange&) = default;
};

/// In the order of the table; empty when `before == after`.
[[nodiscard]] std::vector<ConfigChange> diff_config(const Config& before, const Config& after);

/// What managers of one subnet should have in common, so that a takeover changes nothing: a line
/// "section.key = value" for each option that says what ports, tables and answers are. Without
/// keys, and without what belongs to one machine.
[[nodiscard]] std::string print_shared_options(const Config& config);

/// The names of lines on which two such texts differ, or that one of them alone has; by name.
[[nodiscard]] std::vector<std::string> diff_shared_options(std::string_view ours,
                                                           std::string_view theirs);

// The file of sm.m_key_file: `seed HEX` of 16 bytes or more, or `key 0x...`, one a line, four at
// most.

/// In the order of the file; "#" begins a remark. Every line that is neither is a fault.
[[nodiscard]] Parsed<MKeySources> parse_m_key_file(std::string_view text, const std::string& file);

// The file of sm.roots_file: GUIDs of switches, one a line.

/// In the order of the file; a GUID is "0x" and up to 16 digits, "#" begins a remark. Every line
/// that is neither is a fault.
[[nodiscard]] Parsed<std::vector<Guid>> parse_root_file(std::string_view text,
                                                        const std::string& file);

/// A line of sa.prefix_routes or of OpenSM's prefix-routes.conf: a prefix and the GUID of a
/// router's port, "*" for any, which is 0. Nothing for what is neither.
[[nodiscard]] std::optional<std::pair<std::uint64_t, Guid>> parse_prefix_route(
    std::string_view line);

/// The file of sm.node_name_map, as OpenSM and infiniband-diags read it: a GUID and a name in
/// double quotes on a line, "#" begins a remark. Sorted by GUID. A GUID that comes twice is a
/// fault.
[[nodiscard]] Parsed<std::vector<std::pair<Guid, std::string>>> parse_node_name_map(
    std::string_view text, const std::string& file);

}  // namespace smd
