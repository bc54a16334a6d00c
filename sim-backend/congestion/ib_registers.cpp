#include "sim-backend/congestion/ib_registers.h"

namespace smd::sim {

IbSwitchRegisters read_switch(const CongestionState& state) {
  return {.setting = state.switch_setting, .ports = state.port_settings};
}

IbCaRegisters read_ca(const CongestionState& state) {
  return {.setting = state.ca_setting, .table = state.table, .limit = state.ccti_limit};
}

}  // namespace smd::sim
