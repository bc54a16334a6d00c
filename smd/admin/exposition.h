// What Prometheus reads: families of numbers in its text format, version 0.0.4. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

enum class MetricType : std::uint8_t { Counter, Gauge, Histogram };

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// How often something took how long, or cost how much.
class Histogram {
 public:
  /// `bounds`: the upper end of each bucket, ascending; one without end comes after them.
  explicit Histogram(std::vector<double> bounds);

  void note(double value);

  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }

  /// Of those in the bucket and all before it. Requires: bucket <= bounds().size().
  [[nodiscard]] std::uint64_t count_up_to(std::size_t bucket) const;

  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

class Exposition {
 public:
  /// Requires: a name of [a-z_:][a-z0-9_:]* that no family has yet; that of a counter, and of
  /// nothing else, ends in _total.
  void family(MetricType type, std::string_view name, std::string_view help);

  /// Of the last family, which is no histogram. Requires: labels that none of its samples has yet.
  /// Values of labels may be any bytes: what is no UTF-8 becomes '?'.
  void sample(double value, MetricLabels labels = {});

  /// Of the last family, which is one.
  void histogram(const Histogram& values, MetricLabels labels = {});

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, MetricLabels labels, std::string_view bound, double value);

  std::string name_;
  std::string text_;
};

}  // namespace smd
