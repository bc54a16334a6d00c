// Two machines with a manager and an administration each, the standby with a copy of what its
// master keeps, and hosts that leave something with them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "smd/daemon/session.h"
#include "smd/daemon/standby_replication.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/server.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"
#include "tests/support/managers.h"
#include "tests/support/memory_network.h"
#include "tests/support/world.h"

namespace smd::test {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

/// A machine with a manager, as the daemon wires one.
struct Machine {
  Machine(sim::SimRuntime& runtime, sim::SimFabric& on, MemoryNetwork& network, std::uint32_t at)
      : loop(runtime), fabric(on), net(network), node(at), dialer(net.dialer(loop)) {}

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
    replication.emplace(
        loop,
        *dialer,
        std::vector<std::string>{peer},
        [this] { return wall(); },
        StandbyReplication::Hooks{
            .own = [this]() -> const PersistentState& { return kept; },
            .records = {.collect = [this] { return session->collect(); },
                        .position = [this] { return session->record_position(); },
                        .since = [this](std::uint64_t at) { return session->record_changes(at); }},
            .take_lids = [this](LidBook book) { manager().take_lids(std::move(book)); },
            .take_turns =
                [this](std::vector<TurnRef> turns) { manager().take_turns(std::move(turns)); },
            .take_rows_mark = [this] { manager().take_rows_mark(); },
            .take_records =
                [this](const ClientRecords& records) {
                  session->take_records(records);
                  ++copies;
                },
            .take_record_changes =
                [this](std::string_view changes, std::int64_t ahead_ms) {
                  ++change_copies;
                  return session->take_record_changes(changes, ahead_ms);
                },
            .settle = [this] { manager().settle_handover(); }});
    net.listen(name, loop, [this](auto stream) { replication->accept(std::move(stream)); });
    SubnetManager::Observer observer;
    observer.on_lids = [this](const LidBook& book) {
      kept.book = book;
      replication->note_change();
    };
    observer.on_turns = [this](const std::vector<TurnRef>& turns) {
      kept.turns = turns;
      replication->note_change();
    };
    observer.standby_is_behind = [this] { return replication->standby_is_behind(); };
    observer.on_rows = [this] { kept.rows = true; };
    observer.on_role = [this](SmState) { replication->note_role(&manager().election(), prefix); };
    session.emplace(loop,
                    *tap,
                    std::move(settings),
                    SaConfig{},
                    kept,
                    ClientRecords{},
                    Session::Hooks{.observer = observer,
                                   .on_records = [this] { replication->note_change(); },
                                   .wall_ms = [this] { return wall(); }});
    session->start();
  }

  void kill() {
    net.close(address);
    replication.reset();
    session.reset();
    tap.reset();
    transport.reset();
  }

  [[nodiscard]] SubnetManager& manager() { return session->manager(); }

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
  PersistentState kept;
  std::optional<sim::SimTransport> transport;
  std::optional<SmpTap> tap;
  std::optional<StandbyReplication> replication;
  std::optional<Session> session;
  std::uint64_t lft_sets = 0, mft_sets = 0, row_sets = 0;
  std::function<void(const Smp&)> on_set;
  std::function<void(const Smp&)> on_multicast;  // entries, read or written
  unsigned copies = 0;                           // of all that clients left with the master
  unsigned change_copies = 0;                    // of what changed
};

struct Succession : ::testing::Test {
  static constexpr const char* kNames[] = {"host-00002", "host-00003", "host-00005", "host-00006"};

  void SetUp() override {
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

  [[nodiscard]] std::uint32_t node(const char* name) const {
    return sim::find_node(fabric.spec(), name);
  }

  bool run_until(const std::function<bool()>& done, Duration limit = 60s) {
    return loop.run_while_not(done, loop.now() + limit);
  }

  void pass(Duration time) { loop.run_until(loop.now() + time); }

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
    MadPacket packet{.remote_lid = fabric.port_info(node_of(host), PortNum{1}).master_sm_lid,
                     .local_qp = 1,
                     .remote_qp = 1};
    encode_sa_header({.mad = {.mgmt_class = 3,
                              .class_version = kClassVersion,
                              .method = static_cast<std::uint8_t>(method),
                              .transaction_id = ++transaction,
                              .attribute_id = static_cast<std::uint16_t>(id)},
                      .component_mask = mask},
                     packet.mad);
    encode_record(said, std::span(packet.mad).subspan(kHeaderSize, size));
    static_cast<void>(hosts.at(host)->send(packet));
    pass(patience);
  }

  [[nodiscard]] std::uint32_t node_of(std::size_t host) const { return node(kNames[host]); }

  [[nodiscard]] Gid gid(std::size_t host) const {
    return {kDefaultSubnetPrefix, hosts.at(host)->local_port().port_guid};
  }

  void join(std::size_t host, std::uint64_t group) {
    namespace part = member_component;
    ask(host,
        RecordId::McMemberRecord,
        McMemberRecord{.mgid = mgid(group),
                       .port_gid = gid(host),
                       .q_key = 0xb1b,
                       .p_key = kDefaultPKey,
                       .join_state = 1},
        kMcMemberRecord.size,
        part::kMgid | part::kPortGid | part::kJoinState | part::kQKey | part::kPKey |
            part::kTclass | part::kFlowLabel | part::kSl);
  }

  void leave(std::size_t host, std::uint64_t group) {
    namespace part = member_component;
    ask(host,
        RecordId::McMemberRecord,
        McMemberRecord{.mgid = mgid(group), .port_gid = gid(host), .join_state = 1},
        kMcMemberRecord.size,
        part::kMgid | part::kPortGid | part::kJoinState,
        Method::Delete);
  }

  static Gid mgid(std::uint64_t group) { return {0xff12401bffff0000u, Guid{group}}; }

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

  /// What hosts leave with the first.
  void populate() {
    for (std::uint64_t group = 1; group <= 3; ++group) {
      for (std::size_t host = 0; host < hosts.size(); ++host)
        if ((host + group) % 3 != 0) join(host, group);
    }
    subscribe(0);
    serve(1, 77, 1000);
    serve(2, 78, kForever);
    pass(1s);
  }

  void on_packet(const MadPacket& packet) {
    const SaHeader header = *decode_sa_header(packet.mad);
    if (header.mad.method == static_cast<std::uint8_t>(Method::Report)) ++reports;
    answers[header.mad.transaction_id] = packet;
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

  sim::SimRuntime loop;
  sim::SimFabric fabric{loop, spec_of("fat-tree:k=4,levels=2"), sim::Timing::modern(), 1};
  MemoryNetwork net;
  Machine first{loop, fabric, net, node("host-00000")};
  Machine second{loop, fabric, net, node("host-00007")};
  std::vector<std::unique_ptr<sim::SimTransport>> hosts;
  std::uint64_t transaction = 0;
  Duration patience = 20ms;  // after each request
  unsigned reports = 0;
  std::map<std::uint64_t, MadPacket> answers;  // by transaction
};

}  // namespace smd::test
