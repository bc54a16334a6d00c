// An 8x8 torus flit by flit, to see what a simulator of whole packets leaves out: two lanes of 64
// flits at each input, packets of 16 flits, credits, dimension order, a lane of its own for who
// crosses the end of a ring. Nothing of the product is in it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "smd/base/rng.h"

namespace smd::sim::test {

struct FlitRules {
  bool hold_crossbar = false;  // from the first to the last flit of a packet; else flit by flit
  bool whole_packets = false;  // a lane is taken only where there is room for all of a packet
};

struct FlitResult {
  double latency = 0;   // cycles, from generation to the last flit
  double accepted = 0;  // flits per cycle and host
};

class FlitTorus {
 public:
  FlitTorus(double load, FlitRules rules, std::uint64_t seed);

  /// Measures `cycles` after half as many.
  FlitResult run(long cycles);

 private:
  static constexpr int kSide = 8, kNodes = 64, kPorts = 5, kLanes = 2, kLength = 16, kRoom = 64;
  static constexpr int kHost = 4;   // port of the host; before it: east, west, north, south
  static constexpr int kPipe = 3;   // cycles in a router
  static constexpr int kWheel = 8;  // more than any delay

  struct Packet {
    long born;
    int dx, dy;  // hops left
    bool wraps_x, wraps_y;
  };

  struct Flit {
    std::size_t packet;
    bool head, tail;
    long ready;
  };

  struct Input {
    std::deque<Flit> flits;
    int out = -1, lane = -1;  // of the packet at the front
  };

  struct Output {
    int owner = -1;  // port and lane of the input whose packet has it
    int credits = kRoom;
  };

  struct Router {
    std::array<std::array<Input, kLanes>, kPorts> in;
    std::array<std::array<Output, kLanes>, kPorts> out;
    std::array<int, kPorts> next_lane{}, next_input{};
    std::array<int, kPorts> held_lane{-1, -1, -1, -1, -1}, held_by{-1, -1, -1, -1, -1};
    int next = 0;
    std::deque<std::size_t> source;
    int sent = 0, lane = -1;  // of the packet that the host injects
    std::array<int, kLanes> room{kRoom, kRoom};
  };

  struct Event {
    enum class Kind : std::uint8_t { Arrive, Credit, Room } kind;
    int node, port, lane;
    Flit flit;
  };

  void generate(int node);
  void inject(int node);
  void take_lanes(Router& router) const;
  void cross(int node);
  void send(int node, int port, int lane, int out);
  [[nodiscard]] int choose(const Router& router, int port) const;
  [[nodiscard]] std::pair<int, bool> route(const Packet& packet) const;
  [[nodiscard]] static int neighbour(int node, int port);

  double load_;
  FlitRules rules_;
  Rng rng_;
  long now_ = 0, begin_ = 0;
  std::vector<Packet> packets_;
  std::vector<Router> routers_{kNodes};
  std::array<std::vector<Event>, kWheel> wheel_;
  double waits_ = 0;
  std::uint64_t packets_in_ = 0, flits_in_ = 0;
};

}  // namespace smd::sim::test
