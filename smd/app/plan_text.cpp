#include "smd/app/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::app {
namespace {

constexpr std::size_t kShown = 20;

template <class List, class Print>
void append_list(const char* title, const List& list, const Print& print, std::string& out) {
  if (list.empty()) return;
  out += fmt::format("  {} {}\n", title, list.size());
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i)
    out += fmt::format("    {}\n", print(list[i]));
  if (list.size() > kShown) out += fmt::format("    … {} more\n", list.size() - kShown);
}

std::string print_entry(const Fabric& fabric, const EntryChange& change) {
  const std::string& name = fabric.description[fabric.switch_node[change.sw]];
  if (change.egress == kNoRoute) return fmt::format("{} lid {} withdrawn", name, change.lid);
  return fmt::format("{} lid {} -> port {}", name, change.lid, change.egress);
}

}  // namespace

std::string print_transition(const Fabric& fabric, const TransitionPlan& plan) {
  std::string out = fmt::format("plan: {}, {} phases{}{}{}\n",
                                print_transition_kind(plan.kind),
                                plan.phases.size(),
                                plan.whole_tables ? ", whole tables" : "",
                                plan.why.empty() ? "" : ", ",
                                plan.why);
  const auto turn = [&](const Turn& each) { return print_turn(fabric, each); };
  const auto port = [&](PortIdx each) { return print_port(fabric, each); };
  const auto entry = [&](const EntryChange& each) { return print_entry(fabric, each); };
  unsigned number = 0;
  for (const TransitionPhase& phase : plan.phases) {
    out += fmt::format(
        "phase {}: {}\n", ++number, phase.certificate.size() == 0 ? "not proved" : "proved");
    append_list("turns blocked:", phase.block, turn, out);
    append_list("turns restored:", phase.restore, turn, out);
    append_list("ports deactivated:", phase.deactivate, port, out);
    if (phase.to_wanted) out += "  entries: all, in any order\n";
    append_list("entries:", phase.entries, entry, out);
    append_list("ports activated:", phase.activate, port, out);
  }
  append_list("turns that stay blocked:", plan.blocked, turn, out);
  return out;
}

}  // namespace smd::app
