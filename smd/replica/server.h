// The master's side: whoever connects is told who we are, and while we are master, the state that
// we keep; later what changed of it. State goes in pieces, each when the peer has said that it took
// the one before, and so does the next version of a kind: one that is slow misses versions in
// between, never a part of one, and what waits for it is each kind of state once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/replica/link.h"

namespace smd::replica {

class Server {
 public:
  static constexpr std::size_t kMostPeers = 8;

  Server(Runtime& runtime, WallClock wall, HeartbeatTiming timing = {});
  Server(const Server&) = delete;

  /// One whose certificate was good.
  void accept(std::unique_ptr<Stream> stream);

  /// Who we are from now on. What was published counts as long as we are master.
  void present(const Hello& hello);

  /// What is kept now, by name; kinds that are as they were are not sent again.
  void publish(const std::map<std::string, std::string>& parts);

  /// A kind of state that may be large: sent whole to who has none of it, then by its changes.
  struct Changing {
    std::function<std::string()> whole;
    std::function<std::uint64_t()> position;  // of what whole() would return; never 0
    std::function<std::optional<std::string>(std::uint64_t)> since;  // nothing: whole() is needed
  };

  /// Before anybody connects.
  void follow(const std::string& name, Changing source) { changing_[name] = std::move(source); }

  /// Of what is followed something may have changed.
  void note_change() { flush(); }

  /// Somebody is connected, and all who are have said that they took all that was published.
  [[nodiscard]] bool is_current() const;

  /// Of this manager.
  [[nodiscard]] bool is_current(Guid reader) const;

  /// It was, at some time since it connected, or since we rule.
  [[nodiscard]] bool has_copy(Guid reader) const;

  /// Names of who is connected.
  [[nodiscard]] std::vector<std::string> peers() const;

  [[nodiscard]] std::uint64_t cut() const { return disconnected_; }

  [[nodiscard]] std::uint64_t parts_sent() const { return parts_sent_; }

 private:
  struct Published {
    std::string text;
    std::uint64_t version = 0;
  };

  /// State on its way to a peer.
  struct Sending {
    std::string text;
    std::size_t at = 0;                // of what was not sent yet
    FrameKind last = FrameKind::Part;  // of the last piece
  };

  struct Peer {
    std::unique_ptr<Link> link;
    Guid manager;                               // as it presents itself; 0: not yet
    bool has_copy = false;                      // see has_copy()
    std::map<std::string, std::uint64_t> sent;  // versions, and positions of what is followed
    std::map<std::string, Sending> under_way;   // not yet taken
  };

  void on_frame(Peer& peer, const Frame& frame);
  void on_end(Peer& peer, const std::string& why);
  [[nodiscard]] bool is_current(const Peer& peer) const;
  void send_piece(Peer& peer, const std::string& name);
  void flush();
  void flush(Peer& peer);

  Runtime& runtime_;
  WallClock wall_;
  HeartbeatTiming timing_;
  Hello hello_;
  std::map<std::string, Published> parts_;
  std::map<std::string, Changing> changing_;
  std::uint64_t version_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::uint64_t disconnected_ = 0;
  std::uint64_t parts_sent_ = 0;
  Timer reap_;
};

}  // namespace smd::replica
