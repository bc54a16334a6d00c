// That each option reaches the manager: one that is set alone makes its own setting another one.
#include "smd/config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include "tests/support/files.h"

namespace smd {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;
using testing::ElementsAre;
using testing::Pair;

struct Option {
  const char* text;  // a section, and the option in it
  bool (*is_set)(const Settings& settings);

  friend void PrintTo(const Option& option, std::ostream* out) { *out << option.text; }
};

class SettingsOf : public testing::TestWithParam<Option> {};

TEST_P(SettingsOf, AnOptionIsWhatItSays) {
  const auto config = parse_config(GetParam().text, "smd.toml");
  ASSERT_TRUE(config) << print_fault(config.error().front());
  EXPECT_FALSE(GetParam().is_set(make_settings(Config{}))) << "by itself";
  EXPECT_TRUE(GetParam().is_set(make_settings(*config)));
}

using S = const Settings&;

constexpr Option kSmp[] = {
    {"[smp]\nwindow_min = 3\n", [](S s) { return s.smp.window_min == 3; }},
    {"[smp]\nwindow_start = 33\n", [](S s) { return s.smp.window_start == 33; }},
    {"[smp]\nwindow_max = 99\n", [](S s) { return s.smp.window_max == 99; }},
    {"[smp]\nretries = 5\n", [](S s) { return s.smp.retries == 5; }},
    {"[smp]\ntimeout_ms = 70\n", [](S s) { return s.smp.timeout == 70ms; }},
    {"[smp]\nmax_per_second = 9\n", [](S s) { return s.smp.max_per_second == 9; }},
    {"[smp]\ndirected_only = \"yes\"\n", [](S s) { return s.directed_only == true; }},
    {"[smp]\ndirected_only = \"no\"\n", [](S s) { return s.directed_only == false; }},
};

constexpr Option kPort[] = {
    {"[port]\nmtu_max = 1024\n", [](S s) { return s.ports.mtu_max == Mtu::B1024; }},
    {"[port]\nmax_operational_vls = 8\n", [](S s) { return s.ports.max_operational_vls == 4; }},
    {"[port]\nsubnet_timeout = 17\n", [](S s) { return s.ports.subnet_timeout == 17; }},
    {"[port]\npacket_life_time = 17\n", [](S s) { return s.ports.packet_life_time == 17; }},
    {"[port]\nhoq_life = 15\n", [](S s) { return s.ports.hoq_life == 15; }},
    {"[port]\nleaf_hoq_life = 14\n", [](S s) { return s.ports.leaf_hoq_life == 14; }},
    {"[port]\nvl_stall_count = 5\n", [](S s) { return s.ports.vl_stall_count == 5; }},
    {"[port]\nleaf_vl_stall_count = 4\n", [](S s) { return s.ports.leaf_vl_stall_count == 4; }},
    {"[port]\nlocal_phy_errors = 3\n", [](S s) { return s.ports.local_phy_errors == 3; }},
    {"[port]\noverrun_errors = 2\n", [](S s) { return s.ports.overrun_errors == 2; }},
};

constexpr Option kQos[] = {
    {"[qos]\nsl2vl = \"0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\"\n",
     [](S s) { return s.qos.sl_to_vl && (*s.qos.sl_to_vl)[1] == Vl{1}; }},
    {"[qos]\nvl_arb_high = [\"1:9\"]\n",
     [](S s) { return s.qos.high && s.qos.high->at(0).weight == 9; }},
    {"[qos]\nvl_arb_low = [\"1:9\"]\n",
     [](S s) { return s.qos.low && s.qos.low->at(0).vl == Vl{1}; }},
    {"[qos]\nvl_high_limit = 7\n", [](S s) { return s.ports.vl_high_limit[2] == 7; }},
    {"[qos]\nca_vl_high_limit = 7\n", [](S s) { return s.ports.vl_high_limit[0] == 7; }},
    {"[qos]\nrtr_sl2vl = \"0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\"\n",
     [](S s) { return s.qos.kinds[1].sl_to_vl.has_value(); }},
    {"[qos]\nsw0_sl2vl = \"0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\"\n",
     [](S s) { return s.qos.kinds[2].sl_to_vl.has_value(); }},
    {"[qos]\nswe_vl_arb_low = [\"1:9\"]\n", [](S s) { return s.qos.kinds[3].low.has_value(); }},
    {"[qos]\noptimized_sl2vl = \"yes\"\n",
     [](S s) { return s.strategy.writing.optimized_sl_to_vl; }},
};

constexpr Option kManager[] = {
    {"[sm]\npriority = 5\n", [](S s) { return s.election.priority == 5; }},
    {"[sm]\nmaster_priority = 6\n", [](S s) { return s.election.master_priority == 6; }},
    {"[sm]\nsm_key = 7\n", [](S s) { return s.election.sm_key == SmKey{7}; }},
    {"[sm]\nsa_key = 8\n", [](S s) { return s.sa_key == SmKey{8}; }},
    {"[sm]\npoll_interval_ms = 190\n", [](S s) { return s.election.poll_interval == 190ms; }},
    {"[sm]\npoll_retries = 9\n", [](S s) { return s.election.poll_retries == 9; }},
    {"[sm]\nallowed_managers = [\"0x10\", \"0x11\"]\n",
     [](S s) {
       return s.election.allowed == std::set{Guid{0x10}, Guid{0x11}};
     }},
    {"[sm]\nm_key = 9\n",
     [](S s) { return s.ports.m_key == MKey{9} && s.election.m_key == MKey{9}; }},
    {"[sm]\nm_key = 9\nm_key_protect = 2\n", [](S s) { return s.ports.m_key_protect == 2; }},
    {"[sm]\nm_key_lease_s = 60\n", [](S s) { return s.ports.m_key_lease_s == 60; }},
    {"[sm]\nsubnet_prefix = \"0xfec0000000000001\"\n",
     [](S s) { return s.ports.subnet_prefix == 0xfec0000000000001; }},
    {"[sm]\nlmc = 2\n", [](S s) { return s.lids.lmc == 2; }},
    {"[sm]\nlid_min = 100\n", [](S s) { return s.lids.min == Lid{100}; }},
    {"[sm]\nlid_max = 200\n", [](S s) { return s.lids.max == Lid{200}; }},
    {"[sm]\nleftovers = \"clear\"\n", [](S s) { return s.leftovers == Leftovers::Clear; }},
    {"[sm]\ndrain_us = 70\n", [](S s) { return s.strategy.writing.drain_time == 70us; }},
    {"[sm]\nunproved = \"hold\"\n",
     [](S s) { return s.strategy.planner.unproved == Unproved::Hold; }},
    {"[sm]\nplan_budget_ms = 7\n",
     [](S s) { return s.strategy.planner.max_steps == 7 * kPlanStepsPerMs; }},
    {"[sm]\nmulticast_trees = \"dual-path\"\n",
     [](S s) { return s.multicast_trees == TreeShape::DualPath; }},
    {"[sm]\nmulticast_trees = \"by-sender\"\n",
     [](S s) { return s.multicast_trees == TreeShape::BySender; }},
    {"[sm]\nmulticast_trees = \"path-shared\"\n",
     [](S s) { return s.multicast_trees == TreeShape::PathShared; }},
    {"[sm]\nmulticast_trees = \"multi-path\"\n",
     [](S s) { return s.multicast_trees == TreeShape::MultiPath; }},
    {"[sm]\nmulticast_proof = \"lock-step\"\n",
     [](S s) { return s.multicast_proof == CopyModel::LockStep; }},
};

constexpr Option kRoutes[] = {
    {"[sm]\nengine = [\"ftree\", \"dor\"]\n",
     [](S s) { return s.engine == "ftree" && s.next_engines == std::vector<std::string>{"dor"}; }},
    {"[sm]\nroots = [\"0x5\"]\n",
     [](S s) { return s.engine_options.roots == std::vector{Guid{5}}; }},
    {"[sm]\nroots = [\"0x7\", \"0x5\", \"0x7\"]\n",
     [](S s) {
       return s.engine_options.roots == std::vector{Guid{5}, Guid{7}};
     }},
    {"[sm]\norientation = \"depth-first\"\n",
     [](S s) { return s.engine_options.orientation_search == OrientationSearch::DepthFirst; }},
    {"[sm]\nroot_choice = \"central\"\n",
     [](S s) { return s.engine_options.root_choice == RootChoice::Central; }},
    {"[sm]\nlane_cut = \"cycles\"\n",
     [](S s) { return s.engine_options.lane_cut == VlChangeRule::MinimalCycles; }},
    {"[sm]\ngateways = \"uniform\"\n",
     [](S s) { return s.engine_options.gateways == GatewayChoice::Uniform; }},
    {"[sm]\nnon_minimal = \"valiant\"\nlmc = 1\n",
     [](S s) { return s.engine_options.non_minimal == NonMinimal::Valiant; }},
    {"[sm]\nnon_minimal = \"almost-minimal\"\nlmc = 2\nengine = \"dfsssp\"\n",
     [](S s) { return s.engine_options.non_minimal == NonMinimal::AlmostMinimal; }},
    {"[sm]\npath_sets = [\"updn\", \"shortest\"]\nlmc = 1\nengine = \"lash\"\n",
     [](S s) { return s.engine_options.path_sets; }},
    {"[sm]\nauto_for = \"uniform\"\n",
     [](S s) { return s.engine_options.auto_for == TrafficGoal::Uniform; }},
    {"[sm]\nauto_budget_ms = 70\n", [](S s) { return s.engine_options.auto_budget_ms == 70; }},
    {"[sm]\nauto_vls = 4\n", [](S s) { return s.engine_options.auto_vls == 4; }},
    {"[sm]\nauto_changes = \"any\"\n",
     [](S s) { return s.engine_options.auto_changes == AutoChanges::Any; }},
    {"[sm]\nweights = [\"0x5:3\"]\n",
     [](S s) { return s.site_nodes && s.site_nodes->weights.at(0).first == Guid{5}; }},
    {"[sm]\nno_data = [\"login*\"]\n",
     [](S s) { return s.site_nodes && s.site_nodes->no_data.at(0) == "login*"; }},
};

constexpr Option kOthers[] = {
    {"[sweep]\ninterval_s = 7\n", [](S s) { return s.sweep_interval == 7s; }},
    {"[sweep]\nfactor = 7\n", [](S s) { return s.sweep_factor == 7; }},
    {"[sweep]\ndebounce_ms = 7\n", [](S s) { return s.debounce == 7ms; }},
    {"[sweep]\ndebounce_max_ms = 70\n", [](S s) { return s.debounce_max == 70ms; }},
    {"[sweep]\nrelief_s = 7\n", [](S s) { return s.rebalance_delay == 7s; }},
    {"[sweep]\nport_state_tables = \"yes\"\n", [](S s) { return s.port_state_tables; }},
    {"[transport]\nkind = \"sim\"\n", [](S s) { return s.port_state_tables; }},
    {"[sa]\nmax_rate = 7\n", [](S s) { return s.max_rate == 7; }},
    {"[sa]\npath_choice = \"least-contended\"\n",
     [](S s) { return s.path_choice == PathChoice::LeastContended; }},
    {"[sa]\npath_margin = 7\n", [](S s) { return s.path_margin == 7; }},
    {"[sa]\npath_watch_mads_per_s = 7\n", [](S s) { return s.path_watch_mads_per_s == 7; }},
    {"[sa]\nprefix_routes = [\"0xfec0000000000007 0x10\", \"* 0x11\"]\n",
     [](S s) {
       return s.prefix_routes ==
              std::vector{std::pair{std::uint64_t{0xfec0000000000007}, Guid{0x10}},
                          std::pair{std::uint64_t{0}, Guid{0x11}}};
     }},
    {"[congestion]\nenabled = true\n", [](S s) { return s.congestion.enabled; }},
};

INSTANTIATE_TEST_SUITE_P(Smp, SettingsOf, testing::ValuesIn(kSmp));
INSTANTIATE_TEST_SUITE_P(Port, SettingsOf, testing::ValuesIn(kPort));
INSTANTIATE_TEST_SUITE_P(Qos, SettingsOf, testing::ValuesIn(kQos));
INSTANTIATE_TEST_SUITE_P(Manager, SettingsOf, testing::ValuesIn(kManager));
INSTANTIATE_TEST_SUITE_P(Routes, SettingsOf, testing::ValuesIn(kRoutes));
INSTANTIATE_TEST_SUITE_P(Others, SettingsOf, testing::ValuesIn(kOthers));

/// What stands in files of the site.
TEST(Settings, FilesOfTheSiteReachTheManager) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  const auto put = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string path = put(
      "smd.toml",
      "[sm]\nnode_name_map = \"" + put("names", "0x5 \"leaf 5\"\n") +
          "\"\n[partitions]\nfile = \"" +
          put("partitions", "Default=0x7fff, ipoib: ALL=limited, SELF=full;\nA=1: 0x7=full;\n") +
          "\"\nenforcement = \"in\"\nallow_both = \"yes\"\n[qos]\npolicy_file = \"" +
          put("qos", "qos-ulps\ndefault: 3\nend-qos-ulps\n") + "\"\n");
  const auto config = load_config(path);
  ASSERT_TRUE(config) << print_fault(config.error().front());
  const Settings settings = make_settings(*config);
  ASSERT_TRUE(settings.site_nodes && settings.partitions && settings.qos_rules);
  EXPECT_THAT(settings.site_nodes->names, ElementsAre(Pair(Guid{5}, "leaf 5")));
  EXPECT_EQ(settings.partitions->rules.partitions.size(), 2u);
  EXPECT_EQ(settings.partitions->enforcement, PartitionEnforcement::In);
  EXPECT_TRUE(settings.partitions->allow_both);
  EXPECT_EQ(settings.qos_rules->levels.at(0).sl, 3);
  EXPECT_FALSE(settings.groups.empty()) << "of IPoIB";
}

}  // namespace
}  // namespace smd
