#include "smd/discovery/description_fetch.h"

#include <utility>

namespace smd {

void DescriptionFetch::start(const SweepReport& report, Done done) {
  report_ = &report;
  done_ = std::move(done);
  pump();
}

void DescriptionFetch::pump() {
  const Fabric& fabric = *report_->fabric;
  for (; next_ < fabric.node_count() && outstanding_ < client_.window(); ++next_) {
    const NodeIdx node{next_};
    if (!fabric.description[node].empty()) continue;
    ++outstanding_;
    scope_.send({.route = SmpRoute::directed(report_->path[node]),
                 .attribute = AttributeId::NodeDescription,
                 .m_key = m_key_},
                [this, guid = fabric.node_guid[node]](const Result<SmpReply>& reply) {
                  --outstanding_;
                  if (reply && reply->status == 0) {
                    if (auto text = decode_node_description(reply->data))
                      found_[guid] = std::move(*text);
                  }
                  pump();
                });
  }
  if (outstanding_ == 0 && done_) std::exchange(done_, nullptr)(std::move(found_));
}

}  // namespace smd
