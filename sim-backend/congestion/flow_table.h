// State by source and destination. Memory is taken when a source first sends.
#pragma once

#include <vector>

#include "sim-backend/packet/congestion_hooks.h"

namespace smd::sim {

template <class State>
class FlowTable {
 public:
  FlowTable(HostNum hosts, State fresh) : hosts_(hosts), fresh_(fresh), by_source_(hosts) {}

  State& at(HostNum source, HostNum destination) {
    std::vector<State>& own = by_source_[source];
    if (own.empty()) own.assign(hosts_, fresh_);
    return own[destination];
  }

 private:
  HostNum hosts_;
  State fresh_;
  std::vector<std::vector<State>> by_source_;
};

}  // namespace smd::sim
