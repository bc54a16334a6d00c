// The last door before the wire: a Set leaves only while this manager rules. Whatever a cancelled
// cycle, or congestion control, still had under way ends here.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "smd/transport/transport.h"

namespace smd {

class WriteGate final : public Transport {
 public:
  /// Takes the place of `below`, which outlives this. `open`: asked for every Set of subnet
  /// management or congestion control; SMInfo passes, since that is how managers talk.
  WriteGate(Transport& below, std::function<bool()> open) : below_(below), open_(std::move(open)) {}

  [[nodiscard]] LocalPort local_port() const override { return below_.local_port(); }

  [[nodiscard]] unsigned most_outstanding() const override { return below_.most_outstanding(); }

  [[nodiscard]] bool carries_segments() const override { return below_.carries_segments(); }

  [[nodiscard]] bool routes_smps_by_lid() const override { return below_.routes_smps_by_lid(); }

  Result<void> send(const MadPacket& packet) override {
    if (is_write(packet.mad) && !open_()) {
      ++held_back_;
      return fail(Errc::Refused, "this manager is not master");
    }
    return below_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    below_.set_handlers(std::move(receive), std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return below_.set_is_sm(is_sm); }

  /// Sets that came to a closed gate.
  [[nodiscard]] std::uint64_t held_back() const { return held_back_; }

 private:
  static bool is_write(const MadBytes& mad) {
    const auto at = [&mad](std::size_t i) { return std::to_integer<unsigned>(mad[i]); };
    return at(3) == static_cast<unsigned>(Method::Set) &&
           (at(16) << 8 | at(17)) != static_cast<unsigned>(AttributeId::SmInfo);
  }

  Transport& below_;
  std::function<bool()> open_;
  std::uint64_t held_back_ = 0;
};

}  // namespace smd
