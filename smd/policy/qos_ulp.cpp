#include "smd/policy/qos_ulp.h"

#include <fmt/core.h>

#include <utility>

#include "smd/policy/partition_text.h"

namespace smd::qos_text {
namespace {

using partition_text::trim;

constexpr std::uint64_t kKeyBits = 0x7fff;

// Service ids of upper layers: the TCP port is the lower 16 bits.
constexpr std::uint64_t kSdp = 0x10000;
constexpr std::uint64_t kTcp = 0x1060000;  // RDS and iSER
constexpr std::uint64_t kRdsPort = 0x48ca;
constexpr std::uint64_t kIserPort = 0x0cbc;

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
    match.p_keys = {{kKeyBits, kKeyBits}};
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

std::optional<Ulp> read_ulp(Values& values, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    values.fault(fmt::format("'{}' has no SL; KEYWORD: SL", text));
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
  values.fault(fmt::format(
      "'{}' is no application; default, sdp, rds, iser, ipoib, each with or without port-num "
      "or pkey, srp, target-port-guid GUID, or any, with service-id, pkey, target-port-guid, "
      "source-port-guid or source-target-port-guid",
      what));
  return std::nullopt;
}

}  // namespace smd::qos_text
