// TraceRecord: the nodes along a path, and other managers in SMInfoRecord.
#include <gtest/gtest.h>

#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace trace_test {

namespace part = path_component;

constexpr std::uint64_t kLids = part::kSlid | part::kDlid;

Answer trace(const SubnetView& view,
             std::uint64_t mask,
             const PathRecord& wanted,
             PortIdx requester = kNone<PortIdx>,
             bool trusted = false) {
  const Asked asked =
      ask(Method::GetTraceTable, RecordId::TraceRecord, mask, wanted, kPathRecordSize);
  Query query = asked.query(trusted);
  query.requester = requester;
  return answer_query(view, query);
}

std::vector<TraceRecord> records_of(const Answer& answer) {
  std::vector<TraceRecord> out;
  for (std::size_t at = 0; at < answer.records.size(); at += kTraceRecordSize)
    out.push_back(*decode_trace_record(std::span(answer.records).subspan(at)));
  return out;
}

/// "H1 >1, 3> S1 >1, …": node, port in, port out.
std::string print(const SubnetView& view, const Answer& answer) {
  std::string text;
  for (const TraceRecord& each : records_of(answer)) {
    const NodeIdx node = *view.fabric().find_node(Guid{each.node});
    text += fmt::format("{}{}:{}-{}",
                        text.empty() ? "" : " ",
                        view.fabric().description[node],
                        each.entry_port.value(),
                        each.exit_port.value());
  }
  return text;
}

TEST(Trace, NamesEveryNodeWithThePortsInAndOut) {
  const auto view = view_of("H1:1-S1:4 S1:5-S2:6 S2:7-H3:1");
  const Answer there =
      trace(*view, kLids, {.dlid = lid_of(*view, "H3"), .slid = lid_of(*view, "H1")});
  EXPECT_EQ(there.status, Status::Ok);
  EXPECT_EQ(there.offset, 6);
  EXPECT_EQ(print(*view, there), "H1:0-1 S1:4-5 S2:6-7 H3:1-0");
  const std::vector<TraceRecord> records = records_of(there);
  EXPECT_EQ(records[0].node_type, 1);
  EXPECT_EQ(records[1].node_type, 2);
  EXPECT_EQ(records[0].exit_port_id, guid_of(*view, "H1").value());
  EXPECT_EQ(records[3].entry_port_id, guid_of(*view, "H3").value());
  EXPECT_EQ(records[0].entry_port_id, 0u);
  const Answer back = trace(*view,
                            part::kSgid | part::kDgid,
                            {.dgid = {kDefaultSubnetPrefix, guid_of(*view, "H1")},
                             .sgid = {kDefaultSubnetPrefix, guid_of(*view, "S2")}});
  EXPECT_EQ(print(*view, back), "S2:0-6 S1:5-4 H1:1-0");
}

TEST(Trace, OfAPathThatIsNoneIsEmptyOrRefused) {
  const auto view = view_of("H1-S1 H2-S1");
  const Lid h1 = lid_of(*view, "H1");
  EXPECT_EQ(print(*view, trace(*view, kLids, {.dlid = h1, .slid = h1})), "H1:0-0");
  const Answer to_nobody = trace(*view, kLids, {.dlid = Lid{99}, .slid = h1});
  EXPECT_EQ(to_nobody.status, Status::Ok);
  EXPECT_TRUE(to_nobody.records.empty());
  EXPECT_EQ(trace(*view, part::kSlid, {.slid = h1}).status, Status::InsufficientComponents);
  EXPECT_EQ(trace(*view, part::kDlid, {.dlid = h1}).status, Status::InsufficientComponents);
  EXPECT_EQ(trace(*view,
                  part::kSlid | part::kDgid,
                  {.dgid = {kDefaultSubnetPrefix, Guid{0xbad}}, .slid = h1})
                .status,
            Status::InvalidGid);
  const Asked get = ask(Method::Get, RecordId::TraceRecord, kLids, PathRecord{}, kPathRecordSize);
  EXPECT_EQ(answer_query(*view, get.query()).status, Status::BadMethodAttribute);
  const Asked other =
      ask(Method::GetTraceTable, RecordId::NodeRecord, 0, PathRecord{}, kPathRecordSize);
  EXPECT_EQ(answer_query(*view, other.query()).status, Status::BadMethod);
}

/// Hosts of one partition, of which the switches are not: no record shows a host the switches, and
/// the trace does not say who they are.
TEST(Trace, OfNodesThatAHostMayNotSeeItSaysNothingButWhatTheyAre) {
  ViewParts parts = parts_of("H1-S1 H2:1-S1:4 S1:5-S2:6 S2:7-H3:1");
  const PartitionPolicy policy{
      .rules = parse_partition_file("A=1: 0x20201=full, 0x20301=full;", "p").value().rules};
  auto plan = std::make_shared<PartitionPlan>();
  plan->map = build_partition_map(*parts.fabric, policy);
  parts.partitions = plan;
  const SubnetView view(std::move(parts));
  const PortIdx h2 = test::end_port(view.fabric(), "H2");
  const PathRecord wanted{.dlid = lid_of(view, "H3"), .slid = lid_of(view, "H2")};
  EXPECT_EQ(print(view, trace(view, kLids, wanted, h2, true)), "H2:0-1 S1:4-5 S2:6-7 H3:1-0");
  const std::vector<TraceRecord> seen = records_of(trace(view, kLids, wanted, h2));
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].node, view.fabric().node_guid[test::node(view.fabric(), "H2")].value());
  EXPECT_EQ(seen[0].exit_port_id, guid_of(view, "H2").value());
  EXPECT_EQ(seen[0].exit_port, PortNum{1});
  for (const std::size_t at : {1u, 2u}) {
    EXPECT_EQ(seen[at],
              (TraceRecord{.gid_prefix = kDefaultSubnetPrefix,
                           .node_type = static_cast<std::uint8_t>(NodeType::Switch)}));
  }
  EXPECT_EQ(seen[3].entry_port_id, guid_of(view, "H3").value());
}

TEST(Trace, BytesAreAsTheSpecificationPlacesThem) {
  const TraceRecord record{.gid_prefix = 0x1111,
                           .generation = 0x2222,
                           .node_type = 3,
                           .node = 0x4444,
                           .chassis = 0x5555,
                           .entry_port_id = 0x6666,
                           .exit_port_id = 0x7777,
                           .entry_port = PortNum{8},
                           .exit_port = PortNum{9}};
  std::array<std::byte, kTraceRecordSize> bytes{};
  encode_record(record, bytes);
  EXPECT_EQ(*decode_trace_record(bytes), record);
  EXPECT_EQ(bytes[9], std::byte{0x22});
  EXPECT_EQ(bytes[11], std::byte{3});
  EXPECT_EQ(bytes[44], std::byte{8});
  EXPECT_EQ(bytes[45], std::byte{9});
  EXPECT_FALSE(decode_trace_record(std::span(bytes).first(45)));
}

TEST(Managers, OthersThatAreKnownAreRecordsToo) {
  ViewParts parts = parts_of("H1-S1 H2-S1");
  parts.other_managers = {{Lid{2}, {.guid = Guid{0x88}, .sm_key = SmKey{5}, .sm_state = 2}}};
  const SubnetView view(std::move(parts));
  const auto all =
      ask(Method::GetTable, RecordId::SmInfoRecord, 0, SmInfoRecord{}, kSmInfoRecord.size);
  const Answer answer = answer_query(view, all.query());
  ASSERT_EQ(answer.count(), 2u);
  const auto other = *decode_sm_info_record(std::span(answer.records).subspan(kSmInfoRecord.size));
  EXPECT_EQ(other.lid, Lid{2});
  EXPECT_EQ(other.info.guid, Guid{0x88});
  EXPECT_EQ(other.info.sm_key, SmKey{}) << "not for everybody";
}

}  // namespace trace_test
}  // namespace smd::sa
