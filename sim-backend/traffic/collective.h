// Exchanges in which a host sends when it has received: done when all have what they need. Here
// those of a message to one host each; others are in segmented.h and in_network.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/packet/data_net.h"

namespace smd::sim {

class SwitchPortHandler;

enum class CollectiveKind : std::uint8_t {
  AllToAll,            // host i sends its k-th message to host i + k
  RingAllReduce,       // 2 (n - 1) steps of an n-th of the data to the next host
  TreeAllReduce,       // up a binary tree to host 0, and down again, the whole data each time
  BinomialBroadcast,   // segmented.h
  MulticastBroadcast,  // likewise
  MulticastAllReduce,  // likewise
  InNetworkAllReduce   // in_network.h
};

/// "all-to-all-exchange", "ring-all-reduce" …; false for other names.
[[nodiscard]] bool find_collective(std::string_view name, CollectiveKind& out);

/// All of them, as a sentence lists them.
[[nodiscard]] std::string list_collectives();

/// It sends by multicast.
[[nodiscard]] bool needs_group(CollectiveKind kind);

struct CollectiveOptions {
  CollectiveKind kind = CollectiveKind::RingAllReduce;
  std::uint64_t bytes = 65536;  // all-to-all: of each message; else of the data of each host
  unsigned mtu = 4096;
  std::uint8_t sl = 0;
  std::function<std::uint8_t(HostNum, HostNum)> path_sl = {};  // in its place, by path
  Picos start = 0;
  std::uint64_t segment = 0;  // bytes that a rank passes on at a time; 0: all of them
  Lid group;                  // of the ranks, where it is sent to
  std::uint8_t group_sl = 0;
};

/// Who takes part: hosts by rank, ascending, and their LIDs.
struct CollectiveRanks {
  CollectiveRanks(std::vector<HostNum> by_rank, std::vector<Lid> their_lids);

  /// All hosts, in their order.
  explicit CollectiveRanks(std::vector<Lid> all);

  /// kNowhere of a host that takes no part.
  [[nodiscard]] std::uint32_t rank_of(HostNum host) const {
    return host < ranks.size() ? ranks[host] : kNowhere;
  }

  std::vector<HostNum> hosts;
  std::vector<Lid> lids;
  std::vector<std::uint32_t> ranks;  // by host
};

class CollectiveWorkload : public Workload {
 public:
  /// When the last rank had everything; kNever before that.
  [[nodiscard]] virtual Picos finished() const = 0;

  /// When the host had everything; kNever before that, 0 of one that takes no part.
  [[nodiscard]] virtual Picos done_at(HostNum host) const = 0;

  /// Messages that all hosts send together.
  [[nodiscard]] virtual std::uint64_t messages() const = 0;

  /// What port 0 of switches does; null where it does nothing.
  [[nodiscard]] virtual SwitchPortHandler* switch_ports() { return nullptr; }

  [[nodiscard]] bool splits() const override { return true; }
};

/// Those of a message to one host each.
class Collective final : public CollectiveWorkload {
 public:
  Collective(const CollectiveOptions& options, const CollectiveRanks& ranks);

  /// Host numbers are ranks.
  Collective(const CollectiveOptions& options, std::vector<Lid> lids)
      : Collective(options, CollectiveRanks(std::move(lids))) {}

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;

  [[nodiscard]] Picos finished() const override;
  [[nodiscard]] Picos done_at(HostNum host) const override;
  [[nodiscard]] std::uint64_t messages() const override;

 private:
  struct Rank {
    std::uint32_t sent = 0;               // messages
    std::uint32_t allowed = 0;            // of them that may go now
    std::vector<std::uint64_t> received;  // bytes, by step (tree: by child, then from above)
    std::uint32_t complete = 0;           // messages received whole
    Picos done_at = kNever;               // it has everything
  };

  // By rank.
  [[nodiscard]] std::uint32_t messages_of(std::uint32_t rank) const;
  [[nodiscard]] std::uint64_t message_bytes() const;
  [[nodiscard]] std::uint32_t target(std::uint32_t rank, std::uint32_t message) const;
  [[nodiscard]] std::uint32_t expected(std::uint32_t rank) const;
  void on_message(DataNet& net, std::uint32_t rank, Picos now);
  [[nodiscard]] std::uint32_t children(std::uint32_t rank) const;

  CollectiveOptions options_;
  CollectiveRanks places_;
  std::vector<Rank> ranks_;
};

}  // namespace smd::sim
