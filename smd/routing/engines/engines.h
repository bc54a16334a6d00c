// The engines there are, one function per file of this folder. Only registry.cpp needs this list.
#pragma once

#include <string_view>

#include "smd/routing/engine.h"

namespace smd {

[[nodiscard]] const Engine& auto_engine();
[[nodiscard]] const Engine& dfsssp_engine();
[[nodiscard]] const Engine& dor_engine();
[[nodiscard]] const Engine& dragonfly_engine();
[[nodiscard]] const Engine& fera_engine();
[[nodiscard]] const Engine& fera_flood_engine();
[[nodiscard]] const Engine& ftree_engine();
[[nodiscard]] const Engine& hamiltonian_engine();
[[nodiscard]] const Engine& hamming_engine();
[[nodiscard]] const Engine& itb_vl_engine();
[[nodiscard]] const Engine& lash_engine();
[[nodiscard]] const Engine& minhop_engine();
[[nodiscard]] const Engine& nue_engine();
[[nodiscard]] const Engine& pira_engine();
[[nodiscard]] const Engine& updn_engine();

/// How a note begins of routes where an answer on the SL of its request may be on a VL that was not
/// proved for it.
inline constexpr std::string_view kDirectionsDiffer =
    "the two directions of a path may have different SLs";

/// Routes as EngineOptions::path_sets asks for. Unsupported where `engine` does not take them, or
/// where there are too few VLs for both sets.
[[nodiscard]] Result<RoutingTables> compute_path_sets(const Engine& engine,
                                                      const Fabric& fabric,
                                                      const LidMap& lids,
                                                      const RoutingRequest& request);

}  // namespace smd
