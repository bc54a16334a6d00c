// Replay of a trace: messages at given times, read line by line (docs/formats/trace.md).
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/packet/data_net.h"
#include "smd/base/result.h"

namespace smd::sim {

struct TraceLine {
  Picos at = 0;
  HostNum source = 0;
  HostNum destination = 0;
  std::uint32_t bytes = 0;
  std::optional<std::uint8_t> sl;  // none: the line names none

  friend bool operator==(const TraceLine&, const TraceLine&) = default;
};

/// Reads one trace, a line at a time.
class TraceReader {
 public:
  /// Requires: `in` outlives the reader.
  TraceReader(std::istream& in, std::string name, HostNum hosts);

  /// The next message; nothing at the end. The first fault ends the reading.
  [[nodiscard]] Parsed<std::optional<TraceLine>> next();

  /// Of the last message, from 1.
  [[nodiscard]] int line() const { return line_; }

 private:
  std::istream& in_;
  std::string name_;
  HostNum hosts_;
  std::string text_;  // of the line, in a buffer as long as a line may be
  int line_ = 0;
  Picos last_ = 0;
};

/// Reads to the end: how many messages, or the first fault. `worms`: in whose network no host sends
/// to itself.
[[nodiscard]] Parsed<std::uint64_t> check_trace(std::istream& in,
                                                const std::string& name,
                                                HostNum hosts,
                                                bool worms = false);

/// Each partition of the net reads the trace by itself, and sends what is its own hosts'.
class TraceTraffic final : public Workload {
 public:
  /// `copies`: the trace, once for each partition. `sl`: of messages whose line names none; empty:
  /// 0. Requires: the trace has been checked.
  TraceTraffic(const DataNet& net,
               std::vector<std::unique_ptr<std::istream>> copies,
               const std::string& name,
               unsigned mtu,
               std::function<std::uint8_t(HostNum, HostNum)> sl = {});

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;

  [[nodiscard]] bool splits() const override { return true; }

  [[nodiscard]] bool keeps_times() const override { return true; }

  [[nodiscard]] bool finished() const;

  /// The messages of this partition have been sent.
  [[nodiscard]] bool finished(unsigned partition) const { return !feeds_[partition].next; }

 private:
  /// What one partition sends.
  struct Feed {
    std::unique_ptr<std::istream> in;
    TraceReader reader;
    HostNum clock = kNowhere;  // the host that is asked for all of them
    std::optional<TraceLine> next;
  };

  void advance(Feed& feed);

  [[nodiscard]] Feed& feed_of(HostNum host) { return feeds_[partition_of_[host]]; }

  std::vector<Feed> feeds_;  // by partition
  std::vector<std::uint32_t> partition_of_;
  std::vector<Lid> lids_;
  unsigned mtu_;
  std::function<std::uint8_t(HostNum, HostNum)> sl_;
};

}  // namespace smd::sim
