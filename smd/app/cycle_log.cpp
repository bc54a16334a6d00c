#include "smd/app/cycle_log.h"

#include "smd/base/log.h"

namespace smd::app {

void log_cycle(const CycleReport& cycle) {
  for (const SilentPort& port : cycle.silent) {
    log::warn("discovery.silent", "node={} port={} why=\"{}\"", port.node, port.port, port.why);
  }
  for (const DuplicateGuid& twice : cycle.duplicates) {
    log::error("discovery.duplicate_guid",
               "guid={} first={} second={}; the second is left out",
               twice.guid,
               print_path(twice.first),
               print_path(twice.second));
  }
  if (cycle.cut_off) log::warn("discovery.cut_off", "the manager's own port has no link");
  for (const ProgramFault& fault : cycle.faults) {
    log::warn("program.failed", "node={} port={} what=\"{}\"", fault.node, fault.port, fault.what);
  }
  if (cycle.error) {
    return log::error(
        "cycle.failed", "reason=\"{}\" why=\"{}\"", cycle.reason, cycle.error->context);
  }
  log::info("cycle.end",
            "reason=\"{}\" engine={} switches={} nodes={} smps={} blocks={} faults={}",
            cycle.reason,
            cycle.engine,
            cycle.counts.switches,
            cycle.counts.switches + cycle.counts.cas,
            cycle.smps(),
            cycle.blocks_written,
            cycle.fault_count);
}

std::vector<std::string> alarms_of(const CycleReport& cycle) {
  std::vector<std::string> alarms;
  if (cycle.error) alarms.push_back(cycle.error->context);
  if (cycle.cut_off) alarms.push_back("the manager's own port has no link: it manages itself only");
  for (const SilentPort& port : cycle.silent) {
    alarms.push_back(fmt::format("{} port {}: {}", port.node, port.port, port.why));
  }
  for (const DuplicateGuid& twice : cycle.duplicates) {
    alarms.push_back(fmt::format("GUID {} twice: at {} and {}",
                                 twice.guid,
                                 print_path(twice.first),
                                 print_path(twice.second)));
  }
  for (const ProgramFault& fault : cycle.faults) {
    alarms.push_back(fmt::format("{} port {}: {}", fault.node, fault.port, fault.what));
  }
  return alarms;
}

}  // namespace smd::app
