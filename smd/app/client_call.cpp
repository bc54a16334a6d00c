#include "smd/app/client_call.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "smd/base/log.h"
#include "smd/policy/port_policy.h"

namespace smd::app {

void ClientCall::note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports) {
  for (const PortIdx port : ports) came_up_.insert(fabric.port_guid[port]);
}

void ClientCall::call(const ActiveSubnet& now,
                      const std::vector<Guid>& before,
                      const std::vector<Guid>& after,
                      MKey m_key) {
  const std::set<Guid> told = std::exchange(came_up_, {});
  for (const Guid guid : told) owed_.erase(guid);
  std::vector<Guid> fresh;
  std::ranges::set_difference(after, before, std::back_inserter(fresh));
  for (const Guid guid : fresh) {
    if (!told.contains(guid)) owed_.insert(guid);
  }
  if (owed_.empty()) return;

  const Fabric& fabric = now.fabric();
  std::set<Guid> present;
  for (const PortIdx port : now.lids->base.indices()) {
    const Guid guid = fabric.port_guid[port];
    if (now.lids->base[port] == kUnassignedLid || !owed_.contains(guid)) continue;
    const PortInfo& info = fabric.port_info[port];
    if ((info.capability_mask & port_cap::kIsClientReregistrationSupported) == 0) continue;
    present.insert(guid);
    if (!under_way_.insert(guid).second) continue;
    PortInfo body = set_body(info, PortState::NoChange);
    body.client_reregister = true;
    SmpRequest request{.route = SmpRoute::directed(path_to(now.sweep, port)),
                       .method = Method::Set,
                       .attribute = AttributeId::PortInfo,
                       .modifier = fabric.number_of(port).value(),
                       .m_key = m_key};
    encode_port_info(body, request.data);
    scope_.send(request, [this, guid](const Result<SmpReply>& reply) {
      under_way_.erase(guid);
      if (reply && reply->status == 0) {
        ++asked_;
        owed_.erase(guid);
      }
    });
  }
  // Who is gone, or cannot be asked, is owed nothing.
  std::erase_if(owed_, [&present](Guid guid) { return !present.contains(guid); });
  if (!under_way_.empty()) log::info("clients.reregister", "ports={}", under_way_.size());
}

std::vector<Guid> ClientCall::without_owed(const std::vector<Guid>& guids) const {
  std::vector<Guid> out;
  std::ranges::copy_if(
      guids, std::back_inserter(out), [this](Guid guid) { return !owed_.contains(guid); });
  return out;
}

}  // namespace smd::app
