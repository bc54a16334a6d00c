// SMPs to the ports of clients, outside of cycles: register again, further GUIDs, tables that
// somebody asks for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "smd/mad/tables.h"
#include "smd/sa/alias_manager.h"
#include "smd/sa/port_tables.h"
#include "smd/smp/smp_client.h"
#include "smd/state/client_records.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

class ClientReregistration {
 public:
  explicit ClientReregistration(SmpClient& client) : scope_(client) {}

  ClientReregistration(const ClientReregistration&) = delete;

  /// Of what a former life left, or the master before us: whose clients may have left more than
  /// that. They are asked, as who is new is.
  void restore(const ClientRecords& records);

  /// Ports that were in Initialize in the cycle that ended: they know.
  void note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports);

  /// `before` and `after`: GUIDs in service, ascending. Who is new in `after`, did not just come up
  /// and has the capability is asked, and asked again at the next call where it did not answer.
  void call(const ActiveSubnet& now,
            const std::vector<Guid>& before,
            const std::vector<Guid>& after,
            MKey m_key);

  /// `guids` without those that still have to be asked: what may be kept as known.
  [[nodiscard]] std::vector<Guid> without_owed(const std::vector<Guid>& guids) const;

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  SmpScope scope_;
  std::set<Guid> came_up_;
  std::set<Guid> owed_;
  std::set<Guid> under_way_;
  std::uint64_t asked_ = 0;
};

// Sets the alias GUIDs that ports were given: Set(GUIDInfo), one block at a time. What a
// port confirmed is not sent again until it comes up anew; what it did not is tried at the next
// occasion. What is wanted while a Set of the block is under way is sent after it.

class AliasWriter {
 public:
  explicit AliasWriter(SmpClient& client) : scope_(client) {}

  AliasWriter(const AliasWriter&) = delete;

  /// Another manager may have written meanwhile.
  void doubt_all() {
    for (auto& [key, content] : confirmed_) content.reset();
  }

  /// The ports' agents may have begun anew.
  void forget(const Fabric& fabric, const std::vector<PortIdx>& ports);

  void write(const ActiveSubnet& now, const sa::AliasTable::Map& wanted, MKey m_key);

  /// Sets that are not answered yet.
  [[nodiscard]] std::size_t pending() const { return under_way_.size(); }

 private:
  using Key = std::pair<Guid, std::uint8_t>;  // port and block

  /// As write() last had it.
  struct Wanted {
    GuidBlock content{};
    HopPath path;
    MKey m_key;
  };

  void send(const Key& key);

  SmpScope scope_;
  std::map<Key, std::optional<GuidBlock>> confirmed_;  // nothing: it may be anything
  std::map<Key, Wanted> under_way_;
};

// Reads SL-to-VL rows and VL arbitration from ports, for clients that ask for them: a few SMPs at a
// time and so many a second, so that a change of the fabric never waits for them. Those who want
// tables get a block each in turn: who asks for all of a large switch holds up nobody else.

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

}  // namespace smd
