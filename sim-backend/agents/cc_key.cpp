#include "sim-backend/agents/cc_key.h"

#include "sim-backend/agents/counters.h"

namespace smd::sim {
namespace {

bool reads_key(const MadHeader& header) {
  return header.method == static_cast<std::uint8_t>(Method::Get) &&
         header.attribute_id == static_cast<std::uint16_t>(cc::Attribute::CongestionKeyInfo);
}

}  // namespace

void expire_cc_lease(CongestionState& state, TimePoint now) {
  if (state.lease_end == TimePoint{} || now < state.lease_end) return;
  state.lease_end = {};
  state.key.protect = false;
}

CcKeyVerdict check_cc_key(CongestionState& state,
                          const MadHeader& header,
                          cc::CcKey key,
                          TimePoint now) {
  expire_cc_lease(state, now);
  if (state.key.key == cc::CcKey{} || state.key.key == key) {
    state.lease_end = {};
    return CcKeyVerdict::Pass;
  }
  if (reads_key(header)) {
    return state.key.protect ? CcKeyVerdict::PassHidden : CcKeyVerdict::Pass;
  }
  add_sticky<std::uint16_t>(state.key.violations);
  if (state.lease_end == TimePoint{} && state.key.lease_s != 0) {
    state.lease_end = now + std::chrono::seconds(state.key.lease_s);
  }
  return CcKeyVerdict::Refuse;
}

}  // namespace smd::sim
