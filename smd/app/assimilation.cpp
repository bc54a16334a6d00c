#include "smd/app/assimilation.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace smd {
namespace {

using Discovery = Assimilation::Discovery;
using Routes = Assimilation::Routes;
using Safety = Assimilation::Safety;

constexpr Assimilation kBasic{.discovery = Discovery::Full,
                              .routes = Routes::Fera,
                              .safety = Safety::DeactivateAll,
                              .whole_tables = true,
                              .literal = true};
constexpr Assimilation kImproved{.discovery = Discovery::Partial,
                                 .routes = Routes::PiraThenFera,
                                 .safety = Safety::CutDependencies,
                                 .whole_tables = true,
                                 .literal = true};

constexpr std::array<std::pair<std::string_view, Assimilation>, 4> kPresets{{
    {"certified", Assimilation{}},
    {"default", Assimilation{}},
    {"basic", kBasic},
    {"improved", kImproved},
}};

template <class T>
struct Word {
  std::string_view text;
  T Assimilation::*field;
  T value;
};

constexpr std::array<Word<Discovery>, 2> kDiscovery{{
    {"partial", &Assimilation::discovery, Discovery::Partial},
    {"full", &Assimilation::discovery, Discovery::Full},
}};
constexpr std::array<Word<Routes>, 4> kRoutes{{
    {"engine", &Assimilation::routes, Routes::Engine},
    {"fera", &Assimilation::routes, Routes::Fera},
    {"pira", &Assimilation::routes, Routes::Pira},
    {"pira-fera", &Assimilation::routes, Routes::PiraThenFera},
}};
constexpr std::array<Word<Safety>, 5> kSafety{{
    {"proved", &Assimilation::safety, Safety::Certified},
    {"cut-dependencies", &Assimilation::safety, Safety::CutDependencies},
    {"cut-ports", &Assimilation::safety, Safety::CutPorts},
    {"deactivate-all", &Assimilation::safety, Safety::DeactivateAll},
    {"none", &Assimilation::safety, Safety::None},
}};
constexpr std::array<Word<bool>, 2> kTables{{
    {"delta", &Assimilation::whole_tables, false},
    {"whole", &Assimilation::whole_tables, true},
}};
constexpr std::array<Word<bool>, 2> kActivation{{
    {"directed", &Assimilation::lid_routed_activation, false},
    {"lid-routed", &Assimilation::lid_routed_activation, true},
}};
constexpr std::array<Word<bool>, 2> kRequests{{
    {"lean", &Assimilation::literal, false},
    {"literal", &Assimilation::literal, true},
}};

/// What a text has said so far.
struct Said {
  std::set<const void*> lists;  // one word of each, or they contradict each other
  bool proved = false;          // "certified": every phase
};

/// False when the word is none of these, or another one of these was said before.
template <class Words>
bool apply(const Words& words, std::string_view text, Assimilation& out, Said& said) {
  const auto word = std::ranges::find_if(words, [&](const auto& w) { return w.text == text; });
  if (word == words.end() || !said.lists.insert(&words).second) return false;
  out.*(word->field) = word->value;
  return true;
}

template <class Words>
void append(const Words& words, const Assimilation& from, std::string& out) {
  for (const auto& word : words) {
    if (from.*(word.field) != word.value) continue;
    if (!out.empty()) out += '+';
    out += word.text;
  }
}

}  // namespace

std::optional<Assimilation> parse_assimilation(std::string_view text) {
  Assimilation out;
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
  if (said.proved && out.safety != Safety::Certified) return std::nullopt;
  return out;
}

std::string print_assimilation(const Assimilation& assimilation) {
  for (const auto& [name, preset] : kPresets) {
    if (preset == assimilation) return std::string(name);
  }
  std::string out;
  append(kDiscovery, assimilation, out);
  append(kRoutes, assimilation, out);
  append(kSafety, assimilation, out);
  append(kTables, assimilation, out);
  append(kActivation, assimilation, out);
  append(kRequests, assimilation, out);
  return out;
}

std::string_view assimilation_grammar() {
  return "certified, basic or improved, or words joined by '+', one of a kind, with one of these "
         "in front or not: partial or full; engine, fera, pira or pira-fera; proved, "
         "cut-dependencies, cut-ports, deactivate-all or none (not with certified); delta or "
         "whole; "
         "directed or lid-routed; lean or literal";
}

}  // namespace smd
