// A small subnet to ask about, and requests in a few words.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "smd/routing/engine.h"
#include "smd/sa/query.h"
#include "tests/support/fabric_text.h"

namespace smd::sa {

inline constexpr SmKey kTrusted{0x5ec4e7};

inline ViewParts parts_of(std::string_view text, std::uint8_t lmc = 0) {
  auto fabric = std::make_shared<Fabric>(test::fabric_from(text));
  for (PortInfo& info : fabric->port_info) {
    info.link_width_active = static_cast<std::uint8_t>(LinkWidth::X4);
    set_active_speed(info, LinkSpeed::Edr);
    info.m_key = MKey{0xabcdef};
  }
  auto lids = std::make_shared<LidMap>(test::lids_in_order(*fabric, lmc));
  auto tables = std::make_shared<RoutingTables>(
      find_engine("updn")->compute(*fabric, *lids, RoutingRequest{}).value());
  return {
      .fabric = fabric,
      .lids = lids,
      .routing = tables,
      .sm = {.guid = Guid{0x77}, .sm_key = kTrusted, .act_count = 3, .priority = 4, .sm_state = 3},
      .trust_key = kTrusted};
}

inline std::shared_ptr<const SubnetView> view_of(std::string_view text, std::uint8_t lmc = 0) {
  return std::make_shared<const SubnetView>(parts_of(text, lmc));
}

inline Lid lid_of(const SubnetView& view, std::string_view name) {
  return view.lids().base[test::end_port(view.fabric(), name)];
}

inline Guid guid_of(const SubnetView& view, std::string_view name) {
  return view.fabric().port_guid[test::end_port(view.fabric(), name)];
}

/// A request whose record is `wanted`, as far as `mask` says.
struct Asked {
  SaHeader header;
  std::array<std::byte, kDataSize> data{};

  [[nodiscard]] Query query(bool trusted = false) const {
    return {.header = header, .data = data, .trusted = trusted};
  }
};

template <class Record>
Asked ask(Method method, RecordId id, std::uint64_t mask, const Record& wanted, std::size_t size) {
  Asked asked{.header = {.mad = {.mgmt_class = 3,
                                 .class_version = kClassVersion,
                                 .method = static_cast<std::uint8_t>(method),
                                 .transaction_id = 1,
                                 .attribute_id = static_cast<std::uint16_t>(id)},
                         .component_mask = mask}};
  encode_record(wanted, std::span(asked.data).first(size));
  return asked;
}

}  // namespace smd::sa
