#include "sim-backend/scenario/scenario.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim-backend/scenario/scenario_keys.h"
#include "sim-backend/topology/nearest.h"
#include "smd/base/printable.h"
#include "smd/config/config_text.h"

// The only file here that sees the TOML library; how it is made safe: smd/config/config.cpp.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

namespace smd::sim {
namespace {

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

std::optional<ScenarioSize> to_size(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return std::nullopt;
  ScenarioSize size;
  for (const auto& [key, value] : *table) {
    if (key.str() == "bytes" && value.is_integer()) {
      size.bytes = value.as_integer()->get();
    } else if (key.str() == "weight" && value.is_number()) {
      size.weight = *value.value<double>();
    } else {
      return std::nullopt;
    }
  }
  return size;
}

ScenarioValue to_value(const toml::node& node) {
  if (const auto* v = node.as_boolean()) return v->get();
  if (const auto* v = node.as_integer()) return v->get();
  if (const auto* v = node.as_floating_point()) return v->get();
  if (const auto* v = node.as_string()) return v->get();
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::monostate{};
  std::vector<double> numbers;
  std::vector<ScenarioSize> sizes;
  for (const toml::node& item : *array) {
    if (item.is_number()) {
      numbers.push_back(*item.value<double>());
    } else if (const auto size = to_size(item)) {
      sizes.push_back(*size);
    } else {
      return std::monostate{};
    }
  }
  if (!numbers.empty() && !sizes.empty()) return std::monostate{};
  if (!sizes.empty()) return sizes;
  return numbers;
}

std::string nearest_key(std::string_view section, std::string_view key) {
  std::vector<std::string_view> names;
  for (const ScenarioKey& row : scenario_keys()) {
    if (row.section == section) names.push_back(row.key);
  }
  return std::string(find_nearest(key, names));
}

std::vector<std::string_view> section_names() {
  std::vector<std::string_view> names;
  for (const ScenarioKey& row : scenario_keys()) {
    if (std::ranges::find(names, row.section) == names.end()) names.push_back(row.section);
  }
  return names;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) { out_.file = file; }

  Parsed<Scenario> read(const toml::table& document) {
    for (const auto& [name, node] : document) {
      if (name.str() == "fault") {
        read_faults(name, node);
      } else {
        check_section(name, node);
      }
    }
    // In the order of the table: a preset comes before what changes it.
    for (const ScenarioKey& row : scenario_keys()) read_key(row, document);
    check_whole();
    if (faults_.empty()) return out_;
    std::ranges::stable_sort(faults_, {}, &Fault::line);
    return tl::unexpected(std::move(faults_));
  }

 private:
  void complain(int line, std::string message) {
    faults_.push_back({file_, line, std::move(message)});
  }

  void check_section(const toml::key& name, const toml::node& node) {
    const int line = line_of(name.source());
    const auto names = section_names();
    if (std::ranges::find(names, name.str()) == names.end()) {
      return complain(line,
                      fmt::format("unknown section [{}]; the nearest known one is [{}]",
                                  name.str(),
                                  find_nearest(name.str(), names)));
    }
    if (!node.is_table()) {
      return complain(line, fmt::format("{} is no section; write [{}]", name.str(), name.str()));
    }
    for (const auto& [key, value] : *node.as_table()) {
      const bool known = std::ranges::any_of(scenario_keys(), [&](const ScenarioKey& row) {
        return row.section == name.str() && row.key == key.str();
      });
      if (known) continue;
      complain(line_of(key.source()),
               fmt::format("unknown key {}.{}; the nearest known one is {}.{}",
                           name.str(),
                           key.str(),
                           name.str(),
                           nearest_key(name.str(), key.str())));
    }
  }

  void read_faults(const toml::key& name, const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      return complain(line_of(name.source()), "fault is a list of tables; write [[fault]]");
    }
    for (const toml::node& item : *array) {
      const toml::table* table = item.as_table();
      if (table == nullptr) {
        complain(line_of(item.source()), "fault is a list of tables; write [[fault]]");
        continue;
      }
      read_fault(*table);
    }
  }

  void read_fault(const toml::table& table) {
    const int here = line_of(table.source());
    FaultText fault{.line = here};
    for (const auto& [key, value] : table) {
      const int line = line_of(key.source());
      const std::optional<std::string> text = value.value<std::string>();
      if (key.str() == "at_us") {
        const auto at = value.is_number() ? value.value<double>() : std::nullopt;
        if (!at || !(*at >= 0 && *at <= 1e9)) {
          complain(line, "fault.at_us must be 0 to 1e9");
        } else {
          fault.at = static_cast<Picos>(std::llround(*at * static_cast<double>(kMicro)));
        }
      } else if (key.str() == "what") {
        fault.what = text.value_or("");
        if (!is_fault_word(fault.what)) {
          complain(line, fmt::format("fault.what must be {}", fault_grammar()));
        }
      } else if (key.str() == "where") {
        fault.where = text.value_or("");
        if (fault.where.empty()) complain(line, "fault.where must be a node, or NODE:PORT");
      } else {
        complain(line,
                 fmt::format("unknown key fault.{}; known are at_us, what, where", key.str()));
      }
    }
    for (const char* key : {"at_us", "what", "where"}) {
      if (table.get(key) == nullptr) complain(here, fmt::format("a fault needs {}", key));
    }
    out_.faults.push_back(std::move(fault));
  }

  void read_key(const ScenarioKey& row, const toml::table& document) {
    const toml::node* section = document.get(row.section);
    if (section == nullptr || !section->is_table()) return;
    const toml::node* node = section->as_table()->get(row.key);
    if (node == nullptr) return;
    const int line = line_of(node->source());
    lines_[fmt::format("{}.{}", row.section, row.key)] = line;
    if (row.section == "fabric" && row.key == "name") out_.fabric_line = line;
    if (row.section == "traffic" && out_.traffic_line == 0) out_.traffic_line = line;
    if (row.section == "manager" && manager_line_ == 0) manager_line_ = line;
    if (row.apply(to_value(*node), out_)) return;
    complain(line, fmt::format("{}.{} must be {}", row.section, row.key, row.range));
  }

  [[nodiscard]] int line(const char* key) const {
    const auto found = lines_.find(key);
    return found == lines_.end() ? 0 : found->second;
  }

  void check_whole() {
    if (!faults_.empty()) return;
    if (const std::string why = check_options(out_.packet); !why.empty()) complain(0, why);
    const unsigned packet = out_.largest_packet();
    const SwitchModel& sw = out_.packet.switches;
    if (sw.input_buffer_bytes < packet) {
      complain(line("switch.input_buffer"),
               fmt::format("an input buffer of {} bytes never takes a packet of {}",
                           sw.input_buffer_bytes,
                           packet));
    }
    if (sw.output_buffers && sw.output_buffer_bytes < packet) {
      complain(line("switch.output_buffer"),
               fmt::format("an output buffer of {} bytes never takes a packet of {}",
                           sw.output_buffer_bytes,
                           packet));
    }
    const SteadyPlan& plan = out_.measure.plan;
    if (plan.least_intervals > plan.most_intervals) {
      complain(line("measure.least_intervals"),
               fmt::format("measure.least_intervals is {}, more than measure.most_intervals, {}",
                           plan.least_intervals,
                           plan.most_intervals));
    }
    if (manager_line_ > 0 && !out_.is_managed()) {
      complain(manager_line_, "[manager] takes part where there is a [[fault]]");
    }
    if (out_.is_managed()) check_registers();
    const CongestionSpec& congestion = out_.congestion;
    if (congestion.reaction == ReactionKind::Window &&
        congestion.echo != EchoKind::Acknowledgements &&
        congestion.window.kind != WindowKind::None) {
      complain(line("congestion.echo"),
               "a window needs acknowledgements: congestion.echo = \"acks\"");
    }
    if (congestion.window.kind == WindowKind::Fractional && congestion.window.mean_per_mille == 0) {
      complain(line("congestion.window"), "a fractional window needs congestion.window_mean");
    }
    if (out_.is_managed() && out_.measure.saturation) {
      complain(line("measure.saturation"), "a saturation load is that of a network without faults");
    }
    const int kinds = (line("traffic.pattern") > 0) + (line("traffic.collective") > 0) +
                      (line("traffic.trace") > 0);
    if (kinds > 1) {
      complain(std::max(line("traffic.collective"), line("traffic.trace")),
               "traffic is a pattern, a collective or a trace: one of them");
    }
  }

  /// In a network that changes they are the manager's, which works them out of what it finds.
  void check_registers() {
    for (const char* key : {"threshold",
                            "marking_rate",
                            "packet_size",
                            "victims",
                            "ccti_increase",
                            "ccti_limit",
                            "ccti_timer",
                            "ccti_min",
                            "per_sl"}) {
      const std::string name = fmt::format("congestion.{}", key);
      if (const int at = line(name.c_str()); at > 0)
        complain(at, name + " is the manager's to set where there is a [[fault]]; leave it out");
    }
    const CongestionSpec& spec = out_.congestion;
    if ((spec.marking == MarkingKind::Iba) != (spec.reaction == ReactionKind::Iba))
      complain(std::max(line("congestion.marking"), line("congestion.reaction")),
               "where there is a [[fault]], \"iba\" is both marking and reaction, or neither");
  }

  std::string file_;
  Scenario out_;
  Faults faults_;
  int manager_line_ = 0;
  std::map<std::string, int> lines_;
};

}  // namespace

unsigned Scenario::largest_packet() const {
  const unsigned mtu = mtu_bytes(program.mtu);
  if (traffic.collective || !traffic.trace.empty()) return mtu;
  std::uint32_t most = 0;
  for (const SizeShare& size : traffic.sizes) most = std::max(most, size.bytes);
  return std::min(mtu, most);
}

Parsed<Scenario> parse_scenario(std::string_view text, const std::string& file) {
  const auto ascii = to_ascii_toml(text);
  if (!ascii) {
    return fault(file,
                 ascii.error().line,
                 fmt::format("not TOML that smsim reads: {}", ascii.error().message));
  }
  const toml::parse_result document = toml::parse(*ascii);
  if (!document) {
    const toml::parse_error& error = document.error();
    return fault(
        file, line_of(error.source()), fmt::format("not TOML: {}", printable(error.description())));
  }
  return Reader(file).read(document.table());
}

std::string list_scenario_keys() {
  std::string out;
  std::string_view section;
  for (const ScenarioKey& row : scenario_keys()) {
    if (row.section != section) out += fmt::format("[{}]\n", row.section);
    section = row.section;
    out += fmt::format("  {:<22} {}: {}\n", row.key, row.meaning, row.range);
  }
  out += "[[fault]]\n";
  out += "  at_us                  since the traffic began: 0 to 1e9\n";
  out += fmt::format("  what                   of a network that changes: {}\n", fault_grammar());
  out +=
      "  where                  the node, or NODE:PORT of a link: a description, an id or a GUID\n";
  out += "patterns\n";
  for (const PatternRow& row : traffic_patterns()) {
    out += fmt::format("  {:<22} {}\n", row.name, row.meaning);
  }
  return out;
}

}  // namespace smd::sim
