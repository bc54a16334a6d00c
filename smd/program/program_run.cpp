#include "smd/program/program_run.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kKept = 100;

}  // namespace

void ProgramState::forget(Guid node) {
  tables.forget(node);
  random.forget(node);
  ports.forget(node);
  switches.forget(node);
  turns.forget(node);
  sl_to_vl.forget(node);
  keys.forget(node);
  const auto own = std::ranges::equal_range(audited_ports, node, {}, &PortRef::node);
  audited_ports.erase(own.begin(), own.end());
}

void ProgramState::doubt(Guid node) {
  tables.forget(node);
  random.forget(node);
  ports.forget(node);
  switches.forget(node);
  turns.doubt(node);
  sl_to_vl.forget(node);
  keys.forget(node);
}

bool leads_to_unconfirmed(const ProgramRun& run, PortIdx port) {
  const Fabric& fabric = run.fabric();
  const auto is_at_one = [&](PortIdx end) {
    const Guid guid = fabric.node_guid[fabric.node_of[end]];
    return run.without_entries.contains(guid);
  };
  const PortIdx peer = fabric.peer[port];
  return peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[port]) &&
         fabric.is_switch(fabric.node_of[peer]) && (is_at_one(port) || is_at_one(peer));
}

void ProgramRun::fault(NodeIdx node, PortNum port, std::string what) {
  ++report.fault_count;
  if (report.faults.size() < kKept)
    report.faults.push_back({fabric().node_guid[node], port, std::move(what)});
}

void ProgramRun::not_kept(NodeIdx node, PortNum port, std::string what) {
  ++report.not_kept_count;
  const NodeInfo& device = fabric().node_info[node];
  for (RefusedSetting& known : report.not_kept) {
    if (known.vendor_id != device.vendor_id || known.device_id != device.device_id ||
        known.what != what)
      continue;
    ++known.ports;
    return;
  }
  if (report.not_kept.size() == kKept) return;
  report.not_kept.push_back({.vendor_id = device.vendor_id,
                             .device_id = device.device_id,
                             .what = std::move(what),
                             .ports = 1,
                             .node = fabric().node_guid[node],
                             .port = port});
}

bool accepted(const Result<SmpReply>& reply) { return reply && reply->status == 0; }

std::string describe_failure(const Result<SmpReply>& reply) {
  if (!reply) return reply.error().context;
  return fmt::format("refused with status 0x{:04x}", reply->status);
}

void SmpBatch::start(PhaseCost& cost, SmpPump::IssueNext issue_next, std::function<void()> next) {
  pump_.emplace(run_.client);
  pump_->start(std::move(issue_next), [this, &cost, next = std::move(next)] {
    cost += run_.meter.lap();
    later(Duration{0}, next);
  });
}

void SmpBatch::ask(SmpRequest request, std::function<void(const Result<SmpReply>&)> on_reply) {
  request.m_key = run_.input.policy.m_key;
  pump_->send(request, std::move(on_reply));
}

void SmpBatch::later(Duration delay, std::function<void()> next) {
  next_ = Timer(run_.runtime, run_.runtime.now() + delay, std::move(next));
}

}  // namespace smd
