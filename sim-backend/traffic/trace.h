// Replay of a trace: messages at given times, read line by line (docs/formats/trace.md).
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/packet/packet_net.h"
#include "smd/base/result.h"

namespace smd::sim {

struct TraceLine {
  Picos at = 0;
  HostNum source = 0;
  HostNum destination = 0;
  std::uint32_t bytes = 0;
  std::uint8_t sl = 0;

  friend bool operator==(const TraceLine&, const TraceLine&) = default;
};

/// Reads one trace, a line at a time.
class TraceReader {
 public:
  /// Requires: `in` outlives the reader.
  TraceReader(std::istream& in, std::string name, HostNum hosts);

  /// The next message; nothing at the end. The first fault ends the reading.
  [[nodiscard]] Parsed<std::optional<TraceLine>> next();

 private:
  std::istream& in_;
  std::string name_;
  HostNum hosts_;
  int line_ = 0;
  Picos last_ = 0;
};

/// Reads to the end: how many messages, or the first fault.
[[nodiscard]] Parsed<std::uint64_t> check_trace(std::istream& in,
                                                const std::string& name,
                                                HostNum hosts);

class TraceTraffic final : public Workload {
 public:
  /// Requires: the trace has been checked.
  TraceTraffic(std::istream& in, std::string name, std::vector<Lid> lids, unsigned mtu);

  Picos first(HostNum host) override;
  Picos emit(PacketNet& net, HostNum host, Picos now) override;

  [[nodiscard]] bool finished() const { return !next_; }

 private:
  void advance();

  TraceReader reader_;
  std::vector<Lid> lids_;
  unsigned mtu_;
  std::optional<TraceLine> next_;
};

}  // namespace smd::sim
