// How long routes were before a change.
#pragma once

#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/switch_graph.h"

namespace smd {

class OldRoutes {
 public:
  /// `before` and what it points to outlive it. `row_before`: the switches of now as they were.
  OldRoutes(const PreviousRoutes& before, const IndexVector<SwitchIdx, SwitchIdx>& row_before);

  /// Links to the switch that served the LID; kUnreached when the entries did not lead there.
  [[nodiscard]] std::uint32_t length(SwitchIdx sw, Lid lid) const;

 private:
  const PreviousRoutes& before_;
  const IndexVector<SwitchIdx, SwitchIdx>& row_before_;
  std::vector<std::uint32_t> first_hop_;  // by switch as it was, one more than there are
  std::vector<SwitchIdx> hops_;           // kNone: the port led to no switch
  std::vector<SwitchIdx> last_;           // by LID
};

}  // namespace smd
