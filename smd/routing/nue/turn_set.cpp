#include "smd/routing/nue/turn_set.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kMostCrossings = 32;

bool has_bit(const std::vector<std::uint64_t>& bits, Channel channel) {
  return (bits[channel / 64] >> (channel % 64) & 1) != 0;
}

}  // namespace

TurnSet::TurnSet(const Channels& channels, const std::vector<Channel>& order, TurnMasks turns)
    : channels_(&channels),
      after_(std::move(turns.after)),
      before_(std::move(turns.before)),
      barred_(after_.size(), 0),
      place_(channels.size() + 1, 0),
      next_(channels.size() + 1, 0),
      previous_(channels.size() + 1, 0),
      seen_(channels.size(), 0),
      on_(channels),
      back_(channels) {
  Channel last = static_cast<Channel>(channels.size());
  for (const Channel channel : order) {
    next_[last] = channel;
    previous_[channel] = last;
    last = channel;
  }
  next_[last] = static_cast<Channel>(channels.size());
  previous_.back() = last;
  renumber();
}

bool TurnSet::add(Channel in, Channel out) {
  const std::uint32_t back = channels_->slot(channels_->reverse[in]);
  if (test(before_, out, back)) return true;
  if (channels_->reverse[in] == out || test(barred_, out, back)) return false;
  if (place_[in] > place_[out] && (is_known_to_lead(out, in) || !reorder(in, out))) {
    set(barred_, out, back);
    newly_barred_.emplace_back(in, out);
    return false;
  }
  set(before_, out, back);
  set(after_, in, channels_->slot(out));
  added_.emplace_back(in, out);
  return true;
}

bool TurnSet::add_together(std::span<const std::pair<Channel, Channel>> turns) {
  for (const auto& [in, out] : turns) {
    if (is_barred(in, out)) return false;
  }
  for (const auto& [in, out] : turns) {
    if (add(in, out)) continue;
    // It may be the others that bar it.
    if (!is_kept()) take_back();
    if (add(in, out))
      take_back();
    else
      keep();
    return false;
  }
  keep();
  return true;
}

void TurnSet::keep() {
  added_.clear();
  newly_barred_.clear();
}

void TurnSet::take_back() {
  for (const auto& [in, out] : added_) remove(in, out);
  // They may have been barred by a turn that is gone now.
  for (const auto& [in, out] : newly_barred_)
    clear(barred_, out, channels_->slot(channels_->reverse[in]));
  keep();
}

void TurnSet::remove(Channel in, Channel out) {
  crossings_.clear();
  looked_at_in_vain_ = 0;
  clear(before_, out, channels_->slot(channels_->reverse[in]));
  clear(after_, in, channels_->slot(out));
}

void TurnSet::forget_barred() { std::fill(barred_.begin(), barred_.end(), 0); }

std::vector<Channel> TurnSet::list_channels() const {
  std::vector<Channel> listed;
  listed.reserve(channels_->size());
  for (Channel c = next_.back(); c != channels_->size(); c = next_[c]) listed.push_back(c);
  return listed;
}

// Both searches take turns, so that the shorter one decides.
bool TurnSet::reorder(Channel in, Channel out) {
  on_.begin(out, ++marks_);
  back_.begin(in, ++marks_);
  seen_[out] = on_.mark;
  seen_[in] = back_.mark;
  enum class End : std::uint8_t { Open, Met, On, Back } end = End::Open;
  while (end == End::Open) {
    if (on_.is_done())
      end = End::On;
    else if (!search_on(place_[in]))
      end = End::Met;
    else if (back_.is_done())
      end = End::Back;
    else if (!search_back(place_[out]))
      end = End::Met;
  }
  for (std::size_t at = 0; at < on_.next; ++at) on_.forget(channels_->to[on_.found[at]]);
  for (std::size_t at = 0; at < back_.next; ++at) back_.forget(channels_->from[back_.found[at]]);
  if (end == End::Met) {
    // As long as it takes to find what leads there and back.
    looked_at_in_vain_ += on_.found.size() + back_.found.size();
    if (looked_at_in_vain_ > 4 * channels_->size()) add_crossing(met_);
  }
  if (end == End::On) move_behind(in, on_.found);
  if (end == End::Back) move_behind(previous_[out], back_.found);
  return end != End::Met;
}

// Looks at a channel once, however many turns lead there.
bool TurnSet::search_on(std::uint64_t last) {
  const Channel channel = on_.found[on_.next++];
  const std::uint32_t sw = channels_->to[channel].value();
  for (std::uint32_t w = 0; w < channels_->words; ++w) {
    std::uint64_t& looked_at = on_.looked_at[std::size_t{sw} * channels_->words + w];
    std::uint64_t bits = after_[std::size_t{channel} * channels_->words + w] & ~looked_at;
    looked_at |= bits;
    for (; bits != 0; bits &= bits - 1) {
      const Channel next =
          channels_->first[sw] + w * 64 + static_cast<Channel>(std::countr_zero(bits));
      if (seen_[next] == back_.mark) {
        met_ = next;
        return false;
      }
      if (seen_[next] == on_.mark || place_[next] > last) continue;
      seen_[next] = on_.mark;
      on_.found.push_back(next);
    }
  }
  return true;
}

bool TurnSet::search_back(std::uint64_t first_place) {
  const Channel channel = back_.found[back_.next++];
  const std::uint32_t sw = channels_->from[channel].value();
  for (std::uint32_t w = 0; w < channels_->words; ++w) {
    std::uint64_t& looked_at = back_.looked_at[std::size_t{sw} * channels_->words + w];
    std::uint64_t bits = before_[std::size_t{channel} * channels_->words + w] & ~looked_at;
    looked_at |= bits;
    for (; bits != 0; bits &= bits - 1) {
      const Channel previous = channels_->reverse[channels_->first[sw] + w * 64 +
                                                  static_cast<Channel>(std::countr_zero(bits))];
      if (seen_[previous] == on_.mark) {
        met_ = previous;
        return false;
      }
      if (seen_[previous] == back_.mark || place_[previous] < first_place) continue;
      seen_[previous] = back_.mark;
      back_.found.push_back(previous);
    }
  }
  return true;
}

bool TurnSet::is_known_to_lead(Channel out, Channel in) const {
  return std::ranges::any_of(crossings_, [&](const Crossing& crossing) {
    return has_bit(crossing.leading, out) && has_bit(crossing.led, in);
  });
}

void TurnSet::add_crossing(Channel channel) {
  looked_at_in_vain_ = 0;
  if (crossings_.size() < kMostCrossings) {
    crossings_.emplace_back();
    oldest_crossing_ = crossings_.size() - 1;
  }
  Crossing& crossing = crossings_[oldest_crossing_];
  oldest_crossing_ = (oldest_crossing_ + 1) % kMostCrossings;
  const std::size_t words = (channels_->size() + 63) / 64;
  const auto find = [&](std::vector<std::uint64_t>& found, bool on) {
    found.assign(words, 0);
    Search& search = on ? on_ : back_;
    search.begin(channel, ++marks_);
    const SlotMasks& masks = on ? after_ : before_;
    found[channel / 64] |= std::uint64_t{1} << (channel % 64);
    for (; !search.is_done(); ++search.next) {
      const Channel at = search.found[search.next];
      const std::uint32_t sw = (on ? channels_->to : channels_->from)[at].value();
      for (std::uint32_t w = 0; w < channels_->words; ++w) {
        std::uint64_t& looked_at = search.looked_at[std::size_t{sw} * channels_->words + w];
        std::uint64_t bits = masks[std::size_t{at} * channels_->words + w] & ~looked_at;
        looked_at |= bits;
        for (; bits != 0; bits &= bits - 1) {
          const Channel slot =
              channels_->first[sw] + w * 64 + static_cast<Channel>(std::countr_zero(bits));
          const Channel next = on ? slot : channels_->reverse[slot];
          if (has_bit(found, next)) continue;
          found[next / 64] |= std::uint64_t{1} << (next % 64);
          search.found.push_back(next);
        }
      }
    }
    for (const Channel each : search.found)
      search.forget((on ? channels_->to : channels_->from)[each]);
  };
  find(crossing.leading, false);
  find(crossing.led, true);
}

void TurnSet::move_behind(Channel left, std::vector<Channel>& moved) {
  std::ranges::sort(moved, {}, [&](Channel channel) { return place_[channel]; });
  for (const Channel channel : moved) {
    next_[previous_[channel]] = next_[channel];
    previous_[next_[channel]] = previous_[channel];
  }
  const Channel right = next_[left];
  const bool at_front = left == channels_->size();
  const std::uint64_t before = at_front ? 0 : place_[left];
  const std::uint64_t step = (place_[right] - before) / (moved.size() + 1);
  std::uint64_t place = before;
  for (const Channel channel : moved) {
    place_[channel] = place += step;
    next_[left] = channel;
    previous_[channel] = left;
    left = channel;
  }
  next_[left] = right;
  previous_[right] = left;
  if (step == 0) renumber();
}

void TurnSet::renumber() {
  const auto end = static_cast<Channel>(channels_->size());
  const std::uint64_t step = ~std::uint64_t{0} / (channels_->size() + 2);
  std::uint64_t place = 0;
  for (Channel channel = next_[end]; channel != end; channel = next_[channel])
    place_[channel] = place += step;
  place_[end] = ~std::uint64_t{0};
}

}  // namespace smd
