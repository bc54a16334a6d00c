// The second seam: one MAD out, one MAD in; and one port shared by several users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "smd/ib/types.h"
#include "smd/mad/header.h"

namespace smd {

// The second seam: send one MAD, receive one MAD. Timeouts, retries and matching belong to smp/.

struct MadPacket {
  Lid remote_lid =
      kPermissiveLid;  // sending: destination; receiving: source. Permissive for directed routes.
  std::uint32_t local_qp = 0;  // 0 for SMPs, 1 for GMPs
  std::uint32_t remote_qp = 0;
  std::uint8_t sl = 0;
  std::uint16_t pkey_index = 0;
  MadBytes mad{};
};

/// The port that a transport sits on.
struct LocalPort {
  std::string device;  // "mlx5_0", "ibsim0", "sim"
  PortNum port;
  Guid port_guid;

  friend bool operator==(const LocalPort&, const LocalPort&) = default;
};

/// What a MAD is to us, in the order in which a turn of the loop handles them.
enum class MadKind : std::uint8_t {
  Answer,   // to a request of ours; the kernel lets no others pass
  Manager,  // SMInfo that another manager asks for or sets
  Trap,
  Request,  // anything else: mostly of clients of the subnet administration
};

inline constexpr std::size_t kMadKinds = 4;

struct ReceiveStats {
  std::array<std::uint64_t, kMadKinds> dropped{};  // by kind: found no room
  std::uint64_t answers_not_sent = 0;              // of the Responder

  [[nodiscard]] std::uint64_t dropped_of(MadKind kind) const {
    return dropped[static_cast<std::size_t>(kind)];
  }

  friend bool operator==(const ReceiveStats&, const ReceiveStats&) = default;
};

class Transport {
 public:
  using Receive = std::function<void(const MadPacket&)>;
  using Lost = std::function<void(Error)>;

  /// Answers requests of clients beside the event loop. Called by several threads at a
  /// time; an empty one answers nothing.
  struct Responder {
    /// Whether answer() may have one: a look at a few bytes.
    std::function<bool(const MadPacket&)> may_answer;

    /// Nothing: the loop is to have the request.
    std::function<std::optional<MadPacket>(const MadPacket&)> answer;
  };

  virtual ~Transport() = default;

  [[nodiscard]] virtual LocalPort local_port() const = 0;

  /// Requests that the port takes before send() may block for good; more is never worth trying.
  [[nodiscard]] virtual unsigned most_outstanding() const { return 4096; }

  /// False where clients know no RMPP: they take the first segment of a table for the whole, and
  /// acknowledge nothing.
  [[nodiscard]] virtual bool carries_segments() const { return true; }

  /// False where the subnet carries directed SMPs alone.
  [[nodiscard]] virtual bool routes_smps_by_lid() const { return true; }

  /// Where MADs wait between a receiving thread and the loop.
  [[nodiscard]] virtual ReceiveStats receive_stats() const { return {}; }

  /// Hands the MAD to the port. Ok means injected, not delivered.
  virtual Result<void> send(const MadPacket& packet) = 0;

  /// Handlers run on the loop. `lost`: the device is gone; nothing will be sent or received any
  /// more.
  virtual void set_handlers(Receive receive, Lost lost) = 0;

  /// From now on; a last call of the former one may be under way when this returns. Transports
  /// without threads never ask.
  virtual void set_responder(Responder) {}

  /// Shows or hides the port's IsSM capability, which sends requests for the SM to us.
  virtual Result<void> set_is_sm(bool is_sm) = 0;
};

// One port, four users: subnet management packets go to one, congestion control and performance
// management to one each, everything else (management datagrams of QP1) to the last. Each sees a
// Transport of its own.

class ClassSplit {
 public:
  /// Takes the handlers of `below`, which outlives this and has none that does anything afterwards.
  explicit ClassSplit(Transport& below)
      : below_(below), subnet_(below), congestion_(below), performance_(below), general_(below) {
    below.set_handlers([this](const MadPacket& packet) { user_of(packet).deliver(packet); },
                       [this](const Error& error) { subnet_.lose(error); });
  }

  ~ClassSplit() {
    below_.set_handlers([](const MadPacket&) {}, [](const Error&) {});
  }

  ClassSplit(const ClassSplit&) = delete;

  /// Classes 0x01 and 0x81. The loss of the device is reported here and to no other.
  [[nodiscard]] Transport& subnet() { return subnet_; }

  /// Class 0x21.
  [[nodiscard]] Transport& congestion() { return congestion_; }

  /// Class 0x04.
  [[nodiscard]] Transport& performance() { return performance_; }

  [[nodiscard]] Transport& general() { return general_; }

 private:
  class Half final : public Transport {
   public:
    explicit Half(Transport& below) : below_(below) {}

    [[nodiscard]] LocalPort local_port() const override { return below_.local_port(); }

    [[nodiscard]] unsigned most_outstanding() const override { return below_.most_outstanding(); }

    [[nodiscard]] bool carries_segments() const override { return below_.carries_segments(); }

    [[nodiscard]] bool routes_smps_by_lid() const override { return below_.routes_smps_by_lid(); }

    [[nodiscard]] ReceiveStats receive_stats() const override { return below_.receive_stats(); }

    Result<void> send(const MadPacket& packet) override { return below_.send(packet); }

    void set_handlers(Receive receive, Lost lost) override {
      receive_ = std::move(receive);
      lost_ = std::move(lost);
    }

    void set_responder(Responder responder) override { below_.set_responder(std::move(responder)); }

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

  [[nodiscard]] const Half& user_of(const MadPacket& packet) const {
    switch (static_cast<MgmtClass>(packet.mad[1])) {
      case MgmtClass::SubnLid:
      case MgmtClass::SubnDirected:
        return subnet_;
      case MgmtClass::CongestionControl:
        return congestion_;
      case MgmtClass::Performance:
        return performance_;
      default:
        return general_;
    }
  }

  Transport& below_;
  Half subnet_;
  Half congestion_;
  Half performance_;
  Half general_;
};

}  // namespace smd
