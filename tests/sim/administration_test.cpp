// A host asks the administration over the simulated fabric, in virtual time: tables by RMPP through
// lossy switches, and answers while the manager sweeps.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim-backend/agents/node_state.h"
#include "smd/base/bytes.h"
#include "smd/base/rng.h"
#include "smd/daemon/administration.h"
#include "smd/daemon/client_ports.h"
#include "smd/ib/rates.h"
#include "smd/report/sa_query.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/rmpp.h"
#include "smd/sa/server.h"
#include "tests/support/sa_request.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace administration_test {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A manager and its administration, as the daemon wires them.
struct Life : SimulatedManager {
  /// After a former life that left `left`.
  explicit Life(TimedFabric& on, const ClientRecords& left = {})
      : SimulatedManager(on, {.settings = quiet_settings()}),
        under(on),
        administration(
            on.runtime, split.general(), {.on_change = [] {}, .on_aliases = [this] { adopt(); }}),
        aliases(manager.client()),
        clients(manager.client()) {
    manager.came_up().subscribe([this](const SubnetManager::PortsUp& up) {
      aliases.forget(up.fabric, up.ports);
      clients.note_came_up(up.fabric, up.ports);
    });
    manager.active().subscribe([this](const auto&) {
      adopt();
      ++views;
    });
    manager.noticed().subscribe(
        [this](const Notice& notice) { administration.tell(TrapEvent{notice}); });
    administration.restore(left);
    clients.restore(left);
    tap.on_send = [this](const Smp& smp) {
      if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo)) {
        reregistrations += decode_port_info(smp.data)->client_reregister ? 1 : 0;
        plain_sets += decode_port_info_modifier(smp.attribute_modifier).extended_speeds ? 0 : 1;
      }
      return true;
    };
  }

  void adopt() {
    const std::vector<Guid> before = administration.inform().in_service();
    administration.adopt(make_view(manager, administration.aliases()));
    aliases.write(*manager.in_force(), administration.aliases(), MKey{});
    clients.call(*manager.in_force(), before, administration.inform().in_service(), MKey{});
  }

  bool start() {
    manager.start();
    return settle();
  }

  bool settle() {
    return under.run_until([this] { return manager.at_rest() && views > 0; }, 60s);
  }

  TimedFabric& under;
  Administration administration;
  AliasWriter aliases;
  ClientReregistration clients;
  std::size_t reregistrations = 0;  // Sets that ask for one
  std::size_t plain_sets = 0;       // of PortInfo, without bit 31 of the modifier
  unsigned views = 0;
};

struct Managed : TimedFabric, Life {
  explicit Managed(const std::string& fabric_text)
      : TimedFabric(spec_of(fabric_text)), Life(static_cast<TimedFabric&>(*this)) {}
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
  void ask(Method method, RecordId id, std::uint64_t mask, const Record& wanted, std::size_t size) {
    const MadPacket packet = encode_sa_request({.manager = manager_lid(),
                                                .transaction = ++transaction_,
                                                .method = method,
                                                .id = id,
                                                .mask = mask},
                                               wanted,
                                               size);
    asked_[transaction_] = managed_.runtime.now();
    static_cast<void>(transport_.send(packet));
  }

  [[nodiscard]] Duration slowest() const { return slowest_; }

  [[nodiscard]] std::size_t unanswered() const { return asked_.size(); }

  std::optional<RmppReceiver> table;
  std::vector<SaHeader> answers;
  std::vector<Notice> reports;  // that were answered, unless `deaf`
  bool deaf = false;

 private:
  [[nodiscard]] Lid manager_lid() const {
    const ActiveSubnet& now = *managed_.manager.in_force();
    return now.lids->base[now.fabric().sm_port];
  }

  void send(const MadBytes& mad) {
    static_cast<void>(
        transport_.send({.remote_lid = manager_lid(), .local_qp = 1, .remote_qp = 1, .mad = mad}));
  }

  void on_packet(const MadPacket& packet) {
    const SaHeader header = *decode_sa_header(packet.mad);
    if (const auto found = asked_.find(header.mad.transaction_id); found != asked_.end()) {
      slowest_ = std::max(slowest_, managed_.runtime.now() - found->second);
      asked_.erase(found);
      answers.push_back(header);
    }
    if (header.mad.method == static_cast<std::uint8_t>(Method::Report)) return on_report(packet);
    if (!header.rmpp.active()) return;
    if (!table)
      table.emplace(
          header, RmppReceiverLimits{.most_bytes = 1u << 20}, RmppTiming{}, managed_.runtime.now());
    table->on_segment(
        header, std::span<const std::byte, kMadSize>(packet.mad).subspan<kHeaderSize, kDataSize>());
    MadBytes mad{};
    while (table->next(mad)) send(mad);
  }

  void on_report(const MadPacket& packet) {
    if (deaf) return;
    reports.push_back(*decode_notice(std::span(packet.mad).subspan(kHeaderSize, kSmpDataSize)));
    MadBytes mad = packet.mad;
    mad[3] = std::byte{0x86};
    send(mad);
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
  ASSERT_TRUE(managed.start());
  managed.fabric.set_wire_faults({.drop = 0.03});
  Host host(managed, "host-00009");
  host.ask(Method::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, kNodeRecord.size);
  ASSERT_TRUE(managed.run_until(
      [&] { return host.table && host.table->state() != RmppState::Running; }, 40s));
  ASSERT_EQ(host.table->state(), RmppState::Done);
  EXPECT_GT(managed.administration.server().stats().segments_resent, 0u) << "nothing got lost";
  const std::vector<std::byte>& data = host.table->data();
  ASSERT_EQ(data.size(), managed.fabric.spec().nodes.size() * kNodeRecord.size);
  for (std::size_t at = 0; at < data.size(); at += kNodeRecord.size)
    EXPECT_NE(decode_node_record(std::span(data).subspan(at))->description, "");
}

TEST(Administration, ASweepMakesNobodyWait) {
  Managed managed(kFabric);
  ASSERT_TRUE(managed.start());
  Host host(managed, "host-00009");
  const PathRecord wanted{.dlid = Lid{1}, .slid = Lid{3}};
  const auto ask = [&] {
    host.ask(Method::Get,
             RecordId::PathRecord,
             path_component::kSlid | path_component::kDlid,
             wanted,
             kPathRecordSize);
  };
  ask();
  managed.run_for(1s);
  ASSERT_EQ(host.answers.size(), 1u);
  const Duration at_rest = host.slowest();

  managed.manager.request_sweep("test");
  std::size_t asked = 0;
  while (!managed.manager.at_rest()) {
    ask();
    ++asked;
    managed.run_for(std::chrono::microseconds(50));
  }
  managed.run_for(1s);
  EXPECT_GT(asked, 5u);
  EXPECT_EQ(host.unanswered(), 0u);
  for (const SaHeader& answer : host.answers) EXPECT_EQ(answer.mad.status, 0);
  // SMPs share switches and the manager's loop with it, and no more.
  EXPECT_LT(host.slowest(), at_rest + Duration{1ms});
}

TEST(Administration, AChangeShowsWhenItsCycleHasEnded) {
  Managed managed(kFabric);
  ASSERT_TRUE(managed.start());
  Host host(managed, "host-00009");
  const ActiveSubnet before = *managed.manager.in_force();
  const PortIdx victim = before.lids->owner_of(before.lids->top);
  const NodeRecord wanted{.lid = before.lids->base[victim]};
  const auto status = [&] {
    host.ask(Method::Get, RecordId::NodeRecord, 1, wanted, kNodeRecord.size);
    managed.run_for(1s);
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

/// Over lossy switches: a report may come twice, but none is missing and they come in order.
TEST(Administration, SubscribersHearWhoWentAndWhoCame) {
  Managed managed(kFabric);
  ASSERT_TRUE(managed.start());
  Host host(managed, "host-00009");
  Host dead(managed, "host-00002");
  dead.deaf = true;
  for (Host* each : {&host, &dead})
    each->ask(Method::Set, RecordId::InformInfo, 0, InformInfo{}, kInformInfoSize);
  managed.run_for(1s);
  ASSERT_EQ(managed.administration.inform().table().count(), 2u);
  managed.fabric.set_wire_faults({.drop = 0.03});
  const std::uint32_t victim = sim::find_node(managed.fabric.spec(), "host-00005");
  const Guid guid = managed.fabric.spec().nodes[victim].ports[1].guid;
  for (const bool up : {false, true, false}) {
    managed.fabric.set_node(victim, up);
    managed.manager.request_sweep("test");
    ASSERT_TRUE(managed.settle());
    managed.run_for(30s);
  }
  std::vector<std::uint16_t> about;
  std::size_t links = 0;
  for (const Notice& notice : host.reports) {
    if (notice.trap_or_device == smd::trap::kLinkState) ++links;
    ByteReader in(std::as_bytes(std::span(notice.details)).subspan(14));
    if (notice.trap_or_device > 65 || Guid{in.u64()} != guid) continue;
    if (about.empty() || about.back() != notice.trap_or_device)
      about.push_back(notice.trap_or_device);
  }
  EXPECT_EQ(about, (std::vector<std::uint16_t>{65, 64, 65}));
  EXPECT_GE(links, 3u) << "the switch said so each time";
  EXPECT_EQ(managed.administration.inform().table().count(), 1u) << "the dead is given up";
  EXPECT_LE(managed.administration.inform().reporter().stats().resent, 30u);
}

/// On one fabric, one manager after the other: hosts are asked to register with one that does not
/// know them, and only then.
TEST(Administration, ClientsAreAskedToRegisterAgainWithAManagerThatIsNewToThem) {
  TimedFabric ground(spec_of(std::string(kFabric) + ",speed=NDR"));
  ClientRecords kept;
  std::size_t hosts = 0;
  {
    Life first(ground);
    ASSERT_TRUE(first.start());
    hosts = first.manager.last_cycle()->counts.cas;
    EXPECT_GE(first.reregistrations, hosts) << "all came up";
    const std::size_t before = first.reregistrations;
    first.manager.request_sweep("test");
    ASSERT_TRUE(first.settle());
    EXPECT_EQ(first.reregistrations, before) << "a sweep is no reason";
    kept = first.administration.collect();
  }
  const auto asked_by_the_next = [&ground](const ClientRecords& left) {
    Life next(ground, left);
    EXPECT_TRUE(next.start());
    ground.run_for(1s);
    EXPECT_EQ(next.clients.asked(), next.reregistrations);
    EXPECT_EQ(next.plain_sets, 0u) << "devices announce extended speeds";
    EXPECT_EQ(next.clients.without_owed(next.administration.inform().in_service()).size(),
              next.administration.inform().in_service().size());
    return next.reregistrations;
  };
  EXPECT_EQ(asked_by_the_next(kept), 0u);
  EXPECT_GE(asked_by_the_next({}), hosts) << "nothing is known of anybody";
  kept.complete = false;
  EXPECT_GE(asked_by_the_next(kept), hosts) << "any may have left more";
  kept.complete = true;
  kept.lapsed = {kept.in_service.front()};  // an adapter
  EXPECT_EQ(asked_by_the_next(kept), 1u);
  kept.lapsed.clear();
  kept.in_service.erase(kept.in_service.begin());
  EXPECT_EQ(asked_by_the_next(kept), 1u);
}

/// A port asks for further GUIDs: they are in its registers and in paths, also after it rebooted.
TEST(Administration, PortsHaveFurtherGuids) {
  Managed managed(kFabric);
  ASSERT_TRUE(managed.start());
  Host host(managed, "host-00009");
  const std::uint32_t node = sim::find_node(managed.fabric.spec(), "host-00009");
  const Guid own = managed.fabric.spec().nodes[node].ports[1].guid;
  const Guid asked{0x00aa'0000'0000'0009};
  const Lid lid = managed.fabric.port_info(node, PortNum{1}).lid;
  GuidInfoRecord record{.lid = lid};
  record.guids[2] = asked;
  // Entry 1 is ours to choose, entry 2 is named.
  host.ask(Method::Set, RecordId::GuidInfoRecord, 0x3 | 0x60, record, kGuidInfoRecord.size);
  const auto wait = [&] { managed.run_for(1s); };
  wait();
  ASSERT_EQ(host.answers.back().mad.status, 0);
  const auto aliases = managed.administration.aliases().at(own);
  ASSERT_EQ(aliases.size(), 3u);
  EXPECT_EQ(aliases[2], asked);
  EXPECT_NE(aliases[1], Guid{});
  const auto in_register = [&](std::size_t index) {
    const std::vector<Guid>& guids = managed.fabric.node_state(node).ports[1].guids;
    return index < guids.size() ? guids[index] : Guid{};
  };
  EXPECT_EQ(in_register(2), asked);
  EXPECT_EQ(in_register(1), aliases[1]);
  const auto status_of_path = [&](Guid guid) {
    host.ask(Method::Get,
             RecordId::PathRecord,
             path_component::kSlid | path_component::kDgid,
             PathRecord{.dgid = {kDefaultSubnetPrefix, guid}, .slid = lid},
             kPathRecordSize);
    wait();
    return host.answers.back().mad.status;
  };
  EXPECT_EQ(status_of_path(asked), 0);
  EXPECT_EQ(status_of_path(aliases[1]), 0);
  EXPECT_EQ(status_of_path(Guid{0xbad}), 0x0500);
  // It reboots, and has forgotten.
  managed.fabric.reboot_node(node, Duration{100ms});
  managed.run_for(5s);
  managed.manager.request_sweep("test");
  ASSERT_TRUE(managed.settle());
  wait();
  EXPECT_EQ(in_register(2), asked);
  EXPECT_EQ(managed.aliases.pending(), 0u);
  host.ask(Method::Delete, RecordId::GuidInfoRecord, 0x3 | 0x40, record, kGuidInfoRecord.size);
  wait();
  EXPECT_EQ(host.answers.back().mad.status, 0);
  EXPECT_EQ(status_of_path(asked), 0x0500);
  EXPECT_EQ(in_register(2), Guid{});
}

/// What comes while a Set of the same block is under way.
TEST(Administration, OfFurtherGuidsTheLastWordIsInTheRegisters) {
  Managed managed(kFabric);
  ASSERT_TRUE(managed.start());
  Host host(managed, "host-00009");
  const std::uint32_t node = sim::find_node(managed.fabric.spec(), "host-00009");
  GuidInfoRecord record{.lid = managed.fabric.port_info(node, PortNum{1}).lid};
  record.guids[1] = Guid{0xaa01};
  record.guids[2] = Guid{0xaa02};
  constexpr std::uint64_t kLidAndBlock = 0x3, kFirst = 0x20, kSecond = 0x40;
  const auto ask = [&](Method method, std::uint64_t entries) {
    host.ask(
        method, RecordId::GuidInfoRecord, kLidAndBlock | entries, record, kGuidInfoRecord.size);
  };
  const auto in_register = [&](std::size_t index) {
    const std::vector<Guid>& guids = managed.fabric.node_state(node).ports[1].guids;
    return index < guids.size() ? guids[index] : Guid{};
  };
  ask(Method::Set, kFirst);
  ask(Method::Set, kSecond);
  managed.run_for(1s);
  EXPECT_EQ(in_register(1), Guid{0xaa01});
  EXPECT_EQ(in_register(2), Guid{0xaa02});
  ask(Method::Delete, kFirst | kSecond);
  managed.run_for(1s);
  ASSERT_EQ(in_register(1), Guid{});
  ask(Method::Set, kFirst);
  ask(Method::Delete, kFirst);
  managed.run_for(1s);
  EXPECT_EQ(in_register(1), Guid{});
  EXPECT_EQ(managed.aliases.pending(), 0u);
}

TEST(Administration, SmctlAsksByFieldName) {
  using Json = nlohmann::json;
  Managed managed(kFabric);
  const auto ask = [&](const Json& args) {
    return answer_sa_command(managed.administration.server(), args);
  };
  EXPECT_EQ(ask({{"record", "NodeRecord"}}).error().code, Errc::Busy);
  ASSERT_TRUE(managed.start());
  const std::size_t nodes = managed.fabric.spec().nodes.size();
  EXPECT_EQ(ask({{"record", "noderecord"}}).value().at("count"), nodes);
  const Json few = ask({{"record", "NR"}, {"limit", 3u}}).value();
  EXPECT_EQ(few.at("records").size(), 3u);
  EXPECT_EQ(few.at("count"), nodes);
  const Json one = ask({{"record", "NR"}, {"where", {{"description", "host-00009"}}}}).value();
  ASSERT_EQ(one.at("count"), 1);
  const Json& host = one.at("records").at(0);
  const auto& spec =
      managed.fabric.spec().nodes[sim::find_node(managed.fabric.spec(), "host-00009")];
  EXPECT_EQ(host.at("port_guid"), fmt::format("{}", spec.ports[1].guid));
  EXPECT_EQ(host.at("node_type"), 1);
  const std::string lid = std::to_string(host.at("lid").get<unsigned>());
  const Json path = ask({{"record", "PR"}, {"where", {{"slid", lid}, {"dlid", "0x1"}}}}).value();
  ASSERT_EQ(path.at("count"), 1);
  EXPECT_EQ(path.at("records").at(0).at("dlid"), 1);
  const std::string gid = path.at("records").at(0).at("sgid");
  EXPECT_EQ(gid.substr(0, 6), "fe80::");
  EXPECT_EQ(ask({{"record", "PR"}, {"where", {{"sgid", gid}, {"dlid", "1"}}}}).value().at("count"),
            1);
  const Json port = ask({{"record", "PIR"}, {"where", {{"endport_lid", lid}}}}).value();
  EXPECT_EQ(port.at("records").at(0).at("port_state"), 4);
  EXPECT_FALSE(port.at("records").at(0).contains("m_key"));
  const auto refused = [&](const Json& args) { return ask(args).error().context; };
  EXPECT_NE(refused({{"record", "what"}}).find("there are: NodeRecord"), std::string::npos);
  EXPECT_EQ(ask({{"record", "PR"}, {"where", {{"sgid", gid}, {"dlid", 1u}}}}).value().at("count"),
            1)
      << "numbers will do";
  EXPECT_EQ(refused({{"record", "NR"}, {"where", {{"lid", -1}}}}),
            "lid: a condition is a text or a number from 0");
  EXPECT_NE(refused({{"record", "NR"}, {"where", {{"what", "1"}}}}).find("it has: lid"),
            std::string::npos);
  EXPECT_EQ(refused({{"record", "NR"}, {"where", {{"lid", "65536"}}}}),
            "lid: '65536' is no number of 16 bits");
  EXPECT_NE(refused({{"record", "PR"}, {"where", {{"dgid", "fe80::1"}}}}).find("0x0500"),
            std::string::npos);
}

TEST(Administration, SmctlGetsNoMoreRecordsThanTheLoopHasTimeFor) {
  using Json = nlohmann::json;
  Managed managed("fat-tree:k=16,levels=2");
  ASSERT_TRUE(managed.start());
  const auto ask = [&](std::uint64_t limit) {
    return answer_sa_command(managed.administration.server(), {{"record", "PR"}, {"limit", limit}})
        .value();
  };
  const Json most = ask(1'000'000);
  EXPECT_GT(most.at("count"), 12'000u);
  EXPECT_GT(most.at("records").size(), 1'000u);
  EXPECT_LE(most.at("records").size(), 10'000u);
  EXPECT_LE(most.at("records").dump().size(), std::size_t{5} << 20);
  EXPECT_TRUE(most.at("limited"));
  const Json few = ask(1'000);
  EXPECT_EQ(few.at("records").size(), 1'000u);
  EXPECT_FALSE(few.contains("limited"));
}

/// Agents show the speed of such a link to who asks with bit 31 of PortInfo's modifier, and to
/// nobody else.
TEST(Administration, PathsSayTheRateOfNdrLinks) {
  using Json = nlohmann::json;
  for (const auto& [name, speed] :
       {std::pair{"NDR", LinkSpeed::Ndr}, std::pair{"XDR", LinkSpeed::Xdr}}) {
    Managed managed(fmt::format("fat-tree:k=4,levels=2,speed={}", name));
    ASSERT_TRUE(managed.start());
    const auto expect_rates = [&](const char* when) {
      const ActiveSubnet& now = *managed.manager.in_force();
      for (const PortIdx port : now.fabric().peer.indices()) {
        if (now.fabric().peer[port] == kNone<PortIdx>) continue;
        EXPECT_EQ(link_speed(now.fabric(), port), speed) << when;
      }
      const Json path =
          answer_sa_command(
              managed.administration.server(),
              {{"record", "PR"},
               {"where", {{"slid", "1"}, {"dlid", fmt::format("{}", now.lids->top)}}}})
              .value();
      ASSERT_EQ(path.at("count"), 1) << when;
      EXPECT_EQ(path.at("records").at(0).at("rate"), rate_code(LinkWidth::X4, speed)) << when;
    };
    expect_rates("at first");
    for (const bool up : {false, true}) {
      managed.fabric.set_link(managed.node("sw-0-1"), PortNum{3}, up);
      managed.run_for(2s);
      ASSERT_TRUE(managed.settle());
      expect_rates(up ? "with the cable again" : "without a cable");
    }
    managed.manager.request_sweep("test");
    managed.run_for(2s);
    ASSERT_TRUE(managed.settle());
    expect_rates("after a sweep");
  }
}

/// What a manager says that never asks so: the speed of the classic fields.
TEST(Administration, PathsWouldBeSlowerWithoutBit31OfTheModifier) {
  Managed managed("fat-tree:k=4,levels=2,speed=NDR");
  constexpr std::uint32_t kBit = 1u << 31;
  std::set<std::uint64_t> cleared;  // by transaction; a client takes answers to what it asked alone
  managed.tap.edit_sent = [&](Smp& smp) {
    if (!is_about(smp, AttributeId::PortInfo) || (smp.attribute_modifier & kBit) == 0) return;
    smp.attribute_modifier &= ~kBit;
    cleared.insert(smp.transaction_id);
  };
  managed.tap.on_receive = [&](Smp& smp) {
    if (cleared.contains(smp.transaction_id)) smp.attribute_modifier |= kBit;
    return true;
  };
  ASSERT_TRUE(managed.start());
  ASSERT_NE(managed.manager.in_force(), nullptr);
  EXPECT_GT(cleared.size(), 0u);
  const ActiveSubnet& now = *managed.manager.in_force();
  for (const PortIdx port : now.fabric().peer.indices()) {
    if (now.fabric().peer[port] == kNone<PortIdx>) continue;
    EXPECT_EQ(link_speed(now.fabric(), port), LinkSpeed::Qdr);
  }
  const auto path = answer_sa_command(
      managed.administration.server(),
      {{"record", "PR"}, {"where", {{"slid", "1"}, {"dlid", fmt::format("{}", now.lids->top)}}}});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->at("records").at(0).at("rate"), rate_code(LinkWidth::X4, LinkSpeed::Qdr));
}

/// What is printed of a field is what is read into it, and nothing beside it changes.
TEST(Administration, FieldsOfRecordsReadWhatTheyPrint) {
  Rng rng(7);
  for (const SaRecordText& record : sa_records()) {
    std::vector<std::byte> bytes(record.size);
    for (std::byte& each : bytes) each = static_cast<std::byte>('a' + rng.below(20));
    std::vector<std::byte> copy(record.size);
    for (const SaField& field : record.fields) {
      const nlohmann::json shown = print_sa_field(field, bytes);
      if (shown.is_array()) continue;
      const std::string text = shown.is_string() ? shown.get<std::string>() : shown.dump();
      const std::vector<std::byte> before = copy;
      ASSERT_TRUE(parse_sa_field(field, text, copy)) << record.name << " " << field.name;
      EXPECT_EQ(print_sa_field(field, copy), shown) << record.name << " " << field.name;
      for (unsigned bit = 0; bit < 8 * record.size; ++bit) {
        const bool inside = bit >= field.place.first && bit < field.place.first + field.place.width;
        const auto one = [bit](const std::vector<std::byte>& of) {
          return (of[bit / 8] & (std::byte{0x80} >> bit % 8)) != std::byte{0};
        };
        ASSERT_EQ(one(copy), inside ? one(bytes) : one(before)) << record.name << " " << field.name;
      }
    }
  }
}

}  // namespace administration_test
}  // namespace smd::test
