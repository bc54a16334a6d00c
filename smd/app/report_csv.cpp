#include "smd/app/report_csv.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace smd::app {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::map<std::string, std::string>;  // by column

std::string print_scalar(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Columns that are new are appended to `columns`.
void flatten(const std::string& prefix,
             const Json& value,
             std::vector<std::string>& columns,
             Row& row) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      flatten(prefix.empty() ? key : prefix + "." + key, inner, columns, row);
    return;
  }
  std::string text;
  if (value.is_array()) {
    for (const Json& each : value) text += (text.empty() ? "" : "; ") + print_scalar(each);
  } else {
    text = print_scalar(value);
  }
  if (std::ranges::find(columns, prefix) == columns.end()) columns.push_back(prefix);
  row[prefix] = std::move(text);
}

template <class Cells>
void append_line(const Cells& cells, std::string& out) {
  bool first = true;
  for (const std::string& cell : cells) {
    if (!first) out += ',';
    out += quoted(cell);
    first = false;
  }
  out += '\n';
}

}  // namespace

std::string print_csv(const std::vector<Json>& objects) {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (const Json& object : objects) flatten("", object, columns, rows.emplace_back());
  std::string out;
  append_line(columns, out);
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto cell = row.find(column);
      cells.push_back(cell == row.end() ? "" : cell->second);
    }
    append_line(cells, out);
  }
  return out;
}

}  // namespace smd::app
