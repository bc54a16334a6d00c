// SL-to-VL and arbitration tables of the site: looked at everywhere once, then at ports that come
// up, or were away then.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/policy/port_policy.h"
#include "smd/program/program_report.h"
#include "smd/program/program_run.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Reads a series of table blocks and repairs those that are not as they should be.

struct AuditReport {
  std::uint64_t looked_at = 0;
  std::uint64_t repaired = 0;
  std::vector<ProgramFault> faults;
  std::set<RefusedTable> refused;
};

class TableAudit {
 public:
  using Done = std::function<void(AuditReport)>;

  TableAudit(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  TableAudit(const TableAudit&) = delete;

  /// The report must stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report, std::vector<TableCheck> checks, Done done);

 private:
  void read_again(const TableCheck& check);
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

// Looks at SL-to-VL entries and VL arbitration where the site configured them: everywhere once,
// then at ports that come up, at those that were away meanwhile, whose links may have stayed up,
// and at what failed. Entries of blocked turns stay blocked; entries of switches that routes need
// are not looked at here.
//
// Where the switch offers OptimizedSLtoVLMappingProgramming and the site wants it, the entries of
// all inputs to an output are not read: one Set writes them (IBA 14.2.5.8), or the whole switch
// where all outputs have the same. A switch that refuses it is looked at entry by entry.

class QosAudit {
 public:
  QosAudit(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  QosAudit(const QosAudit&) = delete;

  void start(std::function<void()> done);

 private:
  void find_due();
  [[nodiscard]] bool is_due(PortIdx at, AttributeId attribute, std::uint32_t modifier);

  /// One Set for the entries of many pairs of ports.
  struct RowSet {
    SmpRequest request;
    std::vector<TableCheck> instead;  // where it is refused
  };

  /// Moves what can be written so from `checks_` into `sets_`.
  void take_row_sets();
  void take_row_sets(SwitchIdx sw, std::vector<TableCheck> rows);
  void look(std::function<void()> done);
  void note_looked(std::set<RefusedTable> refused);
  void forget_unasked();

  ProgramRun& run_;
  SmpBatch& batch_;
  bool everywhere_ = false;
  IndexVector<PortIdx, bool> due_;
  std::vector<PortRef> there_;        // ascending
  std::set<RefusedTable> not_asked_;  // of those that were refused before
  std::set<Guid> grown_;              // have ports that were never looked at beside the others
  std::vector<TableCheck> checks_;
  std::vector<RowSet> sets_;
  std::size_t next_ = 0;
  std::optional<SmpPump> pump_;
  std::optional<TableAudit> audit_;
};

}  // namespace smd
