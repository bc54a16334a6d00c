// SL-to-VL entries that routes need and blocked turns, written turn by turn and read back.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/mad/tables.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/plan/transition.h"
#include "smd/program/program_run.h"
#include "smd/smp/smp_client.h"

namespace smd {

// The SMP that reads or writes one SL-to-VL entry of a switch.

[[nodiscard]] inline SmpRequest sl_to_vl_smp(const SweepReport& report,
                                             const Turn& turn,
                                             Method method = Method::Get,
                                             const SmpData& data = {}) {
  const NodeIdx node = report.fabric->switch_node[turn.sw];
  return {.route = SmpRoute::directed(report.path[node]),
          .method = method,
          .attribute = AttributeId::SlToVlMappingTable,
          .modifier = encode_modifier(SlToVlModifier{.in = turn.in, .out = turn.out}),
          .data = data};
}

// Reads SL-to-VL entries that somebody wrote before us, or that a switch was made with: a plan
// starts from what is there.

/// Entries of switches that forward, of which nothing is known; sorted. A switch fresh from
/// power-on forwards nothing until its entries are written.
[[nodiscard]] std::vector<Turn> find_unread_sl_to_vl(const Fabric& fabric,
                                                     const ConfirmedSlToVl& known);

class SlToVlReader {
 public:
  SlToVlReader(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  SlToVlReader(const SlToVlReader&) = delete;

  /// Confirms what the switches answer; what is not answered stays unknown. Report and `known` must
  /// stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report,
             std::vector<Turn> turns,
             ConfirmedSlToVl& known,
             std::function<void()> done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<Turn> turns_;
  std::size_t next_ = 0;
};

// Writes the SL-to-VL entries of switches, those that are not known to be as wanted. Entries of
// blocked turns stay blocked: TurnSetter gives them the wanted entry when it opens them.
//
// Sent is not confirmed, as with forwarding blocks: a Set that was refused, lost or kept otherwise
// is looked after once.
//
// Where the switch offers OptimizedSLtoVLMappingProgramming and the site wants it, one Set writes
// the entries of all inputs to an output, of all outputs from an input, or of the whole switch (IBA
// 14.2.5.8), if all of them are to be the same and none is blocked. Its answer cannot tell one
// entry from another; a switch that refuses it gets each entry by itself.

class SlToVlWriter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  SlToVlWriter(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  SlToVlWriter(const SlToVlWriter&) = delete;

  /// All entries of `input.sl_to_vl`, one list with its barrier. Nothing without them.
  void write(Done done);

  /// The first entry that is neither as wanted nor blocked; empty: none.
  [[nodiscard]] std::string find_unwanted() const;

 private:
  template <class Visit>
  void for_each_unsettled(Visit&& visit) const;
  [[nodiscard]] const SlToVl& wanted(const Turn& turn) const;

  /// What one Set writes: one entry, or several at once.
  struct RowSet {
    Turn turn;
    bool all_in = false;
    bool all_out = false;
    std::vector<Turn> unsettled{};  // of those that it writes

    [[nodiscard]] bool writes(PortNum in, PortNum out) const {
      return (all_in || in == turn.in) && (all_out || out == turn.out);
    }
  };

  [[nodiscard]] std::vector<RowSet> gather(const std::vector<Turn>& turns) const;
  [[nodiscard]] bool are_alike(const RowSet& set) const;
  void take_out(std::vector<Turn>& turns, const RowSet& pattern, std::vector<RowSet>& out) const;
  void send_all(const RowSet& set);
  void send(const Turn& turn);
  void read_again(const Turn& turn, std::string why);
  bool confirm(const Turn& turn, const Result<SmpReply>& reply);

  ProgramRun& run_;
  SmpBatch& batch_;
  Unconfirmed unconfirmed_;
};

// Blocks turns and restores them: all SLs of an (input, output) pair on VL 15, or the entry that
// the site wants.

class TurnSetter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  TurnSetter(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  TurnSetter(const TurnSetter&) = delete;

  /// One list with its barrier; turns that are so already cost nothing.
  void block(const std::vector<Turn>& turns, Done done);
  void restore(const std::vector<Turn>& turns, Done done);

 private:
  void start(std::vector<Turn> turns, TurnMemory::Held wanted, Done done);
  void block_one(const Turn& turn);
  void set_row(const Turn& turn, TurnMemory::Held wanted);
  void read_again(const Turn& turn, TurnMemory::Held wanted, std::string why);
  bool note(const Turn& turn, TurnMemory::Held wanted, const Result<SmpReply>& reply);
  [[nodiscard]] TurnMemory::Entry& row_of(const Turn& turn);

  [[nodiscard]] const std::optional<SlToVl>& site_entry() const {
    return run_.input.qos.row_of(PortKind::SwitchExternal);
  }

  [[nodiscard]] SlToVl open_entry(const Turn& turn);

  ProgramRun& run_;
  SmpBatch& batch_;
  Unconfirmed unconfirmed_;
};

}  // namespace smd
