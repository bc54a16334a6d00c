#include "smd/sa/table_queries.h"

#include <algorithm>

#include "smd/policy/port_policy.h"
#include "smd/sa/candidates.h"
#include "smd/sa/held_tables.h"
#include "smd/sa/record_sink.h"
#include "smd/sa/table_records.h"

namespace smd::sa {

IndexRange<PortIdx> ports_at(const Fabric& fabric, PortIdx end) {
  const NodeIdx node = fabric.node_of[end];
  if (fabric.is_switch(node)) return fabric.ports_of(node);
  return {end, PortIdx{end.value() + 1}};
}

std::optional<SlToVl> find_set_row(const SubnetView& view, PortIdx in, PortIdx out) {
  const Fabric& fabric = view.fabric();
  const NodeIdx node = fabric.node_of[out];
  const SwitchIdx sw = fabric.switch_of[node];
  const LaneMaps* rows = view.parts().rows.get();
  if (sw != kNone<SwitchIdx> && rows != nullptr && !rows->empty())
    return rows->row(sw, fabric.number_of(in), fabric.number_of(out));
  return wanted_row(fabric, view.parts().qos, out);
}

Answer find_p_key_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  if (!query.trusted) return {.status = Status::RequestInvalid};
  const Fabric& fabric = view.fabric();
  RecordSink sink(kPKeyTableRecord, query, limits.bytes, kLid);
  for (const PortIdx end : find_candidates(view, query)) {
    for (const PortIdx port : ports_at(fabric, end)) {
      const PortNum number = fabric.number_of(port);
      const KeyTable* table =
          view.parts().keys.find_part({fabric.node_guid[fabric.node_of[port]], number});
      if (table == nullptr) continue;
      PKeyTableRecord record{.lid = view.lids().base[end], .port = number};
      for (std::size_t from = 0; from < table->size(); from += kPKeyBlockSize) {
        record.block = static_cast<std::uint16_t>(from / kPKeyBlockSize);
        record.keys = {};
        std::copy_n(table->begin() + static_cast<std::ptrdiff_t>(from),
                    std::min(kPKeyBlockSize, table->size() - from),
                    record.keys.begin());
        sink.offer(record);
      }
    }
  }
  return std::move(sink).finish();
}

Answer find_sl_to_vl_records(const SubnetView& view,
                             const Query& query,
                             const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kSlToVlTableRecord, query, limits.bytes, kLid);
  for (const PortIdx end : find_candidates(view, query)) {
    const bool is_switch = fabric.is_switch(fabric.node_of[end]);
    for (const PortIdx out : ports_at(fabric, end)) {
      if (!is_managed(fabric, out)) continue;
      for (const PortIdx in : ports_at(fabric, end)) {
        if (sink.overflowed()) break;
        if (!is_managed(fabric, in)) continue;
        auto row = find_set_row(view, in, out);
        if (!row && view.parts().held != nullptr) row = view.parts().held->row(fabric, in, out);
        if (!row) continue;
        sink.offer(SlToVlTableRecord{.lid = view.lids().base[end],
                                     .in = is_switch ? fabric.number_of(in) : PortNum{0},
                                     .out = is_switch ? fabric.number_of(out) : PortNum{0},
                                     .vls = *row});
      }
    }
  }
  return std::move(sink).finish();
}

Answer find_vl_arb_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kVlArbTableRecord, query, limits.bytes, kLid);
  for (const PortIdx end : find_candidates(view, query)) {
    for (const PortIdx port : ports_at(fabric, end)) {
      for (std::uint8_t block = 1; block <= 4; ++block) {
        const auto part = static_cast<VlArbPart>(block);
        auto entries = wanted_arbitration(fabric, view.parts().qos, port, part);
        if (!entries && view.parts().held != nullptr)
          entries = view.parts().held->arbitration(fabric, port, part);
        if (!entries) continue;
        sink.offer(VlArbTableRecord{.lid = view.lids().base[end],
                                    .out = fabric.number_of(port),
                                    .block = block,
                                    .entries = *entries});
      }
    }
  }
  return std::move(sink).finish();
}

}  // namespace smd::sa
