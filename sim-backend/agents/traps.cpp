#include "sim-backend/agents/traps.h"

#include <algorithm>

#include "smd/mad/smp.h"

namespace smd::sim {
namespace {

/// IBA time code: 4.096 us * 2^code.
Duration interval_of(std::uint8_t subnet_timeout) {
  return std::max(kShortestInterval, Duration{std::int64_t{4096} << (subnet_timeout & 31)});
}

}  // namespace

TrapSender::TrapSender(Runtime& runtime, NodeState& node, Send send)
    : runtime_(runtime), node_(node), send_(std::move(send)) {}

void TrapSender::raise(PortNum port, Notice notice) {
  const PortInfo& own = node_.management_port(port).info;
  if (!node_.options.traps || own.lid == kUnassignedLid || own.master_sm_lid == kUnassignedLid) {
    return;
  }
  notice.issuer_lid = own.lid;
  const Key key{port.value(), notice.trap_or_device};
  Pending& pending = pending_[key];
  pending.notice = notice;
  pending.transaction_id = next_id_++;
  pending.repeats_left = node_.options.trap_repeats;
  send_now(key, pending);
}

void TrapSender::repress(std::uint64_t transaction_id) {
  std::erase_if(pending_,
                [&](const auto& item) { return item.second.transaction_id == transaction_id; });
}

void TrapSender::send_now(Key key, Pending& pending) {
  const PortNum port{key.first};
  const PortInfo& own = node_.management_port(port).info;
  Smp smp;
  smp.method = Method::Trap;
  smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  smp.transaction_id = pending.transaction_id;
  encode_notice(pending.notice, smp.data);
  MadBytes mad{};
  encode_smp(smp, mad);
  ++sent_;

  if (pending.repeats_left == 0) {
    pending.timer = Timer(runtime_, runtime_.now() + interval_of(own.subnet_timeout), [this, key] {
      pending_.erase(key);
    });
  } else {
    pending.timer = Timer(runtime_, runtime_.now() + interval_of(own.subnet_timeout), [this, key] {
      const auto found = pending_.find(key);
      --found->second.repeats_left;
      send_now(key, found->second);
    });
  }
  send_(port, mad, own.master_sm_lid, own.master_sm_sl);
}

}  // namespace smd::sim
