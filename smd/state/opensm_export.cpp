// guid2lid, opensm-sa.dump and definitions of partitions as OpenSM 3.3 writes or reads them.
#include "smd/state/opensm_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "smd/policy/partition_orders.h"

namespace smd {

namespace {

constexpr unsigned kExactly = 2U << 6;  // selector of MTU, rate and lifetime
constexpr std::size_t kGuidsPerBlock = 8;

/// IBA 15.2.5.17: Scope in the upper half, JoinState in the lower.
unsigned scope_state(const Group& group, unsigned state) { return group.traits.scope << 4 | state; }

std::string print_opensm_gid(const Gid& gid) {
  return fmt::format("0x{:016x}:0x{:016x}", gid.prefix, gid.guid.value());
}

/// Sixteen bytes as two numbers.
std::string print_bytes(const std::uint8_t* bytes) {
  std::string text = "0x";
  for (std::size_t i = 0; i < 16; ++i)
    text += fmt::format("{}{:02x}", i == 8 ? ":0x" : "", bytes[i]);
  return text;
}

std::string print_group(const Group& group, std::uint64_t prefix) {
  const GroupTraits& traits = group.traits;
  std::string text = fmt::format(
      "MC Group 0x{:04x} {}: mgid={} port_gid={} qkey=0x{:08x} mlid=0x{:04x} mtu=0x{:02x}"
      " tclass=0x{:02x} pkey=0x{:04x} rate=0x{:02x} pkt_life=0x{:02x} sl_flow_hop=0x{:08x}"
      " scope_state=0x{:02x} proxy_join=0x0\n\n",
      group.mlid.value(),
      group.permanent ? " (well known)" : "",
      print_opensm_gid(group.mgid),
      print_opensm_gid({}),
      traits.q_key,
      group.mlid.value(),
      kExactly | traits.mtu,
      traits.tclass,
      traits.p_key.value(),
      kExactly | traits.rate,
      kExactly | traits.life_time,
      static_cast<std::uint32_t>(traits.sl) << 28 | traits.flow_label << 8 | traits.hop_limit,
      scope_state(group, join_state::kFull));
  for (const auto& [port, member] : group.members) {
    fmt::format_to(std::back_inserter(text),
                   "mcm_port: port_gid={} scope_state=0x{:02x} proxy_join=0x{:x}\n\n",
                   print_opensm_gid({prefix, port}),
                   scope_state(group, member.join_state),
                   member.proxy_join ? 1 : 0);
  }
  return text;
}

std::string print_subscription(const sa::Subscriber& who,
                               const sa::Subscription& what,
                               Lid lid,
                               std::uint64_t prefix) {
  constexpr std::uint32_t kGsiQKey = 0x80010000;
  const sa::InformInfo& info = what.info;
  return fmt::format(
      "InformInfo Record: subscriber_gid={} subscriber_enum=0x{:x} InformInfo: gid={}"
      " lid_range_begin=0x{:x} lid_range_end=0x{:x} is_generic=0x{:x} subscribe=0x1"
      " trap_type=0x{:x} trap_num=0x{:x} qpn_resp_time_val=0x{:x} node_type=0x{:06x}"
      " rep_addr: lid=0x{:04x} path_bits=0x00 static_rate=0x00 remote_qp=0x{:08x}"
      " remote_qkey=0x{:08x} pkey_ix=0x{:04x} sl=0x{:02x}\n\n",
      print_opensm_gid({prefix, who.port}),
      what.number,
      print_opensm_gid(info.gid),
      info.lid_first.value(),
      info.lid_last.value(),
      info.is_generic,
      info.type,
      info.trap_or_device,
      who.qp << 8 | info.resp_time,
      info.producer_or_vendor,
      lid.value(),
      who.qp,
      kGsiQKey,
      what.pkey_index,
      what.sl);
}

/// Seconds; nothing when it is over.
std::optional<std::uint32_t> lease_left(const sa::Service& service, const Moment& now) {
  if (!service.expires) return sa::kForever;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*service.expires - now.runtime).count();
  if (left <= 0) return std::nullopt;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(left, sa::kForever - 1));
}

std::string print_service(const sa::ServiceRecord& record,
                          std::string_view name,
                          std::uint32_t left,
                          std::int64_t wall_s) {
  const std::uint8_t* data = record.data.data();
  return fmt::format(
      "Service Record: id=0x{:016x} gid={} pkey=0x{:x} lease=0x{:x} key={} name='{}' data8={}"
      " data16={} data32={} data64={} modified_time=0x{:x} lease_period=0x{:x}\n\n",
      record.id,
      print_opensm_gid(record.gid),
      record.p_key.value(),
      record.lease_s,
      print_bytes(record.key.data()),
      name,
      print_bytes(data),
      print_bytes(data + 16),
      print_bytes(data + 32),
      print_bytes(data + 48),
      wall_s,
      left);
}

void add_service(const sa::Service& service, const Moment& now, OpensmDumpText& out) {
  const auto left = lease_left(service, now);
  if (!left) return;
  const auto& bytes = service.record.name;
  const auto end = std::ranges::find(bytes, 0);
  const std::string name(bytes.begin(), end);
  // OpenSM reads a name up to the next quote.
  const bool writable = name.find_first_of("\n\r'") == std::string::npos &&
                        std::all_of(end, bytes.end(), [](std::uint8_t each) { return each == 0; });
  if (!writable) {
    ++out.left_out;
    return;
  }
  out.text += print_service(service.record, name, *left, now.wall_ms / 1000);
  ++out.services;
}

void add_aliases(Guid port, std::vector<Guid> table, Lid lid, OpensmDumpText& out) {
  table.resize((table.size() + kGuidsPerBlock - 1) / kGuidsPerBlock * kGuidsPerBlock);
  for (std::size_t first = 0; first < table.size(); first += kGuidsPerBlock) {
    const auto block = table.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::all_of(block, block + kGuidsPerBlock, [](Guid each) { return each == Guid{}; }))
      continue;
    if (first == 0) table[0] = port;
    fmt::format_to(std::back_inserter(out.text),
                   "GUIDInfo Record: base_guid={} lid=0x{:04x} block_num=0x{:x}",
                   port,
                   lid.value(),
                   first / kGuidsPerBlock);
    for (std::size_t i = 0; i < kGuidsPerBlock; ++i)
      fmt::format_to(std::back_inserter(out.text), " guid{}={}", i, table[first + i]);
    out.text += "\n\n";
    ++out.aliases;
  }
}

std::string_view text_of(const StateBundle& bundle, const std::string& kind) {
  const auto found = bundle.find(kind);
  return found == bundle.end() ? std::string_view{} : found->second;
}

std::string describe(const OpensmDumpText& dump) {
  return fmt::format(
      "{} multicast groups, {} subscriptions, {} services, {} tables of alias GUIDs; left out: {}",
      dump.groups,
      dump.subscriptions,
      dump.services,
      dump.aliases,
      dump.left_out);
}

}  // namespace

OpensmDumpText print_opensm_dump(const ClientRecords& records, const DumpContext& context) {
  OpensmDumpText out;
  for (const auto& [port, table] : records.aliases) {
    if (const auto found = context.lids.find(port); found != context.lids.end()) {
      add_aliases(port, table, found->second.base, out);
    } else {
      ++out.left_out;
    }
  }
  for (const Group& group : records.groups) out.text += print_group(group, context.subnet_prefix);
  out.groups = records.groups.size();
  for (const auto& [who, list] : records.subscriptions) {
    const auto found = context.lids.find(who.port);
    for (const sa::Subscription& each : list) {
      if (found == context.lids.end()) {
        ++out.left_out;
        continue;
      }
      out.text += print_subscription(who, each, found->second.base, context.subnet_prefix);
      ++out.subscriptions;
    }
  }
  for (const sa::Service& each : records.services) add_service(each, context.now, out);
  return out;
}

std::string print_guid2lid(const LidBook& book) {
  std::string text;
  for (const auto& [guid, record] : book) {
    const unsigned first = record.base.value();
    fmt::format_to(std::back_inserter(text),
                   "{} 0x{:04x} 0x{:04x}\n\n",
                   guid,
                   first,
                   first + (1U << record.lmc) - 1);
  }
  return text;
}

Parsed<std::vector<OpensmFile>> export_for_opensm(const StateBundle& bundle,
                                                  const ExportContext& context) {
  const auto book = parse_lid_book(text_of(bundle, "lids"), context.from);
  if (!book) return tl::unexpected<Faults>(book.error());
  if (book->empty()) return fault(context.from, 0, "has no LIDs, which is what OpenSM would need");
  std::vector<OpensmFile> files{
      {"guid2lid", print_guid2lid(*book), fmt::format("{} ports with LIDs", book->size())}};
  const Moment now{.runtime = {}, .wall_ms = context.wall_ms};
  const auto records = parse_records(text_of(bundle, "records"), context.from, now);
  if (!records) return tl::unexpected<Faults>(records.error());
  OpensmDumpText dump = print_opensm_dump(
      *records, {.lids = *book, .subnet_prefix = context.subnet_prefix, .now = now});
  if (!dump.text.empty() || dump.left_out > 0) {
    std::string note = describe(dump);
    files.push_back({"opensm-sa.dump", std::move(dump.text), std::move(note)});
  }
  const auto orders = parse_partition_orders(text_of(bundle, "partition_orders"), context.from);
  if (!orders) return tl::unexpected<Faults>(orders.error());
  if (!orders->empty()) {
    files.push_back(
        {"partitions.ordered",
         print_as_definitions(*orders),
         fmt::format("{} partitions by order, for the end of partitions.conf", orders->size())});
  }
  return files;
}

}  // namespace smd
