// Ports that somebody else protects: they carry an M_Key that is not ours, so they take no Set from
// us unless they show it, which they do once its lease has ended (IBA 14.2.4).
#pragma once

#include <cstdint>
#include <optional>

#include "smd/fabric/fabric.h"

namespace smd {

struct ForeignKeys {
  std::uint64_t ports = 0;
  std::optional<PortIdx> first;
  std::uint16_t longest_lease_s = 0;
  std::uint64_t forever = 0;  // of `ports`: those whose lease never ends

  friend bool operator==(const ForeignKeys&, const ForeignKeys&) = default;
};

/// Management ports as they were read with `ours`. Ports of protection level 2 and 3 do not answer
/// and are not among them: they show as silent.
[[nodiscard]] ForeignKeys find_foreign_keys(const Fabric& fabric, MKey ours);

/// The port shows a key that is not `ours`: with that one it takes a Set all the same.
[[nodiscard]] bool shows_foreign_key(const Fabric& fabric, PortIdx port, MKey ours);

}  // namespace smd
