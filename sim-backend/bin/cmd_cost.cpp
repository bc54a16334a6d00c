#include "sim-backend/bin/cmd_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim-backend/cost/balance.h"
#include "sim-backend/cost/prices.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/program.h"
#include "smd/base/read_file.h"

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

struct CostOptions {
  std::vector<std::string> fabrics;
  std::string prices;
  unsigned group = 0;
  std::vector<unsigned> radix;
  bool json = false;
};

struct NetworkReport {
  NetworkParts parts;
  std::vector<BalanceEquation> balance;
  std::vector<LoadLimit> limits;
  std::optional<NetworkCosts> bill;
};

double per_host(const NetworkParts& parts, std::uint64_t count) {
  return parts.hosts == 0 ? 0 : static_cast<double>(count) / static_cast<double>(parts.hosts);
}

Parsed<NetworkReport> cost_of(const std::string& name,
                              const std::optional<Prices>& prices,
                              const ShapeKeys& keys) {
  const Parsed<FabricSpec> spec = load_fabric(name);
  if (!spec) return tl::unexpected(spec.error());
  auto parts = count_parts(*spec, prices ? prices->floor : Floor{}, keys);
  if (!parts) return fault(name, 0, parts.error().context);
  NetworkReport out{.parts = std::move(*parts), .balance = {}, .limits = {}, .bill = {}};
  if (out.parts.grid && hosts_of_each(*out.parts.grid)) {
    out.balance = balance_equations(*out.parts.grid);
    out.limits = load_limits(hosts_and_switches(*spec), keys);
  }
  if (prices) out.bill = add_up(out.parts, *prices);
  return out;
}

Json to_json(const NetworkReport& of) {
  const NetworkParts& parts = of.parts;
  Json switches = Json::array(), cables = Json::array(), balance = Json::array(),
       limits = Json::array();
  for (const auto& [ports, count] : parts.switches) {
    switches.push_back({{"ports", ports}, {"count", count}});
  }
  for (const LinkClass& each : parts.classes) {
    Json lengths = Json::array();
    for (const auto& [metres, count] : each.by_metres) {
      lengths.push_back({{"metres", metres}, {"count", count}});
    }
    cables.push_back({{"class", each.name},
                      {"count", each.count},
                      {"metres", each.metres()},
                      {"lengths", std::move(lengths)}});
  }
  for (const BalanceEquation& each : of.balance) {
    balance.push_back({{"equation", each.id},
                       {"text", each.text},
                       {"sides", each.sides},
                       {"holds", each.holds},
                       {"cure", each.cure}});
  }
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  for (const LoadLimit& each : of.limits) {
    limits.push_back({{"rule", rule_name(each.rule)},
                      {"pattern", pattern_name(each.pattern)},
                      {"counted", number(each.counted)},
                      {"closed_form", number(each.closed)}});
  }
  Json out = {{"fabric", parts.title},
              {"shape", parts.shape},
              {"hosts", parts.hosts},
              {"host_ports", parts.host_ports},
              {"switches", std::move(switches)},
              {"switch_ports", parts.switch_ports},
              {"free_ports", parts.free_ports},
              {"cables", std::move(cables)},
              {"balance", std::move(balance)},
              {"limits", std::move(limits)},
              {"price", nullptr}};
  if (of.bill) {
    out["price"] = {{"switches", of.bill->switches},
                    {"adapters", of.bill->adapters},
                    {"cables", of.bill->cables},
                    {"copper_cables", of.bill->copper},
                    {"optical_cables", of.bill->optical},
                    {"total", of.bill->total()}};
  }
  return out;
}

std::string limit_text(const LoadLimit& limit) {
  if (limit.counted && limit.closed) {
    return fmt::format("{:.4f}, by formula {:.4f}", *limit.counted, *limit.closed);
  }
  if (limit.counted) return fmt::format("{:.4f}", *limit.counted);
  return limit.closed ? fmt::format("not counted, by formula {:.4f}", *limit.closed)
                      : "not counted";
}

std::string print_text(const NetworkReport& of) {
  const NetworkParts& parts = of.parts;
  std::string text = fmt::format("{}\n  shape      {}\n", parts.title, parts.shape);
  for (const auto& [ports, count] : parts.switches) {
    text += fmt::format("  switches   {} of {} ports\n", count, ports);
  }
  text += fmt::format("  ports      {} on switches, {} free; {:.3f} a host\n",
                      parts.switch_ports,
                      parts.free_ports,
                      per_host(parts, parts.switch_ports));
  text += parts.systems.most > 1
              ? fmt::format(
                    "  hosts      {}, {} cables\n", print_hosts(parts.systems), parts.host_ports)
              : fmt::format("  hosts      {} with {} cables\n", parts.hosts, parts.host_ports);
  for (const LinkClass& each : parts.classes) {
    std::string lengths;
    for (const auto& [metres, count] : each.by_metres) {
      lengths += fmt::format("{}{} of {} m", lengths.empty() ? "" : ", ", count, metres);
    }
    text += fmt::format("  cables     {}: {}, {:.3f} a host, {} m: {}\n",
                        each.name,
                        each.count,
                        per_host(parts, each.count),
                        each.metres(),
                        lengths);
  }
  for (const BalanceEquation& each : of.balance) {
    text += fmt::format("  balance    {} {}: {} ({}){}\n",
                        each.id,
                        each.text,
                        each.holds ? "holds" : "violated",
                        each.sides,
                        each.holds ? "" : "; would hold with " + each.cure);
  }
  for (const LoadLimit& each : of.limits) {
    text += fmt::format("  carries    {} by {} at most: {}{}\n",
                        pattern_name(each.pattern),
                        rule_name(each.rule),
                        limit_text(each),
                        parts.grid->kind() == ShapeKind::Dragonfly && each.closed
                            ? " of cables between groups"
                            : "");
  }
  if (of.bill) {
    text += fmt::format(
        "  price      {:.2f}: switches {:.2f}, adapters {:.2f}, cables {:.2f} ({} "
        "copper, {} optical); {:.2f} a host\n",
        of.bill->total(),
        of.bill->switches,
        of.bill->adapters,
        of.bill->cables,
        of.bill->copper,
        of.bill->optical,
        parts.hosts == 0 ? 0 : of.bill->total() / static_cast<double>(parts.hosts));
  }
  return text;
}

/// A row for each: what one host of it takes.
std::string print_side_by_side(const std::vector<NetworkReport>& all) {
  std::size_t width = 0;
  for (const NetworkReport& each : all) width = std::max(width, each.parts.title.size());
  std::string text = fmt::format("{:<{}}  {:>7}  {:>8}  {:>10}  {:>12}  {:>10}  {:>12}\n",
                                 "of a host",
                                 width,
                                 "hosts",
                                 "switches",
                                 "ports",
                                 "switch links",
                                 "metres",
                                 "price");
  for (const NetworkReport& each : all) {
    const NetworkParts& parts = each.parts;
    std::uint64_t metres = 0;
    for (const LinkClass& of : parts.classes) metres += of.metres();
    text += fmt::format(
        "{:<{}}  {:>7}  {:>8}  {:>10.3f}  {:>12.3f}  {:>10.2f}  {:>12}\n",
        parts.title,
        width,
        parts.hosts,
        parts.switch_count(),
        per_host(parts, parts.switch_ports),
        per_host(parts, parts.switch_cables()),
        per_host(parts, metres),
        each.bill && parts.hosts > 0
            ? fmt::format("{:.2f}", each.bill->total() / static_cast<double>(parts.hosts))
            : "-");
  }
  return text;
}

void print_largest(unsigned radix) {
  for (unsigned dimensions = 1; dimensions <= 4; ++dimensions) {
    const LargestButterfly most = largest_butterfly(radix, dimensions);
    fmt::print("{} ports: flattened butterfly of {} dimensions: {} on a side, {} hosts\n",
               radix,
               dimensions,
               most.side,
               most.hosts);
  }
  const LargestDragonfly most = largest_dragonfly(radix);
  fmt::print("{} ports: dragonfly: {} groups of {}, {} hosts on a router, {} hosts\n",
             radix,
             most.groups,
             most.routers,
             most.globals,
             most.hosts);
}

int run_cost(const CostOptions& line) {
  if (line.json && !line.radix.empty()) {
    fmt::print(stderr, "smsim: cost --json is of FABRICs; leave --radix out\n");
    return kExitBadInput;
  }
  if (line.fabrics.empty() && line.radix.empty()) {
    fmt::print(stderr, "smsim: cost needs a FABRIC, or --radix\n");
    return kExitBadInput;
  }
  if (line.group > 0 && line.fabrics.size() != 1) {
    fmt::print(stderr, "smsim: --group is of one FABRIC: {} are given\n", line.fabrics.size());
    return kExitBadInput;
  }
  std::optional<Prices> prices;
  if (!line.prices.empty()) {
    const auto text = read_file(line.prices, kLargestSettings);
    if (!text) return print_faults({{line.prices, 0, text.error().context}});
    auto parsed = parse_prices(*text, line.prices);
    if (!parsed) return print_faults(parsed.error());
    prices = *parsed;
  }
  std::vector<NetworkReport> all;
  for (const std::string& name : line.fabrics) {
    auto one = cost_of(name, prices, {.dims = {}, .group = line.group});
    if (!one) return print_faults(one.error());
    all.push_back(std::move(*one));
  }
  if (line.json) {
    Json out = Json::array();
    for (const NetworkReport& each : all) out.push_back(to_json(each));
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  for (const unsigned radix : line.radix) print_largest(radix);
  for (const NetworkReport& each : all) fmt::print("{}", print_text(each));
  if (all.size() > 1) fmt::print("{}", print_side_by_side(all));
  return 0;
}

}  // namespace

void add_cost_command(Command& program, int& exit_code) {
  const auto line = std::make_shared<CostOptions>();
  Command command =
      program.command("cost", "Count switches, ports and cables of networks, and their balance");
  command.option("FABRIC", line->fabrics, "Fabric files, or generators NAME:key=value,…");
  command.option("--prices", line->prices, "TOML file of prices, and of the floor");
  command
      .option("--group", line->group, "Switches in a group, where a dragonfly is a butterfly too")
      .range(2u, 254u);
  command
      .option("--radix", line->radix, "Say how large balanced networks of switches of N ports are")
      .range(4u, 254u);
  command.flag("--json", line->json, "As one JSON list");
  command.on_run([line, &exit_code] { exit_code = run_cost(*line); });
}

}  // namespace smd::sim
