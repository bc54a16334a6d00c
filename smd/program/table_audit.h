// Reads a series of table blocks and repairs those that are not as they should be.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/policy/table_check.h"
#include "smd/program/program_report.h"
#include "smd/smp/smp_pump.h"

namespace smd {

struct AuditReport {
  std::uint64_t looked_at = 0;
  std::uint64_t repaired = 0;
  std::vector<ProgramFault> faults;
};

class TableAudit {
 public:
  using Done = std::function<void(AuditReport)>;

  TableAudit(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  TableAudit(const TableAudit&) = delete;

  /// The report must stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report, std::vector<TableCheck> checks, Done done);

 private:
  void look(const TableCheck& check);
  void repair(const TableCheck& check, const SmpData& wanted);
  void fault(const TableCheck& check, const std::string& what);
  [[nodiscard]] SmpRequest request(const TableCheck& check, Method method) const;

  SmpPump pump_;
  MKey m_key_;
  const SweepReport* report_ = nullptr;
  std::vector<TableCheck> checks_;
  std::size_t next_ = 0;
  AuditReport result_;
};

}  // namespace smd
