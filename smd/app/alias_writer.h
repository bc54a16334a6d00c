// Tells ports the further GUIDs that they were given: Set(GUIDInfo), one block at a time. What a
// port confirmed is not sent again until it comes up anew; what it did not is tried at the next
// occasion.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "smd/app/active_subnet.h"
#include "smd/mad/tables.h"
#include "smd/sa/alias_table.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class AliasWriter {
 public:
  explicit AliasWriter(SmpClient& client) : scope_(client) {}

  AliasWriter(const AliasWriter&) = delete;

  /// The ports' agents may have begun anew.
  void forget(const Fabric& fabric, const std::vector<PortIdx>& ports);

  void write(const ActiveSubnet& now, const sa::AliasTable::Map& wanted, MKey m_key);

  /// Sets that are not answered yet.
  [[nodiscard]] std::size_t pending() const { return under_way_.size(); }

 private:
  using Key = std::pair<Guid, std::uint8_t>;  // port and block

  SmpScope scope_;
  std::map<Key, GuidBlock> told_;
  std::set<Key> under_way_;
};

}  // namespace smd::app
