#include "tests/cross/imported_site.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/paths.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

RegisterFields read_fields(const std::string& text, const std::string& before = "") {
  RegisterFields out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string node, port, reg, field;
    words >> node >> port >> reg >> std::ws;
    const auto next = [&] {
      return reg.starts_with("Path") ? bool(words >> field) : bool(std::getline(words, field));
    };
    while (next()) {
      const std::size_t equals = field.find('=');
      out[fmt::format("{}{} {} {} {}", before, node, port, reg, field.substr(0, equals))] =
          equals == std::string::npos ? "" : field.substr(equals + 1);
    }
  }
  return out;
}

void preload_first(std::vector<std::pair<std::string, std::string>>& env,
                   const std::string& library) {
  for (auto& [name, value] : env) {
    if (name == "LD_PRELOAD" && !library.empty()) value = library + " " + value;
  }
}

}  // namespace

SiteOnFabric hpc_updn_site() {
  return {.name = "hpc-updn",
          .fabric = "fat-tree:k=4,levels=2",
          .replaced = {{"0x0002c90300a1b2c3", "0x0001000000000001"},
                       {"0x0002c90200410001", "0x0002000000000004"},
                       {"0x0002c90200410002", "0x0002000000000005"},
                       {"730147811737603", "562949953421313"},
                       {"0x0002c90300000011", "0x0001000000000003"},
                       {"0x0002c90300000012", "0x0001000000000005"},
                       {"0x0002c90300000021", "0x0001000000000007"},
                       {"0x0002c90300000022", "0x000100000000000f"}},
          .start = ""};
}

SiteOnFabric every_option_site() {
  return {.name = "every-option",
          .fabric = "fat-tree:k=4,levels=2",
          .replaced = {{"congestion_control TRUE", "congestion_control FALSE"},
                       {"daemon TRUE", "daemon FALSE"},
                       {"sm_inactive TRUE", "sm_inactive FALSE"},
                       {"keep_pkey_indexes FALSE", "keep_pkey_indexes TRUE"}},
          .start = "",
          .m_key = "0x0badcafe"};
}

ImportedSite::ImportedSite(SiteOnFabric site)
    : site_(std::move(site)), net_(net_of(site_.fabric, scratch_.path())) {
  for (const char* name : {"log/opensm", "cache", "state"})
    std::filesystem::create_directories(folder() / name);
  for (const auto& each : std::filesystem::directory_iterator(
           source_path("tests/golden/import-opensm/" + site_.name))) {
    const std::string name = each.path().filename();
    if (!name.ends_with(".toml") && name != "import-opensm.txt") put(name, read_text(each.path()));
  }
  std::istringstream flags(read_text(folder() / "flags"));
  std::getline(flags, flags_);
  if (!site_.start.empty()) put("default", site_.start);
  // A socket of ibsim's holds ten datagrams, and OpenSM waits forever for an answer that is lost.
  std::ofstream(folder() / "osm.conf")
      << read_text(folder() / "opensm.conf") << "force_log_flush TRUE\nmax_wire_smps 4\n";
}

void ImportedSite::put(const std::string& name, std::string text) const {
  if (!site_.at_default_places) replace_all(text, "/etc/opensm/", folder().string() + "/");
  replace_all(text, "/var/log/", (folder() / "log").string() + "/");
  for (const auto& [from, to] : site_.replaced) replace_all(text, from, to);
  std::ofstream(folder() / name) << text;
}

ProcessOptions ImportedSite::opensm(const Ibsim& ibsim, const std::string& preload) const {
  auto env = ibsim.client_environment(ibsim.facts().adapter_ids.front());
  preload_first(env, preload);
  env.insert(env.end(), {{"OSM_TMP_DIR", "cache"}, {"OSM_CACHE_DIR", "cache"}});
  std::vector<std::string> argv = {"opensm", "-F", "osm.conf"};
  std::istringstream flags(flags_);
  for (std::string flag; flags >> flag;) argv.push_back(flag);
  argv.insert(argv.end(), {"-f", "osm.log"});
  return {.argv = at_home(argv), .env = env, .cwd = folder()};
}

std::vector<std::string> ImportedSite::at_home(std::vector<std::string> argv) const {
  if (!site_.at_default_places) return argv;
  const std::vector<std::string> home = {"unshare",
                                         "--map-root-user",
                                         "--mount",
                                         "sh",
                                         "-c",
                                         "mount --bind \"$0\" /etc/opensm && exec \"$@\"",
                                         folder()};
  argv.insert(argv.begin(), home.begin(), home.end());
  return argv;
}

bool ImportedSite::opensm_was_up(int times) const {
  const std::string log = opensm_log();
  for (std::size_t at = 0; times > 0; --times, ++at) {
    at = log.find("SUBNET UP", at);
    if (at == std::string::npos) return false;
  }
  return true;
}

std::string ImportedSite::with_own_files(std::string text) const {
  replace_all(text, "/etc/opensm/", folder().string() + "/");
  replace_all(text, "/var/lib/smd", folder() / "state");
  replace_all(text, "/run/smd", folder());
  replace_all(text, "/var/log/smd", folder());
  const auto add = [&](const std::string& section, const std::string& key, const char* value) {
    if (text.find("\n" + key + " = ") != std::string::npos) return;
    const std::string line = fmt::format("{} = \"{}\"\n", key, (folder() / value).string());
    const std::string head = "[" + section + "]\n";
    if (const std::size_t at = text.find(head); at != std::string::npos)
      text.insert(at + head.size(), line);
    else
      text += "\n" + head + line;
  };
  add("sm", "state_dir", "state");
  add("admin", "socket", "smd.sock");
  return text;
}

std::string ImportedSite::import() {
  const std::filesystem::path out = folder() / "imported", config = folder() / "smd.toml";
  std::vector<std::string> argv = {
      smd_path(), "import-opensm", folder() / "opensm.conf", "-o", out, "--force"};
  if (!site_.start.empty()) argv.insert(argv.end(), {"--sysconfig", folder() / "default"});
  if (!flags_.empty()) argv.insert(argv.end(), {"--flags", flags_});
  const Finished imported = run_process({.argv = at_home(argv)}, 10s);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  for (const auto& each : std::filesystem::directory_iterator(out)) {
    if (each.path().extension() != ".toml") continue;
    std::ofstream(config) << with_own_files(read_text(each.path()));
    const Finished checked = run_process({.argv = {smd_path(), "check-config", "-c", config}}, 10s);
    EXPECT_EQ(checked.exit_code, 0) << each.path() << "\n" << checked.err;
    EXPECT_EQ(checked.out, config.string() + ": good\n") << each.path();
  }
  const Finished lids = run_process(
      {.argv = {smd_path(), "state", "import", folder() / "cache/guid2lid", "-c", config}}, 10s);
  EXPECT_EQ(lids.exit_code, 0) << lids.err;
  return read_text(out / "import-opensm.txt");
}

ProcessOptions ImportedSite::smd(const Ibsim& ibsim,
                                 const std::string& host,
                                 const std::string& preload) const {
  auto env = ibsim.client_environment(host);
  preload_first(env, preload);
  return {.argv = {smd_path(), "run", "-c", folder() / "smd.toml"}, .env = env};
}

/// libumad2sim now and then does not let its client end.
std::string ImportedSite::ask(const Ibsim& ibsim,
                              const std::string& host,
                              const std::string& what) const {
  Finished done;
  for (int attempt = 0; attempt < 3 && !done.exit_code; ++attempt) {
    done = tool(ibsim,
                host,
                {"env", "SMD_M_KEY=" + site_.m_key, build_path("bin/register_dump"), what},
                10s);
  }
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  return done.out;
}

RegisterFields ImportedSite::registers(const Ibsim& ibsim) const {
  return read_fields(ask(ibsim, ibsim.facts().adapter_ids.back(), "registers"));
}

RegisterFields ImportedSite::dump(const Ibsim& ibsim) const {
  RegisterFields out = registers(ibsim);
  const auto& hosts = ibsim.facts().adapter_ids;
  for (std::size_t i = 1; i < hosts.size(); ++i)
    out.merge(read_fields(ask(ibsim, hosts[i], "paths"), hosts[i] + ": "));
  return out;
}

}  // namespace smd::test
