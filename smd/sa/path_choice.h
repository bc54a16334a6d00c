// Which of several paths between two ports a PathRecord request is told of first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "smd/ib/types.h"

namespace smd {

/// Offset: as LIDs ascend. Rotate: each Get that names both GIDs of a pair of ports is answered one
/// offset further; other requests as LIDs ascend. LeastContended: the one whose most contended link
/// is least contended.
enum class PathChoice : std::uint8_t { Offset, Rotate, LeastContended };

namespace sa {

/// Of a link that nothing waits for, in hundredths.
inline constexpr std::uint32_t kNoContention = 100;

/// Outlives the views: grows and changes on the loop, between two answers.
class PathOrder {
 public:
  using Link = std::pair<Guid, PortNum>;  // by the switch, and the port, that send on it

  void set_choice(PathChoice choice, std::uint32_t margin) {
    choice_ = choice;
    margin_ = margin;
  }

  [[nodiscard]] PathChoice choice() const { return choice_; }

  /// How much less contended, in hundredths, a path beyond the first LIDs has to be to come first.
  [[nodiscard]] std::uint32_t margin() const { return margin_; }

  /// In hundredths: time until all is sent against the time that sending takes.
  [[nodiscard]] std::uint32_t contention(Link link) const {
    const auto at = contended_.find(link);
    return at == contended_.end() ? kNoContention : at->second;
  }

  void set_contention(Link link, std::uint32_t value) {
    if (value > kNoContention) {
      contended_[link] = value;
    } else {
      contended_.erase(link);
    }
  }

  void forget_contention() { contended_.clear(); }

  /// Links above kNoContention.
  [[nodiscard]] const std::map<Link, std::uint32_t>& contended() const { return contended_; }

  /// How often the pair has been dealt a path before. Pairs share counters, of which there are so
  /// many whatever clients ask.
  [[nodiscard]] std::uint32_t deal(Guid source, Guid target) {
    return dealt_[counter_of(source, target)]++;
  }

  /// What deal() returned last; 0 where it was not called.
  [[nodiscard]] std::uint32_t dealt_last(Guid source, Guid target) const {
    const std::uint32_t dealt = dealt_[counter_of(source, target)];
    return dealt == 0 ? 0 : dealt - 1;
  }

 private:
  [[nodiscard]] static std::size_t counter_of(Guid source, Guid target) {
    const std::uint64_t pair = (source.value() * 0x9e3779b97f4a7c15ull) ^ target.value();
    return pair * 0xbf58476d1ce4e5b9ull >> 52;
  }

  PathChoice choice_ = PathChoice::Offset;
  std::uint32_t margin_ = 0;
  std::map<Link, std::uint32_t> contended_;
  std::array<std::uint32_t, 4096> dealt_{};
};

}  // namespace sa
}  // namespace smd
