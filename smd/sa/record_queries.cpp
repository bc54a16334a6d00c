#include "smd/sa/query.h"

#include <algorithm>
#include <optional>

#include "smd/base/bytes.h"
#include "smd/sa/node_records.h"

namespace smd::sa {
namespace {

constexpr std::uint64_t kNodeGuid = component_bit(7);
constexpr std::uint64_t kPortGuid = component_bit(8);
constexpr std::size_t kNodeGuidAt = 16;
constexpr std::size_t kPortGuidAt = 24;

constexpr std::uint64_t kPortCapMask = component_bit(7);
constexpr std::size_t kPortCapMaskAt = 24;
constexpr std::uint64_t kPortCapMask2 = component_bit(53);
constexpr std::size_t kPortCapMask2At = 64;
constexpr std::uint32_t kMatchSubset = 1u << 31;

constexpr std::uint64_t kToLid = component_bit(3);  // of a LinkRecord
constexpr std::size_t kToLidAt = 4;

Guid wanted_guid(const Query& query, std::size_t at) {
  return Guid{ByteReader(query.data.subspan(at)).u64()};
}

/// The port as clients may see it.
PortInfo visible(const SubnetView& view, PortIdx port, bool trusted) {
  PortInfo info = view.fabric().port_info[port];
  info.m_key = trusted && view.parts().shows_m_keys
                   ? find_m_key(view.parts().m_keys, view.fabric().port_guid[port], info.m_key)
                   : MKey{};
  return info;
}

}  // namespace

Answer find_node_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kNodeRecord, query, limits.bytes, kLid);
  std::vector<PortIdx> ports;
  if (!asks(query, kLid) && asks(query, kPortGuid)) {
    const PortIdx port = view.find_port(wanted_guid(query, kPortGuidAt));
    if (port != kNone<PortIdx>) ports.push_back(port);
  } else if (!asks(query, kLid) && asks(query, kNodeGuid)) {
    if (const auto node = fabric.find_node(wanted_guid(query, kNodeGuidAt))) {
      for (const PortIdx port : fabric.ports_of(*node)) {
        if (view.lids().base[port] != kUnassignedLid) ports.push_back(port);
      }
    }
  } else {
    ports = find_candidates(view, query, sink);
  }
  sink.pass(drop_invisible(view, query, ports));
  for (const PortIdx port : ports) {
    const NodeIdx node = fabric.node_of[port];
    NodeInfo info = fabric.node_info[node];
    info.port_guid = fabric.port_guid[port];
    info.local_port = fabric.number_of(port);
    sink.offer(NodeRecord{view.lids().base[port], info, fabric.description[node]});
  }
  return std::move(sink).finish();
}

Answer find_port_info_records(const SubnetView& view,
                              const Query& query,
                              const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  // With bit 31 of the modifier a capability mask matches every port that has at least its bits.
  const bool subset = (query.header.mad.attribute_modifier & kMatchSubset) != 0;
  const std::uint32_t capabilities = subset && asks(query, kPortCapMask)
                                         ? ByteReader(query.data.subspan(kPortCapMaskAt)).u32()
                                         : 0;
  const std::uint16_t capabilities2 = subset && asks(query, kPortCapMask2)
                                          ? ByteReader(query.data.subspan(kPortCapMask2At)).u16()
                                          : std::uint16_t{0};
  RecordSink sink(
      kPortInfoRecord, query, limits.bytes, kLid | (subset ? kPortCapMask | kPortCapMask2 : 0));
  for (const PortIdx end : find_candidates(view, query, sink)) {
    const NodeIdx node = fabric.node_of[end];
    const auto offer = [&](PortIdx port) {
      const PortInfo& info = fabric.port_info[port];
      if (!is_visible(view, query, port) || (info.capability_mask & capabilities) != capabilities ||
          (info.capability_mask2 & capabilities2) != capabilities2)
        return sink.pass();
      sink.offer(PortInfoRecord{.lid = view.lids().base[end],
                                .port = fabric.number_of(port),
                                .info = visible(view, port, query.trusted)});
    };
    if (!fabric.is_switch(node)) {
      offer(end);
    } else {
      for (const PortIdx port : fabric.ports_of(node)) offer(port);
    }
  }
  return std::move(sink).finish();
}

Answer find_switch_info_records(const SubnetView& view,
                                const Query& query,
                                const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kSwitchInfoRecord, query, limits.bytes, kLid);
  for (const PortIdx port : find_candidates(view, query, sink)) {
    sink.pass();
    const SwitchIdx sw = fabric.switch_at(port);
    if (sw != kNone<SwitchIdx>)
      sink.offer(SwitchInfoRecord{view.lids().base[port], fabric.switch_info[sw]});
  }
  return std::move(sink).finish();
}

Answer find_sm_info_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  RecordSink sink(kSmInfoRecord, query, limits.bytes, kLid);
  const PortIdx named = view.lids().owner_of(wanted_lid(query));
  const auto offer = [&](Lid lid, SmInfo info) {
    // A LID that the view does not know may be that of a manager all the same.
    if (asks(query, kLid) && lid != wanted_lid(query) &&
        (named == kNone<PortIdx> || view.lids().owner_of(lid) != named))
      return sink.pass();
    if (!query.trusted) info.sm_key = SmKey{};
    sink.offer(SmInfoRecord{lid, info});
  };
  offer(view.lids().base[view.fabric().sm_port], view.parts().sm);
  for (const KnownManager& each : view.parts().other_managers) offer(each.lid, each.info);
  return std::move(sink).finish();
}

Answer find_guid_info_records(const SubnetView& view,
                              const Query& query,
                              const QueryLimits& limits) {
  static const std::map<Guid, std::vector<Guid>> none;
  const auto& further = view.parts().aliases;
  return find_guid_infos(view, query, limits, further ? *further : none);
}

/// A port's first GUID is its own.
Answer find_guid_infos(const SubnetView& view,
                       const Query& query,
                       const QueryLimits& limits,
                       const std::map<Guid, std::vector<Guid>>& further) {
  RecordSink sink(kGuidInfoRecord, query, limits.bytes, kLid);
  for (const PortIdx port : find_candidates(view, query, sink)) {
    const std::size_t guids = view.fabric().port_info[port].guid_cap;
    const Guid own = view.fabric().port_guid[port];
    const auto found = further.find(own);
    const std::size_t known = found == further.end() ? 0 : found->second.size();
    for (std::size_t block = 0; block * kGuidBlockSize < guids; ++block) {
      GuidInfoRecord record{.lid = view.lids().base[port],
                            .block = static_cast<std::uint8_t>(block)};
      for (std::size_t i = 0; i < kGuidBlockSize; ++i) {
        const std::size_t index = block * kGuidBlockSize + i;
        if (index < std::min(known, guids)) record.guids[i] = found->second[index];
      }
      if (block == 0) record.guids[0] = own;
      sink.offer(record);
    }
  }
  return std::move(sink).finish();
}

Answer find_link_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  RecordSink sink(kLinkRecord, query, limits.bytes, kLid | kToLid);
  const auto offer = [&](PortIdx from, PortIdx to) {
    if (!is_visible(view, query, from) || !is_visible(view, query, to)) return sink.pass();
    sink.offer(LinkRecord{
        view.lid_of(from), fabric.number_of(from), fabric.number_of(to), view.lid_of(to)});
  };
  /// Links of the ports that have the LID, of both directions the one that begins or ends there.
  const auto look = [&](PortIdx end, bool begins, PortIdx other_end) {
    if (end == kNone<PortIdx>) return;
    for (const PortIdx port : fabric.external_ports(fabric.node_of[end])) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || view.lid_of(port) != view.lids().base[end] ||
          (other_end != kNone<PortIdx> && view.lid_of(peer) != view.lids().base[other_end])) {
        sink.pass();
      } else {
        begins ? offer(port, peer) : offer(peer, port);
      }
    }
  };
  const auto named = [&](std::uint64_t component, std::size_t at) {
    return asks(query, component)
               ? view.lids().owner_of(Lid{ByteReader(query.data.subspan(at)).u16()})
               : kNone<PortIdx>;
  };
  const PortIdx from = named(kLid, 0), to = named(kToLid, kToLidAt);
  if (asks(query, kLid)) {
    if (!asks(query, kToLid) || to != kNone<PortIdx>) look(from, true, to);
  } else if (asks(query, kToLid)) {
    look(to, false, kNone<PortIdx>);
  } else {
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] != kNone<PortIdx>) offer(port, fabric.peer[port]);
    }
  }
  return std::move(sink).finish();
}

Answer find_lft_records(const SubnetView& view, const Query& query, const QueryLimits& limits) {
  const Fabric& fabric = view.fabric();
  const ForwardingTables& lft = view.routing().lft;
  RecordSink sink(kLftRecord, query, limits.bytes, kLid);
  for (const PortIdx port : find_candidates(view, query, sink)) {
    sink.pass();
    const SwitchIdx sw = fabric.switch_at(port);
    if (sw == kNone<SwitchIdx>) continue;
    LftRecord record{.lid = view.lids().base[port]};
    for (std::size_t block = 0; block < lft.blocks() && !sink.overflowed(); ++block) {
      record.block = static_cast<std::uint16_t>(block);
      std::ranges::copy(lft.block(sw, block), record.ports.begin());
      sink.offer(record);
    }
  }
  return std::move(sink).finish();
}

}  // namespace smd::sa
