// Follows the tables towards one LID from every switch at once. For verification only: reads the
// raw snapshot and shares nothing with the engines.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/tables.h"

namespace smd {

enum class PathResult : std::uint8_t {
  Arrives,
  NoRoute,    // entry 255, or a port that the switch does not have
  PortDown,   // nothing at the other end
  WrongPort,  // handed to a host, or to the switch itself, that does not own the LID
  Loop,
};

class Walk {
 public:
  Walk(const Fabric& fabric, const ForwardingTables& tables);

  /// Fills what the accessors below give. Requires: lid is owned by `owner`. Fast for LIDs of the
  /// same table block in a row.
  void follow(Lid lid, PortIdx owner);

  [[nodiscard]] PathResult result(SwitchIdx sw) const {
    return static_cast<PathResult>(outcome_[sw.value()] >> kResultShift);
  }

  /// Switch-to-switch links that follow. Requires: result(sw) is not Loop.
  [[nodiscard]] std::uint32_t hops(SwitchIdx sw) const {
    return outcome_[sw.value()] & ((1u << kResultShift) - 1);
  }

  /// By switch: hops where the walk arrives; kFailed or more where it does not.
  [[nodiscard]] std::span<const std::uint32_t> outcomes() const { return outcome_; }

  static constexpr std::uint32_t kFailed = 1u << 24;

  /// Where the walk from here ends, or a switch that it meets twice.
  [[nodiscard]] SwitchIdx end(SwitchIdx sw) const;

  /// Port that the entry names, and the port of another switch it leads to (kNone: to none).
  [[nodiscard]] PortNum egress(SwitchIdx sw) const { return egress_[sw.value()]; }

  [[nodiscard]] PortIdx entered(SwitchIdx sw) const {
    return next(sw) == kNone<SwitchIdx> ? kNone<PortIdx> : peer_port(sw);
  }

  /// The switch that the entry leads to; kNone: to none.
  [[nodiscard]] SwitchIdx next(SwitchIdx sw) const {
    const std::uint32_t onward = onward_[sw.value()];
    return onward < switches_ ? SwitchIdx{onward} : kNone<SwitchIdx>;
  }

 private:
  static constexpr unsigned kResultShift = 24;
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  static constexpr std::uint32_t kWalking = 0xfffffffe;

  // LIDs whose columns are made at once: as many as leave them in a cache near the processor.
  static constexpr std::size_t kColumns = 32;

  // Instead of a switch: what an entry leads to.
  [[nodiscard]] std::uint32_t to_end() const { return switches_; }

  [[nodiscard]] std::uint32_t to_nothing() const { return switches_ + 1; }

  [[nodiscard]] std::uint32_t to_no_port() const { return switches_ + 2; }

  /// Requires: the switch has the port that the entry names.
  [[nodiscard]] PortIdx peer_port(SwitchIdx sw) const {
    return peer_port_[first_[sw.value()] + egress_[sw.value()].value()];
  }

  [[nodiscard]] std::uint32_t finish(std::uint32_t sw, PortIdx owner) const;
  [[nodiscard]] std::uint32_t chase(std::uint32_t sw, PortIdx owner);
  void load_columns(std::size_t first_lid);

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  std::uint32_t switches_;
  std::vector<std::uint32_t> first_;     // by switch, one more than there are: its ports below
  std::vector<std::uint32_t> leads_to_;  // by port: the switch it leads to, or what else
  std::vector<PortIdx> peer_port_;       // by port: itself for port 0, kNone when down
  std::vector<PortNum> egress_columns_;  // entries, LID by LID
  std::vector<std::uint32_t> columns_;   // and where they lead
  std::size_t first_lid_;
  const PortNum* egress_ = nullptr;        // the column of the LID, by switch
  const std::uint32_t* onward_ = nullptr;  // likewise
  std::vector<std::uint32_t> outcome_;     // by switch: result and hops
  std::vector<std::uint32_t> path_;
};

}  // namespace smd
