// What is answered off the loop is what the server answers on it, to the byte; whatever the server
// decides otherwise is left to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "smd/sa/path_choice.h"
#include "smd/sa/path_finder.h"
#include "tests/unit/sa/served.h"

namespace smd::sa {
namespace path_responder_test {

namespace part = path_component;

constexpr std::string_view kTree = "H1-S1 H2-S1 S1-S2 H3-S2";
constexpr std::uint64_t kByGid = part::kSgid | part::kDgid;
constexpr std::uint64_t kByLid = part::kSlid | part::kDlid;

MadPacket path_request(const SubnetView& view,
                       std::uint64_t mask,
                       std::string_view from,
                       std::string_view to,
                       Method method = Method::Get) {
  const PathRecord wanted{.dgid = {kDefaultSubnetPrefix, guid_of(view, to)},
                          .sgid = {kDefaultSubnetPrefix, guid_of(view, from)},
                          .dlid = lid_of(view, to),
                          .slid = lid_of(view, from),
                          .rate = {Selector::LessThan, 16}};
  return packet_of(
      ask(method, RecordId::PathRecord, mask, wanted, kPathRecordSize), lid_of(view, "H1"), 7);
}

/// The same requests to a server on its loop and to its responder.
class Both {
 public:
  explicit Both(const std::shared_ptr<const SubnetView>& view) { bench_.server.adopt(view); }

  ServerBench& bench() { return bench_; }

  std::optional<MadPacket> off_loop(const MadPacket& request) {
    const Transport::Responder& responder = bench_.transport.responder;
    if (!responder.answer) return std::nullopt;
    std::optional<MadPacket> answer = responder.answer(request);
    EXPECT_TRUE(responder.may_answer(request) || !answer);
    return answer;
  }

  MadPacket on_loop(const MadPacket& request) {
    bench_.transport.sent.clear();
    bench_.transport.deliver(request);
    bench_.run();
    EXPECT_EQ(bench_.transport.sent.size(), 1u);
    return bench_.transport.sent.empty() ? MadPacket{} : bench_.transport.sent[0];
  }

 private:
  ServerBench bench_;
};

void expect_same(const std::optional<MadPacket>& a, const MadPacket& b) {
  ASSERT_TRUE(a);
  EXPECT_EQ(a->mad, b.mad);
  EXPECT_EQ(a->remote_lid, b.remote_lid);
  EXPECT_EQ(a->remote_qp, b.remote_qp);
  EXPECT_EQ(a->local_qp, b.local_qp);
  EXPECT_EQ(a->sl, b.sl);
  EXPECT_EQ(a->pkey_index, b.pkey_index);
}

TEST(PathResponder, AnswersAsTheServerDoes) {
  const auto view = view_of(kTree, 1);
  Both both(view);
  const std::uint64_t rate = part::kRateSelector | part::kRate;
  for (const std::uint64_t mask :
       {kByGid, kByLid, kByGid | kByLid, kByGid | rate, part::kSgid | part::kDlid}) {
    for (const std::string_view to : {"H1", "H2", "H3", "S1"}) {
      MadPacket request = path_request(*view, mask, "H1", to);
      request.remote_qp = 55;
      request.sl = 2;
      request.pkey_index = 1;
      expect_same(both.off_loop(request), both.on_loop(request));
    }
  }
}

TEST(PathResponder, AnswersOnTheSlOfThePathAsTheServerDoes) {
  const auto view = view_with_path_sls(kTree);
  Both both(view);
  MadPacket request = path_request(*view, kByLid, "H1", "H2");
  request.remote_lid = lid_of(*view, "H3");
  request.sl = 9;
  const MadPacket there = both.on_loop(request);
  EXPECT_EQ(there.sl, lid_of(*view, "H3").value() % 8);
  EXPECT_EQ(both.off_loop(request).value().sl, there.sl);
}

TEST(PathResponder, CountsAsTheServerDoes) {
  const auto view = view_of(kTree);
  Both both(view);
  const MadPacket request = path_request(*view, kByGid, "H1", "H3");
  ASSERT_TRUE(both.off_loop(request));
  const ServerStats beside = both.bench().server.stats();
  Both alone(view);
  static_cast<void>(alone.on_loop(request));
  EXPECT_EQ(beside, alone.bench().server.stats());
}

TEST(PathResponder, LeavesTheRestToTheServer) {
  const auto view = view_of(kTree);
  Both both(view);
  const MadPacket simple = path_request(*view, kByGid, "H1", "H3");
  const auto with = [&](auto change) {
    MadPacket request = simple;
    SaHeader header = *decode_sa_header(request.mad);
    change(header);
    encode_sa_header(header, request.mad);
    return both.off_loop(request);
  };
  EXPECT_TRUE(with([](SaHeader&) {}));
  EXPECT_FALSE(with([](SaHeader& h) { h.sm_key = kTrusted; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.sm_key = SmKey{1}; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.mad.class_version = 1; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.mad.base_version = 2; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.mad.mgmt_class = 4; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.rmpp.flags = rmpp_flag::kActive; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.component_mask = part::kSgid; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.component_mask = part::kDgid; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.component_mask = 0; }));
  EXPECT_FALSE(with([](SaHeader& h) { h.mad.method = static_cast<std::uint8_t>(Method::Set); }));
  EXPECT_FALSE(with(
      [](SaHeader& h) { h.mad.attribute_id = static_cast<std::uint16_t>(RecordId::NodeRecord); }));
  EXPECT_FALSE(both.off_loop(path_request(*view, kByGid, "H1", "H3", Method::GetTable)));
  EXPECT_EQ(both.bench().server.stats().requests, 1u);
}

/// The SL that is asked for is that of one LID in 32: the server looks for it, whoever answers
/// beside it for a few pairs alone.
TEST(PathResponder, LeavesLongSearchesToTheServer) {
  for (const auto& [offset, answered] :
       {std::pair(3, true), {15, true}, {16, false}, {20, false}}) {
    ViewParts parts = parts_of(kTree, 5);
    auto routing = std::make_shared<RoutingTables>(*parts.routing);
    const Lid to{static_cast<std::uint16_t>(
        parts.lids->base[test::end_port(*parts.fabric, "H3")].value() + offset)};
    routing->path_sls = PathSls(parts.fabric->switch_count(), parts.lids->top);
    routing->path_sls.set_sl(test::switch_named(*parts.fabric, "S1"), to, 6);
    parts.routing = routing;
    const auto view = std::make_shared<const SubnetView>(parts);
    Both both(view);
    const PathRecord wanted{.dgid = {kDefaultSubnetPrefix, guid_of(*view, "H3")},
                            .sgid = {kDefaultSubnetPrefix, guid_of(*view, "H1")},
                            .sl = 6};
    const MadPacket request = packet_of(
        ask(Method::Get, RecordId::PathRecord, kByGid | part::kSl, wanted, kPathRecordSize),
        lid_of(*view, "H1"),
        7);
    EXPECT_EQ(both.off_loop(request).has_value(), answered) << offset;
    const MadPacket of_server = both.on_loop(request);
    EXPECT_EQ(decode_sa_header(of_server.mad)->mad.status, 0) << offset;
  }
}

TEST(PathResponder, AnswersThatDoNotGoOutAreCounted) {
  const auto view = view_of(kTree);
  Both both(view);
  EXPECT_EQ(both.bench().server.stats().send_errors, 0u);
  both.bench().transport.answers_not_sent = 3;
  EXPECT_EQ(both.bench().server.stats().send_errors, 3u);
}

/// Refusals, and paths that a router leads on: the server has words, and lines of the log, for
/// them.
TEST(PathResponder, LeavesRefusalsToTheServer) {
  const auto view = view_of(kTree);
  Both both(view);
  const auto to_gid = [&](const Gid& gid) {
    const PathRecord wanted{.dgid = gid, .sgid = {kDefaultSubnetPrefix, guid_of(*view, "H1")}};
    return packet_of(ask(Method::Get, RecordId::PathRecord, kByGid, wanted, kPathRecordSize),
                     lid_of(*view, "H1"),
                     7);
  };
  EXPECT_FALSE(both.off_loop(to_gid({kDefaultSubnetPrefix, Guid{0x4711}})));
  EXPECT_FALSE(both.off_loop(to_gid({0xfec0000000000001, guid_of(*view, "H3")})));
  EXPECT_TRUE(both.off_loop(to_gid({kDefaultSubnetPrefix, guid_of(*view, "H3")})));
}

TEST(PathResponder, TellsNobodyOfAnotherPartition) {
  ViewParts parts = parts_of(kTree);
  auto plan = std::make_shared<PartitionPlan>();
  plan->map.resize(parts.fabric->port_count());
  for (const auto& [host, key] :
       {std::pair{"H1", PKey{0x8001}}, {"H2", PKey{0x8001}}, {"H3", PKey{0x8002}}})
    plan->map[test::end_port(*parts.fabric, host)].keys = {key};
  parts.partitions = plan;
  const auto view = std::make_shared<const SubnetView>(parts);
  Both both(view);
  EXPECT_TRUE(both.off_loop(path_request(*view, kByGid, "H1", "H2")));
  EXPECT_FALSE(both.off_loop(path_request(*view, kByGid, "H1", "H3")));
  MadPacket strange = path_request(*view, kByGid, "H1", "H2");
  strange.remote_lid = Lid{4000};
  EXPECT_FALSE(both.off_loop(strange)) << "who is not known is told nothing";
}

TEST(PathResponder, IsSilentWithoutAViewUnderAPaceAndWherePathsTakeTurns) {
  PathOrder order;
  ViewParts parts = parts_of(kTree);
  parts.path_order = &order;
  const auto view = std::make_shared<const SubnetView>(parts);
  Both both(view);
  Server& server = both.bench().server;
  const MadPacket request = path_request(*view, kByGid, "H1", "H3");
  EXPECT_TRUE(both.off_loop(request));
  order.set_choice(PathChoice::Rotate, 0);
  server.decide_off_loop();
  EXPECT_FALSE(both.off_loop(request));
  order.set_choice(PathChoice::Offset, 0);
  server.decide_off_loop();
  EXPECT_TRUE(both.off_loop(request));
  server.set_limits({.requests_of_one_port_in_100ms = 5});
  EXPECT_FALSE(both.off_loop(request));
  server.set_limits({});
  EXPECT_TRUE(both.off_loop(request));
  server.adopt(nullptr);
  EXPECT_FALSE(both.off_loop(request)) << "another manager is master";
}

TEST(PathResponder, AServerThatGoesTakesItsAnswersWithIt) {
  sim::SimRuntime runtime;
  FakeTransport transport;
  std::function<std::optional<MadPacket>(const MadPacket&)> kept;
  const auto view = view_of(kTree);
  const MadPacket request = path_request(*view, kByGid, "H1", "H3");
  {
    Server server(runtime, transport);
    server.adopt(view);
    kept = transport.responder.answer;  // a last call is under way
    EXPECT_TRUE(kept(request));
  }
  EXPECT_FALSE(transport.responder.answer);
  EXPECT_FALSE(kept(request));
}

/// A thread asks while the loop takes in one subnet after the other: each answer is of one of them.
TEST(PathResponder, AnswersWhileViewsChange) {
  const auto one = view_of(kTree);
  const auto other = view_of(kTree, 1);
  PathResponder responder;
  const MadPacket request = path_request(*one, kByGid, "H1", "H3");
  const auto record_of = [&](const std::shared_ptr<const SubnetView>& view) {
    PathResponder alone;
    alone.adopt(view);
    return alone.answer(request)->mad;
  };
  const MadBytes of_one = record_of(one);
  const MadBytes of_other = record_of(other);
  ASSERT_NE(of_one, of_other);
  constexpr int kQuestions = 20'000;
  int strange = 0;
  responder.adopt(one);
  std::atomic<bool> over = false;
  std::thread asking([&] {
    for (int i = 0; i < kQuestions; ++i) {
      const auto answer = responder.answer(request);
      if (!answer || (answer->mad != of_one && answer->mad != of_other)) ++strange;
    }
    over = true;
  });
  for (int i = 0; !over; ++i) {
    responder.adopt(view_of(kTree, i % 2 == 0 ? 1 : 0));  // somebody has to destroy all of it
  }
  asking.join();
  EXPECT_EQ(strange, 0);
  EXPECT_EQ(responder.answered(), static_cast<std::uint64_t>(kQuestions));
}

}  // namespace path_responder_test
}  // namespace smd::sa
