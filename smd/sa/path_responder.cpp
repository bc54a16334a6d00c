#include "smd/sa/path_responder.h"

#include <algorithm>
#include <utility>

#include "smd/sa/path_finder.h"
#include "smd/sa/query.h"

namespace smd::sa {
namespace {

namespace part = path_component;

/// Pairs of LIDs: more than that are no business of a thread that all wait for.
constexpr QueryLimits kLimits{.paths = 16};

/// A question about one pair of ports of this subnet.
bool names_one_pair(const SubnetView& view, const Query& query) {
  if (!asks(query, part::kSgid) && !asks(query, part::kSlid)) return false;
  if (!asks(query, part::kDgid)) return asks(query, part::kDlid);
  return !is_elsewhere(view, decode_path_record(query.data)->dgid);
}

}  // namespace

void PathResponder::adopt(std::shared_ptr<const SubnetView> view) {
  const std::lock_guard lock(mutex_);
  if (view == view_) return;
  former_.swap(view_);
  view_.swap(view);
}

bool PathResponder::may_answer(const MadPacket& request) {
  const SaHeader header = *decode_sa_header(request.mad);
  return header.mad.mgmt_class == static_cast<std::uint8_t>(MgmtClass::SubnAdm) &&
         header.mad.base_version == 1 && header.mad.class_version == kClassVersion &&
         static_cast<Method>(header.mad.method) == Method::Get &&
         static_cast<RecordId>(header.mad.attribute_id) == RecordId::PathRecord &&
         !header.rmpp.active() && header.sm_key == SmKey{};
}

std::optional<MadPacket> PathResponder::answer(const MadPacket& request) {
  std::shared_ptr<const SubnetView> view;
  {
    const std::lock_guard lock(mutex_);
    view = view_;
  }
  if (!view || !may_answer(request)) return std::nullopt;
  const Query query{.header = *decode_sa_header(request.mad),
                    .data = data_of(request),
                    .client = client_of(request),
                    .requester = view->lids().owner_of(request.remote_lid),
                    .off_loop = true};
  if (!names_one_pair(*view, query)) return std::nullopt;
  const Answer answer = answer_query(*view, query, kLimits);
  if (answer.status != Status::Ok) return std::nullopt;
  ++answered_;
  MadPacket packet = make_answer(request, query.header, answer);
  packet.sl = view->sl_to(request.remote_lid, request.sl);
  return packet;
}

}  // namespace smd::sa
