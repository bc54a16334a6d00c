#include "smd/bin/smctl_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "smd/admin/answer_text.h"

namespace smd::bin {
namespace {

using Json = nlohmann::json;

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
  if (records.size() < count) text += fmt::format("… {} of {} records\n", records.size(), count);
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

}  // namespace smd::bin
