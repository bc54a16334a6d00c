// Attributes that clients write: who keeps such records answers for them.
#pragma once

#include <optional>

#include "smd/sa/query.h"

namespace smd::sa {

class RecordKeeper {
 public:
  virtual ~RecordKeeper() = default;

  /// Any method but GetMulti. Nothing when the attribute, or this method of it, is not kept here;
  /// a Get that does not match exactly one record answers so itself. On the loop.
  [[nodiscard]] virtual std::optional<Answer> answer(const SubnetView& view,
                                                     const Query& query) = 0;
};

}  // namespace smd::sa
