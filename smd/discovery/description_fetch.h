// Node descriptions, asked for once the subnet is up so that they delay nothing.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "smd/discovery/sweep_report.h"

namespace smd {

class DescriptionFetch {
 public:
  /// What was learned; nodes that did not answer are not in it.
  using Done = std::function<void(std::map<Guid, std::string>)>;

  DescriptionFetch(SmpClient& client, MKey m_key)
      : client_(client), scope_(client), m_key_(m_key) {}

  DescriptionFetch(const DescriptionFetch&) = delete;

  /// Asks every node whose description in the snapshot is empty. The report must stay alive.
  void start(const SweepReport& report, Done done);

 private:
  void pump();

  SmpClient& client_;
  SmpScope scope_;
  MKey m_key_;
  const SweepReport* report_ = nullptr;
  Done done_;
  std::map<Guid, std::string> found_;
  std::uint32_t next_ = 0;
  std::size_t outstanding_ = 0;
};

}  // namespace smd
