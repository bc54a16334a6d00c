#include "smd/program/port_setter.h"

#include <fmt/format.h>
#include <utility>

#include "smd/program/partition_setter.h"

namespace smd {
namespace {

template <class T>
void compare(std::string& out, std::string_view name, T wanted, T answered) {
  if (wanted == answered) return;
  out += fmt::format("{}{} {} set, {} kept", out.empty() ? "" : "; ", name, wanted, answered);
}

bool has_its_lid(const ProgramRun& run, PortIdx port) {
  const Lid lid = run.input.lids->base[port];
  return lid != kUnassignedLid && run.report.port_info[port].lid == lid;
}

/// kNoRoute where nothing is known.
PortNum confirmed_egress(const ProgramRun& run, SwitchIdx sw, Lid lid) {
  const SwitchInfo& info = run.report.switch_info[sw];
  if (has_random_table(info) || lid.value() > info.linear_fdb_top) return kNoRoute;
  const std::optional<LftBlock> block =
      run.state.tables.find_block(run.guid_of(sw), lid.value() / kLftBlockSize);
  return !block ? kNoRoute : (*block)[lid.value() % kLftBlockSize];
}

bool arrives(const ProgramRun& run, PortIdx from, PortIdx to) {
  const Fabric& fabric = run.fabric();
  const Lid lid = run.input.lids->base[to];
  PortIdx at = from;
  for (std::size_t hop = 0; hop <= fabric.switch_node.size(); ++hop) {
    const NodeIdx node = fabric.node_of[at];
    // An adapter sends through the port itself; from port 0 the switch routes first.
    if (fabric.is_switch(node)) {
      const PortNum out = confirmed_egress(run, fabric.switch_of[node], lid);
      if (out.value() > fabric.num_ports(node)) return false;
      at = fabric.port_of(node, out);
      if (out == PortNum{0}) return at == to;
    }
    const PortIdx peer = fabric.peer[at];
    if (peer == kNone<PortIdx> || run.report.port_info[at].state() < PortState::Initialize)
      return false;
    if (!fabric.is_switch(fabric.node_of[peer])) return peer == to;
    at = peer;
  }
  return false;
}

/// Training a link takes tens of milliseconds, a bad link some seconds.
constexpr Duration kTrainingRound = std::chrono::milliseconds(100);
constexpr unsigned kTrainingRounds = 20;

}  // namespace

std::string find_lost_address(const PortInfo& wanted, const PortInfo& answered) {
  if (answered.lid != wanted.lid)
    return fmt::format("LID {} was not kept: it answers {}", wanted.lid, answered.lid);
  if (answered.lmc != wanted.lmc)
    return fmt::format("LMC {} was not kept: it answers {}", wanted.lmc, answered.lmc);
  if (answered.master_sm_lid != wanted.master_sm_lid) {
    return fmt::format(
        "MasterSMLID {} was not kept: it answers {}", wanted.master_sm_lid, answered.master_sm_lid);
  }
  return "";
}

std::string find_not_kept(const PortInfo& wanted, const PortInfo& answered) {
  std::string out;
  compare(out, "NeighborMTU", wanted.neighbor_mtu, answered.neighbor_mtu);
  compare(out, "OperationalVLs", wanted.operational_vls, answered.operational_vls);
  compare(out, "HOQLife", wanted.hoq_life, answered.hoq_life);
  compare(out, "VLStallCount", wanted.vl_stall_count, answered.vl_stall_count);
  compare(out, "VLHighLimit", wanted.vl_high_limit, answered.vl_high_limit);
  compare(out, "LocalPhyErrors", wanted.local_phy_errors, answered.local_phy_errors);
  compare(out, "OverrunErrors", wanted.overrun_errors, answered.overrun_errors);
  compare(out,
          "LinkDownDefaultState",
          wanted.link_down_default_state,
          answered.link_down_default_state);
  compare(out, "SubnetTimeout", wanted.subnet_timeout, answered.subnet_timeout);
  compare(out, "MasterSMSL", wanted.master_sm_sl, answered.master_sm_sl);
  compare(out, "GidPrefix", wanted.gid_prefix, answered.gid_prefix);
  compare(out, "M_KeyProtectBits", wanted.m_key_protect_bits, answered.m_key_protect_bits);
  compare(out, "M_KeyLeasePeriod", wanted.m_key_lease_period, answered.m_key_lease_period);
  if (wanted.m_key != answered.m_key) out += out.empty() ? "M_Key" : "; M_Key";
  return out;
}

bool is_reachable_by_lid(const ProgramRun& run, PortIdx agent) {
  const PortIdx own = run.fabric().sm_port;
  return has_its_lid(run, own) && has_its_lid(run, agent) && arrives(run, own, agent) &&
         arrives(run, agent, own);
}

PortSetter::PortSetter(ProgramRun& run, SmpBatch& batch)
    : run_(run),
      batch_(batch),
      retrained_(run.fabric().port_count(), false),
      is_down_(run.fabric().port_count(), false),
      state_before_(run.fabric().port_count()) {}

void PortSetter::raise_vls(Done done) {
  unconfirmed_ = {};
  if (!leads_to_vls()) return done({});
  const Fabric& fabric = run_.fabric();
  std::vector<PortIdx> ports;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] == kNone<PortIdx> || info(port).state() != PortState::Active) continue;
    const std::uint8_t vls = wanted_vls(port);
    if (info(port).operational_vls >= vls) continue;
    const Guid guid = fabric.node_guid[fabric.node_of[port]];
    if (!run_.state.ports.keeps_fewer_vls(guid, fabric.number_of(port), vls, info(port)))
      ports.push_back(port);
  }
  if (ports.empty()) return done({});
  spread_over_agents(ports, [this](PortIdx port) { return run_.fabric().node_of[port]; });
  batch_.each<PortIdx>(
      run_.report.configure,
      std::move(ports),
      [this](PortIdx port) {
        PortInfo wanted = info(port);
        wanted.operational_vls = wanted_vls(port);
        send({.port = port, .wanted = wanted, .raises_vls = true});
      },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

/// Whether any row that is written may lead to more than one.
bool PortSetter::leads_to_vls() const {
  const QosPolicy& qos = run_.input.qos;
  return run_.input.writes_sl_to_vl() || qos.sl_to_vl ||
         std::ranges::any_of(qos.kinds, [](const QosTables& own) { return bool(own.sl_to_vl); });
}

std::uint8_t PortSetter::wanted_vls(PortIdx port) const {
  return desired_port_info(run_.fabric(), *run_.input.lids, port, run_.input.policy)
      .operational_vls;
}

void PortSetter::deactivate(std::vector<PortIdx> ports, Done done) {
  unconfirmed_ = {};
  if (ports.empty()) return done({});
  spread_over_agents(ports, [this](PortIdx port) { return run_.fabric().node_of[port]; });
  batch_.each<PortIdx>(
      run_.report.deactivate,
      std::move(ports),
      [this](PortIdx port) {
        if (run_.input.writing.deactivates_down_ports || info(port).state() > PortState::Initialize)
          take_down(port);
      },
      [this, done = std::move(done)] { done(std::move(unconfirmed_)); });
}

void PortSetter::activate(std::vector<PortIdx> ports, std::function<void()> done) {
  if (ports.empty()) return done();
  cost_ = &run_.report.activate;
  training_rounds_ = kTrainingRounds;
  spread_over_agents(ports, [this](PortIdx port) { return run_.fabric().node_of[port]; });
  if (!run_.input.writing.one_set_activation) return arm(std::move(ports), std::move(done));
  batch_.each<PortIdx>(
      *cost_,
      ports,
      [this](PortIdx port) {
        if (info(port).state() == PortState::Initialize) configure(port, PortState::Active);
      },
      [this, ports, done = std::move(done)] { arm(ports, done); });
}

void PortSetter::settle_all(std::function<void()> done) {
  std::vector<PortIdx> ports;
  for (PortIdx port : run_.fabric().peer.indices()) {
    if (is_managed(run_.fabric(), port) && !leads_to_unconfirmed(run_, port)) ports.push_back(port);
  }
  settle(std::move(ports), std::move(done));
}

void PortSetter::settle_links_of_adapters(std::function<void()> done) {
  const Fabric& fabric = run_.fabric();
  keeps_sm_sls_ = !run_.input.tells_sls_early;
  std::vector<PortIdx> ports;
  for (PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || retrained_[port] || !is_managed(fabric, port)) continue;
    if (!fabric.is_switch(fabric.node_of[port]) || !fabric.is_switch(fabric.node_of[peer]))
      ports.push_back(port);
  }
  settle(std::move(ports), std::move(done));
}

void PortSetter::settle(std::vector<PortIdx> ports, std::function<void()> done) {
  cost_ = run_.input.plan == nullptr ? &run_.report.activate : &run_.report.configure;
  training_rounds_ = kTrainingRounds;
  batch_.each<PortIdx>(
      run_.report.configure,
      ports,
      [this](PortIdx port) {
        if (lacks_lid(run_.fabric(), *run_.input.lids, port)) return keep_out(port);
        const bool comes_up = info(port).state() == PortState::Initialize || trains(port);
        if (comes_up && is_data_port(run_.fabric(), port)) {
          return configure(
              port, run_.input.writing.one_set_activation ? PortState::Active : PortState::Armed);
        }
        const PortInfo wanted = wanted_of(port);
        const Guid guid = run_.fabric().node_guid[run_.fabric().node_of[port]];
        if (!differs(info(port), wanted) ||
            run_.state.ports.settled(guid, run_.fabric().number_of(port), wanted, info(port)))
          return;
        send({.port = port, .wanted = wanted});
      },
      [this, ports, done = std::move(done)] {
        run_.input.writing.one_set_activation ? arm(ports, done) : wait_for_training(ports, done);
      });
}

void PortSetter::arm(std::vector<PortIdx> ports, std::function<void()> done) {
  batch_.each<PortIdx>(
      *cost_,
      ports,
      [this](PortIdx port) {
        if (info(port).state() == PortState::Initialize || trains(port))
          configure(port, PortState::Armed);
      },
      [this, ports, done = std::move(done)] { wait_for_training(ports, done); });
}

void PortSetter::wait_for_training(std::vector<PortIdx> ports, std::function<void()> done) {
  std::vector<PortIdx> training;
  for (PortIdx port : ports) {
    if (trains(port)) training.push_back(port);
  }
  if (training.empty() || training_rounds_ == 0) return raise(std::move(ports), std::move(done));
  --training_rounds_;
  batch_.later(kTrainingRound, [this, training, ports, done = std::move(done)] {
    arm(training, [this, ports, done] { raise(ports, done); });
  });
}

void PortSetter::raise(std::vector<PortIdx> ports, std::function<void()> done) {
  batch_.each<PortIdx>(
      *cost_,
      std::move(ports),
      [this](PortIdx port) {
        if (info(port).state() == PortState::Armed) configure(port, PortState::Active);
      },
      std::move(done));
}

void PortSetter::configure(PortIdx port, PortState state) {
  if (!is_to_be_active(run_.fabric(), *run_.input.lids, port)) return;
  send({.port = port, .wanted = wanted_of(port), .state = state, .by_lid = can_go_by_lid(port)});
}

/// With the configuration it has: a new one belongs to the activation.
void PortSetter::take_down(PortIdx port) {
  note_retrained(port);
  send({.port = port, .wanted = info(port), .state = PortState::Down});
}

/// The LID that it still shows may be another port's by now. The switch takes the link down: its
/// answer does not come over that link.
void PortSetter::keep_out(PortIdx port) {
  const bool is_switch = run_.fabric().is_switch(run_.fabric().node_of[port]);
  const bool is_external = run_.fabric().number_of(port) != PortNum{0};
  if (is_switch && is_external && info(port).state() > PortState::Initialize) take_down(port);
}

void PortSetter::send(const PortSet& set) {
  const Fabric& fabric = run_.fabric();
  PortInfo body = set_body(set.wanted, set.state);
  // Clients behind a port that comes up must join their groups and services again with us, as must
  // those that did with another manager.
  const bool comes_up =
      set.state >= PortState::Armed && info(set.port).state() <= PortState::Initialize;
  const Lid before = info(set.port).master_sm_lid;
  const bool was_others = before != kUnassignedLid && before != set.wanted.master_sm_lid;
  body.client_reregister =
      fabric.is_end_port(set.port) && set.state != PortState::Down && (comes_up || was_others) &&
      (set.wanted.capability_mask & port_cap::kIsClientReregistrationSupported) != 0;
  SmpRequest request{.method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = port_info_modifier(fabric, set.port)};
  encode_port_info(body, request.data);
  if (set.by_lid) {
    const NodeIdx node = fabric.node_of[set.port];
    const PortIdx agent = fabric.is_switch(node) ? fabric.port_of(node, PortNum{0}) : set.port;
    request.route = SmpRoute::to_lid(run_.input.lids->base[agent]);
  } else {
    request.route = SmpRoute::directed(path_to(*run_.input.report, set.port));
  }
  batch_.ask(request, [this, set](const Result<SmpReply>& reply) { on_answer(set, reply); });
}

void PortSetter::on_answer(const PortSet& set, const Result<SmpReply>& reply) {
  if (!reply && set.by_lid) {
    PortSet directed = set;
    directed.by_lid = false;
    return send(directed);
  }
  // When the answer to a state change is lost, its retry finds the port in the new state and is
  // refused as no transition.
  if (!accepted(reply)) {
    const bool may_have_obeyed =
        reply ? set.state != PortState::NoChange : set.state == PortState::Down;
    if (may_have_obeyed) return read_again(set, describe_failure(reply));
    // Refused for good, as far as anybody knows: no later plan waits for it.
    if (reply && set.raises_vls) {
      const NodeIdx node = run_.fabric().node_of[set.port];
      run_.state.ports.remember(run_.fabric().node_guid[node],
                                run_.fabric().number_of(set.port),
                                set.wanted,
                                info(set.port));
      return run_.fault(
          node, run_.fabric().number_of(set.port), "PortInfo: " + describe_failure(reply));
    }
    return fail_set(set, "PortInfo: " + describe_failure(reply));
  }
  const auto answer = decode_port_info(reply->data);
  if (!answer) return fail_set(set, answer.error().context);
  compare(set, *answer);
}

/// What the port says of itself decides.
void PortSetter::read_again(const PortSet& set, std::string why) {
  batch_.ask({.route = SmpRoute::directed(path_to(*run_.input.report, set.port)),
              .attribute = AttributeId::PortInfo,
              .modifier = port_info_modifier(run_.fabric(), set.port)},
             [this, set, why = std::move(why)](const Result<SmpReply>& reply) {
               const auto now = accepted(reply) ? decode_port_info(reply->data)
                                                : Result<PortInfo>(fail(Errc::Timeout, ""));
               if (now) {
                 info(set.port) = *now;
                 const bool there = set.state == PortState::Down
                                        ? now->state() <= PortState::Initialize
                                        : now->state() >= set.state;
                 if (there) return compare(set, *now);
                 // Later rounds, or Armed and then Active, go on from what it is.
                 const bool first_try = set.state == PortState::Active &&
                                        run_.input.writing.one_set_activation &&
                                        now->state() == PortState::Initialize;
                 if (first_try || (trains(set.port) && training_rounds_ > 0)) return;
               }
               fail_set(set, fmt::format("PortInfo to {}: {}", print_port_state(set.state), why));
             });
}

void PortSetter::compare(const PortSet& set, const PortInfo& answer) {
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.node_of[set.port];
  const PortNum number = fabric.number_of(set.port);
  info(set.port) = answer;
  if (set.state == PortState::Down) {
    if (answer.state() > PortState::Initialize) {
      return fail_set(set, fmt::format("wanted Down, is {}", print_port_state(answer.state())));
    }
    ++run_.report.ports_deactivated;
    note_down(set.port);
    return;
  }
  std::string lost = run_.state.ports.remember(fabric.node_guid[node], number, set.wanted, answer);
  if (!lost.empty()) run_.not_kept(node, number, std::move(lost));
  if (fabric.is_end_port(set.port)) {
    std::string address = find_lost_address(set.wanted, answer);
    if (!address.empty()) return fail_set(set, std::move(address));
  }
  if (set.state == PortState::NoChange) return;
  // A link that saw traffic in between may be ahead of the state we asked for.
  if (answer.state() < set.state) {
    if (trains(set.port) && training_rounds_ > 0) return;
    return fail_set(
        set,
        fmt::format(
            "wanted {}, is {}", print_port_state(set.state), print_port_state(answer.state())));
  }
  ++(set.state == PortState::Armed ? run_.report.ports_armed : run_.report.ports_activated);
}

void PortSetter::fail_set(const PortSet& set, std::string what) {
  const NodeIdx node = run_.fabric().node_of[set.port];
  if (set.state == PortState::Down) {
    unconfirmed_.add(run_.fabric().node_guid[node], what);
    note_maybe_up(set.port);
  }
  const PortIdx peer = run_.fabric().peer[set.port];
  if (set.raises_vls && run_.fabric().is_switch(node) &&
      run_.fabric().is_switch(run_.fabric().node_of[peer]))
    unconfirmed_.add(run_.fabric().node_guid[node], what);
  run_.fault(node, run_.fabric().number_of(set.port), std::move(what));
}

/// As soon as the Set is sent: one for both ends is enough.
void PortSetter::note_retrained(PortIdx port) {
  const PortIdx peer = run_.fabric().peer[port];
  for (const PortIdx end : {port, peer}) {
    if (end == kNone<PortIdx>) continue;
    if (!retrained_[end]) {
      run_.report.retrained.push_back(
          {run_.fabric().node_guid[run_.fabric().node_of[end]], run_.fabric().number_of(end)});
    }
    if (!retrained_[end]) state_before_[end] = info(end).port_state;
    retrained_[end] = true;
    info(end).port_state = static_cast<std::uint8_t>(PortState::Initialize);
  }
}

/// Neither end of the link carries data any more.
void PortSetter::note_down(PortIdx port) {
  is_down_[port] = true;
  if (const PortIdx peer = run_.fabric().peer[port]; peer != kNone<PortIdx>) is_down_[peer] = true;
}

/// Nobody knows whether the Set arrived: until somebody looks, the link is one that carries data.
void PortSetter::note_maybe_up(PortIdx port) {
  for (const PortIdx end : {port, run_.fabric().peer[port]}) {
    if (end != kNone<PortIdx> && !is_down_[end]) info(end).port_state = state_before_[end];
  }
}

PortInfo PortSetter::wanted_of(PortIdx port) const {
  PortInfo wanted = with_enforcement(
      run_, port, desired_port_info(run_.fabric(), *run_.input.lids, port, run_.input.policy));
  if (run_.fabric().is_end_port(port)) wanted.master_sm_sl = sm_sl_of(port);
  return wanted;
}

/// Packets of ports to the manager are proved as all others to its LID are: with the SL of the
/// path.
std::uint8_t PortSetter::sm_sl_of(PortIdx port) const {
  const ProgramInput& input = run_.input;
  if (keeps_sm_sls_) return run_.report.port_info[port].master_sm_sl;
  if (input.path_sls == nullptr) return 0;
  return find_path_sl(run_.fabric(), *input.path_sls, port, input.policy.master_sm_lid).value_or(0);
}

bool PortSetter::can_go_by_lid(PortIdx port) {
  if (!run_.input.writing.lid_routed_activation) return false;
  const Fabric& fabric = run_.fabric();
  const NodeIdx node = fabric.node_of[port];
  const PortIdx agent = fabric.is_switch(node) ? fabric.port_of(node, PortNum{0}) : port;
  return is_reachable_by_lid(run_, agent);
}

bool PortSetter::trains(PortIdx port) {
  return retrained_[port] && info(port).state() == PortState::Down;
}

}  // namespace smd
