#include "smd/policy/port_policy.h"

#include <algorithm>

#include "smd/mad/tables.h"

namespace smd {
namespace {

/// An agent that reports no capability still has VL0 and 256 bytes.
std::uint8_t at_least_one(std::uint8_t code) { return std::max<std::uint8_t>(code, 1); }

constexpr auto kPolling = static_cast<std::uint8_t>(PhysState::Polling);

/// Fields that describe the link: both ends must agree.
void set_link_fields(PortInfo& info, const PortInfo& peer, const PortPolicy& policy) {
  const auto mtu = std::min({at_least_one(info.mtu_cap),
                             at_least_one(peer.mtu_cap),
                             static_cast<std::uint8_t>(policy.mtu_max)});
  const auto vls =
      std::min({at_least_one(info.vl_cap), at_least_one(peer.vl_cap), policy.max_operational_vls});
  info.neighbor_mtu = mtu;
  info.operational_vls = vls;
  info.local_phy_errors = policy.local_phy_errors;
  info.overrun_errors = policy.overrun_errors;
  // A port that sleeps after the loss of its link never comes back.
  if (info.link_down_default_state == static_cast<std::uint8_t>(PhysState::Sleep))
    info.link_down_default_state = kPolling;
}

/// Fields of a port that has a LID.
void set_end_port_fields(PortInfo& info, Lid lid, std::uint8_t lmc, const PortPolicy& policy) {
  info.lid = lid;
  info.lmc = lmc;
  info.master_sm_lid = policy.master_sm_lid;
  info.gid_prefix = policy.subnet_prefix;
  info.m_key = policy.m_key;
  info.m_key_protect_bits = policy.protect_bits();
  info.m_key_lease_period = policy.m_key_lease_s;
  info.subnet_timeout = policy.subnet_timeout;
}

std::optional<SmpData> with_default_pkey(const SmpData& now) {
  auto block = decode_p_key_block(now);
  if (!block) return std::nullopt;
  if (std::ranges::find(*block, kDefaultPKey) != block->end()) return std::nullopt;
  auto place =
      std::ranges::find_if(*block, [](PKey key) { return same_partition(key, kDefaultPKey); });
  if (place == block->end())
    place = std::ranges::find_if(*block, [](PKey key) { return partition_of(key) == 0; });
  *(place == block->end() ? block->begin() : place) = kDefaultPKey;
  SmpData wanted{};
  encode_p_key_block(*block, wanted);
  return wanted;
}

}  // namespace

PortInfo desired_port_info(const Fabric& fabric,
                           const LidMap& lids,
                           PortIdx port,
                           const PortPolicy& policy) {
  PortInfo info = fabric.port_info[port];
  const NodeIdx node = fabric.node_of[port];
  const PortIdx peer = fabric.peer[port];
  if (fabric.is_end_port(port)) set_end_port_fields(info, lids.base[port], lids.lmc[port], policy);
  if (peer != kNone<PortIdx> && fabric.number_of(port) != PortNum{0}) {
    set_link_fields(info, fabric.port_info[peer], policy);
    // How long packets wait that pass through: adapters have none.
    if (fabric.is_switch(node)) {
      const bool leaf = !fabric.is_switch(fabric.node_of[peer]);
      info.hoq_life = leaf ? policy.leaf_hoq_life : policy.hoq_life;
      info.vl_stall_count = leaf ? policy.leaf_vl_stall_count : policy.vl_stall_count;
    }
  } else if (is_managed(fabric, port) && is_data_port(fabric, port)) {
    // No more than that: it has no peer, and OpenSM leaves it as it comes up.
    info.operational_vls = std::min(info.operational_vls, policy.max_operational_vls);
  }
  const auto limit = policy.vl_high_limit[static_cast<std::size_t>(kind_of(fabric, port))];
  if (limit && is_managed(fabric, port) && is_data_port(fabric, port)) info.vl_high_limit = *limit;
  return info;
}

bool differs(const PortInfo& now, const PortInfo& wanted) {
  PortInfo same = wanted;
  same.port_state = now.port_state;
  return now != same;
}

PortInfo set_body(const PortInfo& wanted, PortState state) {
  PortInfo body = wanted;
  body.port_state = static_cast<std::uint8_t>(state);
  body.port_physical_state = 0;
  body.link_width_enabled = 0;
  body.link_speed_enabled = 0;
  body.link_speed_ext_enabled = 0;
  body.link_speed_ext2_enabled = 0;
  if (wanted.link_down_default_state != kPolling) body.link_down_default_state = 0;
  return body;
}

bool is_managed(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  if (fabric.number_of(port) == PortNum{0}) return fabric.is_switch(node);
  return fabric.peer[port] != kNone<PortIdx>;
}

bool lacks_lid(const Fabric& fabric, const LidMap& lids, PortIdx port) {
  const auto lacks = [&](PortIdx end) {
    return end != kNone<PortIdx> && fabric.is_end_port(end) && lids.base[end] == kUnassignedLid;
  };
  return lacks(port) || lacks(fabric.peer[port]);
}

bool is_to_be_active(const Fabric& fabric, const LidMap& lids, PortIdx port) {
  return is_managed(fabric, port) && is_data_port(fabric, port) && !lacks_lid(fabric, lids, port);
}

bool shows_foreign_key(const Fabric& fabric, PortIdx port, MKey ours) {
  const MKey key = fabric.port_info[port].m_key;
  return fabric.is_end_port(port) && key != MKey{} && key != ours;
}

bool hides_key(const Fabric& fabric, PortIdx port) {
  // From level 1 on.
  const PortInfo& info = fabric.port_info[port];
  return fabric.is_end_port(port) && info.m_key == MKey{} && info.m_key_protect_bits != 0;
}

ForeignKeys find_foreign_keys(const Fabric& fabric, MKey ours) {
  ForeignKeys out;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const PortInfo& info = fabric.port_info[port];
    if (!hides_key(fabric, port) && !shows_foreign_key(fabric, port, ours)) continue;
    if (!out.first) out.first = port;
    ++out.ports;
    out.longest_lease_s = std::max(out.longest_lease_s, info.m_key_lease_period);
    out.forever += info.m_key_lease_period == 0 ? 1u : 0u;
  }
  return out;
}

std::vector<TableCheck> build_default_pkey_checks(const Fabric& fabric) {
  std::vector<TableCheck> checks;
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port))
      checks.push_back({port, AttributeId::PKeyTable, 0, with_default_pkey});
  }
  return checks;
}

}  // namespace smd
