#include "smd/program/row_setter.h"

#include <utility>

#include "smd/program/sl_to_vl_smp.h"
#include "smd/routing/switch_rows.h"

namespace smd {
namespace {

std::string name_of(const Turn& way) {
  return fmt::format("SL-to-VL row of in port {}, out port {}", way.in, way.out);
}

}  // namespace

const SlToVl& RowSetter::wanted(const Turn& way) const {
  return run_.input.rows->row(way.sw, way.in, way.out);
}

bool RowSetter::is_settled(const Turn& way) const {
  const Guid guid = run_.guid_of(way.sw);
  const TurnMemory::Row* turn = run_.state.turns.find(guid, way.in, way.out);
  if (turn != nullptr && turn->held == TurnMemory::Held::Blocked) return true;
  const SlToVl* row = run_.state.rows.find(guid, way.in, way.out);
  return row != nullptr && *row == wanted(way);
}

void RowSetter::write(Done done) {
  unconfirmed_ = {};
  if (!run_.input.sets_rows()) return done({});
  std::vector<Turn> ways;
  for (const SwitchIdx sw : run_.fabric().switch_node.indices()) {
    for_each_way(run_.fabric(), sw, [&](PortNum in, PortNum out) {
      if (!is_settled({sw, in, out})) ways.push_back({sw, in, out});
    });
  }
  if (ways.empty()) return done({});
  spread_over_agents(ways, [](const Turn& way) { return way.sw; });
  stage_.each<Turn>(
      run_.report.turns,
      std::move(ways),
      [this](const Turn& way) { send(way); },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

std::string RowSetter::find_unwanted() const {
  if (!run_.input.sets_rows()) return "";
  std::string found;
  for (const SwitchIdx sw : run_.fabric().switch_node.indices()) {
    for_each_way(run_.fabric(), sw, [&](PortNum in, PortNum out) {
      if (found.empty() && !is_settled({sw, in, out}))
        found = fmt::format("{} at {}", name_of({sw, in, out}), run_.guid_of(sw));
    });
  }
  return found;
}

void RowSetter::send(const Turn& way) {
  SmpData data{};
  encode_sl_to_vl(wanted(way), data);
  run_.state.rows.forget_row(run_.guid_of(way.sw), way.in, way.out);
  stage_.ask(sl_to_vl_smp(*run_.input.report, way, Method::Set, data),
             [this, way](const Result<SmpReply>& reply) {
               if (!confirm(way, reply))
                 look(way,
                      accepted(reply) ? "the switch kept something else" : describe_failure(reply));
             });
}

/// It may have arrived all the same: what the switch says of itself decides.
void RowSetter::look(const Turn& way, std::string why) {
  stage_.ask(sl_to_vl_smp(*run_.input.report, way),
             [this, way, why = std::move(why)](const Result<SmpReply>& reply) {
               if (confirm(way, reply)) return;
               const std::string what = fmt::format("{}: {}", name_of(way), why);
               run_.fault(run_.node_of(way.sw), way.out, what);
               unconfirmed_.add(run_.guid_of(way.sw), what);
             });
}

/// True when the answer shows the wanted row.
bool RowSetter::confirm(const Turn& way, const Result<SmpReply>& reply) {
  if (!accepted(reply)) return false;
  const auto now = decode_sl_to_vl(reply->data);
  if (!now) return false;
  run_.state.rows.confirm(run_.guid_of(way.sw), way.in, way.out, *now);
  if (*now != wanted(way)) return false;
  ++run_.report.rows_written;
  return true;
}

}  // namespace smd
