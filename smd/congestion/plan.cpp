#include "smd/congestion/plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace smd::cc {
namespace {

/// LRH 8, BTH 12, ICRC 4, VCRC 2; an acknowledgement has an AETH of 4 as well.
constexpr double kHeadBytes = 26;
constexpr double kAckBytes = 30;

constexpr double kTimerUnit = 1024;  // ns

/// A delay is coded to within half of a packet time.
constexpr double kCoding = 0.5;

/// What a mark leaves a flow of its rate, at least.
constexpr double kLeftByAMark = 0.8;

constexpr std::uint16_t kEverySl = 0xffff;
constexpr std::uint8_t kTrigger = 2;  // what vendors log at

std::uint8_t u8(unsigned value) { return static_cast<std::uint8_t>(value); }

std::uint16_t u16(unsigned value) { return static_cast<std::uint16_t>(value); }

/// Packet times that a host may be held back between two packets: all hosts together then still
/// fill the slowest host link.
double longest_delay(const Facts& facts, const Options& options, unsigned mbps) {
  const double senders = static_cast<double>(options.floor_hosts != 0 ? options.floor_hosts
                                                                      : counted_hosts(facts.hosts));
  return std::max(0.0, senders * mbps / facts.mbps.front() - 1);
}

std::vector<CctEntry> build_table(const Facts& facts, double window, double longest) {
  Delays delays;
  for (const double delay : throttle_delays(window, facts.radix, facts.stages)) {
    delays.push_back(std::min({delay, longest, double{kMaxMultiplier}}));
    if (delays.back() < delay) break;
  }
  std::vector<CctEntry> table;
  for (const double delay : spread_delays(delays, kLeftByAMark)) {
    const CctEntry entry = delay < longest ? encode_delay(delay) : encode_delay_below(longest);
    if (table.empty() || delay_of(entry) > delay_of(table.back())) table.push_back(entry);
  }
  return table;
}

/// A port counts towards its next mark over all flows together. When as many share it as the
/// slowest rate allows for, that is a packet of each per packet that one sends: 0, since a rate
/// above it only makes marks come later than what they are about.
unsigned marking_rate(const Options& options) { return options.marking_rate.value_or(0); }

/// A timer must outlast the time between two marks of a flow at the slowest rate: else the index
/// falls before the next one can come, and congestion that lasts is forgotten. One packet in
/// 1 + marking rate is marked at best.
unsigned timer_units(const RatePlan& rate, const Options& options) {
  const unsigned passing = std::max(marking_rate(options), options.host_marking_rate.value_or(0));
  const double gap = (1 + delay_of(rate.table.back())) * rate.packet_ns;
  const double marks_apart = (1.0 + passing) * gap + rate.round_trip_ns;
  return static_cast<unsigned>(std::clamp(std::ceil(marks_apart / kTimerUnit), 1.0, 65535.0));
}

CaSetting build_ca_setting(const RatePlan& rate, const Options& options) {
  CaSetting setting{.port_control = u16(options.port_control.value_or(0)),
                    .control_map = u16(options.ca_control_map.value_or(kEverySl))};
  const CaEntry computed{.timer = u16(timer_units(rate, options)),
                         .increase = 1,
                         .trigger = u8(std::min<unsigned>(kTrigger, rate.limit())),
                         .min = 0};
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    setting.entries[sl] = {.timer = u16(options.ccti_timer[sl].value_or(computed.timer)),
                           .increase = u8(options.ccti_increase[sl].value_or(computed.increase)),
                           .trigger = u8(options.trigger_threshold[sl].value_or(computed.trigger)),
                           .min = u8(options.ccti_min[sl].value_or(computed.min))};
  }
  return setting;
}

RatePlan build_rate(const Facts& facts, const Options& options, unsigned mbps) {
  RatePlan rate{.mbps = mbps};
  const PathTiming path{.switches = facts.path,
                        .hop_time = static_cast<double>(options.hop_ns),
                        .bytes_per_time = mbps / 8000.0,
                        .head_bytes = kHeadBytes,
                        .ack_bytes = kAckBytes};
  rate.window = compute_window(path, facts.mtu);
  rate.round_trip_ns = compute_round_trip(path, facts.mtu);
  rate.packet_ns = (facts.mtu + kHeadBytes) / path.bytes_per_time;
  rate.longest_delay = longest_delay(facts, options, mbps);
  rate.table = options.cct ? *options.cct : build_table(facts, rate.window, rate.longest_delay);
  if (rate.table.empty()) rate.table = {CctEntry{}};
  rate.setting = build_ca_setting(rate, options);
  return rate;
}

SwitchSetting build_switch_setting(const Plan& plan, const Options& options) {
  SwitchSetting out;
  out.threshold = u8(options.threshold.value_or(threshold_of(options.occupancy_pct / 100.0)));
  // An eighth of the MTU: what answers and acknowledges fills no buffers.
  out.packet_size = u8(options.packet_size.value_or(std::max(1u, plan.facts.mtu / 8 / 64)));
  out.marking_rate = u16(marking_rate(options));
  out.credit_mask = options.credit_mask.value_or(PortMask{});
  out.cs_threshold = u8(options.cs_threshold.value_or(0));
  out.cs_return_delay = options.cs_return_delay.value_or(CctEntry{});
  out.control_map = control::kVictimMask | control::kThreshold | control::kMarkingRate;
  if (options.credit_mask) out.control_map |= control::kCreditMask;
  if (options.cs_threshold || options.cs_return_delay)
    out.control_map |= control::kCreditStarvation;
  out.control_map = options.sw_control_map.value_or(out.control_map);
  return out;
}

std::string find_throttle(const RatePlan& rate) {
  for (std::size_t i = 0; i < rate.table.size(); ++i) {
    const double delay = delay_of(rate.table[i]);
    if (delay <= rate.longest_delay + kCoding) continue;
    return fmt::format(
        "entry {} of the table waits {:g} packet times: a host at {} Gbit/s falls to {:.4g} % of "
        "its "
        "link, below its floor of {:.4g} %",
        i,
        delay,
        rate.mbps / 1000.0,
        100 / (1 + delay),
        100 / (1 + rate.longest_delay));
  }
  return "";
}

std::string find_loose_end(const RatePlan& rate, const Options& options) {
  for (const NodeOverride& each : options.nodes) {
    if (each.ccti_min.value_or(0) > rate.limit())
      return fmt::format("ccti_min of {} is {}, and the table ends at {}",
                         each.node,
                         *each.ccti_min,
                         rate.limit());
  }
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    const CaEntry& entry = rate.setting.entries[sl];
    if (entry.min > rate.limit())
      return fmt::format(
          "ccti_min of SL {} is {}, and the table ends at {}", sl, entry.min, rate.limit());
  }
  return "";
}

std::string print_table(const std::vector<CctEntry>& table) {
  std::string text;
  for (const CctEntry& entry : table)
    text += fmt::format("{}{:g}", text.empty() ? "" : " ", delay_of(entry));
  return text;
}

void print_rate(const Plan& plan, const RatePlan& rate, std::vector<std::string>& lines) {
  const CaEntry& entry = rate.setting.entries[0];
  lines.push_back(fmt::format("hosts at {} Gbit/s", rate.mbps / 1000.0));
  lines.push_back(
      fmt::format("  window             {:.3g} packets = RTT / packet time = {:.0f} / {:.0f} ns",
                  rate.window,
                  rate.round_trip_ns,
                  rate.packet_ns));
  lines.push_back(
      fmt::format("  floor              1/{:.0f} of the link = wait of at most {:.0f} packet times",
                  rate.longest_delay + 1,
                  rate.longest_delay));
  lines.push_back(fmt::format("  table              {}", print_table(rate.table)));
  lines.push_back(
      fmt::format("                     packet times: 0, then window / w - 1 for w packets in "
                  "flight, then window * "
                  "{}^i to the floor, by steps of a fifth at most",
                  plan.facts.radix));
  lines.push_back(fmt::format("  ccti_limit         {}", rate.limit()));
  lines.push_back(fmt::format("  ccti_increase      {}", entry.increase));
  lines.push_back(fmt::format(
      "  ccti_timer         {} x 1.024 us = (longest wait + its packet) (1 + marking_rate) + RTT",
      entry.timer));
  lines.push_back(fmt::format("  ccti_min           {}", entry.min));
  lines.push_back(fmt::format("  trigger_threshold  {}", entry.trigger));
}

}  // namespace

Plan build_plan(Facts facts, const Options& options) {
  Plan plan{.facts = std::move(facts)};
  for (const unsigned mbps : plan.facts.mbps)
    plan.rates.push_back(build_rate(plan.facts, options, mbps));
  if (!plan.rates.empty()) {
    plan.path_bytes = compute_path_bytes({.switches = plan.facts.path,
                                          .hop_time = static_cast<double>(options.hop_ns),
                                          .bytes_per_time = plan.facts.mbps.front() / 8000.0,
                                          .ack_bytes = kAckBytes});
  }
  plan.switches = build_switch_setting(plan, options);
  for (const RatePlan& rate : plan.rates) {
    if (plan.refusal.empty()) plan.refusal = find_throttle(rate);
    if (plan.refusal.empty()) plan.refusal = find_loose_end(rate, options);
    if (!options.cct && rate.longest_delay > kMaxMultiplier) {
      plan.remarks.push_back(fmt::format(
          "at {} Gbit/s the table ends at {} packet times, the longest that it can say; "
          "{:.0f} would be needed if all hosts sent to one",
          rate.mbps / 1000.0,
          kMaxMultiplier,
          rate.longest_delay));
    }
  }
  if (!plan.facts.is_tree) {
    plan.remarks.push_back(
        fmt::format("{}: radix and stages are those of a tree with paths of {} switches",
                    plan.facts.shape,
                    plan.facts.path));
  }
  return plan;
}

SwitchSetting switch_setting(const Plan& plan,
                             const Options& options,
                             const Fabric& fabric,
                             NodeIdx node) {
  SwitchSetting out = plan.switches;
  if (options.victim_mask) {
    out.victim_mask = *options.victim_mask;
  } else {
    // A host that takes in too slowly marks nothing itself; the port before it, which has no
    // credits then, does it in its stead.
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer != kNone<PortIdx> && !fabric.is_switch(fabric.node_of[peer]))
        out.victim_mask.set(fabric.number_of(port));
    }
  }
  if (const NodeOverride* own = options.find(fabric.node_guid[node])) {
    out.threshold = u8(own->threshold.value_or(out.threshold));
    out.packet_size = u8(own->packet_size.value_or(out.packet_size));
    out.marking_rate = u16(own->marking_rate.value_or(out.marking_rate));
  }
  return out;
}

std::vector<PortSettingBlock> port_settings(const Plan& plan,
                                            const Options& options,
                                            const Fabric& fabric,
                                            NodeIdx node) {
  const NodeOverride* own = options.find(fabric.node_guid[node]);
  const bool notified = options.host_threshold || options.host_marking_rate;
  if (!notified || (own != nullptr && own->threshold)) return {};
  const SwitchSetting whole = switch_setting(plan, options, fabric, node);
  const PortSetting before_host{
      .valid = true,
      .threshold = u8(options.host_threshold.value_or(whole.threshold)),
      .packet_size = whole.packet_size,
      .marking_rate = u16(options.host_marking_rate.value_or(whole.marking_rate))};
  std::vector<PortSettingBlock> blocks(fabric.num_ports(node) / kPortBlockSize + 1);
  for (const PortIdx port : fabric.external_ports(node)) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || fabric.is_switch(fabric.node_of[peer])) continue;
    const std::size_t number = fabric.number_of(port).value();
    blocks[number / kPortBlockSize][number % kPortBlockSize] = before_host;
  }
  return blocks;
}

std::vector<CctBlock> table_blocks(const std::vector<CctEntry>& table) {
  std::vector<CctBlock> blocks((std::max<std::size_t>(table.size(), 1) + kCctBlockSize - 1) /
                               kCctBlockSize);
  for (CctBlock& block : blocks)
    block.limit = u16(static_cast<unsigned>(std::max<std::size_t>(table.size(), 1) - 1));
  for (std::size_t i = 0; i < table.size(); ++i)
    blocks[i / kCctBlockSize].entries[i % kCctBlockSize] = table[i];
  return blocks;
}

std::optional<CaTarget> ca_target(const Plan& plan,
                                  const Options& options,
                                  const Fabric& fabric,
                                  PortIdx port) {
  const unsigned mbps = link_mbps(fabric, port);
  const auto rate = std::ranges::find(plan.rates, mbps, &RatePlan::mbps);
  if (rate == plan.rates.end()) return std::nullopt;
  CaTarget target{.setting = rate->setting, .table = table_blocks(rate->table)};
  if (const NodeOverride* own = options.find(fabric.node_guid[fabric.node_of[port]])) {
    for (CaEntry& entry : target.setting.entries) {
      entry.timer = u16(own->ccti_timer.value_or(entry.timer));
      entry.increase = u8(own->ccti_increase.value_or(entry.increase));
      entry.trigger = u8(own->trigger_threshold.value_or(entry.trigger));
      entry.min = u8(own->ccti_min.value_or(entry.min));
    }
  }
  return target;
}

std::vector<std::string> print_plan(const Plan& plan) {
  const Facts& facts = plan.facts;
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "{}, {} switches: {}",
      facts.systems.most > 1 ? print_hosts(facts.systems) : fmt::format("{} hosts", facts.hosts),
      facts.switches,
      facts.shape));
  lines.push_back(fmt::format("radix {}, stages {}, longest path {} switches, MTU {}{}",
                              facts.radix,
                              facts.stages,
                              facts.path,
                              facts.mtu,
                              facts.is_tree ? "" : " (no tree: by host ports and paths)"));
  lines.push_back(fmt::format("path of {:.0f} bytes = 2 h t_hop B + ack", plan.path_bytes));
  lines.push_back("switches");
  lines.push_back(
      fmt::format("  threshold          {} = marks where a buffer is fuller than {:.0f} %",
                  plan.switches.threshold,
                  100 * fraction_of(plan.switches.threshold)));
  lines.push_back(
      fmt::format("  packet_size        {} x 64 bytes = MTU / 8", plan.switches.packet_size));
  lines.push_back(fmt::format("  marking_rate       {} packets pass between two marks of a port",
                              plan.switches.marking_rate));
  lines.push_back("  victim_mask        ports before hosts");
  for (const RatePlan& rate : plan.rates) print_rate(plan, rate, lines);
  for (const std::string& each : plan.remarks) lines.push_back("note: " + each);
  if (!plan.refusal.empty()) lines.push_back("refused: " + plan.refusal);
  return lines;
}

}  // namespace smd::cc
