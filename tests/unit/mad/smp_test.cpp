// SMPs as whole MADs: byte for byte what libibmad builds, literal examples, and what is refused.
#include "smd/mad/smp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <initializer_list>

#include "smd/base/rng.h"

namespace smd {
namespace {

MadBytes mad_of(const Smp& smp) {
  MadBytes mad;
  mad.fill(std::byte{0xee});
  encode_smp(smp, mad);
  return mad;
}

void put(MadBytes& mad, std::size_t at, std::initializer_list<unsigned> bytes) {
  for (const unsigned b : bytes) mad[at++] = static_cast<std::byte>(b);
}

std::string refusal(std::span<const std::byte> mad) {
  const Result<Smp> smp = decode_smp(mad);
  if (smp) return "accepted";
  EXPECT_EQ(smp.error().code, Errc::Malformed);
  return smp.error().context;
}

TEST(Smp, IsWhatLibibmadBuildsForADirectedRoute) {
  Rng rng(7);
  for (int hops = 0; hops <= 63; ++hops) {
    Smp smp{.directed = true,
            .method = rng.chance(0.5) ? Method::Get : Method::Set,
            .hop_count = static_cast<std::uint8_t>(hops),
            .transaction_id = rng.next() | 1,
            .attribute_id = static_cast<std::uint16_t>(rng.next()),
            .attribute_modifier = static_cast<std::uint32_t>(rng.next()),
            .m_key = MKey{rng.next()},
            .dr_slid = Lid{static_cast<std::uint16_t>(1 + rng.below(0xfffe))}};
    ib_dr_path_t path{};
    path.cnt = hops;
    path.drslid = smp.dr_slid.value();
    for (std::size_t i = 1; i <= smp.hop_count; ++i) {
      path.p[i] = smp.initial_path[i] = static_cast<std::uint8_t>(1 + rng.below(254));
    }
    for (std::byte& b : smp.data) b = static_cast<std::byte>(rng.next());

    ib_rpc_t rpc{};
    rpc.mgtclass = IB_SMI_DIRECT_CLASS;
    rpc.method = static_cast<int>(smp.method);
    rpc.attr = {.id = smp.attribute_id, .mod = smp.attribute_modifier};
    rpc.mkey = smp.m_key.value();
    rpc.trid = smp.transaction_id;
    rpc.dataoffs = IB_SMP_DATA_OFFS;
    rpc.datasz = IB_SMP_DATA_SIZE;
    MadBytes theirs{};
    ASSERT_NE(mad_encode(theirs.data(), &rpc, &path, smp.data.data()), nullptr);

    EXPECT_EQ(mad_of(smp), theirs) << hops << " hops";
    EXPECT_EQ(decode_smp(theirs).value(), smp) << hops << " hops";
  }
}

TEST(Smp, IsWhatLibibmadBuildsForALidRoute) {
  Smp smp{.method = Method::GetResp,
          .status = 0x001c,
          .transaction_id = 0x1122334455667788,
          .attribute_id = 0x0015,
          .attribute_modifier = 0x80000003,
          .m_key = MKey{0xfeedfacecafebeef}};
  for (std::size_t i = 0; i < smp.data.size(); ++i) smp.data[i] = static_cast<std::byte>(i);
  ib_rpc_t rpc{};
  rpc.mgtclass = IB_SMI_CLASS;
  rpc.method = IB_MAD_METHOD_GET_RESPONSE;
  rpc.attr = {.id = 0x0015, .mod = 0x80000003};
  rpc.rstatus = 0x001c;
  rpc.mkey = 0xfeedfacecafebeef;
  rpc.trid = 0x1122334455667788;
  rpc.dataoffs = IB_SMP_DATA_OFFS;
  rpc.datasz = IB_SMP_DATA_SIZE;
  MadBytes theirs{};
  ASSERT_NE(mad_encode(theirs.data(), &rpc, nullptr, smp.data.data()), nullptr);
  EXPECT_EQ(mad_of(smp), theirs);
  EXPECT_EQ(decode_smp(theirs).value(), smp);
}

// The first request of a discovery beyond the local port: NodeInfo of what hangs on port 1.
TEST(Smp, EncodesTheFirstHopOfADiscovery) {
  Smp smp{.directed = true,
          .method = Method::Get,
          .hop_count = 1,
          .transaction_id = 0x1234,
          .attribute_id = static_cast<std::uint16_t>(AttributeId::NodeInfo)};
  smp.initial_path[1] = 1;
  MadBytes wanted{};
  put(wanted, 0, {0x01, 0x81, 0x01, 0x01, 0x00, 0x00, 0x00, 0x01});
  put(wanted, 14, {0x12, 0x34, 0x00, 0x11});
  put(wanted, 32, {0xff, 0xff, 0xff, 0xff});
  put(wanted, 129, {0x01});
  EXPECT_EQ(mad_of(smp), wanted);
  EXPECT_EQ(print_smp(smp), "Get NodeInfo mod 0 tid 0x1234 path 0,1 hop 0/1");
}

// A refusal on its way back over three hops of a mixed route.
TEST(Smp, DecodesARefusalOnItsWayBack) {
  MadBytes mad{};
  put(mad, 0, {0x01, 0x81, 0x01, 0x81, 0x80, 0x0c, 0x02, 0x03});
  put(mad, 8, {0, 0, 0, 1, 0xde, 0xad, 0xbe, 0xef, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x05});
  put(mad, 32, {0x00, 0x07, 0xff, 0xff});
  put(mad, 129, {3, 12, 36});
  put(mad, 193, {1, 2, 9});
  const Smp smp = decode_smp(mad).value();
  EXPECT_TRUE(smp.directed);
  EXPECT_TRUE(smp.returning);
  EXPECT_EQ(smp.method, Method::GetResp);
  EXPECT_EQ(smp.status, 0x000c);
  EXPECT_EQ(smp.hop_pointer, 2);
  EXPECT_EQ(smp.hop_count, 3);
  EXPECT_EQ(smp.dr_slid, Lid{7});
  EXPECT_EQ(smp.dr_dlid, kPermissiveLid);
  EXPECT_EQ(smp.return_path[3], 9);
  EXPECT_EQ(print_smp(smp),
            "GetResp VLArbitrationTable mod 0x10005 tid 0x1deadbeef path 0,3,12,36 hop 2/3 back "
            "drslid 7 status 0x000c (attribute not supported by method)");
}

TEST(Smp, PrintsALidRoutedRequest) {
  EXPECT_EQ(print_smp(Smp{.method = Method::TrapRepress, .attribute_id = 0x0002}),
            "TrapRepress Notice mod 0 tid 0x0 by lid");
}

TEST(Smp, RefusesWhatIsNoSmp) {
  const MadBytes good = mad_of(Smp{.directed = true, .hop_count = 63});
  ASSERT_EQ(refusal(good), "accepted");

  const auto with = [&good](std::size_t at, unsigned value) {
    MadBytes mad = good;
    mad[at] = static_cast<std::byte>(value);
    return refusal(mad);
  };
  EXPECT_EQ(with(0, 2), "SMP: base version 2 and class version 1, both must be 1");
  EXPECT_EQ(with(2, 0), "SMP: base version 1 and class version 0, both must be 1");
  EXPECT_EQ(with(1, 0x04), "SMP: class 0x04, not 0x01 or 0x81");
  EXPECT_EQ(with(7, 64), "SMP: hop count 64, at most 63");
  EXPECT_EQ(with(7, 255), "SMP: hop count 255, at most 63");
  EXPECT_EQ(refusal(std::span(good).first(255)), "SMP: 255 bytes, a MAD has 256");
  EXPECT_EQ(refusal({}), "SMP: 0 bytes, a MAD has 256");
  std::vector<std::byte> long_mad(good.begin(), good.end());
  long_mad.push_back(std::byte{0});
  EXPECT_EQ(refusal(long_mad), "SMP: 257 bytes, a MAD has 256");
}

// Byte 7 is a hop count in one class and reserved in the other.
TEST(Smp, IgnoresTheHopFieldsOfALidRoutedPacket) {
  MadBytes mad = mad_of(Smp{.transaction_id = 5});
  mad[6] = std::byte{200};
  mad[7] = std::byte{200};
  EXPECT_EQ(decode_smp(mad).value(), Smp{.transaction_id = 5});
}

TEST(Smp, KeepsMethodsItHasNoNameFor) {
  const Smp smp{.method = static_cast<Method>(0x6e)};
  EXPECT_EQ(decode_smp(mad_of(smp)).value().method, static_cast<Method>(0x6e));
  EXPECT_THAT(print_smp(smp), testing::StartsWith("method 0x6e 0x0000"));
}

TEST(MadHeader, PrintsNamesOfTheClass) {
  EXPECT_EQ(print_mad_header({.mgmt_class = 0x01, .method = 0x01, .attribute_id = 0x12}),
            "Get SwitchInfo mod 0 tid 0x0");
  EXPECT_EQ(print_mad_header({.mgmt_class = 0x04, .method = 0x01, .attribute_id = 0x12}),
            "Get PortCounters mod 0 tid 0x0 class 0x04");
  EXPECT_EQ(print_mad_header({.mgmt_class = 0x03, .method = 0x12, .attribute_id = 0x12}),
            "GetTable 0x0012 mod 0 tid 0x0 class 0x03");
}

TEST(MadStatus, NamesEveryPartOfTheWord) {
  EXPECT_EQ(print_mad_status(0), "ok");
  EXPECT_EQ(print_mad_status(0x0001), "0x0001 (busy)");
  EXPECT_EQ(print_mad_status(0x0002), "0x0002 (redirect)");
  EXPECT_EQ(print_mad_status(0x0004), "0x0004 (bad version or class)");
  EXPECT_EQ(print_mad_status(0x0008), "0x0008 (method not supported)");
  EXPECT_EQ(print_mad_status(0x001d), "0x001d (busy+invalid field)");
  EXPECT_EQ(print_mad_status(0x0010), "0x0010 (reserved code)");
  EXPECT_EQ(print_mad_status(0x0300), "0x0300 (class specific)");
}

}  // namespace
}  // namespace smd
