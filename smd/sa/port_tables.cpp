#include "smd/sa/port_tables.h"

#include <algorithm>
#include <utility>

#include "smd/mad/codec.h"
#include "smd/policy/port_policy.h"
#include "smd/sa/query.h"

namespace smd::sa {
namespace {

constexpr Component kPKeyComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 16},   // BlockNum
    {2, 32, 8},    // PortNum
    {3, 40, 24},   // reserved
    {4, 64, 512},  // P_KeyTable
};

constexpr Component kSlToVlComponents[] = {
    {0, 0, 16},   // LID
    {1, 16, 8},   // InputPortNum
    {2, 24, 8},   // OutputPortNum
    {3, 32, 32},  // reserved
    {4, 64, 64},  // SLtoVLMappingTable
};

constexpr Component kVlArbComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 8},    // OutputPortNum
    {2, 24, 8},    // BlockNum
    {3, 32, 32},   // reserved
    {4, 64, 512},  // VLArbitrationTable
};

constexpr std::size_t kTableAt = 8;
constexpr std::size_t kRowSize = 8;

/// Every table that a port can have: which it has follows from the port.
const QosPolicy& everything() {
  static const QosPolicy all = [] {
    QosPolicy policy;
    policy.sl_to_vl.emplace();
    policy.high.emplace();
    policy.low.emplace();
    return policy;
  }();
  return all;
}

/// The agent that holds the tables of the port.
TableBlock at_agent(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  return {.node = fabric.node_guid[node],
          .port = fabric.is_switch(node) ? PortNum{0} : fabric.number_of(port)};
}

TableBlock row_block(const Fabric& fabric, PortIdx in, PortIdx out) {
  TableBlock block = at_agent(fabric, out);
  block.attribute = AttributeId::SlToVlMappingTable;
  if (fabric.is_switch(fabric.node_of[out]))
    block.modifier =
        encode_modifier(SlToVlModifier{.in = fabric.number_of(in), .out = fabric.number_of(out)});
  return block;
}

TableBlock arbitration_block(const Fabric& fabric, PortIdx port, VlArbPart part) {
  TableBlock block = at_agent(fabric, port);
  block.attribute = AttributeId::VlArbitrationTable;
  block.modifier = encode_modifier(VlArbModifier{
      .part = part,
      .port = fabric.is_switch(fabric.node_of[port]) ? fabric.number_of(port) : PortNum{0}});
  return block;
}

/// As ports_at(), but for those that the client may not see.
std::vector<PortIdx> visible_ports_at(const SubnetView& view, const Query& query, PortIdx end) {
  std::vector<PortIdx> ports;
  for (const PortIdx port : ports_at(view.fabric(), end)) {
    if (is_visible(view, query, port)) ports.push_back(port);
  }
  return ports;
}

/// The component is not asked for, or is `value`.
bool may_be(const Query& query, unsigned component, unsigned asked, unsigned value) {
  return !asks(query, component_bit(component)) || asked == value;
}

}  // namespace

const RecordShape kPKeyTableRecord{RecordId::PKeyTableRecord, 72, kPKeyComponents};
const RecordShape kSlToVlTableRecord{RecordId::SlToVlTableRecord, 16, kSlToVlComponents};
const RecordShape kVlArbTableRecord{RecordId::VlArbTableRecord, 72, kVlArbComponents};

Result<PKeyTableRecord> decode_p_key_table_record(std::span<const std::byte> data) {
  if (data.size() < kPKeyTableRecord.size) return codec::too_short("P_KeyTableRecord", data.size());
  ByteReader in(data);
  return PKeyTableRecord{.lid = Lid{in.u16()},
                         .block = in.u16(),
                         .port = PortNum{in.u8()},
                         .keys = *decode_p_key_block(data.subspan(kTableAt))};
}

void encode_record(const PKeyTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u16(record.block);
  out.u8(record.port.value());
  out.zeros(3);
  encode_p_key_block(record.keys, data.subspan<kTableAt, kSmpDataSize>());
}

Result<SlToVlTableRecord> decode_sl_to_vl_table_record(std::span<const std::byte> data) {
  if (data.size() < kSlToVlTableRecord.size)
    return codec::too_short("SLtoVLMappingTableRecord", data.size());
  ByteReader in(data);
  return SlToVlTableRecord{.lid = Lid{in.u16()},
                           .in = PortNum{in.u8()},
                           .out = PortNum{in.u8()},
                           .vls = *decode_sl_to_vl(data.subspan(kTableAt))};
}

void encode_record(const SlToVlTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u8(record.in.value());
  out.u8(record.out.value());
  out.zeros(4);
  std::array<std::byte, kSmpDataSize> row{};
  encode_sl_to_vl(record.vls, row);
  std::ranges::copy(std::span(row).first(kRowSize), data.begin() + kTableAt);
}

Result<VlArbTableRecord> decode_vl_arb_table_record(std::span<const std::byte> data) {
  if (data.size() < kVlArbTableRecord.size)
    return codec::too_short("VLArbitrationTableRecord", data.size());
  ByteReader in(data);
  return VlArbTableRecord{.lid = Lid{in.u16()},
                          .out = PortNum{in.u8()},
                          .block = in.u8(),
                          .entries = *decode_vl_arb_block(data.subspan(kTableAt))};
}

void encode_record(const VlArbTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u8(record.out.value());
  out.u8(record.block);
  out.zeros(4);
  encode_vl_arb_block(record.entries, data.subspan<kTableAt, kSmpDataSize>());
}

IndexRange<PortIdx> ports_at(const Fabric& fabric, PortIdx end) {
  const NodeIdx node = fabric.node_of[end];
  if (fabric.is_switch(node)) return fabric.ports_of(node);
  return {end, PortIdx{end.value() + 1}};
}

std::optional<SlToVl> find_set_row(const SubnetView& view, PortIdx in, PortIdx out) {
  const Fabric& fabric = view.fabric();
  const NodeIdx node = fabric.node_of[out];
  const SwitchIdx sw = fabric.switch_of[node];
  const SlToVlMaps* rows = view.parts().rows.get();
  if (sw != kNone<SwitchIdx> && rows != nullptr && !rows->empty())
    return rows->row(sw, fabric.number_of(in), fabric.number_of(out));
  return wanted_row(fabric, view.parts().qos, out);
}

Answer find_p_key_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  if (!query.trusted) return {.status = Status::RequestInvalid};
  const Fabric& fabric = view.fabric();
  RecordSink sink(kPKeyTableRecord, query, limits.bytes, kLid);
  for (const PortIdx end : find_candidates(view, query, sink)) {
    for (const PortIdx port : ports_at(fabric, end)) {
      const PortNum number = fabric.number_of(port);
      const KeyTable* table =
          view.parts().keys.find_part({fabric.node_guid[fabric.node_of[port]], number});
      if (table == nullptr) {
        sink.pass();
        continue;
      }
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
  for (const PortIdx end : find_candidates(view, query, sink)) {
    const bool is_switch = fabric.is_switch(fabric.node_of[end]);
    const std::vector<PortIdx> ports = visible_ports_at(view, query, end);
    sink.pass(ports_at(fabric, end).size() - ports.size());
    for (const PortIdx out : ports) {
      if (!is_managed(fabric, out)) continue;
      for (const PortIdx in : ports) {
        if (sink.overflowed()) break;
        if (!is_managed(fabric, in)) continue;
        auto row = find_set_row(view, in, out);
        if (!row && view.parts().held != nullptr) row = view.parts().held->row(fabric, in, out);
        if (!row) {
          sink.pass();
          continue;
        }
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
  for (const PortIdx end : find_candidates(view, query, sink)) {
    const std::vector<PortIdx> ports = visible_ports_at(view, query, end);
    sink.pass(ports_at(fabric, end).size() - ports.size());
    for (const PortIdx port : ports) {
      for (std::uint8_t block = 1; block <= 4; ++block) {
        const auto part = static_cast<VlArbPart>(block);
        auto entries = wanted_arbitration(fabric, view.parts().qos, port, part);
        if (!entries && view.parts().held != nullptr)
          entries = view.parts().held->arbitration(fabric, port, part);
        if (!entries) {
          sink.pass();
          continue;
        }
        sink.offer(VlArbTableRecord{.lid = view.lids().base[end],
                                    .out = fabric.number_of(port),
                                    .block = block,
                                    .entries = *entries});
      }
    }
  }
  return std::move(sink).finish();
}

void HeldTables::note_asked(Guid node) {
  std::uint64_t& last = asked_[node];
  by_turn_.erase({last, node});
  last = ++turn_;
  by_turn_.emplace(last, node);
}

/// Requests that wait may be for several nodes: what was read for one goes before it is answered
/// only where all of them together are too much.
void HeldTables::make_room(Guid node) {
  while (blocks_.size() >= kMost) {
    const auto oldest =
        std::ranges::find_if(by_turn_, [node](const auto& each) { return each.second != node; });
    if (oldest == by_turn_.end()) return;
    forget(Guid{oldest->second});
  }
}

void HeldTables::note(const TableBlock& block, const std::optional<SmpData>& data) {
  if (!asked_.contains(block.node)) note_asked(block.node);
  if (!blocks_.contains(block)) make_room(block.node);
  blocks_[block] = data;
}

void HeldTables::forget_all() {
  blocks_.clear();
  asked_.clear();
  by_turn_.clear();
}

void HeldTables::forget(Guid node) {
  if (const auto asked = asked_.find(node); asked != asked_.end()) {
    by_turn_.erase({asked->second, node});
    asked_.erase(asked);
  }
  const auto begin = blocks_.lower_bound({.node = node});
  auto end = begin;
  while (end != blocks_.end() && end->first.node == node) ++end;
  blocks_.erase(begin, end);
}

void HeldTables::forget_unanswered() {
  std::erase_if(blocks_, [](const auto& each) { return !each.second; });
}

const SmpData* HeldTables::find(const TableBlock& block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() || !found->second ? nullptr : &*found->second;
}

std::optional<SlToVl> HeldTables::row(const Fabric& fabric, PortIdx in, PortIdx out) const {
  const SmpData* data = find(row_block(fabric, in, out));
  if (data == nullptr) return std::nullopt;
  const auto row = decode_sl_to_vl(*data);
  return row ? std::optional(*row) : std::nullopt;
}

std::optional<VlArbBlock> HeldTables::arbitration(const Fabric& fabric,
                                                  PortIdx port,
                                                  VlArbPart part) const {
  const SmpData* data = find(arbitration_block(fabric, port, part));
  if (data == nullptr) return std::nullopt;
  const auto block = decode_vl_arb_block(*data);
  return block ? std::optional(*block) : std::nullopt;
}

std::vector<TableBlock> find_unread_tables(const SubnetView& view,
                                           const Query& query,
                                           const HeldTables& held) {
  const Fabric& fabric = view.fabric();
  std::vector<TableBlock> unread;
  const auto want = [&](const TableBlock& block) {
    if (!held.knows(block)) unread.push_back(block);
  };
  const bool rows =
      static_cast<RecordId>(query.header.mad.attribute_id) == RecordId::SlToVlTableRecord;
  const auto row = *decode_sl_to_vl_table_record(query.data);
  const auto arbitration = *decode_vl_arb_table_record(query.data);
  const PortIdx end = view.lids().owner_of(wanted_lid(query));
  if (end != kNone<PortIdx> && is_visible(view, query, end)) {
    const bool is_switch = fabric.is_switch(fabric.node_of[end]);
    const auto number = [&](PortIdx port) {
      return is_switch || !rows ? fabric.number_of(port).value() : std::uint8_t{0};
    };
    const std::vector<PortIdx> ports = visible_ports_at(view, query, end);
    for (const PortIdx out : ports) {
      if (!rows && !may_be(query, 1, arbitration.out.value(), number(out))) continue;
      for (std::uint8_t part = 1; !rows && part <= 4; ++part) {
        const auto which = static_cast<VlArbPart>(part);
        if (may_be(query, 2, arbitration.block, part) &&
            wanted_arbitration(fabric, everything(), out, which) &&
            !wanted_arbitration(fabric, view.parts().qos, out, which))
          want(arbitration_block(fabric, out, which));
      }
      if (!rows || !may_be(query, 2, row.out.value(), number(out)) ||
          !wanted_row(fabric, everything(), out))
        continue;
      for (const PortIdx in : ports) {
        if (is_managed(fabric, in) && may_be(query, 1, row.in.value(), number(in)) &&
            !find_set_row(view, in, out))
          want(row_block(fabric, in, out));
      }
    }
  }
  return unread;
}

std::optional<Answer> TableReadManager::answer(const SubnetView& view, const Query& query) {
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  const auto method = static_cast<Method>(query.header.mad.method);
  if ((id != RecordId::SlToVlTableRecord && id != RecordId::VlArbTableRecord) ||
      (method != Method::Get && method != Method::GetTable) || !asks(query, kLid))
    return std::nullopt;
  const PortIdx end = view.lids().owner_of(wanted_lid(query));
  if (end != kNone<PortIdx> && is_visible(view, query, end))
    held_.note_asked(view.fabric().node_guid[view.fabric().node_of[end]]);
  std::vector<TableBlock> unread = find_unread_tables(view, query, held_);
  if (unread.empty()) return std::nullopt;
  const std::size_t cost = unread.size();
  read_(std::move(unread));
  if (!query.may_wait) return std::nullopt;
  return Answer{.cost = cost, .waits = true};
}

}  // namespace smd::sa
