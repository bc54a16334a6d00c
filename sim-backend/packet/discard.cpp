#include "sim-backend/packet/discard.h"

namespace smd::sim {

std::uint64_t count_unreachable(const DiscardCounts& counts) {
  std::uint64_t sum = 0;
  for (const Discard cause : {Discard::InactivePort,
                              Discard::DeactivatedPort,
                              Discard::BackToInput,
                              Discard::Unroutable,
                              Discard::Unmappable,
                              Discard::WrongNode}) {
    sum += counts[static_cast<std::size_t>(cause)];
  }
  return sum;
}

std::string_view print_discard(Discard cause) {
  static constexpr std::array<std::string_view, kDiscards> kNames{"inactive_port",
                                                                  "deactivated_port",
                                                                  "output_overflow",
                                                                  "back_to_input",
                                                                  "unroutable",
                                                                  "cleared_with_node",
                                                                  "unmappable",
                                                                  "on_the_wire",
                                                                  "head_of_queue_life",
                                                                  "switch_life",
                                                                  "too_long",
                                                                  "wrong_node",
                                                                  "no_transit_room"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace smd::sim
