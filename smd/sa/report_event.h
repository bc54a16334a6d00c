// An event as subscribers are told of it: the notice with the GID of its issuer (IBA 13.4.8.2), and
// what decides whom it is for.
#pragma once

#include <array>
#include <vector>

#include "smd/mad/notice.h"
#include "smd/sa/inform_info.h"
#include "smd/sa/sa_event.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

namespace trap {
inline constexpr std::uint16_t kGidInService = 64;
inline constexpr std::uint16_t kGidOutOfService = 65;
inline constexpr std::uint16_t kGroupCreated = 66;
inline constexpr std::uint16_t kGroupDeleted = 67;
}  // namespace trap

/// ProducerType of what the manager itself reports (IBA 13.4.8.2, table 121).
inline constexpr std::uint32_t kClassManager = 4;

/// NoticeDataDetails ends here; IssuerGID follows.
inline constexpr std::size_t kIssuerGidAt = 64;
inline constexpr std::size_t kReportSize = 80;

struct ReportEvent {
  Notice notice;
  Gid issuer;
  Gid subject;               // traps 64 to 67: of whom they tell; else the issuer
  std::vector<PKey> keys;    // of the subject when it happened: who shares none is not told
  bool for_trusted = false;  // keys, and who tried which (traps 256 to 259)
};

/// What `event` is in `view`. A GID that is out of service is looked up in `before`, the view in
/// which it was last seen; may be null.
[[nodiscard]] ReportEvent make_report_event(const SubnetView& view,
                                            const SubnetView* before,
                                            const SaEvent& event);

void encode_report(const ReportEvent& event, std::span<std::byte> data);

/// The notice is one that `info` asks for; who may know of it aside.
[[nodiscard]] bool asks_for(const InformInfo& info, const ReportEvent& event);

}  // namespace smd::sa
