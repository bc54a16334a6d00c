// A vector that accepts only its own index type, so that one handle cannot subscript another's
// array.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace smd {

/// Indices [first, last) of one dense handle type; usable in range-for.
template <class Idx>
class IndexRange {
 public:
  class iterator {
   public:
    using value_type = Idx;
    using difference_type = std::ptrdiff_t;
    using reference = Idx;
    using pointer = const Idx*;
    using iterator_category = std::input_iterator_tag;

    constexpr explicit iterator(typename Idx::rep at) : at_(at) {}

    constexpr Idx operator*() const { return Idx{at_}; }

    constexpr iterator& operator++() {
      ++at_;
      return *this;
    }

    constexpr iterator operator++(int) {
      const iterator before = *this;
      ++at_;
      return before;
    }

    friend constexpr bool operator==(iterator, iterator) = default;

   private:
    typename Idx::rep at_;
  };

  constexpr IndexRange(Idx first, Idx last) : first_(first.value()), last_(last.value()) {}

  [[nodiscard]] constexpr iterator begin() const { return iterator{first_}; }

  [[nodiscard]] constexpr iterator end() const { return iterator{last_}; }

  [[nodiscard]] constexpr std::size_t size() const { return last_ - first_; }

 private:
  typename Idx::rep first_, last_;
};

template <class Idx, class T>
class IndexVector {
 public:
  IndexVector() = default;

  explicit IndexVector(std::size_t count, const T& value = T{}) : items_(count, value) {}

  IndexVector(std::initializer_list<T> items) : items_(items) {}

  [[nodiscard]] decltype(auto) operator[](Idx i) { return items_[i.value()]; }

  [[nodiscard]] decltype(auto) operator[](Idx i) const { return items_[i.value()]; }

  [[nodiscard]] std::size_t size() const { return items_.size(); }

  [[nodiscard]] bool empty() const { return items_.empty(); }

  /// Appends and returns the new item's handle.
  Idx push_back(T item) {
    items_.push_back(std::move(item));
    return Idx{static_cast<typename Idx::rep>(items_.size() - 1)};
  }

  void resize(std::size_t count, const T& value = T{}) { items_.resize(count, value); }

  void assign(std::size_t count, const T& value) { items_.assign(count, value); }

  void reserve(std::size_t count) { items_.reserve(count); }

  void clear() { items_.clear(); }

  /// The handles 0 … size-1.
  [[nodiscard]] IndexRange<Idx> indices() const {
    return {Idx{0}, Idx{static_cast<typename Idx::rep>(items_.size())}};
  }

  [[nodiscard]] auto begin() { return items_.begin(); }

  [[nodiscard]] auto end() { return items_.end(); }

  [[nodiscard]] auto begin() const { return items_.begin(); }

  [[nodiscard]] auto end() const { return items_.end(); }

  [[nodiscard]] auto& back() { return items_.back(); }

  [[nodiscard]] const std::vector<T>& raw() const { return items_; }

  friend bool operator==(const IndexVector&, const IndexVector&) = default;

 private:
  std::vector<T> items_;
};

}  // namespace smd
