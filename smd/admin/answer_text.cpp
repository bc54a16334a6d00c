#include "smd/admin/client.h"

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
constexpr auto kKeyOrder = std::to_array<std::string_view>(
    {"state",        "command",      "partition",  "p_key",       "by",       "group",
     "change",       "member",       "membership", "full",        "limited",  "what",
     "kind",         "reason",       "ok",         "node",        "guid",     "type",
     "description",  "engine",       "engines",    "device",      "port",     "index",
     "port_guid",    "lid",          "from",       "from_port",   "to",       "to_port",
     "width",        "speed",        "nodes",      "switches",    "cas",      "aggregation_nodes",
     "routers",      "without_data", "links",      "lids",        "ports",    "switch_ports",
     "active_ports", "linked_ports", "last_sweep", "last_change", "standbys", "alarms",
     "version",      "uptime_s",     "smp",        "smps"});

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

namespace {

/// One line, without what could steer a terminal.
std::string clean(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  text = print_answer_text(Json(text));
  text.pop_back();
  return text;
}

std::string text_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? clean(it->get<std::string>()) : "-";
}

double number_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}

bool flag_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

Json object_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_object() ? *it : Json::object();
}

bool is_list_of_objects(const Json& result, const char* key) {
  return result.is_object() && result.contains(key) && result.at(key).is_array() &&
         std::ranges::all_of(result.at(key), [](const Json& item) { return item.is_object(); });
}

std::string print_ago(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s ago", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min ago", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h ago", seconds / 3600);
  return fmt::format("{:.1f} d ago", seconds / 86400);
}

/// "certified in 2 phases", and what is wrong with it.
std::string print_reconfiguration_mode(const Json& change) {
  const Json transition = object_at(change, "transition");
  const double phases = number_at(transition, "phases");
  std::string text = text_at(transition, "kind");
  if (phases > 0) text += fmt::format(", {:.0f} phase{}", phases, phases == 1 ? "" : "s");
  if (flag_at(transition, "certified") && text_at(transition, "kind") != "certified") {
    text += ", proved";
  }
  if (const std::string error = text_at(change, "error"); error != "-")
    text += "; FAILED: " + error;
  else if (change.contains("ok") && !flag_at(change, "ok"))
    text += "; NOT UP";
  return text;
}

std::string print_columns(const std::vector<std::vector<std::string>>& rows, std::size_t right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += c == 0 ? "" : "  ";
      line += (right >> c & 1) != 0 ? fmt::format("{:>{}}", row[c], widths[c])
                                    : fmt::format("{:<{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string print_changes(const Json& changes) {
  if (changes.empty()) return "no changes\n";
  std::vector<std::vector<std::string>> rows;
  for (const Json& change : changes) {
    rows.push_back({print_ago(number_at(change, "seconds_ago")),
                    fmt::format("{} ({})", text_at(change, "what"), text_at(change, "kind")),
                    fmt::format("{:.0f} SMPs", number_at(object_at(change, "smps"), "total")),
                    fmt::format("{:.3f} ms", number_at(object_at(change, "virtual_ms"), "total")),
                    print_reconfiguration_mode(change)});
  }
  constexpr std::size_t kRight = 0b01101;
  return print_columns(rows, kRight);
}

std::string print_route(const Json& route) {
  const Json& hops = route.at("hops");
  std::string text = fmt::format("{} (lid {:.0f}) to {} (lid {:.0f}): {} hop{}\n",
                                 text_at(route, "from"),
                                 number_at(route, "from_lid"),
                                 text_at(route, "to"),
                                 number_at(route, "lid"),
                                 hops.size(),
                                 hops.size() == 1 ? "" : "s");
  std::vector<std::vector<std::string>> rows;
  for (const Json& hop : hops) {
    const auto end = [&](const char* name, const char* port) {
      return fmt::format("{}:{:.0f}", text_at(hop, name), number_at(hop, port));
    };
    const auto lid = [&](const char* key) {
      return fmt::format("lid {:.0f}", number_at(hop, key));
    };
    rows.push_back({" " + end("from", "from_port"),
                    lid("from_lid"),
                    "->",
                    end("to", "to_port"),
                    lid("to_lid"),
                    text_at(hop, "width"),
                    text_at(hop, "speed"),
                    text_at(hop, "state")});
  }
  return text + print_columns(rows, 0);
}

/// Records with few fields are rows, others blocks of lines.
std::string print_records(const Json& result) {
  constexpr std::size_t kMostColumns = 9;
  const Json& records = result.at("records");
  const auto count = static_cast<std::size_t>(number_at(result, "count"));
  if (records.empty()) return count == 0 ? "no records\n" : fmt::format("{} records\n", count);
  std::string text;
  if (records.size() > 1 && records.front().size() <= kMostColumns) {
    text = print_answer_text(Json{{"records", records}});
  } else {
    for (const Json& record : records)
      text += (text.empty() ? "" : "\n") + print_answer_text(record);
  }
  if (records.size() < count)
    text += fmt::format("… {} of {} records{}\n",
                        records.size(),
                        count,
                        result.value("limited", false)
                            ? ", as many as come at once; ask for some by their components"
                            : "");
  return text;
}

/// The plan is sentences, too; what is hot and what is not as wished are tables below.
std::string print_congestion(Json result) {
  const Json plan = result.value("plan", Json::array());
  const Json others = result.value("others", Json::array());
  const Json hot = result.value("hot", Json::array());
  for (const char* key : {"plan", "others", "hot"}) result.erase(key);
  std::string text = print_answer_text(result);
  if (plan.is_array() && !plan.empty()) {
    text += "\nplan:\n";
    for (const Json& line : plan)
      text += (line.is_string() ? clean(line.get<std::string>()) : clean(line.dump())) + "\n";
  }
  if (!others.empty()) text += "\n" + print_answer_text(Json{{"not as wished", others}});
  if (!hot.empty()) text += "\n" + print_answer_text(Json{{"hot ports", hot}});
  return text;
}

/// Alarms are sentences: each has its line, below everything else.
std::string print_status(Json status) {
  const Json alarms = status.at("alarms");
  if (!alarms.is_array() || alarms.empty()) return print_answer_text(status);
  status.erase("alarms");
  std::string text = print_answer_text(status) + fmt::format("\nalarms ({}):\n", alarms.size());
  for (const Json& alarm : alarms) {
    text += clean(alarm.is_string() ? alarm.get<std::string>() : alarm.dump()) + "\n";
  }
  return text;
}

}  // namespace

std::string print_command_answer(const std::string& command, const Json& result) {
  if (command == "changes" && is_list_of_objects(result, "changes")) {
    return print_changes(result.at("changes"));
  }
  if (command == "route" && is_list_of_objects(result, "hops")) return print_route(result);
  if (command == "sa" && is_list_of_objects(result, "records")) return print_records(result);
  if (command == "congestion" && result.is_object()) return print_congestion(result);
  if (command == "status" && result.is_object() && result.contains("alarms")) {
    return print_status(result);
  }
  return print_answer_text(result);
}

}  // namespace smd
