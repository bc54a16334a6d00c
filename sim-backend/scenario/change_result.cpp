#include "sim-backend/scenario/change_result.h"

namespace smd::sim {

LatencyFigures read_latency(const Histogram& values) {
  return {.mean = values.mean(),
          .p50 = values.percentile(0.5),
          .p90 = values.percentile(0.9),
          .p99 = values.percentile(0.99),
          .p999 = values.percentile(0.999),
          .max = values.max()};
}

std::string_view print_period(PeriodKind kind) {
  switch (kind) {
    case PeriodKind::Before:
      return "before";
    case PeriodKind::During:
      return "during";
    case PeriodKind::After:
      return "after";
  }
  return "";
}

}  // namespace smd::sim
