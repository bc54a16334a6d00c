// The watch over counters of switch ports, and the PathRecords that are answered by what it finds:
// counters come from packets, and from registers that are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "smd/cc/path_watch.h"
#include "smd/daemon/session.h"
#include "smd/report/subnet_json.h"
#include "smd/sa/path_finder.h"
#include "tests/support/subnet_oracles.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::test {
namespace path_watch_test {

using namespace std::chrono_literals;
using sa::kNoContention;
using sim::HostNum;
using sim::WaitCounters;
using sim::test::draw;
using sim::test::Script;
using testing::ElementsAre;

constexpr unsigned kMads = 100;  // a second
constexpr int kPackets = 4000;   // of each sender

// Between S1 and S2 there are two ways that are alike, over S3 and over S4.
//
//   H1 H2 - S1 \   / S5 - H5
//               S3
//               S4
//   H3 H4 - S2 /   \ S6 - H6
constexpr const char* kTwoWays =
    "S1-S3 S1-S4 S2-S3 S2-S4 S5-S3 S5-S4 S6-S3 S6-S4 H1-S1 H2-S1 H3-S2 H4-S2 H5-S5 H6-S6";

Settings watching(PathChoice choice = PathChoice::LeastContended) {
  Settings settings = quiet_settings();
  settings.lids.lmc = 1;
  settings.path_choice = choice;
  settings.path_watch_mads_per_s = kMads;
  settings.smp.timeout = 2ms;
  settings.smp.retries = 1;
  return settings;
}

/// A subnet with a manager on H1, and the watch as the daemon wires it.
class Watched : public SimulatedSubnet {
 public:
  explicit Watched(PathChoice choice = PathChoice::LeastContended)
      : SimulatedSubnet(spec(), {.settings = watching(choice)}),
        watch(runtime, split.performance(), order, [this] { return may_ask && at_rest(); }) {
    order.set_choice(choice, 50);
    EXPECT_TRUE(bring_up());
    adopt();
  }

  static sim::FabricSpec spec() {
    sim::FabricSpec out = draw(kTwoWays);
    for (std::uint32_t n = 0; n < out.nodes.size(); ++n) {
      if (out.nodes[n].description == "H1") out.sm_node = n;
    }
    out.sm_port = PortNum{1};
    return out;
  }

  void adopt() { watch.adopt(manager.active().current(), manager.settings()); }

  void adopt(unsigned mads_per_s) {
    Settings settings = manager.settings();
    settings.path_watch_mads_per_s = mads_per_s;
    watch.adopt(manager.active().current(), settings);
  }

  [[nodiscard]] bool is_asking() const {
    const GmpStats& mads = watch.mads();
    return mads.sent > mads.answered + mads.timeouts + watch.stats().given_up;
  }

  /// Until a request is under way whose agent does not answer. Requires: there is one.
  void run_into_silence() {
    for (int i = 0; i < 1000 && !is_asking(); ++i) {
      ASSERT_TRUE(run_until([this] { return is_asking(); }, 60s));
      run_for(1ms);
    }
    ASSERT_TRUE(is_asking());
  }

  void run_round() {
    const std::uint64_t before = watch.stats().rounds;
    ASSERT_TRUE(run_until([&] { return watch.stats().rounds > before; }, 60s));
  }

  [[nodiscard]] Guid guid(const std::string& name) const {
    return fabric.spec().nodes[node(name)].guid;
  }

  [[nodiscard]] Lid lid(const std::string& host, unsigned offset) const {
    const ActiveSubnet& now = *manager.in_force();
    const NodeIdx at = *now.fabric().find_node(guid(host));
    return Lid{static_cast<std::uint16_t>(
        now.lids->base[now.fabric().port_of(at, PortNum{1})].value() + offset)};
  }

  /// Names of the switches on the way.
  [[nodiscard]] std::vector<std::string> way(const std::string& from, Lid to) const {
    std::vector<std::string> out;
    std::uint32_t at = fabric.spec().nodes[node(from)].ports[1].peer_node;
    while (fabric.spec().nodes[at].type == NodeType::Switch && out.size() < 8) {
      out.push_back(fabric.spec().nodes[at].description);
      at = fabric.spec().nodes[at].ports[fabric.lft(at, to).value()].peer_node;
    }
    return out;
  }

  [[nodiscard]] bool passes(const std::string& from, Lid to, const std::string& sw) const {
    return std::ranges::count(way(from, to), sw) != 0;
  }

  /// Port of `sw` that leads to `to`.
  [[nodiscard]] PortNum port_to(const std::string& sw, const std::string& to) const {
    const auto& ports = fabric.spec().nodes[node(sw)].ports;
    std::uint8_t p = 1;
    while (ports[p].peer_node != node(to)) ++p;
    return PortNum{p};
  }

  /// The offset that a Get is answered.
  [[nodiscard]] unsigned ask(const std::string& from, const std::string& to) {
    const auto view = make_view(manager, {}, nullptr, nullptr, &order);
    const sa::PathRecord wanted{.dgid = {kDefaultSubnetPrefix, port_guid(to)},
                                .sgid = {kDefaultSubnetPrefix, port_guid(from)}};
    std::array<std::byte, sa::kDataSize> data{};
    sa::encode_record(wanted, std::span(data).first(sa::kPathRecordSize));
    const sa::Query query{
        .header = {.mad = {.mgmt_class = 3,
                           .class_version = sa::kClassVersion,
                           .method = static_cast<std::uint8_t>(Method::Get),
                           .transaction_id = 1,
                           .attribute_id = static_cast<std::uint16_t>(sa::RecordId::PathRecord)},
                   .component_mask = sa::path_component::kSgid | sa::path_component::kDgid},
        .data = data,
        .trusted = true};
    const sa::Answer answer = sa::find_path_records(*view, query, {});
    EXPECT_EQ(answer.count(), 1u);
    const sa::PathRecord record = sa::decode_path_record(answer.records).value();
    EXPECT_EQ(record.slid.value() - lid(from, 0).value(), record.dlid.value() - lid(to, 0).value());
    return record.dlid.value() - lid(to, 0).value();
  }

  [[nodiscard]] Guid port_guid(const std::string& host) const {
    const Fabric& now = manager.in_force()->fabric();
    return now.port_guid[now.port_of(*now.find_node(guid(host)), PortNum{1})];
  }

  [[nodiscard]] std::uint32_t contention(const std::string& sw, const std::string& to) const {
    return order.contention({guid(sw), port_to(sw, to)});
  }

  bool may_ask = true;
  sa::PathOrder order;
  PathWatch watch;
};

constexpr const char* kFlows[][2] = {{"H1", "H3"}, {"H1", "H4"}, {"H2", "H3"}, {"H2", "H4"}};

/// H4, beside H3, and H5, elsewhere, send to H3, whose link they share: what H5 sends waits on the
/// link from `over` to S2 for half of the time.
void load(Watched& subnet, const std::string& over, Duration time) {
  sim::PacketNet net(subnet.fabric.spec(), sim::PacketOptions::modern());
  sim::CoupledFabric follow(subnet.runtime, subnet.fabric, net, subnet.runtime.now());
  std::map<std::string, HostNum> hosts;
  for (HostNum host = 0; host < net.host_count(); ++host) {
    const std::uint32_t at = net.wiring().wires[net.wiring().host_port[host]].node;
    hosts[subnet.fabric.spec().nodes[at].description] = host;
  }
  std::vector<Script::Line> lines;
  const unsigned offset = subnet.passes("H5", subnet.lid("H3", 0), over) ? 0 : 1;
  ASSERT_TRUE(subnet.passes("H5", subnet.lid("H3", offset), over));
  for (int i = 0; i < kPackets; ++i) {
    lines.push_back({0, hosts.at("H5"), {.dlid = subnet.lid("H3", offset), .payload = 2048}});
    lines.push_back({0, hosts.at("H4"), {.dlid = subnet.lid("H3", 0), .payload = 2048}});
  }
  Script script(lines);
  net.set_workload(&script);
  net.set_observer(&script);
  net.start();
  subnet.run_for(time);
  follow.catch_up();
  ASSERT_EQ(script.arrivals.size(), 2u * kPackets);
}

TEST(PathWatch, AnswersTheWayThatIsFreeWhereTheOtherOneIsBusy) {
  unsigned met = 0;
  for (const std::string busy : {"S3", "S4"}) {
    Watched subnet;
    subnet.run_round();         // what the counters were
    load(subnet, busy, 300ms);  // 66 ms of packets, and what is left of a round
    EXPECT_GT(subnet.contention(busy, "S2"), 3 * kNoContention / 2 + 1) << busy;
    const std::string other = busy == "S3" ? "S4" : "S3";
    EXPECT_EQ(subnet.contention(other, "S2"), kNoContention);
    for (const auto& [from, to] : kFlows) {
      const unsigned offset = subnet.ask(from, to);
      EXPECT_FALSE(subnet.passes(from, subnet.lid(to, offset), busy)) << from << " " << to;
    }
    // By offset alone some of the flows meet what is busy.
    subnet.order.set_choice(PathChoice::Offset, 50);
    unsigned meet = 0;
    for (const auto& [from, to] : kFlows) {
      EXPECT_EQ(subnet.ask(from, to), 0u);
      meet += subnet.passes(from, subnet.lid(to, 0), busy);
    }
    met += meet;
  }
  EXPECT_EQ(met, 4u) << "each flow meets one of the two";
}

TEST(PathWatch, CountsWordsAndTicksOfPackets) {
  Watched subnet;
  load(subnet, "S3", 1s);
  const auto& regs = subnet.fabric.node_state(subnet.node("S3"))
                         .ports[subnet.port_to("S3", "S2").value()]
                         .counters;
  // Packets of 2048 bytes and their headers; SMPs are counted by themselves.
  EXPECT_GT(regs.wide_xmit_data, kPackets * 2048u / 4);
  EXPECT_LT(regs.wide_xmit_data, kPackets * (2048u + 64) / 4);
  EXPECT_EQ(regs.wide_xmit_data, regs.xmit_data);
  EXPECT_GT(regs.wide_xmit_wait, regs.wide_xmit_data / 2) << "it sends half of the time";
  EXPECT_EQ(regs.wide_xmit_wait, regs.xmit_wait);
}

TEST(PathWatch, FreeWaysAreAnsweredByOffset) {
  Watched subnet;
  subnet.run_round();
  subnet.run_round();
  EXPECT_TRUE(subnet.order.contended().empty());
  for (const auto& [from, to] : kFlows) EXPECT_EQ(subnet.ask(from, to), 0u);
}

TEST(PathWatch, RotatesFromQuestionToQuestionOfAPair) {
  Watched subnet(PathChoice::Rotate);
  EXPECT_FALSE(subnet.watch.enabled()) << "nobody asks for counters";
  std::vector<unsigned> one, other;
  for (int i = 0; i < 4; ++i) {
    one.push_back(subnet.ask("H1", "H3"));
    if (i % 2 == 0) other.push_back(subnet.ask("H2", "H4"));
  }
  EXPECT_THAT(one, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(other, ElementsAre(0, 1)) << "pairs do not disturb each other";
}

TEST(PathWatch, IsTheSessionsWhereTheSettingsSaySo) {
  for (const PathChoice choice : {PathChoice::Offset, PathChoice::LeastContended}) {
    TimedFabric on(Watched::spec());
    sim::SimTransport transport(on.fabric, on.fabric.spec().sm_node, PortNum{1});
    StateStore store;
    Session session(on.runtime, transport, watching(choice), SaConfig{}, store, {});
    session.start();
    on.run_for(10s);
    const bool watches = choice == PathChoice::LeastContended;
    EXPECT_EQ(session.watch().enabled(), watches);
    EXPECT_EQ(session.watch().mads().sent > 0, watches);
    EXPECT_EQ(session.watch().stats().rounds > 0, watches);
    const auto now = session.manager().active().current();
    ASSERT_NE(now, nullptr);
    const nlohmann::json said = path_watch_json(session.watch(), now.get());
    EXPECT_EQ(said.at("ports"), session.watch().ports());
    EXPECT_EQ(said.at("contended_links"), 0u);
    EXPECT_EQ(said.at("mads").at("timeouts"), 0u);
  }
}

// Registers by hand. MADs that pass are counted as well, so what is added is much more than theirs.
constexpr std::uint64_t kWords = 1000000;

class PathWatchCounters : public testing::Test {
 protected:
  void count(std::uint64_t words, std::uint64_t waits, const char* sw = "S3") {
    subnet.fabric.count_data(subnet.node(sw), subnet.port_to(sw, "S2"), words, waits);
  }

  [[nodiscard]] std::uint32_t contention(const char* sw = "S3") const {
    return subnet.contention(sw, "S2");
  }

  Watched subnet;
};

TEST_F(PathWatchCounters, AreForgottenByHalfARound) {
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 150u);
  for (const std::uint32_t then : {125u, 112u, 102u, 100u, 100u}) {
    subnet.run_round();
    EXPECT_EQ(contention(), then);
  }
  count(kWords, 200 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 120u);
  count(kWords, 100 * kWords);
  subnet.run_round();
  EXPECT_EQ(contention(), 100 * kNoContention);
  for (int i = 0; i < 11; ++i) subnet.run_round();
  EXPECT_EQ(contention(), kNoContention) << "the worst there is";
}

TEST_F(PathWatchCounters, OfALinkThatCarriesNextToNothingAreHeldAgainstTenMegabits) {
  subnet.run_round();
  subnet.run_round();
  count(0, 1);
  subnet.run_round();
  EXPECT_EQ(contention(), kNoContention);
  count(kWords / 4, kWords / 4);  // 8 Mb/s
  subnet.run_round();
  EXPECT_GT(contention(), 150u);
  EXPECT_LT(contention(), 190u) << "not 200";
  count(kWords * 3 / 8, kWords * 3 / 8);  // 12 Mb/s
  subnet.run_round();
  EXPECT_EQ(contention(), 200u);
  count(0, 100 * kWords);
  subnet.run_round();
  EXPECT_EQ(contention(), 100 * kNoContention) << "the other end takes nothing";
}

TEST_F(PathWatchCounters, ThatStayAtTheirEndSayNothing) {
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Short);
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 150u) << "32 bits will do";
  count(kWords, 0xffffffff);
  subnet.run_round();
  EXPECT_EQ(contention(), 125u) << "nobody knows how long it waited";
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 112u);
}

TEST_F(PathWatchCounters, ThatAreNotThereAreNotAskedFor) {
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::None);
  subnet.run_round();
  EXPECT_EQ(subnet.watch.without_counters(), 1u);
  count(kWords, 500 * kWords / 1000);
  count(kWords, 500 * kWords / 1000, "S4");
  const std::uint64_t sent = subnet.watch.mads().sent;
  subnet.run_round();
  EXPECT_EQ(contention(), kNoContention);
  EXPECT_EQ(contention("S4"), 150u);
  EXPECT_EQ(subnet.watch.mads().sent - sent, subnet.watch.ports() - 4) << "S3 has 4 links";
}

TEST_F(PathWatchCounters, OfASilentAgentAreSkippedForARound) {
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Silent);
  count(kWords, 900 * kWords / 1000);
  count(kWords, 500 * kWords / 1000, "S4");
  const std::uint64_t skipped = subnet.watch.stats().skipped;
  subnet.run_round();
  EXPECT_EQ(contention(), 125u) << "nobody knows";
  EXPECT_EQ(contention("S4"), 150u) << "others are read";
  EXPECT_EQ(subnet.watch.mads().timeouts, 2u) << "one port of it, with one retry";
  EXPECT_EQ(subnet.watch.stats().skipped - skipped, 4u);
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Wide);
  subnet.run_round();
  EXPECT_EQ(contention(), 190u);
}

TEST_F(PathWatchCounters, OfASwitchThatVanishesAreForgotten) {
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  count(kWords, 500 * kWords / 1000, "S4");
  subnet.run_round();
  ASSERT_EQ(contention(), 150u);
  const std::size_t ports = subnet.watch.ports();
  // In the middle of a round, while its own counters are asked for.
  const std::uint64_t readings = subnet.watch.stats().readings;
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.watch.stats().readings == readings + ports / 2; }, 60s));
  subnet.fabric.set_node(subnet.node("S3"), false);
  ASSERT_TRUE(subnet.settle());
  subnet.adopt();
  EXPECT_EQ(subnet.watch.ports(), ports - 8) << "its own links, and those to it";
  EXPECT_EQ(contention(), kNoContention);
  subnet.run_round();
  subnet.run_round();
  EXPECT_LE(contention("S4"), 125u) << "the round goes on";
  EXPECT_EQ(subnet.ask("H1", "H3"), 0u);

  subnet.fabric.set_node(subnet.node("S3"), true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  subnet.adopt();
  EXPECT_EQ(subnet.watch.ports(), ports);
  subnet.run_round();
  count(kWords, 300 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 130u);
}

TEST_F(PathWatchCounters, OfABusyAgentAreAskedForAgainLater) {
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  const PathWatchStats before = subnet.watch.stats();
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Busy);
  count(kWords, 900 * kWords / 1000);
  ASSERT_TRUE(subnet.run_until([&] { return subnet.watch.stats().busy > before.busy; }, 60s));
  subnet.run_for(900ms);
  EXPECT_EQ(subnet.watch.stats().readings - before.readings, subnet.watch.ports() - 4)
      << "others are read";
  EXPECT_EQ(subnet.watch.stats().busy, before.busy + 1) << "it is left alone for a second";
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Wide);
  subnet.run_round();
  EXPECT_EQ(contention(), 190u) << "in the same round";
  EXPECT_EQ(subnet.watch.stats().rounds, before.rounds + 1);
  EXPECT_EQ(subnet.watch.stats().skipped, before.skipped);
  EXPECT_EQ(subnet.watch.mads().timeouts, 0u);
}

TEST_F(PathWatchCounters, OfAnAgentThatIsAlwaysBusyDoNotHoldUpTheRound) {
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Busy);
  subnet.run_round();
  EXPECT_EQ(subnet.watch.stats().busy, 4u) << "once, and three times more";
  EXPECT_EQ(subnet.watch.stats().skipped, 4u) << "its links";
  EXPECT_EQ(subnet.watch.without_counters(), 0u) << "that is not said";
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Wide);
  subnet.run_round();
  count(kWords, 500 * kWords / 1000);
  subnet.run_round();
  EXPECT_EQ(contention(), 150u);
  EXPECT_EQ(subnet.watch.stats().skipped, 4u);
}

TEST_F(PathWatchCounters, OfARequestThatACycleCutsOffAreAskedForAfterIt) {
  subnet.run_round();
  const PathWatchStats before = subnet.watch.stats();
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Silent);
  const GmpStats& mads = subnet.watch.mads();
  subnet.run_into_silence();
  subnet.may_ask = false;
  const std::uint64_t sent = mads.sent;
  subnet.run_for(1s);
  EXPECT_EQ(mads.sent, sent) << "no retry";
  EXPECT_EQ(subnet.watch.stats().given_up, before.given_up + 1);
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Wide);
  subnet.may_ask = true;
  subnet.run_round();
  EXPECT_EQ(subnet.watch.stats().skipped, before.skipped) << "it was not silent";
  EXPECT_EQ(subnet.watch.stats().readings - before.readings, subnet.watch.ports());
}

/// Sweeps that follow each other sooner than an agent can be found silent.
TEST_F(PathWatchCounters, OfASilentAgentDoNotHoldUpTheRoundWhereSweepsNeverEndForLong) {
  subnet.run_round();
  subnet.fabric.set_wait_counters(subnet.node("S3"), WaitCounters::Silent);
  const PathWatchStats before = subnet.watch.stats();
  for (int i = 0; i < 10'000 && subnet.watch.stats().rounds < before.rounds + 2; ++i) {
    subnet.may_ask = true;
    subnet.run_for(1ms);  // smp.timeout is 2 ms
    subnet.may_ask = false;
    subnet.run_for(20ms);
  }
  EXPECT_GE(subnet.watch.stats().rounds, before.rounds + 2);
  EXPECT_GE(subnet.watch.stats().skipped, before.skipped + 4) << "its links";
  EXPECT_GE(subnet.watch.stats().given_up, before.given_up + 9);
}

TEST_F(PathWatchCounters, AreAskedForAtTheRateThatIsSetAndNotDuringACycle) {
  subnet.adopt(10);
  const std::uint64_t before = subnet.watch.mads().sent;
  subnet.run_for(10s);
  EXPECT_LE(subnet.watch.mads().sent - before, 100u);
  EXPECT_GE(subnet.watch.mads().sent - before, 90u);
  for (const char* const sw : {"S1", "S2", "S3", "S4", "S5", "S6"})
    subnet.fabric.set_wait_counters(subnet.node(sw), WaitCounters::Silent);
  const std::uint64_t unanswered = subnet.watch.mads().sent;
  subnet.run_for(10s);
  EXPECT_LE(subnet.watch.mads().sent - unanswered, 100u) << "retries included";
  EXPECT_GT(subnet.watch.mads().timeouts, 20u);
  subnet.may_ask = false;
  const std::uint64_t then = subnet.watch.mads().sent;
  subnet.run_for(10s);
  EXPECT_EQ(subnet.watch.mads().sent, then);
  subnet.may_ask = true;
  subnet.run_round();
  subnet.watch.stop();
  const std::uint64_t last = subnet.watch.mads().sent;
  subnet.run_for(10s);
  EXPECT_EQ(subnet.watch.mads().sent, last);
  EXPECT_TRUE(subnet.order.contended().empty());
}

TEST_F(PathWatchCounters, AreAskedOfAgentsInTurn) {
  constexpr auto kPause = 50ms;
  std::vector<std::uint32_t> asked;
  std::map<std::uint32_t, TimePoint> last;
  subnet.run_round();
  subnet.adopt(1000);
  subnet.fabric.before_performance([&](std::uint32_t node) {
    const TimePoint now = subnet.runtime.now();
    if (const auto at = last.find(node); at != last.end()) {
      EXPECT_GE(now - at->second, kPause - 1ms);
    }
    last[node] = now;
    asked.push_back(node);
  });
  const std::uint64_t rounds = subnet.watch.stats().rounds;
  subnet.run_round();
  ASSERT_EQ(asked.size(), subnet.watch.ports());
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(std::ranges::count(std::span(asked).subspan(i / 6 * 6, 6), asked[i]), 1) << i;
  subnet.run_for(10s);
  EXPECT_LE(subnet.watch.stats().rounds - rounds, 11u) << "one a second is enough";
  subnet.fabric.before_performance({});
}

/// Of a session: tells of what it sends, on the way.
class Overheard final : public Transport {
 public:
  explicit Overheard(Transport& below) : below_(below) {}

  [[nodiscard]] LocalPort local_port() const override { return below_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    if (on_send) on_send(packet);
    return below_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    below_.set_handlers(std::move(receive), std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return below_.set_is_sm(is_sm); }

  std::function<void(const MadPacket&)> on_send;

 private:
  Transport& below_;
};

TEST(PathWatch, SendsNothingWhileASweepOrACycleRuns) {
  TimedFabric on(Watched::spec());
  sim::SimTransport port(on.fabric, on.fabric.spec().sm_node, PortNum{1});
  Overheard transport(port);
  StateStore store;
  Settings settings = watching();
  settings.sweep_interval = 1s;
  settings.smp.timeout = 200ms;
  Session session(on.runtime, transport, settings, SaConfig{}, store, {});
  unsigned meanwhile = 0, otherwise = 0, of_sweeps = 0;
  transport.on_send = [&](const MadPacket& packet) {
    const bool sweeping = session.manager().is_light_sweeping();
    const bool of_watch =
        packet.mad[1] == std::byte{static_cast<std::uint8_t>(MgmtClass::Performance)};
    if (of_watch) ++(sweeping || !session.manager().at_rest() ? meanwhile : otherwise);
    if (!of_watch && sweeping) ++of_sweeps;
  };
  session.start();
  on.run_for(10s);
  // A request is under way all the time, and sweeps wait for a switch that is silent as well.
  for (const char* const sw : {"S1", "S2", "S3", "S4", "S5", "S6"})
    on.fabric.set_wait_counters(on.node(sw), WaitCounters::Silent);
  on.fabric.set_silent(on.node("S4"), true);
  on.run_for(5s);
  const std::uint64_t cycles = session.manager().cycles();
  for (int i = 0; i < 12; ++i) {
    on.fabric.set_link(on.node("H6"), PortNum{1}, i % 2 == 1);
    on.run_for(3s);
  }
  EXPECT_EQ(meanwhile, 0u);
  EXPECT_GT(otherwise, 100u);
  EXPECT_GE(session.manager().cycles(), cycles + 10);
  EXPECT_GT(of_sweeps, 100u);
  EXPECT_GT(session.watch().stats().given_up, 10u);
}

TEST(Contention, IsWhatALinkTakesAgainstWhatItNeeds) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const auto measured = [](LinkSample before, LinkSample now) {
    now.at = before.at + 1s;
    return measure_contention(before, now);
  };
  EXPECT_EQ(measured({0, 0, kMost}, {kWords, 0, kMost}), 100u);
  EXPECT_EQ(measured({0, 0, kMost}, {0, 0, kMost}), 100u) << "idle";
  EXPECT_EQ(measured({5, 5, kMost}, {kWords + 5, kWords + 5, kMost}), 200u);
  EXPECT_EQ(measured({0, 0, kMost}, {kWords, kMost - 1, kMost}), 10000u) << "and no more";
  EXPECT_EQ(measured({10, 10, kMost}, {5, 20, kMost}), std::nullopt) << "somebody has reset it";
  EXPECT_EQ(measured({10, 10, kMost}, {20, 5, kMost}), std::nullopt);
  EXPECT_EQ(measured({0, 0, 100}, {100, 1, 100}), std::nullopt) << "it stays at its end";
  EXPECT_EQ(measured({0, 0, 100}, {1, 1, 200}), std::nullopt) << "another counter";
  EXPECT_EQ(settle_contention(150, 120u), 125u);
  EXPECT_EQ(settle_contention(150, 180u), 180u);
  EXPECT_EQ(settle_contention(105, std::nullopt), 100u);
  EXPECT_EQ(settle_contention(100, 100u), 100u);
  EXPECT_EQ(settle_contention(10000, 100u), 5050u);
}

TEST(Contention, IsAgainstTenMegabitsAtLeast) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  constexpr std::uint64_t kFloor = 312500;  // words of 32 bits a second
  const auto measured = [](std::uint64_t words, std::uint64_t waits, Duration time) {
    return measure_contention({0, 0, kMost}, {words, waits, kMost, TimePoint{} + time});
  };
  EXPECT_EQ(measured(kFloor, kFloor, 1s), 200u);
  EXPECT_EQ(measured(kFloor / 2, kFloor, 1s), 200u) << "not 300";
  EXPECT_EQ(measured(kFloor, kFloor, 10s), 110u) << "by the time that passed";
  constexpr std::uint64_t kTicks = 3'125'000'000;  // of 100 Gb/s in a second
  EXPECT_EQ(measured(0, kTicks, 1s), 10000u) << "nothing gets through";
  EXPECT_EQ(measured(0, kTicks / 10000, 1s), 200u) << "all that there was waited a little";
  EXPECT_EQ(measured(0, 1, 1s), 100u) << "one tick";
  EXPECT_EQ(measured(0, 1, 0s), 100u);
}

}  // namespace path_watch_test
}  // namespace smd::test
