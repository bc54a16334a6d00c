// A transport whose MADs are looked at, edited or lost on the way.
#pragma once

#include <functional>
#include <utility>

#include "smd/mad/smp.h"
#include "smd/transport/transport.h"

namespace smd::sim {

/// Hooks that are not set look at nothing.
class SmpTap final : public Transport {
 public:
  explicit SmpTap(Transport& inner) : inner_(inner) {}

  [[nodiscard]] LocalPort local_port() const override { return inner_.local_port(); }

  [[nodiscard]] bool routes_smps_by_lid() const override { return inner_.routes_smps_by_lid(); }

  Result<void> send(const MadPacket& packet) override {
    if (on_departure) on_departure(packet);
    if (!on_send && !edit_sent) return inner_.send(packet);
    auto smp = decode_smp(packet.mad);
    if (!smp) return inner_.send(packet);
    if (on_send) {
      const Result<bool> passes = on_send(*smp);
      if (!passes) return tl::unexpected<Error>(passes.error());
      if (!*passes) return {};
    }
    if (!edit_sent) return inner_.send(packet);
    edit_sent(*smp);
    MadPacket edited = packet;
    encode_smp(*smp, edited.mad);
    return inner_.send(edited);
  }

  void set_handlers(Receive receive, Lost lost) override {
    receive_ = std::move(receive);
    inner_.set_handlers([this](const MadPacket& packet) { take(packet); }, std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  /// As if it had come, past the hooks.
  void deliver(const MadPacket& packet) { receive_(packet); }

  std::function<void(const MadPacket&)> on_departure;  // of any class, as the manager sends it
  std::function<Result<bool>(const Smp&)> on_send;     // false: lost; an error: refused by the port
  std::function<void(Smp&)> edit_sent;                 // after on_send
  std::function<bool(const MadPacket&)> on_arrival;    // of any class; false: lost
  std::function<bool(Smp&)> on_receive;                // after on_arrival; false: lost

 private:
  void take(const MadPacket& packet) {
    if (on_arrival && !on_arrival(packet)) return;
    if (!on_receive) return receive_(packet);
    MadPacket edited = packet;
    if (auto smp = decode_smp(packet.mad)) {
      if (!on_receive(*smp)) return;
      encode_smp(*smp, edited.mad);
    }
    receive_(edited);
  }

  Transport& inner_;
  Receive receive_;
};

[[nodiscard]] inline bool is_about(const Smp& smp, AttributeId attribute) {
  return smp.attribute_id == static_cast<std::uint16_t>(attribute);
}

}  // namespace smd::sim
