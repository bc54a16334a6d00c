#include "tests/unit/sim-packet/flit_torus.h"

namespace smd::sim::test {
namespace {

constexpr std::array<int, 4> kOpposite{1, 0, 3, 2};
constexpr int kCreditDelay = 2;

}  // namespace

FlitTorus::FlitTorus(double load, FlitRules rules, std::uint64_t seed)
    : load_(load), rules_(rules), rng_(seed) {}

int FlitTorus::neighbour(int node, int port) {
  const int x = node % kSide, y = node / kSide;
  const int to_x = (x + (port == 0) - (port == 1) + kSide) % kSide;
  const int to_y = (y + (port == 2) - (port == 3) + kSide) % kSide;
  return to_y * kSide + to_x;
}

void FlitTorus::generate(int node) {
  if (static_cast<double>(rng_.below(1'000'000)) >= load_ / kLength * 1e6) return;
  const int to = static_cast<int>(rng_.below(kNodes));
  const auto hops = [this](int from, int target) {
    int way = (target - from + kSide) % kSide;
    if (way > kSide / 2 || (way == kSide / 2 && rng_.below(2) == 1)) way -= kSide;
    return way;
  };
  const int x = node % kSide, y = node / kSide;
  Packet packet{.born = now_, .dx = hops(x, to % kSide), .dy = hops(y, to / kSide)};
  packet.wraps_x = x + packet.dx < 0 || x + packet.dx >= kSide;
  packet.wraps_y = y + packet.dy < 0 || y + packet.dy >= kSide;
  routers_[static_cast<std::size_t>(node)].source.push_back(packets_.size());
  packets_.push_back(packet);
}

void FlitTorus::inject(int node) {
  Router& router = routers_[static_cast<std::size_t>(node)];
  if (router.source.empty()) return;
  if (router.lane < 0) {
    const int roomier = router.room[0] >= router.room[1] ? 0 : 1;
    if (router.room[static_cast<std::size_t>(roomier)] < (rules_.whole_packets ? kLength : 1))
      return;
    router.lane = roomier;
  }
  const auto lane = static_cast<std::size_t>(router.lane);
  if (router.room[lane] == 0) return;
  --router.room[lane];
  const Flit flit{
      router.source.front(), router.sent == 0, router.sent == kLength - 1, now_ + kPipe};
  wheel_[static_cast<std::size_t>((now_ + 1) % kWheel)].push_back(
      {Event::Kind::Arrive, node, kHost, router.lane, flit});
  if (++router.sent < kLength) return;
  router.sent = 0;
  router.lane = -1;
  router.source.pop_front();
}

std::pair<int, bool> FlitTorus::route(const Packet& packet) const {
  if (packet.dx != 0) return {packet.dx > 0 ? 0 : 1, packet.wraps_x};
  if (packet.dy != 0) return {packet.dy > 0 ? 2 : 3, packet.wraps_y};
  return {kHost, false};
}

void FlitTorus::take_lanes(Router& router) const {
  for (int k = 0; k < kPorts * kLanes; ++k) {
    const int place = (k + router.next) % (kPorts * kLanes);
    Input& input =
        router
            .in[static_cast<std::size_t>(place / kLanes)][static_cast<std::size_t>(place % kLanes)];
    if (input.flits.empty() || input.lane >= 0) continue;
    const Flit& flit = input.flits.front();
    if (!flit.head || flit.ready > now_) continue;
    const auto [out, wraps] = route(packets_[flit.packet]);
    auto& lanes = router.out[static_cast<std::size_t>(out)];
    const std::size_t lane = out == kHost ? (lanes[0].owner < 0 ? 0 : 1) : (wraps ? 1 : 0);
    if (out == kHost) lanes[lane].credits = kRoom;  // hosts take what comes
    if (lanes[lane].owner >= 0 || (rules_.whole_packets && lanes[lane].credits < kLength)) continue;
    lanes[lane].owner = place;
    input.out = out;
    input.lane = static_cast<int>(lane);
  }
  router.next = (router.next + 1) % (kPorts * kLanes);
}

int FlitTorus::choose(const Router& router, int port) const {
  const auto at = static_cast<std::size_t>(port);
  for (int k = 0; k < kLanes; ++k) {
    const int held = router.held_lane[at];
    const int lane = held >= 0 ? held : (router.next_lane[at] + k) % kLanes;
    const Input& input = router.in[at][static_cast<std::size_t>(lane)];
    if (input.flits.empty() || input.flits.front().ready > now_ || input.lane < 0) continue;
    const auto out = static_cast<std::size_t>(input.out);
    if (held < 0 && router.held_by[out] >= 0) continue;
    if (router.out[out][static_cast<std::size_t>(input.lane)].credits > 0) return lane;
  }
  return -1;
}

void FlitTorus::cross(int node) {
  Router& router = routers_[static_cast<std::size_t>(node)];
  take_lanes(router);
  std::array<int, kPorts> chosen{};
  for (int port = 0; port < kPorts; ++port)
    chosen[static_cast<std::size_t>(port)] = choose(router, port);
  for (int out = 0; out < kPorts; ++out) {
    const auto to = static_cast<std::size_t>(out);
    for (int k = 0; k < kPorts; ++k) {
      const int port = (router.next_input[to] + k) % kPorts;
      const int lane = chosen[static_cast<std::size_t>(port)];
      if (lane < 0) continue;
      const Input& input =
          router.in[static_cast<std::size_t>(port)][static_cast<std::size_t>(lane)];
      if (input.out != out || (router.held_by[to] >= 0 && router.held_by[to] != port)) continue;
      send(node, port, lane, out);
      break;
    }
  }
}

void FlitTorus::send(int node, int port, int lane, int out) {
  Router& router = routers_[static_cast<std::size_t>(node)];
  const auto from = static_cast<std::size_t>(port), to = static_cast<std::size_t>(out);
  Input& input = router.in[from][static_cast<std::size_t>(lane)];
  Flit flit = input.flits.front();
  input.flits.pop_front();
  router.next_input[to] = (port + 1) % kPorts;
  router.next_lane[from] = (lane + 1) % kLanes;
  auto& freed = wheel_[static_cast<std::size_t>((now_ + kCreditDelay) % kWheel)];
  if (port == kHost) {
    freed.push_back({Event::Kind::Room, node, port, lane, {}});
  } else {
    freed.push_back({Event::Kind::Credit, neighbour(node, port), kOpposite[from], lane, {}});
  }
  Packet& packet = packets_[flit.packet];
  Output& output = router.out[to][static_cast<std::size_t>(input.lane)];
  if (out == kHost) {
    if (now_ >= begin_) ++flits_in_;
    if (flit.tail && packet.born >= begin_) {
      waits_ += static_cast<double>(now_ + 1 - packet.born);
      ++packets_in_;
    }
  } else {
    --output.credits;
    if (flit.head) {
      packet.dx -= (out == 0) - (out == 1);
      packet.dy -= (out == 2) - (out == 3);
    }
    flit.ready = now_ + 1 + kPipe;
    wheel_[static_cast<std::size_t>((now_ + 1) % kWheel)].push_back(
        {Event::Kind::Arrive, neighbour(node, out), kOpposite[to], input.lane, flit});
  }
  if (rules_.hold_crossbar) {
    router.held_by[to] = flit.tail ? -1 : port;
    router.held_lane[from] = flit.tail ? -1 : lane;
  }
  if (!flit.tail) return;
  output.owner = -1;
  input.out = input.lane = -1;
}

FlitResult FlitTorus::run(long cycles) {
  begin_ = cycles / 2;
  for (; now_ < begin_ + cycles; ++now_) {
    auto& due = wheel_[static_cast<std::size_t>(now_ % kWheel)];
    for (const Event& event : due) {
      Router& router = routers_[static_cast<std::size_t>(event.node)];
      const auto port = static_cast<std::size_t>(event.port);
      const auto lane = static_cast<std::size_t>(event.lane);
      if (event.kind == Event::Kind::Arrive) router.in[port][lane].flits.push_back(event.flit);
      if (event.kind == Event::Kind::Credit) ++router.out[port][lane].credits;
      if (event.kind == Event::Kind::Room) ++router.room[lane];
    }
    due.clear();
    for (int node = 0; node < kNodes; ++node) {
      generate(node);
      inject(node);
    }
    for (int node = 0; node < kNodes; ++node) cross(node);
  }
  return {.latency = packets_in_ == 0 ? 0 : waits_ / static_cast<double>(packets_in_),
          .accepted = static_cast<double>(flits_in_) / static_cast<double>(cycles) / kNodes};
}

}  // namespace smd::sim::test
