#include "sim-backend/congestion/source_memory.h"

#include <algorithm>
#include <bit>

namespace smd::sim {
namespace {

std::uint64_t reaction_bits(const SourceNeeds& needs) {
  return needs.destinations * (counter_bits(needs.window) + counter_bits(needs.stages + 1));
}

std::uint64_t outstanding_bits(const SourceNeeds& needs) {
  return needs.destinations * counter_bits(needs.window);
}

}  // namespace

unsigned counter_bits(unsigned most) { return static_cast<unsigned>(std::bit_width(most)); }

SourceMemory fvoq_memory(const SourceNeeds& needs) {
  return {.data_bytes = needs.destinations * needs.window * needs.packet_bytes,
          .control_bits = reaction_bits(needs)};
}

SourceMemory counted_fvoq_memory(const SourceNeeds& needs) {
  return {.data_bytes = needs.destinations * needs.packet_bytes,
          .control_bits = reaction_bits(needs) + outstanding_bits(needs)};
}

SourceMemory pvoq_memory(const SourceNeeds& needs, unsigned queues) {
  return {.data_bytes = std::uint64_t{queues} * needs.packet_bytes,
          .control_bits = reaction_bits(needs) + outstanding_bits(needs)};
}

SourceMemory pool_memory(const SourceNeeds& needs, std::uint64_t pool_bytes) {
  return {.data_bytes = pool_bytes, .control_bits = reaction_bits(needs) + outstanding_bits(needs)};
}

unsigned published_queues(std::uint64_t hosts) {
  return static_cast<unsigned>(std::max<std::uint64_t>(1, (hosts + 3) / 4));
}

std::uint64_t published_pool(const SourceNeeds& needs) {
  return std::max<std::uint64_t>(needs.packet_bytes, fvoq_memory(needs).data_bytes / 10);
}

}  // namespace smd::sim
