#include "smd/sa/held_tables.h"

#include <utility>

#include "smd/policy/port_policy.h"
#include "smd/sa/candidates.h"
#include "smd/sa/table_queries.h"
#include "smd/sa/table_records.h"

namespace smd::sa {
namespace {

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

/// The component is not asked for, or is `value`.
bool may_be(const Query& query, unsigned component, unsigned asked, unsigned value) {
  return !asks(query, component_bit(component)) || asked == value;
}

}  // namespace

void HeldTables::note(const TableBlock& block, const std::optional<SmpData>& data) {
  if (blocks_.size() >= kMost) blocks_.clear();  // to be read again by whoever asks
  blocks_[block] = data;
}

void HeldTables::forget(Guid node) {
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
  for (const PortIdx end : find_candidates(view, query)) {
    const bool is_switch = fabric.is_switch(fabric.node_of[end]);
    const auto number = [&](PortIdx port) {
      return is_switch || !rows ? fabric.number_of(port).value() : std::uint8_t{0};
    };
    for (const PortIdx out : ports_at(fabric, end)) {
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
      for (const PortIdx in : ports_at(fabric, end)) {
        if (is_managed(fabric, in) && may_be(query, 1, row.in.value(), number(in)) &&
            !find_set_row(view, in, out))
          want(row_block(fabric, in, out));
      }
    }
  }
  return unread;
}

std::optional<Answer> TableReadKeeper::answer(const SubnetView& view, const Query& query) {
  const auto id = static_cast<RecordId>(query.header.mad.attribute_id);
  const auto method = static_cast<Method>(query.header.mad.method);
  if ((id != RecordId::SlToVlTableRecord && id != RecordId::VlArbTableRecord) ||
      (method != Method::Get && method != Method::GetTable) || !asks(query, kLid))
    return std::nullopt;
  std::vector<TableBlock> unread = find_unread_tables(view, query, held_);
  if (unread.empty()) return std::nullopt;
  const std::size_t cost = unread.size();
  read_(std::move(unread));
  if (!query.may_wait) return std::nullopt;
  return Answer{.cost = cost, .waits = true};
}

}  // namespace smd::sa
