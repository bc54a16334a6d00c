// Random fabrics and random changes of them.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "smd/base/rng.h"
#include "tests/unit/plan/plan_world.h"

namespace smd::test {

inline constexpr unsigned kHostPorts = 2;

struct DrawnCable {
  std::string a, b;  // "S3:4"
  bool inner = true;
};

struct Network {
  unsigned switches = 0;
  unsigned hosts = 0;
  std::vector<DrawnCable> cables;
  std::vector<unsigned> used;  // ports, by switch
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : rng_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(rng_.below(n)); }

  bool chance(double p) { return rng_.chance(p); }

  Network network() {
    Network net;
    net.switches = sizes_[below(static_cast<unsigned>(sizes_.size()))];
    net.used.assign(net.switches + 1, 0);
    switch (below(3)) {
      case 0:
        irregular(net);
        break;
      case 1:
        torus(net);
        break;
      default:
        tree(net);
        break;
    }
    return net;
  }

  Rng& rng() { return rng_; }

 private:
  void join(Network& net, unsigned a, unsigned b) {
    net.cables.push_back({port(net, a), port(net, b)});
  }

  std::string port(Network& net, unsigned sw) {
    return "S" + std::to_string(sw) + ":" + std::to_string(++net.used[sw]);
  }

  void host(Network& net, unsigned a, unsigned b) {
    const std::string name = "H" + std::to_string(++net.hosts);
    net.cables.push_back({port(net, a), name + ":1", false});
    if (a != b) net.cables.push_back({port(net, b), name + ":2", false});
  }

  void some_hosts(Network& net, unsigned first, unsigned last, unsigned each) {
    for (unsigned sw = first; sw <= last; ++sw) {
      for (unsigned h = 0; h < each; ++h)
        host(net, sw, chance(0.1) ? first + below(last - first + 1) : sw);
    }
  }

  // Connected, of degree about four, with parallel links here and there.
  void irregular(Network& net) {
    for (unsigned sw = 2; sw <= net.switches; ++sw) join(net, sw, 1 + below(sw - 1));
    for (unsigned extra = 0; extra < net.switches; ++extra) {
      const unsigned a = 1 + below(net.switches), b = 1 + below(net.switches);
      if (a != b) join(net, a, b);
    }
    some_hosts(net, 1, net.switches, 1);
  }

  void torus(Network& net) {
    const unsigned columns = net.switches >= 32 ? 8 : net.switches >= 16 ? 4 : 3;
    const unsigned rows = std::max(3u, net.switches / columns);
    net.switches = rows * columns;
    net.used.assign(net.switches + 1, 0);
    const auto at = [&](unsigned r, unsigned c) { return 1 + r % rows * columns + c % columns; };
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned c = 0; c < columns; ++c) {
        join(net, at(r, c), at(r + 1, c));
        join(net, at(r, c), at(r, c + 1));
      }
    }
    some_hosts(net, 1, net.switches, 1);
  }

  // Two levels: every leaf to every spine, some twice.
  void tree(Network& net) {
    const unsigned spines = std::max(2u, net.switches / 4);
    for (unsigned leaf = spines + 1; leaf <= net.switches; ++leaf) {
      for (unsigned spine = 1; spine <= spines; ++spine) {
        join(net, leaf, spine);
        if (chance(0.1)) join(net, leaf, spine);
      }
    }
    some_hosts(net, spines + 1, net.switches, 2);
  }

  static constexpr std::array<unsigned, 8> sizes_{8, 10, 12, 16, 24, 32, 64, 128};
  Rng rng_;
};

inline unsigned switch_of(const std::string& end) {
  return end[0] == 'S' ? static_cast<unsigned>(std::stoul(end.substr(1))) : 0;
}

enum class State : std::uint8_t { There, Gone, Settled };

inline std::string text_of(const Network& net,
                           const std::vector<State>& cables,
                           const std::vector<State>& switches) {
  std::string text;
  for (unsigned sw = 1; sw <= net.switches; ++sw) {
    if (switches[sw] != State::Gone)
      text += "S" + std::to_string(sw) + "/" + std::to_string(net.used[sw]) + " ";
  }
  for (unsigned h = 1; h <= net.hosts; ++h) text += "H" + std::to_string(h) + "/2 ";
  for (std::size_t i = 0; i < net.cables.size(); ++i) {
    const DrawnCable& cable = net.cables[i];
    State state = cables[i];
    for (const std::string& end : {cable.a, cable.b}) {
      const unsigned sw = switch_of(end);
      if (sw != 0 && switches[sw] != State::There)
        state = switches[sw] == State::Gone || state == State::Gone ? State::Gone : State::Settled;
    }
    if (state != State::Gone)
      text += cable.a + (state == State::Settled ? "~" : "-") + cable.b + " ";
  }
  return text;
}

/// What stays of the old routes.
enum class Keeps : std::uint8_t { Nothing, Orientation, Routes };

struct Drawn {
  ChangeSpec spec;
  Keeps keeps = Keeps::Orientation;
};

inline Drawn draw_change(Draw& draw) {
  const Network net = draw.network();
  std::vector<State> cables_before(net.cables.size(), State::There), cables_after = cables_before;
  std::vector<State> before(net.switches + 1, State::There), after = before;
  Drawn drawn;
  const unsigned kind = draw.below(10);
  const unsigned count = 1 + (draw.chance(0.3) ? draw.below(3) : 0);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned cable = draw.below(static_cast<unsigned>(net.cables.size()));
    const unsigned sw = 2 + draw.below(net.switches - 1);
    if (kind <= 2 || kind == 6) cables_after[cable] = State::Gone;
    if (kind == 3 || kind == 6) {
      const unsigned other = draw.below(static_cast<unsigned>(net.cables.size()));
      cables_before[other] = State::Gone;
      cables_after[other] = State::Settled;
    }
    if (kind == 4) after[sw] = State::Gone;
    if (kind == 5) {
      before[sw] = State::Gone;
      after[sw] = State::Settled;
    }
  }
  const auto root = [&] { return switch_guid(1 + draw.below(net.switches)); };
  drawn.spec.old_roots = {root()};
  if (draw.chance(0.5)) {
    drawn.keeps = Keeps::Routes;
    drawn.spec.keep_routes = true;
  }
  if (kind >= 7) {
    drawn.keeps = Keeps::Nothing;
    drawn.spec.keep_routes = false;
    drawn.spec.keep_orientation = false;
    drawn.spec.new_roots = {root()};
    if (kind == 8) drawn.spec.new_engine = "minhop";
    if (kind == 9) drawn.spec.old_engine = "minhop";
  }
  drawn.spec.before = text_of(net, cables_before, before);
  drawn.spec.after = text_of(net, cables_after, after);
  drawn.spec.switches = net.switches;
  drawn.spec.ports_per_host = kHostPorts;
  return drawn;
}

}  // namespace smd::test
