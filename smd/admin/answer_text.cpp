#include "smd/admin/answer_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace smd {
namespace {

using Json = nlohmann::json;

/// JSON objects have no order; people do. Keys that are not here follow by name.
constexpr auto kKeyOrder = std::to_array<std::string_view>({"state",        "command",
                                                            "what",         "kind",
                                                            "reason",       "ok",
                                                            "node",         "guid",
                                                            "type",         "description",
                                                            "engine",       "engines",
                                                            "device",       "port",
                                                            "port_guid",    "lid",
                                                            "from",         "from_port",
                                                            "to",           "to_port",
                                                            "width",        "speed",
                                                            "nodes",        "switches",
                                                            "cas",          "aggregation_nodes",
                                                            "routers",      "without_data",
                                                            "links",        "lids",
                                                            "ports",        "active_ports",
                                                            "linked_ports", "last_sweep",
                                                            "last_change",  "standbys",
                                                            "alarms",       "uptime_s",
                                                            "smp",          "smps"});

/// Nesting beyond this is shown as JSON: nothing that smd answers has it.
constexpr int kDeepest = 4;

std::size_t rank_of(std::string_view key) {
  return static_cast<std::size_t>(std::ranges::find(kKeyOrder, key) - kKeyOrder.begin());
}

void sort_keys(std::vector<std::string>& keys) {
  std::ranges::sort(keys, {}, [](const std::string& key) { return std::pair(rank_of(key), key); });
}

/// Without what could steer a terminal: C0, DEL, and C1, which is 0xC2 0x80…0x9F in UTF-8.
std::string tame(std::string_view text, bool keep_lines) {
  std::string tamed;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto after = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && after >= 0x80 && after < 0xa0) {
      tamed += '?';
      ++i;
    } else if ((byte < 0x20 && !(keep_lines && byte == '\n')) || byte == 0x7f) {
      tamed += '?';
    } else {
      tamed += text[i];
    }
  }
  return tamed;
}

/// Characters, not bytes.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(const std::string& text, std::size_t columns, bool right) {
  const std::size_t width = columns_of(text);
  const std::string space(columns > width ? columns - width : 0, ' ');
  return right ? space + text : text + space;
}

std::string print_float(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string print_json(const Json& value) {
  return tame(value.dump(-1, ' ', false, Json::error_handler_t::replace), false);
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  sort_keys(keys);
  return keys;
}

/// A value on one line: "a=1 b=2" for an object, "x, y" for a list, "none" for an empty one.
std::string print_inline(const Json& value, int depth = 0) {
  if (depth == kDeepest) return print_json(value);
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return print_float(value.get<double>());
  if (value.is_string()) return tame(value.get_ref<const std::string&>(), false);
  if (!value.is_structured()) return print_json(value);
  if (value.empty()) return "none";
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value)
      text += (text.empty() ? "" : ", ") + print_inline(item, depth + 1);
    return text;
  }
  for (const std::string& key : keys_of(value)) {
    text += fmt::format("{}{}={}",
                        text.empty() ? "" : " ",
                        tame(key, false),
                        print_inline(value.at(key), depth + 1));
  }
  return text;
}

/// In a table an object with a total is its total.
std::string print_cell(const Json& value) {
  if (!value.is_object()) return print_inline(value);
  const auto total = value.find("total");
  return print_inline(total == value.end() ? value : *total);
}

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const Json& row) { return row.is_object(); });
}

std::string print_row(const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths,
                      const std::vector<bool>& right) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += (c == 0 ? "" : "  ") + pad(cells[c], widths[c], right[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string print_table(const Json& rows) {
  std::vector<std::string> keys;
  std::map<std::string, bool> numeric;
  for (const Json& row : rows) {
    for (const auto& item : row.items()) {
      const bool number = item.value().is_number() || item.value().is_object();
      const auto [it, added] = numeric.emplace(item.key(), number);
      if (added) keys.push_back(item.key());
      it->second = it->second && number;
    }
  }
  sort_keys(keys);

  std::vector<std::vector<std::string>> lines(1);
  for (const std::string& key : keys) lines[0].push_back(tame(key, false));
  for (const Json& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& key : keys) {
      const auto cell = row.find(key);
      line.push_back(cell == row.end() ? "-" : print_cell(*cell));
    }
  }
  std::vector<std::size_t> widths(keys.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c)
      widths[c] = std::max(widths[c], columns_of(line[c]));
  }
  std::vector<bool> right;
  for (const std::string& key : keys) right.push_back(numeric.at(key));

  std::string text;
  for (const auto& line : lines) text += print_row(line, widths, right);
  return text;
}

/// A value that needs lines of its own below its key.
bool is_block(const Json& value) {
  return is_table(value) ||
         (value.is_string() && value.get_ref<const std::string&>().find('\n') != std::string::npos);
}

std::string print_block(const Json& value) {
  if (is_table(value)) return print_table(value);
  std::string text = tame(value.get_ref<const std::string&>(), true);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string print_object(const Json& object) {
  const std::vector<std::string> keys = keys_of(object);
  std::size_t width = 0;
  for (const std::string& key : keys) {
    if (!is_block(object.at(key))) width = std::max(width, columns_of(tame(key, false)));
  }
  std::string text;
  for (const std::string& key : keys) {
    if (is_block(object.at(key))) continue;
    text +=
        fmt::format("{}  {}\n", pad(tame(key, false), width, false), print_inline(object.at(key)));
  }
  for (const std::string& key : keys) {
    const Json& value = object.at(key);
    if (!is_block(value)) continue;
    const std::string count = is_table(value) ? fmt::format(" ({})", value.size()) : "";
    // A lone table needs no title.
    if (keys.size() > 1)
      text += fmt::format("{}{}{}:\n", text.empty() ? "" : "\n", tame(key, false), count);
    text += print_block(value);
  }
  return text;
}

}  // namespace

std::string print_answer_text(const Json& result) {
  if (is_block(result)) return print_block(result);
  if (result.is_object() && !result.empty()) return print_object(result);
  return print_inline(result) + "\n";
}

}  // namespace smd
