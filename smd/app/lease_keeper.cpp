#include "smd/app/lease_keeper.h"

#include <utility>

namespace smd::app {

void LeaseKeeper::keep(std::shared_ptr<const ActiveSubnet> in_force, MKey m_key, Duration lease) {
  const bool runs = in_force_ != nullptr;
  if (!in_force || m_key == MKey{} || lease == Duration{0}) return stop();
  in_force_ = std::move(in_force);
  m_key_ = m_key;
  pause_ = lease / 2;
  if (!runs) timer_ = Timer(runtime_, runtime_.now() + pause_, [this] { ask_all(); });
}

void LeaseKeeper::stop() {
  round_.reset();
  timer_.reset();
  in_force_.reset();
}

void LeaseKeeper::ask_all() {
  timer_ = Timer(runtime_, runtime_.now() + pause_, [this] { ask_all(); });
  round_.emplace(client_);
  round_->start(
      [this, now = in_force_, at = std::uint32_t{0}]() mutable {
        const Fabric& fabric = now->fabric();
        while (at < fabric.port_count()) {
          const PortIdx port{at++};
          const bool asked = fabric.is_end_port(port) && !fabric.is_switch(fabric.node_of[port]);
          if (!asked) continue;
          round_->send({.route = SmpRoute::directed(path_to(now->sweep, port)),
                        .attribute = AttributeId::PortInfo,
                        .modifier = fabric.number_of(port).value(),
                        .m_key = m_key_},
                       [](const Result<SmpReply>&) {});
          return true;
        }
        return false;
      },
      [] {});
}

}  // namespace smd::app
