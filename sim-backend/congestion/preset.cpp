#include "sim-backend/congestion/preset.h"

#include <algorithm>
#include <array>

namespace smd::sim {
namespace {

constexpr unsigned kOutputPercent = 90;  // of OPM, Pfister's

struct Row {
  std::string_view name;
  MarkingKind marking = MarkingKind::None;
  WindowKind window = WindowKind::None;
  unsigned most = 1;
  PaceKind pace = PaceKind::None;
  Recovery recovery = Recovery::Progressive;
};

constexpr std::array kWindowed{
    Row{"renato-window", MarkingKind::Rpm, WindowKind::Static, 1, PaceKind::None},
    Row{"renato", MarkingKind::Rpm, WindowKind::Static, 1, PaceKind::Lipd},
    Row{"renato-fimd", MarkingKind::Rpm, WindowKind::Static, 1, PaceKind::Fimd},
    Row{"pfister", MarkingKind::Opm, WindowKind::None, 1, PaceKind::Pfister},
    Row{"iocm", MarkingKind::Iopm, WindowKind::Dynamic, 0, PaceKind::Slots, Recovery::Immediate},
    Row{"mvcm", MarkingKind::Mvpm, WindowKind::Dynamic, 0, PaceKind::Slots, Recovery::Immediate},
};

template <class Kind>
struct Named {
  std::string_view name;
  Kind kind;
};

template <class Kind>
Named(const char*, Kind) -> Named<Kind>;  // clang 16 does not deduce it

constexpr std::array kMarkings{
    Named{"none", MarkingKind::None},
    Named{"ipm", MarkingKind::Ipm},
    Named{"rpm", MarkingKind::Rpm},
    Named{"opm", MarkingKind::Opm},
    Named{"iopm", MarkingKind::Iopm},
    Named{"mvpm", MarkingKind::Mvpm},
    Named{"iba", MarkingKind::Iba},
};

constexpr std::array kPaces{
    Named{"none", PaceKind::None},
    Named{"slots", PaceKind::Slots},
    Named{"fimd", PaceKind::Fimd},
    Named{"aimd", PaceKind::Aimd},
    Named{"lipd", PaceKind::Lipd},
    Named{"pfister", PaceKind::Pfister},
};

template <class Kind, std::size_t Count>
bool find_named(const std::array<Named<Kind>, Count>& rows, std::string_view name, Kind& out) {
  const auto found = std::ranges::find(rows, name, &Named<Kind>::name);
  if (found == rows.end()) return false;
  out = found->kind;
  return true;
}

std::unique_ptr<Marking> make_marking(const CongestionSpec& spec, std::uint32_t nodes) {
  switch (spec.marking) {
    case MarkingKind::None:
      return nullptr;
    case MarkingKind::Ipm:
      return mark_by_input(spec.thresholds);
    case MarkingKind::Rpm:
      return mark_by_full_input();
    case MarkingKind::Opm:
      return mark_by_output(spec.thresholds);
    case MarkingKind::Iopm:
      return mark_by_both(spec.thresholds);
    case MarkingKind::Mvpm:
      return mark_and_validate(spec.thresholds);
    case MarkingKind::Iba:
      return std::make_unique<IbMarking>(nodes);
  }
  return nullptr;
}

std::unique_ptr<Pace> make_pace(const CongestionSpec& spec, const FabricFacts& facts) {
  const unsigned hot = spec.hot_sources > 0 ? spec.hot_sources : facts.hosts / 5;
  switch (spec.pace) {
    case PaceKind::None:
      return nullptr;
    case PaceKind::Slots:
      return pace_by_slots(
          {.radix = spec.radix > 0 ? spec.radix : facts.radix,
           .stages = spec.stages > 0 ? spec.stages : facts.stages,
           .cap = spec.cap,
           .round_trip = spec.round_trip > 0 ? spec.round_trip : facts.round_trip});
    case PaceKind::Fimd:
      return pace_fimd();
    case PaceKind::Aimd:
      return pace_aimd();
    case PaceKind::Lipd:
      return pace_lipd();
    case PaceKind::Pfister:
      return pace_pfister(pfister_slot(hot, facts.switch_ports));
  }
  return nullptr;
}

}  // namespace

bool find_marking(std::string_view name, MarkingKind& out) {
  return find_named(kMarkings, name, out);
}

bool find_pace(std::string_view name, PaceKind& out) { return find_named(kPaces, name, out); }

std::string list_mechanisms() {
  std::string out = "none, standard";
  for (const Row& row : kWindowed) out += ", " + std::string(row.name);
  return out;
}

bool find_mechanism(std::string_view name, CongestionSpec& out) {
  if (name == "none") {
    out = {};
    return true;
  }
  if (name == "standard") {
    out = {.marking = MarkingKind::Iba,
           .echo = EchoKind::Notifications,
           .reaction = ReactionKind::Iba};
    return true;
  }
  const auto row = std::ranges::find(kWindowed, name, &Row::name);
  if (row == kWindowed.end()) return false;
  out = {.marking = row->marking,
         .echo = EchoKind::Acknowledgements,
         .reaction = ReactionKind::Window,
         .window = {.kind = row->window, .most = row->most},
         .pace = row->pace,
         .recovery = row->recovery};
  if (row->marking == MarkingKind::Opm) out.thresholds.output = kOutputPercent;
  return true;
}

CongestionControl::CongestionControl(const CongestionSpec& spec, const FabricFacts& facts)
    : marking_(make_marking(spec, facts.nodes)) {
  if (spec.marking == MarkingKind::Iba) iba_marking_ = static_cast<IbMarking*>(marking_.get());
  if (spec.echo != EchoKind::None) {
    echo_ = spec.echo == EchoKind::Acknowledgements ? acknowledge(kAckPayload, facts.reply_sl)
                                                    : notify(kCnpPayload, facts.reply_sl);
  }
  if (spec.reaction == ReactionKind::Window) {
    WindowRule rule = spec.window;
    if (rule.most == 0) rule.most = facts.window;
    auto window = std::make_unique<WindowReaction>(
        facts.hosts,
        WindowOptions{
            .window = rule,
            .pace = make_pace(spec, facts),
            .recovery = spec.recovery,
            .scope = spec.scope,
            .two_bits = spec.marking == MarkingKind::Iopm || spec.marking == MarkingKind::Mvpm});
    window_ = window.get();
    reaction_ = std::move(window);
  } else if (spec.reaction == ReactionKind::Iba) {
    auto iba = std::make_unique<IbReaction>(facts.hosts);
    iba_reaction_ = iba.get();
    reaction_ = std::move(iba);
  }
  set_registers(spec.iba, facts);
}

void CongestionControl::set_registers(const IbaSpec& spec, const FabricFacts& facts) {
  if (iba_marking_ != nullptr) {
    IbSwitchRegisters registers;
    registers.setting.threshold = static_cast<std::uint8_t>(spec.threshold);
    registers.setting.packet_size = static_cast<std::uint8_t>(spec.packet_size);
    registers.setting.marking_rate = static_cast<std::uint16_t>(spec.marking_rate);
    std::vector<IbSwitchRegisters> each(facts.nodes, registers);
    for (const auto& [node, port] : facts.host_ports) {
      if (spec.victims) each[node].setting.victim_mask.set(PortNum{port});
    }
    for (std::uint32_t node = 0; node < facts.nodes; ++node) iba_marking_->set(node, each[node]);
  }
  if (iba_reaction_ == nullptr) return;
  IbCaRegisters registers;
  registers.limit = static_cast<std::uint16_t>(spec.limit);
  for (unsigned i = 0; i <= spec.limit; ++i) registers.table.push_back(cc::encode_delay(i));
  registers.setting.port_control = spec.per_sl ? 1 : 0;
  registers.setting.entries.fill({.timer = static_cast<std::uint16_t>(spec.timer),
                                  .increase = static_cast<std::uint8_t>(spec.increase),
                                  .min = static_cast<std::uint8_t>(spec.least)});
  for (HostNum host = 0; host < facts.hosts; ++host) iba_reaction_->set(host, registers);
}

CongestionHooks CongestionControl::hooks() const {
  return {.marking = marking_.get(), .echo = echo_.get(), .reaction = reaction_.get()};
}

}  // namespace smd::sim
