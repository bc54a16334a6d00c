// Messages to several hosts: lists that set out by themselves, and copies that come in.
#include <algorithm>

#include "sim-backend/worm/worm_net.h"
#include "smd/base/check.h"

namespace smd::sim {

void WormNet::send_to(HostNum source, std::span<const HostNum> to, std::uint16_t payload) {
  SMD_CHECK(multicast_ != nullptr, "source routes lead to one host");
  send_lists(source, to, 0, payload);
}

void WormNet::send_lists(HostNum source,
                         std::span<const HostNum> to,
                         std::uint32_t tag,
                         std::uint16_t payload) {
  for (const HostNum host : to)
    SMD_CHECK(host < host_count() && host != source, "a message goes to other hosts");
  const auto copies = static_cast<std::uint32_t>(to.size());
  const std::uint32_t message = add_message({.source = source,
                                             .to = to.front(),
                                             .tag = tag,
                                             .route = 0,
                                             .payload = payload,
                                             .generated = now_,
                                             .copies = copies,
                                             .left = copies});
  for (MulticastMessage& list : multicast_->divide(source, to)) {
    if (free_message_worms_.empty()) {
      free_message_worms_.push_back(static_cast<std::uint32_t>(message_worms_.size()));
      message_worms_.emplace_back();
    }
    const std::uint32_t at = free_message_worms_.back();
    free_message_worms_.pop_back();
    MessageWorm& part = message_worms_[at];
    part.left = static_cast<std::uint32_t>(list.order.size());
    part.message = message;
    part.way.message = std::move(list);
    model_.send(source, kNowhere, at);
  }
}

void WormNet::start_list(WormAt worm) {
  MessageWorm& part = message_worms_[model_.worm(worm).cookie];
  const Message& message = messages_[part.message];
  multicast_->begin(part.way, message.source);
  const std::uint32_t flits = message.payload + multicast_->header_flits(part.way.message);
  model_.set_route(worm, part.way.route, std::max(1u, flits));
  ++stats_.injected;
}

std::uint32_t WormNet::lay_out(WormAt worm, std::uint32_t number) {
  return multicast_->lay_out(message_worms_[model_.worm(worm).cookie].way, number);
}

void WormNet::end_list(const WormEnd& end) {
  const auto at = static_cast<std::uint32_t>(model_.worm(end.worm).cookie);
  MessageWorm& part = message_worms_[at];
  Message& message = messages_[part.message];
  now_ = std::max(now_, time(end.tail + 1));
  digest(std::uint64_t{end.node} << 32 | message.source,
         static_cast<std::uint64_t>(message.generated));
  const auto reached =
      std::ranges::find(part.way.hosts, end.node, &std::pair<std::uint32_t, unsigned>::first);
  Delivery arrived = delivery(message, end);
  arrived.destination = graph_.host_of[end.node];
  arrived.hops = static_cast<std::uint8_t>(std::min(255u, reached->second));
  ++stats_.delivered;
  stats_.last_out = now_;
  --stats_.in_flight;
  stats_.delivered_bytes += message.payload;
  stats_.hops += reached->second;
  const Picos latency = now_ - message.generated;
  message.latencies += latency;
  if (--message.left == 0) {
    if (message.copies == 1) {
      ++sums_.unicasts;
      sums_.unicast += latency;
    } else {
      ++sums_.multicasts;
      sums_.copies += message.copies;
      sums_.last += latency;
      sums_.copy += message.latencies;
    }
    free_messages_.push_back(part.message);
  }
  // Its last tail is in: nothing asks for its route any more.
  if (--part.left == 0) free_message_worms_.push_back(at);
  if (observer_ != nullptr) observer_->on_delivered(arrived);
  workload_->on_delivered(*this, arrived);
}

}  // namespace smd::sim
