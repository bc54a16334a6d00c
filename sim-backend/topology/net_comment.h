// What the comments of a fabric file say. ibnetdiscover puts names, LIDs and rates behind the #.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim-backend/topology/cursor.h"
#include "smd/ib/types.h"

namespace smd::sim {

struct Address {
  Lid lid;
  std::uint8_t lmc = 0;
};

/// `"name" enhanced port 0 lid 3 lmc 0`. A name may itself hold quotes: it ends at the last one.
struct HeaderComment {
  std::optional<std::string_view> description;
  bool enhanced_port0 = false;
  Address address;
  std::string fault;  // empty when all is well
};

[[nodiscard]] HeaderComment parse_header_comment(std::string_view text);

/// At a switch `"peer" lid 4 4xEDR`, at an adapter `lid 4 lmc 0 "peer" lid 3 4xEDR`: what stands
/// before the name is about this port, what stands behind it about the peer, and the rate is last.
struct PortComment {
  Address address;
  LinkWidth width = LinkWidth::None;  // None: not said, or not known
  LinkSpeed speed = LinkSpeed::None;
  bool is_speed_unknown = false;  // to the program that wrote it: "4x???"
  std::string fault;
};

[[nodiscard]] PortComment parse_port_comment(std::string_view text);

/// Lines that ibnetdiscover prints between nodes and that say nothing about the graph.
[[nodiscard]] bool is_decoration(std::string_view line);

/// `[ext 12]`, the port's number on the front of a chassis.
void skip_external_port(Cursor& in);

}  // namespace smd::sim
