// Service levels and virtual lanes of a set of routes: which SL a packet takes on its path, which
// data VL every switch gives to that SL, and the SL-to-VL tables that switches shall hold for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/mad/tables.h"

namespace smd {

/// The SL of the path from each switch (from every end port at it) to each LID.
class PathSls {
 public:
  PathSls() = default;

  /// SL 0 for every path to LIDs 0 … top.
  PathSls(std::size_t switches, Lid top)
      : width_(top.value() + std::size_t{1}), sls_(switches * width_, 0) {}

  /// Nothing said: a path may take any SL.
  [[nodiscard]] bool empty() const { return sls_.empty(); }

  /// Requires: not empty.
  [[nodiscard]] std::uint8_t sl(SwitchIdx source, Lid destination) const {
    return sls_[source.value() * width_ + destination.value()];
  }

  /// Whether paths from so many switches to `destination` are in it.
  [[nodiscard]] bool covers(std::size_t switches, Lid destination) const {
    return destination.value() < width_ && sls_.size() >= switches * width_;
  }

  void set_sl(SwitchIdx source, Lid destination, std::uint8_t sl) {
    sls_[source.value() * width_ + destination.value()] = sl;
  }

  /// SLs from one switch, by LID.
  [[nodiscard]] std::span<std::uint8_t> row(SwitchIdx source) {
    return {sls_.data() + source.value() * width_, width_};
  }

  [[nodiscard]] std::span<const std::uint8_t> row(SwitchIdx source) const {
    return {sls_.data() + source.value() * width_, width_};
  }

  friend bool operator==(const PathSls&, const PathSls&) = default;

 private:
  std::size_t width_ = 0;
  std::vector<std::uint8_t> sls_;
};

/// Of the path from an end port: nothing where none is said, or the port is at no switch.
[[nodiscard]] std::optional<std::uint8_t> find_path_sl(const Fabric& fabric,
                                                       const PathSls& sls,
                                                       PortIdx source,
                                                       Lid destination);

/// The SLs that end ports at each switch may use to each LID, where it is not one for all of them:
/// a bit for each.
class SlSets {
 public:
  /// No SL for any path to LIDs 0 … top.
  SlSets(std::size_t switches, Lid top)
      : width_(top.value() + std::size_t{1}), sets_(switches * width_, 0) {}

  /// Whether paths from so many switches to `destination` are in it.
  [[nodiscard]] bool covers(std::size_t switches, Lid destination) const {
    return destination.value() < width_ && sets_.size() >= switches * width_;
  }

  [[nodiscard]] std::uint16_t of(SwitchIdx source, Lid destination) const {
    return sets_[source.value() * width_ + destination.value()];
  }

  /// Requires: sl < 16.
  void add(SwitchIdx source, Lid destination, std::uint8_t sl) {
    std::uint16_t& set = sets_[source.value() * width_ + destination.value()];
    set = static_cast<std::uint16_t>(set | 1u << sl);
  }

  /// Every SL to LIDs first … last. Requires: none is beyond top.
  void add_any(SwitchIdx source, Lid first, Lid last) {
    std::uint16_t* const row = sets_.data() + source.value() * width_;
    std::fill(row + first.value(), row + last.value() + 1, std::uint16_t{0xffff});
  }

 private:
  std::size_t width_ = 0;
  std::vector<std::uint16_t> sets_;
};

/// SL to VL per switch, input and output. Where an engine says nothing, SL s travels on VL s modulo
/// the VLs that the routes need (RoutingTables::vls).
class SlToVlMaps {
 public:
  /// An (input, output) pair without a row of its own has row 0. Requires: rows are registered by
  /// add_row() before they are used.
  explicit SlToVlMaps(const Fabric& fabric);
  SlToVlMaps() = default;

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Returns the row's number; equal rows share one. At most 65,536.
  std::uint16_t add_row(const SlToVl& row);

  void set_row(SwitchIdx sw, PortNum in, PortNum out, std::uint16_t row);

  /// In and out from 0 to the switch's last port. Requires: not empty.
  [[nodiscard]] const SlToVl& row(SwitchIdx sw, PortNum in, PortNum out) const {
    return rows_[row_number(sw, in, out)];
  }

  /// Requires: as row().
  [[nodiscard]] std::uint16_t row_number(SwitchIdx sw, PortNum in, PortNum out) const {
    return index_[at(sw, in, out)];
  }

  /// By number.
  [[nodiscard]] const std::vector<SlToVl>& rows() const { return rows_; }

  /// Made for the switches of `fabric`, with their ports.
  [[nodiscard]] bool fits(const Fabric& fabric) const;

  friend bool operator==(const SlToVlMaps&, const SlToVlMaps&) = default;

 private:
  [[nodiscard]] std::size_t at(SwitchIdx sw, PortNum in, PortNum out) const {
    return first_[sw] + std::size_t{in.value()} * width_[sw] + out.value();
  }

  std::vector<SlToVl> rows_;
  IndexVector<SwitchIdx, std::uint32_t> first_;
  IndexVector<SwitchIdx, std::uint16_t> width_;  // ports, port 0 included
  std::vector<std::uint16_t> index_;
  std::vector<std::uint16_t> sorted_;  // row numbers, by what is in them
};

/// Data VLs that every link between two switches has: 1 to 15.
[[nodiscard]] unsigned count_common_vls(const Fabric& fabric);

// The SL-to-VL rows that switches shall hold, one for every turn from a link, or from the
// switch itself, to a link.

/// Rows of the routes' VLs; where the engine says nothing, `common` everywhere. A VL that a link
/// does not have is taken modulo the number that both of its ends have, as a row that names a
/// missing VL would discard the packets. Turns that no link has: row of whatever content.
[[nodiscard]] SlToVlMaps build_switch_rows(const Fabric& fabric,
                                           const SlToVlMaps& sl_to_vl,
                                           const SlToVl& common);

/// Data VLs that both ends of the link have. Requires: a link.
[[nodiscard]] unsigned count_vls(const Fabric& fabric, PortIdx out);

/// SL s on VL s modulo `vls`.
[[nodiscard]] SlToVl modulo_row(unsigned vls);

/// Calls visit(in, out) for every turn through the switch that has a row: to a port with a link,
/// from another one or from port 0.
template <class Visit>
void for_each_turn(const Fabric& fabric, SwitchIdx sw, Visit&& visit) {
  const NodeIdx node = fabric.switch_node[sw];
  for (const PortIdx out : fabric.external_ports(node)) {
    if (fabric.peer[out] == kNone<PortIdx>) continue;
    visit(PortNum{0}, fabric.number_of(out));
    for (const PortIdx in : fabric.external_ports(node)) {
      if (in != out && fabric.peer[in] != kNone<PortIdx>)
        visit(fabric.number_of(in), fabric.number_of(out));
    }
  }
}

}  // namespace smd
