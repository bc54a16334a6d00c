#include "smd/program/sl2vl_writer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "smd/routing/sl_to_vl.h"

namespace smd {
namespace {

std::string name_of(const Turn& turn) {
  return fmt::format("SL-to-VL row of in port {}, out port {}", turn.in, turn.out);
}

using Held = TurnMemory::Held;

const SlToVl kBlockedEntry = [] {
  SlToVl row;
  row.fill(kManagementVl);
  return row;
}();

unsigned data_lanes(const Fabric& fabric, PortIdx port) {
  return std::max(1u, data_vls(fabric.port_info[port].vl_cap));
}

}  // namespace

std::vector<Turn> find_unread_sl_to_vl(const Fabric& fabric, const ConfirmedSlToVl& known) {
  std::vector<Turn> turns;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (fabric.switch_info[sw].linear_fdb_top == 0) continue;
    const auto rows = known.of(fabric.node_guid[fabric.switch_node[sw]]);
    for_each_turn(fabric, sw, [&](PortNum in, PortNum out) {
      if (rows.find(in, out) == nullptr) turns.push_back({sw, in, out});
    });
  }
  std::ranges::sort(turns);
  return turns;
}

void SlToVlReader::start(const SweepReport& report,
                         std::vector<Turn> turns,
                         ConfirmedSlToVl& known,
                         std::function<void()> done) {
  turns_ = std::move(turns);
  next_ = 0;
  pump_.start(
      [this, &report, &known] {
        if (next_ == turns_.size()) return false;
        const Turn turn = turns_[next_++];
        SmpRequest request = sl_to_vl_smp(report, turn);
        request.m_key = m_key_;
        pump_.send(std::move(request), [&report, &known, turn](const Result<SmpReply>& reply) {
          if (!reply || reply->status != 0) return;
          const Guid guid = report.fabric->node_guid[report.fabric->switch_node[turn.sw]];
          if (const auto held = decode_sl_to_vl(reply->data))
            known.confirm(guid, turn.in, turn.out, *held);
        });
        return true;
      },
      std::move(done));
}

const SlToVl& SlToVlWriter::wanted(const Turn& turn) const {
  return run_.input.sl_to_vl->row(turn.sw, turn.in, turn.out);
}

template <class Visit>
void SlToVlWriter::for_each_unsettled(Visit&& visit) const {
  for (const SwitchIdx sw : run_.fabric().switch_node.indices()) {
    const Guid guid = run_.guid_of(sw);
    const auto rows = run_.state.sl_to_vl.of(guid);
    for_each_turn(run_.fabric(), sw, [&](PortNum in, PortNum out) {
      const SlToVl* row = rows.find(in, out);
      if (row != nullptr && *row == wanted({sw, in, out})) return;
      const TurnMemory::Entry* known = run_.state.turns.find(guid, in, out);
      if (known == nullptr || known->held != TurnMemory::Held::Blocked) visit(Turn{sw, in, out});
    });
  }
}

void SlToVlWriter::write(Done done) {
  unconfirmed_ = {};
  if (!run_.input.writes_sl_to_vl()) return done({});
  std::vector<Turn> turns;
  for_each_unsettled([&](const Turn& turn) { turns.push_back(turn); });
  if (turns.empty()) return done({});
  std::vector<RowSet> sets = gather(turns);
  spread_over_agents(sets, [](const RowSet& set) { return set.turn.sw; });
  batch_.each<RowSet>(
      run_.report.turns,
      std::move(sets),
      [this](const RowSet& set) { set.all_in || set.all_out ? send_all(set) : send(set.turn); },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

std::string SlToVlWriter::find_unwanted() const {
  if (!run_.input.writes_sl_to_vl()) return "";
  std::string found;
  for_each_unsettled([&](const Turn& turn) {
    if (found.empty()) found = fmt::format("{} at {}", name_of(turn), run_.guid_of(turn.sw));
  });
  return found;
}

/// Turns of one switch stand together.
std::vector<SlToVlWriter::RowSet> SlToVlWriter::gather(const std::vector<Turn>& turns) const {
  std::vector<RowSet> out;
  for (std::size_t at = 0; at < turns.size();) {
    const SwitchIdx sw = turns[at].sw;
    std::vector<Turn> here;
    while (at < turns.size() && turns[at].sw == sw) here.push_back(turns[at++]);
    const bool offered = (run_.fabric().switch_info[sw].optimized_sl_to_vl & 1) != 0;
    if (run_.input.writing.optimized_sl_to_vl && offered) {
      take_out(here, {.turn = here.front(), .all_in = true, .all_out = true}, out);
      std::map<PortNum, Turn> by_out, by_in;
      for (const Turn& turn : here) {
        by_out.try_emplace(turn.out, turn);
        by_in.try_emplace(turn.in, turn);
      }
      for (const auto& [port, turn] : by_out) take_out(here, {.turn = turn, .all_in = true}, out);
      for (const auto& [port, turn] : by_in) take_out(here, {.turn = turn, .all_out = true}, out);
    }
    for (const Turn& turn : here) out.push_back({.turn = turn});
  }
  return out;
}

/// Those that the pattern writes, if they are two or more and it may write all that it does.
void SlToVlWriter::take_out(std::vector<Turn>& turns,
                            const RowSet& pattern,
                            std::vector<RowSet>& out) const {
  const auto is_written = [&](const Turn& turn) { return pattern.writes(turn.in, turn.out); };
  if (std::ranges::count_if(turns, is_written) < 2 || !are_alike(pattern)) return;
  RowSet set = pattern;
  std::ranges::copy_if(turns, std::back_inserter(set.unsettled), is_written);
  std::erase_if(turns, is_written);
  out.push_back(std::move(set));
}

bool SlToVlWriter::are_alike(const RowSet& set) const {
  const SwitchIdx sw = set.turn.sw;
  // Those that no link leads to as well: they must still be blocked when one does.
  if (run_.state.turns.any(run_.guid_of(sw), [&](PortNum in, PortNum out, const auto& entry) {
        return entry.held == Held::Blocked && set.writes(in, out);
      }))
    return false;
  bool alike = true;
  for_each_turn(run_.fabric(), sw, [&](PortNum in, PortNum out) {
    if (alike && set.writes(in, out)) alike = wanted({sw, in, out}) == wanted(set.turn);
  });
  return alike;
}

void SlToVlWriter::send_all(const RowSet& set) {
  const Guid guid = run_.guid_of(set.turn.sw);
  const unsigned ports = run_.fabric().num_ports(run_.node_of(set.turn.sw));
  for (unsigned i = 0; i <= ports; ++i) {
    for (unsigned o = 0; o <= ports; ++o) {
      const PortNum in{static_cast<std::uint8_t>(i)}, out{static_cast<std::uint8_t>(o)};
      if (set.writes(in, out)) run_.state.sl_to_vl.forget_entry(guid, in, out);
    }
  }
  SmpData data{};
  encode_sl_to_vl(wanted(set.turn), data);
  SmpRequest request = sl_to_vl_smp(*run_.input.report, set.turn, Method::Set, data);
  request.modifier = encode_modifier(SlToVlModifier{.in = set.all_in ? PortNum{0} : set.turn.in,
                                                    .out = set.all_out ? PortNum{0} : set.turn.out,
                                                    .all_in = set.all_in,
                                                    .all_out = set.all_out});
  batch_.ask(request, [this, set, guid](const Result<SmpReply>& reply) {
    const auto now =
        accepted(reply) ? decode_sl_to_vl(reply->data) : Result<SlToVl>(fail(Errc::Timeout, ""));
    if (now && *now == wanted(set.turn)) {
      for_each_turn(run_.fabric(), set.turn.sw, [&](PortNum in, PortNum out) {
        if (set.writes(in, out)) run_.state.sl_to_vl.confirm(guid, in, out, *now);
      });
      run_.report.sl_to_vl_written += set.unsettled.size();
      return;
    }
    // All that it may have written is unknown now, what was as wanted before, too.
    for_each_turn(run_.fabric(), set.turn.sw, [&](PortNum in, PortNum out) {
      if (!set.writes(in, out)) return;
      const Turn turn{set.turn.sw, in, out};
      reply ? send(turn) : read_again(turn, describe_failure(reply));
    });
  });
}

void SlToVlWriter::send(const Turn& turn) {
  SmpData data{};
  encode_sl_to_vl(wanted(turn), data);
  run_.state.sl_to_vl.forget_entry(run_.guid_of(turn.sw), turn.in, turn.out);
  batch_.ask(sl_to_vl_smp(*run_.input.report, turn, Method::Set, data),
             [this, turn](const Result<SmpReply>& reply) {
               if (!confirm(turn, reply))
                 read_again(
                     turn,
                     accepted(reply) ? "the switch kept something else" : describe_failure(reply));
             });
}

/// It may have arrived all the same: what the switch says of itself decides.
void SlToVlWriter::read_again(const Turn& turn, std::string why) {
  batch_.ask(sl_to_vl_smp(*run_.input.report, turn),
             [this, turn, why = std::move(why)](const Result<SmpReply>& reply) {
               if (confirm(turn, reply)) return;
               const std::string what = fmt::format("{}: {}", name_of(turn), why);
               run_.fault(run_.node_of(turn.sw), turn.out, what);
               unconfirmed_.add(run_.guid_of(turn.sw), what);
             });
}

/// True when the answer shows the wanted entry.
bool SlToVlWriter::confirm(const Turn& turn, const Result<SmpReply>& reply) {
  if (!accepted(reply)) return false;
  const auto now = decode_sl_to_vl(reply->data);
  if (!now) return false;
  run_.state.sl_to_vl.confirm(run_.guid_of(turn.sw), turn.in, turn.out, *now);
  if (*now != wanted(turn)) return false;
  ++run_.report.sl_to_vl_written;
  return true;
}

void TurnSetter::block(const std::vector<Turn>& turns, Done done) {
  start(turns, Held::Blocked, std::move(done));
}

void TurnSetter::restore(const std::vector<Turn>& turns, Done done) {
  start(turns, Held::Open, std::move(done));
}

void TurnSetter::start(std::vector<Turn> turns, Held wanted, Done done) {
  unconfirmed_ = {};
  std::erase_if(turns, [&](const Turn& turn) {
    const TurnMemory::Entry* row = run_.state.turns.find(run_.guid_of(turn.sw), turn.in, turn.out);
    return row != nullptr && row->held == wanted;
  });
  if (turns.empty()) return done({});
  spread_over_agents(turns, [](const Turn& turn) { return turn.sw; });
  batch_.each<Turn>(
      run_.report.turns,
      std::move(turns),
      [this, wanted](const Turn& turn) {
        wanted == Held::Blocked ? block_one(turn) : set_row(turn, wanted);
      },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

/// An entry that the configuration does not tell is read before it is overwritten.
void TurnSetter::block_one(const Turn& turn) {
  const TurnMemory::Entry* row = run_.state.turns.find(run_.guid_of(turn.sw), turn.in, turn.out);
  const bool known = run_.input.writes_sl_to_vl() || site_entry() || (row != nullptr && row->open);
  if (known || !run_.input.writing.reads_before_blocking) return set_row(turn, Held::Blocked);
  batch_.ask(sl_to_vl_smp(*run_.input.report, turn), [this, turn](const Result<SmpReply>& reply) {
    const auto now =
        accepted(reply) ? decode_sl_to_vl(reply->data) : Result<SlToVl>(fail(Errc::Timeout, ""));
    if (!now) {
      const std::string what = "SL-to-VL row: " + describe_failure(reply);
      run_.fault(run_.node_of(turn.sw), turn.out, what);
      return unconfirmed_.add(run_.guid_of(turn.sw), what);
    }
    if (*now != kBlockedEntry) row_of(turn).open = *now;
    set_row(turn, Held::Blocked);
  });
}

void TurnSetter::set_row(const Turn& turn, Held wanted) {
  SmpData data{};
  encode_sl_to_vl(wanted == Held::Blocked ? kBlockedEntry : open_entry(turn), data);
  row_of(turn).held = Held::Unknown;
  run_.state.sl_to_vl.forget_entry(run_.guid_of(turn.sw), turn.in, turn.out);
  batch_.ask(sl_to_vl_smp(*run_.input.report, turn, Method::Set, data),
             [this, turn, wanted](const Result<SmpReply>& reply) {
               if (!note(turn, wanted, reply))
                 read_again(
                     turn,
                     wanted,
                     accepted(reply) ? "the switch kept something else" : describe_failure(reply));
             });
}

/// It may have arrived all the same: what the switch says of itself decides.
void TurnSetter::read_again(const Turn& turn, Held wanted, std::string why) {
  batch_.ask(sl_to_vl_smp(*run_.input.report, turn),
             [this, turn, wanted, why = std::move(why)](const Result<SmpReply>& reply) {
               if (note(turn, wanted, reply)) return;
               const std::string what = fmt::format(
                   "SL-to-VL row of in port {}, out port {}: {}", turn.in, turn.out, why);
               run_.fault(run_.node_of(turn.sw), turn.out, what);
               unconfirmed_.add(run_.guid_of(turn.sw), what);
             });
}

/// True when the answer shows the wanted entry.
bool TurnSetter::note(const Turn& turn, Held wanted, const Result<SmpReply>& reply) {
  if (!accepted(reply)) return false;
  const auto now = decode_sl_to_vl(reply->data);
  if (!now) return false;
  if (run_.input.writes_sl_to_vl())
    run_.state.sl_to_vl.confirm(run_.guid_of(turn.sw), turn.in, turn.out, *now);
  TurnMemory::Entry& row = row_of(turn);
  if (*now == kBlockedEntry) {
    row.held = Held::Blocked;
  } else {
    row.held = *now == open_entry(turn) ? Held::Open : Held::Unknown;
  }
  if (row.held != wanted) return false;
  ++(wanted == Held::Blocked ? run_.report.turns_blocked : run_.report.turns_restored);
  return true;
}

TurnMemory::Entry& TurnSetter::row_of(const Turn& turn) {
  return run_.state.turns.at(run_.guid_of(turn.sw), turn.in, turn.out);
}

/// What routes need, or what the site configured, or what was there before, or every SL on a VL
/// of its own; a VL that the link does not operate would discard the packets.
SlToVl TurnSetter::open_entry(const Turn& turn) {
  if (run_.input.writes_sl_to_vl()) return run_.input.sl_to_vl->row(turn.sw, turn.in, turn.out);
  const std::optional<SlToVl>& site = site_entry();
  if (!site && row_of(turn).open) return *row_of(turn).open;
  const Fabric& fabric = run_.fabric();
  const PortIdx out = fabric.port_of(run_.node_of(turn.sw), turn.out);
  const PortIdx peer = fabric.peer[out];
  unsigned lanes = data_lanes(fabric, out);
  if (peer != kNone<PortIdx>) lanes = std::min(lanes, data_lanes(fabric, peer));
  lanes = std::min(lanes, std::max(1u, data_vls(run_.input.policy.max_operational_vls)));
  SlToVl row;
  for (std::size_t sl = 0; sl < row.size(); ++sl) {
    const Vl wanted = site ? (*site)[sl] : Vl{static_cast<std::uint8_t>(sl)};
    row[sl] = wanted == kManagementVl && site
                  ? wanted
                  : Vl{static_cast<std::uint8_t>(wanted.value() % lanes)};
  }
  return row;
}

}  // namespace smd
