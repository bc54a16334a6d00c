#include "tests/support/exposition_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace smd::test {
namespace {

using Labels = std::map<std::string, std::string>;

/// A line without its name and labels is a number; nothing where it is none.
std::optional<double> read_value(const std::string& text) {
  if (text.empty() || text == "+Inf") return text.empty() ? std::nullopt : std::optional(INFINITY);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

/// Consumes `{a="b",c="d"}`; false where it is not written so, or a label comes twice.
bool read_labels(const std::string& line, std::size_t& at, Labels& out) {
  if (line[at] != '{') return true;
  static const std::regex kLabel(R"(^[{,]([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)\")");
  std::smatch match;
  while (at < line.size() && line[at] != '}') {
    const std::string rest = line.substr(at);
    if (!std::regex_search(rest, match, kLabel)) return false;
    if (!out.emplace(match[1], match[2]).second) return false;
    at += match.length();
  }
  return at++ < line.size();
}

struct Reader {
  MetricPage page;
  std::string family;
  std::set<std::string> helped;
  std::set<std::pair<std::string, Labels>> seen;

  void fail(const std::string& line, const std::string& why) {
    if (page.trouble.empty()) page.trouble = why + ": " + line;
  }

  void comment(const std::string& line) {
    static const std::regex kComment(R"(^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$)");
    std::smatch match;
    if (!std::regex_match(line, match, kComment)) return fail(line, "neither HELP nor TYPE");
    if (match[1] == "HELP") {
      if (!helped.insert(match[2]).second) fail(line, "a family that was there before");
      family.clear();
      return;
    }
    family = match[2];
    if (!helped.contains(family)) fail(line, "a family without HELP");
    if (!page.types.emplace(family, match[3]).second) fail(line, "a type that was given before");
    const std::string type = match[3];
    if (type != "counter" && type != "gauge" && type != "histogram") fail(line, "no such type");
    if ((type == "counter") != family.ends_with("_total")) fail(line, "only counters are totals");
  }

  void sample(const std::string& line) {
    std::size_t at = line.find_first_of("{ ");
    if (at == std::string::npos) return fail(line, "no value");
    const std::string name = line.substr(0, at);
    Labels labels;
    if (!read_labels(line, at, labels)) return fail(line, "labels");
    if (line[at] != ' ') return fail(line, "no blank before the value");
    const auto value = read_value(line.substr(at + 1));
    if (!value) return fail(line, "the value is no number");
    const bool histogram = page.types[family] == "histogram";
    const std::string suffix = name.starts_with(family) ? name.substr(family.size()) : "?";
    const bool belongs =
        histogram ? suffix == "_bucket" || suffix == "_sum" || suffix == "_count" : suffix.empty();
    if (family.empty() || !belongs) return fail(line, "outside of its family");
    if (!seen.emplace(name, labels).second) return fail(line, "twice");
    if (page.types[family] == "counter" && *value < 0) fail(line, "a counter below 0");
    page.samples[name].push_back({labels, *value});
  }

  /// Buckets rise with their bound, and the last of them is the count.
  void check_histograms() {
    for (const auto& [name, type] : page.types) {
      if (type != "histogram") continue;
      std::map<Labels, std::map<double, double>> buckets;
      for (MetricPage::Sample each : page.samples[name + "_bucket"]) {
        const auto bound = read_value(each.labels["le"]);
        each.labels.erase("le");
        buckets[each.labels][bound.value_or(NAN)] = each.value;
      }
      for (const auto& [labels, row] : buckets) {
        double before = 0;
        for (const auto& [bound, count] : row) {
          if (count < before) fail(name, "buckets fall");
          before = count;
        }
        if (!row.contains(INFINITY) || page.sum(name + "_count", labels) != before)
          fail(name, "the last bucket is not the count");
        if (std::isnan(page.sum(name + "_sum", labels))) fail(name, "no sum");
      }
    }
  }
};

}  // namespace

double MetricPage::sum(const std::string& name, const Labels& labels) const {
  const auto found = samples.find(name);
  double out = NAN;
  if (found == samples.end()) return out;
  for (const Sample& each : found->second) {
    const bool fits = std::ranges::all_of(labels, [&](const auto& label) {
      const auto at = each.labels.find(label.first);
      return at != each.labels.end() && at->second == label.second;
    });
    if (fits) out = std::isnan(out) ? each.value : out + each.value;
  }
  return out;
}

MetricPage read_metric_page(const std::string& text) {
  Reader reader;
  if (!text.empty() && text.back() != '\n') reader.fail(text, "the last line has no end");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    line.front() == '#' ? reader.comment(line) : reader.sample(line);
  }
  reader.check_histograms();
  return std::move(reader.page);
}

}  // namespace smd::test
