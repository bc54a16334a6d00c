// The master's side: whoever connects is told who we are, and while we rule, the state that we
// keep; later what changed of it. The next version of a kind goes out when the peer has said
// that it took the last: one that is slow misses versions in between, never a part of one, and what
// waits for it is each kind of state once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "smd/replica/link.h"

namespace smd::replica {

class Server {
 public:
  static constexpr std::size_t kMostPeers = 8;

  Server(Runtime& runtime, WallClock wall, Pace pace = {});
  Server(const Server&) = delete;

  /// One whose certificate was good.
  void accept(std::unique_ptr<Stream> stream);

  /// Who we are from now on. What was published counts as long as we are master.
  void present(const Hello& hello);

  /// What is kept now, by name; kinds that are as they were are not sent again.
  void publish(const std::map<std::string, std::string>& parts);

  /// Somebody is connected, and all who are have said that they took all that was published.
  [[nodiscard]] bool is_current() const;

  /// Names of who is connected.
  [[nodiscard]] std::vector<std::string> peers() const;

  [[nodiscard]] std::uint64_t cut() const { return cut_; }

  [[nodiscard]] std::uint64_t parts_sent() const { return parts_sent_; }

 private:
  struct Kept {
    std::string text;
    std::uint64_t version = 0;
  };

  struct Peer {
    std::unique_ptr<Link> link;
    std::map<std::string, std::uint64_t> sent;  // versions
    std::set<std::string> under_way;            // not yet taken
  };

  void on_frame(Peer& peer, const Frame& frame);
  void on_end(Peer& peer, const std::string& why);
  void flush();

  Runtime& runtime_;
  WallClock wall_;
  Pace pace_;
  Hello hello_;
  std::map<std::string, Kept> parts_;
  std::uint64_t version_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::uint64_t cut_ = 0;
  std::uint64_t parts_sent_ = 0;
  Timer reap_;
};

}  // namespace smd::replica
