// A port on a bench: records what is sent, fails on demand, and answers what the test says.
#pragma once

#include <functional>
#include <vector>

#include "smd/mad/smp.h"
#include "smd/transport/transport.h"

namespace smd {

class FakeTransport final : public Transport {
 public:
  [[nodiscard]] LocalPort local_port() const override { return {"fake0", PortNum{1}, Guid{0x99}}; }

  [[nodiscard]] unsigned most_outstanding() const override { return room; }

  [[nodiscard]] ReceiveStats receive_stats() const override {
    return {.dropped = {}, .answers_not_sent = answers_not_sent};
  }

  Result<void> send(const MadPacket& packet) override {
    ++attempts;
    if (on_attempt) {
      if (Result<void> result = on_attempt(); !result) return result;
    }
    sent.push_back(packet);
    if (on_sent) on_sent(packet);
    return {};
  }

  void set_handlers(Receive receive, Lost lost) override {
    receive_ = std::move(receive);
    lost_ = std::move(lost);
  }

  void set_responder(Responder given) override { responder = std::move(given); }

  Result<void> set_is_sm(bool) override { return {}; }

  void deliver(const MadPacket& packet) { receive_(packet); }

  void deliver(const Smp& smp, Lid from = kPermissiveLid) {
    MadPacket packet;
    packet.remote_lid = from;
    encode_smp(smp, packet.mad);
    receive_(packet);
  }

  void lose(Errc code = Errc::Io, std::string why = "unplugged") { lost_({code, std::move(why)}); }

  [[nodiscard]] Smp sent_smp(std::size_t i) const { return decode_smp(sent.at(i).mad).value(); }

  std::vector<MadPacket> sent;
  std::size_t attempts = 0;
  unsigned room = 4096;
  std::function<Result<void>()> on_attempt;  // fails the send when it returns an error
  std::function<void(const MadPacket&)> on_sent;
  Responder responder;
  std::uint64_t answers_not_sent = 0;

 private:
  Receive receive_;
  Lost lost_;
};

/// The answer that a faithful agent gives to `request`.
inline Smp answer_to(const Smp& request) {
  Smp answer = request;
  answer.method = Method::GetResp;
  answer.returning = request.directed;
  answer.hop_pointer = 0;
  for (std::size_t hop = 1; hop <= answer.hop_count; ++hop) {
    answer.return_path[hop] = static_cast<std::uint8_t>(hop);
  }
  return answer;
}

}  // namespace smd
