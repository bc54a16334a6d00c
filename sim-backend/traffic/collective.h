// Exchanges in which a host sends when it has received: done when all have what they need.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sim-backend/packet/data_net.h"

namespace smd::sim {

enum class CollectiveKind : std::uint8_t {
  AllToAll,       // host i sends its k-th message to host i + k
  RingAllReduce,  // 2 (n - 1) steps of an n-th of the data to the next host
  TreeAllReduce   // up a binary tree to host 0, and down again, the whole data each time
};

/// "all-to-all-exchange", "ring-all-reduce", "tree-all-reduce"; false for other names.
[[nodiscard]] bool find_collective(std::string_view name, CollectiveKind& out);

struct CollectiveOptions {
  CollectiveKind kind = CollectiveKind::RingAllReduce;
  std::uint64_t bytes = 65536;  // all-to-all: of each message; else of the data of each host
  unsigned mtu = 4096;
  std::uint8_t sl = 0;
  std::function<std::uint8_t(HostNum, HostNum)> path_sl = {};  // in its place, by path
  Picos start = 0;
};

class Collective final : public Workload {
 public:
  /// Host numbers are ranks.
  Collective(const CollectiveOptions& options, std::vector<Lid> lids);

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;

  [[nodiscard]] bool splits() const override { return true; }

  /// When the last host had everything; kNever before that.
  [[nodiscard]] Picos finished() const;

  /// Messages that all hosts send together.
  [[nodiscard]] std::uint64_t messages() const;

 private:
  struct Rank {
    std::uint32_t sent = 0;               // messages
    std::uint32_t allowed = 0;            // of them that may go now
    std::vector<std::uint64_t> received;  // bytes, by step (tree: by child, then from above)
    std::uint32_t complete = 0;           // messages received whole
    Picos done_at = kNever;               // it has everything
  };

  [[nodiscard]] std::uint32_t messages_of(HostNum host) const;
  [[nodiscard]] std::uint64_t message_bytes() const;
  [[nodiscard]] HostNum target(HostNum host, std::uint32_t message) const;
  [[nodiscard]] std::uint32_t expected(HostNum host) const;
  void on_message(DataNet& net, HostNum host, Picos now);
  [[nodiscard]] std::uint32_t children(HostNum host) const;

  CollectiveOptions options_;
  std::vector<Lid> lids_;
  std::vector<Rank> ranks_;
};

}  // namespace smd::sim
