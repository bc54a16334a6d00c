// The flood of the thesis, to the letter: an oracle for the engine, written from the text and not
// from the engine. One destination; entries in the order in which they are found.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"

namespace smd::test {

struct FeraEntry {
  SwitchIdx sw;
  PortNum port;
  unsigned distance;
};

inline bool fera_above(const Fabric& f, const Orientation& o, SwitchIdx a, SwitchIdx b) {
  return std::pair(o.rank[a], f.node_guid[f.switch_node[a]]) <
         std::pair(o.rank[b], f.node_guid[f.switch_node[b]]);
}

/// `replaced` tells whether an entry was found twice: the distances of those that had counted on
/// the first one are stale then.
inline std::vector<FeraEntry> fera_flood(
    const Fabric& f, const LidMap& lids, const Orientation& o, Lid lid, bool* replaced = nullptr) {
  const NodeIdx d = f.node_of[lids.owner_of(lid)];
  // Hosts hang below their switch: a link from a host to a switch goes up.
  const auto goes_down = [&](NodeIdx x, NodeIdx y) {
    if (!f.is_switch(y)) return true;
    if (!f.is_switch(x)) return false;
    return fera_above(f, o, f.switch_of[x], f.switch_of[y]);
  };

  struct Offer {
    NodeIdx x;
    PortIdx out;  // of x, towards y
    NodeIdx y;
    unsigned length;
  };

  std::deque<Offer> offers;
  const auto offer_to_neighbours = [&](NodeIdx x, NodeIdx except, unsigned length, auto&& allowed) {
    for (const PortIdx p : f.external_ports(x)) {
      const PortIdx far = f.peer[p];
      if (far == kNone<PortIdx>) continue;
      const NodeIdx n = f.node_of[far];
      if (n == x || n == except || !f.is_switch(n) || !allowed(n)) continue;
      offers.push_back({n, far, x, length});
    }
  };

  std::vector<NodeIdx> order;
  std::map<NodeIdx, std::pair<std::pair<bool, unsigned>, PortNum>> found;
  std::vector<FeraEntry> entries;
  if (f.is_switch(d)) entries.push_back({f.switch_of[d], PortNum{0}, 0});
  offer_to_neighbours(d, d, 1, [](NodeIdx) { return true; });
  while (!offers.empty()) {
    const Offer offer = offers.front();
    offers.pop_front();
    if (offer.x == d) continue;
    const bool down = goes_down(offer.x, offer.y);
    const std::pair key{!down, offer.length};
    const auto known = found.find(offer.x);
    if (known != found.end() && known->second.first <= key) continue;
    if (known == found.end()) {
      order.push_back(offer.x);
    } else if (replaced != nullptr) {
      *replaced = true;
    }
    found[offer.x] = {key, f.number_of(offer.out)};
    offer_to_neighbours(offer.x, offer.y, offer.length + 1, [&](NodeIdx n) {
      return down || !goes_down(n, offer.x);
    });
  }
  for (const NodeIdx x : order)
    entries.push_back({f.switch_of[x], found[x].second, found[x].first.second});
  return entries;
}

}  // namespace smd::test
