// M_Keys of single ports, as they leave and arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/smp/m_keys.h"

namespace smd {
namespace {

constexpr Guid kOwn{0x11}, kSwitch{0x20}, kHost{0x30}, kHostNode{0x31};
const std::string kSeed(16, 'a'), kNewSeed(16, 'b');

MKeySource seed(const std::string& bytes) { return {.seed = bytes, .key = {}}; }

MKeySource single(std::uint64_t key) { return {.seed = {}, .key = MKey{key}}; }

MKey name(const std::string& bytes) { return name_of(seed(bytes)); }

SmpRoute path(std::initializer_list<unsigned> hops) {
  HopPath out;
  for (const unsigned hop : hops) out.push_back(PortNum{static_cast<std::uint8_t>(hop)});
  return SmpRoute::directed(out);
}

SmpRequest get(AttributeId attribute, const SmpRoute& route, MKey key, std::uint32_t modifier = 0) {
  return {.route = route, .attribute = attribute, .modifier = modifier, .data = {}, .m_key = key};
}

/// A subnet of an adapter here, a switch behind it, and an adapter at port 7 of the switch.
class PortKeysTest : public ::testing::Test {
 protected:
  explicit PortKeysTest(MKeySources sources = {seed(kSeed)}) : keys_(kOwn) {
    keys_.adopt(std::move(sources));
  }

  void learn(const SmpRoute& route, NodeType type, Guid node, Guid port, unsigned number) {
    SmpReply reply;
    encode_node_info({.node_type = static_cast<std::uint8_t>(type),
                      .num_ports = 8,
                      .node_guid = node,
                      .port_guid = port,
                      .local_port = PortNum{static_cast<std::uint8_t>(number)}},
                     reply.data);
    keys_.take_in(get(AttributeId::NodeInfo, route, name(kSeed)), 0, reply);
  }

  void learn_all() {
    learn(path({}), NodeType::Ca, Guid{0x10}, kOwn, 1);
    learn(path({1}), NodeType::Switch, kSwitch, kSwitch, 3);
    learn(path({1, 7}), NodeType::Ca, kHostNode, kHost, 1);
  }

  /// PortInfo as the manager sees it, when the port says this.
  PortInfo answered(const SmpRoute& route,
                    PortInfo says,
                    std::uint32_t modifier = 0,
                    unsigned attempt = 0,
                    Method method = Method::Get) {
    SmpReply reply;
    encode_port_info(says, reply.data);
    SmpRequest request = get(AttributeId::PortInfo, route, name(kSeed), modifier);
    request.method = method;
    keys_.take_in(request, attempt, reply);
    return decode_port_info(reply.data).value();
  }

  MKey sent(const SmpRoute& route, MKey key, unsigned attempt = 0) {
    return keys_.on_wire(get(AttributeId::PortInfo, route, key), attempt).m_key;
  }

  MKey set_to(const SmpRoute& route, MKey key) {
    SmpRequest request = get(AttributeId::PortInfo, route, key);
    request.method = Method::Set;
    encode_port_info({.m_key = key}, request.data);
    return decode_port_info(keys_.on_wire(request, 0).data)->m_key;
  }

  PortMKeys keys_;
};

// printf 'smd M_Key\x00\x00\x00\x00\x00\x00\x00\x30' |
//   openssl dgst -sha256 -mac HMAC -macopt hexkey:61616161616161616161616161616161
TEST(DeriveMKey, IsTheHeadOfAnHmac) {
  EXPECT_EQ(derive_m_key(kSeed, kHost), MKey{0x36a3efec25990164});
  EXPECT_NE(derive_m_key(kSeed, kHost), derive_m_key(kSeed, kSwitch));
  EXPECT_NE(derive_m_key(kSeed, kHost), derive_m_key(kNewSeed, kHost));
}

TEST_F(PortKeysTest, EveryPortGetsItsOwn) {
  learn_all();
  EXPECT_EQ(sent(path({}), name(kSeed)), derive_m_key(kSeed, kOwn));
  EXPECT_EQ(sent(path({1}), name(kSeed)), derive_m_key(kSeed, kSwitch));
  EXPECT_EQ(sent(path({1, 7}), name(kSeed)), derive_m_key(kSeed, kHost));
  EXPECT_EQ(set_to(path({1, 7}), name(kSeed)), derive_m_key(kSeed, kHost));
}

TEST_F(PortKeysTest, WhoIsNotKnownGetsNone) {
  EXPECT_EQ(sent(path({}), name(kSeed)), derive_m_key(kSeed, kOwn)) << "the port here is known";
  EXPECT_EQ(sent(path({1}), name(kSeed)), MKey{});
  EXPECT_EQ(sent(SmpRoute::to_lid(Lid{5}), name(kSeed)), MKey{});
  EXPECT_EQ(set_to(path({1}), name(kSeed)), MKey{}) << "the name of a seed never leaves";
  learn_all();
  EXPECT_EQ(sent(path({1, 6}), name(kSeed)), MKey{});
  EXPECT_EQ(sent(path({1, 7, 1}), name(kSeed)), MKey{});
}

TEST_F(PortKeysTest, AKeyThatIsNoNameGoesAsItIs) {
  learn_all();
  EXPECT_EQ(sent(path({1}), MKey{0xbad}), MKey{0xbad});
  EXPECT_EQ(sent(path({1}), MKey{}), MKey{});
  EXPECT_EQ(answered(path({1}), {.m_key = MKey{0xbad}}).m_key, MKey{0xbad});
}

TEST_F(PortKeysTest, ThePortsKeyArrivesAsTheName) {
  learn_all();
  EXPECT_EQ(answered(path({1}), {.m_key = derive_m_key(kSeed, kSwitch)}).m_key, name(kSeed));
  EXPECT_EQ(answered(path({1, 7}), {.m_key = derive_m_key(kSeed, kHost)}, 1).m_key, name(kSeed));
  const MKey others = derive_m_key(kSeed, kSwitch);
  EXPECT_EQ(answered(path({1, 7}), {.m_key = others}, 1).m_key, others) << "not the host's";
}

TEST_F(PortKeysTest, LidsAreLearntFromPortInfo) {
  learn_all();
  answered(path({1}), {.lid = Lid{9}});
  answered(path({1, 7}), {.lid = Lid{12}, .lmc = 2}, 1);
  EXPECT_EQ(sent(SmpRoute::to_lid(Lid{9}), name(kSeed)), derive_m_key(kSeed, kSwitch));
  EXPECT_EQ(sent(SmpRoute::to_lid(Lid{15}), name(kSeed)), derive_m_key(kSeed, kHost));
  EXPECT_EQ(sent(SmpRoute::to_lid(Lid{16}), name(kSeed)), MKey{});
  EXPECT_EQ(sent(SmpRoute::mixed(Lid{9}, {PortNum{7}}), name(kSeed)), derive_m_key(kSeed, kHost));
  // Of another port than the one that answers.
  answered(path({1}), {.lid = Lid{30}}, 4);
  EXPECT_EQ(sent(SmpRoute::to_lid(Lid{30}), name(kSeed)), MKey{});
}

TEST_F(PortKeysTest, AnotherNodeAtTheSamePlaceHasAnotherKey) {
  learn_all();
  learn(path({1, 7}), NodeType::Ca, Guid{0x41}, Guid{0x40}, 1);
  EXPECT_EQ(sent(path({1, 7}), name(kSeed)), derive_m_key(kSeed, Guid{0x40}));
}

TEST_F(PortKeysTest, WhatIsPluggedElsewhereIsNoLongerWhereItWas) {
  learn_all();
  (void)keys_.take_news();
  learn_all();
  EXPECT_FALSE(keys_.take_news()) << "nothing is other than before";
  learn(path({1, 5}), NodeType::Ca, kHostNode, kHost, 1);
  EXPECT_TRUE(keys_.take_news());
  EXPECT_EQ(sent(path({1, 5}), name(kSeed)), derive_m_key(kSeed, kHost));
  EXPECT_EQ(sent(path({1, 7}), name(kSeed)), MKey{});
  EXPECT_EQ(keys_.links().size(), 2u);
}

TEST_F(PortKeysTest, LinksAreFoundAgainFromTheOtherEndAndInALaterLife) {
  learn_all();
  learn(path({1, 8}), NodeType::Switch, Guid{0x50}, Guid{0x50}, 2);
  PortMKeys later{kOwn};
  later.adopt({seed(kSeed)});
  for (const KeyLink& link : keys_.links()) later.put(link);
  EXPECT_EQ(later.links(), keys_.links());
  EXPECT_TRUE(later.take_news());
  EXPECT_FALSE(later.take_news());
  const auto key = [&](const SmpRoute& route) { return later.find(route, name(kSeed)); };
  EXPECT_EQ(key(path({1, 8})), MKey{}) << "where the way begins is asked for first";
  SmpReply reply;
  encode_node_info({.node_type = 1,
                    .num_ports = 1,
                    .node_guid = Guid{0x10},
                    .port_guid = kOwn,
                    .local_port = PortNum{1}},
                   reply.data);
  later.take_in(get(AttributeId::NodeInfo, path({}), name(kSeed)), 0, reply);
  EXPECT_EQ(key(path({1, 8})), derive_m_key(kSeed, Guid{0x50}));
  EXPECT_EQ(key(path({1, 8, 2, 7})), derive_m_key(kSeed, kHost)) << "there and back";
}

TEST_F(PortKeysTest, TheLinksOfOneManagerServeAnother) {
  learn_all();
  PortMKeys standby{kHost};
  standby.adopt({seed(kSeed)});
  for (const KeyLink& link : keys_.links()) standby.put(link);
  SmpReply reply;
  encode_node_info({.node_type = 1,
                    .num_ports = 1,
                    .node_guid = kHostNode,
                    .port_guid = kHost,
                    .local_port = PortNum{1}},
                   reply.data);
  standby.take_in(get(AttributeId::NodeInfo, path({}), name(kSeed)), 0, reply);
  EXPECT_EQ(standby.find(path({1}), name(kSeed)), derive_m_key(kSeed, kSwitch));
}

TEST_F(PortKeysTest, FromANodeThatCannotBeNothingIsLearnt) {
  learn_all();
  const std::vector<KeyLink> links = keys_.links();
  learn(path({1, 7}), NodeType::Ca, Guid{}, kHost, 1);
  learn(path({1, 7}), NodeType::Switch, kHostNode, kHost, 0);
  learn(path({1, 7}), NodeType::Switch, kHostNode, kHost, 9);
  learn(path({1, 7}), NodeType::Ca, kHostNode, kHost, 255);
  learn(path({}), NodeType::Ca, Guid{}, kOwn, 1);
  EXPECT_EQ(keys_.links(), links);
}

TEST_F(PortKeysTest, KnownPortsHaveTheirFormerKeyUntilTheyAreSet) {
  learn_all();
  keys_.adopt({seed(kNewSeed), seed(kSeed)});
  const MKey old_key = derive_m_key(kSeed, kHost), new_key = derive_m_key(kNewSeed, kHost);
  EXPECT_EQ(sent(path({1, 7}), name(kNewSeed)), old_key);
  EXPECT_EQ(set_to(path({1, 7}), name(kNewSeed)), new_key);
  EXPECT_EQ(answered(path({1, 7}), {.m_key = old_key}, 1).m_key, name(kSeed));
  EXPECT_EQ(answered(path({1, 7}), {.m_key = new_key}, 1, 0, Method::Set).m_key, name(kNewSeed));
  EXPECT_EQ(sent(path({1, 7}), name(kNewSeed)), new_key);
  EXPECT_EQ(sent(path({1}), name(kNewSeed)), derive_m_key(kSeed, kSwitch)) << "not set yet";
  keys_.adopt({seed(kNewSeed)});
  EXPECT_EQ(sent(path({1}), name(kNewSeed)), derive_m_key(kNewSeed, kSwitch));
}

struct SeveralSources : PortKeysTest {
  SeveralSources() : PortKeysTest({seed(kNewSeed), seed(kSeed), single(7)}) { learn_all(); }
};

TEST_F(SeveralSources, AreTriedInTurn) {
  EXPECT_EQ(sent(path({1}), name(kNewSeed), 0), derive_m_key(kNewSeed, kSwitch));
  EXPECT_EQ(sent(path({1}), name(kNewSeed), 1), derive_m_key(kSeed, kSwitch));
  EXPECT_EQ(sent(path({1}), name(kNewSeed), 2), MKey{7});
  EXPECT_EQ(sent(path({1}), name(kNewSeed), 3), derive_m_key(kNewSeed, kSwitch));
}

TEST_F(SeveralSources, WhatOpenedThePortComesFirstFromThenOn) {
  SmpRequest request = get(AttributeId::LinearForwardingTable, path({1}), name(kNewSeed));
  request.method = Method::Set;
  SmpReply reply;
  keys_.take_in(request, 2, reply);
  EXPECT_EQ(sent(path({1}), name(kNewSeed)), MKey{7});
  EXPECT_EQ(sent(path({1, 7}), name(kNewSeed)), derive_m_key(kNewSeed, kHost));
}

TEST_F(SeveralSources, AHiddenKeyIsAnother) {
  EXPECT_EQ(answered(path({1}), {.m_key_protect_bits = 1}).m_key, MKey{});
  EXPECT_EQ(sent(path({1}), name(kNewSeed)), derive_m_key(kSeed, kSwitch));
}

TEST_F(SeveralSources, AnAnswerWithAStatusSaysNothing) {
  SmpRequest request = get(AttributeId::LinearForwardingTable, path({1}), name(kNewSeed));
  request.method = Method::Set;
  SmpReply reply;
  reply.status = 0x1c;
  keys_.take_in(request, 1, reply);
  EXPECT_EQ(sent(path({1}), name(kNewSeed)), derive_m_key(kNewSeed, kSwitch));
}

}  // namespace
}  // namespace smd
