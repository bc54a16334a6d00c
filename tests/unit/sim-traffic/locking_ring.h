// minhop on a ring, tight buffers, hosts two switches apart: nobody gets through.
#pragma once

namespace smd::sim {

inline constexpr const char* kLockingRing = R"([fabric]
name = "torus:dims=8,hosts=2"
engine = "minhop"
preset = "thesis"
vls = 1
[switch]
input_buffer = 512
output_buffer = 512
[traffic]
pattern = "tornado"
load = 1.0
size = 256
[measure]
warm_up_us = 100
interval_us = 200
)";

}  // namespace smd::sim
