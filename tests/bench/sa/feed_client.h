// The bench's side of the feed: questions for a manager, orders, results.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "smd/ib/types.h"
#include "tests/bench/sa/feed_order.h"

namespace smd::bench {

enum class AskBy { Gid, Lid };

class FeedClient {
 public:
  /// `socket` is what the library in the manager listens on; files come to lie in `folder`.
  FeedClient(std::filesystem::path socket, std::filesystem::path folder)
      : socket_(std::move(socket)), folder_(std::move(folder)) {}

  /// Asks for each host's LID, in the name of `asker`. Empty, or what went wrong.
  std::string learn_lids(const std::vector<Guid>& hosts, Lid asker);

  struct Round {
    AskBy by = AskBy::Gid;
    unsigned window = 1;
    unsigned milliseconds = 1000;
    unsigned rate = 0;  // a second; 0: as often as they are answered
  };

  /// Get(PathRecord) between random hosts, each asked by its source. The result has "error" when
  /// there is none.
  nlohmann::json ask(const Round& round);

 private:
  nlohmann::json order(const std::filesystem::path& questions, const Round& round) const;
  void write(const std::filesystem::path& file, AskBy by, const std::vector<FeedPair>& pairs) const;

  std::filesystem::path socket_;
  std::filesystem::path folder_;
  std::vector<FeedPair> hosts_;  // the target of each is a host
};

}  // namespace smd::bench
