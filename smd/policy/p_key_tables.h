// P_Key tables of agents: at which index a P_Key stands, and what agents confirmed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "smd/fabric/delta.h"
#include "smd/ib/types.h"

namespace smd {

// A port's P_Key table as it shall be, given the one it has. A key keeps its index as long as it is
// wanted: queue pairs name their partition by index. New keys stand behind all that were ever used,
// while there is room, so that an index does not turn into another partition under a queue pair
// that outlived its own.

/// 0 is an entry without a key (IBA 10.9.1).
using KeyTable = std::vector<PKey>;

struct WantedKeyTable {
  std::vector<PKey> keys;  // each once
  PKey first;              // of them, the one for index 0; 0: the default partition's, if it is new
  std::size_t used = 0;    // entries that were in use before, by any key
  bool enforced = false;   // of a switch port, in front of whoever has the keys
};

/// As long as `now`, which is as long as the agent has room. Nothing when the keys do not fit.
[[nodiscard]] std::optional<KeyTable> arrange_keys(const KeyTable& now,
                                                   const WantedKeyTable& wanted);

/// Entries up to the last that holds a key.
[[nodiscard]] std::size_t used_entries(const KeyTable& table);

/// Whether some entry is of the default partition, in full or limited: without one the agent
/// neither asks nor answers the subnet administration.
[[nodiscard]] bool has_default_key(std::span<const PKey> entries);

// P_Key tables as agents last confirmed them. What is not here in whole must be read before it is
// written. Copies share what they hold until one of them changes.

class KeyMemory {
 public:
  /// The whole table; null when it is not known.
  [[nodiscard]] const KeyTable* find(const PortRef& port) const {
    const Entry* entry = entry_of(port);
    return entry == nullptr || !entry->whole ? nullptr : &entry->table;
  }

  /// Its entries from the first on, as far as they are known; null when none are.
  [[nodiscard]] const KeyTable* find_part(const PortRef& port) const {
    const Entry* entry = entry_of(port);
    return entry == nullptr || entry->table.empty() ? nullptr : &entry->table;
  }

  /// Entries that were in use at some time; see WantedKeyTable.
  [[nodiscard]] std::size_t used(const PortRef& port) const {
    const Entry* entry = entry_of(port);
    return entry == nullptr ? 0 : entry->used;
  }

  /// Requires: the table is not empty.
  void remember(const PortRef& port, KeyTable table) { put(port, std::move(table), true); }

  /// Its first entries alone.
  void remember_part(const PortRef& port, KeyTable table) {
    const Entry* now = entry_of(port);
    if (now == nullptr || !now->whole) put(port, std::move(table), false);
  }

  /// Not known any more; which entries were in use still is.
  void doubt(const PortRef& port) {
    const Entry* now = entry_of(port);
    if (now != nullptr && !now->table.empty()) put(port, {}, false);
  }

  void forget(const PortRef& port) {
    if (ports_->contains(port)) own().erase(port);
  }

  void forget(Guid node) {
    const auto from = ports_->lower_bound({node, PortNum{0}});
    if (from == ports_->end() || from->first.node != node) return;
    std::erase_if(own(), [node](const auto& each) { return each.first.node == node; });
  }

 private:
  struct Entry {
    KeyTable table;
    std::size_t used = 0;
    bool whole = false;
  };

  using Ports = std::map<PortRef, std::shared_ptr<const Entry>>;

  [[nodiscard]] const Entry* entry_of(const PortRef& port) const {
    const auto at = ports_->find(port);
    return at == ports_->end() ? nullptr : at->second.get();
  }

  void put(const PortRef& port, KeyTable table, bool whole) {
    const std::size_t used = std::max(this->used(port), used_entries(table));
    own()[port] = std::make_shared<const Entry>(
        Entry{.table = std::move(table), .used = used, .whole = whole});
  }

  Ports& own() {
    if (ports_.use_count() > 1) ports_ = std::make_shared<Ports>(*ports_);
    return *ports_;
  }

  std::shared_ptr<Ports> ports_ = std::make_shared<Ports>();
};

}  // namespace smd
