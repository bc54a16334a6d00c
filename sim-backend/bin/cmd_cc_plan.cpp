#include "sim-backend/bin/cmd_cc_plan.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim-backend/congestion/source_memory.h"
#include "sim-backend/topology/network.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/program.h"
#include "smd/congestion/plan.h"

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kHeaderBytes = 26;

struct CcPlanLine {
  std::string fabric;
  unsigned mtu = 4096;
  unsigned hop_ns = cc::Options{}.hop_ns;
  bool json = false;
};

Json to_json(const cc::Facts& facts) {
  return {{"hosts", facts.hosts},
          {"switches", facts.switches},
          {"shape", facts.shape},
          {"is_tree", facts.is_tree},
          {"radix", facts.radix},
          {"stages", facts.stages},
          {"path_switches", facts.path},
          {"mtu", facts.mtu}};
}

Json to_json(const cc::SwitchSetting& setting) {
  return {{"control_map", setting.control_map},
          {"threshold", setting.threshold},
          {"marks_above_pct", 100 * cc::fraction_of(setting.threshold)},
          {"packet_size", setting.packet_size},
          {"marking_rate", setting.marking_rate}};
}

/// What waiting for windows costs a host: a queue per destination, queues that destinations share,
/// or one pool of packets.
struct SourceSizes {
  SourceSizes(const cc::Facts& facts, const cc::RatePlan& rate)
      : needs{.destinations = facts.hosts,
              .window = cc::window_ceiling(rate.window),
              .packet_bytes = facts.mtu + kHeaderBytes,
              .stages = facts.stages},
        queues(published_queues(facts.hosts)),
        per_destination(fvoq_memory(needs)),
        counted(counted_fvoq_memory(needs)),
        hashed(pvoq_memory(needs, queues)),
        pool(pool_memory(needs, published_pool(needs))) {}

  SourceNeeds needs;
  unsigned queues;
  SourceMemory per_destination, counted, hashed, pool;
};

Json to_json(const SourceMemory& memory) {
  return {{"data_bytes", memory.data_bytes}, {"control_bits", memory.control_bits}};
}

Json to_json(const SourceSizes& sizes) {
  return {{"per_destination", to_json(sizes.per_destination)},
          {"per_destination_counted", to_json(sizes.counted)},
          {"hashed", to_json(sizes.hashed)},
          {"hashed_queues", sizes.queues},
          {"pool", to_json(sizes.pool)}};
}

Json to_json(const cc::Facts& facts, const cc::RatePlan& rate) {
  Json table = Json::array();
  for (const cc::CctEntry& entry : rate.table) {
    table.push_back({{"shift", entry.shift},
                     {"multiplier", entry.multiplier},
                     {"packet_times", cc::delay_of(entry)}});
  }
  Json slots = Json::array();
  for (unsigned marks = 0; marks <= facts.stages + 1; ++marks) {
    slots.push_back(cc::waiting_slots(marks, facts.radix, facts.stages));
  }
  Json sls = Json::array();
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    const cc::CaEntry& entry = rate.setting.entries[sl];
    sls.push_back({{"sl", sl},
                   {"ccti_timer", entry.timer},
                   {"ccti_increase", entry.increase},
                   {"trigger_threshold", entry.trigger},
                   {"ccti_min", entry.min}});
  }
  return {{"mbps", rate.mbps},
          {"window", rate.window},
          {"window_ceiling", cc::window_ceiling(rate.window)},
          {"round_trip_ns", rate.round_trip_ns},
          {"packet_ns", rate.packet_ns},
          {"longest_wait_packet_times", rate.longest_delay},
          {"waiting_slots", std::move(slots)},
          {"ccti_limit", rate.limit()},
          {"table", std::move(table)},
          {"port_control", rate.setting.port_control},
          {"control_map", rate.setting.control_map},
          {"sls", std::move(sls)},
          {"source_memory", to_json(SourceSizes(facts, rate))}};
}

std::string print_json(const cc::Plan& plan) {
  Json rates = Json::array();
  for (const cc::RatePlan& rate : plan.rates) rates.push_back(to_json(plan.facts, rate));
  const Json out = {{"fabric", to_json(plan.facts)},
                    {"path_bytes", plan.path_bytes},
                    {"switches", to_json(plan.switches)},
                    {"hosts", std::move(rates)},
                    {"remarks", plan.remarks}};
  return out.dump(2) + "\n";
}

std::string print_text(const cc::Plan& plan) {
  std::string text;
  for (const std::string& line : cc::print_plan(plan)) text += line + "\n";
  for (const cc::RatePlan& rate : plan.rates) {
    const SourceSizes sizes(plan.facts, rate);
    text += fmt::format(
        "memory of a source with windows of {} packets, at {} Gbit/s: {} bytes with a queue per "
        "destination ({} with counters), {} with {} queues, {} with a pool\n",
        sizes.needs.window,
        rate.mbps / 1000.0,
        sizes.per_destination.bytes(),
        sizes.counted.bytes(),
        sizes.hashed.bytes(),
        sizes.queues,
        sizes.pool.bytes());
  }
  return text;
}

int run_cc_plan(const CcPlanLine& line) {
  Faults notes;
  const Parsed<FabricSpec> spec = load_fabric(line.fabric, notes);
  if (!spec) return print_faults(spec.error());
  static_cast<void>(print_faults(notes));
  const auto fabric = build_snapshot(*spec);
  cc::Options options;
  options.hop_ns = line.hop_ns;
  const cc::Plan plan = cc::build_plan(cc::read_facts(*fabric, {.mtu_max = line.mtu}), options);
  fmt::print("{}", line.json ? print_json(plan) : print_text(plan));
  return 0;
}

}  // namespace

void add_cc_plan_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<CcPlanLine>();
  Command command =
      program.command("cc-plan", "Print what congestion control is set to in a fabric, and why");
  command.option("FABRIC", line->fabric, "Fabric file, or generator NAME:key=value,…").required();
  command.option("--mtu", line->mtu, "Largest MTU that ports are set to, in bytes")
      .one_of({256, 512, 1024, 2048, 4096});
  command.option("--hop-ns", line->hop_ns, "Through a switch and its cable, in nanoseconds")
      .range(1, 100000);
  command.flag("--json", line->json, "As one JSON object");
  command.on_run([line, &exit_code] { exit_code = run_cc_plan(*line); });
}

}  // namespace smd::sim
