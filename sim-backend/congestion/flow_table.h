// State by source and destination. Memory is taken for those that have sent to each other.
#pragma once

#include <vector>

#include "sim-backend/packet/congestion_hooks.h"
#include "sim-backend/packet/destination_map.h"

namespace smd::sim {

template <class State>
class FlowTable {
 public:
  FlowTable(HostNum hosts, State fresh) : fresh_(fresh), by_source_(hosts) {}

  State& at(HostNum source, HostNum destination) {
    return by_source_[source].at(destination, fresh_);
  }

  [[nodiscard]] std::size_t memory() const {
    std::size_t out = 0;
    for (const DestinationMap<State>& own : by_source_) out += own.memory();
    return out;
  }

 private:
  State fresh_;
  std::vector<DestinationMap<State>> by_source_;
};

}  // namespace smd::sim
