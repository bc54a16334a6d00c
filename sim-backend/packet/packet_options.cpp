#include "sim-backend/packet/packet_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/packet/credits.h"

namespace smd::sim {
namespace {

constexpr unsigned kMostBuffer = kMostCredit * kBlockBytes;
constexpr Picos kCycle = 1024;

std::string check_buffer(std::string_view what, unsigned bytes) {
  if (bytes >= kBlockBytes && bytes <= kMostBuffer) return {};
  return fmt::format("{} is {} bytes; {} to {}", what, bytes, kBlockBytes, kMostBuffer);
}

/// A flit of 64 bytes per cycle.
LinkModel cycle_links() {
  return {.propagation = kCycle,
          .header_bytes = 0,
          .flow_control_packets = false,
          .byte_time = kCycle / kBlockBytes};
}

}  // namespace

PacketOptions PacketOptions::thesis() {
  return {
      // Table 27. The sum of routing, mapping and crossbar arbitration is that of the source it
      // names.
      .switches = {.routing = 40 * kNano,
                   .mapping = 20 * kNano,
                   .crossbar_arbitration = 40 * kNano,
                   .crossbar_setup = 2 * kNano,
                   .link_arbitration = 40 * kNano,
                   .one_routing_unit = true,
                   // A burst of SMPs overflows nothing there.
                   .vl15_buffer_bytes = 0},
      // Mapping and link arbitration, as in a switch's port.
      .adapters = {.latency = 60 * kNano},
      // 20 m at 5 ns per metre.
      .links = {.propagation = 100 * kNano},
      .vls = 2,
  };
}

PacketOptions PacketOptions::modern() {
  return {
      // Data sheets of EDR, HDR and NDR switches say 90 to 200 ns from port to port: 130 in all.
      // How it is divided, the speed-up and the buffers are chosen: vendors do not state them.
      .switches = {.routing = 50 * kNano,
                   .crossbar_arbitration = 40 * kNano,
                   .crossbar_setup = 10 * kNano,
                   .link_arbitration = 30 * kNano,
                   .speed_up_percent = 200,
                   .input_buffer_bytes = 16384,
                   .output_buffer_bytes = 16384},
      .adapters = {.latency = 0},
      // 10 m.
      .links = {.propagation = 50 * kNano},
      .vls = 1,
      .fit_buffers = true,
  };
}

PacketOptions PacketOptions::cycles() {
  return {
      .switches = {.routing = 3 * kCycle,
                   .output_buffers = false,
                   .multiplexed = true,
                   .turns_back = true,
                   .input_buffer_bytes = 4096},
      .adapters = {},
      .links = cycle_links(),
      .vls = 2,
  };
}

PacketOptions PacketOptions::booksim() {
  return {
      .switches = {.routing = kCycle,
                   .turns_back = true,
                   .speed_up_percent = 1000,
                   .input_buffer_bytes = 64 * kBlockBytes,
                   // There they have no bound of their own, but what stands in them has its credit
                   // for the next lane already: at most a lane.
                   .output_buffer_bytes = 64 * kBlockBytes},
      .adapters = {},
      .links = cycle_links(),
      .vls = 2,
  };
}

PacketOptions PacketOptions::multistage() {
  constexpr Picos kByte = kNano;
  return {
      // The head's one byte crosses in half a cycle: the rest is the link's arbitration. The
      // speed-up
      // is not stated by the source, but for being above 1 and at most 2 as a rule.
      .switches = {.routing = kByte,
                   .link_arbitration = kByte / 2,
                   .speed_up_percent = 200,
                   .input_buffer_bytes = 1024,
                   .output_buffer_bytes = 1024},
      .adapters = {.waiting = SourceQueues::PerDestination},
      .links = {.propagation = kByte,
                .header_bytes = 22,
                .flow_control_packets = false,
                .byte_time = kByte},
      .vls = 1,
  };
}

bool find_preset(std::string_view name, PacketOptions& out) {
  if (name == "thesis") {
    out = PacketOptions::thesis();
  } else if (name == "modern") {
    out = PacketOptions::modern();
  } else if (name == "cycles") {
    out = PacketOptions::cycles();
  } else if (name == "booksim") {
    out = PacketOptions::booksim();
  } else if (name == "multistage") {
    out = PacketOptions::multistage();
  } else {
    return false;
  }
  return true;
}

std::string check_options(const PacketOptions& options) {
  if (options.vls < 1 || options.vls > 15) return "a port has 1 to 15 data VLs";
  const SwitchModel& sw = options.switches;
  if (auto why = check_buffer("an input buffer", sw.input_buffer_bytes); !why.empty()) return why;
  if (auto why = check_buffer("an output buffer", sw.output_buffer_bytes); !why.empty()) return why;
  if (auto why = check_buffer("an adapter's buffer", options.adapters.buffer_bytes); !why.empty()) {
    return why;
  }
  if (sw.speed_up_percent < 100 || sw.speed_up_percent > 1600) {
    return "a crossbar's speed-up is 100 to 1600 percent";
  }
  if (sw.copies == CopyOrder::Together && !sw.output_buffers) {
    return "copies leave together into output buffers alone: switch.output_buffers = true, or "
           "switch.copies = \"in-turn\"";
  }
  if (options.most_packets < 1 || options.most_packets > kMostPackets) {
    return fmt::format("a partition has 1 to {} packets at once", kMostPackets);
  }
  if (options.adapters.queues < 1) return "packets are hashed to at least one queue";
  return {};
}

std::uint64_t count_queues(const AdapterModel& adapters, std::uint64_t hosts) {
  switch (adapters.waiting) {
    case SourceQueues::Shared:
    case SourceQueues::Pool:
      return 1;
    case SourceQueues::Hashed:
      return adapters.queues;
    case SourceQueues::PerDestination:
      break;
  }
  return std::max<std::uint64_t>(1, hosts);
}

std::string check_queues(const PacketOptions& options, std::uint64_t hosts) {
  constexpr std::uint64_t kMost = UINT32_MAX;
  const std::uint64_t queues = count_queues(options.adapters, hosts);
  if (queues == 1 || hosts * options.vls <= kMost / queues) return {};
  return fmt::format("{} hosts of {} VLs with {} queues each: {} queues at most in all",
                     hosts,
                     options.vls,
                     queues,
                     kMost);
}

}  // namespace smd::sim
