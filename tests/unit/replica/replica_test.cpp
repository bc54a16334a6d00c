// A master and its readers on a network in memory: who gets what, who is cut, what is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "tests/support/memory_network.h"

namespace smd::replica {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr Hello kMaster{.manager = Guid{1}, .state = SmState::Master};
constexpr Hello kStandby{.manager = Guid{2}, .state = SmState::Standby};

struct Replicas : ::testing::Test {
  Replicas() {
    listen();
    server.present(kMaster);
    client.present(kStandby);
  }

  void listen() {
    net.listen("master", runtime, [this](auto stream) { server.accept(std::move(stream)); });
  }

  void pass(Duration time) { runtime.run_until(runtime.now() + time); }

  [[nodiscard]] PeerView view() const { return client.peers().at(0); }

  sim::SimRuntime runtime;
  test::MemoryNetwork net;
  std::map<std::string, std::string> copy;
  Guid known_master{1};
  bool readable = true;
  std::vector<std::int64_t> clocks;
  unsigned changes_taken = 0;
  Server server{runtime, [] { return 1000; }};
  std::unique_ptr<Dialer> dialer = net.dialer(runtime);
  Client client{runtime,
                *dialer,
                {"master"},
                [] { return 5; },
                {.is_master =
                     [this](const Hello& hello) {
                       return hello.state == SmState::Master && hello.manager == known_master;
                     },
                 .on_part =
                     [this](Part part, std::int64_t wall_ms) {
                       if (!readable) return false;
                       clocks.push_back(wall_ms);
                       copy[part.name] = part.text;
                       return true;
                     },
                 .on_changes =
                     [this](Part changes, std::int64_t) {
                       copy[changes.name] += changes.text;
                       ++changes_taken;
                       return true;
                     }}};
};

TEST_F(Replicas, AStandbyHasWhatItsMasterKeepsAndWhatChanges) {
  server.publish({{"lids", "a\n"}, {"records", "b\n"}});
  client.enable(true);
  pass(1s);
  EXPECT_THAT(copy, ElementsAre(Pair("lids", "a\n"), Pair("records", "b\n")));
  EXPECT_THAT(clocks, ElementsAre(1000, 1000)) << "the sender's clock";
  server.publish({{"lids", "a\n"}, {"records", "c\n"}});
  pass(10ms);
  EXPECT_EQ(copy.at("records"), "c\n");
  EXPECT_EQ(server.parts_sent(), 3u) << "what is as it was is not sent again";
  EXPECT_TRUE(view().connected);
  EXPECT_EQ(view().hello->manager, Guid{1});
}

TEST_F(Replicas, NobodyWhoDoesNotRuleHasAnythingToTell) {
  server.present({.manager = Guid{1}, .state = SmState::Standby});
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(10s);
  EXPECT_THAT(copy, IsEmpty());
  EXPECT_TRUE(view().connected) << "it may rule one day";
  server.present(kMaster);
  server.publish({{"lids", "b\n"}});
  pass(10ms);
  EXPECT_EQ(copy.at("lids"), "b\n");
}

TEST_F(Replicas, AStrangeMasterIsNotBelieved) {
  known_master = Guid{9};
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(1s);
  EXPECT_THAT(copy, IsEmpty());
  EXPECT_THAT(view().trouble, HasSubstr("not the master"));
  known_master = Guid{1};
  pass(60s);
  EXPECT_EQ(copy.at("lids"), "a\n") << "it is asked again";
}

TEST_F(Replicas, AnotherSubnetIsAnotherMatter) {
  server.present({.manager = Guid{1}, .state = SmState::Master, .subnet_prefix = 7});
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(1s);
  EXPECT_THAT(copy, IsEmpty());
  EXPECT_THAT(view().trouble, HasSubstr("prefix"));
}

TEST_F(Replicas, WhatCannotBeReadEndsTheTalk) {
  readable = false;
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(500ms);
  EXPECT_THAT(view().trouble, HasSubstr("'lids' cannot be read"));
  EXPECT_FALSE(view().connected);
}

TEST_F(Replicas, AMasterThatComesLaterOrComesBackIsFound) {
  net.close("master");
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(100s);
  EXPECT_FALSE(view().connected);
  EXPECT_GE(view().failures, 5u);
  EXPECT_LE(view().failures, 10u) << "ever more rarely";
  listen();
  pass(Client::kLongestWait + 1s);
  EXPECT_EQ(copy.at("lids"), "a\n");
}

TEST_F(Replicas, SilenceEndsATalkOnBothSides) {
  server.publish({{"lids", "a\n"}});
  client.enable(true);
  pass(1s);
  net.freeze(true);
  pass(7s);
  EXPECT_THAT(server.peers(), IsEmpty());
  EXPECT_FALSE(view().connected);
  EXPECT_GE(view().failures, 1u);
  net.freeze(false);
  copy.clear();
  pass(60s);
  EXPECT_EQ(copy.at("lids"), "a\n");
  EXPECT_THAT(server.peers(), SizeIs(1));
}

TEST_F(Replicas, AQuietTalkLasts) {
  client.enable(true);
  pass(1000s);
  EXPECT_EQ(net.connections, 1u);
}

TEST_F(Replicas, AReaderThatStandsStillMissesVersionsAndNothingPilesUp) {
  client.enable(true);
  server.publish({{"records", "0\n"}});
  pass(1s);
  net.freeze(true);
  for (int i = 1; i <= 100; ++i) {
    server.publish({{"records", std::string(1000, 'x') + std::to_string(i)}});
    pass(10ms);
  }
  EXPECT_EQ(server.parts_sent(), 2u) << "one waits; the others were overtaken";
  net.freeze(false);
  server.publish({{"lids", "a\n"}});
  pass(1s);
  EXPECT_TRUE(copy.at("records").ends_with("x100")) << "the last is not lost";
}

/// State that is told by its changes: lines that are only added.
struct Followed : Replicas {
  Followed() {
    server.follow("records",
                  {.whole =
                       [this] {
                         ++wholes;
                         return text;
                       },
                   .position = [this] { return 1 + text.size(); },
                   .since = [this](std::uint64_t at) -> std::optional<std::string> {
                     if (forgotten) return std::nullopt;
                     return text.substr(at - 1);
                   }});
  }

  void add(const std::string& line) {
    text += line;
    server.note_change();
  }

  std::string text;
  bool forgotten = false;
  unsigned wholes = 0;
};

TEST_F(Followed, AReaderIsSentAllOnceAndThenWhatChanged) {
  text = "a\n";
  client.enable(true);
  pass(1s);
  EXPECT_EQ(copy.at("records"), "a\n");
  for (int i = 0; i < 20; ++i) {
    add("b\n");
    pass(10ms);
  }
  EXPECT_EQ(copy.at("records"), text);
  EXPECT_EQ(wholes, 1u);
  EXPECT_EQ(changes_taken, 20u);
  forgotten = true;  // what changed since is not known any more
  add("c\n");
  pass(10ms);
  EXPECT_EQ(wholes, 2u);
  EXPECT_EQ(copy.at("records"), text);
}

TEST_F(Followed, StateOfAnySizeGoesInPiecesAndFramesAreBounded) {
  text = std::string(5 * kPieceBytes + 17, 'x') + "\n";
  server.publish({{"lids", "l\n"}});
  client.enable(true);
  pass(1s);
  EXPECT_TRUE(copy.at("records") == text);
  EXPECT_TRUE(server.is_current());
  add(std::string(3 * kPieceBytes, 'y') + "\n");
  pass(1s);
  EXPECT_TRUE(copy.at("records") == text);
  EXPECT_EQ(changes_taken, 1u);
  EXPECT_EQ(wholes, 1u);
}

TEST_F(Followed, OnePieceIsUnderWayAtATime) {
  text = std::string(50 * kPieceBytes, 'x');
  client.enable(true);
  pass(3ms);
  net.freeze(true);
  add("y\n");
  EXPECT_FALSE(server.is_current());
  net.freeze(false);
  pass(1s);
  EXPECT_TRUE(copy.at("records") == text);
  EXPECT_EQ(changes_taken, 1u) << "what changed meanwhile came after it";
}

TEST_F(Followed, WhoRulesAgainSendsAll) {
  text = "a\n";
  server.publish({{"lids", "l\n"}});
  client.enable(true);
  pass(1s);
  server.present({.manager = Guid{1}, .state = SmState::Standby});
  add("b\n");
  pass(1s);
  EXPECT_EQ(copy.at("records"), "a\n");
  EXPECT_FALSE(server.is_current());
  server.present(kMaster);
  server.note_change();
  pass(1s);
  EXPECT_EQ(copy.at("records"), "a\nb\n");
  EXPECT_EQ(wholes, 2u);
}

TEST_F(Replicas, WhoeverDoesNotSpeakAsAManagerIsCut) {
  for (const char* words : {"GET / HTTP/1.1\r\n\r\n", "SMD", ""}) {
    std::unique_ptr<Stream> raw;
    bool ended = false;
    const auto attempt = dialer->dial("master", [&](auto stream) { raw = std::move(*stream); });
    pass(10ms);
    raw->start({.on_bytes = [](auto) {}, .on_end = [&](const std::string&) { ended = true; }});
    raw->send(words);
    pass(8s);
    EXPECT_TRUE(ended) << words;
    EXPECT_THAT(server.peers(), IsEmpty());
  }
}

TEST_F(Replicas, AReaderThatSendsStateIsCut) {
  std::unique_ptr<Stream> raw;
  const auto attempt = dialer->dial("master", [&](auto stream) { raw = std::move(*stream); });
  pass(10ms);
  raw->start({.on_bytes = [](auto) {}, .on_end = [](const std::string&) {}});
  raw->send(encode_frame({.kind = FrameKind::Hello, .body = encode_hello(kStandby)}));
  pass(10ms);
  EXPECT_THAT(server.peers(), SizeIs(1));
  raw->send(encode_frame({.kind = FrameKind::Part, .body = "lids\n"}));
  pass(10ms);
  EXPECT_THAT(server.peers(), IsEmpty());
}

TEST_F(Replicas, MoreThanTheMostAreTurnedAway) {
  std::vector<std::unique_ptr<Stream>> crowd;
  std::vector<std::unique_ptr<Attempt>> attempts;
  for (std::size_t i = 0; i < Server::kMostPeers + 3; ++i)
    attempts.push_back(
        dialer->dial("master", [&](auto stream) { crowd.push_back(std::move(*stream)); }));
  pass(10ms);
  EXPECT_THAT(server.peers(), SizeIs(Server::kMostPeers));
  EXPECT_EQ(server.cut(), 3u);
}

TEST_F(Replicas, DisabledItIsConnectedToNobody) {
  client.enable(true);
  pass(1s);
  client.enable(false);
  pass(1s);
  EXPECT_THAT(server.peers(), IsEmpty());
  pass(100s);
  EXPECT_EQ(net.connections, 1u);
  client.enable(true);
  pass(1s);
  EXPECT_THAT(server.peers(), SizeIs(1));
}

}  // namespace
}  // namespace smd::replica
