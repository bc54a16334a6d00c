// A value that is costly to make, and that not everybody asks for: it is made when somebody does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace smd {

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
