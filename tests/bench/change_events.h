// What is done to a fabric on ibsim, and what anybody's manager did to its forwarding tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/ibsim.h"

namespace smd::bench {

struct ChangeEvent {
  std::string name;     // "cable down"
  std::string console;  // lines for ibsim
  /// The SMPs nobody could save beside the changed blocks: a TrapRepress and a read of PortInfo at
  /// every port whose change was reported, and the two Sets that bring a port up.
  double least_smps = 0;
};

/// The last adapter's switch: a cable of it to another switch down and up again, then the switch
/// itself, by all its cables to other switches.
[[nodiscard]] std::vector<ChangeEvent> cable_events(const std::filesystem::path& net);
[[nodiscard]] std::vector<ChangeEvent> leaf_events(const std::filesystem::path& net);

/// A hash per block of every switch's forwarding table, as Debian's dump_fts reads them.
using BlockHashes = std::map<std::string, std::vector<std::uint64_t>>;

[[nodiscard]] BlockHashes read_blocks(const test::Ibsim& ibsim,
                                      const std::filesystem::path& folder);

/// Blocks that differ, of switches that both have.
[[nodiscard]] double count_changed(const BlockHashes& before, const BlockHashes& after);

}  // namespace smd::bench
