// The SMP that reads or writes one SL-to-VL row of a switch.
#pragma once

#include "smd/mad/modifiers.h"
#include "smd/program/stage.h"

namespace smd {

[[nodiscard]] inline SmpRequest sl_to_vl_smp(const SweepReport& report,
                                             const Turn& way,
                                             Method method = Method::Get,
                                             const SmpData& data = {}) {
  const NodeIdx node = report.fabric->switch_node[way.sw];
  return {.route = SmpRoute::directed(report.path[node]),
          .method = method,
          .attribute = AttributeId::SlToVlMappingTable,
          .modifier = encode_modifier(SlToVlModifier{.in = way.in, .out = way.out}),
          .data = data};
}

}  // namespace smd
