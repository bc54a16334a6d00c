#include "tests/support/flit_machine.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace smd::sim::test {

FlitMachine::FlitMachine(const FlitCase& what) : case_(what) {
  const std::size_t nodes = case_.is_host.size();
  hosts_.resize(nodes);
  cables_of_.resize(nodes);
  ins_of_.resize(nodes);
  for (std::size_t c = 0; c < case_.channels.size(); ++c) {
    const FlitChannel& place = case_.channels[c];
    const auto cable = std::size_t(place.cable);
    if (lanes_.size() <= cable) lanes_.resize(cable + 1);
    if (lanes_[cable].empty()) cables_of_[std::size_t(place.from)].push_back(place.cable);
    lanes_[cable].push_back(int(c));
    ins_of_[std::size_t(place.to)].push_back(int(c));
    channels_.push_back({.place = place, .credits = case_.rules.buffer});
    if (!is_host(place.from)) continue;
    hosts_[std::size_t(place.from)].engines.push_back(int(c));
    hosts_[std::size_t(place.from)].programming.push_back(nullptr);
  }
  last_lane_.assign(lanes_.size(), -1);
}

FlitMachine::Stay* FlitMachine::add(int worm, int step, int in, std::int64_t total) {
  all_.push_back({.worm = worm, .step = step, .in = in, .total = total});
  const FlitStep& what = case_.worms[std::size_t(worm)].steps[std::size_t(step)];
  for (std::size_t b = 0; b < what.branches.size(); ++b) {
    Output output{.channel = what.branches[b].first, .next = what.branches[b].second};
    if (b < what.others.size() && !what.others[b].empty()) {
      output.choices = what.others[b];
      output.choices.insert(output.choices.begin(), what.branches[b]);
    }
    all_.back().outputs.push_back(std::move(output));
  }
  return &all_.back();
}

bool FlitMachine::permitted(const Channel& channel) const {
  if (is_host(channel.place.to) || channel.dead) return true;
  return case_.rules.credits ? channel.credits > 0 : !channel.stopped;
}

bool FlitMachine::is_free(const Channel& channel) const {
  if (channel.owner != nullptr) return false;
  const bool between = !is_host(channel.place.from) && !is_host(channel.place.to);
  return !case_.rules.atomic || !between || channel.dead || channel.was_empty;
}

// The cable is obeyed in the cycle after the symbol came in. What leaves a switch's buffer then is
// on the cable a cycle later.
std::int64_t FlitMachine::back_at(const Channel& channel) const {
  return now_ + case_.rules.cable + (is_host(channel.place.from) ? 1 : 1 - case_.rules.transfer);
}

void FlitMachine::change_cables() {
  for (; next_fault_ < case_.faults.size() && case_.faults[next_fault_].at == now_; ++next_fault_) {
    const FlitFault& fault = case_.faults[next_fault_];
    for (const int c : lanes_[std::size_t(fault.cable)]) {
      Channel& channel = channels_[std::size_t(c)];
      channel.down = !fault.up;
      if (channel.down && !channel.dead) cut(channel);
    }
    changed_ = now_;
  }
  // Both ends tell each other how things stand.
  for (Channel& channel : channels_) {
    if (!channel.dead || channel.down || channel.owner != nullptr) continue;
    channel.dead = false;
    channel.stopped = channel.said_stop;
    channel.credits = case_.rules.buffer - channel.fill;
    changed_ = now_;
  }
}

void FlitMachine::cut(Channel& channel) {
  channel.dead = true;
  channel.wire.clear();
  channel.symbols.clear();
  if (channel.owner != nullptr) channel.branch->lost = true;
  for (Stay* stay : std::deque<Stay*>(channel.stays)) {
    if (stay->came == stay->total) continue;
    if (stay->came == 0) {
      stay->over = stay->cut = true;
      std::erase(channel.stays, stay);
      continue;
    }
    ++channel.fill;
    shorten(*stay, ++stay->came);
    if (!is_host(channel.place.to) || !(stay->outputs.empty() || stay->dropped)) continue;
    out_.ends.push_back({stay->worm, channel.place.to, stay->head_in, now_, stay->dropped, true});
    std::erase(channel.stays, stay);
    stay->over = true;
  }
}

void FlitMachine::shorten(Stay& stay, std::int64_t total) {
  stay.total = total;
  stay.cut = true;
  for (const Output& output : stay.outputs) {
    if (output.down != nullptr && !output.lost) shorten(*output.down, total);
  }
}

void FlitMachine::take_in() {
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    Channel& channel = channels_[c];
    channel.was_empty = channel.credits == case_.rules.buffer;
    while (!channel.symbols.empty() && channel.symbols.front().first == now_) {
      const int what = channel.symbols.front().second;
      if (what == 2) ++channel.credits;
      if (what != 2) channel.stopped = what == 1;
      channel.symbols.pop_front();
    }
    if (channel.wire.empty() || channel.wire.front().first != now_) continue;
    const Flit flit = channel.wire.front().second;
    channel.wire.pop_front();
    changed_ = now_;
    ++channel.fill;
    Stay* stay = nullptr;  // the one that this flit belongs to: the last that has begun to come in
    for (Stay* other : channel.stays) {
      if (other->came < other->total && stay == nullptr) stay = other;
    }
    if (flit.head) stay->head_in = now_;
    ++stay->came;
    if (!is_host(channel.place.to)) continue;
    Host& host = hosts_[std::size_t(channel.place.to)];
    if (flit.head && !stay->outputs.empty()) {
      if (host.memory + stay->total > case_.rules.memory) {
        stay->dropped = true;
      } else {
        host.memory += stay->total;
        stay->room = stay->total;
        stay->act_at = now_ + case_.rules.detection;
      }
    }
    if (flit.tail && (stay->outputs.empty() || stay->dropped)) {
      out_.ends.push_back(
          {stay->worm, channel.place.to, stay->head_in, now_, stay->dropped, stay->cut});
      std::erase(channel.stays, stay);
      stay->over = true;
    }
  }
}

void FlitMachine::begin_at_switch(Channel& channel) {
  if (channel.stays.empty()) return;
  Stay& stay = *channel.stays.front();
  const FlitStep& what = case_.worms[std::size_t(stay.worm)].steps[std::size_t(stay.step)];
  if (!stay.begun && stay.came > (what.waits ? what.strip : 0)) {
    const int strip = what.strip;
    stay.begun = true;
    stay.gone = strip;
    channel.fill -= strip;
    for (int i = 0; i < strip && case_.rules.credits; ++i) {
      channel.symbols.push_back({back_at(channel), 2});
    }
    stay.act_at = now_ + case_.rules.routing;
  }
  if (stay.act_at != now_) return;
  for (Output& output : stay.outputs)
    (output.choices.empty() ? output.asks : output.chooses) = true;
}

void FlitMachine::choose(Stay& stay) {
  for (Output& output : stay.outputs) {
    if (!output.chooses || output.granted) continue;
    output.asks = false;
    for (const auto& [channel, next] : output.choices) {
      if (output.asks || !is_free(channels_[std::size_t(channel)])) continue;
      output.channel = channel;
      output.next = next;
      output.asks = true;
    }
  }
}

void FlitMachine::connect(Stay& stay, Output& output) {
  Channel& channel = channels_[std::size_t(output.channel)];
  channel.owner = &stay;
  channel.branch = &output;
  output.granted = true;
  output.asks = false;
  output.lost = channel.dead;
  changed_ = now_;
}

void FlitMachine::begin_at_host(int node) {
  Host& host = hosts_[std::size_t(node)];
  for (const int in : ins_of_[std::size_t(node)]) {
    for (Stay* stay : channels_[std::size_t(in)].stays) {
      if (stay->act_at == now_ && !stay->begun) host.transit.push_back(stay);
    }
  }
  for (std::size_t e = 0; e < host.engines.size(); ++e) {
    Stay*& programmed = host.programming[e];
    if (programmed != nullptr && programmed->act_at == now_) {
      connect(*programmed, programmed->outputs[0]);
      programmed = nullptr;
    }
    if (programmed != nullptr || channels_[std::size_t(host.engines[e])].owner != nullptr) continue;
    bool local = !host.local.empty();
    if (!host.transit.empty()) {
      const auto length = int(host.local.size());
      const FlitRuleSet& rules = case_.rules;
      const int need = rules.local_after[length <= rules.local_marks[0]   ? 0
                                         : length <= rules.local_marks[1] ? 1
                                                                          : 2];
      local = length > 0 && host.since_local >= need;
      if (!local) ++host.since_local;
    }
    if (local) {
      const int worm = host.local.front();
      host.local.pop_front();
      host.since_local = 0;
      Stay* stay = add(worm, 0, -1, case_.worms[std::size_t(worm)].flits);
      stay->came = stay->total;
      stay->outputs[0].channel = host.engines[e];
      connect(*stay, stay->outputs[0]);
    } else if (!host.transit.empty()) {
      programmed = host.transit.front();
      host.transit.pop_front();
      programmed->begun = true;
      programmed->gone =
          case_.worms[std::size_t(programmed->worm)].steps[std::size_t(programmed->step)].strip;
      programmed->outputs[0].channel = host.engines[e];
      programmed->act_at = now_ + case_.rules.dma;
    }
  }
}

void FlitMachine::begin() {
  for (; next_worm_ < case_.worms.size() && case_.worms[next_worm_].made == now_; ++next_worm_) {
    hosts_[std::size_t(case_.worms[next_worm_].host)].local.push_back(int(next_worm_));
    changed_ = now_;
  }
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    if (!is_host(channels_[c].place.to)) begin_at_switch(channels_[c]);
  }
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    if (is_host(int(node))) begin_at_host(int(node));
  }
}

// Round robin: of the inputs that ask the next one after that which had it last.
void FlitMachine::grant() {
  for (Channel& channel : channels_) {
    if (!is_host(channel.place.to) && !channel.stays.empty()) choose(*channel.stays.front());
  }
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    Channel& channel = channels_[c];
    if (is_host(channel.place.from) || !is_free(channel)) continue;
    Stay* chosen = nullptr;
    Output* branch = nullptr;
    const int count = int(channels_.size());
    for (const int in : ins_of_[std::size_t(channel.place.from)]) {
      if (channels_[std::size_t(in)].stays.empty()) continue;
      Stay* stay = channels_[std::size_t(in)].stays.front();
      const auto turn = [&](int who) { return (who - channel.last_granted - 1 + count) % count; };
      for (Output& output : stay->outputs) {
        if (!output.asks || output.channel != int(c)) continue;
        if (chosen != nullptr && turn(chosen->in) < turn(stay->in)) continue;
        chosen = stay;
        branch = &output;
      }
    }
    if (chosen == nullptr) continue;
    channel.last_granted = chosen->in;
    connect(*chosen, *branch);
  }
}

bool FlitMachine::ready(const Stay& stay, const Output& output) const {
  const int strip = case_.worms[std::size_t(stay.worm)].steps[std::size_t(stay.step)].strip;
  if (stay.came - strip <= output.left) return false;
  if (!case_.rules.lock_step) return permitted(channels_[std::size_t(output.channel)]);
  return std::ranges::all_of(stay.outputs, [this](const Output& other) {
    return other.granted && permitted(channels_[std::size_t(other.channel)]);
  });
}

void FlitMachine::send(Stay& stay, Output& output) {
  Channel& channel = channels_[std::size_t(output.channel)];
  const int strip = case_.worms[std::size_t(stay.worm)].steps[std::size_t(stay.step)].strip;
  const std::int64_t total = stay.total - strip;
  const bool head = output.left == 0, tail = output.left + 1 == total;
  if (head && !output.lost) {
    output.down = add(stay.worm, output.next, output.channel, total);
    output.down->cut = stay.cut;
    channel.stays.push_back(output.down);
  }
  const int pipe = is_host(channel.place.from) ? 0 : case_.rules.transfer;
  if (!output.lost) {
    channel.wire.push_back({now_ + pipe + case_.rules.cable, {stay.worm, output.next, head, tail}});
    if (!is_host(channel.place.to)) --channel.credits;
  }
  ++output.left;
  ++channel.busy;
  changed_ = now_;
  if (tail) output.done = true;
  std::int64_t gone = stay.total;
  for (const Output& other : stay.outputs) gone = std::min(gone, other.left + strip);
  if (gone == stay.gone || stay.in < 0) return;
  stay.gone = gone;
  Channel& in = channels_[std::size_t(stay.in)];
  if (is_host(in.place.to)) return;
  --in.fill;
  if (case_.rules.credits && !in.dead) in.symbols.push_back({back_at(in), 2});
}

void FlitMachine::move(int node) {
  std::set<int> used;
  const auto is_fork = [this](const Stay& stay) {
    return case_.rules.lock_step && stay.outputs.size() > 1;
  };
  for (const int cable : cables_of_[std::size_t(node)]) {
    if (used.contains(cable)) continue;
    const std::vector<int>& lanes = lanes_[std::size_t(cable)];
    const auto count = int(lanes.size());
    for (int k = 1; k <= count; ++k) {
      const int lane = (last_lane_[std::size_t(cable)] + k + count) % count;
      Channel& channel = channels_[std::size_t(lanes[std::size_t(lane)])];
      if (channel.owner == nullptr || channel.branch->done ||
          !ready(*channel.owner, *channel.branch))
        continue;
      std::vector<Output*> all{channel.branch};
      if (is_fork(*channel.owner)) {
        all.clear();
        for (Output& output : channel.owner->outputs) all.push_back(&output);
      }
      const auto cable_of = [this](const Output* output) {
        return channels_[std::size_t(output->channel)].place.cable;
      };
      if (std::ranges::any_of(all, [&](Output* o) { return used.contains(cable_of(o)); })) continue;
      Stay& stay = *channel.owner;
      for (Output* output : all) {
        used.insert(cable_of(output));
        const std::vector<int>& those = lanes_[std::size_t(cable_of(output))];
        last_lane_[std::size_t(cable_of(output))] =
            int(std::ranges::find(those, output->channel) - those.begin());
        send(stay, *output);
      }
      break;
    }
  }
}

void FlitMachine::end(Stay& stay) {
  bool all = true;
  for (Output& output : stay.outputs) {
    Channel& channel = channels_[std::size_t(output.channel)];
    if (output.done && channel.owner == &stay && channel.branch == &output) channel.owner = nullptr;
    all = all && output.done;
  }
  if (!all) return;
  stay.over = true;
  if (stay.in < 0) return;
  Channel& in = channels_[std::size_t(stay.in)];
  std::erase(in.stays, &stay);
  if (is_host(in.place.to)) hosts_[std::size_t(in.place.to)].memory -= stay.room;
}

void FlitMachine::mark() {
  std::vector<Stay*> done;
  for (Channel& channel : channels_) {
    if (channel.owner != nullptr && channel.branch->done) done.push_back(channel.owner);
  }
  for (Channel& channel : channels_) {
    if (is_host(channel.place.to)) continue;
    channel.most = std::max(channel.most, channel.fill);
    if (case_.rules.credits) continue;
    if (!channel.said_stop && channel.fill > case_.rules.stop) {
      channel.said_stop = true;
      if (!channel.dead) channel.symbols.push_back({back_at(channel), 1});
    } else if (channel.said_stop && channel.fill < case_.rules.go) {
      channel.said_stop = false;
      if (!channel.dead) channel.symbols.push_back({back_at(channel), 0});
    }
  }
  for (Stay* stay : done) {
    if (!stay->over) end(*stay);
  }
}

FlitOutcome FlitMachine::run(std::int64_t cycles) {
  const FlitRuleSet& rules = case_.rules;
  const std::int64_t patience =
      4 * (rules.cable + rules.transfer + rules.routing + rules.detection + rules.dma + 4);
  for (; now_ < cycles || next_worm_ < case_.worms.size() || next_fault_ < case_.faults.size() ||
         now_ - changed_ <= patience;
       ++now_) {
    change_cables();
    take_in();
    begin();
    grant();
    for (Channel& channel : channels_) channel.blocked += permitted(channel) ? 0 : 1;
    for (std::size_t node = 0; node < cables_of_.size(); ++node) move(int(node));
    mark();
  }
  for (const Channel& channel : channels_) {
    out_.busy.push_back(channel.busy);
    out_.blocked.push_back(channel.blocked);
    out_.most.push_back(channel.most);
  }
  std::set<int> stuck, lost;
  for (const Stay& stay : all_) {
    if (!stay.over) stuck.insert(stay.worm);
    bool cut = stay.cut;
    for (const Output& output : stay.outputs) cut = cut || output.lost;
    if (cut) lost.insert(stay.worm);
  }
  std::ranges::set_difference(lost, stuck, std::back_inserter(out_.lost));
  out_.cycles = now_;
  out_.stuck.assign(stuck.begin(), stuck.end());
  std::ranges::sort(out_.ends);
  return out_;
}

}  // namespace smd::sim::test
