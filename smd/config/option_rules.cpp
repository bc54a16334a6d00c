// Rules between options, and what a mistyped name was meant to be.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "smd/config/congestion_options.h"
#include "smd/config/options.h"

namespace smd {

namespace {

using Broken = std::optional<std::string>;

/// The first VL above `vls`, unless it is 15, which discards.
template <class Range, class VlOf>
std::optional<Vl> find_vl_beyond(const Range& entries, unsigned vls, VlOf vl_of) {
  for (const auto& entry : entries) {
    const Vl vl = vl_of(entry);
    if (vl.value() >= vls && vl != kManagementVl) return vl;
  }
  return std::nullopt;
}

Broken vl_beyond(std::string_view option, std::optional<Vl> vl, unsigned vls) {
  if (!vl) return std::nullopt;
  return fmt::format(
      "{} names VL {}; a VL below port.max_operational_vls, which is {}", option, *vl, vls);
}

Broken arbitrates_beyond(std::string_view option,
                         const std::optional<std::vector<VlWeight>>& table,
                         unsigned vls) {
  if (!table) return std::nullopt;
  return vl_beyond(
      option, find_vl_beyond(*table, vls, [](const VlWeight& e) { return e.vl; }), vls);
}

Broken not_below(std::string_view low, std::uint64_t a, std::string_view high, std::uint64_t b) {
  if (a <= b) return std::nullopt;
  return fmt::format("{} is {}; a number up to {}, which is {}", low, a, high, b);
}

/// The tables of one kind of port, or of all.
struct QosNames {
  QosTableConfig QosConfig::*of;
  std::string_view sl2vl, high, low;
};

constexpr QosNames kQosNames[] = {
    {nullptr, "qos.sl2vl", "qos.vl_arb_high", "qos.vl_arb_low"},
    {&QosConfig::ca, "qos.ca_sl2vl", "qos.ca_vl_arb_high", "qos.ca_vl_arb_low"},
    {&QosConfig::rtr, "qos.rtr_sl2vl", "qos.rtr_vl_arb_high", "qos.rtr_vl_arb_low"},
    {&QosConfig::sw0, "qos.sw0_sl2vl", "qos.sw0_vl_arb_high", "qos.sw0_vl_arb_low"},
    {&QosConfig::swe, "qos.swe_sl2vl", "qos.swe_vl_arb_high", "qos.swe_vl_arb_low"},
};

std::vector<ConfigRule> make_rules() {
  std::vector<ConfigRule> rules = {
      {{"transport.retry_backoff_min_s", "transport.retry_backoff_max_s"},
       [](const Config& c) {
         return not_below("transport.retry_backoff_min_s",
                          c.transport.retry_backoff_min_s,
                          "transport.retry_backoff_max_s",
                          c.transport.retry_backoff_max_s);
       }},
      {{"smp.window_min", "smp.window_start"},
       [](const Config& c) {
         return not_below(
             "smp.window_min", c.smp.window_min, "smp.window_start", c.smp.window_start);
       }},
      {{"smp.window_start", "smp.window_max"},
       [](const Config& c) {
         return not_below(
             "smp.window_start", c.smp.window_start, "smp.window_max", c.smp.window_max);
       }},
      {{"sm.lid_min", "sm.lid_max"},
       [](const Config& c) {
         return not_below("sm.lid_min", c.sm.lid_min.value(), "sm.lid_max", c.sm.lid_max.value());
       }},
      {{"sm.lid_max", "sm.lid_min", "sm.lmc"},
       [](const Config& c) -> Broken {
         const unsigned size = 1u << c.sm.lmc;
         const unsigned first = (c.sm.lid_min.value() + size - 1) / size * size;
         const bool holds = first + size - 1 <= c.sm.lid_max.value();
         if (holds || c.sm.lid_min > c.sm.lid_max) return std::nullopt;
         return fmt::format(
             "sm.lid_max is {}; at least {}, for the {} LIDs of the manager's own port (sm.lmc)",
             c.sm.lid_max.value(),
             first + size - 1,
             size);
       }},
      {{"sweep.debounce_ms", "sweep.debounce_max_ms"},
       [](const Config& c) {
         return not_below("sweep.debounce_ms",
                          c.sweep.debounce_ms,
                          "sweep.debounce_max_ms",
                          c.sweep.debounce_max_ms);
       }},
      {{"replica.listen", "replica.peers", "replica.certificate", "replica.key", "replica.ca"},
       [](const Config& c) -> Broken {
         const ReplicaConfig& r = c.replica;
         if (!r.enabled() || (!r.certificate.empty() && !r.key.empty() && !r.ca.empty()))
           return std::nullopt;
         return "replica.listen and replica.peers need certificates; set replica.certificate, "
                "replica.key and replica.ca";
       }},
  };
  for (const QosNames& names : kQosNames) {
    const auto tables = [of = names.of](const Config& c) -> const QosTableConfig& {
      return of == nullptr ? c.qos : c.qos.*of;
    };
    rules.push_back({{names.sl2vl, "port.max_operational_vls"},
                     [tables, name = names.sl2vl](const Config& c) -> Broken {
                       const auto& row = tables(c).sl2vl;
                       if (!row) return std::nullopt;
                       const unsigned vls = c.port.max_operational_vls;
                       return vl_beyond(
                           name, find_vl_beyond(*row, vls, [](Vl vl) { return vl; }), vls);
                     }});
    rules.push_back(
        {{names.high, "port.max_operational_vls"}, [tables, name = names.high](const Config& c) {
           return arbitrates_beyond(name, tables(c).vl_arb_high, c.port.max_operational_vls);
         }});
    rules.push_back(
        {{names.low, "port.max_operational_vls"}, [tables, name = names.low](const Config& c) {
           return arbitrates_beyond(name, tables(c).vl_arb_low, c.port.max_operational_vls);
         }});
  }
  for (ConfigRule& rule : congestion_rules()) rules.push_back(std::move(rule));
  return rules;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// Names beyond this cannot be near any option; cutting them bounds the work on hostile files.
std::string_view bounded(std::string_view name) { return name.substr(0, 64); }

}  // namespace

std::span<const ConfigRule> config_rules() {
  static const std::vector<ConfigRule> rules = make_rules();
  return rules;
}

std::string find_nearest_option(std::string_view section, std::string_view key) {
  const ConfigOption* nearest = nullptr;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const ConfigOption& option : config_options()) {
    const std::size_t elsewhere = option.section == section ? 0 : 2;
    const std::size_t distance = edit_distance(bounded(key), option.key) + elsewhere;
    if (distance < shortest) {
      shortest = distance;
      nearest = &option;
    }
  }
  return nearest->name();
}

std::string find_nearest_section(std::string_view section) {
  std::string_view nearest;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const ConfigOption& option : config_options()) {
    const std::size_t distance = edit_distance(bounded(section), option.section);
    if (distance < shortest) {
      shortest = distance;
      nearest = option.section;
    }
  }
  return std::string(nearest);
}

}  // namespace smd
