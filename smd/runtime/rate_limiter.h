// A rate limiter by source: one token bucket per key, in a table of bounded size.
//
// What a source offers while its bucket is empty is held back: the latest is kept, and passed on
// when its next token is due, so that a storm costs little and its end is not lost. A source whose
// bucket is full again is forgotten. Every offer costs O(log n), however many came before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "smd/runtime/runtime.h"

namespace smd {

struct Rate {
  unsigned burst = 1;  // at once; 1 or more
  Duration refill{0};  // until there is one more; more than 0
};

class TokenBucket {
 public:
  explicit TokenBucket(const Rate& rate) : tokens_(rate.burst) {}

  /// Until there is a token; 0: there is one now.
  [[nodiscard]] Duration wait(const Rate& rate, TimePoint now) {
    top_up(rate, now);
    return tokens_ > 0 ? Duration{0} : rate.refill - (now - since_);
  }

  /// Requires: wait() said 0.
  void take(const Rate& rate, TimePoint now) {
    top_up(rate, now);
    --tokens_;
  }

  [[nodiscard]] bool is_full(const Rate& rate, TimePoint now) {
    top_up(rate, now);
    return tokens_ == rate.burst;
  }

 private:
  void top_up(const Rate& rate, TimePoint now) {
    const auto more = static_cast<std::uint64_t>((now - since_) / rate.refill);
    if (more >= rate.burst - tokens_) {
      tokens_ = rate.burst;
      since_ = now;
    } else {
      tokens_ += static_cast<unsigned>(more);
      since_ = since_ + static_cast<Duration::rep>(more) * rate.refill;
    }
  }

  unsigned tokens_;
  TimePoint since_;  // of the last refill
};

template <class Key, class Value>
class RateLimiter {
 public:
  using Pass = std::function<void(const Key&, const Value&)>;

  enum class Verdict : std::uint8_t {
    Passed,
    HeldBack,  // and replaces what was held back before
    NoRoom,    // the table is full of sources that are not quiet: dropped
  };

  /// A source may be slowed down so often: its refill takes 2^kMostSlowed times as long then.
  static constexpr unsigned kMostSlowed = 5;

  /// `pass` runs inside offer(), or later on the loop. `most_keys`: sources in the table.
  RateLimiter(Runtime& runtime, std::size_t most_keys, Pass pass)
      : runtime_(runtime), most_keys_(most_keys), pass_(std::move(pass)) {}

  RateLimiter(const RateLimiter&) = delete;

  /// `rate` is the same for a key at every call.
  Verdict offer(const Key& key, const Rate& rate, Value value) {
    Source* source = find_or_add(key, rate);
    if (source == nullptr) return Verdict::NoRoom;
    if (source->held) {
      source->held = std::move(value);
      return Verdict::HeldBack;
    }
    const TimePoint now = runtime_.now();
    const Rate slowed = source->slowed_rate();
    if (const Duration wait = source->bucket.wait(slowed, now); wait > Duration{0}) {
      source->held = std::move(value);
      source->due = now + wait;
      due_.emplace(source->due, key);
      arm();
      return Verdict::HeldBack;
    }
    source->bucket.take(slowed, now);
    pass_(key, value);
    return Verdict::Passed;
  }

  /// Whether there is a token, which is taken: for what is not worth holding back.
  [[nodiscard]] bool take(const Key& key, const Rate& rate) {
    Source* source = find_or_add(key, rate);
    if (source == nullptr) return false;
    const Rate slowed = source->slowed_rate();
    if (source->bucket.wait(slowed, runtime_.now()) > Duration{0}) return false;
    source->bucket.take(slowed, runtime_.now());
    return true;
  }

  /// What passed was of no use: this source's refill takes twice as long, until its bucket is full
  /// again.
  void slow_down(const Key& key) {
    const auto found = sources_.find(key);
    if (found != sources_.end() && found->second.slowed < kMostSlowed) ++found->second.slowed;
  }

  /// It was of use: the refill takes its ordinary time again.
  void restore(const Key& key) {
    const auto found = sources_.find(key);
    if (found == sources_.end()) return;
    Source& source = found->second;
    if (std::exchange(source.slowed, 0u) == 0 || !source.held) return;
    due_.erase({source.due, key});
    source.due = runtime_.now() + source.bucket.wait(source.rate, runtime_.now());
    due_.emplace(source.due, key);
    arm();
  }

  /// Something is held back.
  [[nodiscard]] bool waiting() const { return !due_.empty(); }

  [[nodiscard]] std::size_t sources() const { return sources_.size(); }

  /// Sources of which something is held back.
  [[nodiscard]] std::size_t held_back() const { return due_.size(); }

  void clear() {
    sources_.clear();
    due_.clear();
    timer_.reset();
    hand_ = sources_.end();
  }

 private:
  struct Source {
    explicit Source(const Rate& r) : rate(r), bucket(r) {}

    [[nodiscard]] Rate slowed_rate() const {
      return {rate.burst, rate.refill * (Duration::rep{1} << slowed)};
    }

    Rate rate;
    TokenBucket bucket;
    unsigned slowed = 0;
    std::optional<Value> held;
    TimePoint due;  // of what is held
  };

  Source* find_or_add(const Key& key, const Rate& rate) {
    if (const auto found = sources_.find(key); found != sources_.end()) {
      Source& source = found->second;
      if (!source.held && source.bucket.is_full(source.slowed_rate(), runtime_.now()))
        source.slowed = 0;
      return &source;
    }
    forget_quiet();
    if (sources_.size() >= most_keys_) return nullptr;
    return &sources_.emplace(key, Source(rate)).first->second;
  }

  /// Looks at a few, in turn: more than one of each that is added, so that the table shrinks to
  /// those that are not quiet, and no offer pays for all.
  void forget_quiet() {
    constexpr unsigned kLookedAt = 4;
    for (unsigned i = 0; i < kLookedAt && !sources_.empty(); ++i) {
      if (hand_ == sources_.end()) hand_ = sources_.begin();
      const auto at = hand_++;
      Source& source = at->second;
      if (!source.held && source.bucket.is_full(source.slowed_rate(), runtime_.now()))
        sources_.erase(at);
    }
  }

  /// One timer for all.
  void arm() {
    if (due_.empty()) return timer_.reset();
    timer_ = Timer(runtime_, due_.begin()->first, [this] { on_due(); });
  }

  void on_due() {
    const Key key = due_.begin()->second;
    due_.erase(due_.begin());
    Source& source = sources_.at(key);
    const TimePoint now = runtime_.now();
    const Rate slowed = source.slowed_rate();
    // The source may have been slowed down since.
    if (const Duration wait = source.bucket.wait(slowed, now); wait > Duration{0}) {
      source.due = now + wait;
      due_.emplace(source.due, key);
      return arm();
    }
    source.bucket.take(slowed, now);
    const Value value = *std::exchange(source.held, std::nullopt);
    arm();
    pass_(key, value);
  }

  using Sources = std::map<Key, Source>;

  Runtime& runtime_;
  std::size_t most_keys_;
  Pass pass_;
  Sources sources_;
  typename Sources::iterator hand_ = sources_.end();  // of forget_quiet
  std::set<std::pair<TimePoint, Key>> due_;           // of what is held back
  Timer timer_;
};

}  // namespace smd
