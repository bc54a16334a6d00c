// P_Key tables as agents last confirmed them. What is not here in whole must be read before it is
// written. Copies share what they hold until one of them changes.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "smd/fabric/delta.h"
#include "smd/policy/key_table.h"

namespace smd {

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

  /// Entries that were in use at some time; see KeyTableWish.
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
