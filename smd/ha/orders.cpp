// What other managers ask and order by SMInfo, and which orders are obeyed.
#include <fmt/format.h>

#include <utility>

#include "smd/base/log.h"
#include "smd/ha/election.h"
#include "smd/smp/messages.h"

namespace smd {

void Election::receive(const Smp& smp, const MadPacket& packet) {
  if (smp.method == Method::Set) return check_m_key(smp, packet);
  if (smp.method != Method::Get) return;
  static_cast<void>(respond(smp, packet));
  const auto back = find_route_back(smp, packet);
  if (state_ == SmState::Master && back) hear_from(*back, packet.remote_lid);
}

SmAnswer Election::respond(const Smp& smp, const MadPacket& packet) {
  SmAnswer answer = answer_sm_request(info(), smp);
  SmpData data{};
  encode_sm_info(answer.info, data);
  (void)client_.send_once(make_response(smp, packet, data, answer.status));
  return answer;
}

/// Of our own port, by its name.
MKey Election::own_m_key(MKey name) const {
  return client_.find_m_key(SmpRoute::directed({}), name);
}

/// An order without the M_Key of our port is like a Set that our port refuses: whoever could give
/// it could disable every standby. The port may have none yet, or that of a master that has another
/// one than we. One is looked into at a time, so that nobody has us ask without end.
void Election::check_m_key(const Smp& order, const MadPacket& packet) {
  if (config_.m_key == MKey{} || order.m_key == own_m_key(config_.m_key))
    return obey(order, packet);
  if (std::exchange(checks_m_key_, true)) return;
  read_own_port(strangers_, [this, order, packet](const std::optional<PortInfo>& own) {
    checks_m_key_ = false;
    const auto is_key = [&](MKey name) { return name != MKey{} && order.m_key == own_m_key(name); };
    // Level 1 alone shows 0 to whoever has not the key; at 2 and 3 such a Get has no answer.
    const bool is_open = own && own->m_key == MKey{} && own->m_key_protect_bits != 1;
    // The answer may have told which of several of ours the port has.
    const bool fits = own && (is_key(own->m_key) || is_key(config_.m_key));
    if (is_open || fits) return obey(order, packet);
    const auto from = decode_sm_info(order.data);
    log::warn("sm.refused",
              "from={} order={} why=\"not the M_Key of this port\"",
              from ? from->guid : Guid{},
              order.attribute_modifier);
  });
}

void Election::obey(const Smp& order, const MadPacket& packet) {
  const SmAnswer answer = respond(order, packet);
  const auto back = find_route_back(order, packet);
  if (!answer.refused.empty()) {
    return log::warn("sm.refused",
                     "from={} order={} why=\"{}\"",
                     answer.from.guid,
                     order.attribute_modifier,
                     answer.refused);
  }
  if (!is_allowed(answer.from.guid, back)) {
    return log::warn(
        "sm.refused",
        "from={} order={} way=\"{}\" why=\"sm.allowed_managers does not name that port\"",
        answer.from.guid,
        order.attribute_modifier,
        back ? print_route(*back) : "none");
  }
  const std::string why =
      fmt::format("{} from {}", print_sm_event(*answer.event), answer.from.guid);
  ManagerAddress from{.guid = answer.from.guid};
  if (const auto known = others_.find(from.guid); known != others_.end()) {
    from = known->second.at;
  } else if (back) {
    from.route = *back;
    from.lid = packet.remote_lid;
  }
  switch (*answer.event) {
    case SmEvent::Handover:
      if (state_ != SmState::Master || expects_handover_from(from.guid))
        return obey_handover(back, from, why);
      if (back) hear_from(*back, packet.remote_lid, true);
      return;
    case SmEvent::Acknowledge:
      if (state_ == SmState::Master && (!holding_ || awaiting_ || from.guid != counterpart_.guid))
        return;
      return apply(SmEvent::Acknowledge, counterpart_, why);
    default:
      return apply(*answer.event, from, why);
  }
}

/// Whether managers may run where that came from, and it says so itself.
bool Election::is_allowed(Guid claimed, const std::optional<SmpRoute>& back) const {
  if (config_.allowed.empty()) return true;
  if (!config_.allowed.contains(claimed) || !back) return false;
  const std::optional<Guid> there = hooks_.port_at(*back);
  return !there || *there == claimed;
}

/// It says that it rules, or we wait for it to yield.
bool Election::expects_handover_from(Guid guid) const {
  if (awaiting_ && guid == counterpart_.guid) return true;
  const auto known = others_.find(guid);
  return known != others_.end() && known->second.info &&
         state_of(*known->second.info) == SmState::Master;
}

void Election::obey_handover(const std::optional<SmpRoute>& back,
                             const ManagerAddress& from,
                             std::string_view why) {
  if (back) acknowledge(*back);
  // It rules no more, until it says so again.
  if (const auto known = others_.find(from.guid); known != others_.end() && known->second.info)
    known->second.info->sm_state = static_cast<std::uint8_t>(SmState::Standby);
  apply(SmEvent::Handover, from, why);
}

/// Stands for Standby even where we rule already: others take it from no other state.
void Election::acknowledge(const SmpRoute& route) {
  SmInfo shown = info();
  shown.sm_state = static_cast<std::uint8_t>(SmState::Standby);
  SmpRequest request = sm_request(route, Method::Set, shown);
  request.modifier = static_cast<std::uint32_t>(SmControl::Acknowledge);
  answers_.send(request, [](const Result<SmpReply>&) {});
}

}  // namespace smd
