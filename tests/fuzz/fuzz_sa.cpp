// The administration fed whatever comes: each 256 bytes are a MAD from one of four clients, and
// time passes between them;
// traps come in, too.
#include <algorithm>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/routing/engine.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/inform_manager.h"
#include "smd/sa/server.h"
#include "smd/sa/service_manager.h"
#include "tests/fuzz/decode_checks.h"
#include "tests/support/fabric_text.h"

namespace {

using namespace smd;

constexpr std::uint16_t kMlids = 4;

std::shared_ptr<const sa::SubnetView> small_subnet() {
  auto built = std::make_shared<Fabric>(test::fabric_from("H1-S1 H2-S1 S1-S2 H3-S2"));
  for (PortInfo& info : built->port_info) info.mtu_cap = 5;
  for (SwitchInfo& info : built->switch_info) info.multicast_fdb_cap = kMlids;
  const std::shared_ptr<const Fabric> fabric = built;
  auto lids = std::make_shared<const LidMap>(test::lids_in_order(*fabric, 1));
  auto tables = std::make_shared<const RoutingTables>(
      find_engine("updn")->compute(*fabric, *lids, {}).value());
  return std::make_shared<const sa::SubnetView>(
      sa::ViewParts{.fabric = fabric, .lids = lids, .routing = tables, .trust_key = SmKey{1}});
}

struct Wire final : Transport {
  [[nodiscard]] LocalPort local_port() const override { return {}; }

  Result<void> send(const MadPacket& packet) override {
    // Nothing goes out but answers and reports.
    const auto method = std::to_integer<unsigned>(packet.mad[3]);
    fuzz::require((method & 0x80) != 0 || method == 0x06);
    return {};
  }

  void set_handlers(Receive r, Lost) override { receive = std::move(r); }

  Result<void> set_is_sm(bool) override { return {}; }

  Receive receive;
};

/// Members exist, and every group has one who keeps it.
void check_groups(const GroupTable& groups, const SubnetLimits& realm) {
  for (const auto& [mgid, group] : groups.groups()) {
    fuzz::require(group.mlid >= kFirstMlid && group.mlid.value() < kFirstMlid.value() + kMlids);
    bool kept = false;
    for (const auto& member : group.members) {
      const std::uint8_t state = member.second.join_state;
      fuzz::require(realm.find_port(port_of(member)).has_value() && state != 0);
      kept = kept || join_state::keeps_group(state);
    }
    fuzz::require(kept);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto view = small_subnet();
  sim::SimRuntime runtime;
  Wire wire;
  sa::Server server(runtime, wire);
  sa::InformManager inform(
      runtime,
      [&server](const MadPacket& packet) { return server.send_request(packet); },
      [] {},
      {.table = {.all = 16, .of_one_port = 8}});
  sa::ServiceManager services(runtime, [] {}, {.all = 8, .of_one_port = 4});
  static const SnapshotLimits realm({.fabric = view->parts().fabric, .lids = view->parts().lids});
  GroupTable groups;
  const MftMemory tables;
  sa::GroupManager members({.groups = groups,
                            .tables = tables,
                            .subnet = []() -> const SubnetLimits* { return &realm; },
                            .on_changed = [] {}});
  server.add_manager(members);
  server.add_manager(inform);
  server.add_manager(services);
  server.on_answer([&inform](const MadPacket& packet) { inform.on_answer(packet); });
  server.adopt(view);
  inform.adopt(view);
  const auto bytes = fuzz::as_bytes(data, size);
  for (std::size_t at = 0; at < bytes.size(); at += kMadSize) {
    const auto piece = bytes.subspan(at, std::min(kMadSize, bytes.size() - at));
    MadPacket packet{.local_qp = 1, .remote_qp = 1};
    std::ranges::copy(piece, packet.mad.begin());
    const auto dice = std::to_integer<unsigned>(piece.back());
    packet.remote_lid = Lid{static_cast<std::uint16_t>(1 + dice % 4)};
    wire.receive(packet);
    if (dice % 16 == 8) inform.tell(sa::TrapEvent{link_state_notice(Lid{2})});
    if (dice % 8 == 0) runtime.run_until(runtime.now() + std::chrono::milliseconds(dice * 4));
  }
  runtime.run_until(runtime.now() + std::chrono::minutes(2));
  fuzz::require(server.transfers() == 0 && server.half_open() == 0 && server.waiting() == 0);
  fuzz::require(inform.reporter().at_rest() && inform.table().count() <= 16);
  fuzz::require(services.table().all().size() <= 8);
  check_groups(groups, realm);
  return 0;
}
