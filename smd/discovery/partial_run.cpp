#include "smd/discovery/partial_run.h"

#include <algorithm>
#include <utility>

#include "smd/discovery/explorer.h"
#include "smd/mad/node_info.h"
#include "smd/mad/tables.h"

namespace smd {

SwitchReader::SwitchReader(SmpClient& client, Wanted wanted)
    : scope_(client), wanted_(std::move(wanted)) {}

void SwitchReader::start(Done done) {
  done_ = std::move(done);
  if (wanted_.identity) {
    ++outstanding_;
    send(Method::Get, AttributeId::NodeInfo, 0, {}, [this](const SmpReply& reply) {
      on_node_info(reply);
    });
  }
  ask_switch_info();
}

void SwitchReader::send(Method method,
                        AttributeId attribute,
                        std::uint32_t modifier,
                        const SmpData& data,
                        std::function<void(const SmpReply&)> on_answer) {
  scope_.send({.route = wanted_.route,
               .method = method,
               .attribute = attribute,
               .modifier = modifier,
               .data = data,
               .m_key = wanted_.m_key},
              [this, on_answer = std::move(on_answer)](const Result<SmpReply>& reply) {
                if (!reply) return give_up(reply.error());
                if (reply->status != 0) return give_up({Errc::Refused, describe(reply)});
                on_answer(*reply);
              });
}

void SwitchReader::give_up(Error error) {
  scope_.cancel_all();
  std::exchange(done_, nullptr)(tl::unexpected<Error>(std::move(error)));
}

void SwitchReader::on_node_info(const SmpReply& reply) {
  const Result<NodeInfo> info = decode_node_info(reply.data);
  if (!info) return give_up(info.error());
  if (*wanted_.identity != Identity{info->node_guid, info->local_port}) {
    reading_.unknown = true;
    return finish();
  }
  if (--outstanding_ == 0) proceed();
}

void SwitchReader::on_switch_info(const SmpReply& reply) {
  const Result<SwitchInfo> info = decode_switch_info(reply.data);
  if (!info) return give_up(info.error());
  reading_.info = *info;
  if (--outstanding_ == 0) proceed();
}

void SwitchReader::proceed() {
  const SwitchInfo& info = reading_.info;
  reading_.restarted = wanted_.had_tables && !has_no_lft() && info.linear_fdb_top == 0;
  if (reading_.restarted) return finish();
  reading_.raised = reading_.raised || info.port_state_change || wanted_.cleared_before;
  if (info.port_state_change && !std::exchange(asked_to_clear_, true)) return clear();
  ask_ports();
}

void SwitchReader::clear() {
  scope_.send({.route = wanted_.route,
               .method = Method::Set,
               .attribute = AttributeId::SwitchInfo,
               .data = clear_change_data(reading_.info),
               .m_key = wanted_.m_key},
              [this](const Result<SmpReply>& reply) {
                if (!answered(reply)) return read_unclear();
                reading_.info.port_state_change = false;
                ask_ports();
              });
}

/// Perhaps it lives, and does not take that Set; port 0 says whether another M_Key is in the way.
void SwitchReader::read_unclear() {
  wanted_.anyway.push_back(PortNum{0});
  ask_switch_info();
}

void SwitchReader::ask_switch_info() {
  ++outstanding_;
  send(Method::Get, AttributeId::SwitchInfo, 0, {}, [this](const SmpReply& reply) {
    on_switch_info(reply);
  });
}

void SwitchReader::ask_ports() {
  if (reading_.raised && !wanted_.expected.empty()) return ask_states();
  ask(list_ports(reading_.raised));
  if (outstanding_ == 0) finish();
}

/// Those that are to be read whatever PortStateChange says, or all.
std::vector<PortNum> SwitchReader::list_ports(bool all) const {
  std::vector<PortNum> ports = wanted_.anyway;
  if (wanted_.lid_without_lft && reading_.info.linear_fdb_top == 0) ports.push_back(PortNum{0});
  for (unsigned p = 1; all && p <= wanted_.num_ports; ++p) {
    ports.push_back(PortNum{static_cast<std::uint8_t>(p)});
  }
  return ports;
}

void SwitchReader::ask_states() {
  states_.assign(wanted_.num_ports + 1, PortState::NoChange);
  const std::size_t blocks = wanted_.num_ports / kPortStateBlockSize + 1;
  outstanding_ = blocks;
  for (std::size_t block = 0; block < blocks; ++block) {
    scope_.send({.route = wanted_.route,
                 .attribute = AttributeId::SwitchPortStateTable,
                 .modifier = static_cast<std::uint32_t>(block),
                 .m_key = wanted_.m_key},
                [this, block](const Result<SmpReply>& reply) { on_states(block, reply); });
  }
}

void SwitchReader::on_states(std::size_t block, const Result<SmpReply>& reply) {
  if (!reply) return give_up(reply.error());
  const auto states = reply->status == 0 ? decode_port_state_block(reply->data)
                                         : Result<PortStateBlock>(fail(Errc::Refused, ""));
  if (!states) {
    wanted_.expected.clear();
  } else {
    for (std::size_t i = 0; i < states->size(); ++i) {
      const std::size_t port = block * kPortStateBlockSize + i;
      if (port < states_.size()) states_[port] = (*states)[i];
    }
  }
  if (--outstanding_ > 0) return;
  if (wanted_.expected.empty()) {
    states_.clear();
    return ask_ports();
  }
  ask_changed_ports();
}

/// A port in Initialize is new whatever it was before: its link may have come up between two looks.
void SwitchReader::ask_changed_ports() {
  std::vector<PortNum> ports = list_ports(false);
  bool explained = false;
  for (unsigned p = 1; p <= wanted_.num_ports; ++p) {
    const PortState state = states_[p];
    if (state == wanted_.expected[p] && state != PortState::NoChange &&
        state != PortState::Initialize)
      continue;
    ports.push_back(PortNum{static_cast<std::uint8_t>(p)});
    explained = true;
  }
  explained ? ask(std::move(ports)) : ask_rest();
}

void SwitchReader::ask_rest() {
  states_.clear();
  ask(list_ports(true));
}

/// Each port once.
void SwitchReader::ask(std::vector<PortNum> ports) {
  std::ranges::sort(ports);
  for (const PortNum port : ports) {
    if (!asked_.insert(port).second) continue;
    ++outstanding_;
    scope_.send({.route = wanted_.route,
                 .attribute = AttributeId::PortInfo,
                 .modifier = port_info_modifier(port, wanted_.capability_mask),
                 .m_key = wanted_.m_key},
                [this, port](const Result<SmpReply>& reply) { on_port(port, reply); });
  }
}

void SwitchReader::on_port(PortNum port, const Result<SmpReply>& reply) {
  if (!reply) return give_up(reply.error());
  PortReading reading{.port = port};
  if (reply->status != 0) {
    reading.why = "PortInfo: " + describe(reply);
  } else {
    const auto info = decode_port_info(reply->data);
    if (!info) return give_up(info.error());
    reading.info = *info;
  }
  const bool fits = states_.empty() || port == PortNum{0} || !reading.info ||
                    reading.info->state() == states_[port.value()];
  reading_.ports.push_back(std::move(reading));
  --outstanding_;
  if (!fits) ask_rest();
  if (outstanding_ == 0) finish();
}

void SwitchReader::finish() {
  scope_.cancel_all();
  std::ranges::sort(reading_.ports, {}, &PortReading::port);
  if (wanted_.had_tables && has_no_lft() && !reading_.ports.empty()) {
    const PortReading& own = reading_.ports.front();
    reading_.restarted = own.port == PortNum{0} && own.info && own.info->lid == kUnassignedLid;
  }
  std::exchange(done_, nullptr)(std::move(reading_));
}

PartialRun::PartialRun(SmpClient& client,
                       const DiscoveryOptions& options,
                       Epoch epoch,
                       const KnownSubnet& known,
                       PartialDiscovery::Done done)
    : Explorer(client, options),
      client_(client),
      known_(known),
      epoch_(epoch),
      done_(std::move(done)) {
  survey_.seed(*known_.sweep);
  known_nodes_ = survey_.size();
}

bool PartialRun::had_tables(std::uint32_t node) const {
  const Fabric& fabric = *known_.sweep->fabric;
  if (!is_known(node)) return false;
  const SwitchIdx sw = fabric.switch_of[NodeIdx{node}];
  if (sw == kNone<SwitchIdx>) return false;
  if (fabric.switch_info[sw].linear_fdb_top != 0) return true;
  if (known_.lft == nullptr || sw.value() >= known_.lft->switches()) return false;
  const auto row = known_.lft->row(sw);
  return std::ranges::any_of(row, [](PortNum egress) { return egress != kNoRoute; });
}

void PartialRun::read_switch(std::uint32_t node, ReadRequest request) {
  cancel_reading(node);
  std::optional<SwitchReader::Identity> identity;
  if (request.arrival) {
    identity = SwitchReader::Identity{survey_.node(node).info.node_guid, *request.arrival};
  }
  for (const PortNum port : request.anyway) asked_for_.insert({node, port});
  const PortInfo& port0 = survey_.port({node, PortNum{0}}).info;
  learn_kind(node, port0);
  auto& reader = readers_[node];
  reader = std::make_unique<SwitchReader>(
      client_,
      SwitchReader::Wanted{.route = request.route,
                           .identity = identity,
                           .m_key = options_.m_key,
                           .num_ports = static_cast<unsigned>(survey_.node(node).ports.size() - 1),
                           .capability_mask = port0.capability_mask,
                           .had_tables = had_tables(node),
                           .cleared_before = cleared_.contains(node),
                           .lid_without_lft = request.lid_without_lft,
                           .anyway = std::move(request.anyway),
                           .expected = expected_states(node)});
  reader->start([this, node](const Result<SwitchReader::Reading>& reading) {
    const auto reader_node = readers_.extract(node);  // alive until its last handler returns
    if (!reading && reader_node.mapped()->may_have_cleared()) cleared_.insert(node);
    if (!reading && reading.error().code == Errc::NoDevice) {
      fatal_ = reading.error();
    } else if (!reading && node == 0) {
      fail_locally(reading.error().code, reading.error().context);
    } else if (!reading) {
      on_silent(node, reading.error().context);
    } else if (reading->restarted && node == 0) {
      need_full("the manager's own switch has restarted");
    } else {
      on_read(node, *reading);
    }
    on_step();
  });
}

/// Nothing is known of what an open port that is up leads to, or of one that has not said what it
/// is.
std::vector<PortState> PartialRun::expected_states(std::uint32_t node) const {
  const Survey::Node& at = survey_.node(node);
  if (options_.requests != RequestSet::Fewest || !options_.port_state_tables ||
      !has_port_state_table(at.ports[0].info))
    return {};
  std::vector<PortState> out(at.ports.size(), PortState::NoChange);
  for (unsigned p = 1; p < at.ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const bool is_open = survey_.is_up(end) && !survey_.peer(end);
    if (at.ports[p].read && !is_open) out[p] = at.ports[p].info.state();
  }
  return out;
}

void PartialRun::cancel_reading(std::uint32_t node) {
  const auto reader = readers_.extract(node);
  if (!reader.empty() && reader.mapped()->may_have_cleared()) cleared_.insert(node);
}

bool PartialRun::apply(std::uint32_t node, const SwitchReader::Reading& reading) {
  survey_.node(node).switch_info = reading.info;
  if (!reading.ports.empty()) reread_.insert(survey_.node(node).info.node_guid);
  bool changed = false;
  for (const SwitchReader::PortReading& at : reading.ports) {
    const LinkEnd end{node, at.port};
    const PortState before = survey_.port(end).info.state();
    survey_.port(end).info = at.info.value_or(PortInfo{});
    survey_.port(end).read = at.info.has_value();
    survey_.port(end).mute = !at.info.has_value() && at.port != PortNum{0};
    survey_.port(end).fresh = true;
    if (!at.info) {
      anomalies_.silent.push_back({survey_.node(node).info.node_guid, at.port, at.why});
    }
    if (at.port == PortNum{0}) continue;
    const PortState now = survey_.port(end).info.state();
    const auto peer = survey_.peer(end);
    if (!peer && is_known_silence(end, before, now)) {
      still_silent_.insert(end);
      continue;
    }
    changed = changed || now != before || survey_.port(end).joined;
    const bool lost =
        peer && !survey_.port(end).joined && (!survey_.is_up(end) || has_retrained(before, now));
    if (lost && peer == own_link()) {
      need_full("the manager's own link changed");
      return true;
    }
    if (lost) on_port_down(end);
    if (survey_.is_up(end) && (!peer || lost)) on_port_up(end);
    changed = changed || lost || (survey_.is_up(end) && !peer);
  }
  // A link that was seen to come explains PortStateChange, whatever was read.
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    changed = changed || survey_.port({node, PortNum{static_cast<std::uint8_t>(p)}}).joined;
  }
  return changed;
}

/// Whoever is there is asked by light sweeps. A port in Initialize may have come up anew.
bool PartialRun::is_known_silence(LinkEnd end, PortState before, PortState now) const {
  if (options_.requests != RequestSet::Fewest || now != before || now <= PortState::Initialize ||
      asked_for_.contains(end))
    return false;
  const SilentPort here{.node = survey_.node(end.node).info.node_guid, .port = end.port, .why = {}};
  return is_known(end.node) && std::ranges::count(known_.sweep->silent, here) != 0;
}

std::optional<LinkEnd> PartialRun::own_link() const {
  if (survey_.node(0).info.is_switch()) return std::nullopt;
  return LinkEnd{0, survey_.local_port()};
}

void PartialRun::forget_restarted(std::uint32_t node) {
  std::vector<LinkEnd> others;
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const auto other = survey_.peer({node, PortNum{static_cast<std::uint8_t>(p)}});
    if (other && other == own_link()) return need_full("the manager's own switch has restarted");
    if (other && other->node != node) others.push_back(*other);
  }
  restarted_.insert(survey_.node(node).info.node_guid);
  forget(node);
  for (const LinkEnd other : others) {
    if (survey_.node(other.node).info.is_switch()) probe(other);
  }
}

void PartialRun::on_contradiction(LinkEnd end) {
  look_again_.insert(survey_.node(end.node).info.node_guid);
}

void PartialRun::need_full(std::string why) {
  if (full_needed_.empty()) full_needed_ = std::move(why);
}

bool PartialRun::finish_early() {
  if (!fatal_ && full_needed_.empty()) return false;
  stop();
  readers_.clear();
  if (fatal_) {
    std::exchange(done_, nullptr)(tl::unexpected<Error>(*fatal_));
  } else {
    std::exchange(done_, nullptr)(PartialReport{.full_needed = full_needed_});
  }
  return true;
}

void PartialRun::finish() {
  carry_silent();
  carry_duplicates();
  PartialReport report{.sweep = build_report(survey_, std::move(anomalies_), epoch_),
                       .reread = {reread_.begin(), reread_.end()},
                       .look_again = {look_again_.begin(), look_again_.end()},
                       .doubtful = {doubtful_.begin(), doubtful_.end()}};
  const Fabric& now = *report.sweep.fabric;
  report.delta = diff_fabrics(*known_.sweep->fabric, now);
  for (const Guid guid : restarted_) {
    if (now.find_node(guid)) report.delta.restarted.push_back(guid);
  }
  std::ranges::sort(report.delta.restarted);
  const auto again = std::ranges::unique(report.delta.restarted);
  report.delta.restarted.erase(again.begin(), again.end());
  std::exchange(done_, nullptr)(std::move(report));
}

/// What was silent and was not looked at again still is. A node that stopped answering was left out
/// with its name: it hangs on some port that is up and leads nowhere.
void PartialRun::carry_silent() {
  for (const SilentPort& silent : known_.sweep->silent) {
    const auto node = survey_.find(silent.node);
    if (!node) {
      if (has_unread_open_port()) anomalies_.silent.push_back(silent);
      continue;
    }
    if (!is_known(*node) || silent.port.value() >= survey_.node(*node).ports.size()) continue;
    const LinkEnd end{*node, silent.port};
    const bool was_looked_at = survey_.port(end).fresh && !still_silent_.contains(end);
    if (!was_looked_at && !survey_.peer(end)) anomalies_.silent.push_back(silent);
  }
}

bool PartialRun::has_unread_open_port() const {
  const Fabric& fabric = *known_.sweep->fabric;
  for (std::uint32_t n = 0; n < known_nodes_; ++n) {
    if (!survey_.is_switch(n)) continue;
    if (survey_.find_unpacked(n) == nullptr) {
      for (const PortIdx port : fabric.external_ports(NodeIdx{n})) {
        if (fabric.peer[port] == kNone<PortIdx> &&
            fabric.port_info[port].state() >= PortState::Initialize)
          return true;
      }
      continue;
    }
    for (unsigned p = 1; p < survey_.node(n).ports.size(); ++p) {
      const LinkEnd end{n, PortNum{static_cast<std::uint8_t>(p)}};
      const bool was_looked_at = survey_.port(end).fresh && !still_silent_.contains(end);
      if (!was_looked_at && survey_.is_up(end) && !survey_.peer(end)) return true;
    }
  }
  return false;
}

/// Places are paths of the earlier snapshot; the links they end with are what stays.
void PartialRun::carry_duplicates() {
  const Fabric& before = *known_.sweep->fabric;
  const auto find_end = [&](const HopPath& path) -> std::optional<LinkEnd> {
    NodeIdx at = before.sm_node;
    for (std::size_t hop = 0; hop < path.size(); ++hop) {
      if (path[hop].value() > before.num_ports(at)) return std::nullopt;
      const PortIdx port = before.port_of(at, path[hop]);
      if (hop + 1 == path.size()) return LinkEnd{at.value(), path[hop]};
      if (before.peer[port] == kNone<PortIdx>) return std::nullopt;
      at = before.node_of[before.peer[port]];
    }
    return std::nullopt;
  };
  for (const DuplicateGuid& duplicate : known_.sweep->duplicates) {
    const auto first = find_end(duplicate.first);
    const auto second = find_end(duplicate.second);
    if (!second || survey_.port(*second).fresh || survey_.peer(*second)) continue;
    const bool first_stands = first && survey_.peer(*first);
    anomalies_.duplicates.push_back({duplicate.guid, first_stands ? first : std::nullopt, *second});
  }
}

}  // namespace smd
