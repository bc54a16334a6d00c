// LIDs are sticky: a port keeps its LID across sweeps, reboots of a node and restarts of the
// daemon.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "smd/fabric/lid_map.h"

namespace smd {

/// What survives: port GUID to base LID and LMC. Ordered, so that it prints the same every time.
struct LidRecord {
  Lid base;
  std::uint8_t lmc = 0;

  friend bool operator==(const LidRecord&, const LidRecord&) = default;
};

using LidBook = std::map<Guid, LidRecord>;

struct LidPolicy {
  std::uint8_t lmc = 0;                 // of adapter and router ports, 0 … 7
  std::uint8_t lmc_enhanced_port0 = 0;  // of enhanced switch ports 0
  Lid min{1};
  Lid max = kTopUnicastLid;
};

struct LidConflict {
  Lid lid;
  PortIdx kept;   // who keeps the LID
  PortIdx moved;  // who gets another

  friend bool operator==(const LidConflict&, const LidConflict&) = default;
};

struct LidAssignment {
  LidMap map;
  LidBook book;                        // the input book with this fabric's assignments on top
  std::vector<LidConflict> conflicts;  // LIDs claimed twice
};

/// Order of claims: the book, then what the port says it has, then the next free aligned LID in
/// node order. Where merged fabrics claim the same LID, the side that keeps more LIDs by its claim
/// wins. Unsupported when LIDs run out.
[[nodiscard]] Result<LidAssignment> assign_lids(const Fabric& fabric,
                                                const LidBook& book,
                                                const LidPolicy& policy);

/// One line per port: "0x0002c90300000001 0x0001 0". The inverse reports every fault with its line.
[[nodiscard]] std::string print_lid_book(const LidBook& book);
[[nodiscard]] Parsed<LidBook> parse_lid_book(std::string_view text, const std::string& file);

}  // namespace smd
