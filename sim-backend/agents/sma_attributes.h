// One function per attribute of the subnet management agent. Each reads a Get or Set from `smp`,
// leaves the attribute as it now is in smp.data and returns the status.
#pragma once

#include "sim-backend/agents/sma.h"

namespace smd::sim {

MadStatus answer_switch_info(const SmaRequest& request, Smp& smp);
MadStatus answer_port_state_table(const SmaRequest& request, Smp& smp);
MadStatus answer_port_info(const SmaRequest& request, Smp& smp);
MadStatus answer_extended_port_info(const SmaRequest& request, Smp& smp);
MadStatus answer_general_info(const SmaRequest& request, Smp& smp);
MadStatus answer_adaptive_routing_info(const SmaRequest& request, Smp& smp);
MadStatus answer_private_lft_info(const SmaRequest& request, Smp& smp);
MadStatus answer_guid_info(const SmaRequest& request, Smp& smp);
MadStatus answer_p_key_table(const SmaRequest& request, Smp& smp);
MadStatus answer_sl_to_vl(const SmaRequest& request, Smp& smp);
MadStatus answer_vl_arbitration(const SmaRequest& request, Smp& smp);
MadStatus answer_lft(const SmaRequest& request, Smp& smp);
MadStatus answer_rft(const SmaRequest& request, Smp& smp);
MadStatus answer_mft(const SmaRequest& request, Smp& smp);

}  // namespace smd::sim
