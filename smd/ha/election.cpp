#include "smd/ha/election.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/ha/state_machine.h"
#include "smd/mad/notice.h"
#include "smd/mad/tables.h"
#include "smd/smp/messages.h"

namespace smd {
namespace {

/// Somebody who asks for our SMInfo is asked back so rarely: diagnostic tools ask, too.
constexpr Duration kAskBackPause = std::chrono::seconds(10);
constexpr std::size_t kMostAskers = 64;

/// Managers that are remembered; more are no subnet but an attack.
constexpr std::size_t kMostManagers = 256;

/// For a higher manager that does not become master. An OpenSM with default options stands by for a
/// minute after its master died.
constexpr Duration kShortestWaitForHigher = std::chrono::minutes(2);
constexpr Duration kLongestWaitForHigher = std::chrono::minutes(10);

/// Between two handovers to one that took none.
constexpr Duration kLongestPause = std::chrono::minutes(5);

/// A standby that outranks its master says so with the first poll, then with every tenth.
constexpr unsigned kPollsPerReport = 10;

std::optional<SmInfo> info_of(const Result<SmpReply>& reply) {
  if (!reply || reply->status != 0) return std::nullopt;
  const auto info = decode_sm_info(reply->data);
  if (!info || info->guid == Guid{}) return std::nullopt;
  return *info;
}

}  // namespace

Election::Election(
    Runtime& runtime, SmpClient& client, LocalPort own, ElectionConfig config, Hooks hooks)
    : runtime_(runtime),
      client_(client),
      own_(std::move(own)),
      config_(std::move(config)),
      hooks_(std::move(hooks)),
      survey_scope_(client),
      request_scope_(client),
      strangers_(client),
      answers_(client) {}

void Election::start() { enter(SmState::Discovering, "start"); }

SmInfo Election::info() const {
  return {.guid = own_.port_guid,
          .sm_key = config_.sm_key,
          .act_count = static_cast<std::uint32_t>(client_.stats().sent),
          .priority = state_ == SmState::Master
                          ? std::max(config_.priority, config_.master_priority)
                          : config_.priority,
          .sm_state = static_cast<std::uint8_t>(state_)};
}

SmpRequest Election::sm_request(const SmpRoute& route, Method method, const SmInfo& shown) const {
  SmpRequest request{
      .route = route, .method = method, .attribute = AttributeId::SmInfo, .m_key = config_.m_key};
  encode_sm_info(shown, request.data);
  return request;
}

void Election::enter(SmState state, std::string_view why) {
  if (state == state_) return;
  log::info("sm.state",
            "from={} to={} why=\"{}\" priority={}",
            print_sm_state(state_),
            print_sm_state(state),
            why,
            config_.priority);
  state_ = state;
  missed_ = 0;
  if (state == SmState::Master) waited_for_.clear();
  if (state != SmState::Standby) poll_timer_.reset();
  if (state == SmState::Master) {
    start_beating();
  } else {
    beat_timer_.reset();
    trouble_.clear();
  }
  hooks_.on_state(state);
}

// --- Who else is there --------------------------------------------------------------------------

/// By a master alone: it proves that others may show theirs. Where the site names the ports of
/// managers, nobody at another one sees it. `port`: at the end of the way, if that is known.
bool Election::shows_key_at(std::optional<Guid> port) const {
  return state_ == SmState::Master &&
         (config_.allowed.empty() || (port && config_.allowed.contains(*port)));
}

void Election::ask(SmpScope& scope, const SmpRoute& route, bool with_key, OnInfo on_info) {
  SmInfo shown = info();
  if (!with_key) shown.sm_key = SmKey{};
  scope.send(
      sm_request(route, Method::Get, shown),
      [on_info = std::move(on_info)](const Result<SmpReply>& reply) { on_info(info_of(reply)); });
}

/// Who did not see our key shows none, which proves nothing.
void Election::note(const ManagerAddress& at, const std::optional<SmInfo>& info, bool saw_key) {
  if (at.guid == own_.port_guid || at.guid == Guid{}) return;
  if (!others_.contains(at.guid) && others_.size() >= kMostManagers) return;
  KnownManager& known = others_[at.guid];
  known.at = at;
  const auto looks = [](const std::optional<SmInfo>& each) {
    return each ? 16 * each->priority + each->sm_state : -1;
  };
  news_ = news_ || looks(known.info) != looks(info);
  known.info = info;
  if (!info) {
    // Who is gone, as behind a cable that is out, is waited for when it is back.
    if (found_.contains(at.guid)) silent_.insert(at.guid);
    return;
  }
  silent_.erase(at.guid);
  note_state(at.guid, state_of(*info));
  const bool foreign = state_ == SmState::Master && config_.sm_key != SmKey{} &&
                       info->sm_key != config_.sm_key && (saw_key || known.foreign);
  if (foreign && !known.foreign) {
    log::warn("sm.foreign",
              "guid={} state={}; it does not know our SM_Key, and nothing is handed over to it",
              at.guid,
              print_sm_state(state_of(*info)));
  }
  known.foreign = foreign;
  const bool excluded = !config_.allowed.empty() && !config_.allowed.contains(at.guid);
  if (excluded && !known.excluded) {
    log::warn("sm.excluded",
              "guid={} state={}; sm.allowed_managers does not name it, and it is heeded in nothing",
              at.guid,
              print_sm_state(state_of(*info)));
  }
  known.excluded = excluded;
}

/// Who is something else now may do what it did not.
void Election::note_state(Guid guid, SmState state) {
  const auto spared = spared_.find(guid);
  if (!holding_ && spared != spared_.end() && spared->second.state != state) spared_.erase(spared);
  if (state == SmState::Master || state == SmState::NotActive) waited_for_.erase(guid);
}

Duration Election::waits_for_higher() const {
  return std::clamp<Duration>(2 * look_length_, kShortestWaitForHigher, kLongestWaitForHigher);
}

bool Election::is_spared(Guid guid) const {
  const auto spared = spared_.find(guid);
  return spared != spared_.end() && runtime_.now() < spared->second.until;
}

/// It does not rule, and kept us from it for as long as it may.
bool Election::was_waited_for(const SmInfo& other) const {
  const auto since = waited_for_.find(other.guid);
  return state_ != SmState::Master && since != waited_for_.end() &&
         runtime_.now() - since->second >= waits_for_higher();
}

void Election::survey(std::vector<ManagerAddress> where, std::function<void()> go_on) {
  if (state_ == SmState::Discovering) look_length_ = runtime_.now() - look_began_;
  found_.clear();
  for (const ManagerAddress& each : where) found_.insert(each.guid);
  std::erase_if(silent_, [this](Guid each) { return !found_.contains(each); });
  ask_all(where, std::move(go_on));
}

void Election::ask_all(const std::vector<ManagerAddress>& where, std::function<void()> go_on) {
  survey_scope_.cancel_all();
  std::map<Guid, ManagerAddress> wanted;
  for (const auto& [guid, known] : others_) {
    if (known.info) wanted[guid] = known.at;  // who answered before, wherever it shows IsSM
  }
  for (const ManagerAddress& each : where) wanted[each.guid] = each;
  wanted.erase(own_.port_guid);
  // By this sweep: what is there is what it says.
  const auto is_found = [&](Guid guid) {
    return std::ranges::count(where, guid, &ManagerAddress::guid) > 0;
  };
  const auto gone =
      std::erase_if(others_, [&](const auto& each) { return !wanted.contains(each.first); });
  news_ = news_ || gone > 0;
  go_on_ = std::move(go_on);
  // A master that knows of a manager that hangs does not have hosts wait for it.
  const auto is_waited_for = [this](Guid guid) {
    return state_ != SmState::Master || !silent_.contains(guid);
  };
  unanswered_ = static_cast<std::size_t>(
      std::ranges::count_if(wanted, [&](const auto& each) { return is_waited_for(each.first); }));
  const auto count = [this](bool waited_for, bool answered) {
    if (waited_for ? --unanswered_ == 0 : answered && unanswered_ == 0) assess();
  };
  const auto by_lid = [this, count](const ManagerAddress& at, bool waited_for) {
    const SmpRoute route = SmpRoute::to_lid(at.lid);
    const bool with_key = shows_key_at(hooks_.port_at(route));
    ask(survey_scope_, route, with_key, [=, this](std::optional<SmInfo> info) {
      const bool is_it = info && info->guid == at.guid;
      note(at, is_it ? info : std::nullopt, with_key);
      count(waited_for, is_it);
    });
  };
  for (const auto& [guid, at] : wanted) {
    const bool waited_for = is_waited_for(guid);
    const bool with_key = shows_key_at(is_found(guid) ? guid : hooks_.port_at(at.route));
    ask(survey_scope_, at.route, with_key, [=, this, at = at](std::optional<SmInfo> info) {
      const bool is_it = info && info->guid == at.guid;
      // The way may be another by now, where the LID still leads.
      if (!is_it && is_unicast(at.lid) && at.route != SmpRoute::to_lid(at.lid))
        return by_lid(at, waited_for);
      note(at, is_it ? info : std::nullopt, with_key);
      count(waited_for, is_it);
    });
  }
  if (unanswered_ == 0) assess();
}

void Election::report_changes() {
  if (std::exchange(news_, false)) hooks_.on_others();
}

void Election::assess() {
  report_changes();
  if (state_ != SmState::Discovering && state_ != SmState::Master) return;
  if (holding_) return;
  std::vector<SmInfo> infos;
  std::vector<ManagerAddress> at;
  trouble_.clear();
  for (const auto& [guid, known] : others_) {
    if (!known.info) continue;
    note_trouble(known);
    const bool waited_for = was_waited_for(*known.info);
    if (waited_for) {
      log::warn("sm.passed_over",
                "guid={} state={} waited={}s; it outranks this manager and does not become master",
                guid,
                print_sm_state(state_of(*known.info)),
                std::chrono::duration_cast<std::chrono::seconds>(waits_for_higher()).count());
    }
    if (known.foreign || known.excluded || is_spared(guid) || waited_for) continue;
    infos.push_back(*known.info);
    at.push_back(known.at);
  }
  const SmAssessment found = assess_others(info(), infos);
  if (state_ == SmState::Discovering && found.event == SmEvent::HigherFound)
    waited_for_.try_emplace(infos[*found.about].guid, runtime_.now());
  // A standby has time until what is being written is whole; another master has not.
  put_off_ = state_ == SmState::Master && found.event == SmEvent::HigherFound &&
             hooks_.busy(at[*found.about].guid);
  if (put_off_) {
    if (const auto go_on = std::exchange(go_on_, nullptr)) go_on();
    return;
  }
  apply(
      found.event, found.about ? at[*found.about] : ManagerAddress{}, print_sm_event(found.event));
}

void Election::note_trouble(const KnownManager& other) {
  const Guid guid = other.at.guid;
  if (state_of(*other.info) == SmState::Master) {
    if (!other.foreign && !other.excluded && !is_spared(guid)) return;
    trouble_ = fmt::format("{} is master, too, and {}",
                           guid,
                           other.excluded  ? "sm.allowed_managers does not name it"
                           : other.foreign ? "has another SM_Key"
                                           : "takes no handover");
    return;
  }
  const auto spared = spared_.find(guid);
  const bool stands_by = spared != spared_.end() && outranks(*other.info, info());
  if (!stands_by || other.foreign || other.excluded || !trouble_.empty()) return;
  trouble_ = fmt::format("{} outranks this manager and takes no handover: {}; tried every {} s",
                         guid,
                         spared->second.why,
                         spared->second.pause / std::chrono::seconds(1));
}

void Election::be_cut_off(bool has_link) {
  has_link_ = has_link;
  apply(SmEvent::CutOff, {}, print_sm_event(SmEvent::CutOff));
}

void Election::look_around() {
  if (state_ != SmState::Master || holding_ || go_on_ || others_.empty()) return;
  ask_all({}, nullptr);
}

void Election::settle() {
  if (unanswered_ > 0) return;  // the survey under way will judge
  if (std::exchange(put_off_, false)) assess();
}

void Election::hear_of(Lid lid) {
  if (state_ == SmState::Master && is_unicast(lid)) hear_from(SmpRoute::to_lid(lid), lid);
}

void Election::hear_from(const SmpRoute& route, Lid lid, bool hands_over) {
  const std::optional<Guid> port = hooks_.port_at(route);
  // The sweep that finds the port asks it, with the key.
  if (!port && !hands_over && config_.sm_key != SmKey{} && !config_.allowed.empty()) return;
  // Nor would an order be obeyed without the M_Key of that port.
  if (!hands_over && config_.m_key != MKey{} && client_.find_m_key(route, config_.m_key) == MKey{})
    return;
  if (asked_back_.size() >= kMostAskers) {
    std::erase_if(asked_back_, [this](const auto& each) { return each.second <= runtime_.now(); });
    if (asked_back_.size() >= kMostAskers) return;
  }
  // Who asked us, and was asked back, may hand over at once.
  TimePoint& next = asked_back_[(hands_over ? "handover " : "") + print_route(route)];
  if (next > runtime_.now()) return;
  next = runtime_.now() + kAskBackPause;
  const bool with_key = shows_key_at(port);
  ask(strangers_, route, with_key, [=, this](const std::optional<SmInfo>& info) {
    if (!info || info->guid == own_.port_guid) return;
    if (config_.allowed.contains(info->guid) && !is_allowed(info->guid, route)) return;
    const auto known = others_.find(info->guid);
    ManagerAddress at{.guid = info->guid, .route = route, .lid = lid};
    if (known != others_.end()) at = known->second.at;
    note(at, info, with_key);
    if (hands_over && state_ == SmState::Master && !others_[info->guid].excluded &&
        expects_handover_from(info->guid))
      return obey_handover(route, at, fmt::format("handover from {}", info->guid));
    // While a survey is under way it will judge this one, too.
    if (state_ == SmState::Master && unanswered_ == 0) assess();
  });
}

// --- What follows -------------------------------------------------------------------------------

void Election::apply(SmEvent event, const ManagerAddress& about, std::string_view why) {
  const auto step = find_step(state_, event);
  if (!step) return;
  const auto go_on = std::exchange(go_on_, nullptr);
  switch (step->action) {
    case SmAction::None:
    case SmAction::TakeOver:
      enter(step->next, why);
      if (go_on) go_on();
      return;
    case SmAction::Poll:
      end_talks();
      spared_.erase(about.guid);
      enter(step->next, why);
      return start_polling(about);
    case SmAction::StopPolling:
      end_talks();
      return enter(step->next, why);
    case SmAction::Discover:
      end_talks();
      forget_others();
      enter(step->next, why);
      return hooks_.look(std::string(why));
    case SmAction::LookOn:
      end_talks();
      news_ = news_ || !others_.empty();
      forget_others();
      enter(step->next, why);
      watch_for_link();
      return report_changes();
    case SmAction::AcknowledgeAndTake: {
      end_talks();
      spared_.clear();
      enter(step->next, why);
      return hooks_.rule(std::string(why));
    }
    case SmAction::SendHandover:
      return begin_handover(about);
    case SmAction::AwaitHandover:
      return await_handover(about);
    case SmAction::Resume:
      end_talks();
      return hooks_.resume(std::string(why));
  }
}

// --- Standby ------------------------------------------------------------------------------------

void Election::start_polling(const ManagerAddress& whom) {
  counterpart_ = whom;
  missed_ = polls_ = 0;
  request_scope_.cancel_all();
  poll_timer_ = Timer(runtime_, runtime_.now() + config_.poll_interval, [this] { poll(); });
}

/// By the way that was found, and by LID: each outlives changes that end the other.
void Election::poll() {
  const TimePoint began = runtime_.now();
  const bool by_lid = missed_ % 2 == 1 && is_unicast(counterpart_.lid);
  const SmpRoute route = by_lid ? SmpRoute::to_lid(counterpart_.lid) : counterpart_.route;
  ++polls_;
  ask(request_scope_, route, false, [this, began](const std::optional<SmInfo>& info) {
    poll_timer_ = Timer(
        runtime_, std::max(began + config_.poll_interval, runtime_.now()), [this] { poll(); });
    on_polled(info && info->guid == counterpart_.guid ? info : std::nullopt);
  });
}

void Election::on_polled(const std::optional<SmInfo>& answer) {
  note(counterpart_, answer, false);
  report_changes();
  const bool allowed = config_.allowed.empty() || config_.allowed.contains(counterpart_.guid);
  const bool rules = answer && allowed && state_of(*answer) == SmState::Master;
  if (rules) waited_for_.clear();
  if (answer && allowed && keeps_in_standby(info(), *answer)) {
    if (!rules) waited_for_.try_emplace(counterpart_.guid, runtime_.now());
    if (!was_waited_for(*answer)) {
      missed_ = 0;
      if (rules && outranks(info(), *answer)) report_priority();
      return;
    }
    missed_ = config_.poll_retries;  // this question is the last one
  }
  ++missed_;
  log::debug(
      "sm.poll", "master={} missed={} of={}", counterpart_.guid, missed_, config_.poll_retries + 1);
  if (missed_ <= config_.poll_retries) return;
  apply(SmEvent::MasterLost,
        {},
        fmt::format("master {} {}",
                    counterpart_.guid,
                    !allowed ? std::string("is not named by sm.allowed_managers")
                    : answer ? fmt::format("is {}", print_sm_state(state_of(*answer)))
                             : std::string("does not answer")));
}

/// A master learns of us when it looks; trap 144 makes it look.
void Election::report_priority() {
  if (polls_ % kPollsPerReport != 1 || !is_unicast(counterpart_.lid)) return;
  read_own_port(request_scope_, [this](const std::optional<PortInfo>& own) {
    if (own) send_priority_trap(*own);
  });
}

void Election::read_own_port(SmpScope& scope, OnPortInfo on_info) {
  scope.send({.route = SmpRoute::directed({}),
              .attribute = AttributeId::PortInfo,
              .modifier = port_info_modifier(own_.port, own_capability_mask_),
              .m_key = config_.m_key},
             [on_info = std::move(on_info)](const Result<SmpReply>& reply) {
               if (!reply || reply->status != 0) return on_info(std::nullopt);
               const auto own = decode_port_info(reply->data);
               on_info(own ? std::optional(*own) : std::nullopt);
             });
}

void Election::send_priority_trap(const PortInfo& own) {
  if (!is_unicast(own.lid)) return;
  Smp trap;
  trap.method = Method::Trap;
  trap.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  trap.transaction_id = polls_;
  trap.m_key = client_.find_m_key(SmpRoute::to_lid(counterpart_.lid), config_.m_key);
  encode_notice(sm_priority_notice(own.lid, NodeType::Ca, own.capability_mask), trap.data);
  MadPacket packet{.remote_lid = counterpart_.lid};
  encode_smp(trap, packet.mad);
  (void)client_.send_once(packet);
}

// --- Handover -----------------------------------------------------------------------------------

/// From now on nothing else is written or talked about.
void Election::begin_hold(const ManagerAddress& with) {
  const bool held = holding_;
  counterpart_ = with;
  end_talks();
  holding_ = true;
  hold_until_ = runtime_.now() + config_.patience();
  if (!held) hooks_.hold();
}

void Election::begin_handover(const ManagerAddress& to) {
  begin_hold(to);
  log::info("sm.handover", "to={} lid={}", counterpart_.guid, counterpart_.lid);
  SmpRequest request = sm_request(counterpart_.route, Method::Set, info());
  request.modifier = static_cast<std::uint32_t>(SmControl::Handover);
  request_scope_.send(request, [this](const Result<SmpReply>& reply) {
    if (!reply || reply->status != 0) return give_up(reply ? "it refused" : "it did not answer");
    watch_counterpart();
  });
}

void Election::await_handover(const ManagerAddress& from) {
  begin_hold(from);
  awaiting_ = true;
  log::info("sm.handover", "from={} lid={}; awaited", counterpart_.guid, counterpart_.lid);
  watch_counterpart();
}

/// Not every manager acknowledges: one that says it is master has taken over, and one that says it
/// is not has yielded.
void Election::watch_counterpart() {
  if (runtime_.now() >= hold_until_) {
    return awaiting_ ? apply(SmEvent::Overdue, counterpart_, print_sm_event(SmEvent::Overdue))
                     : give_up("it did not take over");
  }
  const bool with_key = shows_key_at(hooks_.port_at(counterpart_.route));
  ask(request_scope_,
      counterpart_.route,
      with_key,
      [this, with_key](const std::optional<SmInfo>& answer) {
        const bool there = answer && answer->guid == counterpart_.guid;
        if (there) note(counterpart_, answer, with_key);
        const bool rules = there && state_of(*answer) == SmState::Master;
        if (!awaiting_ && rules)
          return apply(SmEvent::Acknowledge, counterpart_, "the other one took over");
        if (awaiting_ && there && !rules)
          return apply(SmEvent::Handover, counterpart_, "the other master yielded");
        poll_timer_ = Timer(
            runtime_, runtime_.now() + config_.poll_interval / 4, [this] { watch_counterpart(); });
      });
}

void Election::give_up(std::string_view why) {
  std::erase_if(spared_, [this](const auto& each) { return !others_.contains(each.first); });
  const auto known = others_.find(counterpart_.guid);
  const bool rules = known != others_.end() && known->second.info &&
                     state_of(*known->second.info) == SmState::Master;
  SmRefusal& failed = spared_[counterpart_.guid];
  const Duration shortest = 2 * config_.patience();
  failed.pause =
      std::clamp(2 * failed.pause, shortest, std::max<Duration>(shortest, kLongestPause));
  failed.until = runtime_.now() + failed.pause;
  failed.state = rules ? SmState::Master : SmState::Standby;
  failed.why = why;
  log::warn("sm.handover_failed",
            "to={} why=\"{}\" again_in={}s; this manager goes on",
            counterpart_.guid,
            why,
            std::chrono::duration_cast<std::chrono::seconds>(failed.pause).count());
  apply(SmEvent::Unanswered, {}, fmt::format("handover to {}: {}", counterpart_.guid, why));
}

void Election::end_talks() {
  holding_ = awaiting_ = put_off_ = false;
  unanswered_ = 0;
  poll_timer_.reset();
  request_scope_.cancel_all();
  survey_scope_.cancel_all();
}

void Election::forget_others() {
  others_.clear();
  found_.clear();
  silent_.clear();
}

// --- A process that stood still -----------------------------------------------------------------

bool Election::may_write() const {
  return state_ == SmState::Master && !holding_ && !stood_still();
}

void Election::beat() {
  const bool stalled = !holding_ && stood_still();
  last_beat_ = now();
  if (stalled) {
    log::warn("sm.stalled", "this process stood still; another manager may rule by now");
    return apply(SmEvent::Stalled, {}, print_sm_event(SmEvent::Stalled));
  }
  if (!others_.empty() && !holding_) watch_own_link();
  beat_timer_ = Timer(runtime_, runtime_.now() + config_.poll_interval / 2, [this] { beat(); });
}

/// Whoever stands by takes over when our cable has been out for a while: by then we know that it
/// is, and are no master any more when it is back.
void Election::watch_own_link() {
  read_own_port(request_scope_, [this](const std::optional<PortInfo>& own) {
    if (!own || state_ != SmState::Master) return;
    const bool has_link = own->state() != PortState::Down;
    if (!std::exchange(has_link_, has_link) || has_link) return;
    end_talks();
    go_on_ = nullptr;
    hooks_.on_own_link_lost();
  });
}

/// Switches that report our cable may tell another by now, and sweeps may be far apart.
void Election::watch_for_link() {
  poll_timer_ = Timer(runtime_, runtime_.now() + config_.poll_interval, [this] {
    read_own_port(request_scope_, [this](const std::optional<PortInfo>& own) {
      if (state_ != SmState::Discovering) return;
      const bool has_link = own && own->state() != PortState::Down;
      const bool is_back = !std::exchange(has_link_, has_link) && has_link;
      watch_for_link();
      if (is_back) hooks_.on_own_link_back();
    });
  });
}

void Election::adopt(const ElectionConfig& config) {
  const bool awake = state_ == SmState::Master && (holding_ || !stood_still());
  config_ = config;
  if (awake) start_beating();
}

}  // namespace smd
