#include "smd/admin/exposition.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "smd/base/check.h"

namespace smd {
namespace {

std::string_view print_type(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Histogram:
      return "histogram";
  }
  return "untyped";
}

std::string print_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const bool whole = std::trunc(value) == value && std::abs(value) < 1e15;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

/// Bytes of the character that `text` begins with; 0 where it begins with none (RFC 3629).
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2   ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool beyond = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = std::max<std::size_t>(character(text), 1);
    const std::string_view next = text.substr(0, size);
    if (next == "\n") {
      out += "\\n";
    } else if (next == "\"" || next == "\\") {
      out += fmt::format("\\{}", next);
    } else {
      out += character(text) == 0 ? "?" : next;
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  SMD_CHECK(std::ranges::is_sorted(bounds_), "the bounds of a histogram ascend");
}

void Histogram::note(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(bucket)];
  sum_ += value;
}

std::uint64_t Histogram::count_up_to(std::size_t bucket) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= bucket; ++i) count += counts_[i];
  return count;
}

void Exposition::family(MetricType type, std::string_view name, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, print_type(type));
}

void Exposition::line(std::string_view suffix,
                      MetricLabels labels,
                      std::string_view bound,
                      double value) {
  text_ += name_;
  text_ += suffix;
  std::string inner;
  for (const auto& [key, text] : labels)
    inner += fmt::format("{}{}=\"{}\"", inner.empty() ? "" : ",", key, escape(text));
  if (!bound.empty()) inner += fmt::format("{}le=\"{}\"", inner.empty() ? "" : ",", bound);
  if (!inner.empty()) text_ += fmt::format("{{{}}}", inner);
  text_ += fmt::format(" {}\n", print_number(value));
}

void Exposition::sample(double value, MetricLabels labels) { line("", labels, "", value); }

void Exposition::histogram(const Histogram& values, MetricLabels labels) {
  const std::size_t last = values.bounds().size();
  for (std::size_t i = 0; i < last; ++i)
    line("_bucket",
         labels,
         fmt::format("{}", values.bounds()[i]),
         static_cast<double>(values.count_up_to(i)));
  const double all = static_cast<double>(values.count_up_to(last));
  line("_bucket", labels, "+Inf", all);
  line("_sum", labels, "", values.sum());
  line("_count", labels, "", all);
}

}  // namespace smd
