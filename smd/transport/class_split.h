// One port, three users: subnet management packets go to one, congestion control to another,
// everything else (management datagrams of QP1) to the third. Each sees a Transport of its own.
#pragma once

#include "smd/transport/transport.h"

namespace smd {

class ClassSplit {
 public:
  /// Takes the handlers of `below`, which outlives this.
  explicit ClassSplit(Transport& below);
  ClassSplit(const ClassSplit&) = delete;

  /// Classes 0x01 and 0x81. The loss of the device is reported here and to no other.
  [[nodiscard]] Transport& subnet() { return subnet_; }

  /// Class 0x21.
  [[nodiscard]] Transport& congestion() { return congestion_; }

  [[nodiscard]] Transport& general() { return general_; }

 private:
  class Half final : public Transport {
   public:
    explicit Half(Transport& below) : below_(below) {}

    [[nodiscard]] LocalPort local_port() const override { return below_.local_port(); }

    [[nodiscard]] unsigned most_outstanding() const override { return below_.most_outstanding(); }

    [[nodiscard]] bool carries_segments() const override { return below_.carries_segments(); }

    [[nodiscard]] ReceiveStats receive_stats() const override { return below_.receive_stats(); }

    Result<void> send(const MadPacket& packet) override { return below_.send(packet); }

    void set_handlers(Receive receive, Lost lost) override {
      receive_ = std::move(receive);
      lost_ = std::move(lost);
    }

    Result<void> set_is_sm(bool is_sm) override { return below_.set_is_sm(is_sm); }

    void deliver(const MadPacket& packet) const {
      if (receive_) receive_(packet);
    }

    /// The handler may destroy this.
    void lose(const Error& error) const {
      const Lost lost = lost_;
      if (lost) lost(error);
    }

   private:
    Transport& below_;
    Receive receive_;
    Lost lost_;
  };

  [[nodiscard]] const Half& user_of(const MadPacket& packet) const;

  Half subnet_;
  Half congestion_;
  Half general_;
};

}  // namespace smd
