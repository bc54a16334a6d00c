// Answers Get(PathRecord) from what was published last while the event loop is at something else:
// routes that are taken in, tables that are compared, a sweep.
//
// That is what hosts ask most, and all that it takes is a view, which never changes. Whatever needs
// more is left to the server on the loop: an order of paths that changes with each question, trust,
// a pace for each port, refusals, paths to other subnets, questions for more than one pair, and
// those where many paths have to be looked at.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "smd/sa/subnet_view.h"
#include "smd/transport/transport.h"

namespace smd::sa {

class PathResponder {
 public:
  /// What is answered from, from the next request on; null: everything is left to the loop. On the
  /// loop. A view is kept until the next but one, so that it is not destroyed, which takes
  /// milliseconds, while answering.
  void adopt(std::shared_ptr<const SubnetView> view);

  /// False: answer() has none, whatever the view.
  [[nodiscard]] static bool may_answer(const MadPacket& request);

  /// What the server would send; nothing: the server shall. On any thread.
  [[nodiscard]] std::optional<MadPacket> answer(const MadPacket& request);

  /// Requests, each with status 0 and one record.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  std::mutex mutex_;
  std::shared_ptr<const SubnetView> view_;
  std::shared_ptr<const SubnetView> former_;
  std::atomic<std::uint64_t> answered_ = 0;
};

}  // namespace smd::sa
