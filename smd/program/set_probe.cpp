#include "smd/program/set_probe.h"

#include <utility>

namespace smd {

void SetProbe::start(const SweepReport& found, std::vector<SwitchIdx> switches, Done done) {
  found_ = &found;
  switches_ = std::move(switches);
  pump_.start(
      [this] {
        if (next_ == switches_.size()) return false;
        read(switches_[next_++]);
        return true;
      },
      [this, done = std::move(done)] { done(std::move(willing_)); });
}

SmpRequest SetProbe::request(SwitchIdx sw, Method method) const {
  return {.route = SmpRoute::directed(found_->path[found_->fabric->switch_node[sw]]),
          .method = method,
          .attribute = AttributeId::LinearForwardingTable,
          .m_key = m_key_};
}

void SetProbe::read(SwitchIdx sw) {
  pump_.send(request(sw, Method::Get), [this, sw](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0) write_back(sw, reply->data);
  });
}

void SetProbe::write_back(SwitchIdx sw, const SmpData& block) {
  SmpRequest set = request(sw, Method::Set);
  set.data = block;
  pump_.send(set, [this, sw, block](const Result<SmpReply>& reply) {
    if (reply && reply->status == 0 && reply->data == block)
      willing_.push_back(found_->fabric->node_guid[found_->fabric->switch_node[sw]]);
  });
}

}  // namespace smd
