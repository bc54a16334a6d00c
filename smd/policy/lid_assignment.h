// Which port has which LIDs, and the book that remembers it.
#pragma once

#include <boost/container/flat_map.hpp>

#include <string>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

// LIDs are sticky: a port keeps its LID across sweeps, reboots of a node and restarts of the
// daemon.

/// What survives: port GUID to base LID and LMC. Ordered, so that it prints the same every time.
struct LidRecord {
  Lid base;
  std::uint8_t lmc = 0;

  friend bool operator==(const LidRecord&, const LidRecord&) = default;
};

using LidBook = boost::container::flat_map<Guid, LidRecord>;

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
  std::vector<LidConflict> conflicts;  // LIDs claimed twice; the loser has others
  std::vector<PortIdx> without_lid;    // end ports for which no LIDs are left, ascending
};

/// Order of claims: the book, then what the port says it has, then the next free aligned LID in
/// node order. Where merged fabrics claim the same LID, the side that keeps more LIDs by its claim
/// wins; a port of the book that is not here stands behind those on the manager's side, and before
/// those of smaller ones. Where LIDs run out, ports that have LIDs keep them; of the others the
/// manager's own comes first, then switches, then adapters and routers. The manager's own port
/// takes LIDs from adapters rather than have none. Records of the book that are no unicast LIDs are
/// ignored. Invalid for a policy that cannot be, or whose range does not hold the LIDs of the
/// manager's own port.
[[nodiscard]] Result<LidAssignment> assign_lids(const Fabric& fabric,
                                                const LidBook& book,
                                                const LidPolicy& policy);

/// LIDs that an end port asks for: 2^lmc_of.
[[nodiscard]] std::uint8_t lmc_of(const Fabric& fabric, PortIdx port, const LidPolicy& policy);

/// "no LIDs left for 2 ports, 8 missing in 1 … 64: host-7:1 (port GUID 0x…, LMC 2), …"; names up to
/// ten ports.
/// Empty where every port has its LIDs.
[[nodiscard]] std::string print_lid_shortage(const Fabric& fabric,
                                             const std::vector<PortIdx>& without_lid,
                                             const LidPolicy& policy);

/// One line per port: "0x0002c90300000001 0x0001 0". The inverse reports every fault with its line.
[[nodiscard]] std::string print_lid_book(const LidBook& book);
[[nodiscard]] Parsed<LidBook> parse_lid_book(std::string_view text, const std::string& file);

// LIDs of a manager that takes over from another.

/// The book to go on with: ports that have a LID keep it, whatever `book` says; records of the
/// others stay where they are in nobody's way.
[[nodiscard]] LidBook follow_fabric(const Fabric& fabric, LidBook book);

}  // namespace smd
