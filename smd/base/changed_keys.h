// Which of many keyed things changed since somebody last asked. Bounded: after too many the answer
// is that anything may have changed, and so it is at the start.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace smd {

template <class Key>
class ChangedKeys {
 public:
  /// A crowd of hosts that register at once is still told one by one.
  static constexpr std::size_t kMost = std::size_t{1} << 15;

  void note(const Key& key) {
    if (everything_) return;
    keys_.insert(key);
    if (keys_.size() > kMost) note_everything();
  }

  void note_everything() {
    everything_ = true;
    keys_.clear();
  }

  /// Ascending; nothing: anything may have changed.
  [[nodiscard]] std::optional<std::set<Key>> take() {
    if (std::exchange(everything_, false)) return std::nullopt;
    return std::exchange(keys_, {});
  }

 private:
  bool everything_ = true;
  std::set<Key> keys_;
};

}  // namespace smd
