#include "smd/manager/cycle_log.h"

#include <algorithm>

#include "smd/base/log.h"
#include "smd/base/text.h"

namespace smd {
namespace {

/// For want of a proof, not because a mode of the thesis asks for none.
bool is_unproved(const TransitionReport& transition) {
  return transition.kind == TransitionKind::NextHopFirst && !transition.why.empty();
}

/// "12 ports carry an M_Key that is not ours; …"; empty when none does.
std::string print_foreign_keys(const ForeignKeys& keys) {
  if (keys.ports == 0) return "";
  std::string out = fmt::format(
      "{} ports carry an M_Key that is not ours and take no Set from this manager", keys.ports);
  if (keys.forever < keys.ports)
    out += fmt::format("; their leases end after at most {} s", keys.longest_lease_s);
  if (keys.forever > 0)
    out +=
        fmt::format("; {} never give it up: add it to sm.m_key_file, or reset them", keys.forever);
  return out;
}

/// It may not have come to what was wrong before.
bool saw_little(const CycleReport& cycle) { return cycle.error || cycle.cut_off; }

/// True where there is something to say.
bool is_news(std::string& said, std::string now, bool little) {
  if (now == said || (little && now.empty())) return false;
  said = std::move(now);
  return !said.empty();
}

/// Empty where it is no more than the GUID.
std::string find_name(const NodeNames& names, Guid guid) {
  const auto node = names.fabric == nullptr ? std::nullopt : names.fabric->find_node(guid);
  std::string name = node ? name_of(*names.fabric, *node) : "";
  return name == fmt::format("{}", guid) ? "" : printable(name);
}

/// Empty where nobody knows.
std::string find_lost(const NodeNames& names, const PortRef& port) {
  if (names.led_to == nullptr) return "";
  const auto found = names.led_to->find(port);
  return found == names.led_to->end() ? "" : printable(found->second);
}

/// Of a port that leads to silence: " name="spine-1" led_to="leaf-3"".
std::string print_fields(const std::string& name, const std::string& lost) {
  return (name.empty() ? "" : fmt::format(" name=\"{}\"", log::escape(name))) +
         (lost.empty() ? "" : fmt::format(" led_to=\"{}\"", log::escape(lost)));
}

/// The same for people: " (spine-1, led to leaf-3)".
std::string print_names(const std::string& name, const std::string& lost) {
  if (name.empty() && lost.empty()) return "";
  return fmt::format(" ({}{}{})",
                     name,
                     name.empty() || lost.empty() ? "" : ", ",
                     lost.empty() ? "" : "led to " + lost);
}

void log_silence(const CycleReport& cycle, std::set<PortRef>& said, const NodeNames& names) {
  std::set<PortRef> now;
  for (const SilentPort& port : cycle.silent) {
    if (port.out_of_reach) continue;
    now.insert({port.node, port.port});
    if (!said.contains({port.node, port.port}))
      log::warn("discovery.silent",
                "node={} port={}{} why=\"{}\"",
                port.node,
                port.port,
                print_fields(find_name(names, port.node), find_lost(names, {port.node, port.port})),
                port.why);
  }
  if (saw_little(cycle)) return said.merge(now);
  for (const PortRef& port : said) {
    if (!now.contains(port))
      log::info("discovery.silence_over", "node={} port={}", port.node, port.port);
  }
  said = std::move(now);
}

/// By their GUIDs: paths are others from discovery to discovery.
void log_duplicates(const CycleReport& cycle, std::vector<DuplicateGuid>& said) {
  for (const DuplicateGuid& twice : cycle.duplicates) {
    if (std::ranges::count(said, twice.guid, &DuplicateGuid::guid) > 0) continue;
    log::error("discovery.duplicate_guid",
               "guid={} first={} second={}; the second is left out",
               twice.guid,
               print_path(twice.first),
               print_path(twice.second));
  }
  if (!saw_little(cycle) || !cycle.duplicates.empty()) said = cycle.duplicates;
}

}  // namespace

void log_cycle(const CycleReport& cycle, SaidFaults& said, const NodeNames& names) {
  const bool little = saw_little(cycle);
  log_silence(cycle, said.silent, names);
  log_duplicates(cycle, said.duplicates);
  if (is_news(said.out_of_reach, print_out_of_reach(cycle), little))
    log::error("discovery.out_of_reach", "why=\"{}\"", said.out_of_reach);
  if (is_news(said.lid_shortage, cycle.lid_shortage, little))
    log::error("lid.none_left", "what=\"{}\"", said.lid_shortage);
  if (is_news(said.cut_off, cycle.cut_off ? print_cut_off(cycle) : "", little))
    log::warn("discovery.cut_off", "{}", said.cut_off);
  if (is_news(said.foreign_keys, print_foreign_keys(cycle.foreign_keys), little))
    log::warn("m_key.foreign", "what=\"{}\"", said.foreign_keys);
  for (const ProgramFault& fault : cycle.faults) {
    log::warn("program.failed",
              "node={} port={}{} what=\"{}\"",
              fault.node,
              fault.port,
              print_fields(find_name(names, fault.node), ""),
              fault.what);
  }
  if (cycle.error) {
    log::error("cycle.failed", "reason=\"{}\" why=\"{}\"", cycle.reason, cycle.error->context);
    return log::info(
        "cycle.end", "reason=\"{}\" result=failed smps={}", cycle.reason, cycle.smps());
  }
  if (const std::string& why = cycle.transition.interrupted; !why.empty())
    log::error("transition.interrupted", "why=\"{}\"", why);
  if (is_unproved(cycle.transition)) {
    log::error("transition.unproved",
               "kind={} why=\"{}\"",
               print_transition_kind(cycle.transition.kind),
               cycle.transition.why);
  } else if (!cycle.transition.why.empty()) {
    log::warn("transition.fallback",
              "kind={} why=\"{}\"",
              print_transition_kind(cycle.transition.kind),
              cycle.transition.why);
  }
  if (!cycle.full_why.empty()) log::info("discovery.full", "why=\"{}\"", cycle.full_why);
  log::info(
      "cycle.end",
      "reason=\"{}\" result={} discovery={} engine={} transition={} phases={} switches={} nodes={} "
      "smps={} blocks={} faults={}",
      cycle.reason,
      cycle.cut_off ? "cut_off"
      : cycle.up()  ? "up"
                    : "not_up",
      cycle.partial ? "partial" : "full",
      cycle.engine,
      print_transition_kind(cycle.transition.kind),
      cycle.transition.phases,
      cycle.counts.switches,
      cycle.counts.switches + cycle.counts.cas,
      cycle.smps(),
      cycle.blocks_written,
      cycle.fault_count);
}

void log_not_kept(const std::vector<RefusedSetting>& values) {
  for (const RefusedSetting& each : values)
    log::warn("port.not_kept",
              "vendor=0x{:06x} device=0x{:04x} what=\"{}\" ports={} node={} port={}",
              each.vendor_id,
              each.device_id,
              each.what,
              each.ports,
              each.node,
              each.port);
}

FoundChanges log_changes(const Fabric& before,
                         const Fabric& now,
                         const Delta& delta,
                         std::set<std::string>& said) {
  FoundChanges out;
  /// True: it is news.
  const auto keep = [&](std::string line) {
    const bool is_news = said.insert(line).second;
    ++out.count;
    if (out.first.size() < FoundChanges::kMost) out.first.push_back(std::move(line));
    return is_news;
  };
  const auto each_node = [&](const Fabric& of, const std::vector<Guid>& nodes, auto say) {
    for (const Guid guid : nodes) {
      if (const auto node = of.find_node(guid)) say(guid, name_of(of, *node));
    }
  };
  // Each link once, at the end that comes first.
  const auto each_link = [](const Fabric& of,
                            const std::vector<PortRef>& ends,
                            const std::vector<Guid>& untold,
                            auto say) {
    for (const PortRef& end : ends) {
      const auto node = of.find_node(end.node);
      if (!node || end.port.value() > of.num_ports(*node)) continue;  // left out meanwhile
      const PortIdx port = of.port_of(*node, end.port);
      const PortIdx peer = of.peer[port];
      if (peer == kNone<PortIdx>) continue;
      const PortRef other{of.node_guid[of.node_of[peer]], of.number_of(peer)};
      const bool twice = other < end && std::ranges::binary_search(ends, other);
      if (twice || std::ranges::binary_search(untold, end.node) ||
          std::ranges::binary_search(untold, other.node))
        continue;
      say(print_port(of, port), print_port(of, peer));
    }
  };
  each_node(before, delta.nodes_gone, [&](Guid guid, const std::string& name) {
    if (keep("node gone: " + name))
      log::info("change.node_gone", "node={} name=\"{}\"", guid, name);
  });
  each_node(now, delta.nodes_new, [&](Guid guid, const std::string& name) {
    if (keep("node new: " + name)) log::info("change.node_new", "node={} name=\"{}\"", guid, name);
  });
  each_node(now, delta.restarted, [&](Guid guid, const std::string& name) {
    if (keep("switch restarted: " + name))
      log::info("change.restarted", "node={} name=\"{}\"", guid, name);
  });
  each_link(before,
            delta.ports_down,
            delta.nodes_gone,
            [&](const std::string& one, const std::string& other) {
              if (keep(fmt::format("link down: {}, {}", one, other)))
                log::info("change.link_down", "from=\"{}\" to=\"{}\"", one, other);
            });
  each_link(
      now, delta.ports_up, delta.nodes_new, [&](const std::string& one, const std::string& other) {
        if (keep(fmt::format("link up: {}, {}", one, other)))
          log::info("change.link_up", "from=\"{}\" to=\"{}\"", one, other);
      });
  return out;
}

void log_plan(const Fabric& fabric, const TransitionPlan& plan) {
  std::size_t number = 0;
  for (const TransitionPhase& phase : plan.phases) {
    ++number;
    log::debug("plan.phase",
               "phase={} block={} restore={} entries={} proved={}",
               number,
               phase.block.size(),
               phase.restore.size(),
               phase.to_wanted ? "all" : fmt::format("{}", phase.entries.size()),
               phase.certificate.size() != 0);
    for (const PortIdx port : phase.deactivate)
      log::debug("plan.deactivate", "phase={} port={}", number, print_port(fabric, port));
    for (const PortIdx port : phase.activate)
      log::debug("plan.activate", "phase={} port={}", number, print_port(fabric, port));
  }
}

void log_unresponsive(const Fabric& found, const Fabric& extended) {
  for (std::size_t node = found.node_count(); node < extended.node_count(); ++node) {
    const Guid guid = extended.node_guid[NodeIdx{static_cast<std::uint32_t>(node)}];
    log::info("plan.lingering", "node={} why=\"answers nothing, may still forward\"", guid);
  }
}

std::vector<std::string> alarms_of(const CycleReport& cycle, const NodeNames& names) {
  std::vector<std::string> alarms;
  if (cycle.error) alarms.push_back(cycle.error->context);
  if (!cycle.engine_refused.empty())
    alarms.push_back(fmt::format("engine {} requested, {} in force: {}",
                                 cycle.engine_asked,
                                 cycle.engine,
                                 cycle.engine_refused));
  if (const std::string& why = cycle.transition.interrupted; !why.empty())
    alarms.push_back("a change is not written to its end: " + why);
  if (is_unproved(cycle.transition))
    alarms.push_back(
        fmt::format("a change was written that nothing proves free of deadlock (sm.unproved): {}",
                    cycle.transition.why));
  if (cycle.cut_off) alarms.emplace_back(print_cut_off(cycle));
  if (!cycle.lid_shortage.empty()) alarms.push_back(cycle.lid_shortage);
  if (!cycle.qos_fault.empty()) alarms.push_back(cycle.qos_fault);
  for (const std::string& each : cycle.partition_faults) alarms.push_back("partitions: " + each);
  if (std::string far = print_out_of_reach(cycle); !far.empty()) alarms.push_back(std::move(far));
  for (const SilentPort& port : cycle.silent) {
    if (port.out_of_reach) continue;
    alarms.push_back(fmt::format(
        "{} port {}{}: {}",
        port.node,
        port.port,
        print_names(find_name(names, port.node), find_lost(names, {port.node, port.port})),
        port.why));
  }
  for (const DuplicateGuid& twice : cycle.duplicates) {
    alarms.push_back(fmt::format("GUID {} twice: at {} and {}",
                                 twice.guid,
                                 print_path(twice.first),
                                 print_path(twice.second)));
  }
  if (std::string keys = print_foreign_keys(cycle.foreign_keys); !keys.empty())
    alarms.push_back(std::move(keys));
  for (const ProgramFault& fault : cycle.faults) {
    alarms.push_back(fmt::format("{} port {}{}: {}",
                                 fault.node,
                                 fault.port,
                                 print_names(find_name(names, fault.node), ""),
                                 fault.what));
  }
  return alarms;
}

}  // namespace smd
