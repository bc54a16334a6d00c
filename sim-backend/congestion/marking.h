// Rules by which switches mark packets, one per source file.
//
// Fill counts the packet itself, in blocks of 64 bytes; a mark is set where it is above the
// threshold. Marks are only ever set, on packets that arrive; Renato's and the standard's on
// packets that leave.
//
//            input buffer           output buffer          bits of the header
//   IPM      > in: first mark                              one
//   RPM      full: what leaves by the outputs wanted there one
//   OPM                             > out: first mark      one
//   IOPM     > in: first mark       > out: second mark     MBin, MBout: independent
//   MVPM     > in: first mark       > out and marked:      MB, VB: validated; 01 cannot be
//                                   second mark
//   IBA                             as ib_marking.h        FECN
//
// Sources: Ferrer 2012, chapters 3 and 4; IBA 1.2.1, annex A10.
#pragma once

#include <memory>

#include "sim-backend/packet/congestion_hooks.h"

namespace smd::sim {

/// In percent of a buffer.
struct MarkThresholds {
  unsigned input = 66;
  unsigned output = 33;
};

[[nodiscard]] constexpr bool is_above(unsigned used, unsigned capacity, unsigned percent) {
  return used * 100 > capacity * percent;
}

[[nodiscard]] std::unique_ptr<Marking> mark_by_input(const MarkThresholds& thresholds);
[[nodiscard]] std::unique_ptr<Marking> mark_by_full_input();
[[nodiscard]] std::unique_ptr<Marking> mark_by_output(const MarkThresholds& thresholds);
[[nodiscard]] std::unique_ptr<Marking> mark_by_both(const MarkThresholds& thresholds);
[[nodiscard]] std::unique_ptr<Marking> mark_and_validate(const MarkThresholds& thresholds);

}  // namespace smd::sim
