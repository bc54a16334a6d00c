#include "smd/smp/messages.h"

#include <fmt/format.h>

namespace smd {
namespace {

/// Turns `smp`, which arrived as `packet`, round: the same bytes on the way back.
MadPacket turn_round(Smp smp, const MadPacket& packet) {
  MadPacket back;
  back.remote_lid = packet.remote_lid;
  back.remote_qp = packet.remote_qp;
  back.sl = packet.sl;
  back.pkey_index = packet.pkey_index;
  if (smp.directed) {
    // The way back starts one past the end of the path (IBA 14.2.2.4); the local SMI steps down
    // from there and leaves by ReturnPath[HopCount]. Whoever delivered the request may or may not
    // have taken that step, so it is not copied. Where it never moved, nobody counts hops: ibsim
    // takes no answer with another one.
    smp.returning = true;
    if (smp.hop_pointer != 0) smp.hop_pointer = static_cast<std::uint8_t>(smp.hop_count + 1);
    // Without a directed part only the LID-routed one is left.
    const bool lid_routed_only = smp.hop_count == 0 && smp.dr_slid != kPermissiveLid;
    back.remote_lid = lid_routed_only ? smp.dr_slid : kPermissiveLid;
  }
  encode_smp(smp, back.mad);
  return back;
}

}  // namespace

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

MadPacket make_response(const Smp& request,
                        const MadPacket& packet,
                        const SmpData& data,
                        MadStatus status) {
  Smp answer = request;
  answer.method = Method::GetResp;
  answer.status = static_cast<std::uint16_t>(status);
  answer.data = data;
  return turn_round(answer, packet);
}

MadPacket make_trap_repress(const Smp& trap, const MadPacket& packet, MKey m_key) {
  Smp repress = trap;
  repress.method = Method::TrapRepress;
  repress.status = 0;
  repress.m_key = m_key;
  return turn_round(repress, packet);
}

std::optional<SmpRoute> find_route_back(const Smp& request, const MadPacket& packet) {
  if (!request.directed) return SmpRoute::to_lid(packet.remote_lid);
  if (request.dr_slid != kPermissiveLid || request.dr_dlid != kPermissiveLid) return std::nullopt;
  HopPath path;
  for (unsigned hop = request.hop_count; hop >= 1; --hop)
    path.push_back(PortNum{request.return_path[hop]});
  return SmpRoute::directed(path);
}

}  // namespace smd
