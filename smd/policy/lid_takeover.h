// LIDs of a manager that takes over from another.
#pragma once

#include "smd/policy/lid_assignment.h"

namespace smd {

/// The book to go on with: ports that have a LID keep it, whatever `book` says; records of the
/// others stay where they are in nobody's way.
[[nodiscard]] LidBook follow_fabric(const Fabric& fabric, LidBook book);

}  // namespace smd
