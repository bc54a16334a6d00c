#include "smd/routing/tree/tree_writer.h"

#include <algorithm>
#include <bit>

namespace smd {
namespace {

constexpr std::uint8_t kUp = 0, kDown = 1, kLevel = 2;

// The i-th slot to try of `count`: first the one that the number says, then all others, beginning
// with one that depends on what the number says besides.
std::uint64_t probe(std::uint64_t number, std::uint64_t count, std::uint64_t i) {
  const std::uint64_t first = number % count;
  if (i == 0) return first;
  return (first + 1 + (number / count + i - 1) % (count - 1)) % count;
}

}  // namespace

TreeWriter::TreeWriter(const TreeFabric& tree, const BatchSearch& search)
    : tree_(tree),
      search_(search),
      slot_(tree.shape.levels.size()),
      bit_(tree.graph.switches(), BatchSearch::kBatch),
      changed_(tree.number.size(), 0) {
  for (std::uint32_t level = 0; level < slot_.size(); ++level) {
    const std::uint32_t count = tree.slots.count(level);
    if (count == 0 || count > 256) continue;
    for (const std::uint64_t number : tree.number)
      slot_[level].push_back(static_cast<std::uint8_t>(number / tree.divider[level] % count));
  }
  for (const SwitchIdx sw : tree.guids.indices()) {
    for (std::uint32_t link = search.first_link(sw); link < search.end_link(sw); ++link) {
      const std::uint32_t own = tree.shape.level[sw];
      const std::uint32_t far = tree.shape.level[search.link(link).to];
      kind_.push_back(far == own ? kLevel : far > own ? kUp : kDown);
    }
  }
}

void TreeWriter::begin(std::span<const SwitchIdx> destinations) {
  for (const SwitchIdx sw : destinations_) {
    if (sw != kNone<SwitchIdx>) bit_[sw] = BatchSearch::kBatch;
  }
  destinations_.assign(destinations.begin(), destinations.end());
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    entries_[i].clear();
    if (destinations[i] == kNone<SwitchIdx>) continue;
    bit_[destinations[i]] = static_cast<std::uint8_t>(i);
    for (const Target& target : tree_.targets.of[destinations[i]]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        entries_[i].push_back(
            {Lid{static_cast<std::uint16_t>(target.base.value() + offset)}, target.exit});
    }
  }
}

template <bool kNote>
void TreeWriter::put(std::span<PortNum> row, Lid lid, PortNum port) {
  if constexpr (kNote) {
    if (row[lid.value()] == port) return;
    changed_[lid.value()] = 1;
  }
  row[lid.value()] = port;
}

template <bool kNote, class PortOf>
void TreeWriter::put_all(std::uint64_t which, std::span<PortNum> row, PortOf&& port_of) {
  for (; which != 0; which &= which - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(which));
    for (const Entry& entry : entries_[bit]) put<kNote>(row, entry.lid, port_of(entry, bit));
  }
}

template <bool kNote>
void TreeWriter::write(SwitchIdx sw, std::uint64_t which, std::span<PortNum> row) {
  if (bit_[sw] != BatchSearch::kBatch) {
    const std::uint64_t own = which & std::uint64_t{1} << bit_[sw];
    put_all<kNote>(own, row, [](const Entry& entry, unsigned) { return entry.exit; });
    which &= ~own;
  }
  std::uint64_t once = 0, twice = 0;  // that one link leads to, and more than one
  std::uint64_t up = 0, every_up = ~std::uint64_t{0}, other = 0;
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    const std::uint64_t wanted = search_.wanted(link) & which;
    twice |= once & wanted;
    once |= wanted;
    if (kind_[link] == kUp) {
      up |= wanted;
      every_up &= wanted;
    } else {
      other |= wanted;
    }
  }
  put_all<kNote>(which & ~once, row, [](const Entry&, unsigned) { return kNoRoute; });
  // Down the only way there is, or up by any slot: no need to ask for each LID what is allowed.
  std::uint64_t rest = twice;
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    const std::uint64_t alone = search_.wanted(link) & which & ~twice;
    if (alone == 0) continue;
    const BatchSearch::Link& only = search_.link(link);
    if (only.cables == 1) {
      const PortNum port = tree_.graph.edge(only.edge).port;
      put_all<kNote>(alone, row, [&](const Entry&, unsigned) { return port; });
    } else if (kind_[link] == kDown && is_regular(only.to)) {
      descend<kNote>(sw, only, alone, row);
    } else {
      rest |= alone;
    }
  }
  if (const std::uint64_t any = rest & up & every_up & ~other; any != 0 && is_regular(sw)) {
    climb<kNote>(sw, any, row);
    rest &= ~any;
  }
  put_all<kNote>(
      rest, row, [&](const Entry& entry, unsigned bit) { return choose(sw, bit, entry.lid); });
}

bool TreeWriter::is_regular(SwitchIdx sw) const {
  const std::uint32_t level = tree_.shape.level[sw];
  return !slot_[level].empty() && tree_.slots.of(sw).size() == tree_.slots.count(level);
}

template <bool kNote>
void TreeWriter::climb(SwitchIdx sw, std::uint64_t which, std::span<PortNum> row) {
  Ports ports;
  std::size_t count = 0;
  for (const UpSlots::Slot& slot : tree_.slots.of(sw)) ports[count++] = slot.port;
  const std::uint8_t* const slot_of = slot_[tree_.shape.level[sw]].data();
  put_all<kNote>(which, row, [&](const Entry& entry, unsigned bit) {
    const PortNum port = ports[slot_of[entry.lid.value()]];
    return port != kNoRoute ? port : choose_up(sw, bit, tree_.number[entry.lid.value()]);
  });
}

// Over the cable by which the number would climb from the child.
template <bool kNote>
void TreeWriter::descend(SwitchIdx sw,
                         const BatchSearch::Link& link,
                         std::uint64_t which,
                         std::span<PortNum> row) {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(link.to);
  Ports ports;
  ports.fill(kNoRoute);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].edge != kUnreached && tree_.graph.edge(slots[slot].edge).to == sw)
      ports[slot] = tree_.graph.edge(slots[slot].edge).far;
  }
  const std::uint8_t* const slot_of = slot_[tree_.shape.level[link.to]].data();
  put_all<kNote>(which, row, [&](const Entry& entry, unsigned) {
    const PortNum port = ports[slot_of[entry.lid.value()]];
    return port != kNoRoute ? port : choose_down(sw, link, tree_.number[entry.lid.value()]);
  });
}

PortNum TreeWriter::choose(SwitchIdx sw, unsigned bit, Lid lid) const {
  const std::uint64_t number = tree_.number[lid.value()];
  std::array<std::uint64_t, 3> ways{};
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link)
    ways[kind_[link]] += allows(link, bit);
  const std::uint8_t kind = ways[kDown] != 0 ? kDown : ways[kUp] != 0 ? kUp : kLevel;
  if (kind == kUp) return choose_up(sw, bit, number);
  std::uint64_t skip = number / tree_.divider[tree_.shape.level[sw]] % ways[kind];
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    if (kind_[link] != kind || !allows(link, bit) || skip-- != 0) continue;
    const BatchSearch::Link& chosen = search_.link(link);
    return kind == kDown ? choose_down(sw, chosen, number) : tree_.graph.edge(chosen.edge).port;
  }
  return kNoRoute;
}

PortNum TreeWriter::choose_up(SwitchIdx sw, unsigned bit, std::uint64_t number) const {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(sw);
  const std::uint64_t digits = number / tree_.divider[tree_.shape.level[sw]];
  for (std::uint64_t i = 0; i < slots.size(); ++i) {
    const UpSlots::Slot& slot = slots[probe(digits, slots.size(), i)];
    if (slot.edge != kUnreached && allows(search_.link_of(slot.edge), bit)) return slot.port;
  }
  // Slots are those of a level as it mostly is; what is cabled otherwise may have none.
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    if (kind_[link] == kUp && allows(link, bit))
      return tree_.graph.edge(search_.link(link).edge).port;
  }
  return kNoRoute;
}

PortNum TreeWriter::choose_down(SwitchIdx sw,
                                const BatchSearch::Link& link,
                                std::uint64_t number) const {
  if (link.cables == 1) return tree_.graph.edge(link.edge).port;
  // The child's slots to this parent: cables by round, missing ones included.
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(link.to);
  const auto leads_here = [&](const UpSlots::Slot& slot) {
    return slot.edge != kUnreached && tree_.graph.edge(slot.edge).to == sw;
  };
  const std::uint16_t parent = std::find_if(slots.begin(), slots.end(), leads_here)->parent;
  std::array<const UpSlots::Slot*, 256> cables;
  std::uint64_t count = 0;
  for (const UpSlots::Slot& slot : slots) {
    if (slot.parent == parent && count < cables.size()) cables[count++] = &slot;
  }
  const std::uint64_t digits = number / tree_.divider[tree_.shape.level[sw]];
  for (std::uint64_t i = 0; i < count; ++i) {
    const UpSlots::Slot& slot = *cables[probe(digits, count, i)];
    if (leads_here(slot)) return tree_.graph.edge(slot.edge).far;
  }
  return tree_.graph.edge(link.edge).port;
}

template void TreeWriter::write<true>(SwitchIdx, std::uint64_t, std::span<PortNum>);
template void TreeWriter::write<false>(SwitchIdx, std::uint64_t, std::span<PortNum>);

}  // namespace smd
