#include "smd/program/block_choice.h"

#include <algorithm>

namespace smd {
namespace {

LftBlock held_block(const ProgramRun& run, SwitchIdx sw, std::uint32_t number) {
  if (const LftBlock* held = run.state.tables.find_block(run.guid_of(sw), number)) return *held;
  LftBlock none;
  none.fill(kNoRoute);
  return none;
}

LftBlock wanted_block(const ProgramRun& run, SwitchIdx sw, std::uint32_t number) {
  LftBlock block;
  block.fill(kNoRoute);
  if (number < run.input.lft->blocks())
    std::ranges::copy(run.input.lft->block(sw, number), block.begin());
  return block;
}

bool is_held(const ProgramRun& run, SwitchIdx sw, std::uint32_t number, const LftBlock& block) {
  const LftBlock* held = run.state.tables.find_block(run.guid_of(sw), number);
  return held != nullptr && *held == block;
}

BlockWrite write_of(SwitchIdx sw, std::uint32_t number, const LftBlock& block) {
  BlockWrite write{.sw = sw, .number = number};
  encode_lft_block(block, write.data);
  return write;
}

std::uint32_t block_count(const ProgramRun& run, SwitchIdx sw) {
  if (block_choice(run) != BlockChoice::Whole)
    return static_cast<std::uint32_t>(run.input.lft->blocks());
  const std::size_t capacity = run.fabric().switch_info[sw].linear_fdb_cap;
  return static_cast<std::uint32_t>((capacity + kLftBlockSize - 1) / kLftBlockSize);
}

RandomTables::Entries wanted_entries(const ProgramRun& run, SwitchIdx sw) {
  RandomTables::Entries out;
  for (std::uint32_t lid = 1; lid <= run.input.lft->top().value(); ++lid) {
    const Lid destination{static_cast<std::uint16_t>(lid)};
    const PortNum egress = run.input.lft->route(sw, destination);
    if (egress != kNoRoute) out.emplace(destination, egress);
  }
  return out;
}

void add_random(const ProgramRun& run,
                SwitchIdx sw,
                const RandomTables::Entries& entries,
                bool all,
                std::vector<BlockWrite>& out) {
  const std::uint16_t capacity = run.fabric().switch_info[sw].random_fdb_cap;
  for (const auto& [number, block] :
       run.state.random.layout(run.guid_of(sw), entries, capacity, all)) {
    BlockWrite write{.sw = sw, .number = number, .table = AttributeId::RandomForwardingTable};
    encode_rft_block(block, write.data);
    out.push_back(write);
  }
}

bool is_random(const ProgramRun& run, SwitchIdx sw) {
  return has_random_table(run.fabric().switch_info[sw]);
}

using EntrySpan = std::span<const EntryChange>;

void add_random_entries(const ProgramRun& run,
                        SwitchIdx sw,
                        EntrySpan entries,
                        bool all,
                        std::vector<BlockWrite>& out) {
  RandomTables::Entries held = run.state.random.entries(run.guid_of(sw));
  for (const EntryChange& entry : entries) {
    if (entry.egress == kNoRoute) {
      held.erase(entry.lid);
    } else {
      held.insert_or_assign(entry.lid, entry.egress);
    }
  }
  add_random(run, sw, held, all, out);
}

void add_linear_entries(const ProgramRun& run,
                        SwitchIdx sw,
                        EntrySpan entries,
                        bool all,
                        std::vector<BlockWrite>& out) {
  auto at = entries.begin();
  for (std::uint32_t number = 0; all ? number < block_count(run, sw) : at != entries.end();
       ++number) {
    if (!all) number = at->lid.value() / static_cast<std::uint32_t>(kLftBlockSize);
    LftBlock block = held_block(run, sw, number);
    for (; at != entries.end() && at->lid.value() / kLftBlockSize == number; ++at)
      block[at->lid.value() % kLftBlockSize] = at->egress;
    if (all || !is_held(run, sw, number, block)) out.push_back(write_of(sw, number, block));
  }
}

}  // namespace

BlockChoice block_choice(const ProgramRun& run) {
  const bool planned = run.input.plan != nullptr && run.input.plan->whole_tables;
  if (run.input.blocks != BlockChoice::Changed || !planned) return run.input.blocks;
  return run.input.literal ? BlockChoice::Whole : BlockChoice::ToTop;
}

std::vector<BlockWrite> choose_blocks(const ProgramRun& run, EntrySpan entries, bool all) {
  std::vector<BlockWrite> out;
  auto at = entries.begin();
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    const auto first = at;
    while (at != entries.end() && at->sw == sw) ++at;
    const EntrySpan mine{first, at};
    if (mine.empty() && !all) continue;
    is_random(run, sw) ? add_random_entries(run, sw, mine, all, out)
                       : add_linear_entries(run, sw, mine, all, out);
  }
  return out;
}

std::vector<BlockWrite> choose_blocks(const ProgramRun& run) {
  const bool all = block_choice(run) != BlockChoice::Changed;
  std::vector<BlockWrite> out;
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    if (is_random(run, sw)) {
      add_random(run, sw, wanted_entries(run, sw), all, out);
      continue;
    }
    for (std::uint32_t number = 0; number < block_count(run, sw); ++number) {
      const LftBlock wanted = wanted_block(run, sw, number);
      if (all || !is_held(run, sw, number, wanted)) out.push_back(write_of(sw, number, wanted));
    }
  }
  return out;
}

std::vector<BlockWrite> choose_leftovers(const ProgramRun& run) {
  std::vector<BlockWrite> out;
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    if (is_random(run, sw)) {
      add_random(run, sw, wanted_entries(run, sw), false, out);
      continue;
    }
    for (std::uint32_t number = 0; number < run.input.lft->blocks(); ++number) {
      if (run.state.tables.find_block(run.guid_of(sw), number) == nullptr)
        out.push_back(write_of(sw, number, wanted_block(run, sw, number)));
    }
  }
  return out;
}

std::string find_unwanted_block(const ProgramRun& run) {
  const std::size_t top = run.input.lft->top().value();
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    if (is_random(run, sw)) continue;
    for (std::uint32_t number = 0; number < run.input.lft->blocks(); ++number) {
      const LftBlock* held = run.state.tables.find_block(run.guid_of(sw), number);
      const auto wanted = run.input.lft->block(sw, number);
      const std::size_t first = number == 0 ? 1 : 0;  // LID 0 is nobody's
      const std::size_t last = std::min(kLftBlockSize, top + 1 - number * kLftBlockSize);
      if (held == nullptr || !std::equal(held->begin() + static_cast<std::ptrdiff_t>(first),
                                         held->begin() + static_cast<std::ptrdiff_t>(last),
                                         wanted.begin() + static_cast<std::ptrdiff_t>(first))) {
        return fmt::format("LFT block {} of {}", number, run.guid_of(sw));
      }
    }
  }
  return "";
}

}  // namespace smd
