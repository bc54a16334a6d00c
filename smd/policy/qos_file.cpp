#include "smd/policy/qos_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "smd/base/fault_list.h"
#include "smd/base/text.h"
#include "smd/policy/partition_file.h"
#include "smd/policy/qos_text.h"

namespace smd {
namespace {

using partition_text::read_number;
using qos_text::lowered;
using qos_text::split;
using qos_text::unquoted;

bool same_name(std::string_view a, std::string_view b) { return lowered(a) == lowered(b); }

enum class Section : std::uint8_t {
  Top,
  Ulps,
  PortGroups,
  PortGroup,
  Setup,
  Levels,
  Level,
  Rules,
  Rule
};

struct SectionName {
  std::string_view name;  // "end-" and it closes the section
  Section inside;
  Section outside;
};

constexpr SectionName kSections[] = {
    {"qos-ulps", Section::Ulps, Section::Top},
    {"port-groups", Section::PortGroups, Section::Top},
    {"port-group", Section::PortGroup, Section::PortGroups},
    {"qos-setup", Section::Setup, Section::Top},
    {"qos-levels", Section::Levels, Section::Top},
    {"qos-level", Section::Level, Section::Levels},
    {"qos-match-rules", Section::Rules, Section::Top},
    {"qos-match-rule", Section::Rule, Section::Rules},
};

std::string_view name_of(Section section) {
  const auto found = std::ranges::find(kSections, section, &SectionName::inside);
  return found == std::end(kSections) ? "the file" : found->name;
}

/// What begins and ends sections.
const std::vector<std::string>& section_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> out;
    for (const SectionName& each : kSections) {
      out.emplace_back(each.name);
      out.push_back(fmt::format("end-{}", each.name));
    }
    return out;
  }();
  return words;
}

std::vector<std::string_view> keywords_of(Section section) {
  if (section == Section::PortGroup)
    return {"name", "port-guid", "port-name", "pkey", "partition", "node-type", "use"};
  if (section == Section::Level)
    return {"name", "sl", "mtu-limit", "rate-limit", "packet-life", "path-bits", "pkey", "use"};
  if (section == Section::Rule) {
    return {"source", "destination", "service-id", "qos-class", "pkey", "qos-level-name", "use"};
  }
  return {};
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file), values_(file) {}

  void take_line(std::string_view text, int line) {
    values_.go_to(line, text);
    text = trim(text.substr(0, text.find('#')));
    if (text.empty() || change_section(text)) return;
    if (section_ == Section::Setup) {
      if (!std::exchange(said_setup_, true))
        remark("qos-setup means nothing, as in OpenSM; tables are options: qos.sl2vl, …");
      return;
    }
    if (section_ == Section::Ulps) return take_ulp(text);
    const std::size_t first = text.find(':');
    if (first == std::string_view::npos)
      return fault_of(
          text,
          fmt::format("'{}' in {}; {}KEYWORD: VALUE",
                      text,
                      name_of(section_),
                      name_nearest(text,
                                   std::vector<std::string_view>(section_words().begin(),
                                                                 section_words().end()))));
    take(trim(text.substr(0, first)), trim(text.substr(first + 1)));
  }

  Parsed<QosReading> finish() && {
    if (section_ != Section::Top)
      fault(fmt::format("{} is not closed; end-{}", name_of(section_), name_of(section_)));
    resolve();
    sort_by_place(values_.faults());
    if (!values_.faults().empty()) return tl::unexpected(std::move(values_.faults()));
    return std::move(out_);
  }

 private:
  /// A rule of the file, its names not looked up yet.
  struct Rule {
    int line = 0;
    QosMatch match;
    std::vector<std::string> sources;
    std::vector<std::string> targets;
    std::string level;
  };

  bool change_section(std::string_view text) {
    for (const SectionName& each : kSections) {
      if (text == each.name) {
        if (section_ != each.outside) {
          fault_of(text,
                   fmt::format("{} in {}; it stands in {}",
                               each.name,
                               name_of(section_),
                               name_of(each.outside)));
        }
        section_ = each.inside;
        began_ = values_.line();
        open();
        return true;
      }
      if (text.starts_with("end-") && text.substr(4) == each.name) {
        if (section_ != each.inside) {
          fault_of(text, fmt::format("{} where {} is open", text, name_of(section_)));
        } else {
          close();
        }
        section_ = each.outside;
        return true;
      }
    }
    return false;
  }

  void open() {
    if (section_ == Section::PortGroup) out_.rules.groups.emplace_back();
    if (section_ == Section::Level) {
      out_.rules.levels.emplace_back();
      has_sl_ = false;
    }
    if (section_ == Section::Rule) rules_.push_back({.line = values_.line()});
  }

  void close() {
    const auto twice = [](const auto& list) {
      return std::ranges::count_if(list, [&](const auto& each) {
               return same_name(each.name, list.back().name);
             }) > 1;
    };
    if (section_ == Section::PortGroup) {
      const auto& groups = out_.rules.groups;
      if (groups.back().name.empty())
        fault_at(began_, "port-group has no name; name: NAME");
      else if (twice(groups))
        fault_at(began_, two("port-group", groups.back().name));
    } else if (section_ == Section::Level) {
      const auto& levels = out_.rules.levels;
      if (levels.back().name.empty())
        fault_at(began_, "qos-level has no name; name: NAME");
      else if (twice(levels))
        fault_at(began_, two("qos-level", levels.back().name));
      if (!has_sl_) fault_at(began_, "qos-level has no SL; sl: 0 to 15");
    } else if (section_ == Section::Rule && rules_.back().level.empty()) {
      fault_at(began_, "qos-match-rule has no level; qos-level-name: NAME");
    }
  }

  /// `named`: those that there are.
  template <class Named>
  static std::string no_such(std::string_view what,
                             std::string_view name,
                             const std::vector<Named>& named) {
    std::vector<std::string_view> names;
    for (const Named& each : named) names.push_back(each.name);
    std::string nearest = name_nearest(name, names);
    if (!nearest.empty()) nearest = "; " + nearest.substr(0, nearest.size() - 2);
    return fmt::format("no {} is called '{}'{}", what, name, nearest);
  }

  static std::string two(std::string_view what, std::string_view name) {
    return fmt::format("a second {} '{}'; each name once", what, name);
  }

  void take(std::string_view key, std::string_view value) {
    const bool known = section_ == Section::PortGroup ? take_group(key, value)
                       : section_ == Section::Level   ? take_level(key, value)
                       : section_ == Section::Rule    ? take_rule(key, value)
                                                      : false;
    if (known) return;
    const auto words = keywords_of(section_);
    fault_of(key,
             fmt::format("no keyword '{}' in {}; {}{}",
                         key,
                         name_of(section_),
                         name_nearest(key, words),
                         words.empty() ? "it stands in a section, such as qos-levels"
                                       : fmt::format("{}", fmt::join(words, ", "))));
  }

  bool take_group(std::string_view key, std::string_view value) {
    QosPortGroup& group = out_.rules.groups.back();
    if (key == "name") {
      group.name = unquoted(value);
    } else if (key == "port-guid") {
      values_.ranges(key, value, qos_text::kMostOfGuid, group.guids);
    } else if (key == "port-name") {
      for (const std::string_view each : split(value, ',')) take_port_name(each, group);
    } else if (key == "pkey") {
      values_.keys(key, value, group.p_keys);
    } else if (key == "partition") {
      for (const std::string_view each : split(value, ','))
        group.partitions.push_back(unquoted(each));
    } else if (key == "node-type") {
      for (const std::string_view each : split(value, ',')) take_node_type(each, group);
    } else {
      return key == "use";
    }
    return true;
  }

  void take_port_name(std::string_view text, QosPortGroup& group) {
    const std::string name = unquoted(text);
    const std::size_t slash = name.rfind('/');
    const std::string_view number =
        slash == std::string::npos ? std::string_view{} : std::string_view(name).substr(slash + 1);
    const bool is_port = number.starts_with('P') || number.starts_with('p');
    const auto port = is_port ? read_number(number.substr(1)) : std::nullopt;
    if (!port || *port > 254)
      return fault_of(text, fmt::format("'{}' is no port; NODE DESCRIPTION/P1", name));
    group.ports.push_back({std::string(trim(std::string_view(name).substr(0, slash))), *port});
  }

  void take_node_type(std::string_view text, QosPortGroup& group) {
    const std::string type = lowered(text);
    if (type == "ca") {
      group.adapters = true;
    } else if (type == "switch") {
      group.switches = true;
    } else if (type == "router") {
      group.routers = true;
    } else if (type == "self") {
      group.self = true;
    } else if (type == "all") {
      group.all = true;
    } else {
      constexpr std::array<std::string_view, 5> kTypes{"ca", "switch", "router", "self", "all"};
      fault_of(text,
               fmt::format("no node type '{}'; {}CA, SWITCH, ROUTER, SELF or ALL",
                           text,
                           name_nearest(type, kTypes)));
    }
  }

  bool take_level(std::string_view key, std::string_view value) {
    QosLevel& level = out_.rules.levels.back();
    if (key == "name") {
      level.name = unquoted(value);
    } else if (key == "sl") {
      if (const auto sl = values_.number(key, value, 0, 15)) {
        level.sl = *sl;
        has_sl_ = true;
      }
    } else if (key == "mtu-limit") {
      level.mtu_limit = values_.number(key, value, 1, 5);
    } else if (key == "rate-limit") {
      level.rate_limit = values_.number(key, value, 2, 24);
    } else if (key == "packet-life") {
      level.packet_life = values_.number(key, value, 0, 63);
    } else if (key == "path-bits") {
      values_.ranges(key, value, 127, level.path_bits);
    } else if (key == "pkey") {
      values_.keys(key, value, level.p_keys);
    } else {
      return key == "use";
    }
    return true;
  }

  bool take_rule(std::string_view key, std::string_view value) {
    Rule& rule = rules_.back();
    if (key == "source" || key == "destination") {
      for (const std::string_view each : split(value, ','))
        (key == "source" ? rule.sources : rule.targets).push_back(unquoted(each));
    } else if (key == "service-id") {
      values_.ranges(key, value, qos_text::kMostOfGuid, rule.match.services);
    } else if (key == "qos-class") {
      values_.ranges(key, value, 0xfff, rule.match.classes);
    } else if (key == "pkey") {
      values_.keys(key, value, rule.match.p_keys);
    } else if (key == "qos-level-name") {
      rule.level = unquoted(value);
    } else {
      return key == "use";
    }
    return true;
  }

  void take_ulp(std::string_view text) {
    auto ulp = qos_text::read_ulp(values_, text);
    if (!ulp) return;
    if (!ulp->is_default) return ulps_.push_back(std::move(*ulp));
    if (default_sl_) return fault("a second default; one");
    default_sl_ = ulp->sl;
    default_line_ = ulp->line;
  }

  // What names mean, when all are known.

  void resolve() {
    resolve_default();
    for (const Rule& rule : rules_) {
      QosMatch match = rule.match;
      values_.go_to(rule.line);
      for (const std::string& name : rule.sources) add_group(name, match.sources);
      for (const std::string& name : rule.targets) add_group(name, match.targets);
      const auto level = find_level(rule.level);
      if (!level && !rule.level.empty()) fault(no_such("qos-level", rule.level, out_.rules.levels));
      match.level = level.value_or(0);
      out_.rules.matches.push_back(std::move(match));
    }
    for (const qos_text::Ulp& rule : ulps_) add_ulp(rule);
  }

  void resolve_default() {
    const auto level = find_level("default");
    if (level && default_sl_)
      fault_at(default_line_, "a second default level, beside that of qos-levels; one");
    if (!level && !default_sl_ && values_.faults().empty())
      fault_at(0, "no default level; a qos-level with name: DEFAULT, or default: SL in qos-ulps");
    out_.rules.default_level = level ? *level : simple_level(default_sl_.value_or(0), "default");
  }

  void add_ulp(const qos_text::Ulp& rule) {
    const std::size_t level = simple_level(rule.sl, fmt::format("SL {}", rule.sl));
    QosMatch match = rule.match;
    match.level = level;
    QosMatch other = match;
    if (!rule.sources.empty()) match.sources = {guid_group(rule.sources)};
    if (!rule.targets.empty()) (rule.either ? other : match).targets = {guid_group(rule.targets)};
    out_.rules.matches.push_back(match);
    if (rule.either) out_.rules.matches.push_back(other);
  }

  std::size_t guid_group(const std::vector<NumberRange>& guids) {
    QosPortGroup group;
    group.guids = guids;
    out_.rules.groups.push_back(std::move(group));
    return out_.rules.groups.size() - 1;
  }

  std::size_t simple_level(std::uint8_t sl, std::string name) {
    QosLevel level;
    level.name = std::move(name);
    level.sl = sl;
    const auto& levels = out_.rules.levels;
    const auto found = std::ranges::find(levels, level);
    if (found != levels.end()) return static_cast<std::size_t>(found - levels.begin());
    out_.rules.levels.push_back(std::move(level));
    return levels.size() - 1;
  }

  void add_group(const std::string& name, std::vector<std::size_t>& to) {
    const auto& groups = out_.rules.groups;
    const auto found = std::ranges::find_if(
        groups, [&](const QosPortGroup& each) { return same_name(each.name, name); });
    if (found == groups.end()) return fault(no_such("port-group", name, groups));
    to.push_back(static_cast<std::size_t>(found - groups.begin()));
  }

  std::optional<std::size_t> find_level(std::string_view name) const {
    const auto& levels = out_.rules.levels;
    const auto found = std::ranges::find_if(
        levels, [&](const QosLevel& each) { return same_name(each.name, name); });
    if (found == levels.end()) return std::nullopt;
    return static_cast<std::size_t>(found - levels.begin());
  }

  void remark(std::string message) {
    out_.remarks.push_back({file_, values_.line(), std::move(message)});
  }

  void fault(std::string message) { values_.fault(std::move(message)); }

  void fault_of(std::string_view word, std::string message) {
    values_.fault_of(word, std::move(message));
  }

  void fault_at(int line, std::string message) { values_.fault_at(line, std::move(message)); }

  const std::string& file_;
  qos_text::Values values_;
  int began_ = 0;  // the section
  Section section_ = Section::Top;
  bool has_sl_ = false;
  bool said_setup_ = false;
  std::optional<std::uint8_t> default_sl_;  // of qos-ulps
  int default_line_ = 0;
  std::vector<Rule> rules_;
  std::vector<qos_text::Ulp> ulps_;
  QosReading out_;
};

}  // namespace

bool is_in(const std::vector<NumberRange>& ranges, std::uint64_t number) {
  return std::ranges::any_of(ranges, [number](const NumberRange& each) {
    return each.low <= number && number <= each.high;
  });
}

Parsed<QosReading> parse_qos_file(std::string_view text, const std::string& file) {
  Reader reader(file);
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.take_line(text.substr(0, end), ++line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).finish();
}

}  // namespace smd
