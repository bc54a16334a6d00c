// What switches do with the SLs of packets, made ready for looking it up often: SLs that are
// treated alike everywhere are one class, and a lane that a cable does not have discards like
// VL 15. For verification only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "smd/routing/tables.h"

namespace smd {

/// A set of SL classes, by bit.
using SlMask = std::uint16_t;

class LaneRows {
 public:
  static constexpr std::uint8_t kNoClass = 0xff;

  /// Maps that were made for other switches discard everything.
  LaneRows(const Fabric& fabric, const RoutingTables& routing);

  /// 1 to 16.
  [[nodiscard]] unsigned classes() const { return classes_; }

  [[nodiscard]] SlMask all_classes() const { return static_cast<SlMask>((1u << classes_) - 1); }

  /// kNoClass for numbers that are no SL.
  [[nodiscard]] std::uint8_t class_of(std::uint8_t sl) const { return class_of_[sl]; }

  /// The lowest SL of a class.
  [[nodiscard]] std::uint8_t sl_of(unsigned sl_class) const { return sl_of_[sl_class]; }

  /// Requires: the ports exist.
  [[nodiscard]] std::uint16_t row(SwitchIdx sw, PortNum in, PortNum out) const {
    return maps_ == nullptr ? std::uint16_t{0} : maps_->row_number(sw, in, out);
  }

  /// VLs by class; meaningful for the classes of passing().
  [[nodiscard]] const std::array<std::uint8_t, 16>& lanes(std::uint16_t row) const {
    return lanes_[row];
  }

  /// Classes that a row does not discard on the way out of `out`, a port of a switch.
  [[nodiscard]] SlMask passing(std::uint16_t row, PortIdx out) const {
    return passing_[row][limit_[out]];
  }

  /// Whether there is anything that passing() leaves out.
  [[nodiscard]] bool may_discard() const { return may_discard_; }

  /// Highest VL that is not a discard, plus one; at least 1.
  [[nodiscard]] unsigned vls() const { return vls_; }

 private:
  void merge_classes(const std::vector<SlToVl>& rows);
  void read_limits(const Fabric& fabric);

  const LaneMaps* maps_ = nullptr;  // null: one row for all
  unsigned classes_ = 1;
  unsigned vls_ = 1;
  bool may_discard_ = false;
  std::array<std::uint8_t, 256> class_of_;
  std::array<std::uint8_t, 16> sl_of_{};
  std::vector<std::array<std::uint8_t, 16>> lanes_;
  std::vector<std::array<SlMask, 16>> passing_;  // by row, and by lanes of the cable
  IndexVector<PortIdx, std::uint8_t> limit_;     // data VLs that both ends of a cable have
};

}  // namespace smd
