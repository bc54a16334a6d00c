#include "smd/program/mft_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/multicast/check_tree.h"
#include "smd/program/program_run.h"

namespace smd {
namespace {

constexpr std::size_t kFaultsKept = 100;

/// Taking away, then adding; what could not be confirmed is left to the next run.
constexpr unsigned kStages = 2;

}  // namespace

void MftWriter::start(std::shared_ptr<const SweepReport> sweep,
                      MftGoals goals,
                      MftRules rules,
                      Done done) {
  sweep_ = std::move(sweep);
  goals_ = std::move(goals);
  rules_ = std::move(rules);
  done_ = std::move(done);
  report_ = {};
  pumps_.clear();
  read();
}

void MftWriter::read() {
  run(find_unread(*sweep_->fabric, memory_, goals_), Method::Get, [this] { write(0); });
}

void MftWriter::write(unsigned batch) {
  MftStage next = plan_stage(*sweep_->fabric, memory_, goals_, rules_);
  const std::string fault = find_mixture_fault(*sweep_->fabric, memory_, next.writes, rules_.rank);
  if (!fault.empty()) {
    report_.faults.push_back({Guid{}, PortNum{0}, "not written: " + fault});
    return finish();
  }
  report_.held_up = std::move(next.held_up);
  const bool more = !next.first_steps.empty() && batch + 1 < kStages;
  report_.took_away = takes_away(next.writes);
  const bool drains = report_.took_away && drain_time_ > Duration{0};
  run(std::move(next.writes), Method::Set, [this, more, drains, batch] {
    if (!more) return finish();
    if (!drains) return write(batch + 1);
    drain_ = Timer(*runtime_, runtime_->now() + drain_time_, [this, batch] { write(batch + 1); });
  });
}

bool MftWriter::takes_away(const std::vector<MftWrite>& writes) const {
  const Fabric& fabric = *sweep_->fabric;
  return std::ranges::any_of(writes, [&](const MftWrite& write) {
    const MftMemory::Cell cell =
        memory_.find(fabric.node_guid[fabric.switch_node[write.sw]], write.at);
    for (std::size_t i = 0; i < write.masks.size(); ++i) {
      if ((cell.may[i] & ~write.masks[i]) != 0) return true;
    }
    return false;
  });
}

void MftWriter::finish() {
  report_.unmet = find_unmet(*sweep_->fabric, memory_, goals_);
  std::exchange(done_, nullptr)(std::move(report_));
}

void MftWriter::run(std::vector<MftWrite> blocks, Method method, std::function<void()> next) {
  if (blocks.empty()) return next();
  spread_over_agents(blocks, [](const MftWrite& block) { return block.sw; });
  pumps_.push_back(std::make_unique<SmpPump>(client_));
  pumps_.back()->start(
      [this, blocks = std::move(blocks), method, at = std::size_t{0}]() mutable {
        if (at == blocks.size()) return false;
        send(blocks[at++], method);
        return true;
      },
      std::move(next));
}

void MftWriter::send(const MftWrite& block, Method method) {
  const Fabric& fabric = *sweep_->fabric;
  const NodeIdx node = fabric.switch_node[block.sw];
  SmpRequest request{.route = SmpRoute::directed(sweep_->path[node]),
                     .method = method,
                     .attribute = AttributeId::MulticastForwardingTable,
                     .modifier = encode_modifier(block.at),
                     .m_key = m_key_};
  if (method == Method::Set) {
    encode_mft_block(block.masks, request.data);
    memory_.send(fabric.node_guid[node], block.at, block.masks);
  }
  ++report_.smps;
  pumps_.back()->send(request, [this, block, method](const Result<SmpReply>& reply) {
    on_answer(block, method, reply);
  });
}

void MftWriter::on_answer(const MftWrite& block, Method method, const Result<SmpReply>& reply) {
  const Fabric& fabric = *sweep_->fabric;
  const Guid guid = fabric.node_guid[fabric.switch_node[block.sw]];
  const auto now =
      accepted(reply) ? decode_mft_block(reply->data) : Result<MftBlock>(fail(Errc::Refused, {}));
  std::string why;
  if (!accepted(reply)) {
    why = describe_failure(reply);
    memory_.note_refused(guid);
  } else if (!now) {
    why = now.error().context;
  } else {
    memory_.confirm(guid, block.at, *now);
    if (method == Method::Get) {
      ++report_.blocks_read;
    } else if (*now == block.masks) {
      ++report_.blocks_written;
    } else {
      why = "the switch kept something else";
    }
  }
  if (why.empty() || report_.faults.size() == kFaultsKept) return;
  report_.faults.push_back(
      {guid,
       PortNum{0},
       fmt::format("MFT block {} position {}: {}", block.at.block, block.at.position, why)});
}

}  // namespace smd
