#include "smd/discovery/description_fetch.h"

#include <utility>

namespace smd {

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

}  // namespace smd
