#include "smd/cc/path_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "smd/base/log.h"
#include "smd/cc/cc_agent_table.h"
#include "smd/mad/codec.h"

namespace smd {
namespace {

constexpr std::uint32_t kMostContended = 100 * sa::kNoContention;
constexpr std::uint32_t kLeastForgotten = sa::kNoContention / 10;  // a round
constexpr double kFloor = 10e6 / 32;  // words of 4 bytes a second: 10 Mb/s

/// However few agents there are: of one agent, between two requests.
constexpr Duration kAgentPause = std::chrono::milliseconds(50);
constexpr Duration kBusyPause = std::chrono::seconds(1);
constexpr unsigned kMostBusy = 3;  // times in a round
constexpr unsigned kMostGivenUp =
    8;  // likewise: sweeps may follow each other sooner than it answers
constexpr Duration kShortestRound = std::chrono::seconds(1);

bool is_ok(const MadBytes& answer) { return decode_mad_header(answer)->status == 0; }

/// The agent took nothing in (IBA 13.4.7), and may the next time.
bool is_busy(const MadBytes& answer) {
  return (decode_mad_header(answer)->status & static_cast<std::uint16_t>(MadStatus::Busy)) != 0;
}

/// The agent does not know the attribute, or the method (IBA 13.4.7). Any other status may pass.
bool is_unsupported(const MadBytes& answer) {
  constexpr std::uint16_t kCode = 0x1c, kNoMethod = 2u << 2, kNoAttribute = 3u << 2;
  const unsigned code = decode_mad_header(answer)->status & kCode;
  return code == kNoMethod || code == kNoAttribute;
}

std::span<const std::byte, kPerfDataSize> data_of(const MadBytes& mad) {
  return std::span<const std::byte, kMadSize>(mad).subspan<kPerfDataOffset>();
}

}  // namespace

std::optional<std::uint32_t> measure_contention(const LinkSample& before, const LinkSample& now) {
  const bool at_end = now.data >= now.most || now.wait >= now.most;
  if (before.most != now.most || at_end || now.data < before.data || now.wait < before.wait)
    return std::nullopt;
  const std::uint64_t data = now.data - before.data;
  const std::uint64_t wait = now.wait - before.wait;
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  const double carried = std::max(static_cast<double>(data), kFloor * seconds);
  if (wait == 0 || carried == 0) return sa::kNoContention;
  const double times = 1 + static_cast<double>(wait) / carried;
  return static_cast<std::uint32_t>(
      std::min<double>(kMostContended, sa::kNoContention * times + 0.5));
}

std::uint32_t settle_contention(std::uint32_t before, std::optional<std::uint32_t> now) {
  const std::uint32_t above = std::max(before, sa::kNoContention) - sa::kNoContention;
  const std::uint32_t forgotten = std::max(kLeastForgotten, above - above / 2);
  const std::uint32_t kept = sa::kNoContention + (above > forgotten ? above - forgotten : 0);
  return std::max(kept, now.value_or(0));
}

PathWatch::PathWatch(Runtime& runtime,
                     Transport& transport,
                     sa::PathOrder& order,
                     std::function<bool()> may_ask)
    : runtime_(runtime), client_(runtime, transport), order_(order), may_ask_(std::move(may_ask)) {}

void PathWatch::stop() {
  client_.stop();
  timer_.reset();
  now_.reset();
  agents_.clear();
  ports_.clear();
  turns_.clear();
  asked_.reset();
  order_.forget_contention();
}

void PathWatch::adopt(std::shared_ptr<const ActiveSubnet> now, const Settings& settings) {
  if (settings.path_choice != PathChoice::LeastContended) {
    if (enabled()) stop();
    return;
  }
  const bool began = !enabled();
  const bool as_before = !began && settings.smp.retries == adopted_.smp.retries &&
                         settings.smp.timeout == adopted_.smp.timeout &&
                         settings.path_watch_mads_per_s == adopted_.path_watch_mads_per_s &&
                         (now == now_ || now->has_routes_of(*now_));
  now_ = std::move(now);
  if (as_before) return;
  adopted_ = settings;
  // Retries are turns like others: they count for the rate, and none goes into a cycle.
  client_.configure({.window = 1, .retries = 0, .timeout = settings.smp.timeout});
  pause_ = std::chrono::duration_cast<Duration>(std::chrono::seconds(1)) /
           std::max(1u, settings.path_watch_mads_per_s);
  list_ports(now_->fabric());
  if (!began) return;
  log::info(
      "path_watch.begins", "ports={} mads_per_s={}", ports_.size(), settings.path_watch_mads_per_s);
  begin_round();
  arm();
}

/// A round under way goes on with those that are left.
void PathWatch::list_ports(const Fabric& fabric) {
  std::map<Guid, Agent> agents;
  Ports ports;
  for (const NodeIdx node : fabric.switch_node) {
    const Guid guid = fabric.node_guid[node];
    const Lid lid = now_->lids->base[fabric.port_of(node, PortNum{0})];
    if (lid == kUnassignedLid) continue;
    bool cabled = false;
    for (const PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] == kNone<PortIdx>) continue;
      cabled = true;
      const Link link{guid, fabric.number_of(port)};
      if (auto known = ports_.extract(link); !known.empty()) {
        ports.insert(std::move(known));
      } else {
        ports.emplace(link, Port{});
      }
    }
    if (!cabled) continue;
    auto known = agents_.extract(guid);
    Agent& agent = known.empty() ? agents[guid] : agents.insert(std::move(known)).position->second;
    agent.lid = lid;
    agent.sl = sl_to(*now_, lid);
  }
  // What is left is gone.
  for (const auto& [link, port] : ports_) order_.set_contention(link, sa::kNoContention);
  ports_ = std::move(ports);
  agents_ = std::move(agents);
  turns_.clear();
  for (auto& [guid, agent] : agents_) {
    if (!agent.done && asked_ != guid) line_up(guid, agent, Duration{0});
  }
}

std::size_t PathWatch::without_counters() const {
  return static_cast<std::size_t>(std::ranges::count(
      agents_, Counters::None, [](const auto& item) { return item.second.counters; }));
}

void PathWatch::arm() {
  TimePoint due = runtime_.now() + pause_;
  if (!asked_) due = std::max(due, turns_.empty() ? round_ends_ : turns_.begin()->first);
  timer_ = Timer(runtime_, due, [this] {
    on_turn();
    arm();
  });
}

/// One MAD, or the end of the round.
void PathWatch::on_turn() {
  if (!may_ask_()) return give_up();
  if (asked_) return;
  if (turns_.empty()) {
    if (runtime_.now() >= round_ends_) end_round();
    return;
  }
  const auto [due, node] = *turns_.begin();
  if (due > runtime_.now()) return;
  turns_.erase(turns_.begin());
  ask(node, agents_.at(node));
}

/// Nobody waits for the answer any more; the agent is no less trusted for that.
void PathWatch::give_up() {
  if (!asked_) return;
  client_.stop();
  ++stats_.given_up;
  const Guid node = *std::exchange(asked_, std::nullopt);
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;
  if (++at->second.given_up > kMostGivenUp) return skip_rest(node, at->second);
  line_up(node, at->second, Duration{0});
}

void PathWatch::begin_round() {
  round_ends_ = runtime_.now() + kShortestRound;
  for (auto& [guid, agent] : agents_) {
    agent.at.reset();
    agent.busy = 0;
    agent.given_up = 0;
    agent.done = false;
  }
  turns_.clear();
  for (auto& [guid, agent] : agents_) line_up(guid, agent, Duration{0});
}

void PathWatch::end_round() {
  for (auto& [link, port] : ports_) {
    if (!std::exchange(port.read, false))
      order_.set_contention(link, settle_contention(order_.contention(link), std::nullopt));
  }
  if (!ports_.empty()) ++stats_.rounds;
  begin_round();
}

PathWatch::Ports::iterator PathWatch::next_port(Guid node, const Agent& agent) {
  const auto at =
      agent.at ? ports_.upper_bound({node, *agent.at}) : ports_.lower_bound({node, PortNum{0}});
  return at != ports_.end() && at->first.first == node ? at : ports_.end();
}

/// For its next port, if there is one. Of agents that may be asked the one comes first that has
/// waited longest.
void PathWatch::line_up(Guid node, Agent& agent, Duration pause) {
  if (agent.counters == Counters::None) return skip_rest(node, agent);
  agent.done = next_port(node, agent) == ports_.end();
  agent.due = std::max(agent.due, runtime_.now() + pause);
  if (!agent.done) turns_.emplace(agent.due, node);
}

/// Until the next round.
void PathWatch::skip_rest(Guid node, Agent& agent) {
  for (auto at = next_port(node, agent); at != ports_.end(); at = next_port(node, agent)) {
    agent.at = at->first.second;
    ++stats_.skipped;
  }
  agent.done = true;
}

/// What counters there are, or those of its next port.
void PathWatch::ask(Guid node, const Agent& agent) {
  std::optional<PortNum> port;
  if (agent.counters != Counters::Unknown) port = next_port(node, agent)->first.second;
  std::uint16_t attribute = perf_attribute::kClassPortInfo;
  if (agent.counters == Counters::Extended) attribute = perf_attribute::kPortCountersExtended;
  if (agent.counters == Counters::Short) attribute = perf_attribute::kPortCounters;
  MadPacket packet{.remote_lid = agent.lid, .sl = agent.sl, .mad = {}};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::Performance),
                     .class_version = 1,
                     .method = static_cast<std::uint8_t>(Method::Get),
                     .attribute_id = attribute},
                    packet.mad);
  if (port) packet.mad[kPerfDataOffset + 1] = std::byte{port->value()};  // PortSelect
  asked_ = node;
  client_.send(packet, [this, node, port](const auto& answer) { on_answer(node, port, answer); });
}

void PathWatch::on_answer(Guid node,
                          const std::optional<PortNum>& port,
                          const Result<MadBytes>& answer) {
  if (!answer && !may_ask_()) return give_up();
  asked_.reset();
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;  // it has left
  Agent& agent = at->second;
  if (!answer) {
    if (++agent.unanswered <= adopted_.smp.retries) return line_up(node, agent, kAgentPause);
    agent.unanswered = 0;
    return skip_rest(node, agent);
  }
  agent.unanswered = 0;
  if (is_busy(*answer)) {
    ++stats_.busy;
    if (++agent.busy <= kMostBusy) return line_up(node, agent, kBusyPause);
    return skip_rest(node, agent);
  }
  if (!port) {
    if (!read_agent(agent, *answer)) return skip_rest(node, agent);
  } else if (agent.counters != Counters::Unknown) {  // else it has left and come back since
    read_port({node, *port}, agent, *answer);
  }
  line_up(node, agent, kAgentPause);
}

/// False where it does not say now what counters it has.
bool PathWatch::read_agent(Agent& agent, const MadBytes& answer) const {
  if (!is_ok(answer) && !is_unsupported(answer)) return false;
  agent.counters = Counters::None;
  if (!is_ok(answer)) return true;
  ByteReader in(data_of(answer));
  in.skip(2);  // versions
  const std::uint16_t mask = in.u16();
  const std::uint32_t mask2 = in.u32() >> perf_capability::kRespTimeBits;
  if ((mask & perf_capability::kExtendedWidth) != 0 &&
      (mask2 & perf_capability::kAdditionalExtended) != 0) {
    agent.counters = Counters::Extended;
  } else if ((mask & perf_capability::kHasXmitWait) != 0) {
    agent.counters = Counters::Short;
  }
  return true;
}

void PathWatch::read_port(const Link& link, Agent& agent, const MadBytes& answer) {
  agent.at = link.second;
  const auto at = ports_.find(link);
  if (at == ports_.end()) return;  // it has left
  LinkSample now{.at = runtime_.now()};
  const auto take = [&now](const auto& counters, std::uint64_t most) {
    if (!counters) return false;
    now.data = counters->xmit_data;
    now.wait = counters->xmit_wait;
    now.most = most;
    return true;
  };
  const bool read = is_ok(answer) &&
                    (agent.counters == Counters::Extended
                         ? take(decode_port_counters_extended(data_of(answer)), ~std::uint64_t{0})
                         : take(decode_port_counters(data_of(answer)), ~std::uint32_t{0}));
  if (!read) {
    ++stats_.skipped;
    return;
  }
  ++stats_.readings;
  const std::optional<LinkSample> before = std::exchange(at->second.last, now);
  if (!before) return;
  at->second.read = true;
  order_.set_contention(
      link, settle_contention(order_.contention(link), measure_contention(*before, now)));
}

}  // namespace smd
