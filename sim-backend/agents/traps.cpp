#include "sim-backend/agents/traps.h"

#include <algorithm>

#include "smd/mad/smp.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kGsiQp = 1;

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
  Smp smp;
  smp.method = Method::Trap;
  smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  smp.transaction_id = next_id_++;
  encode_notice(notice, smp.data);
  TrapLetter letter{.port = port, .to = own.master_sm_lid, .sl = own.master_sm_sl};
  encode_smp(smp, letter.mad);
  post(notice.trap_or_device, letter, smp.transaction_id);
}

void TrapSender::raise_congestion(PortNum port, Notice notice) {
  const Lid own = node_.management_port(port).info.lid;
  const cc::ClassPortInfo& to = node_.congestion(port).traps_to;
  if (!node_.options.traps || own == kUnassignedLid || to.trap_lid == kUnassignedLid) return;
  notice.issuer_lid = own;
  const std::uint64_t id = next_id_++;
  TrapLetter letter{.port = port, .to = to.trap_lid, .qp = to.trap_qp, .sl = to.trap_sl.value()};
  if (letter.qp == 0) letter.qp = kGsiQp;
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::CongestionControl),
                     .class_version = cc::kClassVersion,
                     .method = static_cast<std::uint8_t>(Method::Trap),
                     .transaction_id = id,
                     .attribute_id = static_cast<std::uint16_t>(cc::Attribute::Notice)},
                    letter.mad);
  encode_notice(
      notice, std::span<std::byte, kMadSize>(letter.mad).subspan<cc::kDataOffset, kSmpDataSize>());
  post(notice.trap_or_device, letter, id);
}

void TrapSender::post(std::uint16_t trap, TrapLetter letter, std::uint64_t transaction_id) {
  const Key key{letter.port.value(), letter.qp, trap};
  Pending& pending = pending_[key];
  pending.letter = std::move(letter);
  pending.transaction_id = transaction_id;
  pending.repeats_left = node_.options.trap_repeats;
  send_now(key, pending);
}

bool TrapSender::repress(std::uint64_t transaction_id) {
  const auto same = [&](const auto& item) { return item.second.transaction_id == transaction_id; };
  return std::erase_if(pending_, same) > 0;
}

void TrapSender::send_now(Key key, Pending& pending) {
  const TrapLetter letter = pending.letter;  // `pending` may be gone when the handler returns
  const PortInfo& own = node_.management_port(letter.port).info;
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
  send_(letter);
}

}  // namespace smd::sim
