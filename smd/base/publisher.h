// One place says it, many hear it: events, and the newest version of a value. All on one thread;
// the value itself may be read on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace smd {

/// Something that happens. Handlers run in the order in which they subscribed, as long as this
/// lives.
template <class Event>
class Signal {
 public:
  using Handler = std::function<void(const Event&)>;

  Signal() = default;
  Signal(const Signal&) = delete;

  /// Requires: not called by a handler of this.
  void subscribe(Handler handler) { handlers_.push_back(std::move(handler)); }

  void emit(const Event& event) const {
    for (const Handler& handler : handlers_) handler(event);
  }

 private:
  std::vector<Handler> handlers_;
};

/// The newest version of a value, told to whoever subscribed. What is published never changes, and
/// stays for whoever holds it.
template <class T>
class Publisher {
  static_assert(!std::is_copy_assignable_v<T> && !std::is_move_assignable_v<T>,
                "readers hold what is published: its members must be const");

 public:
  using Value = std::shared_ptr<const T>;

  struct Change {
    Value now;     // null: nothing holds any more
    Value before;  // null: nothing held; may be `now`, when what belongs to it is news
  };

  Publisher() = default;
  Publisher(const Publisher&) = delete;

  [[nodiscard]] const Value& current() const { return current_; }

  /// 0 before the first, one more with each.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  /// Requires: not called by a handler of this.
  void publish(Value next) {
    ++version_;
    Change change{.now = std::move(next), .before = std::move(current_)};
    current_ = change.now;
    changed_.emit(change);
  }

  /// Requires: not called by a handler of this.
  void subscribe(typename Signal<Change>::Handler handler) {
    changed_.subscribe(std::move(handler));
  }

 private:
  Value current_;
  std::uint64_t version_ = 0;
  Signal<Change> changed_;
};

// Which of many keyed things changed since somebody last asked. Bounded: after too many the answer
// is that anything may have changed, and so it is at the start.

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
