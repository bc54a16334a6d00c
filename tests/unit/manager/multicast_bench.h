// A manager of groups, and the switches that it asks and writes: the test plays them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/manager/multicast_manager.h"
#include "smd/routing/engine.h"
#include "tests/support/fabric_text.h"
#include "tests/support/holding_runtime.h"
#include "tests/unit/manager/small_subnet.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd::test {
namespace multicast_manager_test {

/// The manager is on H1; two cables join the switches, by ports 3 and 4.
inline constexpr std::string_view kWhole = "H1-S1:1 H2-S1:2 S1:3-S2:3 S1:4-S2:4 H3-S2:1";

/// Likewise, with four switches; a host more at the first one.
inline constexpr std::string_view kRow =
    "H1-S1:1 H2-S2:1 H3-S3:1 H4-S4:1 S1:3-S2:3 S2:4-S3:4 S3:3-S4:3 H5-S1:2";

/// Three switches, each next to both others.
inline constexpr std::string_view kRing = "H1-S1:1 H2-S2:1 H3-S3:1 S1:3-S2:3 S2:4-S3:4 S3:3-S1:4";

struct Bench {
  Bench() {
    settings.groups.clear();  // none but those of hosts
    wire.on_sent = [this](const MadPacket& packet) { answer(packet); };
    make();
  }

  void make() {
    manager = std::make_unique<MulticastManager>(holding, client, memory, meter);
    manager->on_change([this](const std::vector<GroupChange>& changes) {
      news.insert(news.end(), changes.begin(), changes.end());
    });
  }

  /// Another cycle ended, with the fabric `text`.
  void adopt(std::string_view text = kWhole) {
    now = route(text);
    manager->adopt(now, settings);
  }

  [[nodiscard]] std::shared_ptr<const ActiveSubnet> route(std::string_view text) const {
    auto fabric = std::make_shared<Fabric>(fabric_from(text));
    for (PortInfo& info : fabric->port_info) info.mtu_cap = mtu_cap;
    for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = fdb_cap;
    IndexVector<NodeIdx, HopPath> path(fabric->node_count());
    path[node(*fabric, "S1")] = kToS1;
    if (text.find("S2") != text.npos)
      path[node(*fabric, "S2")] =
          text.find("S1:3") != text.npos ? kToS2 : HopPath{PortNum{1}, PortNum{4}};
    if (text.find("S3") != text.npos)
      path[node(*fabric, "S3")] = {PortNum{1}, PortNum{3}, PortNum{4}};
    if (text.find("S4") != text.npos)
      path[node(*fabric, "S4")] = {PortNum{1}, PortNum{3}, PortNum{4}, PortNum{3}};
    const LidMap lids = lids_in_order(*fabric);
    RoutingRequest request;
    if (!root.empty()) request.options.roots = {fabric->node_guid[node(*fabric, root)]};
    RoutingTables routing = find_engine("updn")->compute(*fabric, lids, request).value();
    if (changes_vls) {
      routing.sl_to_vl = SlToVlMaps(*fabric);
      routing.sl_to_vl.add_row({});
    }
    auto made = std::make_shared<const ActiveSubnet>(
        ActiveSubnet{.sweep = {.fabric = fabric, .path = std::move(path)},
                     .lids = lids,
                     .routing = std::move(routing),
                     .rows = SlToVlMaps{}});
    if (crossed)
      std::swap(fabric->peer[port(*fabric, "S2:3")], fabric->peer[port(*fabric, "S2:4")]);
    return made;
  }

  static Gid mgid(std::uint64_t group) { return {0xff12000000000000u, Guid{group}}; }

  static Guid host(unsigned number) { return Guid{0x20001u + 0x100u * number}; }

  GroupRequest request(unsigned number,
                       std::uint64_t group,
                       std::uint8_t state = join_state::kFull) const {
    return {.mgid = mgid(group),
            .port_gid = Gid{kDefaultSubnetPrefix, host(number)},
            .q_key = 0xb1b,
            .tclass = 0,
            .p_key = kDefaultPKey,
            .sl = 0,
            .flow_label = 0,
            .join_state = state};
  }

  void join(unsigned number, std::uint64_t group, std::uint8_t state = join_state::kFull) {
    ASSERT_TRUE(
        manager->groups().join(*manager->realm(), request(number, group, state), host(number)));
    manager->note_change();
  }

  void leave(unsigned number, std::uint64_t group) {
    ASSERT_TRUE(manager->groups().leave(*manager->realm(), request(number, group), host(number)));
    manager->note_change();
  }

  [[nodiscard]] Lid mlid(std::uint64_t group) const {
    const Group* found = manager->groups().find(mgid(group));
    return found != nullptr ? found->mlid : kUnassignedLid;
  }

  /// What the switch has in its table, one bit a port.
  [[nodiscard]] unsigned mask(unsigned sw, Lid of) const {
    const unsigned place = of.value() - 0xc000u;
    const auto found =
        tables.find({sw, encode_modifier({static_cast<std::uint16_t>(place / 32), 0})});
    return found == tables.end() ? 0u : (*decode_mft_block(found->second))[place % 32];
  }

  bool run_until(const std::function<bool()>& done) {
    return runtime.run_while_not(done, runtime.now() + Duration{60s});
  }

  bool settle() {
    return run_until([this] { return manager->at_rest(); });
  }

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  /// A Set was sent and is not answered yet.
  bool run_into_writing() {
    const std::size_t before = writes();
    return run_until([&] { return writes() > before; });
  }

  [[nodiscard]] std::size_t writes() const {
    return static_cast<std::size_t>(
        std::ranges::count(sent, Method::Set, [](const Smp& smp) { return smp.method; }));
  }

  sim::SimRuntime runtime;
  HoldingRuntime holding{runtime};
  FakeTransport wire;
  SmpClient client{runtime, wire, {.retries = 1, .timeout = 10ms}};
  MftMemory memory;
  CostMeter meter{runtime, client, {}};
  Settings settings = small_settings();
  std::shared_ptr<const ActiveSubnet> now;
  std::vector<Smp> sent;
  std::vector<TimePoint> sent_at;
  std::vector<GroupChange> news;
  std::string_view root;     // of the directions of routes; empty: the engine's choice
  bool changes_vls = false;  // routes do, so that nothing proves them beside trees
  bool crossed = false;  // what is read of S2 and of S1 says otherwise of the cables between them
  std::uint8_t mtu_cap = 5;
  std::uint16_t fdb_cap = 64;
  bool all_silent = false;                                       // all switches
  std::optional<unsigned> silent;                                // switch
  bool silent_to_gets = false;                                   // alone, where it is silent
  std::optional<PortNum> cut;                                    // cable, by its port of S1
  std::map<std::pair<unsigned, std::uint32_t>, SmpData> tables;  // by switch and modifier
  std::unique_ptr<MulticastManager> manager;

 private:
  /// A millisecond later, by the one at the end of the path.
  void answer(const MadPacket& packet) {
    const Smp smp = decode_smp(packet.mad).value();
    sent.push_back(smp);
    sent_at.push_back(runtime.now());
    const unsigned sw = smp.hop_count;
    EXPECT_TRUE(is_about(smp, AttributeId::MulticastForwardingTable));
    if (all_silent) return;
    if (silent == sw && (!silent_to_gets || smp.method == Method::Get)) return;
    if (sw == 2 && cut == PortNum{smp.initial_path[2]}) return;
    runtime.call_at(runtime.now() + Duration{1ms}, [this, smp, sw] {
      SmpData& held = tables[{sw, smp.attribute_modifier}];
      if (smp.method == Method::Set) held = smp.data;
      Smp reply = answer_to(smp);
      reply.data = held;
      wire.deliver(reply);
    });
  }
};

/// Of ports, as in a table.
constexpr unsigned ports(std::initializer_list<unsigned> numbers) {
  unsigned mask = 0;
  for (const unsigned number : numbers) mask |= 1u << number;
  return mask;
}

}  // namespace multicast_manager_test
}  // namespace smd::test
