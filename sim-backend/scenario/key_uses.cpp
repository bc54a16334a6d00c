#include "sim-backend/scenario/key_uses.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace smd::sim {
namespace {

struct KeyUse {
  std::string_view of;  // when the keys act, as a sentence has it
  bool (*acts)(const Scenario&);
  std::array<std::string_view, 6> keys{};  // those beyond are empty
};

bool is_open(const Scenario& s) { return !s.traffic.collective && s.traffic.trace.empty(); }

/// Until a mean is known, or messages have come.
bool is_measured(const Scenario& s) { return is_open(s) && !s.is_managed(); }

bool has_pattern(const Scenario& s, std::initializer_list<std::string_view> names) {
  return is_open(s) && std::ranges::find(names, s.traffic.pattern) != names.end();
}

bool arrives_by(const Scenario& s, std::initializer_list<ArrivalKind> kinds) {
  return is_open(s) && std::ranges::find(kinds, s.traffic.arrivals.kind) != kinds.end();
}

bool has_rule(const Scenario& s, std::initializer_list<RuleKind> but) {
  return s.routes.has_rule() && std::ranges::find(but, s.routes.rule.rule) == but.end();
}

bool marks_by(const Scenario& s, std::initializer_list<MarkingKind> kinds) {
  return std::ranges::find(kinds, s.congestion.marking) != kinds.end();
}

bool has_window(const Scenario& s) {
  return s.congestion.reaction == ReactionKind::Window &&
         s.congestion.window.kind != WindowKind::None;
}

/// Sources hear of marks.
bool tells_marks(const Scenario& s) {
  return s.congestion.marking != MarkingKind::None && s.congestion.echo != EchoKind::None;
}

/// It begins without a gap, and marks alone make one.
bool has_pace(const Scenario& s) {
  return s.congestion.reaction == ReactionKind::Window && s.congestion.pace != PaceKind::None &&
         tells_marks(s);
}

bool has_slots(const Scenario& s) { return has_pace(s) && s.congestion.pace == PaceKind::Slots; }

bool has_table(const Scenario& s) { return s.congestion.reaction == ReactionKind::Iba; }

/// Of the two systems of source routes any that `is` is true of.
template <class Is>
bool any_system(const Scenario& s, Is is) {
  return is(s.worm.system) || (!s.worm.second.empty() && is(s.worm.second));
}

bool passes_on(const Scenario& s) {
  return !s.worm.algorithm.empty() ||
         any_system(s, [](std::string_view name) { return name.ends_with("ITB"); });
}

constexpr KeyUse kKeyUses[] = {
    {"switches with output buffers (switch.output_buffers)",
     [](const Scenario& s) { return s.packet.switches.output_buffers; },
     {"switch.output_buffer"}},
    {"networks with a [[group]]",
     [](const Scenario& s) { return !s.groups.empty(); },
     {"switch.copies"}},
    {"adapter.queues = \"hashed\"",
     [](const Scenario& s) { return s.packet.adapters.waiting == SourceQueues::Hashed; },
     {"adapter.hashed_queues"}},
    {"adapter.queues = \"pool\"",
     [](const Scenario& s) { return s.packet.adapters.waiting == SourceQueues::Pool; },
     {"adapter.pool"}},
    {"cables of groups: cable.group = so many switches",
     [](const Scenario& s) { return s.packet.links.group_switches > 0; },
     {"cable.within_groups_ns", "cable.between_groups_ns"}},
    {"fabric.engine = \"updn\", \"auto\", or fabric.path_sets",
     [](const Scenario& s) {
       return s.program.engine == "updn" || s.program.engine == "auto" || s.program.path_sets;
     },
     {"fabric.orientation"}},

    {"a rule: routes.rule",
     [](const Scenario& s) { return has_rule(s, {}); },
     {"routes.dims", "routes.group"}},
    {"rules that weigh minimal ways against others",
     [](const Scenario& s) {
       return has_rule(s, {RuleKind::Minimal, RuleKind::MinimalAdaptive, RuleKind::Valiant});
     },
     {"routes.threshold"}},
    {"rules that go by a place that is drawn",
     [](const Scenario& s) {
       return has_rule(s, {RuleKind::Minimal, RuleKind::MinimalAdaptive, RuleKind::Dal});
     },
     {"routes.valiant", "routes.among"}},
    {"rules but min-adaptive and dal, which take the shortest queue",
     [](const Scenario& s) {
       return has_rule(s, {RuleKind::MinimalAdaptive, RuleKind::Dal});
     },
     {"routes.trunk", "routes.gateway"}},

    {"routes.choose = \"size\"",
     [](const Scenario& s) { return s.worm.choice.kind == RouteChoiceKind::Size; },
     {"routes.small"}},
    {"routes.choose = \"share\"",
     [](const Scenario& s) { return s.worm.choice.kind == RouteChoiceKind::Share; },
     {"routes.share"}},
    {"routes.choose = \"contention\" between two sets: routes.second",
     [](const Scenario& s) {
       return s.worm.choice.kind == RouteChoiceKind::Contention && !s.worm.second.empty();
     },
     {"routes.margin"}},
    {"systems with breadth-first orders: UD, UD_MITB, UD_ITB",
     [](const Scenario& s) {
       return any_system(s, [](std::string_view name) { return name.starts_with("UD"); });
     },
     {"routes.root"}},
    {"systems with candidates, all but SMART_LIKE",
     [](const Scenario& s) {
       return any_system(s, [](std::string_view name) { return name != "SMART_LIKE"; });
     },
     {"routes.per_pair"}},
    {"systems whose hosts pass messages on, …ITB",
     passes_on,
     {"routes.itb_host",
      "nic.detection",
      "nic.dma",
      "nic.memory",
      "nic.local_after",
      "nic.local_marks"}},
    {"worm.flow = \"stop-and-go\"",
     [](const Scenario& s) { return s.worm.options.flow == WormFlow::StopAndGo; },
     {"worm.stop", "worm.go"}},
    {"messages to several hosts: routes.algorithm",
     [](const Scenario& s) { return !s.worm.algorithm.empty(); },
     {"worm.copies"}},

    {"patterns: a collective or a trace has no load",
     is_open,
     {"traffic.load", "traffic.load_unit", "traffic.arrivals"}},
    {"patterns: a collective has traffic.bytes, a trace its own", is_open, {"traffic.size"}},
    {"patterns", is_open, {"traffic.destinations"}},
    {"arrivals \"on-off\" and \"self-similar\"",
     [](const Scenario& s) {
       return arrives_by(s, {ArrivalKind::OnOff, ArrivalKind::SelfSimilar});
     },
     {"traffic.burst"}},
    {"arrivals \"self-similar\"",
     [](const Scenario& s) { return arrives_by(s, {ArrivalKind::SelfSimilar}); },
     {"traffic.shape"}},
    {"arrivals \"bernoulli\"",
     [](const Scenario& s) { return arrives_by(s, {ArrivalKind::Bernoulli}); },
     {"traffic.slot_ns"}},
    {"patterns where it is random",
     [](const Scenario& s) { return is_open(s) || s.traffic.sl_choice != SlChoice::Random; },
     {"traffic.sl"}},
    {"patterns where it is any",
     [](const Scenario& s) { return is_open(s) || !s.traffic.any_lid; },
     {"traffic.lid"}},
    {"patterns with messages to several hosts: a [[group]], or traffic.destinations of 2 or more",
     [](const Scenario& s) {
       return is_open(s) && (!s.groups.empty() || s.traffic.destinations > 1);
     },
     {"traffic.multicast_share"}},
    {"the patterns hot-spot and combined",
     [](const Scenario& s) {
       return has_pattern(s, {"hot-spot", "combined"});
     },
     {"traffic.share"}},
    {"the patterns hot-spot, incast and combined",
     [](const Scenario& s) {
       return has_pattern(s, {"hot-spot", "incast", "combined"});
     },
     {"traffic.targets"}},
    {"the patterns local and combined",
     [](const Scenario& s) {
       return has_pattern(s, {"local", "combined"});
     },
     {"traffic.radius"}},
    {"the patterns mdn and tornado",
     [](const Scenario& s) {
       return has_pattern(s, {"mdn", "tornado"});
     },
     {"traffic.dims"}},
    {"the pattern adv+1",
     [](const Scenario& s) { return has_pattern(s, {"adv+1"}); },
     {"traffic.group"}},
    {"a collective",
     [](const Scenario& s) { return s.traffic.collective.has_value(); },
     {"traffic.bytes"}},

    {"patterns without measure.warm_up_messages, and of networks that change",
     [](const Scenario& s) {
       return s.is_managed() || (is_open(s) && s.measure.plan.warm_up_messages == 0);
     },
     {"measure.warm_up_us"}},
    {"patterns without measure.messages, and of networks that change",
     [](const Scenario& s) {
       return s.is_managed() || (is_open(s) && s.measure.plan.messages == 0);
     },
     {"measure.least_intervals"}},
    {"patterns without measure.messages in a network that does not change",
     has_most_intervals,
     {"measure.most_intervals"}},
    {"patterns in a network that does not change",
     is_measured,
     {"measure.precision", "measure.warm_up_messages", "measure.messages"}},
    {"patterns: a collective or a trace has no load that could be stable",
     [](const Scenario& s) { return is_open(s) || !s.measure.saturation; },
     {"measure.saturation"}},
    {"measure.saturation = true",
     [](const Scenario& s) { return s.measure.saturation; },
     {"measure.tolerance"}},
    {"a collective, a trace, a network that changes",
     [](const Scenario& s) { return !is_open(s) || s.is_managed(); },
     {"measure.limit_us"}},

    {"the markings ipm, iopm and mvpm",
     [](const Scenario& s) {
       return marks_by(s, {MarkingKind::Ipm, MarkingKind::Iopm, MarkingKind::Mvpm});
     },
     {"congestion.input_percent"}},
    {"the markings opm, iopm and mvpm",
     [](const Scenario& s) {
       return marks_by(s, {MarkingKind::Opm, MarkingKind::Iopm, MarkingKind::Mvpm});
     },
     {"congestion.output_percent"}},
    {"the marking iba",
     [](const Scenario& s) { return marks_by(s, {MarkingKind::Iba}); },
     {"congestion.threshold",
      "congestion.marking_rate",
      "congestion.packet_size",
      "congestion.victims"}},
    {"the reaction iba", has_table, {"congestion.ccti_min"}},
    {"the reaction iba where sources hear of marks: congestion.marking, congestion.echo",
     [](const Scenario& s) { return has_table(s) && tells_marks(s); },
     {"congestion.ccti_increase", "congestion.ccti_timer"}},
    {"the reaction iba where sources hear of marks (congestion.marking, congestion.echo), or with "
     "congestion.ccti_min",
     [](const Scenario& s) {
       return has_table(s) && (tells_marks(s) || s.congestion.iba.least > 0);
     },
     {"congestion.ccti_limit", "congestion.per_sl"}},
    {"the reaction window",
     [](const Scenario& s) { return s.congestion.reaction == ReactionKind::Window; },
     {"congestion.window"}},
    {"the reaction window where sources hear of marks: congestion.marking, congestion.echo",
     [](const Scenario& s) {
       return s.congestion.reaction == ReactionKind::Window && tells_marks(s);
     },
     {"congestion.pace"}},
    {"a static or dynamic window",
     [](const Scenario& s) {
       return has_window(s) && s.congestion.window.kind != WindowKind::Fractional;
     },
     {"congestion.window_packets"}},
    {"a fractional window",
     [](const Scenario& s) {
       return has_window(s) && s.congestion.window.kind == WindowKind::Fractional;
     },
     {"congestion.window_mean"}},
    {"a window, or a pace where sources hear of marks",
     [](const Scenario& s) { return has_window(s) || has_pace(s); },
     {"congestion.scope"}},
    {"a pace, or a window that is not static, where sources hear of marks",
     [](const Scenario& s) {
       return has_pace(s) || (has_window(s) && s.congestion.window.reacts() && tells_marks(s));
     },
     {"congestion.recovery"}},
    {"the pace slots where sources hear of marks",
     has_slots,
     {"congestion.radix", "congestion.cap", "congestion.round_trip_ns"}},
    {"the pace slots with a cap (congestion.cap) where sources hear of marks",
     [](const Scenario& s) { return has_slots(s) && s.congestion.cap != cc::WaitCap::None; },
     {"congestion.stages"}},
    {"the pace pfister where sources hear of marks",
     [](const Scenario& s) { return has_pace(s) && s.congestion.pace == PaceKind::Pfister; },
     {"congestion.hot_sources"}},
};

}  // namespace

bool has_most_intervals(const Scenario& s) {
  return is_measured(s) && s.measure.plan.messages == 0;
}

Faults find_idle_keys(const Scenario& s) {
  Faults out;
  for (const KeyUse& use : kKeyUses) {
    if (use.acts(s)) continue;
    for (const std::string_view key : use.keys) {
      const int line = s.line_of(key);
      if (line == 0) continue;
      out.push_back({s.file,
                     line,
                     fmt::format("{} has no effect here: it is of {}; leave it out", key, use.of)});
    }
  }
  if (!s.traffic.trace.empty() && !s.groups.empty()) {
    out.push_back({s.file,
                   s.groups.front().line,
                   "a [[group]] is of patterns and collectives: a trace sends to hosts"});
  }
  return out;
}

}  // namespace smd::sim
