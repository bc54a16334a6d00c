// A production cluster of 2025 as its ibnetdiscover shows it: 31 leaves and 9 spines of 64 ports,
// trunks of two cables, some of one, some missing; 542 hosts, and on the last port of every switch
// an aggregation node.
#pragma once

#include "sim-backend/topology/fabric_spec.h"

namespace smd::test {

/// Aggregation nodes are the last of its nodes.
inline sim::FabricSpec ndr_582() { return sim::load_fabric("ndr-582").value(); }

}  // namespace smd::test
