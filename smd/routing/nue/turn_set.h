// The turns that the routes of one layer take: from a channel into a switch to a channel out of it.
// A turn that would close a cycle is not let in, so that the layer is free of deadlock at any time
// (Dally and Seitz).
//
// A topological order of the channels is kept up to date while turns come in (Pearce and Kelly,
// 2006): a turn that agrees with it costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/graph/channels.h"

namespace smd {

/// Turns as bits.
struct TurnMasks {
  TurnMasks() = default;

  explicit TurnMasks(const Channels& channels)
      : after(channels.size() * channels.words, 0), before(after.size(), 0) {}

  void set(const Channels& channels, Channel in, Channel out) {
    const std::uint32_t slot = channels.slot(out), back = channels.slot(channels.reverse[in]);
    after[std::size_t{in} * channels.words + slot / 64] |= std::uint64_t{1} << (slot % 64);
    before[std::size_t{out} * channels.words + back / 64] |= std::uint64_t{1} << (back % 64);
  }

  void clear(const Channels& channels, Channel in, Channel out) {
    const std::uint32_t slot = channels.slot(out), back = channels.slot(channels.reverse[in]);
    after[std::size_t{in} * channels.words + slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    before[std::size_t{out} * channels.words + back / 64] &= ~(std::uint64_t{1} << (back % 64));
  }

  std::vector<std::uint64_t> after;   // by in channel, a bit for each slot of the channel out
  std::vector<std::uint64_t> before;  // by out channel, by slot of the channel back
};

class TurnSet {
 public:
  /// No turn yet. Requires: `order` holds every channel once. Turns that agree with it are cheap.
  TurnSet(const Channels& channels, const std::vector<Channel>& order)
      : TurnSet(channels, order, TurnMasks{channels}) {}

  /// Some turns. Requires: they agree with `order`.
  TurnSet(const Channels& channels, const std::vector<Channel>& order, TurnMasks turns);

  /// Requires, here and below: `in` leads to the switch that `out` leaves.
  [[nodiscard]] bool has(Channel in, Channel out) const {
    return test(before_, out, channels_->slot(channels_->reverse[in]));
  }

  /// Agrees with the order: may be added for nothing.
  [[nodiscard]] bool fits(Channel in, Channel out) const { return place_[in] < place_[out]; }

  /// Known to close a cycle.
  [[nodiscard]] bool is_barred(Channel in, Channel out) const {
    return test(barred_, out, channels_->slot(channels_->reverse[in]));
  }

  /// False, and the turn stays out, when it would close a cycle, or leads back into its own link.
  bool add(Channel in, Channel out);

  /// As add() and keep() of all of them, or none: false. What closes a cycle by itself stays
  /// barred, so that nobody searches for it again. Requires: nothing was added since the last
  /// keep().
  bool add_together(std::span<const std::pair<Channel, Channel>> turns);

  /// As add() and keep(), of a turn that fits.
  void add_fitting(Channel in, Channel out) {
    set(before_, out, channels_->slot(channels_->reverse[in]));
    set(after_, in, channels_->slot(out));
  }

  /// Turns from `in`, as bits by slot of the channel out; turns into `out`, and those known to
  /// close a cycle, by slot of the channel back to where they come from.
  [[nodiscard]] std::span<const std::uint64_t> after(Channel in) const { return row(after_, in); }

  [[nodiscard]] std::span<const std::uint64_t> before(Channel out) const {
    return row(before_, out);
  }

  [[nodiscard]] std::span<const std::uint64_t> barred(Channel out) const {
    return row(barred_, out);
  }

  /// What was added since the last keep() or take_back() stays, or goes again.
  void keep();
  void take_back();

  /// Nothing was added since then: what is barred is so whether or not it is taken back.
  [[nodiscard]] bool is_kept() const { return added_.empty(); }

  /// A turn that no route takes any more. What was known to close a cycle is still taken to do so,
  /// until forget_barred().
  void remove(Channel in, Channel out);
  void forget_barred();

  /// Every channel once; every turn in the set leads onwards in it.
  [[nodiscard]] std::vector<Channel> list_channels() const;

 private:
  using SlotMasks = std::vector<std::uint64_t>;

  [[nodiscard]] bool test(const SlotMasks& masks, Channel channel, std::uint32_t slot) const {
    return masks[std::size_t{channel} * channels_->words + slot / 64] >> (slot % 64) & 1;
  }

  void set(SlotMasks& masks, Channel channel, std::uint32_t slot) const {
    masks[std::size_t{channel} * channels_->words + slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  void clear(SlotMasks& masks, Channel channel, std::uint32_t slot) const {
    masks[std::size_t{channel} * channels_->words + slot / 64] &=
        ~(std::uint64_t{1} << (slot % 64));
  }

  [[nodiscard]] std::span<const std::uint64_t> row(const SlotMasks& masks, Channel channel) const {
    return {masks.data() + std::size_t{channel} * channels_->words, channels_->words};
  }

  /// Puts `in` before `out` in the order; false when turns lead from `out` to `in`.
  bool reorder(Channel in, Channel out);

  /// Looks at the next channel of one side. False when it meets the other side.
  bool search_on(std::uint64_t last);
  bool search_back(std::uint64_t first);

  /// Turns lead from `out` to `in` by a crossing. False says nothing.
  [[nodiscard]] bool is_known_to_lead(Channel out, Channel in) const;
  void add_crossing(Channel channel);

  /// Lines up what a search has found behind `left`.
  void move_behind(Channel left, std::vector<Channel>& moved);
  void renumber();

  const Channels* channels_;
  SlotMasks after_;   // by in channel
  SlotMasks before_;  // by out channel
  SlotMasks barred_;  // by out channel
  // The order as a ring, with one end mark behind the channels. Places leave gaps, so that what
  // moves between two channels moves alone.
  std::vector<std::uint64_t> place_;
  std::vector<Channel> next_, previous_;

  std::vector<std::pair<Channel, Channel>> added_, newly_barred_;

  // Scratch of reorder(): a search on from the one end and one back from the other.
  struct Search {
    explicit Search(const Channels& channels)
        : looked_at(channels.switches() * channels.words, 0), words(channels.words) {}

    SlotMasks looked_at;  // by switch: turns of its channels, as the search goes on from them
    std::uint32_t words;
    std::vector<Channel> found;
    std::size_t next = 0;
    std::uint32_t mark = 0;

    void begin(Channel from, std::uint32_t with) {
      found.assign(1, from);
      next = 0;
      mark = with;
    }

    [[nodiscard]] bool is_done() const { return next == found.size(); }

    // Mostly one word, for which a call takes longer than it.
    void forget(SwitchIdx sw) {
      looked_at[std::size_t{sw.value()} * words] = 0;
      for (std::uint32_t w = words; w-- > 1;) looked_at[std::size_t{sw.value()} * words + w] = 0;
    }
  };

  std::vector<std::uint32_t> seen_;  // mark of the search that met the channel last
  std::uint32_t marks_ = 0;
  Search on_, back_;
  Channel met_ = 0;  // on the way from one to the other, where they met

  // Where many turns close cycles, most of these lead over the same few channels. What leads to one
  // of them, and what it leads to, is found once and holds while no turn goes. Bits by channel.
  struct Crossing {
    std::vector<std::uint64_t> leading, led;
  };

  std::vector<Crossing> crossings_;  // beyond kMostCrossings the oldest goes
  std::size_t oldest_crossing_ = 0;
  std::size_t looked_at_in_vain_ = 0;  // channels, since the last crossing
};

}  // namespace smd
