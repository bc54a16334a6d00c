// 001-collectives: broadcasts and sums by multicast and in switches, beside those of messages to
// one host each, on a fat tree of today's links.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim {
namespace {

constexpr unsigned kPacket = 4096;  // bytes of payload

constexpr ClaimSpec kClaims[] = {
    {.id = "C1",
     .text = "a broadcast by multicast ends before one along a binomial tree, where copies leave "
             "together",
     .source = "ours",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times the better binomial one",
     .expected = "less than 1"},
    {.id = "C2",
     .text = "and where switches copy in turn",
     .source = "ours",
     .measured = "{least:.3f} to {most:.3f} times the better binomial one",
     .expected = "less than 1"},
    {.id = "C3",
     .text = "together, a broadcast takes what the longest way and one link take: the closed form",
     .source = "ours",
     .must_hold = true,
     .measured = "{least:.4f} to {most:.4f} times",
     .expected = "0.99 to 1.01 times"},
    {.id = "C4",
     .text = "a binomial broadcast of the whole data takes as many transfers as doublings, at the "
             "largest size",
     .source = "ours",
     .must_hold = true,
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "1 to 1.2 times"},
    {.id = "C5",
     .text = "a sum in switches ends before one around a ring, where copies leave together",
     .source = "ours",
     .measured = "{least:.4f} to {most:.4f} times",
     .expected = "less than 1"},
    {.id = "C5-turn",
     .text = "and where switches copy in turn",
     .source = "ours",
     .measured = "{least:.4f} to {most:.4f} times",
     .expected = "less than 1"},
    {.id = "C6",
     .text = "and takes half of the ring's time at the largest size and fewest ranks, together",
     .source = "ours",
     .measured = "{least:.3f} times",
     .expected = "0.4 to 0.6 times"},
    {.id = "C7",
     .text = "a sum that comes back by multicast ends before one that comes back along the tree, "
             "copies together",
     .source = "ours",
     .measured = "{least:.3f} to {most:.3f} times",
     .expected = "less than 1"},
    {.id = "C8",
     .text = "around the ring large data are summed sooner than along the tree, with few ranks",
     .source = "ours: the usual reason to switch between the two",
     .measured = "{least:.3f} times",
     .expected = "less than 1"},
    {.id = "C9",
     .text = "and small data with many ranks far later",
     .source = "ours: the usual reason to switch between the two",
     .measured = "{least:.1f} times",
     .expected = "more than 10"},
};

struct CollectiveRow {
  const char* name;
  CollectiveKind kind;
  CopyOrder copies = CopyOrder::InTurn;
  unsigned segment = 0;
};

constexpr std::array kRows{
    CollectiveRow{"binomial", CollectiveKind::BinomialBroadcast},
    CollectiveRow{
        "binomial by 4 KiB", CollectiveKind::BinomialBroadcast, CopyOrder::InTurn, kPacket},
    CollectiveRow{"multicast in turn", CollectiveKind::MulticastBroadcast},
    CollectiveRow{"multicast together", CollectiveKind::MulticastBroadcast, CopyOrder::Together},
    CollectiveRow{"ring", CollectiveKind::RingAllReduce},
    CollectiveRow{"tree", CollectiveKind::TreeAllReduce},
    CollectiveRow{"tree and multicast in turn", CollectiveKind::MulticastAllReduce},
    CollectiveRow{
        "tree and multicast together", CollectiveKind::MulticastAllReduce, CopyOrder::Together},
    CollectiveRow{"tree and multicast by 4 KiB",
                  CollectiveKind::MulticastAllReduce,
                  CopyOrder::Together,
                  kPacket},
    CollectiveRow{"in switches in turn", CollectiveKind::InNetworkAllReduce},
    CollectiveRow{"in switches together", CollectiveKind::InNetworkAllReduce, CopyOrder::Together},
};

struct Sizes {
  std::string fabric;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint64_t> bytes;
};

Sizes sizes_of(bool quick) {
  if (quick) return {"fat-tree:k=12,levels=3,hosts=216", {36, 216}, {64, 4096, 1 << 18}};
  return {"fat-tree:k=36,levels=3,hosts=1728", {72, 432, 1728}, {64, 4096, 1 << 20}};
}

struct Outcome {
  double micros = 0;
  std::uint64_t packets = 0;  // that hosts and switches made
  std::uint64_t hops = 0;     // channels out of switches that packets took
  std::uint32_t depth = 0;    // of the group's tree
};

Result<Outcome> run_one(const CollectiveRow& row,
                        const std::string& fabric,
                        std::uint32_t ranks,
                        std::uint64_t bytes) {
  Scenario s;
  s.file = row.name;
  s.fabric = fabric;
  s.program.engine = "ftree";
  s.packet.switches.copies = row.copies;
  s.groups = {GroupText{.line = 1, .count = ranks}};
  s.traffic.collective = row.kind;
  s.traffic.bytes = bytes;
  s.traffic.segment = row.segment;
  const auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  const PointResult point = prepared->run(1, 1);
  if (!point.audit.empty()) return fail(Errc::Invalid, point.audit);
  if (!point.complete || point.stats.discards() > 0) {
    return fail(Errc::Invalid, fmt::format("{} of {} ranks did not end", row.name, ranks));
  }
  return Outcome{.micros = double(point.completed_at) / kMicro,
                 .packets = point.stats.generated,
                 .hops = point.stats.hops,
                 .depth = prepared->groups().groups[0].quality.depth};
}

double link_micros(unsigned bytes) {
  const LinkModel links = PacketOptions::modern().links;
  const auto byte_time = byte_time_of(LinkWidth::X4, LinkSpeed::Edr);
  return double(transfer_time(byte_time, bytes + links.header_bytes)) / kMicro;
}

/// Of data in packets on one link.
double transfer_micros(std::uint64_t bytes) {
  double out = 0;
  for (; bytes > kPacket; bytes -= kPacket) out += link_micros(kPacket);
  return out + link_micros(static_cast<unsigned>(bytes));
}

/// Head by head over the deepest way, and then all of it: a switch hides nothing of a packet.
double broadcast_micros(std::uint64_t bytes, std::uint32_t depth) {
  const PacketOptions options = PacketOptions::modern();
  const SwitchModel& sw = options.switches;
  const Picos pass = sw.routing + sw.mapping + sw.crossbar_arbitration + sw.crossbar_setup +
                     sw.link_arbitration + options.links.propagation;
  const Picos heads = options.adapters.latency + options.links.propagation + (depth + 1) * pass;
  return double(heads) / kMicro + transfer_micros(bytes);
}

Result<Findings> run_collectives(const ExperimentOptions& options) {
  const Sizes sizes = sizes_of(options.quick);

  struct Case {
    std::size_t row, ranks, bytes;
  };

  std::vector<Case> cases;
  for (std::size_t r = 0; r < sizes.ranks.size(); ++r) {
    for (std::size_t b = 0; b < sizes.bytes.size(); ++b) {
      for (std::size_t v = 0; v < kRows.size(); ++v) cases.push_back({v, r, b});
    }
  }
  const auto outcomes = collect<Outcome>(options.jobs, cases.size(), [&](std::size_t i) {
    const Case& at = cases[i];
    return run_one(kRows[at.row], sizes.fabric, sizes.ranks[at.ranks], sizes.bytes[at.bytes]);
  });
  if (!outcomes) return tl::unexpected<Error>(outcomes.error());

  Findings out{.plot = {.title = fmt::format("Collectives of {} hosts", sizes.ranks.back()),
                        .x_label = "bytes",
                        .y_label = "us",
                        .log_x = true,
                        .log_y = true}};
  Range together, in_turn, closed, doublings, switches, switches_in_turn, back;
  double large = 0, ring_large = 0, ring_small = 0;
  for (std::size_t first = 0; first < cases.size(); first += kRows.size()) {
    const std::uint32_t ranks = sizes.ranks[cases[first].ranks];
    const std::uint64_t bytes = sizes.bytes[cases[first].bytes];
    std::map<std::string, double> micros;
    for (std::size_t v = 0; v < kRows.size(); ++v) {
      const Outcome& each = (*outcomes)[first + v];
      micros[kRows[v].name] = each.micros;
      out.add_row({{"way", kRows[v].name},
                   {"ranks", ranks},
                   {"bytes", bytes},
                   {"us", each.micros},
                   {"link_times", each.micros / transfer_micros(bytes)},
                   {"packets", each.packets},
                   {"channels", each.hops}});
      if (ranks == sizes.ranks.back()) {
        out.plot.add_point(kRows[v].name, double(bytes), each.micros);
      }
    }
    const bool is_largest = bytes == sizes.bytes.back(), is_fewest = ranks == sizes.ranks[0];
    const double binomial = std::min(micros["binomial"], micros["binomial by 4 KiB"]);
    together.add(micros["multicast together"] / binomial);
    in_turn.add(micros["multicast in turn"] / binomial);
    closed.add(micros["multicast together"] / broadcast_micros(bytes, (*outcomes)[first].depth));
    if (is_largest) {
      doublings.add(micros["binomial"] / (std::bit_width(ranks - 1) * transfer_micros(bytes)));
    }
    switches.add(micros["in switches together"] / micros["ring"]);
    switches_in_turn.add(micros["in switches in turn"] / micros["ring"]);
    back.add(micros["tree and multicast together"] / micros["tree"]);
    if (is_largest && is_fewest) {
      large = micros["in switches together"] / micros["ring"];
      ring_large = micros["ring"] / micros["tree"];
    }
    if (bytes == sizes.bytes[0] && ranks == sizes.ranks.back()) {
      ring_small = micros["ring"] / micros["tree"];
    }
  }
  out.verdicts = decide(kClaims,
                        {{"C1", together},
                         {"C2", in_turn},
                         {"C3", closed},
                         {"C4", doublings},
                         {"C5", switches},
                         {"C5-turn", switches_in_turn},
                         {"C6", Range(large)},
                         {"C7", back},
                         {"C8", Range(ring_large)},
                         {"C9", Range(ring_small)}});
  return out;
}

}  // namespace

std::vector<Experiment> collective_tables() {
  return {{.name = "001-collectives",
           .source = "ours",
           .about = "Broadcasts and sums by multicast and in switches, by size and ranks",
           .claims = kClaims,
           .run = run_collectives}};
}

}  // namespace smd::sim
