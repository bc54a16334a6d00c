// What requests and replies look like on the wire, byte by byte, and the arithmetic of time.
#include <gmock/gmock.h>

#include <cstring>

#include "smd/smp/messages.h"
#include "smd/smp/smp_client.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

std::uint64_t field(const MadBytes& mad, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(mad[at + i]);
  }
  return value;
}

SmpRequest port_info(SmpRoute route) {
  return {.route = route,
          .method = Method::Get,
          .attribute = AttributeId::PortInfo,
          .modifier = 5,
          .m_key = MKey{0x1122334455667788}};
}

TEST(RequestBytes, Directed) {
  const MadPacket packet = build_request(
      port_info(SmpRoute::directed({PortNum{1}, PortNum{4}, PortNum{36}})), Lid{9}, 0xabcdef01);
  EXPECT_EQ(packet.remote_lid, kPermissiveLid);
  EXPECT_EQ(packet.local_qp, 0u);
  EXPECT_EQ(packet.remote_qp, 0u);
  EXPECT_EQ(field(packet.mad, 0, 4), 0x01810101u);
  EXPECT_EQ(field(packet.mad, 4, 4), 0x00000003u);  // D 0, status 0, hop pointer 0, hop count 3
  EXPECT_EQ(field(packet.mad, 8, 8), 0xabcdef01u);
  EXPECT_EQ(field(packet.mad, 16, 4), 0x00150000u);
  EXPECT_EQ(field(packet.mad, 20, 4), 5u);
  EXPECT_EQ(field(packet.mad, 24, 8), 0x1122334455667788u);
  EXPECT_EQ(field(packet.mad, 32, 4), 0xffffffffu);  // DrSLID, DrDLID
  EXPECT_EQ(field(packet.mad, 128, 5), 0x0001042400u);
}

TEST(RequestBytes, ToOneself) {
  const MadPacket packet = build_request(port_info(SmpRoute::directed({})), Lid{9}, 1);
  EXPECT_EQ(packet.remote_lid, kPermissiveLid);
  EXPECT_EQ(field(packet.mad, 4, 4), 0u);
  EXPECT_EQ(field(packet.mad, 32, 4), 0xffffffffu);
}

TEST(RequestBytes, LidRouted) {
  const MadPacket packet = build_request(port_info(SmpRoute::to_lid(Lid{0x1234})), Lid{9}, 7);
  EXPECT_EQ(packet.remote_lid, Lid{0x1234});
  EXPECT_EQ(field(packet.mad, 0, 4), 0x01010101u);
  EXPECT_EQ(field(packet.mad, 4, 4), 0u);
  EXPECT_EQ(field(packet.mad, 24, 8), 0x1122334455667788u);
  EXPECT_EQ(field(packet.mad, 32, 8), 0u);
  EXPECT_EQ(field(packet.mad, 128, 8), 0u);
}

TEST(RequestBytes, Mixed) {
  const MadPacket packet =
      build_request(port_info(SmpRoute::mixed(Lid{8}, {PortNum{3}, PortNum{1}})), Lid{1}, 7);
  EXPECT_EQ(packet.remote_lid, Lid{8});
  EXPECT_EQ(field(packet.mad, 0, 4), 0x01810101u);
  EXPECT_EQ(field(packet.mad, 4, 4), 2u);            // hop pointer 0: untouched on the LID part
  EXPECT_EQ(field(packet.mad, 32, 4), 0x0001ffffu);  // DrSLID is ours, DrDLID permissive
  EXPECT_EQ(field(packet.mad, 128, 4), 0x00030100u);
}

TEST(RequestBytes, SetCarriesItsData) {
  SmpRequest request = port_info(SmpRoute::to_lid(Lid{2}));
  request.method = Method::Set;
  request.data[0] = std::byte{0xaa};
  request.data[63] = std::byte{0xbb};
  const MadPacket packet = build_request(request, Lid{1}, 7);
  EXPECT_EQ(field(packet.mad, 3, 1), 2u);
  EXPECT_EQ(field(packet.mad, 64, 1), 0xaau);
  EXPECT_EQ(field(packet.mad, 127, 1), 0xbbu);
}

TEST(PrintRoute, NamesEachKind) {
  EXPECT_EQ(print_path({PortNum{1}, PortNum{3}, PortNum{2}}), "(1,3,2)");
  EXPECT_EQ(print_route(SmpRoute::directed({})), "()");
  EXPECT_EQ(print_route(SmpRoute::to_lid(Lid{7})), "lid 7");
  EXPECT_EQ(print_route(SmpRoute::mixed(Lid{7}, {PortNum{2}, PortNum{1}})), "lid 7 (2,1)");
}

MadPacket arrived(const Smp& smp, Lid from) {
  MadPacket packet;
  packet.remote_lid = from;
  encode_smp(smp, packet.mad);
  return packet;
}

TEST(ReplyBytes, ATrapIsRepressedWithItsOwnNoticeAndId) {
  Smp trap;
  trap.method = Method::Trap;
  trap.transaction_id = 0x77;
  trap.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  trap.data[3] = std::byte{0x80};
  const MadPacket repress = make_trap_repress(trap, arrived(trap, Lid{6}), MKey{3});
  EXPECT_EQ(repress.remote_lid, Lid{6});
  const Smp smp = decode_smp(repress.mad).value();
  EXPECT_EQ(smp.method, Method::TrapRepress);
  EXPECT_FALSE(smp.directed);
  EXPECT_EQ(smp.transaction_id, 0x77u);
  EXPECT_EQ(smp.attribute_id, trap.attribute_id);
  EXPECT_EQ(smp.data, trap.data);
  EXPECT_EQ(smp.m_key, MKey{3});
}

TEST(ReplyBytes, ALidRoutedAnswerGoesToTheSender) {
  Smp get;
  get.method = Method::Get;
  get.attribute_id = static_cast<std::uint16_t>(AttributeId::SmInfo);
  get.transaction_id = 0x1'0000'0002;
  SmpData data{};
  data[0] = std::byte{9};
  const MadPacket answer = make_response(get, arrived(get, Lid{6}), data, MadStatus::BadField);
  EXPECT_EQ(answer.remote_lid, Lid{6});
  const Smp smp = decode_smp(answer.mad).value();
  EXPECT_EQ(smp.method, Method::GetResp);
  EXPECT_EQ(smp.transaction_id, 0x1'0000'0002u);
  EXPECT_EQ(smp.status, 0x1c);
  EXPECT_EQ(smp.data, data);
}

Smp directed_get(std::uint8_t hops) {
  Smp get;
  get.directed = true;
  get.method = Method::Get;
  get.hop_count = hops;
  get.hop_pointer = static_cast<std::uint8_t>(hops + 1);
  for (std::uint8_t hop = 1; hop <= hops; ++hop) {
    get.initial_path[hop] = hop;
    get.return_path[hop] = static_cast<std::uint8_t>(hop + 10);
  }
  return get;
}

TEST(ReplyBytes, AHopPointerThatNeverMovedStaysWhereItIs) {
  Smp get = directed_get(3);
  get.hop_pointer = 0;
  const MadPacket answer = make_response(get, arrived(get, kPermissiveLid), {});
  EXPECT_EQ(decode_smp(answer.mad)->hop_pointer, 0);
  EXPECT_TRUE(decode_smp(answer.mad)->returning);
}

TEST(ReplyBytes, WhoeverAskedIsAskedBackTheWayItCame) {
  const Smp get = directed_get(3);
  const auto back = find_route_back(get, arrived(get, kPermissiveLid));
  EXPECT_EQ(back, SmpRoute::directed({PortNum{13}, PortNum{12}, PortNum{11}}));
  Smp by_lid;
  EXPECT_EQ(find_route_back(by_lid, arrived(by_lid, Lid{6})), SmpRoute::to_lid(Lid{6}));
  Smp mixed = directed_get(1);
  mixed.dr_slid = Lid{4};
  EXPECT_EQ(find_route_back(mixed, arrived(mixed, Lid{4})), std::nullopt);
}

TEST(ReplyBytes, ADirectedAnswerStartsItsWayBackOnePastTheEnd) {
  const Smp get = directed_get(3);
  const MadPacket answer = make_response(get, arrived(get, kPermissiveLid), {});
  EXPECT_EQ(answer.remote_lid, kPermissiveLid);
  EXPECT_EQ(field(answer.mad, 3, 1), 0x81u);
  EXPECT_EQ(field(answer.mad, 4, 4), 0x80000403u);
  const Smp smp = decode_smp(answer.mad).value();
  EXPECT_EQ(smp.initial_path, get.initial_path);
  EXPECT_EQ(smp.return_path, get.return_path);
}

TEST(ReplyBytes, ADirectedAnswerToAMixedRouteKeepsItsLids) {
  Smp get = directed_get(2);
  get.dr_slid = Lid{5};
  const MadPacket answer = make_response(get, arrived(get, kPermissiveLid), {});
  EXPECT_EQ(answer.remote_lid, kPermissiveLid);  // the switch at the end of the hops sends it on
  EXPECT_EQ(decode_smp(answer.mad)->dr_slid, Lid{5});

  get = directed_get(0);
  get.dr_slid = Lid{5};
  EXPECT_EQ(make_response(get, arrived(get, Lid{5}), {}).remote_lid, Lid{5});
}

TEST(Timing, CodesAreExponentsOf4096Nanoseconds) {
  EXPECT_EQ(subnet_timeout(0), 4096ns);
  EXPECT_EQ(subnet_timeout(18), 1073741824ns);
  EXPECT_EQ(subnet_timeout(31), Duration{4096ll << 31});
  EXPECT_EQ(subnet_timeout(0xe0 | 18), subnet_timeout(18));
  EXPECT_EQ(response_timeout(18, 16), 2 * 1073741824ns + 268435456ns);
}

TEST(Timing, PicksTheSmallestCodeThatCoversTheFarthestNode) {
  // 4 hops of 75 us and a response time of 75 us: 600 us; 4.096 us * 2^7 is 524 us, 2^8 1049 us.
  EXPECT_EQ(
      compute_subnet_timeout_code({.max_distance = 4, .link_delay = 75us, .max_resp_time = 75us}),
      8);
  EXPECT_EQ(compute_subnet_timeout_code({.max_distance = 1, .link_delay = 4096ns}), 0);
  EXPECT_EQ(compute_subnet_timeout_code({.max_distance = 1, .link_delay = 4097ns}), 1);
  EXPECT_EQ(compute_subnet_timeout_code({.max_distance = 64, .max_resp_time = 8000s}), 31);
}

}  // namespace
}  // namespace smd
