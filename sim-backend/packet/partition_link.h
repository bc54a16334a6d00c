// How partitions reach each other. A partition sends what crosses a cable, with the moment at which
// it arrives, during a window of time; the others take it when the window is over for all.
//
// Between partitions of one process a link is memory; between processes it leaves with an agreement
// (process_link.h).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim-backend/packet/net_state.h"

namespace smd::sim {

/// An event of another partition's, and the packet that it is about.
struct Crossing {
  Picos at = 0;
  NetStep step{};
  std::uint32_t index = 0;     // a port; of credits a VL, of a loss a host
  std::uint32_t argument = 0;  // of a packet its sequence
  DataPacket packet;           // of Arrive and Deliver
  Origin origin;
};

/// The way from one partition to another.
class PartitionLink {
 public:
  virtual ~PartitionLink() = default;

  /// By the sender. Requires: `at` is beyond the end of the window.
  virtual void post(const Crossing& crossing) = 0;

  /// By the sender: its window is over.
  virtual void close() = 0;

  /// By the receiver, once for each close(), after an agreement: what was posted, in that order.
  /// Valid until the next agreement.
  [[nodiscard]] virtual std::span<const Crossing> take() = 0;
};

/// Between partitions of one process. The two ends use two lists by turns: the receiver reads one
/// while the sender fills the other. A list is emptied when both are past the agreement after it.
class MemoryLink final : public PartitionLink {
 public:
  void post(const Crossing& crossing) override {
    if (stale_) empty();
    lists_[filling_].push_back(crossing);
  }

  void close() override {
    if (stale_) empty();
    filling_ = 1 - filling_;
    stale_ = true;
  }

  [[nodiscard]] std::span<const Crossing> take() override {
    taking_ = 1 - taking_;
    return lists_[1 - taking_];
  }

 private:
  void empty() {
    lists_[filling_].clear();
    stale_ = false;
  }

  std::array<std::vector<Crossing>, 2> lists_;
  std::size_t filling_ = 0;
  bool stale_ = false;                  // what is in the list to fill has been read
  alignas(64) std::size_t taking_ = 0;  // written by the other end
};

}  // namespace smd::sim
