#include "smd/discovery/node_details.h"

#include <algorithm>
#include <utility>

#include "smd/mad/port_info.h"

namespace smd {
namespace {

constexpr std::uint32_t kMellanox = 0x0002c9;
constexpr std::uint8_t kFdr10Active = 1;

}  // namespace

void DescriptionFetch::start(const SweepReport& report, std::set<Guid> again, Done done) {
  const auto issue_next = [this,
                           &report,
                           again = std::move(again),
                           fabric = report.fabric,
                           node = NodeIdx{0}]() mutable {
    while (node.value() < fabric->node_count() && !fabric->description[node].empty() &&
           !again.contains(fabric->node_guid[node]))
      node = next(node);
    if (node.value() >= fabric->node_count()) return false;
    pump_.send({.route = SmpRoute::directed(report.path[node]),
                .attribute = AttributeId::NodeDescription,
                .m_key = m_key_},
               [this, guid = fabric->node_guid[node]](const Result<SmpReply>& reply) {
                 if (!reply || reply->status != 0) return;
                 if (auto text = decode_node_description(reply->data))
                   found_[guid] = std::move(*text);
               });
    node = next(node);
    return true;
  };
  pump_.start(issue_next, [this, done = std::move(done)] { done(std::move(found_)); });
}

bool may_run_fdr10(const Fabric& fabric, PortIdx port) {
  return fabric.peer[port] != kNone<PortIdx> &&
         fabric.node_info[fabric.node_of[port]].vendor_id == kMellanox &&
         active_speed(fabric.port_info[port]) == LinkSpeed::Qdr;
}

void Fdr10Fetch::start(const SweepReport& report, std::vector<PortIdx> ports, Done done) {
  const auto issue_next = [this,
                           &report,
                           fabric = report.fabric,
                           ports = std::move(ports),
                           at = std::size_t{0}]() mutable {
    while (at < ports.size() && !may_run_fdr10(*fabric, ports[at])) ++at;
    if (at == ports.size()) return false;
    const PortIdx port = ports[at++];
    pump_.send({.route = SmpRoute::directed(path_to(report, port)),
                .attribute = AttributeId::ExtendedPortInfo,
                .modifier = fabric->number_of(port).value(),
                .m_key = m_key_},
               [this, port](const Result<SmpReply>& reply) {
                 if (!reply || reply->status != 0) return;
                 const auto info = decode_extended_port_info(reply->data);
                 if (info && (info->link_speed_active & kFdr10Active) != 0) found_.push_back(port);
               });
    return true;
  };
  pump_.start(issue_next, [this, done = std::move(done)] {
    std::ranges::sort(found_);
    done(std::move(found_));
  });
}

}  // namespace smd
