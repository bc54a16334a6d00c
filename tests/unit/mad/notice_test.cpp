// The details of the traps, at the offsets of IBA 14.2.5.1; LIDs and masks also as libibmad finds
// them.
#include "smd/mad/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <initializer_list>
#include <map>

#include "smd/mad/congestion.h"

namespace smd {
namespace {

using Numbers = std::initializer_list<std::uint16_t>;

SmpData bytes_of(const Notice& notice) {
  SmpData data;
  encode_notice(notice, data);
  return data;
}

std::uint32_t libibmad(const Notice& notice, MAD_FIELDS field) {
  SmpData data = bytes_of(notice);
  return mad_get_field(data.data(), 0, field);
}

/// Details that are not zero, by offset.
std::map<std::size_t, unsigned> nonzero(const Notice& notice) {
  std::map<std::size_t, unsigned> result;
  for (std::size_t i = 0; i < notice.details.size(); ++i) {
    if (notice.details[i] != 0) result[i] = notice.details[i];
  }
  return result;
}

TEST(Trap128, NamesTheSwitchWhosePortsChanged) {
  const Notice notice = link_state_notice(Lid{0x1234});
  EXPECT_TRUE(notice.is_generic);
  EXPECT_EQ(notice.type, 1);  // urgent
  EXPECT_EQ(notice.producer_or_vendor, 2u);
  EXPECT_EQ(notice.trap_or_device, 128);
  EXPECT_EQ(notice.issuer_lid, Lid{0x1234});
  EXPECT_EQ(libibmad(notice, IB_NOTICE_DATA_LID_F), 0x1234u);
  EXPECT_EQ(notice_subject(notice), Lid{0x1234});
  EXPECT_EQ(print_notice(notice),
            "trap 128 (link state changed) urgent from switch lid 4660 count 0 about lid 4660");
}

TEST(CcKeyTrap, NamesTheStrangerAndWhatHeAsked) {
  const cc::KeyViolation violation{.source = Lid{0x0102},
                                   .method = 2,
                                   .attribute = 0x0017,
                                   .modifier = 3,
                                   .qp = 0x040506,
                                   .key = cc::CcKey{0x0700000000000008},
                                   .source_gid = {.prefix = 9, .guid = Guid{10}}};
  const Notice notice = cc::key_notice(violation, NodeType::Ca);
  EXPECT_EQ(notice.type, 2);  // security
  EXPECT_EQ(notice.trap_or_device, 0);
  EXPECT_THAT(nonzero(notice),
              testing::ElementsAre(testing::Pair(0, 1),
                                   testing::Pair(1, 2),
                                   testing::Pair(2, 2),
                                   testing::Pair(5, 0x17),
                                   testing::Pair(11, 3),
                                   testing::Pair(13, 4),
                                   testing::Pair(14, 5),
                                   testing::Pair(15, 6),
                                   testing::Pair(16, 7),
                                   testing::Pair(23, 8),
                                   testing::Pair(31, 9),
                                   testing::Pair(39, 10)));
  EXPECT_EQ(cc::find_key_violation(notice), violation);
  EXPECT_EQ(cc::find_key_violation(link_state_notice(Lid{1})), std::nullopt);
}

TEST(CcPortMask, CountsPortsFromTheLastBit) {
  cc::PortMask mask;
  mask.set(PortNum{0});
  mask.set(PortNum{254});
  EXPECT_EQ(mask.bytes[31], 0x01);
  EXPECT_EQ(mask.bytes[0], 0x40);
  EXPECT_TRUE(mask.test(PortNum{254}));
  EXPECT_FALSE(mask.test(PortNum{255}));
}

TEST(Trap129To131, NameThePort) {
  for (const std::uint16_t number : Numbers{129, 130, 131}) {
    const PortErrorReport report{.trap = number, .lid = Lid{0x0102}, .port = PortNum{17}};
    const Notice notice = port_error_notice(report, NodeType::Ca);
    EXPECT_EQ(nonzero(notice), (std::map<std::size_t, unsigned>{{2, 1}, {3, 2}, {4, 17}}));
    EXPECT_EQ(notice_subject(notice), Lid{0x0102});
    EXPECT_EQ(find_port_error(notice), report);
  }
  EXPECT_EQ(find_port_error(link_state_notice(Lid{1})), std::nullopt);
}

TEST(Trap144, CarriesTheNewCapabilities) {
  const Notice notice = capability_notice(Lid{0x0506}, NodeType::Ca, 0xdeadbeef, false);
  EXPECT_EQ(notice.type, 4);  // informational
  EXPECT_EQ(libibmad(notice, IB_NOTICE_DATA_144_LID_F), 0x0506u);
  EXPECT_EQ(libibmad(notice, IB_NOTICE_DATA_144_CAPMASK_F), 0xdeadbeefu);
  EXPECT_EQ(notice.details[5], 0);
  EXPECT_EQ(notice.details[11], 0);
  EXPECT_EQ(notice_subject(notice), Lid{0x0506});
  EXPECT_EQ(find_capability_change(notice),
            (CapabilityChange{.lid = Lid{0x0506}, .capability_mask = 0xdeadbeef}));
}

TEST(Trap144, SaysThatTheDescriptionChanged) {
  const Notice notice = capability_notice(Lid{1}, NodeType::Switch, 0, true);
  EXPECT_EQ(nonzero(notice), (std::map<std::size_t, unsigned>{{3, 1}, {5, 1}, {11, 1}}));
  EXPECT_TRUE(find_capability_change(notice)->description_changed);
}

TEST(Trap144, SaysThatAManagerWantsToRule) {
  const Notice notice = sm_priority_notice(Lid{1}, NodeType::Ca, 0x02000000);
  EXPECT_EQ(nonzero(notice), (std::map<std::size_t, unsigned>{{3, 1}, {5, 1}, {6, 2}, {11, 8}}));
  EXPECT_EQ(find_capability_change(notice),
            (CapabilityChange{
                .lid = Lid{1}, .capability_mask = 0x02000000, .sm_priority_changed = true}));
}

TEST(Trap144, ReadsTheOtherChangesOnlyWhereTheyAreAnnounced) {
  Notice notice = capability_notice(Lid{1}, NodeType::Ca, 0, true);
  notice.details[11] = 0x06;
  EXPECT_EQ(find_capability_change(notice),
            (CapabilityChange{
                .lid = Lid{1}, .width_enabled_changed = true, .speed_enabled_changed = true}));
  notice.details[5] = 0;  // OtherLocalChanges
  EXPECT_EQ(find_capability_change(notice), (CapabilityChange{.lid = Lid{1}}));
}

TEST(Trap256, TellsWhoUsedWhichMKey) {
  const MKeyViolation violation{.lid = Lid{3},
                                .source = Lid{0x0405},
                                .method = Method::Set,
                                .attribute_id = 0x0015,
                                .attribute_modifier = 0x80000007,
                                .m_key = MKey{0x1122334455667788}};
  const Notice notice = m_key_notice(violation, NodeType::Switch);
  EXPECT_EQ(notice.type, 2);  // security
  EXPECT_EQ(notice.trap_or_device, 256);
  EXPECT_EQ(notice.issuer_lid, Lid{3});
  EXPECT_EQ(nonzero(notice),
            (std::map<std::size_t, unsigned>{{2, 4},
                                             {3, 5},
                                             {6, 2},
                                             {9, 0x15},
                                             {10, 0x80},
                                             {13, 7},
                                             {14, 0x11},
                                             {15, 0x22},
                                             {16, 0x33},
                                             {17, 0x44},
                                             {18, 0x55},
                                             {19, 0x66},
                                             {20, 0x77},
                                             {21, 0x88}}));
  EXPECT_EQ(find_m_key_violation(notice), violation);
}

TEST(Trap256, TellsTheReturnPathOfADirectedPacket) {
  MKeyViolation violation{.lid = Lid{3},
                          .source = kPermissiveLid,
                          .directed = true,
                          .dr_slid = Lid{0x0708},
                          .path_truncated = true,
                          .hop_count = 33};
  violation.return_path[0] = 9;
  violation.return_path[29] = 10;
  const Notice notice = m_key_notice(violation, NodeType::Ca);
  EXPECT_EQ(notice.details[4], 7);
  EXPECT_EQ(notice.details[5], 8);
  EXPECT_EQ(notice.details[23], 0xc0 | 33);
  EXPECT_EQ(notice.details[24], 9);
  EXPECT_EQ(notice.details[53], 10);
  EXPECT_EQ(find_m_key_violation(notice), violation);
}

TEST(Trap257And258, TellWhoUsedWhichKey) {
  for (const std::uint16_t number : Numbers{257, 258}) {
    const KeyViolation violation{.trap = number,
                                 .source = Lid{0x0101},
                                 .destination = Lid{0x0202},
                                 .key = 0x0000ffff,
                                 .sl = Sl{11},
                                 .source_qp = 0x123456,
                                 .destination_qp = 0xabcdef,
                                 .source_gid = {.prefix = kDefaultSubnetPrefix, .guid = Guid{5}},
                                 .destination_gid = {.prefix = 6, .guid = Guid{7}}};
    const Notice notice = key_notice(violation, NodeType::Ca);
    EXPECT_EQ(nonzero(notice),
              (std::map<std::size_t, unsigned>{{2, 1},
                                               {3, 1},
                                               {4, 2},
                                               {5, 2},
                                               {8, 0xff},
                                               {9, 0xff},
                                               {10, 0xb0},
                                               {11, 0x12},
                                               {12, 0x34},
                                               {13, 0x56},
                                               {15, 0xab},
                                               {16, 0xcd},
                                               {17, 0xef},
                                               {18, 0xfe},
                                               {19, 0x80},
                                               {33, 5},
                                               {41, 6},
                                               {49, 7}}));
    EXPECT_EQ(find_key_violation(notice), violation);
  }
}

TEST(Notice, OfAVendorOrAnotherTrapIsNotMisread) {
  Notice vendor = link_state_notice(Lid{5});
  vendor.is_generic = false;
  EXPECT_EQ(notice_subject(vendor), kUnassignedLid);
  EXPECT_EQ(print_notice(vendor), "vendor 0x000002 device 0x0080 urgent from lid 5 count 0");
  for (const std::uint16_t number : Numbers{0, 64, 127, 132, 143, 146, 255, 259, 65535}) {
    Notice other = link_state_notice(Lid{5});
    other.trap_or_device = number;
    EXPECT_EQ(notice_subject(other), kUnassignedLid) << number;
    EXPECT_FALSE(find_port_error(other) || find_capability_change(other) ||
                 find_m_key_violation(other) || find_key_violation(other))
        << number;
  }
}

}  // namespace
}  // namespace smd
