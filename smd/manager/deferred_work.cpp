// SMPs that no cycle waits for.
#include "smd/manager/deferred_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/fabric/builder.h"
#include "smd/mad/tables.h"
#include "smd/policy/partition_map.h"
#include "smd/policy/port_policy.h"

namespace smd {

namespace {

PortRef ref_of(const Fabric& fabric, PortIdx port) {
  return {fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)};
}

}  // namespace

std::shared_ptr<const Fabric> DeferredWork::with_known(
    const Fabric& fabric, std::shared_ptr<const SiteNodes> traffic) const {
  auto named = with_descriptions(fabric, descriptions_, std::move(traffic));
  std::vector<PortIdx> slow;
  for (const PortRef& each : fdr10_known_) {
    const auto node = fabric.find_node(each.node);
    if (!node || each.port.value() > fabric.num_ports(*node)) continue;
    const PortIdx port = fabric.port_of(*node, each.port);
    if (may_run_fdr10(fabric, port)) slow.push_back(port);
  }
  if (slow.empty()) return named;
  std::ranges::sort(slow);
  return with_fdr10(*named, std::move(slow));
}

void DeferredWork::note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports) {
  for (const PortIdx port : ports) {
    const PortRef ref = ref_of(fabric, port);
    unaudited_.insert(ref);
    untimed_.insert(ref);
    fdr10_known_.erase(ref);
    asked_for_leftovers_.erase(ref.node);
    if (!fabric.is_switch(fabric.node_of[port])) renamed_.insert(ref.node);
  }
}

void DeferredWork::note_new(const Fabric& fabric, Guid guid) {
  renamed_.insert(guid);
  const auto node = fabric.find_node(guid);
  if (!node) return;
  for (const PortIdx port : fabric.ports_of(*node)) {
    unaudited_.insert(ref_of(fabric, port));
    untimed_.insert(ref_of(fabric, port));
  }
}

void DeferredWork::note_changed(Guid node) {
  changed_.insert(node);
  descriptions_.erase(node);
}

void DeferredWork::start(std::shared_ptr<const ActiveSubnet> now,
                         MKey m_key,
                         Learned learned,
                         std::function<void()> done) {
  now_ = std::move(now);
  m_key_ = m_key;
  learned_ = std::move(learned);
  done_ = std::move(done);
  running_ = true;
  begin_ = Timer(runtime_, runtime_.now(), [this] { audit_pkeys(); });
}

void DeferredWork::stop() {
  changed_.merge(rereading_);
  rereading_.clear();
  begin_.reset();
  pkeys_.reset();
  reread_.reset();
  describer_.reset();
  fdr10_.reset();
  leftover_fetch_.reset();
  now_.reset();
  running_ = false;
}

void DeferredWork::learn(std::shared_ptr<const Fabric> fabric) {
  now_ = with_fabric(*now_, std::move(fabric));
  learned_(now_);
}

std::vector<PortIdx> DeferredWork::ports_to_ask(const std::set<PortRef>& wanted) const {
  std::vector<PortIdx> out;
  const Fabric& fabric = now_->fabric();
  for (const PortRef& each : wanted) {
    const auto node = fabric.find_node(each.node);
    if (node && each.port.value() <= fabric.num_ports(*node))
      out.push_back(fabric.port_of(*node, each.port));
  }
  std::ranges::sort(out);
  return out;
}

void DeferredWork::audit_pkeys() {
  // Where there are partitions, the tables were set before the ports came up.
  std::vector<TableCheck> checks;
  if (!now_->partitions) checks = build_default_pkey_checks(now_->fabric());
  if (everybody_audited_) {
    const std::vector<PortIdx> since = ports_to_ask(unaudited_);
    std::erase_if(checks, [&](const TableCheck& check) {
      return !std::ranges::binary_search(since, check.port);
    });
  }
  for (TableCheck& check : checks) {
    // The last read of a table is the one after it was repaired.
    check.repair = [this, look = std::move(check.repair), port = check.port](const SmpData& now) {
      const std::size_t room = key_capacity(now_->fabric(), port);
      const PKeyBlock block = *decode_p_key_block(now);
      keys_.remember_part(
          ref_of(now_->fabric(), port),
          {block.begin(),
           block.begin() + static_cast<std::ptrdiff_t>(std::min(room, block.size()))});
      return look(now);
    };
  }
  pkeys_.emplace(client_, m_key_);
  pkeys_->start(now_->sweep, std::move(checks), [this](AuditReport audit) {
    everybody_audited_ = true;
    unaudited_.clear();
    for (const ProgramFault& fault : audit.faults) {
      log::warn("pkey.audit", "node={} port={} what=\"{}\"", fault.node, fault.port, fault.what);
    }
    if (audit.repaired > 0)
      log::info("pkey.audit", "repaired={} of={}", audit.repaired, audit.looked_at);
    reread_ports();
  });
}

/// A trap 144 names a node: its ports are read again, so that the snapshot says what they now can.
void DeferredWork::reread_ports() {
  std::vector<PortIdx> ports;
  const Fabric& fabric = now_->fabric();
  rereading_ = std::exchange(changed_, {});
  for (const Guid guid : rereading_) {
    const auto node = fabric.find_node(guid);
    if (!node) continue;
    renamed_.insert(guid);
    for (const PortIdx port : fabric.ports_of(*node)) {
      if (fabric.is_end_port(port)) ports.push_back(port);
    }
  }
  auto info = std::make_shared<IndexVector<PortIdx, PortInfo>>(fabric.port_info);
  const bool any = !ports.empty();
  reread_.emplace(client_);
  reread_->start(
      [this, info, ports = std::move(ports), at = std::size_t{0}]() mutable {
        if (at == ports.size()) return false;
        const PortIdx port = ports[at++];
        reread_->send({.route = SmpRoute::directed(path_to(now_->sweep, port)),
                       .attribute = AttributeId::PortInfo,
                       .modifier = port_info_modifier(now_->fabric(), port),
                       .m_key = m_key_},
                      [info, port](const Result<SmpReply>& reply) {
                        if (!reply || reply->status != 0) return;  // the next sweep sees to it
                        if (const auto now = decode_port_info(reply->data)) (*info)[port] = *now;
                      });
        return true;
      },
      [this, info, any] {
        rereading_.clear();
        if (any) learn(with_port_info(now_->fabric(), std::move(*info)));
        fetch_descriptions();
      });
}

void DeferredWork::fetch_descriptions() {
  describer_.emplace(client_, m_key_);
  describer_->start(now_->sweep, renamed_, [this](std::map<Guid, std::string> found) {
    bool any = false;
    for (auto& [guid, text] : found) {
      renamed_.erase(guid);
      std::string& known = descriptions_[guid];
      any = any || known != text;
      known = std::move(text);
    }
    if (any) learn(with_descriptions(now_->fabric(), descriptions_, now_->fabric().site_nodes));
    fetch_fdr10();
  });
}

void DeferredWork::fetch_fdr10() {
  const auto every_port = now_->fabric().peer.indices();
  std::vector<PortIdx> ports = everybody_timed_
                                   ? ports_to_ask(untimed_)
                                   : std::vector<PortIdx>{every_port.begin(), every_port.end()};
  fdr10_.emplace(client_, m_key_);
  fdr10_->start(now_->sweep, std::move(ports), [this](const std::vector<PortIdx>& found) {
    everybody_timed_ = true;
    untimed_.clear();
    for (const PortIdx port : found) fdr10_known_.insert(ref_of(now_->fabric(), port));
    if (!found.empty()) learn(with_known(now_->fabric(), now_->fabric().site_nodes));
    fetch_leftovers();
  });
}

bool DeferredWork::set_leftovers(Leftovers what) {
  if (std::exchange(about_leftovers_, what) == what) return false;
  asked_for_leftovers_.clear();
  leftovers_.clear();
  return what != Leftovers::Ignore;
}

void DeferredWork::fetch_leftovers() {
  std::vector<NodeIdx> switches;
  const Fabric& fabric = now_->fabric();
  for (const NodeIdx node : fabric.switch_node) {
    const bool asked = asked_for_leftovers_.contains(fabric.node_guid[node]);
    if (!asked && fabric.node_info[node].vendor_id == kMellanox) switches.push_back(node);
  }
  if (about_leftovers_ == Leftovers::Ignore || switches.empty()) return end();
  std::vector<Guid> asked;
  for (const NodeIdx node : switches) asked.push_back(fabric.node_guid[node]);
  leftover_fetch_.emplace(client_, m_key_, about_leftovers_ == Leftovers::Clear);
  leftover_fetch_->start(
      now_->sweep,
      std::move(switches),
      [this, asked = std::move(asked)](const std::vector<Leftover>& found,
                                       const std::set<Guid>& silent) {
        for (const Guid guid : asked) {
          if (silent.contains(guid)) continue;
          leftovers_.erase(guid);
          asked_for_leftovers_.insert(guid);
        }
        for (const Leftover& each : found) {
          if (each.cleared) {
            log::info("switch.leftover", "node={} what=\"{}\" cleared=yes", each.node, each.what);
            continue;
          }
          log::warn("switch.leftover", "node={} what=\"{}\" cleared=no", each.node, each.what);
          leftovers_[each.node].insert(each.what);
          if (about_leftovers_ == Leftovers::Clear) asked_for_leftovers_.erase(each.node);
        }
        end();
      });
}

void DeferredWork::end() {
  now_.reset();
  running_ = false;
  std::exchange(done_, nullptr)();
}

std::vector<std::string> DeferredWork::print_leftovers(const Fabric& fabric) const {
  std::vector<std::string> out;
  for (const auto& [guid, all] : leftovers_) {
    const auto node = fabric.find_node(guid);
    if (!node) continue;
    for (const std::string& what : all) {
      out.push_back(
          fmt::format("{}: another manager left on: {}; packets need not go as the tables say "
                      "(sm.leftovers)",
                      name_of(fabric, *node),
                      what));
    }
  }
  return out;
}

void MKeyLeaseRefresher::set_ports(std::shared_ptr<const ActiveSubnet> in_force,
                                   MKey m_key,
                                   Duration lease) {
  const bool runs = in_force_ != nullptr;
  if (!in_force || m_key == MKey{} || lease == Duration{0}) return stop();
  in_force_ = std::move(in_force);
  m_key_ = m_key;
  pause_ = lease / 2;
  const TimePoint due = runtime_.now() + pause_;
  if (runs && due >= next_) return;  // cycles put nothing off
  next_ = due;
  if (!asking_) arm();
}

void MKeyLeaseRefresher::arm() {
  timer_ = Timer(runtime_, std::max(next_, runtime_.now()), [this] { ask_all(); });
}

void MKeyLeaseRefresher::stop() {
  asking_ = false;
  round_.reset();
  timer_.reset();
  in_force_.reset();
}

/// A round that takes longer than the pause ends all the same, else its last ports were never
/// asked.
void MKeyLeaseRefresher::ask_all() {
  next_ = runtime_.now() + pause_;
  asking_ = true;
  round_.emplace(client_);
  round_->start(
      [this, now = in_force_, at = std::uint32_t{0}]() mutable {
        const Fabric& fabric = now->fabric();
        while (at < fabric.port_count()) {
          const PortIdx port{at++};
          const bool asked = fabric.is_end_port(port) && !fabric.is_switch(fabric.node_of[port]);
          if (!asked) continue;
          round_->send({.route = SmpRoute::directed(path_to(now->sweep, port)),
                        .attribute = AttributeId::PortInfo,
                        .modifier = port_info_modifier(fabric, port),
                        .m_key = m_key_},
                       [](const Result<SmpReply>&) {});
          return true;
        }
        return false;
      },
      [this] {
        asking_ = false;
        arm();
      });
}

}  // namespace smd
