// Traps that are forwarded, at a bounded rate for each port and number: a cable that flaps does not
// fill the log of events. The last that was held back is told when its time has come, so that
// subscribers know how it ended.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "smd/mad/notice.h"
#include "smd/runtime/runtime.h"

namespace smd::sa {

class TrapGate {
 public:
  using Tell = std::function<void(const Notice&)>;

  /// So many in a row pass at once; after that one in each `kRefill`.
  static constexpr unsigned kBurst = 20;
  static constexpr Duration kRefill = std::chrono::milliseconds(200);

  TrapGate(Runtime& runtime, Tell tell) : runtime_(runtime), tell_(std::move(tell)) {}

  void offer(const Notice& notice);

  [[nodiscard]] std::uint64_t held_back() const { return held_back_; }

 private:
  using Key = std::pair<Lid, std::uint16_t>;

  struct Source {
    TimePoint until;  // ahead of now by one kRefill for each turn used
    std::optional<Notice> last;
    Timer timer;
  };

  void pass(const Key& key, const Notice& notice);
  void forget_quiet();

  Runtime& runtime_;
  Tell tell_;
  std::map<Key, Source> sources_;
  std::uint64_t held_back_ = 0;
};

}  // namespace smd::sa
