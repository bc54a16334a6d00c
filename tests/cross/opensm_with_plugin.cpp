#include "tests/cross/opensm_with_plugin.h"

#include <algorithm>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace smd::test {
namespace {

/// A shell writes the configuration into the scratch folder that is the program's own.
ProcessOptions opensm_process(const Stage& stage, const OpensmSettings& settings) {
  std::string config =
      "event_plugin_name smd_opensm\nsweep_interval 0\nlog_flags 0x03\nforce_log_flush TRUE\n"
      "dump_files_dir .\nrouting_engine " +
      settings.engines + "\n";
  if (!settings.options.empty()) config += "event_plugin_options " + settings.options + "\n";
  for (const std::string& line : settings.config) config += line + "\n";

  // Only opensm itself is a client of the fabric, not what runs it.
  auto env = stage.env(0);
  const auto preload =
      std::ranges::find(env, "LD_PRELOAD", &std::pair<std::string, std::string>::first);
  std::vector<std::string> argv{
      "/bin/sh", "-c", "printf %s \"$CONFIG\" > osm.conf; exec \"$@\"", "sh"};
  argv.insert(argv.end(), settings.wrapper.begin(), settings.wrapper.end());
  argv.insert(argv.end(), {"env", "LD_PRELOAD=" + preload->second});
  argv.insert(argv.end(), {"opensm", "-F", "osm.conf", "-f", "osm.log"});
  env.erase(preload);
  env.insert(env.end(),
             {{"CONFIG", config},
              {"LD_LIBRARY_PATH", build_path("lib")},
              {"OSM_TMP_DIR", "."},
              {"OSM_CACHE_DIR", "."}});
  return {.argv = std::move(argv), .env = std::move(env)};
}

}  // namespace

Stage::Stage(Server server, const std::string& fabric, const std::filesystem::path& folder)
    : spec_(sim::load_fabric(fabric).value()) {
  if (server == Server::Ibsim) {
    ibsim_.emplace(net_of(fabric, folder));
  } else {
    // OpenSM 3.3.23 asks without bit 31 of the modifier.
    served_.emplace(fabric, std::vector<std::string>{"--extended-speeds", "always"});
  }
}

std::string Stage::adapter_id(std::size_t number) const {
  for (const sim::NodeSpec& node : spec_.nodes) {
    if (node.type == NodeType::Ca && number-- == 0) return served_ ? node.description : node.id;
  }
  return {};
}

Guid Stage::manager() const {
  return std::ranges::find(spec_.nodes, NodeType::Ca, &sim::NodeSpec::type)->guid;
}

std::vector<std::pair<std::string, std::string>> Stage::env(std::size_t adapter) const {
  return served_ ? served_->env(adapter_id(adapter))
                 : ibsim_->client_environment(adapter_id(adapter));
}

Finished Stage::tool(std::vector<std::string> argv) const {
  std::size_t adapters = 0;
  for (const sim::NodeSpec& node : spec_.nodes) adapters += node.type == NodeType::Ca;
  return run_process({.argv = std::move(argv), .env = env(adapters - 1)}, seconds(60));
}

void Stage::console(const std::string& line) {
  if (served_) {
    served_->console(line);
  } else {
    EXPECT_TRUE(ibsim_->command(line)) << line;
  }
}

OpensmWithPlugin::OpensmWithPlugin(const Stage& stage, const OpensmSettings& settings)
    : opensm_(opensm_process(stage, settings)) {}

std::string OpensmWithPlugin::log() const { return read_text(log_file()); }

std::size_t OpensmWithPlugin::count(const std::string& text) const {
  const std::string lines = log();
  std::size_t found = 0;
  for (std::size_t at = 0; (at = lines.find(text, at)) != std::string::npos; at += text.size())
    ++found;
  return found;
}

bool OpensmWithPlugin::wait_for_more(const std::string& text,
                                     std::size_t before,
                                     std::chrono::milliseconds limit) const {
  return wait_until([&] { return count(text) > before; }, limit);
}

bool OpensmWithPlugin::wait_until_quiet() const {
  std::size_t length = log().size();
  auto since = std::chrono::steady_clock::now();
  return wait_until(
      [&] {
        const auto now = std::chrono::steady_clock::now();
        if (const std::size_t current = log().size(); current != length) {
          length = current;
          since = now;
        }
        return now - since >= seconds(1);
      },
      seconds(30));
}

}  // namespace smd::test
