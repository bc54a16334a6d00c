#include "sim-backend/measure/arrival_order.h"

namespace smd::sim {

void ArrivalOrder::on_delivered(const Delivery& arrival) {
  ArrivalsAtHost& here = hosts_[arrival.destination];
  const std::uint64_t path = std::uint64_t{arrival.source} << 24 |
                             std::uint64_t{arrival.dlid} << 8 | std::uint64_t{arrival.sl};
  const auto latest = here.latest.try_emplace(path, arrival.number).first;
  const bool is_late = arrival.number < latest->second;
  if (!is_late) latest->second = arrival.number;
  if (arrival.tail < begin_) return;
  ++here.count;
  here.late += is_late;
}

double ArrivalOrder::late_share() const {
  std::uint64_t count = 0, late = 0;
  for (const ArrivalsAtHost& host : hosts_) {
    count += host.count;
    late += host.late;
  }
  return count == 0 ? 0 : static_cast<double>(late) / static_cast<double>(count);
}

}  // namespace smd::sim
