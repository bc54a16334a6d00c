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
  tables_ = ForwardingTables::without_rows(
      switches, Lid{static_cast<std::uint16_t>(lids == 0 ? 0 : lids - 1)});
  for (SwitchIdx sw{0}; sw.value() < std::min(tables.switches(), switches); sw = next(sw))
    tables_.set_row(sw, tables, sw);
}

TransientProof::TransientProof(const Fabric& fabric,
                               const TableView& tables,
                               const LidList& constant,
                               const LidList& changing,
                               const KnownTurns* counted)
    : fabric_(fabric),
      is_counted_(tables.lids(), 0),
      peer_switch_(fabric.port_count(), kNone<SwitchIdx>),
      row_(fabric.port_count()),
      open_(fabric.switch_count() * kWords, 0),
      carrying_(fabric.switch_count() * kWords, 0),
      seen_(kPorts * kPorts, 0) {
  std::uint32_t words = 0;
  for (const NodeIdx node : fabric.switch_node) {
    words_.push_back(fabric.num_ports(node) / 64 + 1);
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx>) peer_switch_[port] = fabric.switch_at(peer);
      if (!joins_switches(port)) continue;
      row_[port] = {words, static_cast<std::uint32_t>(words_.back())};
      words += row_[port].words;
    }
  }
  turns_.assign(words, 0);
  if (counted != nullptr && !take_counted(*counted)) {
    changed_.clear();
    entrances_.clear();
    std::ranges::fill(is_counted_, 0);
  }
  changing_ = uncounted(changing);
  mark_tables(tables, tables, uncounted(constant), false, false);
  constant_ = std::move(turns_);
}

LidList TransientProof::uncounted(const LidList& lids) const {
  LidList out;
  std::ranges::copy_if(
      lids, std::back_inserter(out), [&](std::uint16_t lid) { return is_counted_[lid] == 0; });
  return out;
}

// The turns of counted LIDs that lead from an unchanged entry to another. False, and no turn
// marked, where more would be taken away than was counted.
bool TransientProof::take_counted(const KnownTurns& counted) {
  for (std::size_t lid = 1; lid < std::min(is_counted_.size(), counted.lids->owner.size()); ++lid)
    is_counted_[lid] = counted.lids->owner[lid] != kNone<PortIdx>;
  TurnCounts rest = *counted.turns;
  if (!find_changed(counted, rest)) return false;
  for (const NodeIdx node : fabric_.switch_node) {
    for (const PortIdx in : fabric_.external_ports(node)) {
      if (!joins_switches(in)) continue;
      std::ranges::copy(rest.outs(in), turns_from(in).begin());
    }
  }
  return true;
}

// Takes the turns to and from every changed entry from `rest`. Neighbour by neighbour over all
// changed entries of a switch, since those go along its rows.
bool TransientProof::find_changed(const KnownTurns& counted, TurnCounts& rest) {
  const TableView& tables = *counted.tables;
  bool all_counted = true;
  const auto take_away = [&](PortIdx in, PortNum out) {
    if (out.value() >= rest.row(in).size()) return;  // no such port
    if (rest.count(in, out) == 0) {
      all_counted = false;
    } else {
      rest.take_away(in, out);
    }
  };
  for (const ChangingEntry& entry : counted.changed) {
    if (is_counted_[entry.lid]) changed_.push_back({entry, 0});
  }
  const auto is_changed = [&](SwitchIdx sw, std::uint16_t lid) {
    return std::ranges::binary_search(changed_, ChangingEntry{sw, lid}, {}, &Changed::entry);
  };
  std::vector<std::pair<std::uint32_t, PortIdx>> found;  // changed entry, port of entry
  for (std::uint32_t first = 0, last = 0; first < changed_.size(); first = last) {
    const SwitchIdx sw = changed_[first].entry.sw;
    while (last < changed_.size() && changed_[last].entry.sw == sw) ++last;
    found.clear();
    for (const PortIdx in : fabric_.external_ports(fabric_.switch_node[sw])) {
      if (!joins_switches(in)) continue;
      const SwitchIdx from = peer_switch_[in];
      const PortNum sends = fabric_.number_of(fabric_.peer[in]);
      const PortNum* const row = tables.row(from);
      for (std::uint32_t i = first; i < last; ++i) {
        const std::uint16_t lid = changed_[i].entry.lid;
        if (row[lid] == sends && !is_changed(from, lid)) found.emplace_back(i, in);
      }
    }
    std::ranges::sort(found);
    auto at = found.begin();
    for (std::uint32_t i = first; i < last; ++i) {
      const std::uint16_t lid = changed_[i].entry.lid;
      const PortNum leaves = tables.row(sw)[lid];
      for (; at != found.end() && at->first == i; ++at) {
        entrances_.push_back(at->second);
        take_away(at->second, leaves);
      }
      changed_[i].end_of_entrances = static_cast<std::uint32_t>(entrances_.size());
      if (const PortIdx out = find_port(sw, leaves); out != kNone<PortIdx>)
        take_away(fabric_.peer[out], tables.row(peer_switch_[out])[lid]);
    }
  }
  return all_counted;
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
      turns_from(in)[word] |= found;
    }
    next_hops_[fabric_.number_of(entered[i]).value()] = nowhere_;
  }
}

// As mark_tables() does in full, of the pairs that have a changed entry.
void TransientProof::mark_changed(const TableView& before,
                                  const TableView& after,
                                  const LidList& written) {
  std::vector<char> is_written(after.lids(), 0);
  for (const std::uint16_t lid : written) is_written[lid] = 1;
  std::size_t entrance = 0;
  for (const Changed& changed : changed_) {
    const auto [sw, lid] = changed.entry;
    const PortNum old = before.row(sw)[lid], now = after.row(sw)[lid];
    for (; entrance < changed.end_of_entrances; ++entrance) {
      const PortIdx in = entrances_[entrance];
      mark(in, now);
      if (is_written[lid] && is_open(fabric_.peer[in]) && opens_to(sw, old)) mark(in, old);
    }
    const auto mark_next = [&](PortIdx out, const TableView& leave, bool leave_open) {
      const SwitchIdx at = peer_switch_[out];
      const PortNum leaves = leave.row(at)[lid];
      if (!leave_open || opens_to(at, leaves)) mark(fabric_.peer[out], leaves);
    };
    const PortIdx out = find_port(sw, now);
    if (out != kNone<PortIdx>) mark_next(out, after, false);
    if (!is_written[lid]) continue;
    if (out != kNone<PortIdx> && is_open(out)) mark_next(out, before, true);
    const PortIdx old_out = find_port(sw, old);
    if (old_out == kNone<PortIdx> || !is_open(old_out)) continue;
    mark_next(old_out, before, true);
    mark_next(old_out, after, false);
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
    const std::span<Word> turns = turns_from(in);
    for (std::size_t word = 0; word < turns.size(); ++word)
      turns[word] |= open_[sw.value() * kWords + word];
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
    const std::span<Word> turns = turns_from(in);
    if (turn.out.value() / 64 < turns.size())
      turns[turn.out.value() / 64] &= ~(Word{1} << (turn.out.value() % 64));
  }
}

std::string TransientProof::find_violation(const PhaseView& phase, const ChannelOrder& order) {
  phase_ = &phase;
  turns_ = constant_;
  std::ranges::fill(open_, 0);
  std::ranges::fill(carrying_, 0);
  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    for (const PortIdx port : fabric_.external_ports(fabric_.switch_node[sw])) {
      const unsigned number = fabric_.number_of(port).value();
      const Word bit = Word{1} << (number % 64);
      if (is_open(port)) open_[sw.value() * kWords + number / 64] |= bit;
      if (carries(port)) carrying_[sw.value() * kWords + number / 64] |= bit;
    }
  }
  // A link that opens does so when all new entries are in: old ones never send over it, and what
  // came over it never meets one.
  const LidList columns = uncounted(*phase.written);
  mark_tables(*phase.after, *phase.after, changing_, false, false);
  mark_tables(*phase.before, *phase.before, columns, true, true);
  mark_tables(*phase.before, *phase.after, columns, true, false);
  mark_tables(*phase.after, *phase.before, columns, true, true);
  mark_changed(*phase.before, *phase.after, *phase.written);
  mark_loose();
  remove_blocked();

  for (const SwitchIdx sw : fabric_.switch_node.indices()) {
    if (!respects(sw, order)) return find_violation_at(sw, order);
  }
  return "";
}

// A channel into the switch may only turn to those out of it that have a higher place. Flags are
// bytes, so that a row of places is compared at once.
bool TransientProof::respects(SwitchIdx sw, const ChannelOrder& order) const {
  const NodeIdx node = fabric_.switch_node[sw];
  const std::size_t ports = fabric_.num_ports(node) + 1u;
  const std::uint32_t* const places = order.raw().data() + fabric_.first_port[node];
  for (const PortIdx in : fabric_.external_ports(node)) {
    if (!carries(in)) continue;
    const std::span<const Word> turns = turns_from(in);
    const std::uint32_t place = order[fabric_.peer[in]];
    const unsigned own = fabric_.number_of(in).value();
    for (std::size_t word = 0; word < turns.size(); ++word) {
      std::array<std::uint8_t, 64> too_low{};
      const std::size_t end = std::min<std::size_t>(ports - word * 64, too_low.size());
      for (std::size_t at = 0; at < end; ++at) too_low[at] = places[word * 64 + at] <= place;
      Word found = turns[word] & carrying_[sw.value() * kWords + word] & pack_flags(too_low.data());
      if (!phase_->u_turns && word == own / 64) found &= ~(Word{1} << (own % 64));
      if (found != 0) return false;
    }
  }
  return true;
}

// The first one in the order of the ports.
std::string TransientProof::find_violation_at(SwitchIdx sw, const ChannelOrder& order) const {
  const NodeIdx node = fabric_.switch_node[sw];
  for (const PortIdx in : fabric_.external_ports(node)) {
    if (!carries(in)) continue;
    const std::span<const Word> turns = turns_from(in);
    for (std::size_t word = 0; word < turns.size(); ++word) {
      for (Word bits = turns[word]; bits != 0; bits &= bits - 1) {
        const auto number = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
        if (number > fabric_.num_ports(node)) continue;  // no such port: discarded
        const PortIdx out = fabric_.port_of(node, PortNum{static_cast<std::uint8_t>(number)});
        if (!carries(out)) continue;
        if (in == out && !phase_->u_turns) continue;
        if (order[fabric_.peer[in]] >= order[out]) return print_violation(in, out, order);
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
  mark_changed(tables, tables, {});
  for (const Turn& turn : blocked) {
    const NodeIdx node = fabric_.switch_node[turn.sw];
    const PortIdx in = fabric_.port_of(node, turn.in), out = fabric_.port_of(node, turn.out);
    if (fabric_.peer[in] == kNone<PortIdx> || fabric_.peer[out] == kNone<PortIdx>) continue;
    bool needed = false;
    if (joins_switches(in)) {
      const std::span<const Word> turns = turns_from(in);
      needed = turn.out.value() / 64 < turns.size() &&
               (turns[turn.out.value() / 64] >> (turn.out.value() % 64) & 1) != 0;
    } else {
      const PortNum* const row = tables.row(turn.sw);
      needed = std::find(row + 1, row + tables.lids(), turn.out) != row + tables.lids();
    }
    if (needed) return fmt::format("the wanted routes need {}", print_turn(fabric_, turn));
  }
  return "";
}

}  // namespace smd
