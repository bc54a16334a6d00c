#include "smd/cc/cc_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "smd/base/log.h"

namespace smd {

namespace {

/// One that never answered is asked in so many rounds; one that did, in every round.
constexpr unsigned kMostTimeouts = 3;

/// Between two checks whether somebody's lease has ended.
constexpr Duration kLeasePause = std::chrono::seconds(10);

/// Between two questions to one that is silent, where no round is due for anything else.
constexpr Duration kSilentPause = std::chrono::seconds(60);

constexpr std::size_t kMostKeys = 8;

/// Traps of one sender; an agent repeats what is not repressed.
constexpr Rate kTrapRate{.burst = 20, .refill = std::chrono::milliseconds(500)};
constexpr std::size_t kMostSenders = std::size_t{1} << 15;

/// Also where nobody wants to know them: a right key within every lease keeps the key hidden.
bool reads_logs(const cc::Options& options) {
  return options.log_interval_s > 0 || (options.protect && options.lease_s > 0);
}

/// It does not answer, and has not been asked often enough to be given up.
bool may_yet_answer(const CcAgent& agent) {
  return agent.status() == CcAgentStatus::Silent &&
         (agent.has_answered() || agent.timeouts() < kMostTimeouts);
}

/// Until the next round; nothing where there is no need of one.
std::optional<Duration> pause_before_round(const cc::Options& options, const CcAgentTable& agents) {
  std::optional<Duration> pause;
  const auto at_most = [&](Duration most) { pause = std::min(pause.value_or(most), most); };
  if (options.log_interval_s > 0) at_most(std::chrono::seconds(options.log_interval_s));
  if (options.protect && options.lease_s > 0) at_most(std::chrono::seconds(options.lease_s) / 2);
  if (agents.waits_for_lease()) at_most(kLeasePause);
  const auto is_asked_again = [](const auto& item) { return may_yet_answer(item.second.agent); };
  if (!pause && std::ranges::any_of(agents.all(), is_asked_again)) pause = kSilentPause;
  return pause;
}

}  // namespace

CcManager::CcManager(Runtime& runtime, Transport& transport, StateStore& store)
    : runtime_(runtime),
      store_(store),
      client_(runtime, transport),
      trap_rates_(runtime, kMostSenders, [](Lid, std::monostate) {}) {
  client_.on_unsolicited([this](const MadPacket& packet) { on_trap(packet); });
}

/// What agents may be under when we come back; before it is set at the first of them.
void CcManager::keep_key() {
  if (!options_.protect || options_.key == cc::CcKey{}) return;
  std::vector<cc::CcKey> keys = store_.get().cc_keys;
  if (!keys.empty() && keys.back() == options_.key) return;
  std::erase(keys, options_.key);
  if (keys.size() == kMostKeys) keys.erase(keys.begin());
  keys.push_back(options_.key);
  store_.put_cc_keys(keys);
}

void CcManager::stop() {
  client_.stop();
  round_.reset();
  round_due_ = {};
  agents_.clear();
  hot_ports_.clear();
  now_.reset();
  plan_ = {};
  planning_ = false;
  ++plan_number_;
  last_status_.clear();
}

void CcManager::adopt(std::shared_ptr<const ActiveSubnet> now,
                      const Settings& settings,
                      unsigned longest_route,
                      const std::vector<PortIdx>& came_up) {
  if (!settings.congestion.enabled) {
    if (options_.enabled) stop();
    options_ = settings.congestion;
    return;
  }
  options_ = settings.congestion;
  keep_key();
  now_ = std::move(now);
  client_.configure({.window = options_.max_outstanding,
                     .retries = settings.smp.retries,
                     .timeout = settings.smp.timeout});
  const Fabric& fabric = now_->fabric();
  agents_.update(*now_, options_);
  hot_ports_.forget_gone(fabric);
  for (const PortIdx port : came_up) agents_.reset_agent(fabric, port);
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

void CcManager::on_plan(cc::Plan plan) {
  planning_ = false;
  if (plan != plan_) {
    plan_ = std::move(plan);
    ++stats_.plans;
    if (!plan_.refusal.empty())
      log::warn("congestion.refused", "why=\"{}\"; nothing is set", plan_.refusal);
  }
  set_targets();
  arm_round();
}

void CcManager::set_targets() {
  if (plan_.refusal.empty()) {
    for (const CcPort& port : agents_.ports()) {
      agents_.at(port).agent.set_target(target_of(port));
      advance(port);
    }
  }
  if (agents_.busy() == 0) log_status();
}

CcTarget CcManager::target_of(const CcPort& port) const {
  const Fabric& fabric = now_->fabric();
  const NodeIdx node = *fabric.find_node(port.first);
  const Lid our_lid = now_->lids->base[fabric.sm_port];
  CcTarget target = build_cc_target(plan_, options_, fabric, node, port.second, our_lid);
  for (const cc::CcKey key : store_.get().cc_keys) {
    if (key != options_.key) target.former.insert(target.former.begin(), key);
  }
  return target;
}

template <class Done>
void CcManager::ask(const CcPort& port, const MadBytes& mad, Done done) {
  CcAgentEntry& entry = agents_.at(port);
  agents_.begin(entry);
  const MadPacket packet{.remote_lid = entry.lid, .sl = entry.sl, .mad = mad};
  client_.send(packet,
               [this, port, generation = entry.generation, done = std::move(done)](
                   const Result<MadBytes>& result) {
                 CcAgentEntry* at = agents_.find(port, generation);
                 if (at == nullptr) return;
                 agents_.end(*at);
                 done(*at, result);
                 if (agents_.busy() == 0) log_status();
               });
}

/// Asks for one more thing, where one is left.
void CcManager::advance(const CcPort& port) {
  CcAgentEntry& entry = agents_.at(port);
  if (entry.busy) return;
  const auto request = entry.agent.next();
  if (!request) return;
  ++(request->set ? stats_.sets : stats_.gets);
  ask(port,
      entry.agent.make(*request),
      [this, port, request = *request](CcAgentEntry& at, const Result<MadBytes>& result) {
        result ? at.agent.take(request, *result) : at.agent.on_timeout();
        advance(port);
      });
}

/// Every agent has answered: one line of log, where it is another than before.
void CcManager::log_status() {
  if (!now_ || planning_) return;
  arm_round();
  const std::size_t with_trouble = agents_.count_trouble();
  std::string line = fmt::format("managed={} unsupported={} silent={} foreign_key={} trouble={}",
                                 count(CcAgentStatus::Managed),
                                 count(CcAgentStatus::Unsupported),
                                 count(CcAgentStatus::Silent),
                                 count(CcAgentStatus::ForeignKey),
                                 with_trouble);
  if (count(CcAgentStatus::Unsupported) + count(CcAgentStatus::Silent) == agents_.all().size() &&
      !agents_.all().empty())
    line += " what=\"no node here does congestion control; all are left as they are\"";
  if (line == last_status_) return;
  last_status_ = std::move(line);
  const bool degraded = with_trouble > 0 || count(CcAgentStatus::ForeignKey) > 0;
  degraded ? log::warn("congestion.settled", "{}", last_status_)
           : log::info("congestion.settled", "{}", last_status_);
}

std::vector<std::string> CcManager::alarms() const {
  std::vector<std::string> lines;
  if (!plan_.refusal.empty()) lines.push_back("congestion control: " + plan_.refusal);
  agents_.add_alarms(lines);
  return lines;
}

/// A round that is due sooner stays: changes of the subnet, which come here as well, may come one
/// after another.
void CcManager::arm_round() {
  const auto pause = pause_before_round(options_, agents_);
  const TimePoint due = pause ? runtime_.now() + *pause : TimePoint{Duration::max()};
  if (round_due_ > runtime_.now() && round_due_ <= due) return;
  round_due_ = due;
  if (!pause) return round_.reset();
  round_ = Timer(runtime_, round_due_, [this] { begin_round(); });
}

void CcManager::begin_round() {
  arm_round();
  if (!plan_.refusal.empty()) return;
  for (const CcPort& port : agents_.ports()) {
    CcAgentEntry& entry = agents_.at(port);
    if (entry.busy) continue;
    const CcAgentStatus status = entry.agent.status();
    if (status == CcAgentStatus::Managed) {
      if (reads_logs(options_)) read_log(port);
    } else if (status == CcAgentStatus::ForeignKey || may_yet_answer(entry.agent)) {
      if (entry.agent.may_probe_lease()) probe_lease(entry);
      entry.agent.try_again();
      advance(port);
    }
  }
}

/// The lease of a key begins with a wrong one. Nobody answers; the agent counts a violation.
void CcManager::probe_lease(CcAgentEntry& entry) {
  entry.agent.note_lease_probe();
  client_.send_once({.remote_lid = entry.lid,
                     .sl = entry.sl,
                     .mad = make_cc_mad({.attribute = cc::Attribute::TimeStamp}, options_.key)});
}

void CcManager::read_log(const CcPort& port) {
  ++stats_.logs;
  const MadBytes mad =
      make_cc_mad({.attribute = cc::Attribute::CongestionLog}, agents_.at(port).agent.key());
  ask(port, mad, [this, port](CcAgentEntry& at, const Result<MadBytes>& result) {
    if (!result) {
      at.agent.on_timeout();
    } else if (decode_mad_header(*result)->status == 0) {
      hot_ports_.take(port, at.agent.is_switch(), now_->fabric(), *result, runtime_.now());
    }
    advance(port);  // a plan that was made meanwhile found the agent busy
  });
}

/// Somebody without the key spoke to an agent of ours, which asks until it is heard.
void CcManager::on_trap(const MadPacket& packet) {
  if (!options_.enabled || !now_) return;
  const PortIdx sender = now_->lids->owner_of(packet.remote_lid);
  if (sender == kNone<PortIdx> || !trap_rates_.take(packet.remote_lid, kTrapRate)) return;
  MadHeader header = *decode_mad_header(packet.mad);
  const auto notice = decode_notice(std::span(packet.mad).subspan(cc::kDataOffset));
  const bool is_trap = header.method == static_cast<std::uint8_t>(Method::Trap);
  if (!is_trap || !notice) return;
  const auto violation = cc::find_key_violation(*notice);
  if (!violation) return;
  const Lid our_lid = now_->lids->base[now_->fabric().sm_port];
  const bool by_lease_probe =
      violation->source == our_lid && agents_.was_lease_probed(packet.remote_lid);
  if (!by_lease_probe) {
    ++stats_.violations;
    log::warn("congestion.key_violation",
              "at_lid={} from_lid={} attribute={}",
              packet.remote_lid,
              violation->source,
              cc::print_attribute(violation->attribute));
  }
  // It shows our key: whoever speaks for somebody else gets none, nor who has no agent under it.
  if (now_->lids->owner_of(notice->issuer_lid) != sender ||
      !agents_.is_under(now_->fabric(), sender, options_.key))
    return;
  MadPacket repress = packet;
  repress.sl = sl_to(*now_, packet.remote_lid);
  header.method = static_cast<std::uint8_t>(Method::TrapRepress);
  encode_mad_header(header, repress.mad);
  cc::write_key(options_.key, repress.mad);
  client_.send_once(repress);
}

}  // namespace smd
