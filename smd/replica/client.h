// A standby's side: connects to its peers, again and again, and takes state from the one that is
// its master.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/replica/link.h"

namespace smd::replica {

/// For the operator.
struct PeerView {
  std::string peer;
  bool connected = false;
  std::optional<Hello> hello;  // as it last presented itself
  std::string trouble;         // why it is not connected; empty: no attempt has ended
  std::uint64_t failures = 0;
  std::uint64_t parts = 0;  // received
};

class Client {
 public:
  struct Handlers {
    /// Whether state is taken from one that presents itself so.
    std::function<bool(const Hello&)> is_master;

    /// False when it cannot be read: the connection ends.
    std::function<bool(Part part, std::int64_t wall_ms)> on_part;

    /// What changed of a part that came before; likewise.
    std::function<bool(Part changes, std::int64_t wall_ms)> on_changes{};
  };

  /// Attempts begin after the shortest time and end up this far apart.
  static constexpr Duration kShortestWait = std::chrono::seconds(1);
  static constexpr Duration kLongestWait = std::chrono::seconds(30);

  Client(Runtime& runtime,
         Dialer& dialer,
         std::vector<std::string> peers,
         WallClock wall,
         Handlers handlers,
         HeartbeatTiming timing = {});
  Client(const Client&) = delete;

  void present(const Hello& hello);

  /// Connects from now on, or is connected to nobody.
  void enable(bool on);

  [[nodiscard]] std::vector<PeerView> peers() const;

 private:
  struct Peer {
    PeerView view;
    Duration wait = kShortestWait;
    std::string said;  // the trouble that was logged
    std::unique_ptr<Attempt> attempt;
    std::unique_ptr<Link> link;
    std::map<std::string, std::string> pieces;  // of what is not whole yet
    Timer timer;
  };

  void dial(Peer& peer);
  void adopt(Peer& peer, std::unique_ptr<Stream> stream);
  void on_frame(Peer& peer, Frame frame);
  void on_state(Peer& peer, Frame frame);
  void fail_later(Peer& peer, const std::string& why);

  Runtime& runtime_;
  Dialer& dialer_;
  WallClock wall_;
  Handlers handlers_;
  HeartbeatTiming timing_;
  Hello hello_;
  bool enabled_ = false;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace smd::replica
