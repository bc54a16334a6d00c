// A sweep that found ports with fewer lanes than the routes need is followed by another, with
// OpenSM's headers and a stand-in for what it exports.
#include "plugins/opensm/engine_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/fabric_text.h"
#include "tests/unit/plugin-opensm/osm_log_stub.h"

namespace {

std::vector<osm_signal_t> signals;
const osm_sm_t* signalled = nullptr;

}  // namespace

// OpenSM's own, for a test.
extern "C" {
void osm_sm_signal(osm_sm_t* sm, osm_signal_t signal) {
  signalled = sm;
  signals.push_back(signal);
}

cl_status_t osm_register_external_routing_engine(osm_opensm_t*,
                                                 const external_routing_engine_module_t*,
                                                 void*) {
  return CL_ERROR;
}

cl_status_t osm_switch_set_hops(osm_switch_t*, std::uint16_t, std::uint8_t, std::uint8_t) {
  return CL_ERROR;
}
}

namespace smd::opensm {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Routes on two VLs over two switches with two cables between them. OpenSM's codes of VLs: 1 is
/// one VL, 2 is two.
class CutLanes : public testing::Test {
 protected:
  CutLanes() : osm_(std::make_unique<osm_opensm_t>()), state_{.osm = *osm_, .options = {}} {
    logged.clear();
    signals.clear();
    auto fabric = test::fabric_from_shared("S1-S2 S1-S2 S1-H1 S2-H2");
    LidMap lids = test::lids_in_order(*fabric);
    auto tables = find_engine("updn")->compute(*fabric, lids, {.max_vls = 1}).value();
    tables.vls = 2;
    state_.in_force.set(std::make_shared<const Routes>(
        Routes{.fabric = fabric, .lids = std::move(lids), .tables = std::move(tables)}));
    const NodeIdx node = fabric->switch_node[SwitchIdx{0}];
    for (unsigned p = 1; p <= fabric->num_ports(node); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const PortIdx peer = fabric->peer[fabric->port_of(node, number)];
      if (peer != kNone<PortIdx> && fabric->is_switch(fabric->node_of[peer]))
        cables_.push_back(static_cast<std::uint8_t>(p));
    }
    node_.node_info.node_guid = cl_hton64(fabric->node_guid[node].value());
  }

  /// A sweep in which these ports have one VL yet, and the other ones two.
  void sweep(const std::vector<std::uint8_t>& narrow) {
    osm_->subn.force_heavy_sweep = FALSE;
    for (const std::uint8_t out : cables_) {
      osm_physp_t port{};
      port.p_node = &node_;
      const bool is_narrow = std::ranges::find(narrow, out) != narrow.end();
      port.port_info.vl_enforce = static_cast<std::uint8_t>((is_narrow ? 1 : 2) << 4);
      ib_slvl_table_t table{};
      slot_.fill_sl_to_vl(port, 0, out, table);
      EXPECT_EQ(ib_slvl_table_get(&table, 3), 1u) << "what is asked for is never cut";
    }
    slot_.finish_sweep();
  }

  std::unique_ptr<osm_opensm_t> osm_;
  PluginState state_;
  EngineSlot slot_{state_, *find_engine("updn")};
  std::vector<std::uint8_t> cables_;
  osm_node_t node_{};
};

TEST_F(CutLanes, NothingCutAsksForNothing) {
  ASSERT_EQ(cables_.size(), 2u);
  sweep({});
  EXPECT_EQ(signals.size(), 0u);
  EXPECT_EQ(osm_->subn.force_heavy_sweep, FALSE);
  EXPECT_EQ(logged, "");
}

// OpenSM looks at force_heavy_sweep when something makes it sweep; without sweep_interval nothing
// does.
TEST_F(CutLanes, OpensmIsSignalledToSweepInFull) {
  sweep({cables_[0]});
  EXPECT_EQ(signals, std::vector<osm_signal_t>{OSM_SIGNAL_SWEEP});
  EXPECT_EQ(signalled, &osm_->sm);
  EXPECT_EQ(osm_->subn.force_heavy_sweep, TRUE);
  EXPECT_THAT(logged, HasSubstr("sweeping once more"));
  sweep({});
  EXPECT_EQ(signals.size(), 1u);
  EXPECT_EQ(osm_->subn.force_heavy_sweep, FALSE);
}

TEST_F(CutLanes, AnotherPortIsAnotherSweep) {
  sweep({cables_[0]});
  sweep({cables_[1]});
  EXPECT_EQ(signals.size(), 2u);
  EXPECT_EQ(osm_->subn.force_heavy_sweep, TRUE);
  EXPECT_THAT(logged, Not(HasSubstr("fewer lanes")));
  sweep({cables_[1], cables_[0]});
  EXPECT_EQ(signals.size(), 3u);
}

TEST_F(CutLanes, ThoseThatStayAreNamedOnceASweepDidNotHelp) {
  sweep({cables_[0]});
  sweep({cables_[0]});
  EXPECT_EQ(signals.size(), 1u);
  EXPECT_EQ(osm_->subn.force_heavy_sweep, FALSE);
  EXPECT_THAT(logged, HasSubstr("1 port keeps fewer lanes than the routes need; the first is "));
  sweep({});
  sweep({cables_[0]});
  EXPECT_EQ(signals.size(), 2u) << "the port came up anew";
}

}  // namespace
}  // namespace smd::opensm
