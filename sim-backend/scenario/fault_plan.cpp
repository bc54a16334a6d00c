#include "sim-backend/scenario/fault_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "sim-backend/management/sim_fabric.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

enum class Kind : std::uint8_t { Link, Switch, Host };

struct Word {
  std::string_view text;
  Kind kind;
  bool up;
};

constexpr std::array kWords{Word{"link-down", Kind::Link, false},
                            Word{"link-up", Kind::Link, true},
                            Word{"switch-down", Kind::Switch, false},
                            Word{"switch-up", Kind::Switch, true},
                            Word{"host-down", Kind::Host, false},
                            Word{"host-up", Kind::Host, true}};

class Planner {
 public:
  Planner(const FabricSpec& spec, Picos earliest, const std::string& file)
      : spec_(spec), earliest_(earliest), file_(file) {}

  Parsed<FaultPlan> plan(const std::vector<FaultText>& texts) {
    for (const FaultText& text : texts) add(text);
    if (!wrong_.empty()) return tl::unexpected(std::move(wrong_));
    return std::move(out_);
  }

 private:
  struct State {
    FaultPlace place;
    bool up = true;
  };

  void complain(const FaultText& text, std::string message) {
    wrong_.push_back({file_, text.line, std::move(message)});
  }

  void add(const FaultText& text) {
    if (text.at < earliest_) {
      return complain(text,
                      fmt::format("a fault at {} us comes before the warm-up is over, at {} us",
                                  to_micros(text.at),
                                  to_micros(earliest_)));
    }
    if (text.at < last_) {
      return complain(text,
                      fmt::format("a fault at {} us goes back: the one before it is at {} us",
                                  to_micros(text.at),
                                  to_micros(last_)));
    }
    last_ = text.at;
    const Word& word = *std::ranges::find(kWords, text.what, &Word::text);
    FaultPlace place;
    if (const std::string why = find_place(text.where, word.kind, place); !why.empty()) {
      return complain(text, why);
    }
    // Both ends name the same link.
    FaultPlace known = place;
    if (place.is_link()) {
      const PortSpec& cable = spec_.nodes[place.node].ports[place.port.value()];
      if (cable.peer_node < place.node ||
          (cable.peer_node == place.node && cable.peer_port < place.port)) {
        known = {cable.peer_node, cable.peer_port};
      }
    }
    auto state = std::ranges::find(states_, known, &State::place);
    if (state == states_.end()) {
      state = states_.insert(state, {known, !word.up});
      if (word.up) out_.absent.push_back(place);
    }
    if (state->up == word.up) {
      return complain(text,
                      fmt::format("{} is {} already at {} us",
                                  text.where,
                                  word.up ? "up" : "down",
                                  to_micros(text.at)));
    }
    state->up = word.up;
    out_.faults.push_back({text.at, place, word.up, fmt::format("{} {}", text.what, text.where)});
  }

  /// What is wrong with it; empty when all is well.
  std::string find_place(const std::string& where, Kind kind, FaultPlace& out) const {
    const std::size_t colon = kind == Kind::Link ? where.rfind(':') : std::string::npos;
    if (kind == Kind::Link && colon == std::string::npos) {
      return fmt::format("{} names no link; write NODE:PORT", where);
    }
    const std::string name = where.substr(0, colon);
    out.node = find_node(spec_, name);
    if (out.node == kNoNode) return unknown(name);
    const NodeSpec& node = spec_.nodes[out.node];
    if (kind == Kind::Link) return find_port(node, where.substr(colon + 1), out.port);
    const bool is_switch = node.type == NodeType::Switch;
    if (is_switch != (kind == Kind::Switch)) {
      return fmt::format("{} is a {}", name, is_switch ? "switch" : "host");
    }
    if (out.node == spec_.sm_node) return name + " is where the manager sits";
    return "";
  }

  [[nodiscard]] std::string unknown(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const NodeSpec& node : spec_.nodes) names.push_back(node.description);
    return fmt::format("no node, or several, are called {}; the nearest name is {}",
                       name,
                       find_nearest(name, names));
  }

  static std::string find_port(const NodeSpec& node, std::string_view text, PortNum& out) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 1 ||
        number > node.num_ports()) {
      return fmt::format("{} has ports 1 to {}, not {}", node.description, node.num_ports(), text);
    }
    if (node.ports[number].peer_node == kNoNode) {
      return fmt::format("port {} of {} has no cable", number, node.description);
    }
    out = PortNum{static_cast<std::uint8_t>(number)};
    return "";
  }

  const FabricSpec& spec_;
  Picos earliest_;
  const std::string& file_;
  Picos last_ = 0;
  std::vector<State> states_;
  FaultPlan out_;
  Faults wrong_;
};

}  // namespace

std::string_view fault_grammar() {
  return "link-down, link-up, switch-down, switch-up, host-down or host-up";
}

bool is_fault_word(std::string_view what) {
  return std::ranges::find(kWords, what, &Word::text) != kWords.end();
}

Parsed<FaultPlan> plan_faults(const FabricSpec& spec,
                              const std::vector<FaultText>& texts,
                              Picos earliest,
                              const std::string& file) {
  return Planner(spec, earliest, file).plan(texts);
}

}  // namespace smd::sim
