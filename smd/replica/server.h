// The master's side: whoever connects is told who we are, and while we rule, the state that we
// keep; later what changed of it. A peer that reads slowly misses versions in between, never parts
// of one, so that what waits for it is at most each kind of state once.
#pragma once

#include <map>
#include <memory>
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
  Timer behind_;  // somebody has not read enough to be sent more
  Timer reap_;
};

}  // namespace smd::replica
