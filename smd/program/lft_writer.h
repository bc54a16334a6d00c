// Linear forwarding tables: which blocks are written, the writing, and reading what was there
// before.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/program/program_run.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Reads forwarding tables that somebody wrote before us: a plan starts from what is there, not from
// what is assumed.

/// Blocks below LinearFDBTop, and no further than `top`, of which nothing is known.
[[nodiscard]] std::vector<TableBlock> find_unread_blocks(const Fabric& fabric,
                                                         Lid top,
                                                         const ConfirmedTables& confirmed);

class ReadBack {
 public:
  /// How many blocks were asked for.
  using Done = std::function<void(std::uint64_t)>;

  ReadBack(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  ReadBack(const ReadBack&) = delete;

  /// Confirms what the switches answer; what is not answered stays unknown. Report and `confirmed`
  /// must stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report,
             std::vector<TableBlock> blocks,
             ConfirmedTables& confirmed,
             Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<TableBlock> blocks_;
  std::size_t next_ = 0;
};

// Writes forwarding blocks, all of a list before anything that follows.
//
// Sent is not confirmed: from the moment a Set goes out until a matching answer is in, what the
// switch holds in that block is unknown. A Set that was refused, lost or kept otherwise is looked
// after once; what the switch then says it holds is confirmed, whatever it is. Unless it
// contradicts itself: then nothing is known.

struct BlockWrite {
  SwitchIdx sw;
  std::uint32_t number = 0;
  AttributeId table = AttributeId::LinearForwardingTable;  // or RandomForwardingTable
  SmpData data{};
};

class BlockWriter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  BlockWriter(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  BlockWriter(const BlockWriter&) = delete;

  void write(std::vector<BlockWrite> blocks, Done done);

  /// Confirms what the switches answer; their data is not looked at.
  void read(std::vector<BlockWrite> blocks, std::function<void()> done);

 private:
  void send(const BlockWrite& block);
  void read_again(const BlockWrite& block, std::string why, std::optional<SmpData> said);
  void ask(const BlockWrite& block,
           Method method,
           std::function<void(const Result<SmpReply>&)> on_reply);
  void forget(const BlockWrite& block);

  ProgramRun& run_;
  SmpBatch& batch_;
  Unconfirmed unconfirmed_;
};

// Which blocks make the switches hold certain entries, on top of what is confirmed. Where a block
// is unknown, "no route" stands for what is not named: dropping a packet can close no cycle.

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

/// Blocks that LinearFDBTop is about to put in force and of which nothing is known, without an
/// entry.
[[nodiscard]] std::vector<BlockWrite> choose_hidden_blocks(const ProgramRun& run);

/// The first block that does not hold the wanted routes: "LFT block 3 of 0x…". Empty: none.
[[nodiscard]] std::string find_unwanted_block(const ProgramRun& run);

}  // namespace smd
