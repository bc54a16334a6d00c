#include "smd/app/congestion_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "smd/base/log.h"

namespace smd::app {
namespace {

/// One that never answered is asked in so many rounds.
constexpr unsigned kMostSilences = 3;

constexpr std::size_t kMostAlarms = 5;

}  // namespace

CongestionDesk::CongestionDesk(Runtime& runtime, Transport& transport)
    : runtime_(runtime), client_(runtime, transport) {
  client_.on_unsolicited([this](const MadPacket& packet) { on_trap(packet); });
}

void CongestionDesk::stop() {
  client_.stop();
  round_.reset();
  agents_.clear();
  hot_.clear();
  now_.reset();
  plan_ = {};
  busy_ = 0;
  planning_ = false;
  ++plan_number_;
  said_.clear();
}

void CongestionDesk::adopt(std::shared_ptr<const InForce> now,
                           const Settings& settings,
                           unsigned longest_route,
                           const std::vector<PortIdx>& came_up) {
  if (!settings.congestion.enabled) {
    if (options_.enabled) stop();
    options_ = settings.congestion;
    return;
  }
  options_ = settings.congestion;
  now_ = std::move(now);
  client_.configure({.window = options_.max_outstanding,
                     .retries = settings.smp.retries,
                     .timeout = settings.smp.timeout});
  find_agents();
  const Fabric& fabric = now_->fabric();
  for (const PortIdx port : came_up) {
    const NodeIdx node = fabric.node_of[port];
    const PortNum number = fabric.is_switch(node) ? PortNum{} : fabric.number_of(port);
    const auto found = agents_.find({fabric.node_guid[node], number});
    if (found != agents_.end()) start_anew(found->second);
  }
  planning_ = true;
  const cc::FactsRequest request{
      .mtu_max = mtu_bytes(settings.ports.mtu_max),
      .longest_route = longest_route == 0 ? std::nullopt : std::optional(longest_route)};
  work_.offload(
      runtime_,
      [fabric = now_->sweep.fabric, request, options = options_] {
        return cc::build_plan(cc::read_facts(*fabric, request), options);
      },
      [this, number = ++plan_number_](cc::Plan plan) {
        if (number == plan_number_) on_plan(std::move(plan));
      });
}

/// What is on its way is of a former life.
void CongestionDesk::start_anew(Known& known) {
  known.agent.forget();
  known.life = ++lives_;
  if (std::exchange(known.busy, false)) --busy_;
}

/// Those that left the subnet are forgotten.
void CongestionDesk::find_agents() {
  const Fabric& fabric = now_->fabric();
  std::set<PortKey> present;
  for (const PortIdx port : fabric.peer.indices()) {
    const NodeIdx node = fabric.node_of[port];
    const Lid lid = now_->lids.base[port];
    if (!fabric.is_end_port(port) || lid == kUnassignedLid) continue;
    const cc::NodeOverride* own = options_.find(fabric.node_guid[node]);
    if (own != nullptr && own->off) continue;
    const PortKey key{fabric.node_guid[node],
                      fabric.is_switch(node) ? PortNum{} : fabric.number_of(port)};
    present.insert(key);
    Known& known = agents_.try_emplace(key, fabric.is_switch(node)).first->second;
    if (known.life == 0) start_anew(known);
    known.name = print_port(fabric, port);
    known.lid = lid;
    known.sl = sl_to(lid);
  }
  for (auto each = agents_.begin(); each != agents_.end();) {
    if (present.contains(each->first)) {
      ++each;
      continue;
    }
    if (each->second.busy) --busy_;
    each = agents_.erase(each);
  }
  std::erase_if(hot_, [&](const auto& item) { return !fabric.find_node(item.first.first); });
}

std::uint8_t CongestionDesk::sl_to(Lid lid) const {
  const Fabric& fabric = now_->fabric();
  const PathSls& sls = now_->routing.path_sls;
  NodeIdx at = fabric.sm_node;
  if (!fabric.is_switch(at)) {
    const PortIdx far = fabric.peer[fabric.sm_port];
    if (far == kNone<PortIdx>) return 0;
    at = fabric.node_of[far];
  }
  if (!fabric.is_switch(at) || sls.empty() || !sls.covers(fabric.switch_count(), lid)) return 0;
  return sls.sl(fabric.switch_of[at], lid);
}

void CongestionDesk::on_plan(cc::Plan plan) {
  planning_ = false;
  if (plan != plan_) {
    plan_ = std::move(plan);
    ++stats_.plans;
    if (!plan_.refusal.empty())
      log::warn("congestion.refused", "why=\"{}\"; nothing is set", plan_.refusal);
  }
  set_goals();
  arm_round();
}

void CongestionDesk::set_goals() {
  if (plan_.refusal.empty()) {
    for (auto& [key, known] : agents_) {
      known.agent.aim(goal_of(key));
      advance(key);
    }
  }
  if (busy_ == 0) settled();
}

CcGoal CongestionDesk::goal_of(const PortKey& key) const {
  const Fabric& fabric = now_->fabric();
  const NodeIdx node = *fabric.find_node(key.first);
  const Lid our_lid = now_->lids.base[fabric.sm_port];
  return build_cc_goal(plan_, options_, fabric, node, key.second, our_lid);
}

template <class Done>
void CongestionDesk::ask(const PortKey& key, const MadBytes& mad, Done done) {
  Known& known = agents_.at(key);
  known.busy = true;
  ++busy_;
  const MadPacket packet{.remote_lid = known.lid, .sl = known.sl, .mad = mad};
  client_.send(
      packet,
      [this, key, life = known.life, done = std::move(done)](const Result<MadBytes>& result) {
        const auto found = agents_.find(key);
        if (found == agents_.end() || found->second.life != life) return;
        found->second.busy = false;
        --busy_;
        done(found->second, result);
        if (busy_ == 0) settled();
      });
}

/// Asks for one more thing, where one is left.
void CongestionDesk::advance(const PortKey& key) {
  Known& known = agents_.at(key);
  if (known.busy) return;
  const auto request = known.agent.next();
  if (!request) return;
  ++(request->set ? stats_.sets : stats_.gets);
  ask(key,
      known.agent.make(*request),
      [this, key, request = *request](Known& at, const Result<MadBytes>& result) {
        result ? at.agent.take(request, *result) : at.agent.lose();
        advance(key);
      });
}

std::size_t CongestionDesk::count(CcStanding standing) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents_, [&](const auto& item) { return item.second.agent.standing() == standing; }));
}

/// Every agent has said what it has to say: one line, where it is another than before.
void CongestionDesk::settled() {
  if (!now_ || planning_) return;
  const auto with_trouble = std::ranges::count_if(
      agents_, [](const auto& item) { return !item.second.agent.trouble().empty(); });
  std::string line = fmt::format("managed={} unsupported={} silent={} foreign_key={} trouble={}",
                                 count(CcStanding::Managed),
                                 count(CcStanding::Unsupported),
                                 count(CcStanding::Silent),
                                 count(CcStanding::ForeignKey),
                                 with_trouble);
  if (count(CcStanding::Managed) == 0 && !agents_.empty())
    line += " what=\"no node here does congestion control; all are left as they are\"";
  if (line == said_) return;
  said_ = std::move(line);
  const bool degraded = with_trouble > 0 || count(CcStanding::ForeignKey) > 0;
  degraded ? log::warn("congestion.settled", "{}", said_)
           : log::info("congestion.settled", "{}", said_);
}

std::vector<std::string> CongestionDesk::alarms() const {
  std::vector<std::string> lines;
  if (!plan_.refusal.empty()) lines.push_back("congestion control: " + plan_.refusal);
  std::size_t more = 0;
  for (const auto& [key, known] : agents_) {
    const bool foreign = known.agent.standing() == CcStanding::ForeignKey;
    if (known.agent.trouble().empty() && !foreign) continue;
    if (lines.size() >= kMostAlarms) {
      ++more;
      continue;
    }
    lines.push_back(fmt::format("congestion control: {}: {}",
                                known.name,
                                foreign ? "another manager's CC_Key" : known.agent.trouble()));
  }
  if (more > 0) lines.push_back(fmt::format("congestion control: {} more agents", more));
  return lines;
}

/// A right key within every lease keeps the key hidden.
void CongestionDesk::arm_round() {
  Duration pause = std::chrono::seconds(options_.log_interval_s);
  if (options_.protect && options_.lease_s > 0) {
    const Duration half = std::chrono::seconds(options_.lease_s) / 2;
    pause = pause == Duration{0} ? half : std::min(pause, half);
  }
  if (pause == Duration{0}) return round_.reset();
  round_ = Timer(runtime_, runtime_.now() + pause, [this] { begin_round(); });
}

void CongestionDesk::begin_round() {
  arm_round();
  if (!plan_.refusal.empty()) return;
  std::vector<PortKey> keys;
  for (const auto& [key, known] : agents_) keys.push_back(key);
  for (const PortKey& key : keys) {
    Known& known = agents_.at(key);
    if (known.busy) continue;
    const CcStanding standing = known.agent.standing();
    if (standing == CcStanding::Managed) {
      read_log(key);
    } else if (standing == CcStanding::ForeignKey ||
               (standing == CcStanding::Silent && known.agent.silences() < kMostSilences)) {
      known.agent.try_again();
      advance(key);
    }
  }
}

void CongestionDesk::read_log(const PortKey& key) {
  ++stats_.logs;
  const MadBytes mad = make_cc_mad({.attribute = cc::Attribute::CongestionLog}, options_.key);
  ask(key, mad, [this, key](Known& at, const Result<MadBytes>& result) {
    if (!result) {
      at.agent.lose();
    } else if (decode_mad_header(*result)->status == 0) {
      take_log(key, *result);
    }
  });
}

void CongestionDesk::take_log(const PortKey& key, const MadBytes& answer) {
  const auto data = std::span(answer).subspan(cc::kLogOffset);
  const auto note = [&](PortNum port, std::uint16_t events) {
    HotPort& hot = hot_[{key.first, port}];
    ++hot.readings;
    hot.events += events;
    hot.last = runtime_.now();
  };
  if (!agents_.at(key).agent.is_switch()) {
    const cc::CaLog log = *cc::decode_ca_log(data);
    if (log.events > 0) note(key.second, log.events);
    return;
  }
  const cc::SwitchLog log = *cc::decode_switch_log(data);
  if (log.events == 0) return;
  const unsigned ports = now_->fabric().num_ports(*now_->fabric().find_node(key.first));
  for (unsigned port = 0; port <= ports; ++port) {
    const PortNum number{static_cast<std::uint8_t>(port)};
    if (log.ports.test(number)) note(number, log.events);
  }
}

/// Somebody without the key spoke to an agent of ours, which asks until it is heard.
void CongestionDesk::on_trap(const MadPacket& packet) {
  if (!options_.enabled || !now_) return;
  MadHeader header = *decode_mad_header(packet.mad);
  const auto notice = decode_notice(std::span(packet.mad).subspan(cc::kDataOffset));
  const bool is_trap = header.method == static_cast<std::uint8_t>(Method::Trap);
  if (!is_trap || !notice) return;
  const auto violation = cc::find_key_violation(*notice);
  if (!violation) return;
  ++stats_.violations;
  log::warn("congestion.key_violation",
            "at_lid={} from_lid={} attribute={}",
            packet.remote_lid,
            violation->source,
            cc::print_attribute(violation->attribute));
  MadPacket repress = packet;
  header.method = static_cast<std::uint8_t>(Method::TrapRepress);
  encode_mad_header(header, repress.mad);
  cc::write_key(options_.key, repress.mad);
  client_.send_once(repress);
}

}  // namespace smd::app
