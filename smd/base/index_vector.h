// A vector that accepts only its own index type, so that one handle cannot subscript another's
// array; and one whose copies share their items.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "smd/base/shared.h"

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

  void append(const T* first, const T* last) { items_.insert(items_.end(), first, last); }

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

/// An IndexVector whose copies share the items until one of them writes: a copy costs a counter.
/// Items that a copy holds never change, whichever thread reads them. Whoever may write but wants
/// to read does so through a const reference, since every other access takes items of its own.
template <class Idx, class T>
class SharedIndexVector {
 public:
  using Items = IndexVector<Idx, T>;

  SharedIndexVector() = default;

  SharedIndexVector(Items items) : items_(std::make_shared<Items>(std::move(items))) { point(); }

  SharedIndexVector(const SharedIndexVector&) = default;
  SharedIndexVector& operator=(const SharedIndexVector&) = default;

  SharedIndexVector(SharedIndexVector&& from) noexcept
      : items_(std::move(from.items_)), mark_(std::move(from.mark_)) {
    point();
    from.point();
  }

  SharedIndexVector& operator=(SharedIndexVector&& from) noexcept {
    items_ = std::move(from.items_);
    mark_ = std::move(from.mark_);
    point();
    from.point();
    return *this;
  }

  ~SharedIndexVector() = default;

  [[nodiscard]] const T& operator[](Idx i) const { return first_[i.value()]; }

  [[nodiscard]] T& operator[](Idx i) { return own()[i]; }

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Appends and returns the new item's handle.
  Idx push_back(T item) {
    const Idx at = own().push_back(std::move(item));
    point();
    return at;
  }

  void resize(std::size_t count, const T& value = T{}) {
    own().resize(count, value);
    point();
  }

  void append(const T* first, const T* last) {
    own().append(first, last);
    point();
  }

  void reserve(std::size_t count) {
    own().reserve(count);
    point();
  }

  /// Where it is another value: items that are as they should be stay shared.
  void set(Idx i, const T& value) {
    if (!(first_[i.value()] == value)) own()[i] = value;
  }

  /// The handles 0 … size-1.
  [[nodiscard]] IndexRange<Idx> indices() const {
    return {Idx{0}, Idx{static_cast<typename Idx::rep>(size_)}};
  }

  [[nodiscard]] const T* begin() const { return first_; }

  [[nodiscard]] const T* end() const { return first_ + size_; }

  [[nodiscard]] T* begin() { return size_ == 0 ? nullptr : &*own().begin(); }

  [[nodiscard]] T* end() { return size_ == 0 ? nullptr : &*own().begin() + size_; }

  [[nodiscard]] const T& back() const { return first_[size_ - 1]; }

  [[nodiscard]] const std::vector<T>& raw() const { return items().raw(); }

  [[nodiscard]] const Items& items() const {
    static const Items kNone;
    return items_ != nullptr ? *items_ : kNone;
  }

  operator const Items&() const { return items(); }

  /// Equal, without looking at an item. False says nothing.
  [[nodiscard]] bool shares(const SharedIndexVector& other) const { return items_ == other.items_; }

  friend bool operator==(const SharedIndexVector& a, const SharedIndexVector& b) {
    return a.shares(b) || a.items() == b.items();
  }

 private:
  Items& own() {
    if (items_ == nullptr || mark_.get()) {
      items_ = std::make_shared<Items>(items());
      mark_.clear();
      point();
    }
    return *items_;
  }

  void point() {
    first_ = items_ != nullptr && !items_->empty() ? &*std::as_const(*items_).begin() : nullptr;
    size_ = items_ != nullptr ? items_->size() : 0;
  }

  std::shared_ptr<Items> items_;  // null: empty
  SharedMark mark_;
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace smd
