// What of OpenSM's subnet the engines see, on nodes made up with OpenSM's headers.
#include "plugins/opensm/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"

namespace smd::opensm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// H1 and H2 on port 1 of S1 and S2, which two cables join at their ports 2 and 3.
class OpensmSubnet : public testing::Test {
 protected:
  OpensmSubnet() {
    for (const std::uint64_t guid : {0x11, 0x12}) add_node(NodeType::Ca, guid, 1);
    for (const std::uint64_t guid : {0x21, 0x22}) add_node(NodeType::Switch, guid, 3);
    join(at(0x11, 1), at(0x21, 1));
    join(at(0x12, 1), at(0x22, 1));
    join(at(0x21, 2), at(0x22, 2));
    join(at(0x21, 3), at(0x22, 3));
    osm_->subn.sm_port_guid = at(0x11, 1).port_guid;
    chain(osm_->subn.node_guid_tbl, nodes_);
    chain(osm_->subn.port_guid_tbl, ports_);
  }

  osm_node_t& node(std::uint64_t guid) {
    for (const auto& each : nodes_)
      if (each->node_info.node_guid == cl_hton64(guid)) return *each;
    ADD_FAILURE() << guid;
    std::abort();
  }

  osm_physp_t& at(std::uint64_t guid, unsigned port) { return node(guid).physp_table[port]; }

  Snapshot take() {
    auto taken = take_snapshot(*osm_, Epoch{1});
    EXPECT_TRUE(taken) << taken.error().context;
    return taken ? std::move(*taken) : Snapshot{};
  }

 private:
  void add_node(NodeType type, std::uint64_t guid, unsigned num_ports) {
    const bool is_switch = type == NodeType::Switch;
    // physp_table has one element more than it says for each port.
    nodes_.emplace_back(static_cast<osm_node_t*>(
        std::calloc(1, sizeof(osm_node_t) + num_ports * sizeof(osm_physp_t))));
    osm_node_t& made = *nodes_.back();
    SmpData data{};
    encode_node_info({.node_type = static_cast<std::uint8_t>(type),
                      .num_ports = static_cast<std::uint8_t>(num_ports),
                      .node_guid = Guid{guid},
                      .port_guid = Guid{guid},
                      .local_port = PortNum{1}},
                     data);
    std::memcpy(&made.node_info, data.data(), sizeof(made.node_info));
    made.physp_tbl_size = num_ports + 1;
    if (is_switch) {
      switches_.push_back(std::make_unique<osm_switch_t>());
      made.sw = switches_.back().get();
      made.sw->p_node = &made;
    }
    for (unsigned p = is_switch ? 0 : 1; p <= num_ports; ++p) {
      osm_physp_t& port = made.physp_table[p];
      port.port_guid = cl_hton64(guid);
      port.port_num = static_cast<std::uint8_t>(p);
      port.p_node = &made;
      port.healthy = TRUE;
      PortInfo info{.lid = Lid{static_cast<std::uint16_t>(guid)}};
      info.port_state = static_cast<std::uint8_t>(PortState::Active);
      encode_port_info(info, data);
      std::memcpy(&port.port_info, data.data(), sizeof(port.port_info));
    }
    ports_.push_back(std::make_unique<osm_port_t>());
    ports_.back()->p_node = &made;
    ports_.back()->guid = cl_hton64(guid);
    ports_.back()->p_physp = &made.physp_table[is_switch ? 0 : 1];
    ports_.back()->lid = cl_hton16(static_cast<std::uint16_t>(guid));
  }

  static void join(osm_physp_t& a, osm_physp_t& b) {
    a.p_remote_physp = &b;
    b.p_remote_physp = &a;
  }

  /// The list that goes through a map; its tree is of no use here.
  template <class Items>
  static void chain(cl_qmap_t& map, const Items& items) {
    map.state = CL_INITIALIZED;
    cl_list_item_t* last = &map.nil.pool_item.list_item;
    for (const auto& each : items) {
      last->p_next = &each->map_item.pool_item.list_item;
      last = last->p_next;
    }
    last->p_next = &map.nil.pool_item.list_item;
  }

  std::unique_ptr<osm_opensm_t> osm_ = std::make_unique<osm_opensm_t>();
  std::vector<std::unique_ptr<osm_node_t, Free>> nodes_;
  std::vector<std::unique_ptr<osm_switch_t>> switches_;
  std::vector<std::unique_ptr<osm_port_t>> ports_;
};

TEST_F(OpensmSubnet, IsTakenWhole) {
  const Snapshot taken = take();
  EXPECT_EQ(taken.fabric->node_count(), 4u);
  EXPECT_EQ(taken.fabric->link_count(), 4u);
  EXPECT_EQ(taken.lids.top, Lid{0x22});
  EXPECT_THAT(taken.notes, IsEmpty());
}

// Its own engines lead packets to it all the same: a LID without a route would be cut off.
TEST_F(OpensmSubnet, KeepsAnAdapterThatOpensmHoldsForUnhealthy) {
  at(0x12, 1).healthy = FALSE;
  at(0x21, 1).healthy = FALSE;
  const Snapshot taken = take();
  EXPECT_EQ(taken.fabric->link_count(), 4u);
  EXPECT_THAT(taken.notes, IsEmpty());
}

TEST_F(OpensmSubnet, LosesAnUnhealthyLinkBetweenSwitchesAndSaysSoOnce) {
  at(0x22, 3).healthy = FALSE;
  const Snapshot taken = take();
  EXPECT_EQ(taken.fabric->link_count(), 3u);
  EXPECT_THAT(taken.notes,
              ElementsAre("link between 0x0000000000000021 port 3 and 0x0000000000000022 port 3 "
                          "left out: OpenSM holds it for unhealthy"));
}

TEST_F(OpensmSubnet, SaysWhichLinksItsOtherGapsTake) {
  node(0x22).sw = nullptr;
  const Snapshot taken = take();
  EXPECT_EQ(taken.fabric->link_count(), 1u);
  EXPECT_THAT(taken.notes,
              testing::UnorderedElementsAre(
                  HasSubstr("switch 0x0000000000000022 without SwitchInfo"),
                  HasSubstr("0x0000000000000012 port 1 and 0x0000000000000022 port 1 left out"),
                  HasSubstr("0x0000000000000021 port 2 and 0x0000000000000022 port 2 left out"),
                  HasSubstr("0x0000000000000021 port 3 and 0x0000000000000022 port 3 left out")));
}

}  // namespace
}  // namespace smd::opensm
