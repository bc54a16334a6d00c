#include "smd/routing/fat_tree/tree_tables.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace smd {
namespace {

constexpr std::uint8_t kUp = 0, kDown = 1, kLevel = 2;

// The i-th slot to try of `count`: first the one that the number says, then all others, beginning
// with one that depends on what the number says besides, and on who asks.
std::uint64_t probe(std::uint64_t number,
                    std::uint64_t count,
                    std::uint64_t i,
                    std::uint64_t source = 0) {
  const std::uint64_t first = number % count;
  if (i == 0) return first;
  // Sources may be multiples of something.
  const std::uint64_t others = count - 1;
  source += source / others + source / others / others;
  return (first + 1 + (number / count + source + i - 1) % others) % count;
}

}  // namespace

BatchSearch::BatchSearch(const SwitchGraph& graph, const UpDownGraph& up_down)
    : order_(up_down.order()),
      link_of_(graph.edge_count()),
      descends_(graph.switches(), 0),
      entered_(graph.switches(), 0) {
  IndexVector<SwitchIdx, std::uint32_t> known(graph.switches(), 0);  // one past the link
  const auto add = [&](std::uint32_t begin, std::span<const UpDownGraph::Link> links) {
    for (const UpDownGraph::Link& link : links) {
      if (known[link.to] <= begin) {
        links_.push_back({.to = link.to, .edge = link.edge, .parallel = 0});
        known[link.to] = static_cast<std::uint32_t>(links_.size());
      }
      ++links_[known[link.to] - 1].parallel;
      link_of_[link.edge] = known[link.to] - 1;
    }
  };
  for (const SwitchIdx sw : descends_.indices()) {
    const auto begin = static_cast<std::uint32_t>(links_.size());
    first_.push_back(begin);
    add(begin, up_down.up(sw));
    middle_.push_back(static_cast<std::uint32_t>(links_.size()));
    add(begin, up_down.down(sw));
  }
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
  wanted_.resize(links_.size());
}

void BatchSearch::find(std::span<const SwitchIdx> destinations) {
  while (!find_within(destinations)) room_ *= 2;
}

bool BatchSearch::find_within(std::span<const SwitchIdx> destinations) {
  at_.assign(descends_.size() * room_, 0);
  wanted_.assign(wanted_.size(), 0);
  descends_.assign(descends_.size(), 0);
  entered_.assign(entered_.size(), 0);
  lengths_.resize(room_);
  if (!find_descents(destinations)) return false;
  // In whole trees no route is longer than that, and loops of a fixed length are quicker.
  return room_ == kRoom ? find_climbs(std::integral_constant<std::size_t, kRoom>{})
                        : find_climbs(room_);
}

bool BatchSearch::find_descents(std::span<const SwitchIdx> destinations) {
  all_ = 0;
  reached_.clear();
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const SwitchIdx sw = destinations[i];
    if (sw == kNone<SwitchIdx>) continue;
    at(sw)[0] = descends_[sw] = std::uint64_t{1} << i;
    all_ |= descends_[sw];
    reached_.push_back(sw);
  }
  for (std::size_t length = 0; !reached_.empty(); ++length) {
    next_.clear();
    for (const SwitchIdx sw : reached_) {
      const std::uint64_t here = at(sw)[length];
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const SwitchIdx above = links_[up].to;
        const std::uint64_t fresh = here & ~descends_[above];
        if (fresh == 0) continue;
        if (length + 1 == room_) return false;
        std::uint64_t& there = at(above)[length + 1];
        if (there == 0) next_.push_back(above);
        there |= fresh;
      }
    }
    for (const SwitchIdx sw : next_) {
      const std::uint64_t fresh = at(sw)[length + 1];
      descends_[sw] |= fresh;
      for (std::uint32_t down = first_down(sw); down < end_link(sw); ++down)
        wanted_[down] |= fresh & at(links_[down].to)[length];
    }
    reached_.swap(next_);
  }
  return true;
}

// When a switch's turn comes, all above it are as they will stay.
template <class Room>
bool BatchSearch::find_climbs(Room room) {
  std::uint64_t* const lengths = lengths_.data();
  for (const SwitchIdx sw : order_) {
    std::uint64_t* const own = at_.data() + sw.value() * room;
    std::uint64_t rest = all_ & ~entered_[sw];
    std::fill_n(lengths, std::size_t{room}, 0);
    std::uint64_t climbs = 0, only_climbs = 0;
    if (rest != 0) {
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const std::uint64_t* const above = at_.data() + links_[up].to.value() * room;
        for (std::size_t length = 0; length < room; ++length) lengths[length] |= above[length];
      }
      for (std::size_t length = 0; length + 1 < room; ++length) {
        rest &= ~own[length];
        lengths[length] &= rest;
        rest &= ~lengths[length];
        climbs |= lengths[length];
        only_climbs |= lengths[length] & ~own[length + 1];
      }
      if ((lengths[room - 1] & rest) != 0) return false;
      lengths[room - 1] = 0;
    }
    if (climbs != 0) {
      for (std::size_t length = room - 1; length > 0; --length)
        own[length] = (own[length] & ~only_climbs) | lengths[length - 1];
      for (std::uint32_t up = first_link(sw); up < first_down(sw); ++up) {
        const std::uint64_t* const above = at_.data() + links_[up].to.value() * room;
        std::uint64_t any = 0;
        for (std::size_t length = 0; length < room; ++length)
          any |= above[length] & lengths[length];
        wanted_[up] = any;
      }
    }
    if (descends_[sw] == 0) continue;
    for (std::uint32_t down = first_down(sw); down < end_link(sw); ++down) {
      wanted_[down] &= ~only_climbs;
      entered_[links_[down].to] |= wanted_[down];
    }
  }
  return true;
}

TreeWriter::TreeWriter(const TreeFabric& tree, const BatchSearch& search)
    : tree_(tree),
      search_(search),
      slot_(tree.shape.levels.size()),
      has_narrow_(tree.graph.switches(), 0),
      narrow_ends_(tree.shape.levels.size()),
      narrow_below_(tree.graph.switches(), 0),
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
      const std::uint32_t other = tree.shape.level[search.link(link).to];
      kind_.push_back(other == own ? kLevel : other > own ? kUp : kDown);
    }
  }
  narrow_.assign(kind_.size(), 0);
  for (const SwitchIdx sw : tree.guids.indices()) find_narrow(sw);
}

void TreeWriter::find_narrow(SwitchIdx child) {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(child);
  for (const UpSlots::Slot& missing : slots) {
    if (missing.edge != kUnreached) continue;
    const auto left = std::ranges::find_if(slots, [&](const UpSlots::Slot& slot) {
      return slot.edge != kUnreached && slot.parent == missing.parent;
    });
    if (left == slots.end()) continue;
    const SwitchIdx parent = tree_.graph.edge(left->edge).to;
    for (std::uint32_t link = search_.first_link(parent); link < search_.end_link(parent); ++link)
      narrow_[link] = narrow_[link] || search_.link(link).to == child;
    has_narrow_[child] = 1;
    any_narrow_ = true;
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
            {Lid{static_cast<std::uint16_t>(target.base.value() + offset)}, target.egress});
    }
  }
  if (!any_narrow_) return;
  std::ranges::fill(narrow_ends_, 0);
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const SwitchIdx sw = destinations[i];
    if (sw != kNone<SwitchIdx> && has_narrow_[sw])
      narrow_ends_[tree_.shape.level[sw]] |= std::uint64_t{1} << i;
  }
  for (const SwitchIdx sw : tree_.guids.indices()) {
    narrow_below_[sw] = 0;
    for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
      if (narrow_[link]) narrow_below_[sw] |= search_.wanted(link);
    }
  }
}

template <class Row, class PortOf>
void TreeWriter::put_all(std::uint64_t which, Row& row, PortOf&& port_of) {
  for (; which != 0; which &= which - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(which));
    for (const Entry& entry : entries_[bit]) put(row, entry.lid, port_of(entry, bit));
  }
}

template <class Row>
void TreeWriter::write(SwitchIdx sw, std::uint64_t which, Row row) {
  if (bit_[sw] != BatchSearch::kBatch) {
    const std::uint64_t own = which & std::uint64_t{1} << bit_[sw];
    put_all(own, row, [](const Entry& entry, unsigned) { return entry.egress; });
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
  put_all(which & ~once, row, [](const Entry&, unsigned) { return kNoRoute; });
  // Down the only path there is, or up by any slot: no need to ask for each LID what is allowed.
  std::uint64_t rest = twice;
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    const std::uint64_t alone = search_.wanted(link) & which & ~twice;
    if (alone == 0) continue;
    const BatchSearch::Link& only = search_.link(link);
    if (only.parallel == 1) {
      const PortNum port = tree_.graph.edge(only.edge).port;
      put_all(alone, row, [&](const Entry&, unsigned) { return port; });
    } else if (kind_[link] == kDown && is_regular(only.to)) {
      descend(sw, only, alone, row);
    } else {
      rest |= alone;
    }
  }
  if (const std::uint64_t any = rest & up & every_up & ~other & ~meets_gaps(sw);
      any != 0 && is_regular(sw)) {
    climb(sw, any, row);
    rest &= ~any;
  }
  put_all(rest, row, [&](const Entry& entry, unsigned bit) { return choose(sw, bit, entry.lid); });
}

std::uint64_t TreeWriter::meets_gaps(SwitchIdx sw) const {
  if (!any_narrow_) return 0;
  std::uint64_t all = narrow_ends_[tree_.shape.level[sw]];
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    if (kind_[link] == kUp) all |= search_.wanted(link) & narrow_below_[search_.link(link).to];
  }
  return all;
}

bool TreeWriter::is_regular(SwitchIdx sw) const {
  const std::uint32_t level = tree_.shape.level[sw];
  return !slot_[level].empty() && tree_.slots.of(sw).size() == tree_.slots.count(level);
}

template <class Row>
void TreeWriter::climb(SwitchIdx sw, std::uint64_t which, Row& row) {
  Ports ports;
  std::size_t count = 0;
  for (const UpSlots::Slot& slot : tree_.slots.of(sw)) ports[count++] = slot.port;
  const std::uint8_t* const slot_of = slot_[tree_.shape.level[sw]].data();
  put_all(which, row, [&](const Entry& entry, unsigned bit) {
    const PortNum port = ports[slot_of[entry.lid.value()]];
    return port != kNoRoute ? port : choose_up(sw, bit, tree_.number[entry.lid.value()], false);
  });
}

// Over the cable by which the number would climb from the child.
template <class Row>
void TreeWriter::descend(SwitchIdx sw,
                         const BatchSearch::Link& link,
                         std::uint64_t which,
                         Row& row) {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(link.to);
  Ports ports;
  ports.fill(kNoRoute);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].edge != kUnreached && tree_.graph.edge(slots[slot].edge).to == sw)
      ports[slot] = tree_.graph.edge(slots[slot].edge).peer_port;
  }
  const std::uint8_t* const slot_of = slot_[tree_.shape.level[link.to]].data();
  put_all(which, row, [&](const Entry& entry, unsigned) {
    const PortNum port = ports[slot_of[entry.lid.value()]];
    return port != kNoRoute ? port : choose_down(sw, link, tree_.number[entry.lid.value()]);
  });
}

PortNum TreeWriter::choose(SwitchIdx sw, unsigned bit, Lid lid) const {
  const std::uint64_t number = tree_.number[lid.value()];
  std::array<std::uint64_t, 3> links{};
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link)
    links[kind_[link]] += allows(link, bit);
  const std::uint8_t kind = links[kDown] != 0 ? kDown : links[kUp] != 0 ? kUp : kLevel;
  if (kind == kUp) return choose_up(sw, bit, number, links[kUp] > 1);
  std::uint64_t skip = number / tree_.divider[tree_.shape.level[sw]] % links[kind];
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    if (kind_[link] != kind || !allows(link, bit) || skip-- != 0) continue;
    const BatchSearch::Link& chosen = search_.link(link);
    return kind == kDown ? choose_down(sw, chosen, number) : tree_.graph.edge(chosen.edge).port;
  }
  return kNoRoute;
}

PortNum TreeWriter::choose_up(SwitchIdx sw,
                              unsigned bit,
                              std::uint64_t number,
                              bool has_other_parents) const {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(sw);
  const std::uint64_t digits = number / tree_.divider[tree_.shape.level[sw]];
  const auto is_allowed = [&](const UpSlots::Slot& slot) {
    return slot.edge != kUnreached && allows(search_.link_of(slot.edge), bit);
  };
  for (std::uint64_t i = 0; i < slots.size(); ++i) {
    const UpSlots::Slot& slot = slots[probe(digits, slots.size(), i, tree_.source[sw])];
    if (!is_allowed(slot)) continue;
    if (i == 0 && has_other_parents && meets_gap(sw, slot, bit, number)) continue;
    return slot.port;
  }
  // Slots are those of a level as it mostly is; what is cabled otherwise may have none.
  for (std::uint32_t link = search_.first_link(sw); link < search_.end_link(sw); ++link) {
    if (kind_[link] == kUp && allows(link, bit))
      return tree_.graph.edge(search_.link(link).edge).port;
  }
  return kNoRoute;
}

const UpSlots::Slot& TreeWriter::slot_of_number(SwitchIdx sw, std::uint64_t number) const {
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(sw);
  return slots[number / tree_.divider[tree_.shape.level[sw]] % slots.size()];
}

bool TreeWriter::meets_gap(SwitchIdx sw,
                           const UpSlots::Slot& slot,
                           unsigned bit,
                           std::uint64_t number) const {
  const SwitchIdx parent = tree_.graph.edge(slot.edge).to;
  bool descends = false;
  for (std::uint32_t link = search_.first_link(parent); link < search_.end_link(parent); ++link) {
    if (kind_[link] != kDown || !allows(link, bit)) continue;
    descends = true;
    if (!narrow_[link]) continue;
    const SwitchIdx child = search_.link(link).to;
    const UpSlots::Slot& way_down = slot_of_number(child, number);
    if (way_down.edge != kUnreached) continue;
    for (const UpSlots::Slot& other : tree_.slots.of(child)) {
      if (other.edge != kUnreached && tree_.graph.edge(other.edge).to == parent)
        return other.parent == way_down.parent;
    }
  }
  // Beyond the parents only the last cable is known: that of a leaf with as many above it.
  const SwitchIdx end = destinations_[bit];
  return !descends && has_narrow_[end] && tree_.shape.level[end] == tree_.shape.level[sw] &&
         slot_of_number(end, number).edge == kUnreached;
}

PortNum TreeWriter::choose_down(SwitchIdx sw,
                                const BatchSearch::Link& link,
                                std::uint64_t number) const {
  if (link.parallel == 1) return tree_.graph.edge(link.edge).port;
  // The child's slots to this parent: cables by round, missing ones included.
  const std::span<const UpSlots::Slot> slots = tree_.slots.of(link.to);
  const auto leads_here = [&](const UpSlots::Slot& slot) {
    return slot.edge != kUnreached && tree_.graph.edge(slot.edge).to == sw;
  };
  const auto here = std::find_if(slots.begin(), slots.end(), leads_here);
  // Slots lead one level up; cables that lead further have none.
  if (here == slots.end()) return tree_.graph.edge(link.edge).port;
  const std::uint16_t parent = here->parent;
  std::array<const UpSlots::Slot*, 256> parallel;
  std::uint64_t count = 0;
  for (const UpSlots::Slot& slot : slots) {
    if (slot.parent == parent && count < parallel.size()) parallel[count++] = &slot;
  }
  const std::uint64_t digits = number / tree_.divider[tree_.shape.level[sw]];
  for (std::uint64_t i = 0; i < count; ++i) {
    const UpSlots::Slot& slot = *parallel[probe(digits, count, i)];
    if (leads_here(slot)) return tree_.graph.edge(slot.edge).peer_port;
  }
  return tree_.graph.edge(link.edge).port;
}

template void TreeWriter::write(SwitchIdx, std::uint64_t, SharedRow);
template void TreeWriter::write(SwitchIdx, std::uint64_t, std::span<PortNum>);

}  // namespace smd
