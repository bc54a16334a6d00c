// Rules between options.
#include <fmt/core.h>
#include <netdb.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "smd/base/text.h"
#include "smd/config/options.h"
#include "smd/config/reconfiguration_mode.h"

namespace smd {

namespace {

using Broken = std::optional<std::string>;

/// The first VL of a table above `vls`, unless it is 15, which discards.
template <class Table, class VlOf>
std::optional<Vl> find_vl_beyond(const std::optional<Table>& table, unsigned vls, VlOf vl_of) {
  if (!table) return std::nullopt;
  for (const auto& entry : *table) {
    const Vl vl = std::invoke(vl_of, entry);
    if (vl.value() >= vls && vl != kManagementVl) return vl;
  }
  return std::nullopt;
}

std::uint64_t number_of(const Config& config, std::string_view name) {
  const auto option = std::ranges::find(config_options(), name, &ConfigOption::name);
  return option_kinds::parse_digits(option->print(config).value()).value();
}

/// Of two options that are decimal numbers.
ConfigRule not_above(std::string_view low, std::string_view high) {
  return {{std::string(low), std::string(high)}, [low, high](const Config& config) -> Broken {
            const std::uint64_t a = number_of(config, low), b = number_of(config, high);
            if (a <= b) return std::nullopt;
            return fmt::format("{} is {}; a number up to {}, which is {}", low, a, high, b);
          }};
}

/// The tables of one kind of port, or of all, name no VL that is not in use.
void add_vl_rules(std::vector<ConfigRule>& rules,
                  std::string_view prefix,
                  QosTableConfig QosConfig::*of) {
  const auto tables = [of](const Config& c) -> const QosTableConfig& {
    return of == nullptr ? c.qos : c.qos.*of;
  };
  const auto add = [&](std::string_view key, auto beyond) {
    const std::string option = fmt::format("qos.{}{}", prefix, key);
    rules.push_back({{option, "port.max_operational_vls"}, [=](const Config& c) -> Broken {
                       const unsigned vls = c.port.max_operational_vls;
                       const std::optional<Vl> vl = beyond(tables(c), vls);
                       if (!vl) return std::nullopt;
                       return fmt::format(
                           "{} names VL {}; a VL below port.max_operational_vls, which is {}",
                           option,
                           *vl,
                           vls);
                     }});
  };
  add("sl2vl", [](const QosTableConfig& t, unsigned vls) {
    return find_vl_beyond(t.sl2vl, vls, std::identity{});
  });
  add("vl_arb_high", [](const QosTableConfig& t, unsigned vls) {
    return find_vl_beyond(t.vl_arb_high, vls, &VlWeight::vl);
  });
  add("vl_arb_low", [](const QosTableConfig& t, unsigned vls) {
    return find_vl_beyond(t.vl_arb_low, vls, &VlWeight::vl);
  });
}

/// One list is of use; of a word that is none of its own the nearest one is said.
Broken find_wrong_path_sets(const Config& config) {
  constexpr std::string_view kSets[] = {"updn", "shortest"};
  const std::vector<std::string>& sets = config.sm.path_sets;
  for (const std::string& set : sets) {
    if (std::ranges::count(kSets, set) == 0)
      return fmt::format("sm.path_sets names {}; the nearest known set is \"{}\"",
                         quote_toml(set),
                         find_nearest(set, kSets));
  }
  if (sets.empty() || std::ranges::equal(sets, kSets)) return std::nullopt;
  return "sm.path_sets gives the first LID of a port one set and the others the other; "
         "[\"updn\", \"shortest\"], or []";
}

std::vector<ConfigRule> make_rules() {
  std::vector<ConfigRule> rules = {
      not_above("transport.retry_backoff_min_s", "transport.retry_backoff_max_s"),
      not_above("smp.window_min", "smp.window_start"),
      not_above("smp.window_start", "smp.window_max"),
      not_above("sm.lid_min", "sm.lid_max"),
      {{"sm.lid_max", "sm.lid_min", "sm.lmc"},
       [](const Config& c) -> Broken {
         const unsigned size = 1u << c.sm.lmc;
         const unsigned first = (c.sm.lid_min.value() + size - 1) / size * size;
         const bool holds = first + size - 1 <= c.sm.lid_max.value();
         if (holds || c.sm.lid_min > c.sm.lid_max) return std::nullopt;
         return fmt::format(
             "sm.lid_max is {}; at least {}, for the {} LIDs of the manager's own port (sm.lmc)",
             c.sm.lid_max.value(),
             first + size - 1,
             size);
       }},
      {{"sm.path_sets"}, find_wrong_path_sets},
      {{"sm.path_sets", "sm.lmc"},
       [](const Config& c) -> Broken {
         if (c.sm.path_sets.empty() || c.sm.lmc != 0) return std::nullopt;
         return "sm.path_sets is about LIDs beyond the first of a port; sm.lmc of 1 to 7";
       }},
      {{"sm.non_minimal", "sm.lmc"},
       [](const Config& c) -> Broken {
         if (c.sm.non_minimal != NonMinimal::AlmostMinimal || c.sm.lmc != 0) return std::nullopt;
         return "sm.non_minimal almost-minimal is about LIDs beyond the first of a port; sm.lmc of "
                "1 to 7";
       }},
      {{"sm.non_minimal", "sm.path_sets"},
       [](const Config& c) -> Broken {
         if (c.sm.non_minimal != NonMinimal::AlmostMinimal || c.sm.path_sets.empty())
           return std::nullopt;
         return "sm.non_minimal almost-minimal and sm.path_sets both say what LIDs beyond the "
                "first "
                "lead to; one of them";
       }},
      {{"sm.path_sets", "sm.engine"},
       [](const Config& c) -> Broken {
         if (c.sm.path_sets.empty()) return std::nullopt;
         for (const std::string& name : c.sm.engine) {
           const Engine* const engine = find_engine(name);
           if (engine == nullptr || engine->takes_path_sets()) continue;
           return fmt::format(
               "sm.path_sets and sm.engine {}, which makes no shortest paths on VLs of their own; "
               "dfsssp, itb-vl or lash",
               name);
         }
         return std::nullopt;
       }},
      {{"sm.path_sets", "sm.mode"},
       [](const Config& c) -> Broken {
         const auto mode = parse_reconfiguration_mode(c.sm.mode);
         if (c.sm.path_sets.empty() || !mode || mode->routes == ReconfigurationMode::Routes::Engine)
           return std::nullopt;
         return fmt::format(
             "sm.path_sets and sm.mode {}, whose routes are not by sm.engine; "
             "certified, or words without fera, pira and pira-fera",
             c.sm.mode);
       }},
      {{"sm.path_sets", "port.max_operational_vls"},
       [](const Config& c) -> Broken {
         if (c.sm.path_sets.empty() || c.port.max_operational_vls > 1) return std::nullopt;
         return "sm.path_sets takes VLs for each set of paths; port.max_operational_vls of 2 or "
                "more";
       }},
      not_above("sweep.debounce_ms", "sweep.debounce_max_ms"),
      {{"replica.listen", "replica.peers", "replica.certificate", "replica.key", "replica.ca"},
       [](const Config& c) -> Broken {
         const ReplicaConfig& r = c.replica;
         if (!r.enabled() || (!r.certificate.empty() && !r.key.empty() && !r.ca.empty()))
           return std::nullopt;
         return "replica.listen and replica.peers need certificates; set replica.certificate, "
                "replica.key and replica.ca";
       }},
      {{"smp.directed_only", "sm.mode"},
       [](const Config& c) -> Broken {
         const auto mode = parse_reconfiguration_mode(c.sm.mode);
         const bool by_lid = mode && (mode->literal || mode->lid_routed_activation);
         if (c.smp.directed_only != DirectedOnly::Yes || !by_lid) return std::nullopt;
         return fmt::format("sm.mode {} sends SMPs by LID; certified, or smp.directed_only \"no\"",
                            c.sm.mode);
       }},
      {{"sm.m_key", "sm.m_key_file"},
       [](const Config& c) -> Broken {
         if (c.sm.m_key == MKey{} || c.sm.m_key_file.empty()) return std::nullopt;
         return "sm.m_key and sm.m_key_file both say what M_Keys ports get; one of them: a line "
                "`key 0x...` of the file is as sm.m_key";
       }},
      {{"sm.m_key_protect", "sm.m_key", "sm.m_key_file"},
       [](const Config& c) -> Broken {
         if (c.sm.m_key_protect == 0 || c.sm.m_key != MKey{} || !c.sm.m_key_file.empty())
           return std::nullopt;
         return fmt::format(
             "sm.m_key_protect is {}; an sm.m_key that is not 0, or an "
             "sm.m_key_file, to protect with",
             c.sm.m_key_protect);
       }},
      {{"rest.listen", "rest.token_file", "rest.ca"},
       [](const Config& c) -> Broken {
         if (c.rest.listen.empty() || !c.rest.token_file.empty() || !c.rest.ca.empty())
           return std::nullopt;
         return "rest.listen lets whoever reaches it change partitions; set rest.token_file, or "
                "rest.certificate, rest.key and rest.ca";
       }},
      {{"rest.certificate", "rest.key", "rest.ca"},
       [](const Config& c) -> Broken {
         const RestConfig& r = c.rest;
         if (r.certificate.empty() == r.key.empty() && (r.ca.empty() || !r.certificate.empty()))
           return std::nullopt;
         return "TLS needs a certificate and its key; set both rest.certificate and rest.key";
       }},
      {{"rest.listen", "rest.certificate"},
       [](const Config& c) -> Broken {
         const auto at = parse_host_port(c.rest.listen);
         if (!at || !c.rest.certificate.empty()) return std::nullopt;
         const bool is_address = at->host.find_first_not_of("0123456789.") == std::string::npos;
         if ((is_address && at->host.starts_with("127.")) || at->host == "::1" ||
             at->host == "localhost")
           return std::nullopt;
         return fmt::format(
             "rest.listen is {}: tokens would cross the network in the clear; set rest.certificate "
             "and rest.key, or listen on 127.0.0.1, [::1] or a Unix socket, with TLS before it",
             c.rest.listen);
       }},
      {{"log.event_program", "log.event_level", "log.level"},
       [](const Config& c) -> Broken {
         constexpr std::string_view kLevels[] = {"debug", "info", "warn", "error", "off"};
         const auto rank = [&](std::string_view level) {
           return std::ranges::find(kLevels, level == "warning" ? "warn" : level);
         };
         if (c.log.event_program.empty() || rank(c.log.level) <= rank(c.log.event_level))
           return std::nullopt;
         return fmt::format("log.event_level is {}; a level that is logged, from log.level {} on",
                            c.log.event_level,
                            c.log.level);
       }},
  };
  add_vl_rules(rules, "", nullptr);
  for (const QosPortKind& kind : kQosPortKinds) add_vl_rules(rules, kind.prefix, kind.tables);
  for (ConfigRule& rule : congestion_rules()) rules.push_back(std::move(rule));
  return rules;
}

/// Something that nobody has to look up. A link's own address has the name of the link behind it,
/// which may come later.
bool is_address(const std::string& host) {
  const bool has_link = host.find(':') != std::string::npos;
  const std::string number = has_link ? host.substr(0, host.find('%')) : host;
  addrinfo numeric{};
  numeric.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(number.c_str(), nullptr, &numeric, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

}  // namespace

std::span<const ConfigRule> config_rules() {
  static const std::vector<ConfigRule> rules = make_rules();
  return rules;
}

std::vector<BrokenRule> find_broken_rules(const Config& config) {
  std::vector<BrokenRule> out;
  for (const ConfigRule& rule : config_rules()) {
    if (auto why = rule.broken(config)) out.push_back({rule.options, std::move(*why)});
  }
  return out;
}

Faults find_remarks(const Config& config) {
  Faults out;
  for (const auto& [option, listen] : {std::pair("metrics.listen", config.metrics.listen),
                                       std::pair("rest.listen", config.rest.listen),
                                       std::pair("replica.listen", config.replica.listen)}) {
    const auto at = parse_host_port(listen);
    if (!at || listen.starts_with('/') || at->host == "localhost" || is_address(at->host)) continue;
    out.push_back({option,
                   0,
                   fmt::format("{} is a name, which is not used: nothing listens there; name an "
                               "address, or localhost",
                               at->host)});
  }
  return out;
}

}  // namespace smd
