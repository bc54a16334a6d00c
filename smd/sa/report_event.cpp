#include "smd/sa/report_event.h"

#include <utility>

#include "smd/base/byte_reader.h"
#include "smd/base/byte_writer.h"
#include "smd/sa/access.h"

namespace smd::sa {
namespace {

constexpr std::uint16_t kFirstOfKeys = smd::trap::kMKey;
constexpr std::uint16_t kLastOfKeys = smd::trap::kSwitchPKey;

Gid gid_of(const SubnetView& view, PortIdx port) {
  if (port == kNone<PortIdx>) return {};
  return {view.parts().subnet_prefix, view.fabric().port_guid[port]};
}

/// Traps 64 to 67: six bytes of nothing, then the GID.
ReportEvent of_manager(const SubnetView& view, std::uint16_t number, const Gid& subject) {
  const PortIdx own = view.fabric().sm_port;
  ReportEvent out{.issuer = gid_of(view, own), .subject = subject};
  out.notice.type = static_cast<std::uint8_t>(NoticeType::SubnetManagement);
  out.notice.producer_or_vendor = kClassManager;
  out.notice.trap_or_device = number;
  out.notice.issuer_lid = view.lid_of(own);
  ByteWriter details(std::as_writable_bytes(std::span(out.notice.details)));
  details.zeros(6);
  details.u64(subject.prefix);
  details.u64(subject.guid.value());
  return out;
}

struct Maker {
  const SubnetView& view;
  const SubnetView* before;

  ReportEvent operator()(const TrapEvent& event) const {
    const PortIdx issuer = view.lids().owner_of(event.notice.issuer_lid);
    const std::uint16_t number = event.notice.trap_or_device;
    return {
        .notice = event.notice,
        .issuer = gid_of(view, issuer),
        .subject = gid_of(view, issuer),
        .keys = keys_of(view, issuer),
        .for_trusted = event.notice.is_generic && number >= kFirstOfKeys && number <= kLastOfKeys};
  }

  ReportEvent operator()(const GidEvent& event) const {
    ReportEvent out = of_manager(
        view, event.in_service ? trap::kGidInService : trap::kGidOutOfService, event.gid);
    const SubnetView* known = event.in_service ? &view : before;
    const PortIdx port = known != nullptr ? known->find_port(event.gid.guid) : kNone<PortIdx>;
    // Nobody knows which partitions a port was in that was last seen in another life.
    out.keys = port == kNone<PortIdx> ? std::vector{kDefaultPKey} : keys_of(*known, port);
    return out;
  }

  ReportEvent operator()(const GroupEvent& event) const {
    ReportEvent out =
        of_manager(view, event.created ? trap::kGroupCreated : trap::kGroupDeleted, event.mgid);
    out.keys = {event.p_key};
    return out;
  }
};

}  // namespace

ReportEvent make_report_event(const SubnetView& view,
                              const SubnetView* before,
                              const SaEvent& event) {
  return std::visit(Maker{view, before}, event);
}

void encode_report(const ReportEvent& event, std::span<std::byte> data) {
  encode_notice(event.notice, data.first<kSmpDataSize>());
  ByteWriter issuer(data.subspan(kIssuerGidAt, sizeof(std::uint64_t) * 2));
  issuer.u64(event.issuer.prefix);
  issuer.u64(event.issuer.guid.value());
}

bool asks_for(const InformInfo& info, const ReportEvent& event) {
  const Notice& notice = event.notice;
  if ((info.is_generic != 0) != notice.is_generic) return false;
  if (info.gid != Gid{}) {
    if (info.gid != event.subject && info.gid != event.issuer) return false;
  } else if (info.lid_first != kAnyLid) {
    if (notice.issuer_lid < info.lid_first || notice.issuer_lid > info.lid_last) return false;
  }
  if (info.type != kAnyType && info.type != notice.type) return false;
  if (info.trap_or_device != kAnyTrap && info.trap_or_device != notice.trap_or_device) return false;
  return info.producer_or_vendor == kAnyProducer ||
         info.producer_or_vendor == notice.producer_or_vendor;
}

}  // namespace smd::sa
