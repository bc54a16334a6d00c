#include "smd/multicast/mft_memory.h"

namespace smd {

void MftMemory::forget(Guid node) {
  switches_.erase(node);
  forgotten_.insert(node);
}

void MftMemory::note_fresh(Guid node) {
  const auto found = switches_.find(node);
  if (found != switches_.end() && found->second.blank && found->second.cells.empty()) return;
  if (found != switches_.end()) return forget(node);
  if (!forgotten_.contains(node)) switches_[node].blank = true;
}

void MftMemory::confirm(Guid node, MftModifier at, const MftBlock& block) {
  switches_[node].cells[encode_modifier(at)] = {.held = block, .may = block, .sure = true};
}

void MftMemory::send(Guid node, MftModifier at, const MftBlock& block) {
  Cell& cell = switches_[node].cells[encode_modifier(at)];
  for (std::size_t i = 0; i < block.size(); ++i)
    cell.may[i] = static_cast<std::uint16_t>(cell.may[i] | block[i]);
  cell.sure = false;
}

MftMemory::Cell MftMemory::find(Guid node, MftModifier at) const {
  const auto found = switches_.find(node);
  if (found == switches_.end()) return {};
  const auto cell = found->second.cells.find(encode_modifier(at));
  if (cell != found->second.cells.end()) return cell->second;
  return {.held = {}, .may = {}, .sure = found->second.blank};
}

}  // namespace smd
