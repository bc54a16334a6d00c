#include "smd/app/trap_desk.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/smp/reply.h"

namespace smd::app {

TrapDesk::TrapDesk(Runtime& runtime, SmpClient& client, Sweep sweep)
    : runtime_(runtime), client_(client), sweep_(std::move(sweep)) {
  client_.on_unsolicited([this](const Smp& smp, const MadPacket& packet) { on_smp(smp, packet); });
}

void TrapDesk::on_smp(const Smp& smp, const MadPacket& packet) {
  if (smp.method == Method::Trap) return on_trap(smp, packet);
  if (smp.method == Method::Get &&
      smp.attribute_id == static_cast<std::uint16_t>(AttributeId::SmInfo)) {
    SmpData data{};
    encode_sm_info(sm_info_, data);
    (void)client_.send_once(make_response(smp, packet, data));
  }
}

void TrapDesk::on_trap(const Smp& smp, const MadPacket& packet) {
  ++traps_;
  (void)client_.send_once(make_trap_repress(smp, packet, m_key_));
  const auto notice = decode_notice(smp.data);
  if (!notice || !notice->is_generic) return;
  log::debug("trap.received", "{}", print_notice(*notice));
  switch (notice->trap_or_device) {
    case 128:
    case 144:
      return ring(*notice);
    case 256:
    case 257:
    case 258:
    case 259:
      return log::warn("trap.key_violation", "{}", print_notice(*notice));
    default:
      return log::info("trap.other", "{}", print_notice(*notice));
  }
}

void TrapDesk::ring(const Notice& notice) {
  if (!first_) {
    first_ = runtime_.now();
    batch_ = {.reason =
                  fmt::format("trap {} from lid {}", notice.trap_or_device, notice.issuer_lid)};
  }
  if (notice.trap_or_device == 144) batch_.redescribed.push_back(notice_subject(notice));
  const TimePoint when = std::min(runtime_.now() + debounce_, *first_ + debounce_max_);
  timer_ = Timer(runtime_, when, [this] {
    first_.reset();
    sweep_(std::move(batch_));
  });
}

}  // namespace smd::app
