// The routes in force: written by the sweep, read by OpenSM's query threads at any time.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "plugins/opensm/routes.h"

namespace smd::opensm {

class SharedRoutes {
 public:
  /// Null: none of ours are in force. What is returned stays as it is, whatever is set later.
  [[nodiscard]] std::shared_ptr<const Routes> get() const {
    const std::lock_guard lock(mutex_);
    return routes_;
  }

  void set(std::shared_ptr<const Routes> routes) {
    {
      const std::lock_guard lock(mutex_);
      routes_.swap(routes);
    }
    // The old routes die here at the earliest, outside the lock.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Routes> routes_;
};

}  // namespace smd::opensm
