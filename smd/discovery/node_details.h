// What is asked of nodes and ports once the subnet is up, so that it delays nothing.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Node descriptions, asked for once the subnet is up so that they delay nothing.

class DescriptionFetch {
 public:
  /// What was learned; nodes that did not answer are not in it.
  using Done = std::function<void(std::map<Guid, std::string>)>;

  DescriptionFetch(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  DescriptionFetch(const DescriptionFetch&) = delete;

  /// Asks every node whose description in the snapshot is empty, and those of `again`. The report
  /// must stay alive.
  void start(const SweepReport& report, std::set<Guid> again, Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::map<Guid, std::string> found_;
};

// Which QDR links really run at FDR10: PortInfo cannot say it, the vendor attribute
// ExtendedPortInfo can. Asked of that vendor's ports only, once the subnet is up, since an agent
// without the attribute may not answer at all.

class Fdr10Fetch {
 public:
  /// The ports that run at FDR10, ascending.
  using Done = std::function<void(std::vector<PortIdx>)>;

  Fdr10Fetch(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  Fdr10Fetch(const Fdr10Fetch&) = delete;

  /// Asks those of `ports` that may run at FDR10. The report must stay alive.
  void start(const SweepReport& report, std::vector<PortIdx> ports, Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<PortIdx> found_;
};

/// A linked port at QDR of the vendor that has the attribute.
[[nodiscard]] bool may_run_fdr10(const Fabric& fabric, PortIdx port);

}  // namespace smd
