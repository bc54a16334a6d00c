// Looks at SL-to-VL rows and VL arbitration where the site configured them: everywhere once, then
// at ports that come up. Rows of blocked turns stay blocked; rows of switches that routes need are
// not looked at here.
#pragma once

#include "smd/program/stage.h"
#include "smd/program/table_audit.h"

namespace smd {

class QosAudit {
 public:
  QosAudit(ProgramRun& run, Stage& stage) : run_(run), stage_(stage) {}

  QosAudit(const QosAudit&) = delete;

  void start(std::function<void()> done);

 private:
  [[nodiscard]] bool due(const TableCheck& check, bool everywhere) const;

  ProgramRun& run_;
  Stage& stage_;
  std::optional<TableAudit> audit_;
};

}  // namespace smd
