// Two machines with a manager and an administration each, the standby with a copy of what its
// master keeps, and hosts that leave something with them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "smd/daemon/session.h"
#include "smd/daemon/standby_replication.h"
#include "smd/replica/link.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/server.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"
#include "smd/state/record_store.h"
#include "tests/support/managers.h"
#include "tests/support/memory_network.h"
#include "tests/support/sa_request.h"

namespace smd::test {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

/// A machine with a manager, as the daemon wires one.
struct Machine {
  Machine(TimedFabric& on, MemoryNetwork& network, const std::string& name)
      : loop(on.runtime),
        fabric(on.fabric),
        net(network),
        node(on.node(name)),
        dialer(net.dialer(loop)) {}

  ~Machine() { kill(); }

  void start(Settings settings, const std::string& name, const std::string& peer) {
    kill();
    address = name;
    prefix = settings.ports.subnet_prefix;
    transport.emplace(fabric, node, PortNum{1});
    tap.emplace(*transport);
    tap->on_send = [this](const Smp& smp) {
      if (on_multicast && is_about(smp, AttributeId::MulticastForwardingTable)) on_multicast(smp);
      if (smp.method != Method::Set) return true;
      if (is_about(smp, AttributeId::LinearForwardingTable)) ++lft_sets;
      if (is_about(smp, AttributeId::MulticastForwardingTable)) ++mft_sets;
      if (is_about(smp, AttributeId::SlToVlMappingTable)) ++row_sets;
      if (on_set) on_set(smp);
      return true;
    };
    store.emplace(kept);
    store->changed().subscribe([this](const StateKind& kind) {
      kept = store->get();
      replication->note_change(kind);
    });
    replication.emplace(
        loop, *dialer, std::vector<std::string>{peer}, [this] { return wall(); }, *store);
    net.listen(name, loop, [this](auto stream) { replication->accept(std::move(stream)); });
    SubnetManager::Observer observer;
    observer.standby_is_behind = [this](Guid standby) { return replication->is_behind(standby); };
    observer.on_role = [this](SmState) { replication->note_role(&manager(), prefix); };
    session.emplace(loop,
                    *tap,
                    std::move(settings),
                    SaConfig{},
                    *store,
                    Session::Hooks{.observer = observer, .wall_ms = [this] { return wall(); }});
    session->start();
  }

  void kill() {
    net.close(address);
    replication.reset();
    session.reset();
    store.reset();
    tap.reset();
    transport.reset();
  }

  [[nodiscard]] SubnetManager& manager() { return session->manager(); }

  /// What clients left with it, or, while it stands by, with the master.
  [[nodiscard]] ClientRecords records() { return store->records().collect(); }

  [[nodiscard]] SmState state() { return manager().election().state(); }

  [[nodiscard]] std::int64_t wall() const {
    return clock_error_ms +
           std::chrono::duration_cast<std::chrono::milliseconds>(loop.now() - TimePoint{}).count();
  }

  sim::SimRuntime& loop;
  sim::SimFabric& fabric;
  MemoryNetwork& net;
  std::uint32_t node;
  std::unique_ptr<replica::Dialer> dialer;
  std::string address;
  std::uint64_t prefix = 0;
  std::int64_t clock_error_ms = 1'700'000'000'000;
  PersistentState kept;  // on its disk
  std::optional<sim::SimTransport> transport;
  std::optional<SmpTap> tap;
  std::optional<StateStore> store;
  std::optional<StandbyReplication> replication;
  std::optional<Session> session;
  std::uint64_t lft_sets = 0, mft_sets = 0, row_sets = 0;
  std::function<void(const Smp&)> on_set;
  std::function<void(const Smp&)> on_multicast;  // entries, read or written
};

struct Succession : ::testing::Test, TimedFabric {
  static constexpr const char* kNames[] = {"host-00002", "host-00003", "host-00005", "host-00006"};

  Succession() : TimedFabric(spec_of("fat-tree:k=4,levels=2")) {}

  void SetUp() override {
    net.on_send = [this](std::string_view bytes) { count_copies(bytes); };
    first.start(settings_of(9), "first", "second");
    ASSERT_TRUE(settle(first));
    second.start(settings_of(2), "second", "first");
    ASSERT_TRUE(run_until([&] { return second.state() == SmState::Standby; }));
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      auto host = std::make_unique<sim::SimTransport>(fabric, node_of(i), PortNum{1});
      host->set_handlers([this](const MadPacket& packet) { on_packet(packet); },
                         [](const Error&) {});
      hosts.push_back(std::move(host));
    }
  }

  static Settings settings_of(unsigned priority) {
    Settings settings = manager_settings(priority);
    settings.sweep_interval = 1s;
    return settings;
  }

  bool run_until(const std::function<bool()>& done, Duration limit = 60s) {
    return TimedFabric::run_until(done, limit);
  }

  bool settle(Machine& machine) {
    return run_until([&] {
      return machine.state() == SmState::Master && machine.manager().last_cycle() != nullptr &&
             machine.manager().last_cycle()->up() && machine.manager().at_rest();
    });
  }

  /// Asks whom the host's own register takes for the master.
  template <class Record>
  void ask(std::size_t host,
           RecordId id,
           const Record& said,
           std::size_t size,
           std::uint64_t mask,
           Method method = Method::Set) {
    static_cast<void>(hosts.at(host)->send(
        encode_sa_request({.manager = fabric.port_info(node_of(host), PortNum{1}).master_sm_lid,
                           .transaction = ++transaction,
                           .method = method,
                           .id = id,
                           .mask = mask},
                          said,
                          size)));
    run_for(patience);
  }

  [[nodiscard]] std::uint32_t node_of(std::size_t host) const { return node(kNames[host]); }

  [[nodiscard]] Gid gid(std::size_t host) const {
    return {kDefaultSubnetPrefix, hosts.at(host)->local_port().port_guid};
  }

  void join(std::size_t host, std::uint64_t group) {
    ask(host, RecordId::McMemberRecord, joining(group, gid(host)), kMcMemberRecord.size, kJoinMask);
  }

  void leave(std::size_t host, std::uint64_t group) {
    ask(host,
        RecordId::McMemberRecord,
        McMemberRecord{.mgid = mgid(group), .port_gid = gid(host), .join_state = 1},
        kMcMemberRecord.size,
        kLeaveMask,
        Method::Delete);
  }

  void subscribe(std::size_t host) {
    ask(host, RecordId::InformInfo, InformInfo{}, kInformInfoSize, 0);
  }

  void serve(std::size_t host, std::uint64_t id, std::uint32_t lease_s) {
    namespace part = service_component;
    ask(host,
        RecordId::ServiceRecord,
        ServiceRecord{.id = id, .gid = gid(host), .p_key = kDefaultPKey, .lease_s = lease_s},
        kServiceRecord.size,
        part::kId | part::kGid | part::kPKey | part::kLease);
  }

  /// The first one dies.
  void let_second_take_over() {
    first.kill();
    ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
    ASSERT_TRUE(settle(second));
  }

  /// What hosts leave with the first.
  void populate() {
    for (std::uint64_t group = 1; group <= 3; ++group) {
      for (std::size_t host = 0; host < hosts.size(); ++host)
        if ((host + group) % 3 != 0) join(host, group);
    }
    subscribe(0);
    serve(1, 77, 1000);
    serve(2, 78, kForever);
    run_for(1s);
  }

  void on_packet(const MadPacket& packet) {
    const SaHeader header = *decode_sa_header(packet.mad);
    if (header.mad.method == static_cast<std::uint8_t>(Method::Report)) ++reports;
    answers[header.mad.transaction_id] = packet;
  }

  /// Of what clients left.
  void count_copies(std::string_view bytes) {
    static_cast<void>(replica::FrameReader{}.feed(std::as_bytes(std::span(bytes)),
                                                  [this](const replica::Frame& frame) {
                                                    if (!frame.body.starts_with("records\n"))
                                                      return true;
                                                    if (frame.kind == replica::FrameKind::Part)
                                                      ++whole_copies;
                                                    if (frame.kind == replica::FrameKind::Changes)
                                                      ++change_copies;
                                                    return true;
                                                  }));
  }

  /// All registers that say where packets go.
  [[nodiscard]] std::vector<PortInfo> ports() const {
    std::vector<PortInfo> out;
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n)
      out.push_back(fabric.port_info(
          n,
          PortNum{
              static_cast<std::uint8_t>(fabric.spec().nodes[n].type == NodeType::Switch ? 0 : 1)}));
    return out;
  }

  [[nodiscard]] std::vector<Lid> lids() const {
    std::vector<Lid> out;
    for (const PortInfo& info : ports()) out.push_back(info.lid);
    return out;
  }

  MemoryNetwork net;
  Machine first{*this, net, "host-00000"};
  Machine second{*this, net, "host-00007"};
  std::vector<std::unique_ptr<sim::SimTransport>> hosts;
  std::uint64_t transaction = 0;
  Duration patience = 20ms;  // after each request
  unsigned reports = 0;
  unsigned whole_copies = 0;                   // of all that clients left with a master
  unsigned change_copies = 0;                  // of what changed
  std::map<std::uint64_t, MadPacket> answers;  // by transaction
};

}  // namespace smd::test
