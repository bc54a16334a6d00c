#include "smd/manager/trap_handler.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/mad/port_info.h"
#include "smd/smp/messages.h"

namespace smd {
namespace {

NodeIdx node_at(const ActiveSubnet& now, Lid lid) {
  const PortIdx port = now.lids->owner_of(lid);
  return port == kNone<PortIdx> ? kNone<NodeIdx> : now.fabric().node_of[port];
}

struct Walked {
  NodeIdx last;        // the last node on the way that is known
  bool whole = false;  // it is the end of the way
};

Walked walk(const Fabric& fabric, const HopPath& path) {
  NodeIdx at = fabric.sm_node;
  for (std::size_t hop = 0; hop < path.size(); ++hop) {
    if (path[hop] == PortNum{0} || path[hop].value() > fabric.num_ports(at)) return {at};
    const PortIdx far = fabric.peer[fabric.port_of(at, path[hop])];
    if (far == kNone<PortIdx>) return {at};
    at = fabric.node_of[far];
  }
  return {at, true};
}

}  // namespace

TrapSender find_trap_sender(const ActiveSubnet& now,
                            const Smp& trap,
                            const MadPacket& packet,
                            Lid issuer) {
  const NodeIdx named = node_at(now, issuer);
  NodeIdx sender = kNone<NodeIdx>;
  bool certain = true;
  if (trap.directed) {
    const auto back = find_route_back(trap, packet);
    if (!back) return {};  // what it says of its LID-routed part is as good as what it says itself
    const Walked end = walk(now.fabric(), back->path);
    sender = end.last;
    certain = end.whole;
  } else {
    // Some drivers give no source for what a port sends to itself.
    sender = is_unicast(packet.remote_lid) ? node_at(now, packet.remote_lid) : named;
  }
  if (sender == kNone<NodeIdx>) return {};
  return {.node = now.fabric().node_guid[sender],
          .is_issuer = certain && (named == sender || issuer == kUnassignedLid)};
}

TrapHandler::TrapHandler(Runtime& runtime, SmpClient& client, Hooks hooks)
    : runtime_(runtime),
      client_(client),
      hooks_(std::move(hooks)),
      limiter_(runtime, kMostSources, [this](const Source& source, const Report& report) {
        pass(source, report);
      }) {
  client_.on_unsolicited([this](const Smp& smp, const MadPacket& packet) { on_smp(smp, packet); });
}

void TrapHandler::listen(Listen how) {
  how_ = how;
  if (how != Listen::Off) return;
  first_.reset();
  batch_ = {};
  asked_.clear();
  handed_.clear();
  under_sweep_.clear();
  timer_.reset();
  limiter_.clear();
}

void TrapHandler::begin_sweep() { under_sweep_.merge(std::exchange(handed_, {})); }

void TrapHandler::end_sweep(bool found) {
  for (const Source& source : std::exchange(under_sweep_, {})) {
    if (found) {
      limiter_.restore(source);
    } else {
      limiter_.slow_down(source);
    }
  }
}

std::string TrapHandler::alarm() const {
  if (!limiter_.waiting()) return "";
  return fmt::format(
      "{} sends traps faster than they are heeded; of {} senders, {} traps were held back, {} "
      "dropped; {} named another issuer than their sender",
      loudest_ == Guid{} ? std::string("a node that is not known") : fmt::format("{}", loudest_),
      limiter_.held_back(),
      stats_.held_back,
      stats_.no_room,
      stats_.unknown_issuer + stats_.wrong_issuer);
}

void TrapHandler::on_smp(const Smp& smp, const MadPacket& packet) {
  if (smp.method == Method::Trap) {
    if (how_ != Listen::Off) on_trap(smp, packet);
  } else if (smp.attribute_id == static_cast<std::uint16_t>(AttributeId::SmInfo)) {
    hooks_.on_sm_info(smp, packet);
  }
}

void TrapHandler::on_trap(const Smp& smp, const MadPacket& packet) {
  ++stats_.received;
  const auto notice = decode_notice(smp.data);
  const ActiveSubnet* now = hooks_.in_force();
  const Lid issuer = notice ? notice->issuer_lid : kUnassignedLid;
  const TrapSender sender = now ? find_trap_sender(*now, smp, packet, issuer) : TrapSender{};
  // A repress shows our M_Key: whoever speaks for somebody else gets none.
  if (how_ == Listen::AsMaster) {
    const bool may_have_it = sender.is_issuer || now == nullptr;
    if (may_have_it && limiter_.take({sender.node, Kind::Repress}, kRepressRate)) {
      repress(smp, packet);
    } else {
      ++stats_.unrepressed;
    }
  }
  if (!notice) {
    ++stats_.malformed;
    return;
  }
  const Report report{.notice = *notice,
                      .from = is_unicast(packet.remote_lid) ? packet.remote_lid : issuer,
                      .is_issuers = sender.is_issuer};
  if (sender.is_issuer) {
    if (on_notice_) on_notice_(*notice);
    if (notice->is_generic) offer({sender.node, kind_of(*notice)}, report);
    return;
  }
  if (now != nullptr) {
    const bool nobodys = now->lids->owner_of(issuer) == kNone<PortIdx>;
    ++(nobodys ? stats_.unknown_issuer : stats_.wrong_issuer);
  }
  offer({sender.node, Kind::Change}, report);
}

void TrapHandler::repress(const Smp& trap, const MadPacket& packet) {
  MadPacket from = packet;
  // What a port sends to itself, where the driver gives no source.
  if (!trap.directed && !is_unicast(from.remote_lid)) from.remote_lid = client_.local_lid();
  const auto back = find_route_back(trap, from);
  const MKey key = back ? client_.find_m_key(*back, m_key_) : MKey{};
  (void)client_.send_once(make_trap_repress(trap, from, key));
}

TrapHandler::Kind TrapHandler::kind_of(const Notice& notice) {
  switch (notice.trap_or_device) {
    case trap::kLinkState:
      return Kind::Change;
    case trap::kCapability:
    case trap::kSystemGuid:
      return Kind::Description;
    case trap::kLinkIntegrity:
    case trap::kBufferOverrun:
    case trap::kFlowControlUpdate:
      return Kind::PortErrors;
    case trap::kMKey:
    case trap::kPKey:
    case trap::kQKey:
    case trap::kSwitchPKey:
      return Kind::Keys;
    default:
      return Kind::Other;
  }
}

void TrapHandler::offer(const Source& source, Report report) {
  using Verdict = decltype(limiter_)::Verdict;
  const Lid from = report.from;
  const std::uint16_t number = report.notice.trap_or_device;
  const std::size_t before = limiter_.held_back();
  const Rate& rate = source.first == Guid{} ? kUnknownRate : kRate;
  switch (limiter_.offer(source, rate, std::move(report))) {
    case Verdict::Passed:
      return;
    case Verdict::NoRoom:
      ++stats_.no_room;
      return;
    case Verdict::HeldBack:
      break;
  }
  ++stats_.held_back;
  loudest_ = source.first;
  if (limiter_.held_back() > before)
    log::warn("trap.storm", "node={} lid={} trap={}; held back", source.first, from, number);
}

/// At a bounded rate for each sender.
void TrapHandler::pass(const Source& source, const Report& report) {
  const Notice& notice = report.notice;
  log::debug("trap.received", "node={} {}", source.first, print_notice(notice));
  switch (source.second) {
    case Kind::Description:
      if (const auto change = find_capability_change(notice);
          change && (change->capability_mask & port_cap::kIsSm) != 0)
        hooks_.on_manager(report.from);
      return collect(source, report);
    case Kind::Change:
      return collect(source, report);
    case Kind::PortErrors:
      return log::warn("trap.port_errors", "{}", print_notice(notice));
    case Kind::Keys:
      return log::warn("trap.key_violation", "{}", print_notice(notice));
    case Kind::Other:
      return log::info("trap.other", "{}", print_notice(notice));
    case Kind::Repress:
      return;  // never held back
  }
}

void TrapHandler::collect(const Source& source, const Report& report) {
  const auto& [node, kind] = source;
  if (!first_) {
    first_ = runtime_.now();
    batch_ = {.reason =
                  fmt::format("trap {} from lid {}", report.notice.trap_or_device, report.from)};
    timer_.reset();
  }
  if (kind == Kind::Change) asked_.insert(source);
  const std::uint16_t number = report.notice.trap_or_device;
  const Lid issuer = report.notice.issuer_lid;
  if (node == Guid{}) {
    log::warn("trap.unknown_sender", "lid={} trap={} issuer_lid={}", report.from, number, issuer);
  } else if (!report.is_issuers) {
    log::warn("trap.wrong_issuer",
              "node={} lid={} trap={} issuer_lid={}; looked at where it hangs",
              node,
              report.from,
              number,
              issuer);
  }
  bool is_news = false;
  if (node == Guid{}) {
    is_news = !std::exchange(batch_.unknown, true);
  } else {
    is_news = (kind == Kind::Change ? batch_.changed : batch_.redescribed).insert(node).second;
  }
  if (!is_news && !report.is_issuers) return;
  const TimePoint when = std::min(runtime_.now() + debounce_, *first_ + debounce_max_);
  timer_ = Timer(runtime_, when, [this] {
    first_.reset();
    handed_.merge(std::exchange(asked_, {}));
    hooks_.on_batch(std::exchange(batch_, {}));
  });
}

}  // namespace smd
