#include "smd/policy/qos_text.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "smd/base/fault_list.h"
#include "smd/base/text.h"
#include "smd/policy/partition_file.h"

namespace smd::qos_text {
namespace {

constexpr std::size_t kMostFaults = 20;

// Service ids of upper layers: the TCP port is the lower 16 bits.
constexpr std::uint64_t kSdp = 0x10000;
constexpr std::uint64_t kTcp = 0x1060000;  // RDS and iSER
constexpr std::uint64_t kRdsPort = 0x48ca;
constexpr std::uint64_t kIserPort = 0x0cbc;

constexpr std::array<std::string_view, 7> kApplications{
    "default", "sdp", "rds", "iser", "ipoib", "srp", "any"};

bool read_what(
    Values& read, const std::string& ulp, std::string_view of, std::string_view values, Ulp& rule) {
  QosMatch& match = rule.match;
  const auto ports = [&](std::uint64_t base) {
    read.ranges(of, values, 0xffff, match.services);
    for (NumberRange& each : match.services) each = {each.low + base, each.high + base};
    return true;
  };
  const auto service = [&](std::uint64_t low, std::uint64_t high) {
    match.services = {{low, high}};
    return true;
  };
  if (ulp == "sdp" && of.empty()) return service(kSdp, kSdp + 0xffff);
  if (ulp == "rds" && of.empty()) return service(kTcp + kRdsPort, kTcp + kRdsPort);
  if (ulp == "iser" && of.empty()) return service(kTcp + kIserPort, kTcp + kIserPort);
  if (ulp == "sdp" && of == "port-num") return ports(kSdp);
  if ((ulp == "rds" || ulp == "iser") && of == "port-num") return ports(kTcp);
  if (ulp == "ipoib" && of.empty()) {
    match.p_keys = {{kPartitionBits, kPartitionBits}};
    return true;
  }
  if ((ulp == "ipoib" || ulp == "any") && of == "pkey") {
    read.keys(of, values, match.p_keys);
    return true;
  }
  if ((ulp == "srp" || ulp == "any") && of == "target-port-guid") {
    read.ranges(of, values, kMostOfGuid, rule.targets);
    return true;
  }
  if (ulp != "any") return false;
  if (of == "service-id") {
    read.ranges(of, values, kMostOfGuid, match.services);
  } else if (of == "source-port-guid") {
    read.ranges(of, values, kMostOfGuid, rule.sources);
  } else if (of == "source-target-port-guid") {
    read.ranges(of, values, kMostOfGuid, rule.sources);
    rule.targets = rule.sources;
    rule.either = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

using partition_text::read_number;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(by);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint8_t> Values::number(std::string_view what,
                                           std::string_view text,
                                           std::uint64_t min,
                                           std::uint64_t max) {
  const auto number = read_number(text);
  if (number && *number >= min && *number <= max) return static_cast<std::uint8_t>(*number);
  fault_of(text, fmt::format("{} is '{}'; a number from {} to {}", what, text, min, max));
  return std::nullopt;
}

void Values::ranges(std::string_view what,
                    std::string_view text,
                    std::uint64_t max,
                    std::vector<NumberRange>& to) {
  for (const std::string_view each : split(text, ',')) {
    const std::size_t dash = each.find('-');
    const auto low = read_number(trim(each.substr(0, dash)));
    const auto high =
        dash == std::string_view::npos ? low : read_number(trim(each.substr(dash + 1)));
    if (!low || !high || *low > *high || *high > max) {
      fault_of(
          each,
          fmt::format("{} has '{}'; numbers up to 0x{:x} and ranges of them, such as 0x10-0x1f",
                      what,
                      each,
                      max));
    } else {
      to.push_back({*low, *high});
    }
  }
}

void Values::keys(std::string_view what, std::string_view text, std::vector<NumberRange>& to) {
  const std::size_t before = to.size();
  ranges(what, text, 0xffff, to);
  for (std::size_t i = before; i < to.size(); ++i) {
    if ((to[i].low > kPartitionBits) == (to[i].high > kPartitionBits)) {
      to[i] = {to[i].low & kPartitionBits, to[i].high & kPartitionBits};
    } else {
      fault_of(text, fmt::format("{} has a range over 0x7fff; P_Keys from 0x0001 to 0x7fff", what));
    }
  }
}

void Values::fault_of(std::string_view word, std::string message) {
  if (faults_.size() < kMostFaults)
    faults_.push_back({file_, line_, std::move(message), column_of(text_, word)});
}

void Values::fault_at(int line, std::string message) {
  if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(message)});
}

std::optional<Ulp> read_ulp(Values& values, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    values.fault_of(text, fmt::format("'{}' has no SL; KEYWORD: SL", text));
    return std::nullopt;
  }
  const auto sl = values.number("the SL", trim(text.substr(colon + 1)), 0, 15);
  if (!sl) return std::nullopt;
  const std::string_view what = trim(text.substr(0, colon));
  const std::size_t comma = what.find(',');
  const std::string ulp = lowered(trim(what.substr(0, comma)));
  const std::string_view rest =
      comma == std::string_view::npos ? std::string_view{} : trim(what.substr(comma + 1));
  const std::size_t blank = rest.find_first_of(" \t");
  const std::string_view of = rest.substr(0, blank);
  const std::string_view list =
      blank == std::string_view::npos ? std::string_view{} : trim(rest.substr(blank));
  Ulp rule{.line = values.line(), .sl = *sl};
  rule.is_default = ulp == "default" && rest.empty();
  if (rule.is_default || read_what(values, ulp, of, list, rule)) return rule;
  values.fault_of(
      what,
      fmt::format(
          "'{}' is no application; {}default, sdp, rds, iser, ipoib, each with or without port-num "
          "or pkey, srp, target-port-guid GUID, or any, with service-id, pkey, target-port-guid, "
          "source-port-guid or source-target-port-guid",
          what,
          name_nearest(ulp, kApplications)));
  return std::nullopt;
}

}  // namespace smd::qos_text
