#include "smd/plan/verify/transient_proof.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace smd {
namespace {

// Bit i of the result: byte i of `flags` is 1, the only value but 0 that there is.
std::uint64_t pack_flags(const std::uint8_t* flags) {
  std::uint64_t word = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, flags + byte * 8, sizeof eight);
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    word |= (eight * 0x0102040810204080u >> 56) << (byte * 8);
  }
  return word;
}

}  // namespace

TableView::TableView(const ForwardingTables& tables, std::size_t switches, std::size_t lids)
    : lids_(lids), tables_(tables) {
  if (tables.switches() == switches && tables.blocks() * kLftBlockSize == lids) return;
  tables_ = ForwardingTables{switches, Lid{static_cast<std::uint16_t>(lids == 0 ? 0 : lids - 1)}};
  for (SwitchIdx sw{0}; sw.value() < std::min(tables.switches(), switches); sw = next(sw))
    tables_.set_row(sw, tables, sw);
}

TransientProof::TransientProof(const Fabric& fabric,
                               const TableView& tables,
                               const LidList& constant,
                               const LidList& changing)
    : fabric_(fabric),
      changing_(changing),
      peer_switch_(fabric.port_count(), kNone<SwitchIdx>),
      turns_(fabric.port_count() * kWords, 0),
      open_(fabric.switch_count() * kWords, 0),
      seen_(kPorts * kPorts, 0) {
  for (const NodeIdx node : fabric.switch_node) {
    words_.push_back(fabric.num_ports(node) / 64 + 1);
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx>) peer_switch_[port] = fabric.switch_of[fabric.node_of[peer]];
    }
  }
  mark_tables(tables, tables, constant, false, false);
  constant_ = std::move(turns_);
}

PortIdx TransientProof::find_port(SwitchIdx sw, PortNum number) const {
  const NodeIdx node = fabric_.switch_node[sw];
  if (number.value() > fabric_.num_ports(node)) return kNone<PortIdx>;
  const PortIdx port = fabric_.port_of(node, number);
  return joins_switches(port) ? port : kNone<PortIdx>;
}

// Slice by slice of LIDs, so that the rows of all switches stay in the cache while each is read by
// every neighbour. Flags are bytes while a switch is under way, so that marks of one port do not
// wait for each other.
void TransientProof::mark_tables(const TableView& arrive,
                                 const TableView& leave,
                                 const LidList& lids,
                                 bool arrive_open,
                                 bool leave_open) {
  const std::vector<PortNum> no_row(leave.lids(), kNoRoute);
  nowhere_ = {no_row.data(), seen_.data() + (kPorts - 1) * kPorts};
  next_hops_.fill(nowhere_);
  constexpr std::size_t kSlice = 1024;
  for (std::size_t first = 0; first < lids.size(); first += kSlice) {
    const auto slice = std::span{lids}.subspan(first, std::min(kSlice, lids.size() - first));
    for (const SwitchIdx sw : fabric_.switch_node.indices())
      mark_slice(arrive.row(sw), leave, slice, sw, arrive_open, leave_open);
  }
}

void TransientProof::mark_slice(const PortNum* row,
                                const TableView& leave,
                                std::span<const std::uint16_t> lids,
                                SwitchIdx sw,
                                bool arrive_open,
                                bool leave_open) {
  std::array<PortIdx, kPorts> entered;
  std::size_t count = 0;
  for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
    const SwitchIdx peer = peer_switch_[port];
    if (peer == kNone<SwitchIdx> || (arrive_open && !is_open(port))) continue;
    std::uint8_t* const seen = seen_.data() + count * kPorts;
    std::memset(seen, 0, words_[peer] * 64);
    next_hops_[fabric_.number_of(port).value()] = {leave.row(peer), seen};
    entered[count++] = port;
  }
  if (count == 0) return;
  for (const std::uint16_t lid : lids) {
    const NextHop& turn = next_hops_[row[lid].value()];
    turn.seen[turn.row[lid].value()] = 1;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const SwitchIdx peer = peer_switch_[entered[i]];
    const PortIdx in = fabric_.peer[entered[i]];
    for (std::size_t word = 0; word < words_[peer]; ++word) {
      Word found = pack_flags(seen_.data() + i * kPorts + word * 64);
      if (leave_open) found &= open_[peer.value() * kWords + word];
      turns_[in.value() * kWords + word] |= found;
    }
    next_hops_[fabric_.number_of(entered[i]).value()] = nowhere_;
  }
}

// Packets for `lid` that sw sent, or may have sent, over `port`.
void TransientProof::mark_arrival(SwitchIdx sw, std::uint16_t lid, PortNum port) {
  const PortIdx out = find_port(sw, port);
  if (out == kNone<PortIdx> || !is_open(out)) return;
  const SwitchIdx at = peer_switch_[out];
  mark(fabric_.peer[out], phase_->after->row(at)[lid]);
  const PortIdx old = find_port(at, phase_->before->row(at)[lid]);
  if (old != kNone<PortIdx> && is_open(old)) mark(fabric_.peer[out], phase_->before->row(at)[lid]);
}

bool TransientProof::may_arrive(SwitchIdx from, PortNum port, std::uint16_t lid) const {
  if (phase_->before->row(from)[lid] == port || phase_->after->row(from)[lid] == port) return true;
  const auto holds = [&](const std::vector<LooseEntry>& entries) {
    const auto at = std::ranges::lower_bound(entries, LooseEntry{.sw = from, .lid = lid});
    for (auto it = at; it != entries.end() && it->sw == from && it->lid == lid; ++it) {
      if (it->any || it->port == port) return true;
    }
    return false;
  };
  return holds(*phase_->unknown) || holds(*phase_->lingering);
}

void TransientProof::mark_any_egress(SwitchIdx sw, std::uint16_t lid) {
  const NodeIdx node = fabric_.switch_node[sw];
  for (const PortIdx in : fabric_.external_ports(node)) {
    if (!joins_switches(in) || !is_open(in)) continue;
    const PortIdx from = fabric_.peer[in];
    if (!may_arrive(peer_switch_[in], fabric_.number_of(from), lid)) continue;
    for (std::size_t word = 0; word < kWords; ++word)
      turns_[in.value() * kWords + word] |= open_[sw.value() * kWords + word];
  }
}

void TransientProof::mark_loose() {
  const auto mark_arrivals = [&](const LooseEntry& entry) {
    if (!entry.any) return mark_arrival(entry.sw, entry.lid, entry.port);
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[entry.sw]))
      mark_arrival(entry.sw, entry.lid, fabric_.number_of(port));
  };
  for (const LooseEntry& entry : *phase_->lingering) mark_arrivals(entry);
  for (const LooseEntry& entry : *phase_->unknown) {
    mark_arrivals(entry);
    mark_any_egress(entry.sw, entry.lid);
  }
}

void TransientProof::remove_blocked() {
  for (const Turn& turn : *phase_->blocked) {
    const PortIdx in = fabric_.port_of(fabric_.switch_node[turn.sw], turn.in);
    turns_[in.value() * kWords + turn.out.value() / 64] &= ~(Word{1} << (turn.out.value() % 64));
  }
}

std::string TransientProof::find_violation(const PhaseView& phase, const ChannelOrder& order) {
  phase_ = &phase;
  turns_ = constant_;
  std::ranges::fill(open_, 0);
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      const unsigned number = fabric_.number_of(port).value();
      if (is_open(port)) open_[sw.value() * kWords + number / 64] |= Word{1} << (number % 64);
    }
  }
  // A link that opens does so when all new entries are in: old ones never send over it, and what
  // came over it never meets one.
  mark_tables(*phase.after, *phase.after, changing_, false, false);
  mark_tables(*phase.before, *phase.before, *phase.written, true, true);
  mark_tables(*phase.before, *phase.after, *phase.written, true, false);
  mark_tables(*phase.after, *phase.before, *phase.written, true, true);
  mark_loose();
  remove_blocked();

  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    const NodeIdx node = fabric_.switch_node[sw];
    for (const PortIdx in : fabric_.external_ports(node)) {
      if (!joins_switches(in) || (*phase.use)[in] == LinkUse::Closed) continue;
      for (std::size_t word = 0; word < kWords; ++word) {
        for (Word bits = turns_[in.value() * kWords + word]; bits != 0; bits &= bits - 1) {
          const auto number = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
          if (number > fabric_.num_ports(node)) continue;  // no such port: discarded
          const PortIdx out = fabric_.port_of(node, PortNum{static_cast<std::uint8_t>(number)});
          if (!joins_switches(out) || (*phase.use)[out] == LinkUse::Closed) continue;
          if (in == out && !phase.u_turns) continue;
          if (order[fabric_.peer[in]] >= order[out]) return print_violation(in, out, order);
        }
      }
    }
  }
  return "";
}

std::string TransientProof::print_violation(PortIdx in,
                                            PortIdx out,
                                            const ChannelOrder& order) const {
  const PortIdx from = fabric_.peer[in];
  const SwitchIdx sender = peer_switch_[in], at = peer_switch_[from];
  const PortNum sends = fabric_.number_of(from), leaves = fabric_.number_of(out);
  std::string who = "packets";
  for (std::size_t lid = 1; lid < phase_->after->lids(); ++lid) {
    const auto has = [&](SwitchIdx sw, PortNum port) {
      return phase_->before->row(sw)[lid] == port || phase_->after->row(sw)[lid] == port;
    };
    if (!has(sender, sends) || !has(at, leaves)) continue;
    who = fmt::format("packets to lid {}", lid);
    break;
  }
  return fmt::format("{} can go from {} on to {}, where the certificate falls from {} to {}",
                     who,
                     print_port(fabric_, from),
                     print_port(fabric_, out),
                     order[from],
                     order[out]);
}

std::string TransientProof::find_need(const std::vector<Turn>& blocked, const TableView& tables) {
  if (blocked.empty()) return "";
  turns_ = constant_;
  mark_tables(tables, tables, changing_, false, false);
  for (const Turn& turn : blocked) {
    const NodeIdx node = fabric_.switch_node[turn.sw];
    const PortIdx in = fabric_.port_of(node, turn.in), out = fabric_.port_of(node, turn.out);
    if (fabric_.peer[in] == kNone<PortIdx> || fabric_.peer[out] == kNone<PortIdx>) continue;
    bool needed = false;
    if (joins_switches(in)) {
      needed = turns_[in.value() * kWords + turn.out.value() / 64] >> (turn.out.value() % 64) & 1;
    } else {
      const PortNum* const row = tables.row(turn.sw);
      needed = std::find(row + 1, row + tables.lids(), turn.out) != row + tables.lids();
    }
    if (needed) return fmt::format("the wanted routes need {}", print_turn(fabric_, turn));
  }
  return "";
}

}  // namespace smd
