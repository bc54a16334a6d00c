#include "smd/smp/m_keys.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <utility>

#include "smd/base/bytes.h"
#include "smd/base/check.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"

namespace smd {
namespace {

constexpr std::string_view kPurpose = "smd M_Key";
constexpr std::size_t kGuidBytes = 8;

bool is_for_port_info(const SmpRequest& request) {
  return request.attribute == AttributeId::PortInfo;
}

void put_m_key(SmpData& port_info, MKey key) {
  ByteWriter(std::span(port_info).first<8>()).u64(key.value());
}

}  // namespace

MKey derive_m_key(std::string_view seed, Guid port) {
  std::array<std::byte, kPurpose.size() + kGuidBytes> text{};
  std::ranges::transform(kPurpose, text.begin(), [](char c) { return static_cast<std::byte>(c); });
  ByteWriter(std::span(text).subspan(kPurpose.size())).u64(port.value());
  std::array<std::byte, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const void* const done = HMAC(EVP_sha256(),
                                seed.data(),
                                static_cast<int>(seed.size()),
                                static_cast<const unsigned char*>(static_cast<void*>(text.data())),
                                text.size(),
                                static_cast<unsigned char*>(static_cast<void*>(digest.data())),
                                &size);
  SMD_CHECK(done != nullptr && size >= kGuidBytes, "no HMAC-SHA256 in OpenSSL");
  const std::uint64_t key = ByteReader(digest).u64();
  return MKey{key == 0 ? 1 : key};
}

MKey name_of(const MKeySource& source) {
  return source.seed.empty() ? source.key : derive_m_key(source.seed, Guid{});
}

MKey find_m_key(const MKeySources& sources, Guid port, MKey name) {
  for (const MKeySource& source : sources) {
    if (!source.seed.empty() && name_of(source) == name) return derive_m_key(source.seed, port);
  }
  return name;
}

void PortMKeys::adopt(MKeySources sources) {
  if (sources == sources_) return;
  const MKey before = names_.empty() ? MKey{} : names_.front();
  sources_ = std::move(sources);
  names_.clear();
  for (const MKeySource& source : sources_) names_.push_back(name_of(source));
  std::erase_if(known_, [&](const auto& each) { return !source_of(each.second); });
  usual_ = source_of(before) ? before : names_.empty() ? MKey{} : names_.front();
  derived_.assign(sources_.size(), {});
}

bool PortMKeys::has_seed() const {
  return std::ranges::any_of(sources_, [](const MKeySource& each) { return !each.seed.empty(); });
}

std::optional<std::size_t> PortMKeys::source_of(MKey name) const {
  const auto at = std::ranges::find(names_, name);
  if (at == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names_.begin());
}

std::size_t PortMKeys::first_source(Guid port) const {
  const auto known = known_.find(port);
  return *source_of(known == known_.end() ? usual_ : known->second);
}

std::size_t PortMKeys::source_at(Guid port, unsigned attempt) const {
  return (first_source(port) + attempt) % sources_.size();
}

const KeyPort* PortMKeys::follow(const KeyPort* from, const HopPath& path) const {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!from->is_switch && from != &own_) return nullptr;  // adapters pass nothing on
    const auto ends = far_ends_.find(from->node);
    if (ends == far_ends_.end() || path[i].value() >= ends->second.size()) return nullptr;
    from = &ends->second[path[i].value()];
    if (from->node == Guid{}) return nullptr;
  }
  return from;
}

const KeyPort* PortMKeys::find_port(const SmpRoute& route) const {
  if (route.kind == SmpRoute::Kind::Directed) return follow(&own_, route.path);
  if (route.lid.value() >= by_lid_.size() || by_lid_[route.lid.value()].node == Guid{})
    return nullptr;
  return follow(&by_lid_[route.lid.value()], route.path);
}

MKey PortMKeys::key_of(Guid port, std::size_t source) const {
  if (sources_[source].seed.empty()) return sources_[source].key;
  MKey& derived = derived_[source][port];
  if (derived == MKey{}) derived = derive_m_key(sources_[source].seed, port);
  return derived;
}

MKey PortMKeys::find(const SmpRoute& route, MKey name) const {
  if (!source_of(name)) return name;
  const KeyPort* const end = find_port(route);
  return end == nullptr ? MKey{} : key_of(end->port, first_source(end->port));
}

SmpRequest PortMKeys::on_wire(const SmpRequest& request, unsigned attempt) const {
  SmpRequest out = request;
  const KeyPort* const end = find_port(request.route);
  if (source_of(request.m_key)) {
    out.m_key = MKey{};
    if (end != nullptr) out.m_key = key_of(end->port, source_at(end->port, attempt));
  }
  if (request.method == Method::Set && is_for_port_info(request)) {
    const MKey body{ByteReader(request.data).u64()};
    if (const auto source = source_of(body))
      put_m_key(out.data, end == nullptr ? MKey{} : key_of(end->port, *source));
  }
  return out;
}

void PortMKeys::note_source(Guid port, std::size_t source) {
  if (names_[source] == usual_) {
    known_.erase(port);
  } else {
    known_[port] = names_[source];
  }
}

KeyPort& PortMKeys::far_end(const KeyPort& end) {
  std::vector<KeyPort>& ends = far_ends_[end.node];
  if (ends.size() <= end.number.value()) ends.resize(end.number.value() + std::size_t{1});
  return ends[end.number.value()];
}

void PortMKeys::cut(const KeyPort& end) {
  const KeyPort far = std::exchange(far_end(end), KeyPort{});
  if (far.node != Guid{}) far_end(far) = KeyPort{};
}

void PortMKeys::put(const KeyLink& link) {
  const auto& [one, other] = link;
  if (far_end(one) == other && far_end(other) == one) return;
  cut(one);
  cut(other);
  far_end(one) = other;
  far_end(other) = one;
  news_ = true;
}

void PortMKeys::learn_node(const SmpRequest& request, const SmpReply& reply) {
  const auto info = decode_node_info(reply.data);
  if (!info || !is_plausible(*info) || request.route.kind == SmpRoute::Kind::LidRouted) return;
  const KeyPort here{.node = info->node_guid,
                     .port = info->port_guid,
                     .number = info->local_port,
                     .is_switch = info->is_switch()};
  const HopPath& path = request.route.path;
  if (path.empty()) {
    if (request.route.kind == SmpRoute::Kind::Directed) own_ = here;
    return;
  }
  if (info->local_port == PortNum{0}) return;  // nothing is cabled to it
  SmpRoute parent = request.route;
  parent.path = {};
  for (std::size_t i = 0; i + 1 < path.size(); ++i) parent.path.push_back(path[i]);
  const KeyPort* const found = find_port(parent);
  if (found == nullptr || found->node == Guid{}) return;
  KeyPort from = *found;
  from.number = path[path.size() - 1];
  put({from, here});
}

void PortMKeys::learn_port(const SmpRequest& request, unsigned attempt, SmpReply& reply) {
  const KeyPort* const found = find_port(request.route);
  if (found == nullptr) return;
  const KeyPort end = *found;
  // Bit 31 and others of the modifier are no part of the number. The M_Key is that of port 0 or of
  // the adapter's port.
  const auto asked = PortNum{static_cast<std::uint8_t>(request.modifier & 0xff)};
  if (end.is_switch ? asked != PortNum{0} : asked != PortNum{0} && asked != end.number) return;
  const auto info = decode_port_info(reply.data);
  if (!info) return;
  for (unsigned i = 0; is_unicast(info->lid) && i < 1u << info->lmc; ++i) {
    const std::size_t lid = info->lid.value() + std::size_t{i};
    if (by_lid_.size() <= lid) by_lid_.resize(lid + 1);
    by_lid_[lid] = end;
  }
  if (info->m_key == MKey{}) {
    // Hidden from a key that is not the port's.
    if (info->m_key_protect_bits != 0 && source_of(request.m_key))
      note_source(end.port, source_at(end.port, attempt + 1));
    return;
  }
  for (std::size_t source = 0; source < sources_.size(); ++source) {
    if (key_of(end.port, source) != info->m_key) continue;
    note_source(end.port, source);
    put_m_key(reply.data, names_[source]);
    return;
  }
}

void PortMKeys::take_in(const SmpRequest& request, unsigned attempt, SmpReply& reply) {
  if (reply.status != 0) return;
  if (is_for_port_info(request)) return learn_port(request, attempt, reply);
  const bool asks_who = request.attribute == AttributeId::NodeInfo;
  // The key before it may have been the wrong one, or the SMP been lost: PortInfo tells.
  const bool may_tell = attempt > 0 && (asks_who || request.method == Method::Set);
  const KeyPort* const end = find_port(request.route);
  if (may_tell && end != nullptr && source_of(request.m_key))
    note_source(end->port, source_at(end->port, attempt));
  if (asks_who) learn_node(request, reply);
}

std::vector<KeyLink> PortMKeys::links() const {
  const auto place = [](const KeyPort& end) { return std::pair(end.node, end.number); };
  std::vector<KeyLink> out;
  for (const auto& [node, ends] : far_ends_) {
    for (const KeyPort& far : ends) {
      if (far.node == Guid{}) continue;
      const KeyPort& near = far_ends_.at(far.node)[far.number.value()];
      if (place(near) < place(far)) out.emplace_back(near, far);
    }
  }
  std::ranges::sort(out, {}, [&](const KeyLink& link) { return place(link.first); });
  return out;
}

}  // namespace smd
