// Reads Prometheus's text format, version 0.0.4, by its published grammar, and checks what a page
// must keep to. Shares no code with what writes it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace smd::test {

struct MetricPage {
  struct Sample {
    std::map<std::string, std::string> labels;
    double value = 0;
  };

  std::string trouble;                                 // the first; empty: the page is right
  std::map<std::string, std::string> types;            // by family
  std::map<std::string, std::vector<Sample>> samples;  // by name: a histogram has three

  /// The sum over samples that have all of `labels`; NaN where none has.
  [[nodiscard]] double sum(const std::string& name,
                           const std::map<std::string, std::string>& labels = {}) const;
};

[[nodiscard]] MetricPage read_metric_page(const std::string& text);

}  // namespace smd::test
