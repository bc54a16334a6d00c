#include "smd/program/turn_setter.h"

#include <algorithm>
#include <utility>

#include "smd/program/sl_to_vl_smp.h"

namespace smd {
namespace {

using Held = TurnMemory::Held;

const SlToVl kBlockedRow = [] {
  SlToVl row;
  row.fill(kManagementVl);
  return row;
}();

unsigned data_lanes(const Fabric& fabric, PortIdx port) {
  return std::max(1u, data_vls(fabric.port_info[port].vl_cap));
}

}  // namespace

void TurnSetter::block(const std::vector<Turn>& turns, Done done) {
  start(turns, Held::Blocked, std::move(done));
}

void TurnSetter::restore(const std::vector<Turn>& turns, Done done) {
  start(turns, Held::Open, std::move(done));
}

void TurnSetter::start(std::vector<Turn> turns, Held wanted, Done done) {
  unconfirmed_ = {};
  std::erase_if(turns, [&](const Turn& turn) {
    const TurnMemory::Row* row = run_.state.turns.find(run_.guid_of(turn.sw), turn.in, turn.out);
    return row != nullptr && row->held == wanted;
  });
  if (turns.empty()) return done({});
  spread_over_agents(turns, [](const Turn& turn) { return turn.sw; });
  stage_.each<Turn>(
      run_.report.turns,
      std::move(turns),
      [this, wanted](const Turn& turn) {
        wanted == Held::Blocked ? block_one(turn) : set_row(turn, wanted);
      },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

/// A row that the configuration does not tell is read before it is overwritten.
void TurnSetter::block_one(const Turn& turn) {
  const TurnMemory::Row* row = run_.state.turns.find(run_.guid_of(turn.sw), turn.in, turn.out);
  const bool known = run_.input.sets_rows() || site_row() || (row != nullptr && row->open);
  if (known || run_.input.literal) return set_row(turn, Held::Blocked);
  stage_.ask(sl_to_vl_smp(*run_.input.report, turn), [this, turn](const Result<SmpReply>& reply) {
    const auto now =
        accepted(reply) ? decode_sl_to_vl(reply->data) : Result<SlToVl>(fail(Errc::Timeout, ""));
    if (!now) {
      const std::string what = "SL-to-VL row: " + describe_failure(reply);
      run_.fault(run_.node_of(turn.sw), turn.out, what);
      return unconfirmed_.add(run_.guid_of(turn.sw), what);
    }
    if (*now != kBlockedRow) row_of(turn).open = *now;
    set_row(turn, Held::Blocked);
  });
}

void TurnSetter::set_row(const Turn& turn, Held wanted) {
  SmpData data{};
  encode_sl_to_vl(wanted == Held::Blocked ? kBlockedRow : open_row(turn), data);
  row_of(turn).held = Held::Unknown;
  run_.state.rows.forget_row(run_.guid_of(turn.sw), turn.in, turn.out);
  stage_.ask(sl_to_vl_smp(*run_.input.report, turn, Method::Set, data),
             [this, turn, wanted](const Result<SmpReply>& reply) {
               if (!note(turn, wanted, reply))
                 look(turn,
                      wanted,
                      accepted(reply) ? "the switch kept something else" : describe_failure(reply));
             });
}

/// It may have arrived all the same: what the switch says of itself decides.
void TurnSetter::look(const Turn& turn, Held wanted, std::string why) {
  stage_.ask(sl_to_vl_smp(*run_.input.report, turn),
             [this, turn, wanted, why = std::move(why)](const Result<SmpReply>& reply) {
               if (note(turn, wanted, reply)) return;
               const std::string what = fmt::format(
                   "SL-to-VL row of in port {}, out port {}: {}", turn.in, turn.out, why);
               run_.fault(run_.node_of(turn.sw), turn.out, what);
               unconfirmed_.add(run_.guid_of(turn.sw), what);
             });
}

/// True when the answer shows the wanted row.
bool TurnSetter::note(const Turn& turn, Held wanted, const Result<SmpReply>& reply) {
  if (!accepted(reply)) return false;
  const auto now = decode_sl_to_vl(reply->data);
  if (!now) return false;
  if (run_.input.sets_rows())
    run_.state.rows.confirm(run_.guid_of(turn.sw), turn.in, turn.out, *now);
  TurnMemory::Row& row = row_of(turn);
  if (*now == kBlockedRow) {
    row.held = Held::Blocked;
  } else {
    row.held = *now == open_row(turn) ? Held::Open : Held::Unknown;
  }
  if (row.held != wanted) return false;
  ++(wanted == Held::Blocked ? run_.report.turns_blocked : run_.report.turns_restored);
  return true;
}

TurnMemory::Row& TurnSetter::row_of(const Turn& turn) {
  return run_.state.turns.at(run_.guid_of(turn.sw), turn.in, turn.out);
}

/// What routes need, or what the site configured, or what was there before, or every SL on a lane
/// of its own; a lane that the link does not have would discard the packets.
SlToVl TurnSetter::open_row(const Turn& turn) {
  if (run_.input.sets_rows()) return run_.input.rows->row(turn.sw, turn.in, turn.out);
  const std::optional<SlToVl>& site = site_row();
  if (!site && row_of(turn).open) return *row_of(turn).open;
  const Fabric& fabric = run_.fabric();
  const PortIdx out = fabric.port_of(run_.node_of(turn.sw), turn.out);
  const PortIdx peer = fabric.peer[out];
  unsigned lanes = data_lanes(fabric, out);
  if (peer != kNone<PortIdx>) lanes = std::min(lanes, data_lanes(fabric, peer));
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
