#include <fmt/format.h>

#include "smd/congestion/plan.h"

namespace smd::cc {
namespace {

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

std::vector<std::string> print_plan(const Plan& plan) {
  const Facts& facts = plan.facts;
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{} hosts, {} switches: {}", facts.hosts, facts.switches, facts.shape));
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
