#include "smd/multicast/mgid.h"

namespace smd {
namespace {

constexpr std::uint16_t kFullMembership = 0x8000;
constexpr std::uint8_t kTransient = 1;

constexpr std::uint64_t begin(std::uint8_t flags, std::uint8_t scope, std::uint16_t signature) {
  return std::uint64_t{0xff} << 56 | std::uint64_t{flags} << 52 | std::uint64_t{scope} << 48 |
         std::uint64_t{signature} << 32;
}

}  // namespace

bool may_be_asked_for(const Gid& mgid) {
  if (!is_multicast(mgid)) return false;
  const std::uint8_t scope = mgid_scope(mgid);
  const std::uint16_t signature = mgid_signature(mgid);
  if (signature == kIpv4Signature || signature == kIpv6Signature) return true;
  if (mgid_flags(mgid) > kTransient) return false;
  return signature != kAssignedSignature || scope != kLinkLocalScope;
}

// 8 bits of ones, flags and scope, 16 bits of signature, 64 of prefix, 32 of id.
Gid assigned_mgid(std::uint8_t scope, std::uint64_t subnet_prefix, std::uint32_t id) {
  return {begin(kTransient, scope, kAssignedSignature) | subnet_prefix >> 32,
          Guid{subnet_prefix << 32 | id}};
}

Gid ipoib_broadcast(PKey p_key, std::uint8_t scope) {
  const auto full = static_cast<std::uint16_t>(p_key.value() | kFullMembership);
  return {begin(kTransient, scope, kIpv4Signature) | std::uint64_t{full} << 16, Guid{0xffffffff}};
}

std::string print_gid(const Gid& gid) {
  std::string text;
  for (const std::uint64_t half : {gid.prefix, gid.guid.value()}) {
    for (int shift = 48; shift >= 0; shift -= 16)
      text += fmt::format("{}{:04x}", text.empty() ? "" : ":", half >> shift & 0xffff);
  }
  return text;
}

}  // namespace smd
