// smctl: one command to a running daemon.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/admin/client.h"
#include "smd/base/command_line.h"
#include "smd/base/program.h"
#include "smd/base/text.h"
#include "smd/bin/version.h"

namespace smd::bin {
namespace {

using Json = nlohmann::json;

constexpr const char* kDefaultSocket = "/run/smd/smd.sock";

constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kBadCommandLine = 2;

struct Options {
  AdminRequest where{.socket = kDefaultSocket};
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  std::string command;
  std::string instance;        // of smd; "": the only one
  std::string level = "info";  // that `watch` shows
  Json args = Json::object();
};

/// Registers the commands; each one fills in `args` when it is the one that was given.
class Commands {
 public:
  explicit Commands(Options& options) : options_(options) {
    line_.show_version(std::string(version()));
    line_.require_command();
    line_.let_options_follow_commands();
    const auto socket =
        line_.option("--socket", options.where.socket, "the daemon's socket").show_default();
    line_.option("-i,--instance", options.instance, "the socket of smd@NAME: /run/smd/NAME.sock")
        .excludes(socket);
    line_.flag("--json", options.json, "print the answer as JSON");
    line_.flag("-v,--verbose", options.verbose, "show the request on stderr");
    line_.flag("--quiet", options.quiet, "print nothing but errors");

    command("status", "state, engine, last sweep, last change, alarms");
    command("fabric", "switches and links");
    command("nodes", "every node");
    command("links", "every link");
    Command port = command("port", "one port as it is set and linked");
    text(port, "node", "NODE", "description, GUID or LID");
    add(port, "port", "PORT", "number").range(0, 254).required();
    Command route = command("route", "the hops from SRC to DST");
    text(route, "from", "SRC", "description, GUID or LID");
    text(route, "to", "DST", "description, GUID or LID");
    Command sweep = command("sweep", "look at every switch now and take in what changed");
    sweep.flag(
        "--full", [this] { options_.args["full"] = true; }, "discover everything again");
    Command engine = command("engine", "the engine in use and those there are; or use NAME");
    text(engine, "name", "NAME", "engine to use from now on").required(false);
    engine.flag(
        "--force",
        [this] { options_.args["force"] = true; },
        "even where ports are taken down or turns blocked meanwhile");
    Command changes = command("changes", "the latest changes, newest first");
    add(changes, "n", "N", "at most so many").not_negative();
    command("multicast", "multicast trees beside shortest ways, and how they share cables");
    command("congestion", "congestion control: agents, the plan, hot ports");
    Command log = command("log", "set the daemon's log level");
    text(log, "level", "LEVEL", "debug, info, warn, error or off");
    Command watch = command("watch", "the daemon's log lines as they come, each a line of JSON");
    watch
        .number(
            "--last",
            [this](std::uint64_t n) { options_.args["n"] = n; },
            "begin with the latest so many")
        .not_negative();
    watch
        .text(
            "--level",
            [this](const std::string& level) { options_.level = level; },
            "least severe level to show: info, warn or error")
        .one_of({"info", "warn", "error"});
    add_sa();
    Command dump = command("dump", "write the files of OpenSM that other tools read into DIR");
    text(dump, "dir", "DIR", "folder on the daemon's machine, made if needed");
    add_partition();
    command("shutdown", "end the daemon; the fabric stays as it is");
  }

  /// An exit code when there is nothing to ask the daemon.
  std::optional<int> parse(int argc, const char* const* argv) {
    const auto code = line_.parse(argc, argv, [](const char* what) {
      fmt::print(stderr, "smctl: {}; smctl --help shows what there is\n", printable(what));
    });
    options_.command = line_.given_command();
    if (!options_.instance.empty())
      options_.where.socket = fmt::format("/run/smd/{}.sock", options_.instance);
    // The daemon has another working directory.
    if (const auto dir = options_.args.find("dir"); dir != options_.args.end())
      *dir = std::filesystem::absolute(dir->get<std::string>()).string();
    return code;
  }

 private:
  Command command(const std::string& name, const std::string& help) {
    return line_.command(name, help);
  }

  /// A positional number that goes into `args` under `key`.
  CommandOption add(Command command,
                    const std::string& key,
                    const std::string& shown,
                    const std::string& help) {
    return command.number(
        shown, [this, key](std::uint64_t value) { options_.args[key] = value; }, help);
  }

  CommandOption text(Command command,
                     const std::string& key,
                     const std::string& shown,
                     const std::string& help) {
    return command
        .text(
            shown, [this, key](const std::string& value) { options_.args[key] = value; }, help)
        .required();
  }

  void add_sa() {
    Command sa = command("sa", "records of the subnet administrator");
    text(sa, "record", "RECORD", "such as PathRecord, or PR");
    sa.number(
          "--limit",
          [this](std::uint64_t value) { options_.args["limit"] = value; },
          "show at most so many (1000)")
        .not_negative();
    sa.texts(
          "WHERE",
          [this](const std::vector<std::string>& conditions) {
            for (const std::string& condition : conditions) {
              const std::size_t equals = condition.find('=');
              options_.args["where"][condition.substr(0, equals)] = condition.substr(equals + 1);
            }
          },
          "components that must match")
        .check(
            [](const std::string& condition) {
              return condition.find('=') == std::string::npos
                         ? fmt::format("'{}' is no condition; KEY=VALUE", condition)
                         : std::string();
            },
            "KEY=VALUE");
  }

  void add_partition() {
    Command partition =
        command("partition", "partitions: those there are, or change them while smd runs");
    partition.require_command();
    add_verb(partition, "list", "every partition");
    Command show = add_verb(partition, "show", "members and groups of one");
    text(show, "partition", "PARTITION", "name or P_Key");
    Command create = add_verb(partition, "create", "a new one, beside those of partitions.conf");
    text(create, "partition", "NAME", "a letter, then letters, digits, '.', '_' and '-'");
    text(create, "p_key", "P_KEY", "0x0001 to 0x7ffe");
    add_ports(create, "PORT[=full|limited]").required(false);
    create.flag(
        "--ipoib",
        [this] {
          if (!options_.args.contains("ipoib")) options_.args["ipoib"] = Json::object();
        },
        "with the broadcast group of its IPoIB interfaces");
    for (const auto& [option, flag, help] :
         {std::tuple{"--rate", "rate", "its rate (3)"},
          std::tuple{"--mtu", "mtu", "its MTU (4)"},
          std::tuple{"--sl", "sl", "its service level (0)"},
          std::tuple{"--scope", "scope", "its scope (2)"},
          std::tuple{"--q-key", "Q_Key", "its Q_Key (0x0b1b)"},
          std::tuple{"--tclass", "TClass", "its TClass (0)"},
          std::tuple{"--flow-label", "FlowLabel", "its FlowLabel (0)"}}) {
      create.number(
          option,
          [this, flag](std::uint64_t value) { options_.args["ipoib"][flag] = value; },
          std::string("of --ipoib: ") + help + ", as in partitions.conf");
    }
    Command drop = add_verb(partition, "delete", "one that was created here");
    text(drop, "partition", "PARTITION", "name or P_Key");
    Command add = add_verb(partition, "add", "ports to one, also to one of partitions.conf");
    text(add, "partition", "PARTITION", "name or P_Key");
    add_ports(add, "PORT[=full|limited]");
    Command take_out = add_verb(partition, "remove", "ports that were added here");
    text(take_out, "partition", "PARTITION", "name or P_Key");
    add_ports(take_out, "PORT");
    for (Command each : {create, add})
      each.flag(
          "--index0",
          [this] { options_.args["index0"] = true; },
          "its P_Key stands first in the tables of these ports");
    for (Command each : {create, drop, add, take_out})
      each.flag(
          "--dry-run",
          [this] { options_.args["dry_run"] = true; },
          "say what would change, and change nothing");
  }

  Command add_verb(Command partition, const std::string& name, const std::string& help) {
    Command verb = partition.command(name, help);
    verb.on_run([this, name] { options_.args["verb"] = name; });
    return verb;
  }

  CommandOption add_ports(Command command, const std::string& shown) {
    return command
        .texts(
            shown,
            [this](const std::vector<std::string>& ports) { options_.args["ports"] = ports; },
            "GUID, NODE or NODE:PORT; full members unless it says otherwise")
        .required();
  }

  Options& options_;
  CommandLine line_{"Talks to a running smd over its Unix socket.", "smctl"};
};

/// What takes its time on a large fabric: the daemon is asked until it is no longer `under_way`, or
/// says that it failed.
Result<Json> await(const AdminRequest& where,
                   const char* command,
                   const char* under_way,
                   const Json& args = Json::object()) {
  while (true) {
    auto answer = send_command(where, command, args);
    if (!answer || !answer->value(under_way, false) || answer->contains("failed")) return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int refuse(std::string_view why) {
  fmt::print(stderr, "smctl: {}\n", printable(why));
  return kRefused;
}

/// Why the engine that was asked for is not in force; nothing where it is. A reload or a handover
/// ends a trial without a word.
std::optional<std::string> find_engine_trouble(const Json& answer, const std::string& name) {
  const std::string asked = answer.value("engine_requested", "");
  if (asked != name)
    return fmt::format(
        "engine {} was not tried: the configuration was read, or another manager took over, "
        "meanwhile{}",
        name,
        asked.empty() ? "" : "; " + asked + " is asked for now");
  const auto why = answer.find("engine_refused");
  if (why == answer.end()) return std::nullopt;
  return fmt::format("engine {} is not in force, {} is: {}{}",
                     name,
                     answer.value("engine", ""),
                     why->get<std::string>(),
                     answer.value("engine_needs_force", false)
                         ? "; smctl engine --force takes it all the same"
                         : "");
}

/// Why an order that was taken is not in force everywhere; nothing where it is.
std::optional<std::string> find_order_trouble(const Json& answer) {
  if (const auto why = answer.find("failed"); why != answer.end())
    return fmt::format("the order is kept, but not in force, and smd tries again: {}",
                       why->get<std::string>());
  if (!answer.value("rules", true))
    return "this manager rules no more; the one that does says whether it has the order";
  if (const auto faults = answer.value("faults", 0u); faults > 0)
    return fmt::format(
        "the order is in force, but not at all of its ports: {} {}, the first: {}; smd tries again",
        faults,
        faults == 1 ? "fault" : "faults",
        answer.value("fault", "not known"));
  return std::nullopt;
}

void show_events(const Json& answer, const std::string& least) {
  constexpr std::string_view kLevels[] = {"info", "warn", "error"};
  const auto rank = [&](std::string_view level) { return std::ranges::find(kLevels, level); };
  if (const auto lost = answer.value("lost", std::uint64_t{0}); lost > 0)
    fmt::print(stderr, "smctl: {} events came too fast to be shown\n", lost);
  for (const Json& event : answer.at("events")) {
    if (rank(event.value("level", "")) >= rank(least))
      fmt::print("{}\n", event.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::fflush(stdout);
}

/// Of a dump: the daemon has other folders under the same names.
bool is_elsewhere(const Json& answer) {
  const Json files = answer.value("files", Json::array());
  if (files.empty() || !files[0].is_string()) return false;
  std::error_code error;
  const std::filesystem::path file = answer.value("dir", "") + "/" + files[0].get<std::string>();
  return !std::filesystem::exists(file, error) && !error;
}

/// Until it is interrupted. A daemon that ends is waited for.
int watch(const Options& options) {
  Json args = options.args;
  std::optional<std::int64_t> daemon;
  bool waits = false;
  while (true) {
    const auto answer = send_command(options.where, "events", args);
    if (!answer) {
      if (!daemon || !std::exchange(waits, true))
        fmt::print(stderr, "smctl: {}\n", printable(answer.error().context));
      if (!daemon) return kRefused;
    } else if (const auto now = answer->value("daemon", std::int64_t{0}); daemon && daemon != now) {
      daemon = now;
      args = {{"after", 0}};
      continue;
    } else {
      daemon = now;
      waits = false;
      show_events(*answer, options.level);
      args = {{"after", answer->value("last", std::uint64_t{0})}};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(waits ? 1000 : 250));
  }
}

int run(const Options& options) {
  if (options.verbose > 0) {
    fmt::print(stderr,
               "smctl: {} {} to {}\n",
               options.command,
               options.args.dump(-1, ' ', false, Json::error_handler_t::replace),
               options.where.socket);
  }
  if (options.command == "watch") return watch(options);
  auto result = send_command(options.where, options.command, options.args);
  if (!result) return refuse(result.error().context);
  if (options.command == "engine" && options.args.contains("name")) {
    result = await(options.where, "engine", "engine_undecided");
    if (!result) return refuse(result.error().context);
    if (const auto why = find_engine_trouble(*result, options.args["name"].get<std::string>()))
      return refuse(*why);
  }
  // Also where it asked for what was there: an order before may have, and not be in force yet.
  if (options.command == "partition" && result->contains("order")) {
    const auto done =
        await(options.where, "partition", "adopting", {{"order", result->at("order")}});
    if (!done) return refuse(done.error().context);
    if (const auto why = find_order_trouble(*done)) return refuse(*why);
  }
  if (options.command == "dump") {
    result = await(options.where, "dump", "dumping");
    const std::string why =
        result ? result->value("dump_failed", "") : std::string(result.error().context);
    if (!why.empty()) return refuse(why);
    if (is_elsewhere(*result))
      return refuse(
          "the files are not here: the daemon may have a /tmp of its own (PrivateTmp of its unit); "
          "a folder below /var/lib/smd is one for both");
  }
  if (options.quiet) return kDone;
  const std::string text = options.json
                               ? result->dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                               : print_command_answer(options.command, *result);
  fmt::print("{}", text);
  return kDone;
}

}  // namespace
}  // namespace smd::bin

int main(int argc, char** argv) {
  // A reader that has seen enough closes the pipe, and SIGPIPE ends us; a full disk is a failure.
  return smd::run_program("smctl", [&] {
    smd::bin::Options options;
    smd::bin::Commands commands(options);
    if (const auto code = commands.parse(argc, argv)) return *code;
    return smd::bin::run(options);
  });
}
