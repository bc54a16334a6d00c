// Reads SL-to-VL rows and VL arbitration from ports, for clients that ask for them: a few SMPs at a
// time and so many a second, so that a change of the fabric never waits for them. Those who want
// tables get a block each in turn: who asks for all of a large switch holds up nobody else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/sa/held_tables.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class TableReader {
 public:
  static constexpr std::size_t kAtOnce = 4;
  static constexpr std::size_t kPerTick = 20;
  static constexpr Duration kTick = std::chrono::milliseconds(10);

  /// `on_read`: all that one read() asked for has been noted in `held`. What is referred to
  /// outlives this.
  TableReader(Runtime& runtime,
              SmpClient& client,
              sa::HeldTables& held,
              std::function<void()> on_read)
      : runtime_(runtime), held_(held), on_read_(std::move(on_read)), scope_(client) {}

  TableReader(const TableReader&) = delete;

  /// Where ports are from now on.
  void adopt(std::shared_ptr<const ActiveSubnet> now, MKey m_key);

  /// Blocks that are being read already are not read twice.
  void read(const std::vector<sa::TableBlock>& blocks);

  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  struct Job {
    std::deque<sa::TableBlock> left;
    std::size_t outstanding = 0;
  };

  void pump();
  void send(const std::shared_ptr<Job>& job, const sa::TableBlock& block);
  void finish(const std::shared_ptr<Job>& job,
              const sa::TableBlock& block,
              const std::optional<SmpData>& data);

  Runtime& runtime_;
  sa::HeldTables& held_;
  std::function<void()> on_read_;
  std::shared_ptr<const ActiveSubnet> now_;
  MKey m_key_;
  std::deque<std::shared_ptr<Job>> jobs_;  // with blocks that were not sent, in turn
  std::set<sa::TableBlock> pending_;
  std::size_t outstanding_ = 0;
  std::size_t in_tick_ = 0;
  bool ticking_ = false;
  std::uint64_t sent_ = 0;
  Timer tick_;
  SmpScope scope_;
};

}  // namespace smd::app
