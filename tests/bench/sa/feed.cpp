#include "tests/bench/sa/feed.h"

#include <time.h>

#include <algorithm>
#include <bit>
#include <ranges>

namespace smd::bench {
namespace {

constexpr std::uint64_t kMark = 0x5afe;  // upper bits of our transactions
constexpr unsigned kSlotBits = 6;
constexpr std::byte kResponse{0x80};

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

struct Field {
  std::size_t pair, mad, size;
};

constexpr std::array<Field, 4> kFields{{
    {feed_pair::kSourceGuid, feed_mad::kSourceGuid, 8},
    {feed_pair::kTargetGuid, feed_mad::kTargetGuid, 8},
    {feed_pair::kSourceLid, feed_mad::kSourceLid, 2},
    {feed_pair::kTargetLid, feed_mad::kTargetLid, 2},
}};

}  // namespace

std::size_t WaitCounts::index(std::uint64_t ns) {
  const auto width = static_cast<unsigned>(std::bit_width(ns));
  if (width <= kBits + 1) return ns;
  const unsigned shift = width - kBits - 1;
  return (std::size_t{shift} << kBits) + (ns >> shift);
}

std::uint64_t WaitCounts::ns_of(std::size_t index) {
  if (index < 2u << kBits) return index;
  const auto shift = static_cast<unsigned>((index >> kBits) - 1);
  return ((index & ((1u << kBits) - 1)) | 1u << kBits) << shift;
}

double WaitCounts::us_at(double share) const {
  std::uint64_t all = 0;
  for (const auto& count : counts_) all += count;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (all != 0 && static_cast<double>(seen) >= share * static_cast<double>(all))
      return static_cast<double>(ns_of(i)) / 1e3;
  }
  return 0;
}

void WaitCounts::clear() {
  for (auto& count : counts_) count = 0;
}

void Feed::open(std::span<const std::byte, kFeedMad> mad,
                std::vector<FeedPair> pairs,
                unsigned window,
                bool once,
                std::uint64_t interval_ns) {
  std::ranges::copy(mad, mad_.begin());
  pairs_ = std::move(pairs);
  next_ = 0;
  once_ = once;
  interval_ns_ = interval_ns;
  due_ns_ = now_ns();
  for (Slot& slot : slots_) slot.transaction = 0;
  for (auto* count :
       {&counts_.answered, &counts_.refused, &counts_.wrong, &counts_.unasked, &counts_.passed})
    *count = 0;
  waits_.clear();
  all_ = window >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << window) - 1;
  free_ = all_;
  open_ = !pairs_.empty();
}

bool Feed::is_due() const { return interval_ns_ == 0 || now_ns() >= due_ns_; }

unsigned Feed::outstanding() const { return static_cast<unsigned>(std::popcount(all_ & ~free_)); }

bool Feed::take(std::span<std::byte, kFeedMad> mad, std::array<std::byte, 2>& asker) {
  const std::uint64_t free = free_.load(std::memory_order_acquire);
  if (free == 0 || !open_.load(std::memory_order_relaxed) || !is_due()) return false;
  const auto at = static_cast<unsigned>(std::countr_zero(free));
  free_.fetch_and(~(std::uint64_t{1} << at), std::memory_order_relaxed);
  Slot& slot = slots_[at];
  slot.pair = next_;
  const FeedPair& pair = pairs_[next_];
  if (++next_ == pairs_.size()) {
    next_ = 0;
    if (once_) open_ = false;
  }
  const std::uint64_t transaction = kMark << 48 | (++sequence_ << kSlotBits & 0xffffffffffff) | at;
  std::memcpy(mad.data(), mad_.data(), kFeedMad);
  put_big_endian(mad.data() + feed_mad::kTransaction, transaction);
  for (const Field& field : kFields)
    std::memcpy(mad.data() + field.mad, pair.data() + field.pair, field.size);
  std::memcpy(asker.data(), pair.data() + feed_pair::kAsker, asker.size());
  slot.asked_ns = interval_ns_ == 0 ? now_ns() : due_ns_.fetch_add(interval_ns_);
  slot.transaction.store(transaction, std::memory_order_release);
  return true;
}

/// The ends are those of the question. Asked once, a question learns its LIDs.
bool Feed::fits(std::size_t pair, const std::byte* mad) {
  const auto same = [&](const Field& field) {
    return std::memcmp(mad + field.mad, pairs_[pair].data() + field.pair, field.size) == 0;
  };
  if (!once_) return std::ranges::all_of(kFields, same);
  std::ranges::for_each(kFields | std::views::drop(2), [&](const Field& field) {
    std::memcpy(pairs_[pair].data() + field.pair, mad + field.mad, field.size);
  });
  return std::ranges::all_of(kFields | std::views::take(2), same);
}

bool Feed::give(std::span<const std::byte> mad) {
  const auto transaction = big_endian<std::uint64_t>(mad.data() + feed_mad::kTransaction);
  if (transaction >> 48 != kMark || (mad[feed_mad::kMethod] & kResponse) == std::byte{0})
    return false;
  const unsigned at = transaction & (kFeedMostInFlight - 1);
  Slot& slot = slots_[at];
  const std::uint64_t wait = now_ns() - slot.asked_ns;
  std::uint64_t expected = transaction;
  const std::size_t pair = slot.pair;
  if (!slot.transaction.compare_exchange_strong(expected, 0)) {
    ++counts_.unasked;
    return true;
  }
  if (big_endian<std::uint16_t>(mad.data() + feed_mad::kStatus) != 0) {
    ++counts_.refused;
  } else if (!fits(pair, mad.data())) {
    ++counts_.wrong;
  } else {
    counts_.answered.fetch_add(1, std::memory_order_relaxed);
    waits_.add(wait);
  }
  free_.fetch_or(std::uint64_t{1} << at, std::memory_order_release);
  return true;
}

}  // namespace smd::bench
