#include "tests/unit/sim-worm/random_cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "smd/base/rng.h"

namespace smd::sim::test {
namespace {

struct Draw {
  Draw(std::uint64_t seed, bool may_choose) : rng(seed), choices(may_choose) {}

  int upto(int n) { return int(rng.below(std::uint64_t(n) + 1)); }

  int between(int low, int high) { return low + upto(high - low); }

  bool chance(double p) { return rng.chance(p); }

  Rng rng;
  bool choices;  // branches may leave by several channels
};

void add_cable(FlitCase& out, int from, int to, int lanes) {
  const int cable = out.channels.empty() ? 0 : out.channels.back().cable + 1;
  for (int lane = 0; lane < lanes; ++lane) out.channels.push_back({from, to, cable});
}

int draw_steps(FlitCase& out, FlitWorm& worm, int node, int depth, int strip, Draw& draw);

/// Where a channel leads; returns the number of the step there.
int draw_beyond(FlitCase& out, FlitWorm& worm, int channel, int depth, int strip, Draw& draw) {
  const int to = out.channels[std::size_t(channel)].to;
  if (out.is_host[std::size_t(to)] == 0) return draw_steps(out, worm, to, depth + 1, strip, draw);
  const auto next = int(worm.steps.size());
  const bool passes_on = depth < 5 && draw.chance(0.3);
  worm.steps.push_back({.strip = passes_on ? 2 * strip : 0});
  if (!passes_on) return next;
  int engine = -1;
  for (int e = 0; e < int(out.channels.size()); ++e) {
    if (out.channels[std::size_t(e)].from == to) engine = e;
  }
  const int after =
      draw_steps(out, worm, out.channels[std::size_t(engine)].to, depth + 2, strip, draw);
  worm.steps[std::size_t(next)].branches.push_back({engine, after});
  return next;
}

/// Channels beside the one that a branch has; other branches take none of their cables.
void draw_others(FlitCase& out,
                 FlitWorm& worm,
                 int number,
                 const std::vector<int>& choices,
                 std::vector<int>& cables,
                 int depth,
                 int strip,
                 Draw& draw) {
  const std::size_t branches = worm.steps[std::size_t(number)].branches.size();
  worm.steps[std::size_t(number)].others.resize(branches);
  for (std::size_t b = 0; b < branches; ++b) {
    const auto [own, next] = worm.steps[std::size_t(number)].branches[b];
    const FlitChannel& at = out.channels[std::size_t(own)];
    std::set<int> had{own};
    for (int tries = draw.upto(3); tries > 0; --tries) {
      const int c = choices[draw.rng.below(choices.size())];
      const FlitChannel& other = out.channels[std::size_t(c)];
      const bool same = other.to == at.to;
      const bool taken = std::ranges::find(cables, other.cable) != cables.end();
      if ((taken && other.cable != at.cable) || (!same && depth > 3) || !had.insert(c).second)
        continue;
      if (!taken) cables.push_back(other.cable);
      const int beyond = same ? next : draw_beyond(out, worm, c, depth + 1, strip, draw);
      worm.steps[std::size_t(number)].others[b].push_back({c, beyond});
    }
  }
}

/// A way of random steps from a switch on; returns the number of its first step.
int draw_steps(FlitCase& out, FlitWorm& worm, int node, int depth, int strip, Draw& draw) {
  const auto number = int(worm.steps.size());
  worm.steps.push_back({.strip = strip, .waits = draw.chance(0.5)});
  std::vector<int> cables;
  std::vector<int> wanted;
  const int forks = draw.chance(0.15) && depth < 3 ? draw.between(2, 3) : 1;
  std::vector<int> choices;
  for (int c = 0; c < int(out.channels.size()); ++c) {
    if (out.channels[std::size_t(c)].from == node) choices.push_back(c);
  }
  for (int tries = 0; int(wanted.size()) < forks && tries < 20; ++tries) {
    const int c = choices[draw.rng.below(choices.size())];
    const FlitChannel& channel = out.channels[std::size_t(c)];
    const bool to_host = out.is_host[std::size_t(channel.to)] != 0;
    if ((depth < 4 && to_host && draw.chance(0.6)) || (depth > 6 && !to_host)) continue;
    if (std::ranges::find(cables, channel.cable) != cables.end()) continue;
    cables.push_back(channel.cable);
    wanted.push_back(c);
  }
  if (wanted.empty()) {
    for (const int c : choices) {
      if (out.is_host[std::size_t(out.channels[std::size_t(c)].to)] != 0 && wanted.empty()) {
        wanted.push_back(c);
      }
    }
  }
  for (const int c : wanted) {
    const int next = draw_beyond(out, worm, c, depth, strip, draw);
    worm.steps[std::size_t(number)].branches.push_back({c, next});
  }
  if (draw.choices) {
    worm.steps[std::size_t(number)].strip = draw.upto(strip);
    draw_others(out, worm, number, choices, cables, depth, strip, draw);
  }
  return number;
}

int longest_header(const FlitWorm& worm, int step) {
  int out = 0;
  for (const auto& [channel, next] : worm.steps[std::size_t(step)].branches) {
    out = std::max(out, longest_header(worm, next));
  }
  for (const auto& others : worm.steps[std::size_t(step)].others) {
    for (const auto& [channel, next] : others) out = std::max(out, longest_header(worm, next));
  }
  return out + worm.steps[std::size_t(step)].strip;
}

/// Cables, some in both directions, that go down and come up, some more than once.
void draw_faults(FlitCase& out, int span, Draw& draw) {
  const int cables = out.channels.back().cable + 1;
  for (int left = draw.between(1, 6); left > 0; --left) {
    const int cable = draw.upto(cables - 1);
    if (std::ranges::find(out.faults, cable, &FlitFault::cable) != out.faults.end()) continue;
    std::int64_t at = draw.between(1, 2 * span);
    for (int changes = draw.between(1, 5), c = 0; c < changes; ++c) {
      out.faults.push_back({at, cable, c % 2 != 0});
      at += draw.between(1, draw.chance(0.5) ? 30 : 1000);
    }
  }
  std::ranges::stable_sort(out.faults, {}, &FlitFault::at);
}

class Runner final : public WormWatcher {
 public:
  explicit Runner(const FlitCase& what) : what_(what) {
    for (const char host : what.is_host) graph_.is_host.push_back(std::uint8_t(host));
    for (const FlitChannel& c : what.channels) {
      graph_.channels.push_back({.from = std::uint32_t(c.from),
                                 .to = std::uint32_t(c.to),
                                 .cable = std::uint32_t(c.cable)});
    }
    graph_.index();
    const FlitRuleSet& r = what.rules;
    options_ = {.cable = std::uint32_t(r.cable),
                .transfer = std::uint32_t(r.transfer),
                .routing = std::uint32_t(r.routing),
                .buffer = std::uint32_t(r.buffer),
                .stop = std::uint32_t(r.stop),
                .go = std::uint32_t(r.go),
                .flow = r.credits ? WormFlow::Credits : WormFlow::StopAndGo,
                .copies = r.lock_step ? WormCopies::LockStep : WormCopies::Asynchronous,
                .allocation = r.atomic ? WormAllocation::Atomic : WormAllocation::NonAtomic,
                .detection = std::uint32_t(r.detection),
                .dma = std::uint32_t(r.dma),
                .memory = std::uint32_t(r.memory)};
    for (std::size_t i = 0; i < 3; ++i) options_.local_after[i] = std::uint32_t(r.local_after[i]);
    for (std::size_t i = 0; i < 2; ++i) options_.local_marks[i] = std::uint32_t(r.local_marks[i]);
    for (const FlitWorm& worm : what.worms) {
      WormRoute& route = routes_.emplace_back();
      for (const FlitStep& step : worm.steps) {
        route.steps.push_back({std::uint32_t(route.branches.size()),
                               std::uint8_t(step.branches.size()),
                               std::uint8_t(step.strip),
                               step.waits});
        for (std::size_t b = 0; b < step.branches.size(); ++b) {
          const auto& [channel, next] = step.branches[b];
          const bool chooses = b < step.others.size() && !step.others[b].empty();
          route.branches.push_back(
              {.out = ChannelAt(channel),
               .next = std::uint32_t(next),
               .first = std::uint32_t(route.choices.size()),
               .choices = chooses ? std::uint32_t(step.others[b].size()) + 1 : 0});
          if (!chooses) continue;
          route.branches.back().out = kNowhere;
          const auto add = [&](const std::pair<int, int>& choice) {
            route.choices.push_back({ChannelAt(choice.first), std::uint32_t(choice.second)});
          };
          add(step.branches[b]);
          std::ranges::for_each(step.others[b], add);
        }
      }
    }
  }

  void on_call(std::uint32_t host) override {
    for (std::size_t w = 0; w < what_.worms.size(); ++w) {
      const FlitWorm& worm = what_.worms[w];
      if (worm.made == streams_->now() && graph_.host_of[std::size_t(worm.host)] == host) {
        streams_->send(routes_[w], host, std::uint32_t(worm.flits), kNowhere, w);
      }
    }
  }

  void on_end(const WormEnd& end) override {
    out_.outcome.ends.push_back({int(streams_->worm(end.worm).cookie),
                                 int(end.node),
                                 end.head,
                                 end.tail,
                                 end.dropped,
                                 end.cut});
  }

  void on_lost(WormAt worm) override {
    out_.outcome.lost.push_back(int(streams_->worm(worm).cookie));
  }

  StreamOutcome run(std::int64_t cycles) {
    WormModel streams(graph_, options_, *this);
    streams_ = &streams;
    std::set<std::pair<std::int64_t, int>> calls;
    for (const FlitWorm& worm : what_.worms) calls.insert({worm.made, worm.host});
    for (const auto& [at, node] : calls) streams.call(graph_.host_of[std::size_t(node)], at);
    for (const FlitFault& fault : what_.faults)
      streams.set_cable(std::uint32_t(fault.cable), fault.up, fault.at);
    std::set<int> early;
    for (std::int64_t at = 400; at < cycles - 1; at += 400) {
      streams.run_until(at);
      for (const auto& held : streams.find_knot(true))
        early.insert(int(streams.worm(held.worm).cookie));
    }
    streams.run_until(cycles - 1);
    for (ChannelAt c = 0; c < graph_.channels.size(); ++c) {
      out_.outcome.busy.push_back(std::int64_t(streams.busy(c, cycles)));
      out_.outcome.blocked.push_back(streams.blocked(c, cycles));
      const bool to_host = graph_.is_host[graph_.channels[c].to] != 0;
      out_.outcome.most.push_back(to_host ? 0 : std::int64_t(streams.fullest(c)));
    }
    std::set<int> stuck;
    for (const auto& held : streams.find_knot(true))
      stuck.insert(int(streams.worm(held.worm).cookie));
    out_.outcome.stuck.assign(stuck.begin(), stuck.end());
    out_.circle = !streams.find_knot().empty();
    out_.audit = streams.audit();
    // A cable that goes down lets go of what waits for it.
    if (what_.faults.empty() && !std::ranges::includes(stuck, early))
      out_.audit = "a knot came loose";
    std::ranges::sort(out_.outcome.ends);
    std::ranges::sort(out_.outcome.lost);
    return out_;
  }

 private:
  const FlitCase& what_;
  WormGraph graph_;
  WormOptions options_;
  std::deque<WormRoute> routes_;
  WormModel* streams_ = nullptr;
  StreamOutcome out_;
};

std::string print(const FlitEnd& end) {
  return fmt::format("worm {} at {}: cycles {} to {}{}{}",
                     end.worm,
                     end.node,
                     end.head,
                     end.tail,
                     end.dropped ? " dropped" : "",
                     end.cut ? " cut" : "");
}

template <class T>
std::string differ(const std::vector<T>& machine, const std::vector<T>& streams, const char* what) {
  for (std::size_t i = 0; i < machine.size() && i < streams.size(); ++i) {
    if (machine[i] != streams[i]) {
      return fmt::format("{} {}: machine {}, streams {}", what, i, machine[i], streams[i]);
    }
  }
  if (machine.size() == streams.size()) return {};
  return fmt::format("{}: machine {}, streams {} of them", what, machine.size(), streams.size());
}

}  // namespace

FlitCase draw_case(std::uint64_t seed, CaseKind kind) {
  const bool with_faults = kind == CaseKind::Faults;
  Draw draw(seed, kind == CaseKind::Choices);
  FlitCase out;
  const int switches = draw.between(1, 8);
  out.is_host.assign(std::size_t(switches), 0);
  const int lanes = draw.chance(0.5) ? 1 : draw.between(2, 3);
  std::set<std::pair<int, int>> linked;
  const auto link = [&](int a, int b) {
    if (a == b || !linked.insert({std::min(a, b), std::max(a, b)}).second) return;
    add_cable(out, a, b, lanes);
    add_cable(out, b, a, lanes);
  };
  for (int s = 1; s < switches; ++s) link(s, draw.upto(s - 1));
  for (int i = draw.upto(switches); i > 0; --i)
    link(draw.upto(switches - 1), draw.upto(switches - 1));
  for (int s = 0; s < switches; ++s) {
    for (int h = draw.between(1, 2); h > 0; --h) {
      const auto host = int(out.is_host.size());
      out.is_host.push_back(1);
      for (int c = draw.choices ? draw.between(1, 3) : 1; c > 0; --c) add_cable(out, host, s, 1);
      for (int c = draw.choices ? draw.between(1, 3) : 1; c > 0; --c) add_cable(out, s, host, 1);
    }
  }
  FlitRuleSet& rules = out.rules;
  rules.cable = draw.between(1, 9);
  rules.transfer = draw.upto(1);
  rules.routing = draw.between(1, 24);
  rules.detection = draw.between(1, 50);
  rules.dma = draw.between(1, 40);
  rules.credits = draw.chance(0.4);
  rules.lock_step = draw.chance(0.5);
  rules.go = draw.between(1, 40);
  rules.stop = draw.between(rules.go, 56);
  rules.buffer = rules.credits ? draw.between(2, 80) : rules.stop + 1 + 2 * rules.cable;
  rules.atomic = rules.credits && draw.chance(0.5);
  rules.memory = draw.chance(0.3) ? draw.between(100, 1000) : 1 << 19;
  if (draw.chance(0.5)) {
    rules.local_marks[0] = 1;
    rules.local_marks[1] = 3;
  }
  const int longest = draw.chance(0.5) ? 600 : draw.between(1, 60);
  const int span = draw.between(1, 3000);
  const int strip = draw.chance(0.3) && !with_faults ? 1 : 0;
  for (int w = draw.between(1, 60); w > 0; --w) {
    FlitWorm worm;
    worm.host = switches + draw.upto(int(out.is_host.size()) - switches - 1);
    worm.made = draw.between(1, span);
    for (int c = 0; c < int(out.channels.size()); ++c) {
      if (out.channels[std::size_t(c)].from != worm.host || !worm.steps.empty()) continue;
      worm.steps.push_back({});
      draw_steps(out, worm, out.channels[std::size_t(c)].to, 1, strip, draw);
      worm.steps[0].branches.push_back({c, 1});
    }
    worm.flits = draw.between(1, longest) + longest_header(worm, 0);
    out.worms.push_back(std::move(worm));
  }
  std::ranges::stable_sort(out.worms, {}, &FlitWorm::made);
  if (with_faults) draw_faults(out, span, draw);
  return out;
}

StreamOutcome run_streams(const FlitCase& what, std::int64_t cycles) {
  return Runner(what).run(cycles);
}

std::string compare(std::uint64_t seed, CaseKind kind) {
  const FlitCase what = draw_case(seed, kind);
  const FlitOutcome machine = FlitMachine(what).run(0);
  const StreamOutcome streams = run_streams(what, machine.cycles);
  for (std::size_t i = 0; i < machine.ends.size() && i < streams.outcome.ends.size(); ++i) {
    const FlitEnd &a = machine.ends[i], &b = streams.outcome.ends[i];
    if (a != b) {
      return fmt::format("{}; streams: {}", print(a), print(b));
    }
  }
  if (machine.ends.size() != streams.outcome.ends.size()) {
    return fmt::format("{} ends; streams: {}", machine.ends.size(), streams.outcome.ends.size());
  }
  for (const std::string& why :
       {differ(machine.busy, streams.outcome.busy, "busy of channel"),
        differ(machine.blocked, streams.outcome.blocked, "blocked of channel"),
        differ(machine.most, streams.outcome.most, "most in channel"),
        differ(machine.lost, streams.outcome.lost, "lost worm"),
        differ(machine.stuck, streams.outcome.stuck, "stuck worm")}) {
    if (!why.empty()) return why;
  }
  if (streams.circle == machine.stuck.empty()) {
    return fmt::format("{} worms are stuck, and a knot is {}found",
                       machine.stuck.size(),
                       streams.circle ? "" : "not ");
  }
  return streams.audit;
}

}  // namespace smd::sim::test
