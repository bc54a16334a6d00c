// The files that the table of options writes, and what two configurations differ in.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "smd/base/text.h"
#include "smd/config/options.h"

namespace smd {

namespace {

constexpr std::size_t kCommentColumns = 100;

/// "# " lines of at most kCommentColumns.
std::string wrap_comment(std::string_view text) {
  std::string lines;
  std::string line = "#";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (line.size() + 1 + word.size() > kCommentColumns) {
      lines += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", word);
  }
  return lines + line + "\n";
}

/// Of the defaults; "not set" where there is none.
std::string print_default(const ConfigOption& option) {
  return option.print(Config{}).value_or("not set");
}

std::string print_facts(const ConfigOption& option) {
  std::string facts = option.meaning.empty() ? "" : fmt::format("{}. ", option.meaning);
  if (!option.unit.empty()) facts += fmt::format("Unit: {}. ", option.unit);
  facts += fmt::format("Default: {}. Range: {}.", print_default(option), option.range);
  if (option.needs_restart) facts += " A new value needs a restart.";
  return facts;
}

/// Runs `visit(option, is_first_of_its_section)` over the table.
template <class Visit>
void for_each_option(Visit visit) {
  std::string_view section;
  for (const ConfigOption& option : config_options()) {
    visit(option, option.section != section);
    section = option.section;
  }
}

}  // namespace

std::string print_config(const Config& config) {
  std::string text;
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", option.section);
    if (const auto value = option.print(config)) {
      text += fmt::format("{} = {}\n", option.key, *value);
    }
  });
  return text;
}

std::string print_config_sources(const Config& config,
                                 const ConfigLines& lines,
                                 const std::string& file,
                                 const Config& from_file,
                                 const std::string& command_line) {
  std::string text;
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", option.section);
    const auto it = lines.find(option.name());
    std::string source = it == lines.end() ? "default" : fmt::format("{}:{}", file, it->second);
    if (option.name() == "sm.roots" && !config.sm.roots_file.empty())
      source += fmt::format(" and {}", config.sm.roots_file);
    const auto value = option.print(config);
    if (value != option.print(from_file)) source += " and " + command_line;
    text += value ? fmt::format("{} = {}  # {}\n", option.key, *value, printable(source))
                  : fmt::format("#{} is not set  # {}\n", option.key, printable(source));
  });
  return text;
}

std::string print_default_config() {
  std::string text =
      "# Configuration of smd. Every option is shown at its default; remove the leading # to set\n"
      "# one. `smd check-config -c FILE` says whether a file is right, and SIGHUP makes a running\n"
      "# daemon read it again.\n";
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) {
      text += fmt::format("\n# {}\n[{}]\n", config_section_meaning(option.section), option.section);
    }
    const std::string value = option.print(Config{}).value_or(option.example);
    text += fmt::format("\n{}#{} = {}\n", wrap_comment(print_facts(option)), option.key, value);
  });
  return text;
}

std::string print_config_reference() {
  std::string text;
  for_each_option([&](const ConfigOption& option, bool first) {
    if (first) {
      text += fmt::format(
          "\n## [{}]\n\n{}\n\n"
          "| key | meaning | unit | default | range | restart |\n|---|---|---|---|---|---|\n",
          option.section,
          config_section_meaning(option.section));
    }
    text += fmt::format("| `{}` | {} | {} | `{}` | {} | {} |\n",
                        option.key,
                        option.meaning,
                        option.unit,
                        print_default(option),
                        option.range,
                        option.needs_restart ? "yes" : "");
  });
  return text;
}

std::vector<ConfigChange> diff_config(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  for (const ConfigOption& option : config_options()) {
    if (option.print(before) == option.print(after)) continue;
    changes.push_back({option.name(), option.needs_restart});
  }
  return changes;
}

std::string print_shared_options(const Config& config) {
  constexpr std::string_view kSections[] = {"sm", "port", "qos", "partitions", "sa", "congestion"};
  constexpr std::string_view kOwn[] = {"sm.priority",
                                       "sm.master_priority",
                                       "sm.sm_key",
                                       "sm.sa_key",
                                       "sm.m_key",
                                       "sm.m_key_file",
                                       "sm.state_dir",
                                       "sm.dump_dir",
                                       "sm.node_name_map",
                                       "sm.roots_file",
                                       "partitions.file",
                                       "qos.policy_file",
                                       "congestion.cc_key"};
  std::string text;
  for (const ConfigOption& option : config_options()) {
    const std::string name = option.name();
    if (std::ranges::find(kSections, option.section) == std::end(kSections) ||
        std::ranges::find(kOwn, name) != std::end(kOwn))
      continue;
    text += fmt::format("{} = {}\n", name, option.print(config).value_or("not set"));
  }
  return text;
}

std::vector<std::string> diff_shared_options(std::string_view ours, std::string_view theirs) {
  std::map<std::string_view, std::vector<std::string_view>> lines;  // by name: one where they agree
  for (std::string_view text : {ours, theirs}) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      lines[line.substr(0, line.find(' '))].push_back(line);
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, said] : lines) {
    if (said.size() != 2 || said[0] != said[1]) names.emplace_back(name);
  }
  return names;
}

}  // namespace smd
