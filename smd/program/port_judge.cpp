#include "smd/program/port_judge.h"

#include <fmt/format.h>

namespace smd {
namespace {

template <class T>
void compare(std::string& out, std::string_view name, T wanted, T answered) {
  if (wanted == answered) return;
  out += fmt::format("{}{} {} set, {} kept", out.empty() ? "" : "; ", name, wanted, answered);
}

}  // namespace

std::string find_lost_address(const PortInfo& wanted, const PortInfo& answered) {
  if (answered.lid != wanted.lid)
    return fmt::format("LID {} was not kept: it answers {}", wanted.lid, answered.lid);
  if (answered.lmc != wanted.lmc)
    return fmt::format("LMC {} was not kept: it answers {}", wanted.lmc, answered.lmc);
  if (answered.master_sm_lid != wanted.master_sm_lid) {
    return fmt::format(
        "MasterSMLID {} was not kept: it answers {}", wanted.master_sm_lid, answered.master_sm_lid);
  }
  return "";
}

std::string find_not_kept(const PortInfo& wanted, const PortInfo& answered) {
  std::string out;
  compare(out, "NeighborMTU", wanted.neighbor_mtu, answered.neighbor_mtu);
  compare(out, "OperationalVLs", wanted.operational_vls, answered.operational_vls);
  compare(out, "HOQLife", wanted.hoq_life, answered.hoq_life);
  compare(out, "VLStallCount", wanted.vl_stall_count, answered.vl_stall_count);
  compare(out, "VLHighLimit", wanted.vl_high_limit, answered.vl_high_limit);
  compare(out, "LocalPhyErrors", wanted.local_phy_errors, answered.local_phy_errors);
  compare(out, "OverrunErrors", wanted.overrun_errors, answered.overrun_errors);
  compare(out, "SubnetTimeout", wanted.subnet_timeout, answered.subnet_timeout);
  compare(out, "MasterSMSL", wanted.master_sm_sl, answered.master_sm_sl);
  compare(out, "GidPrefix", wanted.gid_prefix, answered.gid_prefix);
  compare(out, "M_KeyProtectBits", wanted.m_key_protect_bits, answered.m_key_protect_bits);
  compare(out, "M_KeyLeasePeriod", wanted.m_key_lease_period, answered.m_key_lease_period);
  if (wanted.m_key != answered.m_key) out += out.empty() ? "M_Key" : "; M_Key";
  return out;
}

}  // namespace smd
