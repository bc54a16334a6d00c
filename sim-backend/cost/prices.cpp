#include "sim-backend/cost/prices.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>

#include "smd/base/options.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

constexpr double kMost = 1e12;
constexpr double kLongest = 10'000;  // metres on the floor

struct PriceKey {
  std::string_view section, key;
  std::function<double&(Prices&)> at;
  double least = 0;
  double most = kMost;
};

const std::vector<PriceKey>& price_keys() {
  static const std::vector<PriceKey> all{
      {"switch", "each", &Prices::switch_each},
      {"switch", "per_port", &Prices::switch_port},
      {"adapter", "per_port", &Prices::adapter_port},
      {"cable", "copper", &Prices::copper},
      {"cable", "copper_per_m", &Prices::copper_m},
      {"cable", "copper_most_m", &Prices::copper_most_m},
      {"cable", "optical", &Prices::optical},
      {"cable", "optical_per_m", &Prices::optical_m},
      {"floor", "within_m", [](Prices& p) -> double& { return p.floor.within_m; }, 0, kLongest},
      {"floor", "overhead_m", [](Prices& p) -> double& { return p.floor.overhead_m; }, 0, kLongest},
      {"floor", "rack_m", [](Prices& p) -> double& { return p.floor.rack_m; }, 0.01, kLongest},
      {"floor", "row_m", [](Prices& p) -> double& { return p.floor.row_m; }, 0.01, kLongest},
  };
  return all;
}

constexpr std::string_view kRackKey = "switches_per_rack";
constexpr std::array<std::string_view, 4> kSections{"switch", "adapter", "cable", "floor"};

class PriceReader {
 public:
  explicit PriceReader(const std::string& file) : file_(file) {}

  Parsed<Prices> read(const OptionTable& document) {
    for (const OptionPair& section : document) read_section(section);
    for (const PriceKey& row : price_keys()) {
      if (row.section == "floor" || has(document, row)) continue;
      complain(0, fmt::format("needs {} in [{}]", row.key, row.section));
    }
    if (faults_.empty()) return out_;
    return tl::unexpected(std::move(faults_));
  }

 private:
  static bool has(const OptionTable& document, const PriceKey& row) {
    const OptionValue* section = find_value(document, row.section);
    const auto* table = section != nullptr ? as<OptionTable>(*section) : nullptr;
    return table != nullptr && find_value(*table, row.key) != nullptr;
  }

  void complain(int line, std::string message) {
    faults_.push_back({file_, line, std::move(message)});
  }

  void read_section(const OptionPair& section) {
    const auto* table = as<OptionTable>(section.value);
    if (table == nullptr || std::ranges::find(kSections, section.key) == kSections.end()) {
      return complain(section.line,
                      fmt::format("unknown section [{}]; known are [switch], [adapter], [cable] "
                                  "and [floor]",
                                  section.key));
    }
    for (const OptionPair& pair : *table) read_key(section.key, pair);
  }

  void read_key(std::string_view section, const OptionPair& pair) {
    const auto* whole = as<std::int64_t>(pair.value);
    const auto* real = as<double>(pair.value);
    const double number = whole != nullptr  ? static_cast<double>(*whole)
                          : real != nullptr ? *real
                                            : -1;
    if (section == "floor" && pair.key == kRackKey) {
      if (whole == nullptr || *whole < 1 || *whole > 1000) {
        return complain(pair.line, fmt::format("floor.{} must be 1 to 1000", kRackKey));
      }
      out_.floor.switches_per_rack = static_cast<std::uint32_t>(*whole);
      return;
    }
    std::vector<std::string_view> known;
    for (const PriceKey& row : price_keys()) {
      if (row.section != section) continue;
      known.push_back(row.key);
      if (row.key != pair.key) continue;
      if (!(number >= row.least && number <= row.most)) {
        return complain(
            pair.line,
            fmt::format("{}.{} must be {:g} to {:g}", section, pair.key, row.least, row.most));
      }
      std::invoke(row.at, out_) = number;
      return;
    }
    if (section == "floor") known.push_back(kRackKey);
    complain(pair.line,
             fmt::format("unknown key {}.{}; the nearest known one is {}.{}",
                         section,
                         pair.key,
                         section,
                         find_nearest(pair.key, known)));
  }

  std::string file_;
  Prices out_;
  Faults faults_;
};

}  // namespace

Parsed<Prices> parse_prices(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file, "smsim");
  if (!document) return tl::unexpected(document.error());
  return PriceReader(file).read(*document);
}

NetworkCosts add_up(const NetworkParts& parts, const Prices& prices) {
  NetworkCosts out;
  out.switches = static_cast<double>(parts.switch_count()) * prices.switch_each +
                 static_cast<double>(parts.switch_ports) * prices.switch_port;
  out.adapters = static_cast<double>(parts.host_ports) * prices.adapter_port;
  for (const LinkClass& each : parts.classes) {
    for (const auto& [metres, count] : each.by_metres) {
      const auto length = static_cast<double>(metres);
      const bool copper = length <= prices.copper_most_m;
      (copper ? out.copper : out.optical) += count;
      const double one = copper ? prices.copper + length * prices.copper_m
                                : prices.optical + length * prices.optical_m;
      out.cables += static_cast<double>(count) * one;
    }
  }
  return out;
}

}  // namespace smd::sim
