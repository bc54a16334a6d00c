#include "smd/sa/trace.h"

#include <utility>
#include <vector>

#include "smd/mad/codec.h"
#include "smd/sa/path_query.h"
#include "smd/sa/path_record.h"
#include "smd/sa/path_walk.h"

namespace smd::sa {
namespace {

namespace part = path_component;

TraceRecord describe(const SubnetView& view, NodeIdx node) {
  const NodeInfo& info = view.fabric().node_info[node];
  return {.gid_prefix = view.parts().subnet_prefix,
          .node_type = info.node_type,
          .node = view.fabric().node_guid[node].value(),
          .chassis = info.system_guid.value()};
}

/// `exits`: the port by which each node but the last is left.
std::vector<TraceRecord> trace(const SubnetView& view,
                               PortIdx source,
                               const std::vector<PortIdx>& exits) {
  const Fabric& fabric = view.fabric();
  std::vector<TraceRecord> records{describe(view, fabric.node_of[source])};
  for (const PortIdx exit : exits) {
    const PortIdx entry = fabric.peer[exit];
    records.back().exit_port = fabric.number_of(exit);
    records.back().exit_port_id = fabric.port_guid[exit].value();
    records.push_back(describe(view, fabric.node_of[entry]));
    records.back().entry_port = fabric.number_of(entry);
    records.back().entry_port_id = fabric.port_guid[entry].value();
  }
  return records;
}

}  // namespace

Result<TraceRecord> decode_trace_record(std::span<const std::byte> data) {
  ByteReader in(data);
  TraceRecord record;
  record.gid_prefix = in.u64();
  record.generation = in.u16();
  in.skip(1);
  record.node_type = in.u8();
  record.node = in.u64();
  record.chassis = in.u64();
  record.entry_port_id = in.u64();
  record.exit_port_id = in.u64();
  record.entry_port = PortNum{in.u8()};
  record.exit_port = PortNum{in.u8()};
  if (!in.ok()) return codec::too_short("TraceRecord", data.size());
  return record;
}

void encode_record(const TraceRecord& record, std::span<std::byte> data) {
  ByteWriter out(data.first(kTraceRecordSize));
  out.u64(record.gid_prefix);
  out.u16(record.generation);
  out.zeros(1);
  out.u8(record.node_type);
  out.u64(record.node);
  out.u64(record.chassis);
  out.u64(record.entry_port_id);
  out.u64(record.exit_port_id);
  out.u8(record.entry_port.value());
  out.u8(record.exit_port.value());
  codec::pad(out, kTraceRecordSize);
}

Answer find_trace(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const std::uint64_t mask = query.header.component_mask;
  if ((mask & (part::kSgid | part::kSlid)) == 0 || (mask & (part::kDgid | part::kDlid)) == 0)
    return {.status = Status::InsufficientComponents};
  Query for_path = query;
  for_path.header.mad.method = static_cast<std::uint8_t>(Method::Get);  // one path
  Answer paths = find_path_records(view, for_path, limits);
  Answer answer{.status = paths.status, .offset = kTraceRecordSize / 8, .cost = paths.cost};
  if (paths.status != Status::Ok || paths.records.empty()) return answer;
  const PathRecord path = *decode_path_record(paths.records);
  const PortIdx source = view.lids().owner_of(path.slid);
  std::vector<PortIdx> exits;
  if (!find_way(view, source, path.dlid, &exits)) return answer;
  const std::vector<TraceRecord> records = trace(view, source, exits);
  answer.records.resize(records.size() * kTraceRecordSize);
  for (std::size_t i = 0; i < records.size(); ++i)
    encode_record(records[i], std::span(answer.records).subspan(i * kTraceRecordSize));
  return answer;
}

}  // namespace smd::sa
