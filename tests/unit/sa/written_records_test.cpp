// Clients write whatever they like: groups, services and subscriptions, half of
// them as they should be, the others with wrong fields, wrong masks or random
// bytes. What is kept stays as it must be, a refusal changes nothing, and every
// request is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "smd/multicast/subnet_limits.h"
#include "smd/sa/group_manager.h"
#include "tests/unit/sa/kept.h"

namespace smd::sa {
namespace written_records_test {

using std::chrono_literals::operator""s;

constexpr std::uint16_t kMlids = 8;
constexpr std::size_t kMostServices = 12;
constexpr std::size_t kMostSubscriptions = 10;
const char* const kWhole = "H1-S1 H2-S1 S1-S2 H3-S2 H4-S2";
const char* const kLess = "H1-S1 H2-S1 S1-S2 H4-S2";  // without H3

/// The administration with everything that clients write into, as the daemon
/// wires it.
struct Desk : KeptBench {
  Desk()
      : KeptBench({.table = {.all = kMostSubscriptions, .of_one_port = 6}},
                  {.all = kMostServices, .of_one_port = 8}) {
    server.add_manager(manager);
    move_to(kWhole);
  }

  /// Ports that are gone leave their groups.
  void move_to(std::string_view text) {
    ViewParts parts = parts_of(text);
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.mtu_cap = 5;
    for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = kMlids;
    parts.fabric = fabric;
    subnet.emplace(SnapshotLimits::Parts{.fabric = parts.fabric, .lids = parts.lids});
    groups.drop(
        [this](Guid port, const Group&) { return subnet->port_of(port) == kNone<PortIdx>; });
    adopt(std::make_shared<const SubnetView>(parts));
  }

  std::optional<SnapshotLimits> subnet;
  GroupTable groups;
  MftMemory tables;
  GroupManager manager{{.groups = groups,
                        .tables = tables,
                        .subnet = [this]() -> const SubnetLimits* { return &*subnet; },
                        .on_changed = [] {}}};
};

/// Empty, or what is not as it must be.
std::string find_flaw(const Desk& desk) {
  for (const auto& [mgid, group] : desk.groups.groups()) {
    if (!(mgid.prefix >> 56 == 0xff)) return "a group with a unicast GID";
    if (group.mlid < kFirstMlid || group.mlid.value() >= kFirstMlid.value() + kMlids)
      return "an MLID that switches have no room for";
    bool kept = group.permanent;
    for (const auto& each : group.members) {
      const Member& member = each.second;
      if (desk.subnet->port_of(port_of(each)) == kNone<PortIdx>)
        return "a member that does not exist";
      if (member.join_state == 0 || member.join_state > 15) return "a member without a JoinState";
      kept = kept || join_state::keeps_group(member.join_state);
    }
    if (!kept) return "a group that nobody keeps";
  }
  if (desk.services.table().all().size() > kMostServices) return "too many services";
  if (desk.inform.table().count() > kMostSubscriptions) return "too many subscriptions";
  return {};
}

class Scribbler {
 public:
  explicit Scribbler(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  bool often() { return below(8) != 0; }

  /// A request of one kind, more or less as it should be.
  Asked any() {
    Asked asked = below(3) == 0 ? service() : below(2) == 0 ? subscription() : membership();
    if (below(4) == 0) asked.header.component_mask ^= std::uint64_t{1} << below(20);
    if (below(8) == 0) asked.header.component_mask = random_();
    if (below(6) == 0) {
      for (std::uint64_t i = below(4) + 1; i > 0; --i)
        asked.data[below(kMcMemberRecord.size)] = static_cast<std::byte>(random_());
    }
    if (below(40) == 0) {
      for (std::byte& each : asked.data) each = static_cast<std::byte>(random_());
    }
    if (below(12) == 0) asked.header.sm_key = below(2) == 0 ? kTrusted : SmKey{3};
    return asked;
  }

 private:
  Gid port() {
    const std::uint64_t host = below(6) + 1;  // the last two do not exist
    return {often() ? kDefaultSubnetPrefix : random_(), Guid{0x20000 + (host << 8) + 1}};
  }

  Method method(Method often_used) {
    static constexpr Method kAll[] = {Method::Get, Method::GetTable, Method::Set, Method::Delete};
    return often() ? often_used : kAll[below(4)];
  }

  Asked membership() {
    namespace part = member_component;
    const bool joins = below(3) != 0;
    const std::uint64_t more =
        below(3) == 0 ? 0
                      : part::kQKey | part::kPKey | part::kTclass | part::kFlowLabel | part::kSl;
    return ask(method(joins ? Method::Set : Method::Delete),
               RecordId::McMemberRecord,
               part::kMgid | part::kPortGid | part::kJoinState | more,
               McMemberRecord{.mgid = {often() ? 0xff12401bffff0000u : 0u, Guid{below(20)}},
                              .port_gid = port(),
                              .q_key = 0xb1b,
                              .mtu = {Selector::LessThan, static_cast<std::uint8_t>(below(7))},
                              .p_key = often() ? kDefaultPKey : PKey{0x12},
                              .sl = static_cast<std::uint8_t>(often() ? 0 : below(16)),
                              .join_state = static_cast<std::uint8_t>(often() ? 1 : below(16))},
               kMcMemberRecord.size);
  }

  Asked service() {
    namespace part = service_component;
    return ask(method(below(3) != 0 ? Method::Set : Method::Delete),
               RecordId::ServiceRecord,
               part::kId | part::kGid | (below(2) == 0 ? part::kLease : 0),
               ServiceRecord{.id = below(6),
                             .gid = port(),
                             .p_key = kDefaultPKey,
                             .lease_s = static_cast<std::uint32_t>(below(5))},
               kServiceRecord.size);
  }

  Asked subscription() {
    const auto trap = static_cast<std::uint16_t>(below(2) == 0 ? kAnyTrap : 64 + below(4));
    return ask(method(Method::Set),
               RecordId::InformInfo,
               0,
               InformInfo{.lid_first = Lid{static_cast<std::uint16_t>(often() ? 0xffff : below(9))},
                          .is_generic = static_cast<std::uint8_t>(often() ? 1 : below(256)),
                          .subscribe = static_cast<std::uint8_t>(below(3)),
                          .trap_or_device = trap,
                          .qpn = often() ? 1u : 0u},
               kInformInfoSize);
  }

  std::mt19937_64 random_;
};

TEST(WrittenRecords, WhateverIsWrittenWhatIsKeptIsSound) {
  static const std::set<std::uint16_t> known{0x0000,
                                             0x0001,
                                             0x0008,
                                             0x000c,
                                             0x001c,
                                             0x0100,
                                             0x0200,
                                             0x0300,
                                             0x0400,
                                             0x0500,
                                             0x0600,
                                             0x0700};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Scribbler scribbler(seed);
    Desk desk;
    std::set<std::uint16_t> seen;
    std::size_t most_groups = 0;
    std::uint64_t before = desk.server.stats().requests;
    for (int i = 0; i < 4000; ++i) {
      if (i % 500 == 499) desk.move_to(i % 1000 == 999 ? kWhole : kLess);
      if (i % 97 == 0) desk.run_for(2s);
      const Asked asked = scribbler.any();
      const std::uint64_t version = desk.groups.version();
      const auto services = desk.services.table().all().size();
      desk.answered = {};
      desk.answered.mad.status = 0xffff;  // nothing came
      // LIDs 1 to 6 are those of the subnet.
      desk.give(asked, Lid{static_cast<std::uint16_t>(1 + scribbler.below(8))}, ++desk.transaction);
      desk.run();
      for (const MadPacket& packet : desk.transport.sent) {
        const SaHeader header = *decode_sa_header(packet.mad);
        if (header.mad.transaction_id == desk.transaction) desk.answered = header;
      }
      desk.transport.sent.clear();
      const std::uint16_t status = desk.answered.mad.status;
      const bool silent = asked.header.sm_key == SmKey{3};
      ASSERT_EQ(status == 0xffff, silent) << i;
      if (silent) continue;
      seen.insert(status);
      ASSERT_TRUE(known.contains(status)) << i << " status " << status;
      if (status != 0) {
        ASSERT_EQ(desk.groups.version(), version) << i << ": a refusal changed a group";
        ASSERT_EQ(desk.services.table().all().size(), services) << i;
      }
      ASSERT_EQ(find_flaw(desk), "") << i;
      most_groups = std::max(most_groups, desk.groups.groups().size());
    }
    const ServerStats& stats = desk.server.stats();
    EXPECT_EQ(stats.requests - before, stats.answered + stats.refused + stats.wrong_key);
    EXPECT_GT(stats.answered, 300u);
    EXPECT_GT(stats.refused, 300u);
    EXPECT_GT(most_groups, std::size_t{kMlids}) << "some share an MLID";
    EXPECT_GE(seen.size(), 6u);
    // Nobody is left: nothing is left.
    desk.groups.drop([](Guid, const Group&) { return true; });
    EXPECT_TRUE(desk.groups.groups().empty());
  }
}

}  // namespace written_records_test
}  // namespace smd::sa
