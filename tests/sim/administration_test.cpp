// A host asks the administration over the simulated fabric, in virtual time: tables by RMPP through
// lossy switches, and answers while the manager sweeps.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "smd/app/administration.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_record.h"
#include "smd/sa/rmpp_receiver.h"
#include "smd/sa/server.h"
#include "smd/transport/class_split.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A manager and its administration, as the daemon wires them.
struct Managed {
  explicit Managed(const std::string& fabric_text)
      : fabric(runtime, spec_of(fabric_text), sim::Timing::modern(), 1),
        transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
        split(transport),
        server(runtime, split.general()),
        manager(runtime, split.subnet(), quiet_settings(), {}, observer()) {}

  /// Looks at the fabric when it is told to.
  static app::Settings quiet_settings() {
    app::Settings settings = WorldOptions::default_settings();
    settings.sweep_interval = Duration{0};
    return settings;
  }

  app::SubnetManager::Observer observer() {
    app::SubnetManager::Observer out;
    out.on_known = [this] {
      server.adopt(app::make_view(manager, transport.local_port()));
      ++views;
    };
    return out;
  }

  bool settle() {
    return runtime.run_while_not([this] { return manager.at_rest() && views > 0; },
                                 runtime.now() + Duration{60s});
  }

  sim::SimRuntime runtime;
  sim::SimFabric fabric;
  sim::SimTransport transport;
  ClassSplit split;
  Server server;
  app::SubnetManager manager;
  unsigned views = 0;
};

/// Software on another host: asks, acknowledges, and keeps what comes back.
class Host {
 public:
  Host(Managed& managed, const std::string& name)
      : managed_(managed),
        transport_(managed.fabric, sim::find_node(managed.fabric.spec(), name), PortNum{1}) {
    transport_.set_handlers([this](const MadPacket& packet) { on_packet(packet); },
                            [](const Error&) {});
  }

  template <class Record>
  void ask(
      SaMethod method, RecordId id, std::uint64_t mask, const Record& wanted, std::size_t size) {
    const SaHeader header{.mad = {.mgmt_class = 3,
                                  .class_version = kClassVersion,
                                  .method = static_cast<std::uint8_t>(method),
                                  .transaction_id = ++transaction_,
                                  .attribute_id = static_cast<std::uint16_t>(id)},
                          .component_mask = mask};
    MadBytes mad{};
    encode_sa_header(header, mad);
    encode_record(wanted, std::span(mad).subspan(kHeaderSize, size));
    asked_[transaction_] = managed_.runtime.now();
    send(mad);
  }

  [[nodiscard]] Duration slowest() const { return slowest_; }

  [[nodiscard]] std::size_t unanswered() const { return asked_.size(); }

  std::optional<RmppReceiver> table;
  std::vector<SaHeader> answers;

 private:
  void send(const MadBytes& mad) {
    const InForce& now = *managed_.manager.in_force();
    static_cast<void>(transport_.send({.remote_lid = now.lids.base[now.fabric().sm_port],
                                       .local_qp = 1,
                                       .remote_qp = 1,
                                       .mad = mad}));
  }

  using InForce = app::InForce;

  void on_packet(const MadPacket& packet) {
    const SaHeader header = *decode_sa_header(packet.mad);
    if (const auto found = asked_.find(header.mad.transaction_id); found != asked_.end()) {
      slowest_ = std::max(slowest_, managed_.runtime.now() - found->second);
      asked_.erase(found);
      answers.push_back(header);
    }
    if (!header.rmpp.active()) return;
    if (!table)
      table.emplace(
          header, RmppReceiverLimits{.most_bytes = 1u << 20}, RmppTiming{}, managed_.runtime.now());
    table->on_segment(
        header, std::span<const std::byte, kMadSize>(packet.mad).subspan<kHeaderSize, kDataSize>());
    MadBytes mad{};
    while (table->next(mad)) send(mad);
  }

  Managed& managed_;
  sim::SimTransport transport_;
  std::uint64_t transaction_ = 0;
  std::map<std::uint64_t, TimePoint> asked_;
  Duration slowest_{0};
};

constexpr const char* kFabric = "fat-tree:k=4,levels=3";

TEST(Administration, AHostLearnsEveryName) {
  Managed managed(kFabric);
  managed.manager.start();
  ASSERT_TRUE(managed.settle());
  managed.fabric.set_wire_faults({.drop = 0.03});
  Host host(managed, "host-00009");
  host.ask(SaMethod::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, kNodeRecord.size);
  ASSERT_TRUE(managed.runtime.run_while_not(
      [&] { return host.table && host.table->state() != RmppState::Running; },
      managed.runtime.now() + Duration{40s}));
  ASSERT_EQ(host.table->state(), RmppState::Done);
  EXPECT_GT(managed.server.stats().segments_resent, 0u) << "nothing got lost";
  const std::vector<std::byte>& data = host.table->data();
  ASSERT_EQ(data.size(), managed.fabric.spec().nodes.size() * kNodeRecord.size);
  for (std::size_t at = 0; at < data.size(); at += kNodeRecord.size)
    EXPECT_NE(decode_node_record(std::span(data).subspan(at))->description, "");
}

TEST(Administration, ASweepMakesNobodyWait) {
  Managed managed(kFabric);
  managed.manager.start();
  ASSERT_TRUE(managed.settle());
  Host host(managed, "host-00009");
  const PathRecord wanted{.dlid = Lid{1}, .slid = Lid{3}};
  const auto ask = [&] {
    host.ask(SaMethod::Get,
             RecordId::PathRecord,
             path_component::kSlid | path_component::kDlid,
             wanted,
             kPathRecordSize);
  };
  ask();
  managed.runtime.run_until(managed.runtime.now() + Duration{1s});
  ASSERT_EQ(host.answers.size(), 1u);
  const Duration at_rest = host.slowest();

  managed.manager.request_sweep("test");
  std::size_t asked = 0;
  while (!managed.manager.at_rest()) {
    ask();
    ++asked;
    managed.runtime.run_until(managed.runtime.now() + Duration{std::chrono::microseconds(50)});
  }
  managed.runtime.run_until(managed.runtime.now() + Duration{1s});
  EXPECT_GT(asked, 5u);
  EXPECT_EQ(host.unanswered(), 0u);
  for (const SaHeader& answer : host.answers) EXPECT_EQ(answer.mad.status, 0);
  // SMPs share switches and the manager's loop with it, and no more.
  EXPECT_LT(host.slowest(), at_rest + Duration{1ms});
}

TEST(Administration, AChangeShowsWhenItsCycleHasEnded) {
  Managed managed(kFabric);
  managed.manager.start();
  ASSERT_TRUE(managed.settle());
  Host host(managed, "host-00009");
  const app::InForce before = *managed.manager.in_force();
  const PortIdx victim = before.lids.owner_of(before.lids.top);
  const NodeRecord wanted{.lid = before.lids.base[victim]};
  const auto status = [&] {
    host.ask(SaMethod::Get, RecordId::NodeRecord, 1, wanted, kNodeRecord.size);
    managed.runtime.run_until(managed.runtime.now() + Duration{1s});
    return host.answers.back().mad.status;
  };
  EXPECT_EQ(status(), 0);
  const Fabric& fabric = before.fabric();
  const std::string name = fabric.description[fabric.node_of[victim]];
  managed.fabric.set_node(sim::find_node(managed.fabric.spec(), name), false);
  managed.manager.request_sweep("test");
  ASSERT_TRUE(managed.settle());
  EXPECT_EQ(status(), 0x0300) << name;
}

}  // namespace
}  // namespace smd::test
