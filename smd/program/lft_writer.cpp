#include "smd/program/lft_writer.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

enum class Match : std::uint8_t { Same, Other, Nonsense };

/// Confirms what the answer shows.
Match confirm(ProgramState& state, Guid guid, const BlockWrite& block, const SmpData& answer) {
  if (block.table == AttributeId::RandomForwardingTable) {
    const auto now = decode_rft_block(answer);
    if (!now) return Match::Nonsense;
    state.random.confirm(guid, block.number, *now);
    return *now == *decode_rft_block(block.data) ? Match::Same : Match::Other;
  }
  const auto now = decode_lft_block(answer);
  if (!now) return Match::Nonsense;
  state.tables.confirm(guid, block.number, *now);
  return *now == *decode_lft_block(block.data) ? Match::Same : Match::Other;
}

std::string name_of(const BlockWrite& block) {
  return fmt::format("{} block {}",
                     block.table == AttributeId::RandomForwardingTable ? "RFT" : "LFT",
                     block.number);
}

LftBlock held_block(const ProgramRun& run, SwitchIdx sw, std::uint32_t number) {
  if (const std::optional<LftBlock> held = run.state.tables.find_block(run.guid_of(sw), number))
    return *held;
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
  const std::optional<LftBlock> held = run.state.tables.find_block(run.guid_of(sw), number);
  return held && *held == block;
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

std::vector<TableBlock> find_unread_blocks(const Fabric& fabric,
                                           Lid top,
                                           const ConfirmedTables& confirmed) {
  std::vector<TableBlock> blocks;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::uint16_t held = fabric.switch_info[sw].linear_fdb_top;
    if (held == 0) continue;
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const auto last = static_cast<std::uint32_t>(std::min(held, top.value()) / kLftBlockSize);
    if (confirmed.knows_all(guid, last + 1)) continue;
    for (std::uint32_t block = 0; block <= last; ++block) {
      if (!confirmed.find_block(guid, block)) blocks.push_back({sw, block});
    }
  }
  return blocks;
}

void ReadBack::start(const SweepReport& report,
                     std::vector<TableBlock> blocks,
                     ConfirmedTables& confirmed,
                     Done done) {
  blocks_ = std::move(blocks);
  next_ = 0;
  pump_.start(
      [this, &report, &confirmed] {
        if (next_ == blocks_.size()) return false;
        const TableBlock block = blocks_[next_++];
        const NodeIdx node = report.fabric->switch_node[block.sw];
        pump_.send({.route = SmpRoute::directed(report.path[node]),
                    .attribute = AttributeId::LinearForwardingTable,
                    .modifier = block.block,
                    .m_key = m_key_},
                   [&report, &confirmed, node, block](const Result<SmpReply>& reply) {
                     if (!reply || reply->status != 0) return;
                     if (const auto held = decode_lft_block(reply->data))
                       confirmed.confirm(report.fabric->node_guid[node], block.block, *held);
                   });
        return true;
      },
      [count = static_cast<std::uint64_t>(blocks_.size()), done = std::move(done)] {
        done(count);
      });
}

void BlockWriter::write(std::vector<BlockWrite> blocks, Done done) {
  unconfirmed_ = {};
  if (blocks.empty()) return done({});
  spread_over_agents(blocks, [](const BlockWrite& block) { return block.sw; });
  batch_.each<BlockWrite>(
      run_.report.tables,
      std::move(blocks),
      [this](const BlockWrite& block) { send(block); },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

void BlockWriter::read(std::vector<BlockWrite> blocks, std::function<void()> done) {
  if (blocks.empty()) return done();
  spread_over_agents(blocks, [](const BlockWrite& block) { return block.sw; });
  batch_.each<BlockWrite>(
      run_.report.tables,
      std::move(blocks),
      [this](const BlockWrite& block) {
        ask(block, Method::Get, [this, block](const Result<SmpReply>& reply) {
          ++run_.report.blocks_read;
          if (accepted(reply)) confirm(run_.state, run_.guid_of(block.sw), block, reply->data);
        });
      },
      std::move(done));
}

void BlockWriter::send(const BlockWrite& block) {
  forget(block);
  ask(block, Method::Set, [this, block](const Result<SmpReply>& reply) {
    if (!accepted(reply)) return read_again(block, describe_failure(reply), std::nullopt);
    if (confirm(run_.state, run_.guid_of(block.sw), block, reply->data) != Match::Same) {
      forget(block);
      return read_again(block, "the switch kept something else", reply->data);
    }
    ++run_.report.blocks_written;
  });
}

void BlockWriter::read_again(const BlockWrite& block,
                             std::string why,
                             std::optional<SmpData> said) {
  ask(block, Method::Get, [this, block, why = std::move(why), said](const Result<SmpReply>& reply) {
    ++run_.report.blocks_read;
    const Guid guid = run_.guid_of(block.sw);
    if (accepted(reply) && confirm(run_.state, guid, block, reply->data) == Match::Same) {
      ++run_.report.blocks_written;
      return;
    }
    if (accepted(reply) && said && *said != reply->data) forget(block);
    const std::string what = fmt::format("{}: {}", name_of(block), why);
    run_.fault(run_.node_of(block.sw), PortNum{0}, what);
    unconfirmed_.add(guid, what);
  });
}

void BlockWriter::ask(const BlockWrite& block,
                      Method method,
                      std::function<void(const Result<SmpReply>&)> on_reply) {
  batch_.ask({.route = SmpRoute::directed(run_.input.report->path[run_.node_of(block.sw)]),
              .method = method,
              .attribute = block.table,
              .modifier = block.number,
              .data = method == Method::Set ? block.data : SmpData{}},
             std::move(on_reply));
}

void BlockWriter::forget(const BlockWrite& block) {
  const Guid guid = run_.guid_of(block.sw);
  if (block.table == AttributeId::RandomForwardingTable) {
    run_.state.random.forget_block(guid, block.number);
  } else {
    run_.state.tables.forget_block(guid, block.number);
  }
}

BlockChoice block_choice(const ProgramRun& run) {
  const bool planned = run.input.plan != nullptr && run.input.plan->whole_tables;
  if (run.input.blocks != BlockChoice::Changed || !planned) return run.input.blocks;
  return run.input.writing.whole_tables;
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
    if (run.state.tables.knows_all(run.guid_of(sw), run.input.lft->blocks())) continue;
    for (std::uint32_t number = 0; number < run.input.lft->blocks(); ++number) {
      if (!run.state.tables.find_block(run.guid_of(sw), number))
        out.push_back(write_of(sw, number, wanted_block(run, sw, number)));
    }
  }
  return out;
}

std::vector<BlockWrite> choose_hidden_blocks(const ProgramRun& run) {
  LftBlock none;
  none.fill(kNoRoute);
  std::vector<BlockWrite> out;
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    for_each_hidden_block(run, sw, [&](std::uint32_t number) {
      if (!run.state.tables.find_block(run.guid_of(sw), number))
        out.push_back(write_of(sw, number, none));
    });
  }
  return out;
}

std::string find_unwanted_block(const ProgramRun& run) {
  const std::size_t top = run.input.lft->top().value();
  for (const SwitchIdx sw : run.fabric().switch_node.indices()) {
    if (is_random(run, sw)) continue;
    if (run.state.tables.shares_row(run.guid_of(sw), *run.input.lft, sw) ||
        !run.state.tables.find_other_block(run.guid_of(sw), *run.input.lft, sw))
      continue;
    for (std::uint32_t number = 0; number < run.input.lft->blocks(); ++number) {
      const std::optional<LftBlock> held = run.state.tables.find_block(run.guid_of(sw), number);
      const auto wanted = run.input.lft->block(sw, number);
      const std::size_t first = number == 0 ? 1 : 0;  // LID 0 is nobody's
      const std::size_t last = std::min(kLftBlockSize, top + 1 - number * kLftBlockSize);
      if (!held || !std::equal(held->begin() + static_cast<std::ptrdiff_t>(first),
                               held->begin() + static_cast<std::ptrdiff_t>(last),
                               wanted.begin() + static_cast<std::ptrdiff_t>(first))) {
        return fmt::format("LFT block {} of {}", number, run.guid_of(sw));
      }
    }
  }
  return "";
}

}  // namespace smd
