#include "smd/plan/held_tables.h"

namespace smd {

HeldTables collect_held_tables(const Fabric& fabric, Lid top, const ConfirmedTables& confirmed) {
  HeldTables held{.lft = {fabric.switch_count(), top}, .unknown = {}};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const std::size_t first_dead = fabric.switch_info[sw].linear_fdb_top / kLftBlockSize + 1u;
    const bool forwards = fabric.switch_info[sw].linear_fdb_top != 0;
    for (std::uint32_t number = 0; number < held.lft.blocks(); ++number) {
      const LftBlock* block = confirmed.find_block(guid, number);
      if (block != nullptr) {
        held.lft.set_block(sw, number, *block);
      } else if (forwards && number < first_dead) {
        held.unknown.push_back({sw, number});
      }
    }
  }
  return held;
}

}  // namespace smd
