#include "sim-backend/experiments/change/technique_claims.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/published.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "T25-full",
     .text = "full deactivation throws away the published number of packets for a new switch",
     .source = "thesis, Table 25"},
    {.id = "H17-ports",
     .text = "for a new switch cut-node ports throw away a fraction of what full deactivation does",
     .source = "thesis, Table 25"},
    {.id = "H17-dependencies",
     .text = "for a new switch cut-node dependencies throw away a few percent of it",
     .source = "thesis, Table 25"},
    {.id = "H17-none",
     .text = "for a new switch cut-node dependencies hardly throw away more than doing nothing",
     .source = "thesis, Table 25"},
    {.id = "H18-ports",
     .text = "for a dead switch cut-node ports throw away most of what full deactivation does",
     .source = "thesis, Table 25"},
    {.id = "H18-dependencies",
     .text = "and cut-node dependencies hardly less",
     .source = "thesis, Table 25"},
    {.id = "H18-rest",
     .text = "for by far the most of it is lost at the dead switch's ports, whatever is done",
     .source = "thesis, Table 25"},
    {.id = "H20",
     .text = "blocked turns throw away fewer packets than deactivated ports do",
     .source = "thesis, Figures 95 to 98"},
    {.id = "H14-activation",
     .text = "provisional routes throw away a little more for a new switch",
     .source = "thesis, Table 22"},
    {.id = "H14-deactivation",
     .text = "provisional routes throw away fewer packets for a dead switch of larger networks",
     .source = "thesis, Table 22"},
    {.id = "certified-activation",
     .text = "with certified transitions a new switch costs no packet",
     .source = "proved transitions",
     .must_hold = true},
    {.id = "certified-deactivation",
     .text = "with certified transitions a dead switch costs but what it takes with it",
     .source = "proved transitions",
     .must_hold = true},
};

/// Shares of what one mode loses on average in what another does, over groups.
struct Shares {
  double least = 1e9, most = 0;

  void add(double part, double whole) {
    least = std::min(least, part / whole);
    most = std::max(most, part / whole);
  }

  [[nodiscard]] std::string print() const {
    return fmt::format("{:.3f} to {:.3f} of it", least, most);
  }
};

}  // namespace

std::span<const ClaimSpec> technique_claims() { return kClaims; }

std::vector<Judgement> judge_techniques(std::span<const TechniqueGroup> groups) {
  Farthest full;
  Shares new_ports, new_turns, over_none, dead_ports, dead_turns, rest, turns, new_first,
      dead_first;
  double certified = 0, unexplained = 0;
  const auto lost = [](const TechniqueGroup& group, std::size_t m) {
    return group[m].discarded.mean();
  };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const TechniqueGroup& group = groups[g];
    const double whole = lost(group, kFullMode);
    turns.add(group[kDependenciesMode].of(Discard::Unmappable),
              std::max(1.0, group[kPortsMode].of(Discard::DeactivatedPort)));
    unexplained = std::max(unexplained, group[kCertifiedMode].unexplained.max());
    if (g % 2 == 0) {
      full.add(whole / kTable25[g / 2].discarded[kFullMode].activation);
      new_ports.add(lost(group, kPortsMode), whole);
      new_turns.add(lost(group, kDependenciesMode), whole);
      over_none.add(lost(group, kDependenciesMode) - lost(group, kNoneMode), whole);
      new_first.add(lost(group, kProvisionalMode), whole);
      certified = std::max(certified, group[kCertifiedMode].discarded.max());
      continue;
    }
    dead_ports.add(lost(group, kPortsMode), whole);
    dead_turns.add(lost(group, kDependenciesMode), whole);
    rest.add(group[kDependenciesMode].of(Discard::InactivePort), lost(group, kDependenciesMode));
    if (kTable25[g / 2].size.switches >= 16) dead_first.add(lost(group, kProvisionalMode), whole);
  }
  const bool larger = dead_first.most > 0;
  return {{.id = "T25-full",
           .measured = full.print(),
           .expected = "0.7 to 1.3 times",
           .holds = full.within(0.3)},
          {.id = "H17-ports",
           .measured = new_ports.print(),
           .expected = "0.05 to 0.45",
           .holds = new_ports.least >= 0.05 && new_ports.most <= 0.45},
          {.id = "H17-dependencies",
           .measured = new_turns.print(),
           .expected = "at most 0.10",
           .holds = new_turns.most <= 0.10},
          {.id = "H17-none",
           .measured = fmt::format("at most {:.3f} of full deactivation's more", over_none.most),
           .expected = "at most 0.01 more",
           .holds = over_none.most <= 0.01},
          {.id = "H18-ports",
           .measured = dead_ports.print(),
           .expected = "0.5 to 0.9",
           .holds = dead_ports.least >= 0.5 && dead_ports.most <= 0.9},
          {.id = "H18-dependencies",
           .measured = dead_turns.print(),
           .expected = "0.5 to 0.9",
           .holds = dead_turns.least >= 0.5 && dead_turns.most <= 0.9},
          {.id = "H18-rest",
           .measured = fmt::format("at least {:.3f}", rest.least),
           .expected = "at least 0.9",
           .holds = rest.least >= 0.9},
          {.id = "H20",
           .measured = turns.print(),
           .expected = "at most 0.5",
           .holds = turns.most <= 0.5},
          {.id = "H14-activation",
           .measured = new_first.print(),
           .expected = "1.00 to 1.15",
           .holds = new_first.least >= 1 && new_first.most <= 1.15},
          {.id = "H14-deactivation",
           .measured = larger ? dead_first.print() : "networks of 8 switches only",
           .expected = "less than 1 from 16 switches on",
           .holds = larger && dead_first.most < 1},
          {.id = "certified-activation",
           .measured = fmt::format("at most {:.0f} packets", certified),
           .expected = "none",
           .holds = certified == 0},
          {.id = "certified-deactivation",
           .measured = fmt::format("at most {:.0f} others", unexplained),
           .expected = "none",
           .holds = unexplained == 0}};
}

}  // namespace smd::sim
