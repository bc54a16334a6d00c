#include "smd/program/key_taker.h"

#include <utility>

#include "smd/policy/foreign_keys.h"

namespace smd {

void KeyTaker::start(const SweepReport& found, const PortPolicy& policy, Done done) {
  found_ = &found;
  policy_ = policy;
  pump_.start(
      [this, at = std::uint32_t{0}]() mutable {
        const Fabric& fabric = *found_->fabric;
        while (at < fabric.port_count()) {
          const PortIdx port{at++};
          if (!shows_foreign_key(fabric, port, policy_.m_key)) continue;
          take(port);
          return true;
        }
        return false;
      },
      [this, done = std::move(done)] { done(taken_); });
}

void KeyTaker::take(PortIdx port) {
  const PortInfo& now = found_->fabric->port_info[port];
  PortInfo wanted = now;
  wanted.m_key = policy_.m_key;
  wanted.m_key_protect_bits = policy_.m_key_protect;
  wanted.m_key_lease_period = policy_.m_key_lease_s;
  SmpRequest request{.route = SmpRoute::directed(path_to(*found_, port)),
                     .method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = found_->fabric->number_of(port).value(),
                     .m_key = now.m_key};
  encode_port_info(set_body(wanted, PortState::NoChange), request.data);
  pump_.send(request, [this](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0) ++taken_;
  });
}

}  // namespace smd
