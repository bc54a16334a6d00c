#include "smd/bin/verify_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sim-backend/topology/snapshot.h"
#include "smd/bin/text_lines.h"

namespace smd::bin {
namespace {

constexpr std::size_t kMaxRows = 65536;  // SlToVlMaps

class Joiner {
 public:
  Joiner(const sim::FabricSpec& spec, const Dumps& dumps) : dumps_(dumps) {
    out_.fabric = sim::build_snapshot(spec);
    if (auto lids = sim::read_lids(spec, fabric())) {
      out_.lids = std::move(*lids);
    } else {
      add_fault(dumps.fabric_file, 0, lids.error().context);
    }
  }

  Parsed<VerifyInput> run() {
    if (faults_.empty()) take_lids();
    if (faults_.empty()) take_tables();
    if (faults_.empty()) leave_out_unlisted();
    if (faults_.empty() && dumps_.sl2vl) take_sl_to_vl();
    if (faults_.empty() && dumps_.path_sl) take_path_sls();
    if (!faults_.empty()) return tl::unexpected<Faults>(std::move(faults_));
    return std::move(out_);
  }

 private:
  [[nodiscard]] const Fabric& fabric() const { return *out_.fabric; }

  void add_fault(const std::string& file, int line, std::string message) {
    if (faults_.size() < kMaxTextFaults) faults_.push_back({file, line, std::move(message)});
  }

  [[nodiscard]] std::string name(NodeIdx node) const {
    return fmt::format("{} ({})", fabric().node_guid[node], fabric().description[node]);
  }

  void take_lids();
  void take_lid(Lid lid, PortIdx port, int line);
  void take_switch_lids();
  void check_lids();
  void take_tables();
  void leave_out_unlisted();
  void take_sl_to_vl();
  void take_rows(SwitchIdx sw, const DumpedSlToVl& table);
  void take_path_sls();
  [[nodiscard]] SwitchIdx find_switch(Guid guid) const;

  const Dumps& dumps_;
  VerifyInput out_;
  Faults faults_;
  std::map<SlToVl, std::uint16_t> rows_;
};

SwitchIdx Joiner::find_switch(Guid guid) const {
  const auto node = fabric().find_node(guid);
  return node ? fabric().switch_of[*node] : kNone<SwitchIdx>;
}

void Joiner::take_lids() {
  std::unordered_map<Guid, PortIdx> ports;  // look-ups only
  for (const PortIdx port : fabric().peer.indices()) {
    if (fabric().is_end_port(port)) ports.emplace(fabric().port_guid[port], port);
  }
  for (std::size_t value = 0; value < dumps_.lft.owners.size(); ++value) {
    const auto& [guid, line] = dumps_.lft.owners[value];
    if (guid == Guid{} || value == 0) continue;
    const auto found = ports.find(guid);
    if (found == ports.end()) {
      add_fault(
          dumps_.lft_file,
          line,
          fmt::format(
              "port {} is not in {}; both must show the same fabric", guid, dumps_.fabric_file));
      continue;
    }
    take_lid(Lid{static_cast<std::uint16_t>(value)}, found->second, line);
  }
  take_switch_lids();
  check_lids();
}

// A file that says nothing of a port's LIDs leaves them to the dump; one that says something must
// agree with it.
void Joiner::take_lid(Lid lid, PortIdx port, int line) {
  LidMap& lids = out_.lids;
  const PortIdx owner = lids.owner_of(lid);
  if (owner == port) return;
  if (owner != kNone<PortIdx>) {
    return add_fault(dumps_.lft_file,
                     line,
                     fmt::format("LID {} belongs to {} here and to {} in {}",
                                 lid,
                                 print_port(fabric(), port),
                                 print_port(fabric(), owner),
                                 dumps_.fabric_file));
  }
  const unsigned base = lids.base[port].value();
  if (base == 0) return set_lid(lids, port, lid, 0);
  // LIDs of a port follow each other; with LMC there are as many as a power of two.
  const unsigned number = lid.value() - base;
  unsigned held = 0;
  while (lids.owner_of(Lid{static_cast<std::uint16_t>(base + held)}) == port) ++held;
  if (number != held || number >= 128) {
    return add_fault(dumps_.lft_file,
                     line,
                     fmt::format("LID {} belongs to {}, which has LIDs {} to {}",
                                 lid,
                                 print_port(fabric(), port),
                                 base,
                                 base + held - 1));
  }
  lids.owner.resize(std::max<std::size_t>(lids.owner.size(), lid.value() + std::size_t{1}),
                    kNone<PortIdx>);
  lids.owner[lid.value()] = port;
  lids.top = std::max(lids.top, lid);
  while ((1u << lids.lmc[port]) <= number) ++lids.lmc[port];
}

// OpenSM's headings name the LID of the switch.
void Joiner::take_switch_lids() {
  for (const DumpedSwitch& table : dumps_.lft.switches) {
    const SwitchIdx sw = find_switch(table.guid);
    if (sw == kNone<SwitchIdx> || table.lid == kUnassignedLid) continue;
    take_lid(table.lid, fabric().port_of(fabric().switch_node[sw], PortNum{0}), table.line);
  }
}

void Joiner::check_lids() {
  if (!faults_.empty()) return;
  std::size_t without = 0;
  std::string first;
  for (const PortIdx port : fabric().peer.indices()) {
    if (!fabric().is_end_port(port) || out_.lids.base[port] != kUnassignedLid) continue;
    if (without++ == 0) first = print_port(fabric(), port);
  }
  if (out_.lids.owner.empty()) {
    return add_fault(dumps_.lft_file,
                     0,
                     fmt::format("neither this nor {} says whose LIDs these are; take the output "
                                 "of ibnetdiscover for --fabric, or of dump_fts without -n",
                                 dumps_.fabric_file));
  }
  if (without != 0) {
    out_.notes.push_back(fmt::format(
        "{} end ports without a LID were left out: {}{}", without, first, without > 1 ? " …" : ""));
  }
}

void Joiner::take_tables() {
  Lid top = out_.lids.top;
  for (const DumpedSwitch& table : dumps_.lft.switches) {
    if (!table.entries.empty()) top = std::max(top, table.entries.back().lid);
  }
  out_.routing.engine = "dump";
  out_.routing.lft = ForwardingTables{fabric().switch_count(), top};
  std::vector<char> seen(fabric().switch_count(), 0);
  for (const DumpedSwitch& table : dumps_.lft.switches) {
    const SwitchIdx sw = find_switch(table.guid);
    if (sw == kNone<SwitchIdx>) {
      add_fault(dumps_.lft_file,
                table.line,
                fmt::format("switch {} is not in {}; both must show the same fabric",
                            table.guid,
                            dumps_.fabric_file));
      continue;
    }
    seen[sw.value()] = 1;
    for (const DumpedEntry& entry : table.entries)
      out_.routing.lft.set_route(sw, entry.lid, entry.port);
  }
  for (const SwitchIdx sw : fabric().switch_node.indices()) {
    if (seen[sw.value()]) continue;
    add_fault(dumps_.lft_file,
              0,
              fmt::format("no table of switch {}; every switch of {} needs one",
                          name(fabric().switch_node[sw]),
                          dumps_.fabric_file));
  }
}

// dump_fts of infiniband-diags up to 44 does not list the last LID when it is a multiple of the
// block size; nothing can be said of it then.
void Joiner::leave_out_unlisted() {
  Lid top;
  for (const DumpedSwitch& table : dumps_.lft.switches) top = std::max(top, table.top);
  const bool listed = std::ranges::any_of(dumps_.lft.switches, [&](const DumpedSwitch& table) {
    return !table.entries.empty() && table.entries.back().lid >= top;
  });
  const PortIdx owner = out_.lids.owner_of(top);
  if (top.value() % kLftBlockSize != 0 || listed || owner == kNone<PortIdx>) return;
  out_.lids.owner[top.value()] = kNone<PortIdx>;
  if (out_.lids.base[owner] == top) out_.lids.base[owner] = kUnassignedLid;
  out_.notes.push_back(fmt::format(
      "LID {} of {} was left out: dump_fts does not list the last LID when it is a multiple of {}; "
      "OpenSM's opensm-lfts.dump does",
      top,
      print_port(fabric(), owner),
      kLftBlockSize));
}

void Joiner::take_sl_to_vl() {
  SlToVlMaps& lanes = out_.routing.sl_to_vl;
  lanes = SlToVlMaps{fabric()};
  // What no row is dumped for: turns to port 0, and to ports without a cable.
  lanes.add_row(SlToVl{});
  rows_.emplace(SlToVl{}, std::uint16_t{0});
  std::vector<char> seen(fabric().switch_count(), 0);
  for (const DumpedSlToVl& table : *dumps_.sl2vl) {
    const SwitchIdx sw = find_switch(table.guid);
    if (sw == kNone<SwitchIdx>) {
      add_fault(dumps_.sl2vl_file,
                table.line,
                fmt::format("switch {} is not in {}; both must show the same fabric",
                            table.guid,
                            dumps_.fabric_file));
      continue;
    }
    seen[sw.value()] = 1;
    take_rows(sw, table);
  }
  for (const SwitchIdx sw : fabric().switch_node.indices()) {
    if (seen[sw.value()]) continue;
    add_fault(dumps_.sl2vl_file,
              0,
              fmt::format("no table of switch {}; every switch of {} needs one",
                          name(fabric().switch_node[sw]),
                          dumps_.fabric_file));
  }
}

void Joiner::take_rows(SwitchIdx sw, const DumpedSlToVl& table) {
  const NodeIdx node = fabric().switch_node[sw];
  const unsigned ports = fabric().num_ports(node);
  std::vector<unsigned> inputs(ports + 1, 0);
  for (const DumpedRow& row : table.rows) {
    if (row.in.value() > ports || row.out.value() > ports) {
      return add_fault(dumps_.sl2vl_file,
                       table.line,
                       fmt::format("port {} of {}, which has ports 0 to {}",
                                   std::max(row.in, row.out),
                                   name(node),
                                   ports));
    }
    const auto [known, is_new] =
        rows_.emplace(row.vls, static_cast<std::uint16_t>(rows_.size() % kMaxRows));
    if (is_new && rows_.size() > kMaxRows) {
      return add_fault(dumps_.sl2vl_file,
                       table.line,
                       fmt::format("more than {} different rows in the fabric", kMaxRows));
    }
    if (is_new) out_.routing.sl_to_vl.add_row(row.vls);
    out_.routing.sl_to_vl.set_row(sw, row.in, row.out, known->second);
    ++inputs[row.out.value()];
  }
  for (const PortIdx port : fabric().external_ports(node)) {
    const PortNum number = fabric().number_of(port);
    if (fabric().peer[port] == kNone<PortIdx> || inputs[number.value()] == ports + 1) continue;
    return add_fault(dumps_.sl2vl_file,
                     table.line,
                     fmt::format("{} rows for output {} of {}; one for each input, 0 to {}",
                                 inputs[number.value()],
                                 number,
                                 name(node),
                                 ports));
  }
}

// End ports at one switch may have different SLs to one LID.
void Joiner::take_path_sls() {
  const Lid top = out_.routing.lft.top();
  SlSets& offered = out_.offered.emplace(fabric().switch_count(), top);
  SlSets of_hosts{fabric().switch_count(), top};
  bool from_switches = false;
  for (const DumpedPath& path : *dumps_.path_sl) {
    const PortIdx source = out_.lids.owner_of(path.source);
    if (source == kNone<PortIdx> || out_.lids.owner_of(path.destination) == kNone<PortIdx>) {
      add_fault(dumps_.path_sl_file,
                path.line,
                fmt::format("a path from LID {} to {}, which nobody in {} has",
                            path.source,
                            path.destination,
                            dumps_.fabric_file));
      continue;
    }
    const SwitchIdx own = fabric().switch_at(source);
    const SwitchIdx sw = own != kNone<SwitchIdx> ? own : fabric().switch_at(fabric().peer[source]);
    if (sw == kNone<SwitchIdx>) continue;
    offered.add(sw, path.destination, path.sl.value());
    if (own == kNone<SwitchIdx>) of_hosts.add(sw, path.destination, path.sl.value());
    from_switches = from_switches || own != kNone<SwitchIdx>;
  }
  if (from_switches) out_.of_hosts = std::move(of_hosts);
  std::uint64_t unsaid = 0;
  for (const SwitchIdx sw : fabric().switch_node.indices()) {
    for (std::size_t value = 0; value < out_.lids.owner.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (out_.lids.owner[value] == kNone<PortIdx> || offered.of(sw, lid) != 0) continue;
      offered.add(sw, lid, 0);
      ++unsaid;
    }
  }
  if (unsaid == 0) return;
  out_.notes.push_back(
      fmt::format("no record of {} paths between switches and LIDs: taken for SL 0", unsaid));
}

}  // namespace

Parsed<VerifyInput> join_dumps(const sim::FabricSpec& spec, const Dumps& dumps) {
  return Joiner(spec, dumps).run();
}

}  // namespace smd::bin
