// Which packets come after one that was sent later: what a path keeps in order, and ways chosen
// packet by packet do not.
#pragma once

#include <unordered_map>
#include <vector>

#include "sim-backend/packet/data_net.h"

namespace smd::sim {

/// A path is a source, a LID and an SL: what packets of a queue pair have in common, which takes
/// them in the order in which they were made.
class ArrivalOrder final : public PacketObserver {
 public:
  /// Counts what arrives from `begin` on, beside whatever came before.
  explicit ArrivalOrder(HostNum hosts, Picos begin = 0) : hosts_(hosts), begin_(begin) {}

  void on_delivered(const Delivery& arrival) override;

  /// Of what arrived, those that a later one of their path had overtaken; 0 of nothing.
  [[nodiscard]] double late_share() const;

 private:
  /// What arrives at a host: in one partition.
  struct alignas(64) ArrivalsAtHost {
    std::unordered_map<std::uint64_t, std::uint32_t> latest;  // by path: its number
    std::uint64_t count = 0;
    std::uint64_t late = 0;
  };

  std::vector<ArrivalsAtHost> hosts_;
  Picos begin_;
};

}  // namespace smd::sim
