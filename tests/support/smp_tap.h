// A transport whose SMPs are looked at, edited or lost on the way.
#pragma once

#include <functional>
#include <utility>

#include "smd/mad/smp.h"
#include "smd/transport/transport.h"

namespace smd::test {

/// Both hooks see only SMPs, and return false to lose one. None: nothing is looked at.
class SmpTap final : public Transport {
 public:
  explicit SmpTap(Transport& inner) : inner_(inner) {}

  LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    if (!on_send) return inner_.send(packet);
    const auto smp = decode_smp(packet.mad);
    if (smp && !on_send(*smp)) return {};
    return inner_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    inner_.set_handlers(
        [this, receive = std::move(receive)](const MadPacket& packet) {
          if (!on_receive) return receive(packet);
          MadPacket edited = packet;
          if (auto smp = decode_smp(packet.mad)) {
            if (!on_receive(*smp)) return;
            encode_smp(*smp, edited.mad);
          }
          receive(edited);
        },
        std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  std::function<bool(const Smp&)> on_send;
  std::function<bool(Smp&)> on_receive;

 private:
  Transport& inner_;
};

[[nodiscard]] inline bool is_about(const Smp& smp, AttributeId attribute) {
  return smp.attribute_id == static_cast<std::uint16_t>(attribute);
}

}  // namespace smd::test
