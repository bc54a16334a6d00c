// Exchanges in which a host sends when it has received: done when all have what they need. Here
// those of a message to one host each; others are in segmented.h and in_network.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/packet/data_net.h"

namespace smd::sim {

class SwitchPortHandler;

enum class CollectiveKind : std::uint8_t {
  AllToAll,            // host i sends its k-th message to host i + k; between hosts with several
                       // ranks to each of host i + 1, then of i + 2, and so on
  RingAllReduce,       // 2 (n - 1) steps of an n-th of the data, rounded up, to the next host
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

/// Who takes part: hosts by rank, and their LIDs.
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
  std::vector<std::uint32_t> ranks;    // by host
  std::vector<std::uint32_t> host_of;  // by rank: equal ones are of one host; empty: all differ
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

/// Those of a message to one host each. Of all-to-all what ranks of one host have for each other is
/// not sent; of the others it is, as ranks come after each other by number alone.
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

  struct InHost {
    std::size_t host, place;
  };

  void find_hosts();

  /// Host by host after the rank's own, in each from its own place on: where hosts have as many
  /// ranks, every step is a shift of hosts and of their ranks.
  [[nodiscard]] std::uint32_t find_other(std::uint32_t rank, std::uint32_t message) const;

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

  // Of all-to-all between hosts with several ranks: by host, and by rank.
  std::vector<std::vector<std::uint32_t>> of_host_;
  std::vector<InHost> in_host_;
  std::vector<std::uint64_t> before_;  // ranks of hosts below that number, twice round
};

/// Several at the same time, each of hosts of its own: one in each rail.
class RailCollective final : public CollectiveWorkload {
 public:
  /// `rail`: by host, which of them it takes part in.
  RailCollective(std::vector<std::unique_ptr<CollectiveWorkload>> in_rail,
                 std::vector<std::uint32_t> rail)
      : in_rail_(std::move(in_rail)), rail_(std::move(rail)) {}

  Picos first(HostNum host) override { return of(host).first(host); }

  Picos emit(DataNet& net, HostNum host, Picos now) override {
    return of(host).emit(net, host, now);
  }

  void on_delivered(DataNet& net, const Delivery& arrival) override {
    of(arrival.destination).on_delivered(net, arrival);
  }

  [[nodiscard]] Picos finished() const override;

  [[nodiscard]] Picos done_at(HostNum host) const override { return of(host).done_at(host); }

  [[nodiscard]] std::uint64_t messages() const override;

 private:
  [[nodiscard]] CollectiveWorkload& of(HostNum host) const { return *in_rail_[rail_[host]]; }

  std::vector<std::unique_ptr<CollectiveWorkload>> in_rail_;
  std::vector<std::uint32_t> rail_;
};

}  // namespace smd::sim
