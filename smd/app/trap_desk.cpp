#include "smd/app/trap_desk.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "smd/smp/reply.h"

namespace smd::app {

TrapDesk::TrapDesk(Runtime& runtime, SmpClient& client, Sweep sweep, Managers managers)
    : runtime_(runtime), client_(client), sweep_(std::move(sweep)), managers_(std::move(managers)) {
  client_.on_unsolicited([this](const Smp& smp, const MadPacket& packet) { on_smp(smp, packet); });
}

void TrapDesk::listen(Ear ear) {
  ear_ = ear;
  if (ear != Ear::Closed) return;
  first_.reset();
  batch_ = {};
  timer_.reset();
  held_back_.clear();
}

void TrapDesk::on_smp(const Smp& smp, const MadPacket& packet) {
  if (smp.method == Method::Trap) {
    if (ear_ != Ear::Closed) on_trap(smp, packet);
  } else if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::SmInfo)) {
    managers_.on_sm_info(smp, packet);
  }
}

void TrapDesk::on_trap(const Smp& smp, const MadPacket& packet) {
  ++traps_;
  if (ear_ == Ear::Ruling) (void)client_.send_once(make_trap_repress(smp, packet, m_key_));
  const auto notice = decode_notice(smp.data);
  if (notice && heard_) heard_(*notice);
  if (!notice || !notice->is_generic) return;
  log::debug("trap.received", "{}", print_notice(*notice));
  switch (notice->trap_or_device) {
    case trap::kCapability:
      if ((find_capability_change(*notice)->capability_mask & port_cap::kIsSm) != 0)
        managers_.on_manager(notice_subject(*notice));
      return note(notice->trap_or_device, notice_subject(*notice));
    case trap::kLinkState:
    case trap::kSystemGuid:
      return note(notice->trap_or_device, notice_subject(*notice));
    case trap::kLinkIntegrity:
    case trap::kBufferOverrun:
    case trap::kFlowControlUpdate:
      return log::warn("trap.port_errors", "{}", print_notice(*notice));
    case trap::kMKey:
    case trap::kPKey:
    case trap::kQKey:
    case trap::kSwitchPKey:
      return log::warn("trap.key_violation", "{}", print_notice(*notice));
    default:
      return log::info("trap.other", "{}", print_notice(*notice));
  }
}

void TrapDesk::note(std::uint16_t number, Lid source) {
  const auto key = std::pair{source, number};
  if (held_back_.contains(key)) return;
  const Duration wait = throttle_.take(source, runtime_.now());
  if (wait == Duration{0}) return ring(number, source);
  log::warn("trap.storm",
            "lid={} trap={} held_back={}ms",
            source,
            number,
            std::chrono::duration_cast<std::chrono::milliseconds>(wait).count());
  held_back_[key] = Timer(runtime_, runtime_.now() + wait, [this, number, source] {
    held_back_.erase({source, number});
    note(number, source);
  });
}

void TrapDesk::ring(std::uint16_t number, Lid source) {
  if (!first_) {
    first_ = runtime_.now();
    batch_ = {.reason = fmt::format("trap {} from lid {}", number, source)};
  }
  (number == trap::kLinkState ? batch_.changed : batch_.redescribed).push_back(source);
  const TimePoint when = std::min(runtime_.now() + debounce_, *first_ + debounce_max_);
  timer_ = Timer(runtime_, when, [this] {
    first_.reset();
    sweep_(std::move(batch_));
  });
}

}  // namespace smd::app
