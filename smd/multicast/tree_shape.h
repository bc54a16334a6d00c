// How multicast trees are laid.
#pragma once

#include <cstdint>

namespace smd {

enum class TreeShape : std::uint8_t {
  UpDown,      // see forest.h
  PathShared,  // see label_paths.h
  DualPath,    // likewise
};

}  // namespace smd
