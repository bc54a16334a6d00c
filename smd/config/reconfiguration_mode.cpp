#include "smd/config/reconfiguration_mode.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace smd {

namespace {

using Discovery = ReconfigurationMode::Discovery;
using Routes = ReconfigurationMode::Routes;

constexpr ReconfigurationMode kBasic{.discovery = Discovery::Full,
                                     .routes = Routes::Fera,
                                     .safety = Deactivation::All,
                                     .whole_tables = true,
                                     .literal = true};
constexpr ReconfigurationMode kImproved{.discovery = Discovery::Partial,
                                        .routes = Routes::PiraThenFera,
                                        .safety = Deactivation::CutDependencies,
                                        .whole_tables = true,
                                        .literal = true};

constexpr std::array<std::pair<std::string_view, ReconfigurationMode>, 4> kPresets{{
    {"certified", ReconfigurationMode{}},
    {"default", ReconfigurationMode{}},
    {"basic", kBasic},
    {"improved", kImproved},
}};

template <class T>
struct Word {
  std::string_view text;
  T ReconfigurationMode::*field;
  T value;
};

constexpr std::array<Word<Discovery>, 2> kDiscovery{{
    {"partial", &ReconfigurationMode::discovery, Discovery::Partial},
    {"full", &ReconfigurationMode::discovery, Discovery::Full},
}};
constexpr std::array<Word<Routes>, 4> kRoutes{{
    {"engine", &ReconfigurationMode::routes, Routes::Engine},
    {"fera", &ReconfigurationMode::routes, Routes::Fera},
    {"pira", &ReconfigurationMode::routes, Routes::Pira},
    {"pira-fera", &ReconfigurationMode::routes, Routes::PiraThenFera},
}};
constexpr std::array<Word<Deactivation>, 5> kSafety{{
    {"proved", &ReconfigurationMode::safety, Deactivation::Certified},
    {"cut-dependencies", &ReconfigurationMode::safety, Deactivation::CutDependencies},
    {"cut-ports", &ReconfigurationMode::safety, Deactivation::CutPorts},
    {"deactivate-all", &ReconfigurationMode::safety, Deactivation::All},
    {"none", &ReconfigurationMode::safety, Deactivation::None},
}};
constexpr std::array<Word<bool>, 2> kTables{{
    {"delta", &ReconfigurationMode::whole_tables, false},
    {"whole", &ReconfigurationMode::whole_tables, true},
}};
constexpr std::array<Word<bool>, 2> kActivation{{
    {"directed", &ReconfigurationMode::lid_routed_activation, false},
    {"lid-routed", &ReconfigurationMode::lid_routed_activation, true},
}};
constexpr std::array<Word<bool>, 2> kRequests{{
    {"lean", &ReconfigurationMode::literal, false},
    {"literal", &ReconfigurationMode::literal, true},
}};

/// What a text has said so far.
struct Said {
  std::set<const void*> lists;  // one word of each, or they contradict each other
  bool proved = false;          // "certified": every phase
};

/// False when the word is none of these, or another one of these was said before.
template <class Words>
bool apply(const Words& words, std::string_view text, ReconfigurationMode& out, Said& said) {
  const auto word = std::ranges::find_if(words, [&](const auto& w) { return w.text == text; });
  if (word == words.end() || !said.lists.insert(&words).second) return false;
  out.*(word->field) = word->value;
  return true;
}

template <class Words>
void append(const Words& words, const ReconfigurationMode& from, std::string& out) {
  for (const auto& word : words) {
    if (from.*(word.field) != word.value) continue;
    if (!out.empty()) out += '+';
    out += word.text;
  }
}

}  // namespace

std::optional<ReconfigurationMode> parse_reconfiguration_mode(std::string_view text) {
  ReconfigurationMode out;
  Said said;
  for (bool first = true;; first = false) {
    const std::size_t plus = text.find('+');
    const std::string_view word = text.substr(0, plus);
    const auto preset = std::ranges::find(kPresets, word, &decltype(kPresets)::value_type::first);
    if (first && preset != kPresets.end()) {
      out = preset->second;
      said.proved = word == "certified";
    } else if (!apply(kDiscovery, word, out, said) && !apply(kRoutes, word, out, said) &&
               !apply(kSafety, word, out, said) && !apply(kTables, word, out, said) &&
               !apply(kActivation, word, out, said) && !apply(kRequests, word, out, said)) {
      return std::nullopt;
    }
    if (plus == std::string_view::npos) break;
    text.remove_prefix(plus + 1);
  }
  if (said.proved && out.safety != Deactivation::Certified) return std::nullopt;
  return out;
}

std::string print_reconfiguration_mode(const ReconfigurationMode& mode) {
  for (const auto& [name, preset] : kPresets) {
    if (preset == mode) return std::string(name);
  }
  std::string out;
  append(kDiscovery, mode, out);
  append(kRoutes, mode, out);
  append(kSafety, mode, out);
  append(kTables, mode, out);
  append(kActivation, mode, out);
  append(kRequests, mode, out);
  return out;
}

std::string_view reconfiguration_mode_grammar() {
  return "certified, basic or improved, or words joined by '+', one of a kind, with one of these "
         "in front or not: partial or full; engine, fera, pira or pira-fera; proved, "
         "cut-dependencies, cut-ports, deactivate-all or none (not with certified); delta or "
         "whole; "
         "directed or lid-routed; lean or literal";
}

}  // namespace smd
