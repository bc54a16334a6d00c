// Which end ports a request for records may mean, and what a client may see of them.
#pragma once

#include <vector>

#include "smd/sa/query.h"

namespace smd::sa {

/// In every record that has one, the LID is component 0 and stands first.
inline constexpr std::uint64_t kLid = component_bit(0);

[[nodiscard]] inline bool asks(const Query& query, std::uint64_t components) {
  return (query.header.component_mask & components) == components;
}

[[nodiscard]] Lid wanted_lid(const Query& query);

void drop_invisible(const SubnetView& view, const Query& query, std::vector<PortIdx>& ports);

/// One port where the request names a LID, else all. A LID within the range of a port's LMC names
/// that port. What the client may not see is not among them.
[[nodiscard]] std::vector<PortIdx> find_candidates(const SubnetView& view, const Query& query);

}  // namespace smd::sa
