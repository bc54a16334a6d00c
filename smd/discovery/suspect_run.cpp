#include "smd/discovery/suspect_run.h"

#include <utility>

namespace smd {

SuspectRun::SuspectRun(SmpClient& client,
                       const DiscoveryOptions& options,
                       Epoch epoch,
                       const KnownSubnet& known,
                       std::vector<Guid> suspects,
                       std::vector<PortRef> ports,
                       PartialDiscovery::Done done)
    : PartialRun(client, options, epoch, known, std::move(done)),
      first_suspects_(std::move(suspects)),
      first_ports_(std::move(ports)),
      tree_(survey_) {}

void SuspectRun::start() { check_own_port(); }

/// The manager's adapter reports nothing about itself, and everything else hangs on it.
void SuspectRun::check_own_port() {
  const LinkEnd end{0, survey_.local_port()};
  ask({.route = SmpRoute::directed({}),
       .attribute = AttributeId::PortInfo,
       .modifier = modifier_of(end)},
      [this, end](const Result<SmpReply>& reply) {
        const auto info = answered(reply) ? decode_port_info(reply->data)
                                          : Result<PortInfo>(fail(Errc::Timeout, describe(reply)));
        if (!info) return fail_locally(info.error().code, info.error().context);
        Survey::Port& own = survey_.port(end);
        const PortState before = own.info.state();
        own.info = *info;
        own.read = own.fresh = true;
        if (!survey_.node(0).info.is_switch()) learn_kind(0, own.info);
        const bool retrained =
            before > PortState::Initialize && own.info.state() == PortState::Initialize;
        if (own_link() && (survey_.is_up(end) != survey_.peer(end).has_value() || retrained)) {
          return need_full("the manager's own link changed");
        }
        add_first_suspects();
        started_ = true;
      });
}

void SuspectRun::add_first_suspects() {
  for (const Guid guid : first_suspects_) {
    const auto node = survey_.find(guid);
    if (!node) continue;  // it may yet be found
    if (survey_.node(*node).info.is_switch()) {
      suspect(*node);
      continue;
    }
    // An adapter is seen by the switches that it hangs on.
    for (unsigned p = 1; p < survey_.node(*node).ports.size(); ++p) {
      const auto peer = survey_.peer({*node, PortNum{static_cast<std::uint8_t>(p)}});
      if (peer) suspect_end(*peer);
    }
  }
  for (const PortRef& port : first_ports_) suspect_port(port);
}

/// Somebody answers across it, so its switch lives.
void SuspectRun::suspect_port(const PortRef& port) {
  const auto node = survey_.find(port.node);
  if (!node || !is_unread(*node) || port.port.value() > survey_.num_ports(*node)) return;
  suspect(*node);
  suspects_[*node].ports.insert(port.port);
}

/// Order matters: a switch is read before anything behind it is explored, and what was found is
/// read before what is missing is given up.
void SuspectRun::on_step() {
  if (finish_early()) return;
  if (!started_ || is_reading() || asked_last_hops_ > 0) return;
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

bool SuspectRun::is_unread(std::uint32_t node) const {
  const Survey::Node& at = survey_.node(node);
  return is_known(node) && at.info.is_switch() && !at.broken && !read_.contains(node) &&
         !is_reading(node);
}

void SuspectRun::suspect(std::uint32_t node) {
  if (!is_unread(node)) return;
  suspects_[node];
  new_suspects_ = true;
}

/// The link at this port came or went.
void SuspectRun::suspect_end(LinkEnd end) {
  if (!is_unread(end.node)) return;
  suspect(end.node);
  suspects_[end.node].ports.insert(end.port);
  suspects_[end.node].may_be_dead = true;
}

/// Those whose route leads through no other suspect: what a switch on the way says of its links
/// comes first.
bool SuspectRun::start_reading() {
  if (suspects_.empty()) return false;
  const RouteTree& tree = current_tree();
  new_suspects_ = false;
  std::vector<std::uint32_t> ready;
  for (auto& [node, hint] : suspects_) {
    if (!hint.waits && tree.reaches(node) && !has_suspect_before(node) && !ask_last_hop(node, hint))
      ready.push_back(node);
  }
  for (const std::uint32_t node : ready) {
    const ChangeHint hint = std::move(suspects_.extract(node).mapped());
    read_switch(node,
                {.route = SmpRoute::directed(tree.path(node)),
                 .arrival = tree.arrival(node),
                 .anyway = {hint.ports.begin(), hint.ports.end()},
                 .lid_without_lft = true});
  }
  return is_reading() || asked_last_hops_ > 0;
}

/// False: there is nothing to ask.
bool SuspectRun::ask_last_hop(std::uint32_t node, ChangeHint& hint) {
  if (!std::exchange(hint.may_be_dead, false) || node == 0) return false;
  const LinkEnd last = tree_.last_hop(node);
  if (!is_unread(last.node)) return false;
  hint.waits = true;
  ++asked_last_hops_;
  ask({.route = SmpRoute::directed(tree_.path(last.node)),
       .attribute = AttributeId::PortInfo,
       .modifier = modifier_of(last)},
      [this, node, last](const Result<SmpReply>& reply) {
        --asked_last_hops_;
        new_suspects_ = true;
        if (const auto waiting = suspects_.find(node); waiting != suspects_.end())
          waiting->second.waits = false;
        const auto info = answered(reply) ? decode_port_info(reply->data)
                                          : Result<PortInfo>(fail(Errc::Timeout, ""));
        if (info && info->state() > PortState::Initialize) return;
        suspect(last.node);
        if (const auto at = suspects_.find(last.node); at != suspects_.end())
          at->second.ports.insert(last.port);
      });
  return true;
}

bool SuspectRun::has_suspect_before(std::uint32_t node) const {
  for (std::uint32_t at = node; at != 0;) {
    at = tree_.last_hop(at).node;
    if (suspects_.contains(at) || is_reading(at)) return true;
  }
  return false;
}

/// The route leads elsewhere: a link on it was moved. Every switch on it is asked, or, when all
/// were, its last link is given up.
void SuspectRun::on_unknown_switch(std::uint32_t node) {
  bool asks_on_the_route = false;
  for (std::uint32_t at = node; at != 0;) {
    at = tree_.last_hop(at).node;
    asks_on_the_route = asks_on_the_route || is_unread(at) || is_reading(at);
    suspect(at);
  }
  if (!asks_on_the_route) {
    const LinkEnd last = tree_.last_hop(node);
    on_contradiction(last);
    unlink(last);
  }
  suspect(node);
}

void SuspectRun::on_read(std::uint32_t node, const SwitchReader::Reading& reading) {
  if (reading.unknown) return on_unknown_switch(node);
  if (reading.restarted) return forget_restarted(node);
  read_.insert(node);
  suspects_.erase(node);
  const bool explained = apply(node, reading);
  if (!reading.raised) return;
  recheck_came_up(node, explained);
  if (!explained) recheck_links(node);
}

bool SuspectRun::came_up(LinkEnd end) const {
  return known_.came_up != nullptr &&
         known_.came_up->contains({survey_.node(end.node).info.node_guid, end.port});
}

/// `end` is linked to the switch port that came up.
void SuspectRun::doubt(LinkEnd end, LinkEnd came_up) {
  const Guid sw = survey_.node(came_up.node).info.node_guid;
  const bool tells = known_.left_raised == nullptr || !known_.left_raised->contains(sw);
  if (tells && !survey_.is_switch(end.node))
    doubtful_.insert({survey_.node(end.node).info.node_guid, end.port});
}

/// Whatever else explains that something happened here. Where nothing does, all links are asked.
void SuspectRun::recheck_came_up(std::uint32_t node, bool explained) {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const auto peer = survey_.peer(end);
    if (!peer || !came_up(end) || survey_.port(end).joined || peer == own_link()) continue;
    doubt(*peer, end);
    const bool asks = explained && !rechecked_.contains(*peer) && rechecked_.insert(end).second;
    if (asks) ask_who_is_there(end, *peer);
  }
}

void SuspectRun::ask_who_is_there(LinkEnd end, LinkEnd known) {
  const auto here = route_to(end.node);
  const auto route = here ? extend(*here, end.port) : std::nullopt;
  if (!route) return unlink(end);
  ask({.route = *route}, [this, end, known](const Result<SmpReply>& reply) {
    const auto info =
        answered(reply) ? decode_node_info(reply->data) : Result<NodeInfo>(fail(Errc::Timeout, ""));
    if (survey_.peer(end) != known) return probe(end);
    const bool same = info && info->node_guid == survey_.node(known.node).info.node_guid &&
                      info->local_port == known.port;
    if (!same) unlink(end);
  });
}

/// Something happened here, and what it was does not show any more.
void SuspectRun::recheck_links(std::uint32_t node) {
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const auto peer = survey_.peer(end);
    if (!peer || survey_.port(end).joined || peer == own_link()) continue;
    unlink(end);
  }
}

/// Perhaps the switch is gone, perhaps only the route to it: every neighbour is asked who is there.
void SuspectRun::on_silent(std::uint32_t node, std::string why) {
  if (!failed_.insert(node).second) {
    anomalies_.silent.push_back({survey_.node(node).info.node_guid, PortNum{0}, std::move(why)});
    survey_.node(node).broken = true;
    tree_is_old_ = true;
    return;
  }
  for (unsigned p = 1; p < survey_.node(node).ports.size(); ++p) {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
    const auto peer = survey_.peer(end);
    if (!peer) continue;
    if (peer == own_link()) return need_full("the manager's neighbour does not answer");
    unlink(end);
  }
}

void SuspectRun::explore() {
  if (!unreachable_.empty()) {
    const RouteTree& tree = current_tree();
    for (const std::uint32_t node : std::exchange(unreachable_, {})) {
      if (!tree.reaches(node)) lost_.insert(node);
    }
  }
  for (const LinkEnd end : std::exchange(held_, {})) probe(end);
  if (!is_asking()) one_by_one_ = probes().size() <= 2;
  pump_probes();
}

/// The two ends of one new link are not both asked: the second waits for what the first learns.
std::size_t SuspectRun::room() { return one_by_one_ ? 1 : PartialRun::room(); }

/// What was out of reach could not report: it is asked once it is found again.
bool SuspectRun::read_lost_and_found() {
  if (lost_.empty()) return false;
  const RouteTree& tree = current_tree();
  std::erase_if(lost_, [&](std::uint32_t node) {
    if (!tree.reaches(node)) return false;
    suspect(node);
    return true;
  });
  return start_reading();
}

void SuspectRun::probe_stranded() {
  const RouteTree& tree = current_tree();
  std::erase_if(stranded_, [&](LinkEnd from) {
    if (!tree.reaches(from.node)) return false;
    probe(from);
    return true;
  });
}

/// A switch unknown so far that reports a change is somewhere behind a change that nobody saw.
bool SuspectRun::knows_all_suspects() {
  for (const Guid guid : first_suspects_) {
    if (survey_.find(guid) || known_.sweep->fabric->find_node(guid)) continue;
    need_full(fmt::format("{} reports a change, but nothing leads to it", guid));
    return false;
  }
  return true;
}

bool SuspectRun::may_join(LinkEnd from, LinkEnd arrival) {
  const auto older = survey_.peer(arrival);
  if (!older || *older == from) return true;
  // The switch that claims the link says whether it still has it, unless it is lost itself.
  const LinkEnd claim = survey_.node(older->node).info.is_switch() ? *older : arrival;
  if (!current_tree().reaches(older->node) || !tree_.reaches(claim.node)) {
    unlink(arrival);
    return true;
  }
  if (!is_unread(claim.node) && !is_reading(claim.node)) return true;
  suspect_end(claim);
  held_.push_back(from);
  return false;
}

void SuspectRun::on_joined(LinkEnd a, LinkEnd b) {
  tree_is_old_ = true;
  if (!tree_.join(a, b)) tree_lacks_ = true;
  if (came_up(a)) doubt(b, a);
  if (came_up(b)) doubt(a, b);
  suspect_end(a);
  suspect_end(b);
}

bool SuspectRun::is_stale(std::uint32_t node) {
  if (!is_known(node) || node == 0 || read_.contains(node)) return false;
  for (const Survey::Port& port : survey_.node(node).ports) {
    if (port.joined) return false;
  }
  return true;
}

void SuspectRun::unlink(LinkEnd end) {
  const auto peer = survey_.peer(end);
  if (!peer) return;
  const std::vector<std::uint32_t> cut = tree_.cut(end);
  survey_.unlink(end);
  if (!cut.empty()) tree_is_old_ = tree_lacks_ = true;
  for (const std::uint32_t node : cut) {
    unreachable_.push_back(node);
    if (!is_reading(node)) continue;
    cancel_reading(node);
    suspect(node);
  }
  // Either end may be the one that is still in reach. A port that is found Down is not asked.
  for (const LinkEnd at : {end, *peer}) {
    suspect_end(at);
    if (survey_.node(at.node).info.is_switch()) probe(at);
  }
  if (survey_.node(peer->node).info.is_switch()) return;
  // Whether an adapter is still the same one is known where its other ports lead.
  for (unsigned p = 1; p < survey_.node(peer->node).ports.size(); ++p) {
    const auto other = survey_.peer({peer->node, PortNum{static_cast<std::uint8_t>(p)}});
    if (other && other != own_link()) suspect_end(*other);
  }
}

RouteTree& SuspectRun::current_tree() {
  if (std::exchange(tree_is_old_, false)) tree_ = RouteTree(survey_);
  tree_lacks_ = false;
  return tree_;
}

std::optional<SmpRoute> SuspectRun::route_to(std::uint32_t node) {
  if (tree_.reaches(node)) return SmpRoute::directed(tree_.path(node));
  if (!is_known(node)) return survey_.node(node).route;
  if (tree_lacks_ && current_tree().reaches(node)) return SmpRoute::directed(tree_.path(node));
  return std::nullopt;
}

}  // namespace smd
