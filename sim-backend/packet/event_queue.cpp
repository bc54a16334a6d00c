#include "sim-backend/packet/event_queue.h"

namespace smd::sim {
namespace {

constexpr std::size_t kChildren = 4;
constexpr std::uint64_t kTuneEvery = 4096;  // advances
// Where buckets hold far too many events, the time of so many is enough to see it.
constexpr std::uint64_t kTuneEvents = kTuneEvery * 64;
// Events per bucket between which the width stays: a bucket is sorted, an empty one is skipped.
constexpr std::uint64_t kDense = 16;
constexpr std::uint64_t kSparse = 2;
constexpr std::size_t kNear = 32;  // events that one more may come behind without the heap
constexpr unsigned kMostShift = 30;

// A type of its own, not a function: it is compared inline.
constexpr auto kLater = [](const Event& a, const Event& b) { return b.before(a); };

}  // namespace

void EventHeap::push(const Event& event) {
  std::size_t at = heap_.size();
  heap_.push_back(event);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (!event.before(heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = event;
}

void EventHeap::pop() {
  const Event last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  std::size_t at = 0;
  while (true) {
    const std::size_t first = at * kChildren + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kChildren, heap_.size());
    std::size_t best = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].before(heap_[best])) best = child;
    }
    if (!heap_[best].before(last)) break;
    heap_[at] = heap_[best];
    at = best;
  }
  heap_[at] = last;
}

void EventWheel::push_current(const Event& event) {
  // Most often it is to happen soon, so look from the back.
  std::size_t at = current_.size();
  if (at > kNear && current_[at - 1 - kNear].before(event)) return late_.push(event);
  current_.push_back(event);
  while (at > 0 && current_[at - 1].before(event)) {
    current_[at] = current_[at - 1];
    --at;
  }
  current_[at] = event;
}

std::int64_t EventWheel::next_occupied() const {
  const std::int64_t start = current_bucket_ + 1;
  const auto first = static_cast<std::size_t>(start & (kBuckets - 1));
  std::size_t word = first / 64;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (first % 64));
  for (std::size_t step = 0; step <= kWords; ++step) {
    if (bits != 0) {
      const auto slot = static_cast<std::int64_t>(word * 64) + std::countr_zero(bits);
      return start + ((slot - static_cast<std::int64_t>(first)) & (kBuckets - 1));
    }
    word = (word + 1) % kWords;
    bits = occupied_[word];
  }
  return -1;
}

void EventWheel::empty_bucket(std::size_t slot, std::vector<Event>& out) {
  for (std::uint32_t at = std::exchange(buckets_[slot], kNone); at != kNone;) {
    Chunk& chunk = pool_[at >> kCountBits];
    out.insert(out.end(), chunk.events.begin(), chunk.events.begin() + (at & kFull));
    const std::uint32_t next = std::exchange(chunk.next, free_);
    free_ = at & ~kFull;
    at = next;
  }
}

void EventWheel::advance() {
  if (++advances_ == kTuneEvery || popped_ >= kTuneEvents) retune();
  const std::int64_t next = next_occupied();
  current_bucket_ = next >= 0 ? next : overflow_.top().at >> shift_;
  const auto slot = static_cast<std::size_t>(current_bucket_ & (kBuckets - 1));
  empty_bucket(slot, current_);
  occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  while (!overflow_.empty() && (overflow_.top().at >> shift_) - current_bucket_ < kBuckets) {
    const Event event = overflow_.top();
    overflow_.pop();
    const std::int64_t bucket = event.at >> shift_;
    if (bucket <= current_bucket_) {
      current_.push_back(event);
    } else {
      push_bucket(bucket, event);
    }
  }
  std::ranges::sort(current_, kLater);
  // By the time it is needed it has come.
  if (const std::int64_t after = next_occupied(); after >= 0) {
    const std::uint32_t filled = buckets_[static_cast<std::size_t>(after & (kBuckets - 1))];
    const auto* line = reinterpret_cast<const std::byte*>(&pool_[filled >> kCountBits]);
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
  }
}

void EventWheel::retune() {
  const std::uint64_t per_bucket = popped_ / advances_;
  popped_ = 0;
  advances_ = 0;
  if (per_bucket > kDense && shift_ > least_shift_) {
    const auto halves = static_cast<unsigned>(std::bit_width(per_bucket / kDense));
    return rebuild(std::max(least_shift_ + halves, shift_) - halves);
  }
  if (per_bucket < kSparse && shift_ < kMostShift) return rebuild(shift_ + 1);
}

void EventWheel::rebuild(unsigned shift) {
  std::vector<Event> all = std::move(current_);
  current_.clear();
  for (std::size_t slot = 0; slot < buckets_.size(); ++slot) empty_bucket(slot, all);
  for (EventHeap* const heap : {&late_, &overflow_}) {
    for (; !heap->empty(); heap->pop()) all.push_back(heap->top());
  }
  occupied_.fill(0);
  // What was popped last lies at or before the end of the current bucket.
  const Picos reached = current_bucket_ << shift_;
  shift_ = shift;
  current_bucket_ = (reached >> shift_) - 1;
  size_ = 0;
  for (const Event& event : all) push(event);
}

}  // namespace smd::sim
