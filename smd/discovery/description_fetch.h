// Node descriptions, asked for once the subnet is up so that they delay nothing.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_pump.h"

namespace smd {

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

}  // namespace smd
