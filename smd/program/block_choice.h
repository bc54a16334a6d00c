// Which blocks make the switches hold certain entries, on top of what is confirmed. Where a block
// is unknown, "no route" stands for what is not named: dropping a packet can close no cycle.
#pragma once

#include <span>

#include "smd/program/block_writer.h"

namespace smd {

/// As asked for, or as the plan says.
[[nodiscard]] BlockChoice block_choice(const ProgramRun& run);

/// The blocks of one list of entries. Unless `all`, those that already are so are left out; with
/// it, every block of every switch that the choice names. Requires: sorted by switch and LID.
[[nodiscard]] std::vector<BlockWrite> choose_blocks(const ProgramRun& run,
                                                    std::span<const EntryChange> entries,
                                                    bool all);

/// Blocks up to the highest LID that are not known to be as wanted, whatever is in them.
[[nodiscard]] std::vector<BlockWrite> choose_blocks(const ProgramRun& run);

/// Blocks up to the highest LID of which nothing is known, as they are wanted; also what random
/// tables hold beyond what is wanted.
[[nodiscard]] std::vector<BlockWrite> choose_leftovers(const ProgramRun& run);

/// The first block that does not hold the wanted routes: "LFT block 3 of 0x…". Empty: none.
[[nodiscard]] std::string find_unwanted_block(const ProgramRun& run);

}  // namespace smd
