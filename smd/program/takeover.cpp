#include "smd/program/takeover.h"

#include <utility>

#include "smd/policy/port_policy.h"

namespace smd {

void MKeyTakeover::start(const SweepReport& found, const PortPolicy& policy, Done done) {
  found_ = &found;
  policy_ = policy;
  pump_.start(
      [this, at = std::uint32_t{0}]() mutable {
        const Fabric& fabric = *found_->fabric;
        while (at < fabric.port_count()) {
          const PortIdx port{at++};
          const bool tried = policy_.tries_m_keys && hides_key(fabric, port);
          if (!tried && !shows_foreign_key(fabric, port, policy_.m_key)) continue;
          take(port);
          return true;
        }
        return false;
      },
      [this, done = std::move(done)] { done(taken_); });
}

void MKeyTakeover::take(PortIdx port) {
  const PortInfo& now = found_->fabric->port_info[port];
  PortInfo wanted = now;
  wanted.m_key = policy_.m_key;
  wanted.m_key_protect_bits = policy_.protect_bits();
  wanted.m_key_lease_period = policy_.m_key_lease_s;
  SmpRequest request{.route = SmpRoute::directed(path_to(*found_, port)),
                     .method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = port_info_modifier(*found_->fabric, port),
                     .m_key = now.m_key == MKey{} ? policy_.m_key : now.m_key};
  encode_port_info(set_body(wanted, PortState::NoChange), request.data);
  pump_.send(request, [this](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0) ++taken_;
  });
}

std::vector<PortIdx> find_ports_that_name(const Fabric& fabric, Lid own) {
  std::vector<PortIdx> out;
  if (own == kUnassignedLid) return out;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortInfo& info = fabric.port_info[port];
    if (fabric.is_end_port(port) && info.master_sm_lid == own && info.state() >= PortState::Armed &&
        (info.capability_mask & port_cap::kIsClientReregistrationSupported) != 0)
      out.push_back(port);
  }
  return out;
}

void Reregistration::start(const SweepReport& found,
                           std::vector<PortIdx> ports,
                           std::function<void()> done) {
  pump_.start(
      [this, &found, ports = std::move(ports), at = std::size_t{0}]() mutable {
        if (at == ports.size()) return false;
        tell(found, ports[at++]);
        return true;
      },
      std::move(done));
}

void Reregistration::tell(const SweepReport& found, PortIdx port) {
  PortInfo body = set_body(found.fabric->port_info[port], PortState::NoChange);
  body.client_reregister = true;
  SmpRequest request{.route = SmpRoute::directed(path_to(found, port)),
                     .method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = port_info_modifier(*found.fabric, port),
                     .m_key = m_key_};
  encode_port_info(body, request.data);
  // Who does not answer is set again, and then notified, when it does.
  pump_.send(request, [](const Result<SmpReply>&) {});
}

}  // namespace smd
