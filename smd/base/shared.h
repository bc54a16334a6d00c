// A value that never changes again, shared by its copies: a copy costs one counter, whatever the
// value weighs. Any thread may read it. And a mark for values whose copies share parts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace smd {

template <class T>
class Shared {
 public:
  Shared() : Shared(T{}) {}

  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  // Copied where it could be moved: what was moved from has its value still.
  Shared(const Shared&) = default;
  Shared& operator=(const Shared&) = default;

  [[nodiscard]] const T& operator*() const { return *value_; }

  [[nodiscard]] const T* operator->() const { return value_.get(); }

  operator const T&() const { return *value_; }

  template <class Index>
  [[nodiscard]] decltype(auto) operator[](const Index& index) const {
    return (*value_)[index];
  }

  /// To be kept beyond this.
  [[nodiscard]] const std::shared_ptr<const T>& share() const { return value_; }

  /// The same object, not only an equal one.
  [[nodiscard]] bool is(const Shared& other) const { return value_ == other.value_; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a == *b;
  }

 private:
  std::shared_ptr<const T> value_;  // never null
};

/// A member of what shares parts with its copies until one of them writes: set in both the copy and
/// what it was copied from, which is const and may be copied by several threads at once.
class SharedMark {
 public:
  SharedMark() = default;

  SharedMark(const SharedMark& from) : shared_(true) { from.set(); }

  SharedMark(SharedMark&& from) noexcept : shared_(from.get()) {}

  SharedMark& operator=(const SharedMark& from) {
    from.set();
    set();
    return *this;
  }

  SharedMark& operator=(SharedMark&& from) noexcept {
    shared_.store(from.get(), std::memory_order_relaxed);
    return *this;
  }

  ~SharedMark() = default;

  [[nodiscard]] bool get() const { return shared_.load(std::memory_order_relaxed); }

  void set() const { shared_.store(true, std::memory_order_relaxed); }

  /// Requires: no copy holds a part that this one will write to.
  void clear() { shared_.store(false, std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> shared_ = false;
};

// A value that is costly to make, and that not everybody asks for: it is made when somebody does.

/// Copies share it. One thread at a time may ask.
template <class T>
class OnFirstUse {
 public:
  OnFirstUse(T value) : state_(std::make_shared<State>(State{{}, std::move(value)})) {}

  /// `make` runs once at most; what it captures lives as long as this.
  explicit OnFirstUse(std::function<T()> make)
      : state_(std::make_shared<State>(State{std::move(make), std::nullopt})) {}

  [[nodiscard]] const T& operator*() const {
    if (!state_->value) state_->value = state_->make();
    return *state_->value;
  }

  [[nodiscard]] const T* operator->() const { return &**this; }

  [[nodiscard]] bool is_made() const { return state_->value.has_value(); }

 private:
  struct State {
    std::function<T()> make;
    std::optional<T> value;
  };

  std::shared_ptr<State> state_;  // never null
};

}  // namespace smd
