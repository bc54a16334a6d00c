// Every option of OpenSM 3.3 with its default, and what becomes of it here; its command line; and
// what NVIDIA's builds have besides.
#include <algorithm>
#include <array>
#include <limits>

#include "smd/config/opensm_config.h"

namespace smd {

namespace {

using Row = OpensmOption;
using enum OpensmKind;
using enum OpensmOutcome;

constexpr std::uint64_t kByte = 255;
constexpr std::uint64_t kShort = 65535;
constexpr std::uint64_t kInt = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();

constexpr std::string_view kNone = "(null)";

constexpr std::string_view kNoCounters =
    "smd reads no port counters; exporters that ask the "
    "ports' own agents go on as before";
constexpr std::string_view kAdaptiveWindow =
    "the number of SMPs on the wire follows the answers "
    "(smp.window_min, window_start, window_max)";
constexpr std::string_view kLinkByHand =
    "smd leaves what links offer as it is; ibportstate or "
    "mlxlink sets it";
constexpr std::string_view kNoPortOrder =
    "engine dor finds the dimensions itself, and no other "
    "engine has an order of ports";
constexpr std::string_view kNoEngineFile = "there is no engine that reads tables from a file";

constexpr Row number(std::string_view name,
                     std::string_view initial,
                     std::uint64_t least,
                     std::uint64_t most,
                     std::string_view ours) {
  return {name, initial, Number, least, most, Carried, ours, "", false};
}

constexpr Row derived(std::string_view name,
                      std::string_view initial,
                      OpensmKind kind,
                      std::string_view ours = "",
                      std::uint64_t least = 0,
                      std::uint64_t most = 0) {
  return {name, initial, kind, least, most, Carried, ours, "", true};
}

constexpr Row needless(std::string_view name,
                       std::string_view initial,
                       OpensmKind kind,
                       std::string_view reason,
                       std::uint64_t most = 0) {
  return {name, initial, kind, 0, most, NotNeeded, "", reason, false};
}

constexpr Row missing(std::string_view name,
                      std::string_view initial,
                      OpensmKind kind,
                      std::string_view reason,
                      std::uint64_t most = 0) {
  return {name, initial, kind, 0, most, NotCarried, "", reason, false};
}

/// Of congestion control, under the same name in [congestion].
constexpr Row congestion(std::string_view name,
                         std::string_view initial,
                         OpensmKind kind,
                         std::uint64_t most,
                         std::string_view ours) {
  return {name, initial, kind, 0, most, Carried, ours, "", true};
}

constexpr auto kOptions = std::to_array<Row>({
    derived("guid", "0x0000000000000000", Key, "transport.port_guid"),
    {"m_key", "0x0000000000000000", Key, 0, 0, Carried, "sm.m_key", "", false},
    number("m_key_lease_period", "0", 0, kShort, "sm.m_key_lease_s"),
    number("m_key_protection_level", "0", 0, 3, "sm.m_key_protect"),
    needless("m_key_lookup",
             "TRUE",
             Flag,
             "smd knows the M_Key of every port from its own configuration and looks up none"),
    derived("sm_key", "0x0000000000000001", Key, "sm.sm_key"),
    derived("sa_key", "0x0000000000000001", Key, "sm.sa_key"),
    {"subnet_prefix", "0xfe80000000000000", Key, 0, 0, Carried, "sm.subnet_prefix", "", false},
    number("lmc", "0", 0, 7, "sm.lmc"),
    derived("lmc_esp0", "FALSE", Flag, "sm.lmc_enhanced_port0"),
    missing("sm_sl", "0", Number, "smd is talked to on SL 0", 15),
    number("packet_life_time", "0x12", 0, 31, "port.packet_life_time"),
    number("vl_stall_count", "0x07", 1, 7, "port.vl_stall_count"),
    number("leaf_vl_stall_count", "0x07", 1, 7, "port.leaf_vl_stall_count"),
    number("head_of_queue_lifetime", "0x12", 0, 31, "port.hoq_life"),
    number("leaf_head_of_queue_lifetime", "0x10", 0, 31, "port.leaf_hoq_life"),
    derived("max_op_vls", "5", Number, "port.max_operational_vls", 0, 5),
    missing("force_link_speed", "15", Number, kLinkByHand, 15),
    missing("force_link_speed_ext", "31", Number, kLinkByHand, 31),
    missing("force_link_width", "255", Number, kLinkByHand, 255),
    missing("fdr10", "1", Number, "FDR10 is read and never set", 2),
    number("subnet_timeout", "18", 0, 31, "port.subnet_timeout"),
    number("local_phy_errors_threshold", "0x08", 0, 15, "port.local_phy_errors"),
    number("overrun_errors_threshold", "0x08", 0, 15, "port.overrun_errors"),
    missing("use_mfttop", "TRUE", Flag, "MulticastFDBTop is used wherever a switch offers it"),
    derived("partition_config_file", "/etc/opensm/partitions.conf", Text, "partitions.file"),
    derived("no_partition_enforcement", "FALSE", Flag, "partitions.enforcement"),
    derived("part_enforce", "both", Text, "partitions.enforcement"),
    derived("allow_both_pkeys", "FALSE", Flag, "partitions.allow_both"),
    missing("keep_pkey_indexes", "TRUE", Flag, "a P_Key always keeps its index"),
    missing("sm_assigned_guid",
            "0x00",
            Number,
            "GUIDs that smd gives out begin with 0x02534d44",
            kByte),
    number("sweep_interval", "10", 0, kWord, "sweep.interval_s"),
    missing("reassign_lids", "FALSE", Flag, "smd never moves a LID that a port holds"),
    derived("force_heavy_sweep", "FALSE", Flag, "sm.mode"),
    missing("sweep_on_trap", "TRUE", Flag, "traps are always answered by a look where they hint"),
    missing("port_profile_switch_nodes",
            "FALSE",
            Flag,
            "switches draw no traffic when routes are balanced"),
    missing("port_prof_ignore_file",
            kNone,
            Text,
            "smd leaves no port of a switch out of the balance; sm.weights = [\"GUID:0\"] leaves "
            "out end ports"),
    missing("hop_weights_file", kNone, Text, "every link counts as one hop"),
    missing("port_search_ordering_file", kNone, Text, kNoPortOrder),
    derived("routing_engine", kNone, Text, "sm.engine"),
    needless("avoid_throttled_links", "FALSE", Flag, "links always weigh by their speed"),
    needless(
        "connect_roots", "FALSE", Flag, "engines updn and ftree connect every pair of switches"),
    needless("use_ucast_cache", "FALSE", Flag, "routes that work are always kept"),
    missing("lid_matrix_dump_file", kNone, Text, kNoEngineFile),
    missing("lfts_file", kNone, Text, kNoEngineFile),
    derived("root_guid_file", kNone, Text, "sm.roots"),
    missing("cn_guid_file", kNone, Text, "engine ftree tells leaves from spines by itself"),
    missing("io_guid_file",
            kNone,
            Text,
            "no engine tells I/O nodes apart; a weight in sm.weights comes near for the balance"),
    needless("quasi_ftree_indexing", "FALSE", Flag, "engine ftree orders switches by subtrees"),
    needless("max_reverse_hops",
             "0",
             Number,
             "engine ftree leads round over other levels where that closes no credit loop",
             kByte),
    missing("ids_guid_file", kNone, Text, "updn orders switches by their GUIDs"),
    missing("guid_routing_order_file", kNone, Text, "the order of destinations is the engine's"),
    needless("do_mesh_analysis", "FALSE", Flag, "engine lash tries several sets of trees anyway"),
    missing("lash_start_vl", "0", Number, "engine lash begins with VL 0", kByte),
    derived("nue_max_num_vls", "1", Number, "port.max_operational_vls", 0, kByte),
    needless("nue_include_switches", "FALSE", Flag, "paths of switches are always checked"),
    missing("port_shifting", "FALSE", Flag, "no engine shifts ports; loads are balanced by count"),
    missing("scatter_ports", "0", Number, "no engine takes ports at random", kWord),
    missing("guid_routing_order_no_scatter", "FALSE", Flag, "no engine takes ports at random"),
    needless("sa_db_file",
             kNone,
             Text,
             "what clients registered is always kept; `smd state import FILE` takes this file over "
             "once"),
    needless("sa_db_dump", "FALSE", Flag, "what clients registered is written after each change"),
    needless("torus_config",
             "/etc/opensm/torus-2QoS.conf",
             Text,
             "engine dor finds the shape of a torus by itself"),
    number("sm_priority", "0", 0, 15, "sm.priority"),
    missing("ignore_other_sm",
            "FALSE",
            Flag,
            "smd always heeds other managers; stop them, or give smd the highest sm.priority"),
    number("sminfo_polling_timeout", "10000", 0, kWord, "sm.poll_interval_ms"),
    number("polling_retry_number", "4", 0, kWord, "sm.poll_retries"),
    needless("honor_guid2lid_file",
             "FALSE",
             Flag,
             "LIDs that were written down always count; `smd state import guid2lid` takes OpenSM's "
             "over"),
    needless("max_wire_smps", "4", Number, kAdaptiveWindow, kInt),
    needless("max_wire_smps2", "4", Number, kAdaptiveWindow, kInt),
    needless("max_smps_timeout", "600000", Number, kAdaptiveWindow, kWord),
    number("transaction_timeout", "200", 1, kInt, "smp.timeout_ms"),
    number("transaction_retries", "3", 0, kInt, "smp.retries"),
    needless("long_transaction_timeout",
             "500",
             Number,
             "waits follow the timeouts that the fabric's own ports say",
             kInt),
    needless("max_msg_fifo_timeout",
             "10000",
             Number,
             "requests wait in queues of bounded length (sa.requests, sa.requests_per_port)",
             kWord),
    needless("single_thread", "FALSE", Flag, "one thread holds all state by design"),
    needless("daemon", "FALSE", Flag, "systemd runs smd in the foreground (smd.service)"),
    missing("sm_inactive", "FALSE", Flag, "smd cannot start as a manager that is not active"),
    missing("babbling_port_policy",
            "FALSE",
            Flag,
            "who sends too many traps is heeded ever more seldom, and its port is not disabled"),
    needless("drop_event_subscriptions",
             "FALSE",
             Flag,
             "subscriptions end with their port, or after three unanswered reports"),
    needless("ipoib_mcgroup_creation_validation",
             "TRUE",
             Flag,
             "parameters of IPoIB groups are never compared with those of the broadcast group"),
    missing("mcgroup_join_validation", "TRUE", Flag, "joins are always checked"),
    derived("use_original_extended_sa_rates_only", "FALSE", Flag, "sa.max_rate"),
    derived("use_optimized_slvl", "FALSE", Flag, "qos.optimized_sl2vl"),
    missing("fsync_high_avail_files",
            "TRUE",
            Flag,
            "state is always synced, with a checksum and its predecessor beside it"),
    missing("perfmgr", "FALSE", Flag, kNoCounters),
    missing("perfmgr_redir", "TRUE", Flag, kNoCounters),
    missing("perfmgr_sweep_time_s", "180", Number, kNoCounters, kShort),
    missing("perfmgr_max_outstanding_queries", "500", Number, kNoCounters, kWord),
    missing("perfmgr_ignore_cas", "FALSE", Flag, kNoCounters),
    missing("perfmgr_rm_nodes", "TRUE", Flag, kNoCounters),
    missing("perfmgr_log_errors", "TRUE", Flag, kNoCounters),
    missing("perfmgr_query_cpi", "TRUE", Flag, kNoCounters),
    missing("perfmgr_xmit_wait_log", "FALSE", Flag, kNoCounters),
    missing("perfmgr_xmit_wait_threshold", "65535", Number, kNoCounters, kWord),
    missing("event_db_dump_file", kNone, Text, kNoCounters),
    derived("event_plugin_name", kNone, Text),
    derived("event_plugin_options", kNone, Text),
    derived("node_name_map_name", kNone, Text, "sm.node_name_map"),
    derived("log_flags", "0x03", Number, "log.level", 0, kByte),
    needless("force_log_flush", "FALSE", Flag, "lines of level info and above are flushed at once"),
    derived("log_file", "/var/log/opensm.log", Text, "log.sink"),
    missing("log_max_size", "0", Number, "journald or logrotate bounds the log", kInt),
    missing("accum_log_file", "TRUE", Flag, "smd always appends to its log"),
    missing("per_module_logging_file",
            "/etc/opensm/per-module-logging.conf",
            Text,
            "there is one log.level for all of smd"),
    missing("dump_files_dir",
            "/var/log/",
            Text,
            "sm.dump_dir keeps such files, in a folder that the unit lets smd write, such as "
            "/var/lib/smd/dump"),
    needless("enable_quirks", "FALSE", Flag, "smd has none to switch on"),
    missing("no_clients_rereg",
            "FALSE",
            Flag,
            "smd asks clients to register anew wherever it does not know what they had"),
    missing("disable_multicast", "FALSE", Flag, "smd always serves multicast"),
    needless("exit_on_fatal",
             "TRUE",
             Flag,
             "smd leaves out what is at fault, a duplicate GUID for one, and names it"),
    missing("console", "off", Text, "smctl asks the daemon, on its own host (admin.socket)"),
    missing("console_port",
            "10000",
            Number,
            "smctl asks the daemon, on its own host (admin.socket)",
            kShort),
    derived("qos", "FALSE", Flag),
    derived("qos_policy_file", "/etc/opensm/qos-policy.conf", Text, "qos.policy_file"),
    needless("suppress_sl2vl_mad_status_errors",
             "FALSE",
             Flag,
             "what ports do not keep is said once for each kind of device (port.not_kept)"),
    derived("qos_max_vls", "0", Number, "port.max_operational_vls", 0, 15),
    derived("qos_high_limit", "-1", Limit, "qos.vl_high_limit", 0, kByte),
    derived("qos_vlarb_high", kNone, Text, "qos.vl_arb_high"),
    derived("qos_vlarb_low", kNone, Text, "qos.vl_arb_low"),
    derived("qos_sl2vl", kNone, Text, "qos.sl2vl"),
    derived("qos_ca_max_vls", "0", Number, "port.max_operational_vls", 0, 15),
    derived("qos_ca_high_limit", "-1", Limit, "qos.ca_vl_high_limit", 0, kByte),
    derived("qos_ca_vlarb_high", kNone, Text, "qos.ca_vl_arb_high"),
    derived("qos_ca_vlarb_low", kNone, Text, "qos.ca_vl_arb_low"),
    derived("qos_ca_sl2vl", kNone, Text, "qos.ca_sl2vl"),
    derived("qos_sw0_max_vls", "0", Number, "port.max_operational_vls", 0, 15),
    derived("qos_sw0_high_limit", "-1", Limit, "qos.sw0_vl_high_limit", 0, kByte),
    derived("qos_sw0_vlarb_high", kNone, Text, "qos.sw0_vl_arb_high"),
    derived("qos_sw0_vlarb_low", kNone, Text, "qos.sw0_vl_arb_low"),
    derived("qos_sw0_sl2vl", kNone, Text, "qos.sw0_sl2vl"),
    derived("qos_swe_max_vls", "0", Number, "port.max_operational_vls", 0, 15),
    derived("qos_swe_high_limit", "-1", Limit, "qos.swe_vl_high_limit", 0, kByte),
    derived("qos_swe_vlarb_high", kNone, Text, "qos.swe_vl_arb_high"),
    derived("qos_swe_vlarb_low", kNone, Text, "qos.swe_vl_arb_low"),
    derived("qos_swe_sl2vl", kNone, Text, "qos.swe_sl2vl"),
    derived("qos_rtr_max_vls", "0", Number, "port.max_operational_vls", 0, 15),
    derived("qos_rtr_high_limit", "-1", Limit, "qos.rtr_vl_high_limit", 0, kByte),
    derived("qos_rtr_vlarb_high", kNone, Text, "qos.rtr_vl_arb_high"),
    derived("qos_rtr_vlarb_low", kNone, Text, "qos.rtr_vl_arb_low"),
    derived("qos_rtr_sl2vl", kNone, Text, "qos.rtr_sl2vl"),
    derived("congestion_control", "FALSE", Flag, "congestion.enabled"),
    congestion("cc_key", "0x0000000000000000", Key, 0, "congestion.cc_key"),
    congestion(
        "cc_max_outstanding_mads", "500", Number, kWord, "congestion.cc_max_outstanding_mads"),
    congestion("cc_sw_cong_setting_control_map",
               "0x0",
               Number,
               31,
               "congestion.cc_sw_cong_setting_control_map"),
    congestion("cc_sw_cong_setting_victim_mask",
               "0x0000000000000000000000000000000000000000000000000000000000000000",
               Mask,
               0,
               "congestion.cc_sw_cong_setting_victim_mask"),
    congestion("cc_sw_cong_setting_credit_mask",
               "0x0000000000000000000000000000000000000000000000000000000000000000",
               Mask,
               0,
               "congestion.cc_sw_cong_setting_credit_mask"),
    congestion("cc_sw_cong_setting_threshold",
               "0x00",
               Number,
               15,
               "congestion.cc_sw_cong_setting_threshold"),
    congestion("cc_sw_cong_setting_packet_size",
               "0",
               Number,
               kByte,
               "congestion.cc_sw_cong_setting_packet_size"),
    congestion("cc_sw_cong_setting_credit_starvation_threshold",
               "0x00",
               Number,
               15,
               "congestion.cc_sw_cong_setting_credit_starvation_threshold"),
    congestion("cc_sw_cong_setting_credit_starvation_return_delay",
               "0:0",
               Text,
               0,
               "congestion.cc_sw_cong_setting_credit_starvation_return_delay"),
    congestion("cc_sw_cong_setting_marking_rate",
               "0",
               Number,
               kShort,
               "congestion.cc_sw_cong_setting_marking_rate"),
    congestion("cc_ca_cong_setting_port_control",
               "0x0000",
               Number,
               1,
               "congestion.cc_ca_cong_setting_port_control"),
    congestion("cc_ca_cong_setting_control_map",
               "0x0000",
               Number,
               kShort,
               "congestion.cc_ca_cong_setting_control_map"),
    congestion("cc_ca_cong_setting_ccti_timer",
               "0 0",
               BySl,
               kShort,
               "congestion.cc_ca_cong_setting_ccti_timer"),
    congestion("cc_ca_cong_setting_ccti_increase",
               "0 0",
               BySl,
               kByte,
               "congestion.cc_ca_cong_setting_ccti_increase"),
    congestion("cc_ca_cong_setting_trigger_threshold",
               "0 0",
               BySl,
               kByte,
               "congestion.cc_ca_cong_setting_trigger_threshold"),
    congestion("cc_ca_cong_setting_ccti_min",
               "0 0",
               BySl,
               kByte,
               "congestion.cc_ca_cong_setting_ccti_min"),
    congestion("cc_cct", kNone, Text, 0, "congestion.cc_cct"),
    derived("prefix_routes_file", "/etc/opensm/prefix-routes.conf", Text, "sa.prefix_routes"),
    needless(
        "consolidate_ipv6_snm_req", "FALSE", Flag, "groups share MLIDs where there are none left"),
    missing("log_prefix", kNone, Text, "lines in syslog begin with \"smd\""),
    // Of some versions only.
    missing("dimn_ports_file", kNone, Text, kNoPortOrder),
    derived("max_rate_enum", "0", Number, "sa.max_rate", 0, kByte),
});

constexpr auto kFlags = std::to_array<OpensmFlag>({
    {"version", 0, false, "", "", "it prints the version and ends"},
    {"config", 'F', true, "", "", ""},
    {"create-config", 'c', true, "", "", "it writes a configuration and ends"},
    {"guid", 'g', true, "guid", "", ""},
    {"lmc", 'l', true, "lmc", "", ""},
    {"priority", 'p', true, "sm_priority", "", ""},
    {"subnet_prefix", 0, true, "subnet_prefix", "", ""},
    {"smkey", 'k', true, "sm_key", "", ""},
    {"sm_sl", 0, true, "sm_sl", "", ""},
    {"reassign_lids", 'r', false, "reassign_lids", "TRUE", ""},
    {"routing_engine", 'R', true, "routing_engine", "", ""},
    {"do_mesh_analysis", 0, false, "do_mesh_analysis", "TRUE", ""},
    {"lash_start_vl", 0, true, "lash_start_vl", "", ""},
    {"nue_max_num_vls", 0, true, "nue_max_num_vls", "", ""},
    {"ucast_cache", 'A', false, "use_ucast_cache", "TRUE", ""},
    {"connect_roots", 'z', false, "connect_roots", "TRUE", ""},
    {"lid_matrix_file", 'M', true, "lid_matrix_dump_file", "", ""},
    {"lfts_file", 'U', true, "lfts_file", "", ""},
    {"sadb_file", 'S', true, "sa_db_file", "", ""},
    {"root_guid_file", 'a', true, "root_guid_file", "", ""},
    {"cn_guid_file", 'u', true, "cn_guid_file", "", ""},
    {"io_guid_file", 'G', true, "io_guid_file", "", ""},
    {"port-shifting", 0, false, "port_shifting", "TRUE", ""},
    {"scatter-ports", 0, true, "scatter_ports", "", ""},
    {"max_reverse_hops", 'H', true, "max_reverse_hops", "", ""},
    {"ids_guid_file", 'm', true, "ids_guid_file", "", ""},
    {"guid_routing_order_file", 'X', true, "guid_routing_order_file", "", ""},
    {"guid_routing_order_no_scatter", 0, false, "guid_routing_order_no_scatter", "TRUE", ""},
    {"torus_config", 0, true, "torus_config", "", ""},
    {"once", 'o', false, "", "", "smd run --once does one bring-up and ends"},
    {"sweep", 's', true, "sweep_interval", "", ""},
    {"timeout", 't', true, "transaction_timeout", "", ""},
    {"retries", 0, true, "transaction_retries", "", ""},
    {"maxsmps", 'n', true, "max_wire_smps", "", ""},
    {"console", 'q', true, "console", "", ""},
    {"console-port", 'C', true, "console_port", "", ""},
    {"ignore_guids", 'i', true, "port_prof_ignore_file", "", ""},
    {"hop_weights_file", 'w', true, "hop_weights_file", "", ""},
    {"port_search_ordering_file", 'O', true, "port_search_ordering_file", "", ""},
    {"dimn_ports_file", 'O', true, "dimn_ports_file", "", ""},
    {"honor_guid2lid", 'x', false, "honor_guid2lid_file", "TRUE", ""},
    {"dump_files_dir", 0, true, "dump_files_dir", "", ""},
    {"log_file", 'f', true, "log_file", "", ""},
    {"log_limit", 'L', true, "log_max_size", "", ""},
    {"erase_log_file", 'e', false, "accum_log_file", "FALSE", ""},
    {"Pconfig", 'P', true, "partition_config_file", "", ""},
    {"no_part_enforce", 'N', false, "no_partition_enforcement", "TRUE", ""},
    {"part_enforce", 'Z', true, "part_enforce", "", ""},
    {"allow_both_pkeys", 'W', false, "allow_both_pkeys", "TRUE", ""},
    {"qos", 'Q', false, "qos", "TRUE", ""},
    {"qos_policy_file", 'Y', true, "qos_policy_file", "", ""},
    {"congestion_control", 0, false, "congestion_control", "TRUE", ""},
    {"cc_key", 0, true, "cc_key", "", ""},
    {"stay_on_fatal", 'y', false, "exit_on_fatal", "FALSE", ""},
    {"daemon", 'B', false, "daemon", "TRUE", ""},
    {"pidfile", 'J', true, "", "", "systemd knows the process without a file"},
    {"inactive", 'I', false, "sm_inactive", "TRUE", ""},
    {"perfmgr", 0, false, "perfmgr", "TRUE", ""},
    {"perfmgr_sweep_time_s", 0, true, "perfmgr_sweep_time_s", "", ""},
    {"prefix_routes_file", 0, true, "prefix_routes_file", "", ""},
    {"consolidate_ipv6_snm_req", 0, false, "consolidate_ipv6_snm_req", "TRUE", ""},
    {"log_prefix", 0, true, "log_prefix", "", ""},
    {"verbose", 'v', false, "log_flags", "", ""},
    {"V", 'V', false, "log_flags", "0xff", ""},
    {"D", 'D', true, "log_flags", "", ""},
    {"debug", 'd', true, "", "", ""},
    {"help", 'h', false, "", "", "it prints help and ends"},
});

constexpr OpensmEngine kEngines[] = {
    {"minhop", "minhop"},
    {"updn", "updn"},
    {"ftree", "ftree"},
    {"lash", "lash"},
    {"dor", "dor"},
    {"nue", "nue"},
    {"dfsssp", "dfsssp"},
    {"torus-2QoS", "dor", "dor comes nearest; there are no two levels of QoS"},
    {"sssp", "minhop", "minhop comes nearest"},
    {"ar_updn", "updn", "adaptive routing is NVIDIA's"},
    {"ar_ftree", "ftree", "adaptive routing is NVIDIA's"},
    {"ar_torus", "dor", "adaptive routing is NVIDIA's"},
    {"ar_dor", "dor", "adaptive routing is NVIDIA's"},
    {"kdor-hc", "dor", "kdor is NVIDIA's"},
    {"kdor-ghc", "hamming", "kdor is NVIDIA's"},
    {"dfp", "dragonfly", "adaptive routing is NVIDIA's"},
    {"dfp2", "dragonfly", "adaptive routing is NVIDIA's"},
    {"pqft", "ftree", "pqft is NVIDIA's"},
    {"dnup", "", ""},
    {"file", "", ""},
    {"chain", "", ""},
};

struct NvidiaRow {
  std::string_view name;  // ending in '*': whatever begins so
  std::string_view what;
};

constexpr auto kNvidia = std::to_array<NvidiaRow>({
    {"adv_routing_engine", "adaptive routing"},
    {"allowed_sm_guids", "a list of managers that may be"},
    {"ar_*", "adaptive routing"},
    {"const_multicast", "multicast trees that stay"},
    {"dfp_*", "routes of Dragonfly+"},
    {"device_configuration_file", "settings by device"},
    {"drop_subscr_on_report_fail", "smd ends subscriptions after three unanswered reports anyway"},
    {"enable_ar_*", "adaptive routing"},
    {"enable_inc_mc_routing", "smd changes multicast trees by what differs anyway"},
    {"enable_sm_port_failover", "several ports for one manager"},
    {"global_flid_*", "LIDs across subnets"},
    {"hbf_*", "hash-based forwarding"},
    {"held_back_sw_file", "switches left out of routing"},
    {"hm_*", "ports that are unhealthy"},
    {"key_mgr_*", "keys from one seed; sm.m_key_file is smd's option like it"},
    {"m_key_per_port",
     "sm.m_key_file is smd's option like it; keys of another seed end with their leases"},
    {"master_sm_priority", "sm.master_priority is smd's option like it; set it by hand"},
    {"max_topologies_*", "routing chains"},
    {"mc_*root*", "roots of multicast trees"},
    {"n2n_*", "keys between nodes"},
    {"nvl*", "NVLink"},
    {"offsweep_balancing_*", "smd balances at rest anyway (sweep.relief_s)"},
    {"pfrn_*", "notices of failed links between switches"},
    {"pgrp_policy_file", "groups of ports for routing chains"},
    {"planarized_*", "planes of XDR"},
    {"port_*_change_action", "links that are reset when settings change"},
    {"rch_policy_file", "routing chains"},
    {"rtr_*", "rules of routers"},
    {"sa_enhanced_trust_model", "which requests are trusted"},
    {"sa_rate_threshold", "a limit of requests; smd's are in [sa]"},
    {"sharp_*", "aggregation in switches (SHARP)"},
    {"shield_mode", "switches that route around failed links by themselves"},
    {"support_mepi_speeds", "FDR10 and its like"},
    {"tenants_policy_*", "tenants"},
    {"topo_policy_file", "topologies of routing chains"},
    {"validate_conf_files", "smd check-config does that"},
    {"virt_*", "virtual ports"},
    {"vs_*", "keys of vendor classes"},
    {"cc_key_enable", "CC_Keys; congestion.protect is smd's option like it"},
});

/// `pattern` has at most two stars, each of which stands for any text.
bool matches(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (matches(text.substr(at), rest)) return true;
  return false;
}

}  // namespace

std::span<const OpensmOption> opensm_options() { return kOptions; }

const OpensmOption* find_opensm_option(std::string_view name) {
  const auto* it = std::ranges::find(kOptions, name, &OpensmOption::name);
  return it == kOptions.end() ? nullptr : it;
}

std::optional<std::string_view> find_nvidia_option(std::string_view name) {
  constexpr std::size_t kLongestName = 64;
  if (name.size() > kLongestName) return std::nullopt;
  const auto* it =
      std::ranges::find_if(kNvidia, [&](const NvidiaRow& row) { return matches(name, row.name); });
  return it == kNvidia.end() ? std::nullopt : std::optional(it->what);
}

std::span<const OpensmEngine> opensm_engines() { return kEngines; }

const OpensmEngine* find_opensm_engine(std::string_view name) {
  const auto* it = std::ranges::find(kEngines, name, &OpensmEngine::name);
  return it == std::end(kEngines) ? nullptr : it;
}

std::span<const OpensmFlag> opensm_flags() { return kFlags; }

}  // namespace smd
