// What OpenSM's qos-policy.conf says: groups of ports, levels, and which requests for paths get
// which level. Grammar, defaults and precedence are OpenSM's: the first rule that matches counts,
// rules of qos-match-rules before those of qos-ulps; a qos-setup section means nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/base/result.h"

namespace smd {

struct NumberRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // inclusive

  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

[[nodiscard]] bool is_in(const std::vector<NumberRange>& ranges, std::uint64_t number);

/// Ports that any of its lines names.
struct QosPortGroup {
  struct PortName {
    std::string node;  // description
    std::uint64_t port = 0;

    friend bool operator==(const PortName&, const PortName&) = default;
  };

  std::string name;
  std::vector<NumberRange> guids;
  std::vector<PortName> ports;
  std::vector<NumberRange> p_keys;  // of 15 bits
  std::vector<std::string> partitions;
  bool all = false;
  bool adapters = false;
  bool switches = false;
  bool routers = false;
  bool self = false;  // the manager's port

  friend bool operator==(const QosPortGroup&, const QosPortGroup&) = default;
};

struct QosLevel {
  std::string name;
  std::uint8_t sl = 0;
  std::optional<std::uint8_t> mtu_limit;  // codes, as in a PathRecord
  std::optional<std::uint8_t> rate_limit;
  std::optional<std::uint8_t> packet_life;
  std::vector<NumberRange> path_bits;  // empty: any
  std::vector<NumberRange> p_keys;     // of 15 bits; empty: any

  friend bool operator==(const QosLevel&, const QosLevel&) = default;
};

/// A request matches when it has everything that is not empty here.
struct QosMatch {
  std::vector<std::size_t> sources;  // groups: the port is in one of them
  std::vector<std::size_t> targets;
  std::vector<NumberRange> services;
  std::vector<NumberRange> classes;
  std::vector<NumberRange> p_keys;  // of 15 bits
  std::size_t level = 0;

  friend bool operator==(const QosMatch&, const QosMatch&) = default;
};

struct QosFile {
  std::vector<QosPortGroup> groups;
  std::vector<QosLevel> levels;
  std::vector<QosMatch> matches;  // in order
  std::size_t default_level = 0;  // of requests that match nothing

  friend bool operator==(const QosFile&, const QosFile&) = default;
};

struct QosReading {
  QosFile rules;
  Faults remarks;  // what is allowed and has no effect
};

/// The rules, or every fault, at most 20.
[[nodiscard]] Parsed<QosReading> parse_qos_file(std::string_view text, const std::string& file);

}  // namespace smd
