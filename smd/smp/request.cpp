#include "smd/smp/request.h"

#include <fmt/format.h>

namespace smd {

MadPacket build_request(const SmpRequest& request, Lid local_lid, std::uint32_t transaction_id) {
  const SmpRoute& route = request.route;
  Smp smp;
  smp.directed = route.kind != SmpRoute::Kind::LidRouted;
  smp.method = request.method;
  smp.transaction_id = transaction_id;
  smp.attribute_id = static_cast<std::uint16_t>(request.attribute);
  smp.attribute_modifier = request.modifier;
  smp.m_key = request.m_key;
  smp.data = request.data;
  if (smp.directed) {
    smp.hop_count = static_cast<std::uint8_t>(route.path.size());
    for (std::size_t i = 0; i < route.path.size(); ++i) {
      smp.initial_path[i + 1] = route.path[i].value();
    }
    if (route.kind == SmpRoute::Kind::Mixed) smp.dr_slid = local_lid;
  }
  MadPacket packet;
  packet.remote_lid = route.kind == SmpRoute::Kind::Directed ? kPermissiveLid : route.lid;
  encode_smp(smp, packet.mad);
  return packet;
}

const char* find_mismatch(const SmpRequest& request, const Smp& answer) {
  if (answer.attribute_id != static_cast<std::uint16_t>(request.attribute)) {
    return "another attribute";
  }
  if (answer.attribute_modifier != request.modifier) return "another attribute modifier";
  if (answer.directed != (request.route.kind != SmpRoute::Kind::LidRouted)) {
    return "another management class";
  }
  if (answer.directed && !answer.returning) return "the D bit is clear";
  if (answer.directed && answer.hop_count != request.route.path.size()) return "another hop count";
  return nullptr;
}

std::string print_path(const HopPath& path) {
  std::string text = "(";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) text += ',';
    text += fmt::format("{}", path[i]);
  }
  return text + ")";
}

std::string print_route(const SmpRoute& route) {
  switch (route.kind) {
    case SmpRoute::Kind::Directed:
      break;
    case SmpRoute::Kind::LidRouted:
      return fmt::format("lid {}", route.lid);
    case SmpRoute::Kind::Mixed:
      return fmt::format("lid {} {}", route.lid, print_path(route.path));
  }
  return print_path(route.path);
}

std::string print_request(const SmpRequest& request) {
  return fmt::format("{} {} mod {} to {}",
                     request.method == Method::Set ? "Set" : "Get",
                     print_attribute_id(static_cast<std::uint16_t>(request.attribute)),
                     request.modifier,
                     print_route(request.route));
}

}  // namespace smd
