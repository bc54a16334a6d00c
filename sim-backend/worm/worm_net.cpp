#include "sim-backend/worm/worm_net.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "smd/base/check.h"

namespace smd::sim {

WormNet::WormNet(const WormGraph& graph,
                 const WormOptions& options,
                 const WormRouting& routing,
                 const RouteChoiceSpec& choice,
                 std::uint64_t seed)
    : graph_(graph),
      options_(options),
      routing_(&routing),
      choice_(choice),
      model_(graph, options, *this),
      asked_(graph.host_node.size(), false) {
  for (std::uint64_t host = 0; host < graph.host_node.size(); ++host) {
    rng_.emplace_back((seed ^ 0xd1b54a32d192ed03u) * 0x9e3779b97f4a7c15u + host);
  }
}

WormNet::WormNet(const WormGraph& graph,
                 const WormOptions& options,
                 const MulticastRouting& routing)
    : graph_(graph),
      options_(options),
      multicast_(&routing),
      model_(graph, options, *this),
      asked_(graph.host_node.size(), false) {}

WormNet::~WormNet() = default;

void WormNet::start() {
  SMD_CHECK(workload_ != nullptr, "a net that starts has a workload");
  for (HostNum host = 0; host < host_count(); ++host) wake(host, workload_->first(host));
}

void WormNet::run_until(Picos until) {
  // A cycle counts when it is over.
  model_.run_until(until / options_.cycle - 1);
  now_ = std::max(now_, until);
}

Picos WormNet::next_event() const {
  const Cycle next = model_.next_event();
  return next == INT64_MAX ? kNever : time(next);
}

void WormNet::wake(HostNum host, Picos at) {
  if (at == kNever) return;
  model_.call(host, std::max(model_.now(), (at + options_.cycle - 1) / options_.cycle));
}

void WormNet::on_call(std::uint32_t host) {
  now_ = std::max(now_, time(model_.now()));
  wake(host, workload_->emit(*this, host, now_));
}

std::uint32_t WormNet::add_message(const Message& message) {
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t at = free_messages_.back();
  free_messages_.pop_back();
  messages_[at] = message;
  asked_[message.source] = true;
  stats_.generated += message.copies;
  stats_.wanted_bytes += std::uint64_t{message.payload} * message.copies;
  stats_.in_flight += message.copies;
  return at;
}

void WormNet::send(HostNum source, const PacketRequest& sending) {
  const HostNum to = sending.dlid.value() - 1u;
  if (multicast_ != nullptr) return send_lists(source, {&to, 1}, sending.tag, sending.payload);
  SMD_CHECK(to < host_count() && to != source, "a message goes to another host");
  const std::uint32_t at = add_message({.source = source,
                                        .to = to,
                                        .tag = sending.tag,
                                        .route = 0,
                                        .payload = sending.payload,
                                        .generated = now_});
  model_.send(source, routing_->last(to), at);
}

RouteChooser& WormNet::chooser(const Message& message) {
  const std::uint64_t key = std::uint64_t{message.source} << 32 | message.to;
  const auto found = choosers_.find(key);
  if (found != choosers_.end()) return found->second;
  const WormRouting::Choice routes = routing_->between(message.source, message.to);
  RouteChooser made(choice_, routes.first, routes.second, rng_[message.source]);
  return choosers_.emplace(key, std::move(made)).first->second;
}

void WormNet::on_start(WormAt worm) {
  if (multicast_ != nullptr) return start_list(worm);
  Message& message = messages_[model_.worm(worm).cookie];
  message.taken_up = model_.now();
  const WormRouting::Choice routes = routing_->between(message.source, message.to);
  message.route = choice_.kind == RouteChoiceKind::One
                      ? 0
                      : chooser(message).choose(message.payload, rng_[message.source]);
  const WormRoute& route = routes.routes[message.route];
  model_.set_route(worm, route, std::max(1u, message.payload + routing_->header_flits(route)));
  ++stats_.injected;
}

void WormNet::on_left(WormAt at, Cycle now) {
  if (choice_.kind != RouteChoiceKind::Contention) return;
  const Worm& worm = model_.worm(at);
  const Message& message = messages_[worm.cookie];
  // From when it was taken up on: the wait before its first flit is contention, too.
  chooser(message).on_left(message.route, static_cast<double>(now - message.taken_up) / worm.flits);
}

void WormNet::set_link(
    std::uint32_t node, unsigned port, std::uint32_t peer, unsigned peer_port, bool up, Picos at) {
  const Cycle cycle = (at + options_.cycle - 1) / options_.cycle;
  for (const ChannelAt c : {graph_.channel_of(node, port), graph_.channel_of(peer, peer_port)}) {
    model_.set_cable(graph_.channels[c].cable, up, cycle);
  }
}

WormNet::Message WormNet::take_message(WormAt worm) {
  const auto at = static_cast<std::uint32_t>(model_.worm(worm).cookie);
  free_messages_.push_back(at);
  --stats_.in_flight;
  return messages_[at];
}

void WormNet::discard(const Message& message, std::uint32_t node, Discard cause) {
  ++stats_.discarded[static_cast<std::size_t>(cause)];
  stats_.last_out = now_;
  digest(std::uint64_t{node} << 32 | message.source,
         static_cast<std::uint64_t>(message.generated) + 1);
  if (observer_ == nullptr) return;
  observer_->on_discarded({.source = message.source,
                           .node = node,
                           .cause = cause,
                           .at = now_,
                           .generated = message.generated,
                           .tag = message.tag});
}

/// What is left of a message that was cut may come in long before its source is rid of it: it
/// counts when nothing is left.
void WormNet::on_lost(WormAt at) {
  now_ = std::max(now_, time(model_.now()));
  discard(take_message(at), model_.worm(at).source, Discard::OnTheWire);
}

Delivery WormNet::delivery(const Message& message, const WormEnd& end) const {
  return {.source = message.source,
          .destination = message.to,
          .generated = message.generated,
          .injected = time(model_.worm(end.worm).left),
          .head = time(end.head + 1),
          .tail = time(end.tail + 1),
          .tag = message.tag,
          .payload = message.payload};
}

void WormNet::on_end(const WormEnd& end) {
  if (multicast_ != nullptr) return end_list(end);
  if (end.cut) return;
  const Worm& worm = model_.worm(end.worm);
  now_ = std::max(now_, time(end.tail + 1));
  const Message message = take_message(end.worm);
  if (end.dropped) return discard(message, end.node, Discard::NoTransitRoom);
  digest(std::uint64_t{end.node} << 32 | message.source,
         static_cast<std::uint64_t>(message.generated));
  ++stats_.delivered;
  stats_.last_out = now_;
  stats_.delivered_bytes += message.payload;
  transits_ += worm.transits;
  // Of the steps neither source, nor hosts between, nor the end is a switch.
  const std::size_t switches = worm.route->steps.size() - 2 - worm.transits;
  stats_.hops += switches;
  Delivery arrived = delivery(message, end);
  arrived.hops = static_cast<std::uint8_t>(std::min<std::size_t>(255, switches));
  if (observer_ != nullptr) observer_->on_delivered(arrived);
  workload_->on_delivered(*this, arrived);
}

void WormNet::digest(std::uint64_t place, std::uint64_t what) {
  std::uint64_t word = 0;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(now_), place, what}) {
    word = (word ^ part) * 0x9e3779b97f4a7c15u;
    word ^= word >> 29;
  }
  stats_.digest += word;
}

const NetStats& WormNet::stats() const {
  stats_.waiting = model_.waiting();
  stats_.events = model_.events();
  return stats_;
}

HostNum WormNet::host_count() const { return static_cast<HostNum>(graph_.host_node.size()); }

Lid WormNet::host_lid(HostNum host) const { return Lid{static_cast<std::uint16_t>(host + 1)}; }

std::uint32_t WormNet::host_byte_time(HostNum) const {
  return static_cast<std::uint32_t>(options_.cycle << 16);
}

Occupancy WormNet::occupancy() const {
  Occupancy out;
  double buffers = 0;
  for (ChannelAt c = 0; c < graph_.channels.size(); ++c) {
    if (graph_.is_host[graph_.channels[c].to] != 0) continue;
    const double fill = static_cast<double>(model_.fill(c)) / options_.buffer;
    out.mean_input += fill;
    out.max_input = std::max(out.max_input, fill);
    ++buffers;
  }
  if (buffers > 0) out.mean_input /= buffers;
  return out;
}

std::vector<PortUse> WormNet::port_use() const {
  std::vector<PortUse> out;
  const Cycle end = model_.now() + 1;
  std::uint32_t cable = kNowhere;
  for (ChannelAt c = 0; c < graph_.channels.size(); ++c) {
    const WormChannel& place = graph_.channels[c];
    if (graph_.is_host[place.from] != 0) continue;
    const bool same = cable == place.cable || (!out.empty() && out.back().node == place.from &&
                                               out.back().port.value() == place.port);
    if (!same) out.push_back({.node = place.from, .port = PortNum{place.port}});
    cable = place.cable;
    out.back().active += time(static_cast<Cycle>(model_.busy(c, end)));
    out.back().blocked_lanes.push_back(time(model_.blocked(c, end)));
    out.back().blocked = std::max(out.back().blocked, out.back().blocked_lanes.back());
  }
  return out;
}

std::vector<WaitingHop> WormNet::find_deadlock(Picos) const {
  const std::vector<WormModel::Held> knot = model_.find_knot();
  std::vector<WaitingHop> out;
  for (std::size_t i = 0; i < knot.size(); ++i) {
    const WormChannel& place = graph_.channels[knot[i].channel];
    ChannelAt first = knot[i].channel;
    while (first > 0 && graph_.channels[first - 1].cable == place.cable) --first;
    out.push_back({.node = place.from,
                   .port = PortNum{place.port},
                   .vl = Vl{static_cast<std::uint8_t>(knot[i].channel - first)},
                   .holder = knot[(i + 1) % knot.size()].worm});
  }
  return out;
}

std::string WormNet::audit() const {
  const NetStats& now = stats();
  if (now.generated != now.delivered + now.discards() + now.in_flight) {
    return fmt::format("{} messages were made; {} delivered, {} discarded and {} under way",
                       now.generated,
                       now.delivered,
                       now.discards(),
                       now.in_flight);
  }
  std::uint64_t kept = messages_.size() - free_messages_.size();
  if (multicast_ != nullptr) {
    kept = 0;
    for (const Message& message : messages_) kept += message.left;
  }
  if (kept != now.in_flight) {
    return fmt::format("{} messages are kept, {} under way", kept, now.in_flight);
  }
  return model_.audit();
}

WormFigures WormNet::figures() const {
  WormFigures out{.transits = transits_, .multicast = sums_};
  for (HostNum host = 0; host < host_count(); ++host) {
    out.most_local = std::max(out.most_local, model_.local_waiting(host));
    out.most_transit = std::max(out.most_transit, model_.transit_waiting(host));
  }
  const auto switches = static_cast<double>(graph_.is_host.size() - graph_.host_node.size());
  out.flits_per_cycle_and_switch = static_cast<double>(stats_.delivered_bytes) /
                                   std::max(1.0, static_cast<double>(model_.now() + 1) * switches);
  return out;
}

}  // namespace smd::sim
