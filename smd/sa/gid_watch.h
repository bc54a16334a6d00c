// Which GIDs came and went between two views of the subnet (traps 64 and 65).
#pragma once

#include <vector>

#include "smd/sa/sa_event.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

class GidWatch {
 public:
  /// What was in service in a former life; without it the first view tells of nobody.
  void restore(std::vector<Guid> known);

  /// Gone first, then new, each in ascending order.
  [[nodiscard]] std::vector<GidEvent> look(const SubnetView& view);

  /// Ascending.
  [[nodiscard]] const std::vector<Guid>& in_service() const { return known_; }

 private:
  bool knows_ = false;
  std::vector<Guid> known_;
};

}  // namespace smd::sa
