#include "smd/cc/path_watch.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/cc/cc_agent_table.h"
#include "smd/mad/codec.h"

namespace smd {
namespace {

constexpr std::uint32_t kMostContended = 100 * sa::kNoContention;
constexpr std::uint32_t kForgetting = sa::kNoContention / 10;  // a round

/// ClassPortInfo of performance management, IBA 16.1.3.1.
constexpr std::uint16_t kExtendedWidth = 1u << 9;       // CapabilityMask
constexpr std::uint16_t kHasXmitWait = 1u << 12;        // of PortCounters
constexpr std::uint32_t kAdditionalExtended = 1u << 1;  // CapabilityMask2, behind RespTimeValue

bool is_ok(const Result<MadBytes>& answer) {
  return answer && decode_mad_header(*answer)->status == 0;
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
  if (wait == 0) return sa::kNoContention;
  // As parts of a whole, so that no product exceeds 64 bits.
  if (wait / 100 >= data) return kMostContended;
  const double times = 1.0 + static_cast<double>(wait) / static_cast<double>(data);
  return std::min(kMostContended, static_cast<std::uint32_t>(sa::kNoContention * times + 0.5));
}

std::uint32_t settle_contention(std::uint32_t before, std::optional<std::uint32_t> now) {
  const std::uint32_t kept = before > kForgetting ? before - kForgetting : 0;
  return std::max({sa::kNoContention, kept, now.value_or(0)});
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
  last_.reset();
  asking_ = false;
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
                         settings.watch_mads_per_s == adopted_.watch_mads_per_s &&
                         (now == now_ || now->has_routes_of(*now_));
  now_ = std::move(now);
  if (as_before) return;
  adopted_ = settings;
  client_.configure(
      {.window = 1, .retries = settings.smp.retries, .timeout = settings.smp.timeout});
  pause_ = std::chrono::duration_cast<Duration>(std::chrono::seconds(1)) /
           std::max(1u, settings.watch_mads_per_s);
  const Fabric& fabric = now_->fabric();
  std::vector<NodeIdx> switches(fabric.switch_node.begin(), fabric.switch_node.end());
  std::ranges::sort(switches, {}, [&](NodeIdx node) { return fabric.node_guid[node]; });
  std::map<Link, Port> ports;
  for (const NodeIdx node : switches) {
    const Guid guid = fabric.node_guid[node];
    const Lid lid = now_->lids->base[fabric.port_of(node, PortNum{0})];
    if (lid == kUnassignedLid) continue;
    Agent& agent = agents_[guid];
    agent.lid = lid;
    agent.sl = sl_to(*now_, lid);
    for (const PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] == kNone<PortIdx>) continue;
      const Link link{guid, fabric.number_of(port)};
      auto known = ports_.extract(link);
      known.empty() ? ports.emplace_hint(ports.end(), link, Port{})
                    : ports.insert(ports.end(), std::move(known));
    }
  }
  std::erase_if(agents_, [&](const auto& item) { return !fabric.find_node(item.first); });
  // What is left is gone.
  for (const auto& [link, port] : ports_) order_.set_contention(link, sa::kNoContention);
  ports_ = std::move(ports);
  if (began) {
    log::info(
        "path_watch.begins", "ports={} mads_per_s={}", ports_.size(), settings.watch_mads_per_s);
    arm();
  }
}

std::size_t PathWatch::without_counters() const {
  return static_cast<std::size_t>(std::ranges::count(
      agents_, Counters::None, [](const auto& item) { return item.second.counters; }));
}

void PathWatch::arm() {
  timer_ = Timer(runtime_, runtime_.now() + pause_, [this] {
    arm();
    if (!asking_ && may_ask_()) ask_next();
  });
}

/// One MAD, or the end of the round.
void PathWatch::ask_next() {
  for (auto at = last_ ? ports_.upper_bound(*last_) : ports_.begin(); at != ports_.end(); ++at) {
    Agent& agent = agents_[at->first.first];
    if (agent.counters == Counters::Unknown && !agent.silent)
      return ask_agent(at->first.first, agent);
    last_ = at->first;
    if (!agent.silent && agent.counters != Counters::None) return ask_port(at->first, agent);
    ++stats_.skipped;
  }
  end_round();
}

void PathWatch::end_round() {
  for (auto& [link, port] : ports_) {
    if (!std::exchange(port.read, false))
      order_.set_contention(link, settle_contention(order_.contention(link), std::nullopt));
  }
  for (auto& [guid, agent] : agents_) agent.silent = false;
  last_.reset();
  if (!ports_.empty()) ++stats_.rounds;
}

template <class Done>
void PathWatch::send(const Agent& agent, std::uint16_t attribute, PortNum port, Done done) {
  MadPacket packet{.remote_lid = agent.lid, .sl = agent.sl, .mad = {}};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::Performance),
                     .class_version = 1,
                     .method = static_cast<std::uint8_t>(Method::Get),
                     .attribute_id = attribute},
                    packet.mad);
  packet.mad[kPerfDataOffset + 1] = std::byte{port.value()};  // PortSelect
  asking_ = true;
  client_.send(packet, [this, done = std::move(done)](const Result<MadBytes>& answer) {
    asking_ = false;
    done(answer);
  });
}

void PathWatch::ask_agent(Guid node, Agent& agent) {
  send(agent, perf_attribute::kClassPortInfo, PortNum{0}, [this, node](const auto& answer) {
    on_agent(node, answer);
  });
}

void PathWatch::on_agent(Guid node, const Result<MadBytes>& answer) {
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;  // it has left
  if (!answer) {
    at->second.silent = true;
    return;
  }
  if (!is_ok(answer) && !is_unsupported(*answer)) {
    at->second.silent = true;
    return;
  }
  at->second.counters = Counters::None;
  if (!is_ok(answer)) return;
  ByteReader in(data_of(*answer));
  in.skip(2);  // versions
  const std::uint16_t mask = in.u16();
  const std::uint32_t mask2 = in.u32() >> 5;
  if ((mask & kExtendedWidth) != 0 && (mask2 & kAdditionalExtended) != 0) {
    at->second.counters = Counters::Extended;
  } else if ((mask & kHasXmitWait) != 0) {
    at->second.counters = Counters::Short;
  }
}

void PathWatch::ask_port(const Link& link, const Agent& agent) {
  const std::uint16_t attribute = agent.counters == Counters::Extended
                                      ? perf_attribute::kPortCountersExtended
                                      : perf_attribute::kPortCounters;
  send(agent, attribute, link.second, [this, link, counters = agent.counters](const auto& answer) {
    on_port(link, counters, answer);
  });
}

void PathWatch::on_port(const Link& link, Counters counters, const Result<MadBytes>& answer) {
  const auto at = ports_.find(link);
  const auto agent = agents_.find(link.first);
  if (at == ports_.end() || agent == agents_.end()) return;  // it has left
  if (!is_ok(answer)) {
    agent->second.silent = !answer;
    ++stats_.skipped;
    return;
  }
  LinkSample now;
  if (counters == Counters::Extended) {
    const auto read = decode_port_counters_extended(data_of(*answer));
    if (!read) return;
    now = {.data = read->xmit_data, .wait = read->xmit_wait, .most = ~std::uint64_t{0}};
  } else {
    const auto read = decode_port_counters(data_of(*answer));
    if (!read) return;
    now = {.data = read->xmit_data, .wait = read->xmit_wait, .most = ~std::uint32_t{0}};
  }
  ++stats_.readings;
  const std::optional<LinkSample> before = std::exchange(at->second.last, now);
  if (!before) return;
  at->second.read = true;
  order_.set_contention(
      link, settle_contention(order_.contention(link), measure_contention(*before, now)));
}

}  // namespace smd
