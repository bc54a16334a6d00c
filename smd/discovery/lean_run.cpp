#include "smd/discovery/lean_run.h"

#include <utility>

namespace smd {

LeanRun::LeanRun(SmpClient& client,
                 const PartialOptions& options,
                 Epoch epoch,
                 const KnownSubnet& known,
                 std::vector<Guid> suspects,
                 PartialDiscovery::Done done)
    : PartialRun(client, options, epoch, known, std::move(done)),
      first_suspects_(std::move(suspects)),
      tree_(survey_) {}

void LeanRun::start() { check_own_port(); }

/// The manager's adapter reports nothing about itself, and everything else hangs on it.
void LeanRun::check_own_port() {
  const CableEnd end{0, survey_.local_port()};
  ask({.route = SmpRoute::directed({}),
       .attribute = AttributeId::PortInfo,
       .modifier = end.port.value()},
      [this, end](const Result<SmpReply>& reply) {
        const auto info = answered(reply) ? decode_port_info(reply->data)
                                          : Result<PortInfo>(fail(Errc::Timeout, describe(reply)));
        if (!info) return fail_locally(info.error().code, info.error().context);
        Survey::Port& own = survey_.port(end);
        const PortState before = own.info.state();
        own.info = *info;
        own.read = own.fresh = true;
        const bool retrained =
            before > PortState::Initialize && own.info.state() == PortState::Initialize;
        if (own_link() && (survey_.is_up(end) != survey_.peer(end).has_value() || retrained)) {
          return need_full("the manager's own link changed");
        }
        add_first_suspects();
        started_ = true;
      });
}

void LeanRun::add_first_suspects() {
  for (const Guid guid : first_suspects_) {
    const auto node = survey_.find(guid);
    if (!node) continue;  // it may yet be found
    if (survey_.node(*node).info.is_switch()) {
      suspect(*node);
      continue;
    }
    // An adapter is seen by the switches that it hangs on.
    for (unsigned p = 1; p < survey_.node(*node).ports.size(); ++p) {
      const auto far = survey_.peer({*node, PortNum{static_cast<std::uint8_t>(p)}});
      if (far) suspect_end(*far);
    }
  }
}

/// Order matters: a switch is read before anything behind it is explored, and what was found is
/// read before what is missing is given up.
void LeanRun::on_step() {
  if (finish_early()) return;
  if (!started_ || is_reading()) return;
  if ((new_suspects_ || !is_asking()) && start_reading()) return;
  explore();
  if (is_asking()) return;
  do {
    if (start_reading() || read_lost_and_found()) return;
    probe_stranded();
    const bool settling = settle_links();
    explore();
    if (is_asking()) return;
    if (!settling) break;
  } while (true);
  if (!knows_all_suspects()) {
    finish_early();
    return;
  }
  finish();
}

bool LeanRun::is_unread(std::uint32_t node) const {
  const Survey::Node& at = survey_.node(node);
  return is_known(node) && at.info.is_switch() && !at.broken && !read_.contains(node) &&
         !is_reading(node);
}

void LeanRun::suspect(std::uint32_t node) {
  if (!is_unread(node)) return;
  suspects_[node];
  new_suspects_ = true;
}

/// The cable at this port came or went.
void LeanRun::suspect_end(CableEnd end) {
  if (!is_unread(end.node)) return;
  suspect(end.node);
  suspects_[end.node].ports.insert(end.port);
  suspects_[end.node].last_hop_too = true;
}

/// Those whose way leads through no other suspect: what a switch on the way says of its cables
/// comes first.
bool LeanRun::start_reading() {
  if (suspects_.empty()) return false;
  const RouteTree& tree = fresh_tree();
  std::vector<std::uint32_t> last_hops;
  for (const auto& [node, suspicion] : suspects_) {
    if (suspicion.last_hop_too && node != 0 && tree.reaches(node)) {
      last_hops.push_back(tree.last_hop(node).node);
    }
  }
  for (const std::uint32_t node : last_hops) suspect(node);
  new_suspects_ = false;
  std::vector<std::uint32_t> ready;
  for (const auto& [node, suspicion] : suspects_) {
    if (tree.reaches(node) && !has_suspect_before(node)) ready.push_back(node);
  }
  for (const std::uint32_t node : ready) {
    const Suspicion suspicion = std::move(suspects_.extract(node).mapped());
    read_switch(node,
                {.route = SmpRoute::directed(tree.path(node)),
                 .arrival = tree.arrival(node),
                 .anyway = {suspicion.ports.begin(), suspicion.ports.end()}});
  }
  return is_reading();
}

bool LeanRun::has_suspect_before(std::uint32_t node) const {
  for (std::uint32_t at = node; at != 0;) {
    at = tree_.last_hop(at).node;
    if (suspects_.contains(at) || is_reading(at)) return true;
  }
  return false;
}

/// The way leads elsewhere: a cable on it was moved. Every switch on it is asked, or, when all
/// were, its last cable is given up.
void LeanRun::on_stranger(std::uint32_t node) {
  bool asks_on_the_way = false;
  for (std::uint32_t at = node; at != 0;) {
    at = tree_.last_hop(at).node;
    asks_on_the_way = asks_on_the_way || is_unread(at) || is_reading(at);
    suspect(at);
  }
  if (!asks_on_the_way) {
    const CableEnd last = tree_.last_hop(node);
    on_contradiction(last);
    unlink(last);
  }
  suspect(node);
}

void LeanRun::on_read(std::uint32_t node, const SwitchReader::Reading& reading) {
  if (reading.stranger) return on_stranger(node);
  if (reading.restarted) return forget_restarted(node);
  read_.insert(node);
  suspects_.erase(node);
  const bool explained = apply(node, reading);
  if (reading.raised && !explained) doubt_cables(node);
}

/// Something happened here, and what it was does not show any more.
void LeanRun::doubt_cables(std::uint32_t node) {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const CableEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const auto far = survey_.peer(end);
    if (!far || survey_.port(end).joined || far == own_link()) continue;
    unlink(end);
  }
}

/// Perhaps the switch is gone, perhaps only the way to it: every neighbour is asked who is there.
void LeanRun::on_silent(std::uint32_t node, std::string why) {
  if (!failed_.insert(node).second) {
    oddities_.silent.push_back({survey_.node(node).info.node_guid, PortNum{0}, std::move(why)});
    survey_.node(node).broken = true;
    tree_is_old_ = true;
    return;
  }
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const CableEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const auto far = survey_.peer(end);
    if (!far) continue;
    if (far == own_link()) return need_full("the manager's neighbour does not answer");
    unlink(end);
  }
}

void LeanRun::explore() {
  if (!cut_.empty()) {
    const RouteTree& tree = fresh_tree();
    for (const std::uint32_t node : std::exchange(cut_, {})) {
      if (!tree.reaches(node)) lost_.insert(node);
    }
  }
  for (const CableEnd end : std::exchange(held_, {})) probe(end);
  if (!is_asking()) one_by_one_ = probes().size() <= 2;
  pump_probes();
}

/// The two ends of one new cable are not both asked: the second waits for what the first learns.
std::size_t LeanRun::room() { return one_by_one_ ? 1 : PartialRun::room(); }

/// What was out of reach could not report: it is asked once it is found again.
bool LeanRun::read_lost_and_found() {
  if (lost_.empty()) return false;
  const RouteTree& tree = fresh_tree();
  std::erase_if(lost_, [&](std::uint32_t node) {
    if (!tree.reaches(node)) return false;
    suspect(node);
    return true;
  });
  return start_reading();
}

void LeanRun::probe_stranded() {
  const RouteTree& tree = fresh_tree();
  std::erase_if(stranded_, [&](CableEnd from) {
    if (!tree.reaches(from.node)) return false;
    probe(from);
    return true;
  });
}

/// A stranger that reports a change is somewhere behind a change that nobody saw.
bool LeanRun::knows_all_suspects() {
  for (const Guid guid : first_suspects_) {
    if (survey_.find(guid) || known_.sweep->fabric->find_node(guid)) continue;
    need_full(fmt::format("{} reports a change, but nothing leads to it", guid));
    return false;
  }
  return true;
}

bool LeanRun::may_join(CableEnd from, CableEnd arrival) {
  const auto older = survey_.peer(arrival);
  if (!older || *older == from) return true;
  // The switch that claims the cable says whether it still has it, unless it is lost itself.
  const CableEnd claim = survey_.node(older->node).info.is_switch() ? *older : arrival;
  if (!fresh_tree().reaches(older->node) || !tree_.reaches(claim.node)) {
    unlink(arrival);
    return true;
  }
  if (!is_unread(claim.node) && !is_reading(claim.node)) return true;
  suspect_end(claim);
  held_.push_back(from);
  return false;
}

void LeanRun::on_joined(CableEnd a, CableEnd b) {
  tree_is_old_ = true;
  suspect_end(a);
  suspect_end(b);
}

bool LeanRun::is_stale(std::uint32_t node) {
  if (!is_known(node) || node == 0 || read_.contains(node)) return false;
  for (const Survey::Port& port : survey_.node(node).ports) {
    if (port.joined) return false;
  }
  return true;
}

void LeanRun::unlink(CableEnd end) {
  const auto far = survey_.peer(end);
  if (!far) return;
  const std::vector<std::uint32_t> cut = tree_.cut(end);
  survey_.unlink(end);
  if (!cut.empty()) tree_is_old_ = true;
  for (const std::uint32_t node : cut) {
    cut_.push_back(node);
    if (!is_reading(node)) continue;
    cancel_reading(node);
    suspect(node);
  }
  // Either end may be the one that is still in reach. A port that is found Down is not asked.
  for (const CableEnd at : {end, *far}) {
    suspect_end(at);
    if (survey_.node(at.node).info.is_switch()) probe(at);
  }
  if (survey_.node(far->node).info.is_switch()) return;
  // Whether an adapter is still the same one is known where its other ports lead.
  for (unsigned p = 1; p < survey_.node(far->node).ports.size(); ++p) {
    const auto other = survey_.peer({far->node, PortNum{static_cast<std::uint8_t>(p)}});
    if (other && other != own_link()) suspect_end(*other);
  }
}

RouteTree& LeanRun::fresh_tree() {
  if (std::exchange(tree_is_old_, false)) tree_ = RouteTree(survey_);
  return tree_;
}

std::optional<SmpRoute> LeanRun::route_to(std::uint32_t node) {
  if (tree_.reaches(node)) return SmpRoute::directed(tree_.path(node));
  if (!is_known(node)) return survey_.node(node).route;
  if (fresh_tree().reaches(node)) return SmpRoute::directed(tree_.path(node));
  return std::nullopt;
}

}  // namespace smd
