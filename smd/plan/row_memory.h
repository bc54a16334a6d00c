// SL-to-VL rows that switches are known to hold, by switch, input and output.
#pragma once

#include <map>
#include <vector>

#include "smd/routing/lanes.h"

namespace smd {

class RowMemory {
 public:
  /// Null where nothing is known.
  [[nodiscard]] const SlToVl* find(Guid node, PortNum in, PortNum out) const;

  void confirm(Guid node, PortNum in, PortNum out, const SlToVl& row);
  void forget_row(Guid node, PortNum in, PortNum out);

  void forget(Guid node) { switches_.erase(node); }

  /// No row of any switch was ever confirmed, unless it was forgotten with its switch.
  [[nodiscard]] bool empty() const { return switches_.empty(); }

 private:
  struct Rows {
    std::size_t width = 0;             // ports, port 0 included
    std::vector<std::uint32_t> index;  // into rows_, by input and output
  };

  void widen(Rows& rows, std::size_t width) const;

  static constexpr std::uint32_t kUnknown = 0xffffffff;

  std::map<Guid, Rows> switches_;
  std::map<SlToVl, std::uint32_t> number_;  // equal rows share one
  std::vector<SlToVl> rows_;
};

}  // namespace smd
