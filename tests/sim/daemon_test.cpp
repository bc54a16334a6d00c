// The daemon around the manager, on the real loop: it waits for a device, survives losing it, and
// keeps the LIDs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/base/log.h"
#include "smd/state/state_store.h"
#include "tests/sim/daemon_lab.h"
#include "tests/support/certificates.h"
#include "tests/support/exposition_check.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd {
namespace {

/// For its owner alone.
void write_tokens(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file) << text;
  using std::filesystem::perms;
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
}

TEST_F(DaemonTest, WaitsWithBackOffUntilTheDeviceIsThere) {
  const std::vector<Error> troubles = {{Errc::NoDevice, "no InfiniBand device"},
                                       {Errc::NoPermission, "no permission"},
                                       {Errc::Busy, "another subnet manager"}};
  std::size_t tries = 0;
  const unsigned long errors = log::count(log::Level::Error);
  const TimePoint began = runtime.now();
  TimePoint opened;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        if (tries < troubles.size()) return tl::unexpected<Error>(troubles[tries++]);
        opened = runtime.now();
        when_up([] { std::raise(SIGTERM); });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(tries, 3u);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 3u) << "one line per failure";
  EXPECT_GE(opened - began, Duration(std::chrono::seconds(3)));
  EXPECT_EQ(fabric.port_info(fabric.spec().sm_node, fabric.spec().sm_port).state(),
            PortState::Active);
  EXPECT_FALSE(load_state(options.config.sm.state_dir)->lids.empty());
}

TEST_F(DaemonTest, OnceIsNotOverBeforeAgentsOfCongestionControlAreTold) {
  options.once = true;
  options.config.congestion.enabled = true;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  for (std::uint32_t node = 0; node < fabric.spec().nodes.size(); ++node) {
    const sim::CongestionState& state = fabric.node_state(node).congestion(PortNum{1});
    EXPECT_NE(state, sim::CongestionState{}) << fabric.spec().nodes[node].description;
  }
}

TEST_F(DaemonTest, ShowsItsNumbersToPrometheus) {
  options.config.metrics.listen = folder / "metrics.sock";
  std::string text;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          text = read_page(options.config.metrics.listen);
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  const test::MetricPage page = test::read_metric_page(text);
  EXPECT_EQ(page.trouble, "");
  EXPECT_EQ(page.sum("smd_device_open"), 1);
  EXPECT_EQ(page.sum("smd_nodes"), static_cast<double>(fabric.spec().nodes.size()));
}

TEST_F(DaemonTest, ManagesWhereNobodyCanReadItsNumbers) {
  options.config.metrics.listen = "192.0.2.1:9684";  // nobody has it (RFC 5737)
  std::string status;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          status = ask("status").dump();
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_THAT(status, testing::HasSubstr("nobody can read numbers: "));
}

TEST_F(DaemonTest, SaysWhichBuildItIs) {
  options.version = "0.1.0+git20261201.093412.1a2b3c4d5e";
  std::string said;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          said = ask("status").value("version", "");
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(said, options.version);
}

/// In systemd's place while it lives: what a service says of itself.
class ServiceManager {
 public:
  explicit ServiceManager(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }

  ServiceManager(const ServiceManager&) = delete;

  ~ServiceManager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(socket_);
  }

  /// Up to now.
  const std::string& heard() {
    std::array<char, 1024> text{};
    for (ssize_t bytes = 0; (bytes = ::recv(socket_, text.data(), text.size(), 0)) > 0;)
      heard_ += std::string(text.data(), static_cast<std::size_t>(bytes)) + "\n";
    return heard_;
  }

 private:
  int socket_;
  std::string heard_;
};

/// A boot does not wait for an adapter that is dead; whoever asks systemd is told why.
TEST_F(DaemonTest, IsReadyWhereTheAdapterCannotBeOpened) {
  ServiceManager systemd(folder / "notify");
  std::size_t tries = 0;
  {
    Daemon daemon(
        runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
          if (++tries > 1) std::raise(SIGTERM);
          return fail(Errc::NoDevice, "no InfiniBand port is up");
        });
    EXPECT_EQ(daemon.run(), 0);
  }
  EXPECT_THAT(systemd.heard(), testing::HasSubstr("READY=1"));
  EXPECT_THAT(systemd.heard(), testing::HasSubstr("STATUS=no InfiniBand port is up"));
}

/// Nor for a cycle that fails, during which nobody could reload smd or upgrade it.
TEST_F(DaemonTest, IsReadyWhereTheFirstCycleFails) {
  options.config.sm.lmc = 7;
  options.config.sm.lid_max = Lid{100};  // no range of 128 for the manager's own port
  ServiceManager systemd(folder / "notify");
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        operators.emplace_back([&] {
          const auto has_failed = [&] {
            return systemd.heard().find("STATUS=failed: ") != std::string::npos;
          };
          EXPECT_TRUE(test::wait_until(has_failed, std::chrono::seconds(60)));
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  for (std::thread& each : operators) each.join();
  operators.clear();
  EXPECT_THAT(systemd.heard(), testing::HasSubstr("READY=1"));
}

/// As an address that comes up after smd; and a copy that cannot be kept ends no manager.
TEST_F(DaemonTest, TriesAgainWhereItCouldNotListen) {
  options.config.metrics.listen = folder / "later" / "metrics.sock";
  std::ofstream(folder / "later") << "a file where the folder should be";
  options.config.replica.listen = "127.0.0.1:0";
  options.config.replica.certificate = options.config.replica.key = options.config.replica.ca =
      folder / "none.pem";
  std::string status, afterwards;
  bool is_read = false;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          status = ask("status").dump();
          std::filesystem::remove(folder / "later");
          const auto has_numbers = [&] {
            return ask("status").dump().find("nobody can read numbers") == std::string::npos;
          };
          is_read = test::wait_until(has_numbers, std::chrono::seconds(60)) &&
                    !read_page(options.config.metrics.listen).empty();
          afterwards = ask("status").dump();
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_THAT(status, testing::HasSubstr("nobody can read numbers: "));
  EXPECT_TRUE(is_read);
  EXPECT_THAT(afterwards, testing::HasSubstr("managers keep no copy of each other's state: "));
}

TEST_F(DaemonTest, TakesOrdersOverHttp) {
  options.config.rest = {.listen = folder / "rest.sock", .token_file = folder / "tokens"};
  options.config.metrics.listen = folder / "metrics.sock";
  write_tokens(folder / "tokens", "0123456789abcdef\n");
  const std::string body = R"({"pkey":"0x20","guids":["0001000000000003"]})";
  const auto post = [&](const std::string& token) {
    return read_page(
        options.config.rest.listen,
        fmt::format("POST /ufmRestV3/resources/pkeys HTTP/1.1\r\nAuthorization: Basic {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    token,
                    body.size(),
                    body));
  };
  std::string numbers;
  nlohmann::json shown;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          EXPECT_EQ(post("fedcba9876543210"), R"({"error":"no token of rest.token_file"})");
          EXPECT_EQ(read_page(options.config.rest.listen, "nonsense\r\n\r\n"),
                    "this is no HTTP request\n");
          EXPECT_EQ(post("0123456789abcdef"), "{}");
          const auto is_in_force = [&] {
            return ask("partition").value("adopting", true) == false;
          };
          EXPECT_TRUE(test::wait_until(is_in_force, std::chrono::seconds(60)));
          shown = ask("partition", {{"verb", "show"}, {"partition", "0x20"}});
          numbers = read_page(options.config.metrics.listen);
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(shown.value("partition", ""), "api_pkey_0x20");
  EXPECT_EQ(shown.at("members").size(), 1u);
  ASSERT_EQ(load_state(options.config.sm.state_dir)->partitions.size(), 1u) << "it is kept";
  const test::MetricPage page = test::read_metric_page(numbers);
  EXPECT_EQ(page.trouble, "");
  EXPECT_EQ(page.sum("smd_rest_requests_total"), 3) << "taken, without a token, no request";
}

TEST_F(DaemonTest, TokensAreReadAgainWithTheConfiguration) {
  options.config_path = folder / "smd.toml";
  std::ofstream(options.config_path) << "# nothing\n";
  options.config.rest = {.listen = folder / "rest.sock", .token_file = folder / "tokens"};
  write_tokens(folder / "tokens", "0123456789abcdef\n");
  const auto may_call = [&](const std::string& token) {
    return read_page(options.config.rest.listen,
                     fmt::format("GET /ufmRestV3/app/ufm_version HTTP/1.1\r\nAuthorization: Basic "
                                 "{}\r\n\r\n",
                                 token))
               .find("ufm_release_version") != std::string::npos;
  };
  const unsigned long errors = log::count(log::Level::Error);
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          EXPECT_TRUE(may_call("0123456789abcdef"));
          write_tokens(folder / "tokens", "fedcba9876543210\n");
          EXPECT_FALSE(may_call("fedcba9876543210")) << "not before it is told";
          std::raise(SIGHUP);
          EXPECT_TRUE(test::wait_until([&] { return may_call("fedcba9876543210"); },
                                       std::chrono::seconds(60)));
          EXPECT_FALSE(may_call("0123456789abcdef"));
          write_tokens(folder / "tokens", "short\n");
          std::raise(SIGHUP);
          EXPECT_TRUE(test::wait_until([&] { return log::count(log::Level::Error) > errors; },
                                       std::chrono::seconds(60)));
          EXPECT_TRUE(may_call("fedcba9876543210")) << "what was good stays";
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 1u);
}

TEST_F(DaemonTest, OtherCertificatesBetweenManagersAreSaidToTakeARestart) {
  options.config_path = folder / "smd.toml";
  std::ofstream(options.config_path) << "# nothing\n";
  options.config.replica = {.listen = "127.0.0.1:0",
                            .peers = {},
                            .certificate = folder / "own.pem",
                            .key = folder / "own.key",
                            .ca = folder / "ca.pem"};
  const test::Authority authority("ours");
  authority.write_certificate(options.config.replica.ca);
  authority.issue("head", options.config.replica.certificate, options.config.replica.key);
  const auto before = log::entries_after(0);
  const std::uint64_t last = before.empty() ? 0 : before.back().number;
  const auto said = [last] {
    std::vector<std::string> out;
    for (const log::Entry& each : log::entries_after(last)) {
      if (each.event == "config.change" && each.text.starts_with("key=replica.") &&
          each.text.find(" what=content ") != std::string::npos)
        out.push_back(each.text);
    }
    return out;
  };
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          authority.issue("head", options.config.replica.certificate, options.config.replica.key);
          std::raise(SIGHUP);
          EXPECT_TRUE(
              test::wait_until([&] { return said().size() >= 2; }, std::chrono::seconds(60)));
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_THAT(said(),
              testing::ElementsAre("key=replica.certificate what=content effect=after_restart",
                                   "key=replica.key what=content effect=after_restart"));
}

TEST_F(DaemonTest, WithoutTokensItRunsAndNobodyCanCall) {
  options.config.rest = {.listen = folder / "rest.sock", .token_file = folder / "tokens"};
  write_tokens(folder / "tokens", "short\n");
  const unsigned long errors = log::count(log::Level::Error);
  nlohmann::json alarms;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          alarms = ask("status").value("alarms", nlohmann::json::array());
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 1u);
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_NE(alarms.at(0).get<std::string>().find("tokens:1:1: no token"), std::string::npos);
}

TEST_F(DaemonTest, ReopensALostDevice) {
  int opened = 0;
  const unsigned long errors = log::count(log::Level::Error);
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        auto transport = std::make_unique<sim::SimTransport>(
            fabric, fabric.spec().sm_node, fabric.spec().sm_port);
        if (++opened == 1) {
          sim::SimTransport* device = transport.get();
          when_up([this, device] { runtime.post([device] { device->unplug(); }); });
        } else {
          when_up([] { std::raise(SIGTERM); });
        }
        return transport;
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 1u) << "one line that says it all";
}

TEST_F(DaemonTest, OpensTheTurnsThatAFormerLifeLeftBlocked) {
  const sim::FabricSpec& spec = fabric.spec();
  const auto sw = std::ranges::find(spec.nodes, NodeType::Switch, &sim::NodeSpec::type);
  const std::vector<TurnRef> left = {{sw->guid, PortNum{1}, PortNum{2}}};
  ASSERT_TRUE(save_state(options.config.sm.state_dir, {.turns = left}, StateKind::kTurns));
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([] { std::raise(SIGTERM); });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_TRUE(load_state(options.config.sm.state_dir)->turns.empty());
}

/// Lives that follow each other on one fabric; what the log says of clients that are asked.
struct RegisteringClients : DaemonTest {
  std::string live(
      const std::string& state, std::function<void()> in_the_end = [] {}) {
    const auto before = log::entries_after(0);
    const std::uint64_t last = before.empty() ? 0 : before.back().number;
    options.config.sm.state_dir = state;
    Daemon daemon(
        runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
          when_up([this, in_the_end] {
            in_the_end();
            ask("shutdown");
          });
          return plug_in();
        });
    EXPECT_EQ(daemon.run(), 0);
    std::string said;
    for (const log::Entry& each : log::entries_after(last)) {
      if (each.event == "clients.reregister" || each.event == "records.incomplete")
        said += each.event + " " + each.text + "\n";
    }
    return said;
  }
};

/// Of the others a start cannot know what came after them.
TEST_F(RegisteringClients, AreAskedUnlessTheLastLifeEndedInOrder) {
  const std::string state = folder / "state", copy = folder / "copy";
  live(state);
  EXPECT_EQ(live(state), "") << "as after systemctl restart";
  EXPECT_EQ(live(state, [&] { std::filesystem::copy(state, copy); }), "");
  const std::string said = live(copy);
  EXPECT_NE(said.find("records.incomplete "), std::string::npos) << said;
  EXPECT_NE(said.find("clients.reregister ports="), std::string::npos) << said;
  EXPECT_EQ(live(copy), "") << "once";
  // A start that is refused has told nobody anything.
  const auto partitions = std::exchange(options.config.partitions.file, folder / "none");
  EXPECT_EQ(Daemon(runtime,
                   options,
                   [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
                     return plug_in();
                   })
                .run(),
            2);
  options.config.partitions.file = partitions;
  EXPECT_EQ(live(copy), "") << "as before it";
}

/// A daemon that is told to read `text` in place of its configuration, once it is up.
class RefusedReload : public DaemonTest {
 protected:
  RefusedReload() { options.config_path = folder / "smd.toml"; }

  /// It says why in one line that has `why`, and the next cycle goes as before.
  void expect_refused(const std::string& text, const std::string& why) {
    std::ofstream(options.config_path) << text;
    const unsigned long errors = log::count(log::Level::Error);
    const auto before = log::entries_after(0);
    const std::uint64_t last = before.empty() ? 0 : before.back().number;
    AsioRuntime loop;
    sim::SimFabric net(
        loop, sim::load_fabric("fat-tree:k=4,levels=2").value(), sim::Timing::none(), 1);
    Daemon daemon(
        loop, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
          when_up([this, errors] {
            std::raise(SIGHUP);
            const auto refused = [&] { return log::count(log::Level::Error) > errors; };
            const auto cycles = [this] {
              return ask("status").value("/last_sweep/reason"_json_pointer, "");
            };
            EXPECT_TRUE(test::wait_until(refused, std::chrono::seconds(60)));
            ask("sweep", {{"full", true}});
            EXPECT_TRUE(
                test::wait_until([&] { return cycles() == "command"; }, std::chrono::seconds(60)));
            std::raise(SIGTERM);
          });
          return std::make_unique<sim::SimTransport>(net, net.spec().sm_node, net.spec().sm_port);
        });
    EXPECT_EQ(daemon.run(), 0);
    EXPECT_EQ(log::count(log::Level::Error) - errors, 1u)
        << text << ": one line, and no failed cycle";
    std::string said;
    for (const log::Entry& each : log::entries_after(last)) {
      if (each.event == "config.reload") said += each.text;
    }
    EXPECT_NE(said.find(why), std::string::npos) << said;
    lmc = net.port_info(net.spec().sm_node, net.spec().sm_port).lmc;
  }

  unsigned lmc = 0;  // of the manager's port, in the end
};

TEST_F(RefusedReload, OfWhatCannotWorkKeepsTheOldConfiguration) {
  options.config.sm.m_key = MKey{0x11};
  expect_refused("[sm]\nengine = \"updnn\"\n", "no engine is called 'updnn'");
  expect_refused("[sm]\nm_key = \"0x22\"\n", "the M_Keys that protect the ports now");
}

TEST_F(RefusedReload, OfWhatBreaksARuleWithTheCommandLine) {
  options.config.sm.engine = {"updn"};
  options.override_config = [](Config& config) { config.sm.engine = {"updn"}; };
  const std::string text =
      "[sm]\nlmc = 1\nengine = \"lash\"\npath_sets = [\"updn\", \"shortest\"]\n";
  ASSERT_TRUE(parse_config(text, "smd.toml")) << "good by itself";
  expect_refused(text, "with what the command line says: sm.path_sets and sm.engine updn");
  EXPECT_EQ(lmc, 0u) << "nothing of it is in force";
}

TEST_F(RefusedReload, OfWhatBreaksARuleWithTheCommandLineAndByItself) {
  options.config.sm.engine = {"updn"};
  options.overridden = {"sm.engine"};
  options.override_config = [](Config& config) { config.sm.engine = {"updn"}; };
  const std::string text = "[sm]\nlmc = 1\npath_sets = [\"updn\", \"shortest\"]\n";
  ASSERT_FALSE(parse_config(text, "smd.toml")) << "auto makes no such paths";
  EXPECT_TRUE(parse_config(text, "smd.toml", nullptr, {"sm.engine"}));
  expect_refused(text, "with what the command line says: sm.path_sets and sm.engine updn");
}

TEST_F(RefusedReload, OfWhatBreaksARuleWithWhatStaysUntilARestart) {
  options.config.smp.directed_only = DirectedOnly::Yes;
  const std::string text = "[sm]\nmode = \"basic\"\nlmc = 1\n";
  ASSERT_TRUE(parse_config(text, "smd.toml")) << "good by itself";
  expect_refused(text, "with what stays as it is until a restart: sm.mode basic sends SMPs by LID");
  EXPECT_EQ(lmc, 0u) << "nothing of it is in force";
}

/// Whether a file has a line with `words`.
bool has_line(const std::filesystem::path& path, std::string_view words) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST_F(DaemonTest, SignalsOpenTheLogFileAnew) {
  const std::filesystem::path file = folder / "smd.log", other = folder / "other.log";
  options.config_path = folder / "smd.toml";
  options.config.log.sink = file;
  ASSERT_TRUE(log::open_sink(file));
  const auto wait_for = [](const std::filesystem::path& path, std::string_view words) {
    EXPECT_TRUE(test::wait_until([&] { return has_line(path, words); }, std::chrono::seconds(60)))
        << path << " has no " << words;
  };
  const auto configure = [&](const std::filesystem::path& sink) {
    std::ofstream(options.config_path) << "[log]\nsink = \"" << sink.string() << "\"\n";
  };
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          // Moved, and SIGUSR1.
          std::filesystem::rename(file, folder / "smd.log.1");
          std::raise(SIGUSR1);
          EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(file); },
                                       std::chrono::seconds(60)));
          ask("sweep", {{"full", true}});
          wait_for(file, "reason=\"command\"");
          // Moved, and SIGHUP with a configuration that has a fault.
          std::filesystem::rename(file, folder / "smd.log.2");
          std::ofstream(options.config_path) << "[log]\nsnik = \"x\"\n";
          std::raise(SIGHUP);
          wait_for(file, "error config.reload");
          // A name that cannot be opened.
          std::filesystem::rename(file, folder / "smd.log.3");
          std::filesystem::create_directory(file);
          std::raise(SIGUSR1);
          wait_for(folder / "smd.log.3", "error log.reopen");
          // Another place by the configuration; one that is none is tried again.
          std::filesystem::create_directory(other);
          configure(other);
          std::raise(SIGHUP);
          wait_for(folder / "smd.log.3", "other.log");
          std::filesystem::remove(other);
          std::raise(SIGHUP);
          EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(other); },
                                       std::chrono::seconds(60)));
          ask("sweep", {{"full", true}});
          wait_for(other, "cycle");
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  ASSERT_TRUE(log::open_sink("stderr"));
  EXPECT_TRUE(has_line(folder / "smd.log.1", "transport.open"));
  EXPECT_TRUE(has_line(other, "daemon.stop"));
}

TEST_F(DaemonTest, KeepsDumpsAsTheSubnetIs) {
  const std::filesystem::path dump = folder / "dump";
  options.config.sm.dump_dir = dump;
  options.config.sweep.interval_s = 1;
  const auto lines = [&](const char* name) {
    return std::ranges::count(test::read_text(dump / name), '\n');
  };
  const auto wait_for = [&](const char* name, long wanted) {
    EXPECT_TRUE(test::wait_until([&] { return lines(name) == wanted; }, std::chrono::seconds(60)))
        << name << " has " << lines(name) << " lines, not " << wanted;
  };
  const sim::FabricSpec& spec = fabric.spec();
  long ends = 0;
  for (const sim::NodeSpec& node : spec.nodes) {
    for (const sim::PortSpec& port : node.ports) ends += port.peer_node != sim::kNoNode ? 1 : 0;
  }
  const auto node = static_cast<std::uint32_t>(
      std::ranges::find(spec.nodes, NodeType::Switch, &sim::NodeSpec::type) - spec.nodes.begin());
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          wait_for("opensm-subnet.lst", ends);
          wait_for("neighbors", 2 * ends);
          std::uint8_t port = 1;
          while (spec.nodes[spec.nodes[node].ports[port].peer_node].type != NodeType::Switch)
            ++port;
          runtime.post([&, port] { fabric.set_link(node, PortNum{port}, false); });
          wait_for("opensm-subnet.lst", ends - 2);
          wait_for("neighbors", 2 * (ends - 2));
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
}

TEST_F(DaemonTest, SaysOnceThatDumpsCannotBeWritten) {
  std::ofstream(folder / "file") << "x";
  options.config.sm.dump_dir = folder / "file";
  const unsigned long errors = log::count(log::Level::Error);
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([errors] {
          EXPECT_TRUE(test::wait_until([&] { return log::count(log::Level::Error) > errors; },
                                       std::chrono::seconds(60)));
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 1u);
}

TEST_F(DaemonTest, OnceLeavesDumpsOfWhatIsUp) {
  options.once = true;
  options.config.sm.dump_dir = folder / "dump";
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  const std::string text = test::read_text(folder / "dump" / "opensm-lfts.dump");
  EXPECT_NE(text.find("'" + fabric.spec().nodes.back().description + "'"), std::string::npos)
      << "with the names, which are asked for last";
  EXPECT_TRUE(std::filesystem::exists(folder / "dump" / "neighbors"));
}

TEST_F(DaemonTest, OnceWithoutADeviceIsOver) {
  options.once = true;
  Daemon daemon(
      runtime, options, [](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        return fail(Errc::NoDevice, "no InfiniBand device");
      });
  EXPECT_EQ(daemon.run(), 1);
}

TEST_F(DaemonTest, ASecondOneOnTheSameStateIsRefusedAndTouchesNothing) {
  const std::string state = options.config.sm.state_dir;
  const auto first = StateLock::take(state);
  ASSERT_TRUE(first) << first.error().context;
  Daemon second(
      runtime, options, [](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        ADD_FAILURE() << "opened the device";
        return fail(Errc::NoDevice, "");
      });
  testing::internal::CaptureStderr();
  EXPECT_EQ(second.run(), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "smd: another smd keeps its state in " + state + ": process " +
                std::to_string(::getpid()) + "; stop it, or name another directory\n");
}

TEST_F(DaemonTest, TheStateIsItsOwnUntilItEnds) {
  const std::string state = options.config.sm.state_dir;
  {
    Daemon daemon(
        runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
          const auto other = StateLock::take(state);
          EXPECT_FALSE(other);
          if (!other) {
            EXPECT_EQ(other.error().code, Errc::Busy);
          }
          runtime.post([] { std::raise(SIGTERM); });
          return plug_in();
        });
    EXPECT_EQ(daemon.run(), 0);
  }
  EXPECT_TRUE(StateLock::take(state));
}

TEST_F(DaemonTest, MakesTheDirectoriesOfItsSocketAndItsState) {
  options.config.admin.socket = folder / "run" / "smd" / "smd.sock";
  options.config.sm.state_dir = folder / "lib" / "smd";
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        EXPECT_TRUE(std::filesystem::is_socket(folder / "run" / "smd" / "smd.sock"));
        runtime.post([] { std::raise(SIGTERM); });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
}

class DamagedState : public DaemonTest, public testing::WithParamInterface<const char*> {};

TEST_P(DamagedState, StopsItBeforeItTouchesTheFabric) {
  std::filesystem::create_directories(options.config.sm.state_dir);
  FILE* file = std::fopen((options.config.sm.state_dir + "/" + GetParam()).c_str(), "w");
  std::fputs("0x0001 what\n", file);
  std::fclose(file);
  Daemon daemon(
      runtime, options, [](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        ADD_FAILURE() << "opened the device";
        return fail(Errc::NoDevice, "");
      });
  testing::internal::CaptureStderr();
  EXPECT_EQ(daemon.run(), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(std::string(GetParam()) + ":1:"), std::string::npos) << said;
  EXPECT_NE(said.find("or move it away"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Files,
                         DamagedState,
                         testing::Values("lids", "turns", "cc_keys", "partition_orders"));

class DamagedHint : public DamagedState {};

TEST_P(DamagedHint, IsPutAsideAndNoReasonNotToStart) {
  const std::string hint = options.config.sm.state_dir + "/" + GetParam();
  std::filesystem::create_directories(options.config.sm.state_dir);
  std::ofstream(hint) << std::string(700, '\0');
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([] { std::raise(SIGTERM); });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_EQ(test::read_text(hint + ".damaged"), std::string(700, '\0'));
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedHint, testing::Values("directions", "lattice"));

}  // namespace
}  // namespace smd
