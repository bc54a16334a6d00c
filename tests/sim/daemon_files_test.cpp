// Files that the daemon's configuration names, and what is ordered beside them, over several lives
// of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/state/state_store.h"
#include "tests/sim/daemon_lab.h"

namespace smd {
namespace daemon_files_test {

/// Lives of a daemon on a fabric of their own, with a partition file.
class FaultyFiles : public DaemonTest {
 protected:
  FaultyFiles() {
    options.config_path = folder / "smd.toml";
    std::ofstream(options.config_path) << "[partitions]\nfile = \"" << file.string() << "\"\n";
    options.config.partitions.file = file;
  }

  void write(const std::string& text) const { std::ofstream(file) << text; }

  std::string red(const char* number) const {
    return "red=" + std::string(number) + " : " + print_guid(fabric.spec().sm_node) + "=full;\n";
  }

  std::string print_guid(std::uint32_t node) const {
    return fmt::format("{}",
                       fabric.spec().nodes[node].ports.at(fabric.spec().sm_port.value()).guid);
  }

  /// One life, in which somebody does `act` when the subnet is up.
  int live(std::function<void()> act) {
    AsioRuntime loop;
    sim::SimFabric net(
        loop, sim::load_fabric("fat-tree:k=4,levels=2").value(), sim::Timing::none(), 1);
    opened = false;
    Daemon daemon(
        loop, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
          opened = true;
          when_up([act] {
            act();
            std::raise(SIGTERM);
          });
          return std::make_unique<sim::SimTransport>(net, net.spec().sm_node, net.spec().sm_port);
        });
    const int code = daemon.run();
    const sim::PortRegs& own = net.node_state(net.spec().sm_node).ports[net.spec().sm_port.value()];
    p_keys = own.p_keys;
    own_guid = own.guid;
    m_key = own.info.m_key;
    tables.clear();
    for (std::uint32_t node = 0; node < net.spec().nodes.size(); ++node) {
      for (const PortNum port : net.node_state(node).lft) tables += fmt::format(" {}", port);
      tables += '\n';
    }
    return code;
  }

  [[nodiscard]] bool has(std::uint16_t p_key) const {
    return std::ranges::find(p_keys, PKey{p_key}) != p_keys.end();
  }

  std::filesystem::path file = folder / "partitions.conf";
  bool opened = false;
  std::string tables;  // of forwarding, when the last life ended
  // Of the manager's port when the last life ended.
  std::vector<PKey> p_keys;
  Guid own_guid;
  MKey m_key;
};

TEST_F(FaultyFiles, AreReplacedByWhatTheySaidBefore) {
  nlohmann::json alarms;
  write(red("0x0010"));
  EXPECT_EQ(live([&] { alarms = ask("status").at("alarms"); }), 0);
  EXPECT_TRUE(has(0x8010));
  EXPECT_EQ(alarms, nlohmann::json::array());

  write(red("0x0020") + "green=0x0030 : nobody=full;\n");
  nlohmann::json mended;
  EXPECT_EQ(
      live([&] {
        alarms = ask("status").at("alarms");
        write(red("0x0020"));
        std::raise(SIGHUP);
        EXPECT_TRUE(test::wait_until([&] { return ask("status").at("alarms").empty(); },
                                     std::chrono::seconds(60)));
        ask("sweep", {{"full", true}});
        EXPECT_TRUE(test::wait_until(
            [&] { return ask("status").value("/last_sweep/reason"_json_pointer, "") == "command"; },
            std::chrono::seconds(60)));
      }),
      0);
  ASSERT_EQ(alarms.size(), 1u);
  const std::string alarm = alarms[0].get<std::string>();
  EXPECT_EQ(alarm.find(file.string() + ":2:16: 'nobody' is no port"), 0u) << alarm;
  EXPECT_NE(alarm.find("from " + options.config.sm.state_dir + "/partitions"), std::string::npos)
      << alarm;
  EXPECT_TRUE(has(0x8020)) << "the file that was mended";

  write("");
  std::filesystem::remove(file);
  EXPECT_EQ(live([] {}), 0);
  EXPECT_TRUE(has(0x8020)) << "what the reload brought is kept, too";
}

TEST_F(FaultyFiles, TheOldPartitionsAreInForceUntilTheyAreMended) {
  write(red("0x0010"));
  EXPECT_EQ(live([] {}), 0);
  write(red("0x0020") + "green=0x0030 : nobody=full;\n");
  const unsigned long errors = log::count(log::Level::Error);
  EXPECT_EQ(live([] {}), 0);
  EXPECT_TRUE(has(0x8010));
  EXPECT_FALSE(has(0x8020));
  EXPECT_EQ(log::count(log::Level::Error) - errors, 2u) << "what is wrong, and what is in force";
  EXPECT_EQ(live([] { std::raise(SIGHUP); }), 0);
  EXPECT_TRUE(has(0x8010)) << "a reload of what is still wrong";
}

/// Since the last call: those of the event that have the words.
std::size_t count_lines(std::string_view event, std::string_view words) {
  static std::uint64_t last = 0;
  std::size_t lines = 0;
  for (const log::Entry& each : log::entries_after(last)) {
    last = each.number;
    if (each.event == event && each.text.find(words) != std::string::npos) ++lines;
  }
  return lines;
}

// As with an smd.toml that was cut off before [partitions].
TEST_F(FaultyFiles, ThatAreNotNamedAnyMoreAreSaidOnceAndTheirTextStays) {
  const std::string copy = options.config.sm.state_dir + "/partitions.unnamed";
  write(red("0x0010"));
  EXPECT_EQ(live([] {}), 0);
  EXPECT_EQ(count_lines("config.unnamed", ""), 0u);
  options.config.partitions.file.clear();
  EXPECT_EQ(live([] {}), 0);
  EXPECT_EQ(count_lines("config.unnamed", "kind=partitions kept=" + copy), 1u);
  EXPECT_FALSE(has(0x8010));
  EXPECT_NE(test::read_text(copy).find("red=0x0010"), std::string::npos);
  EXPECT_EQ(live([] {}), 0);
  EXPECT_EQ(count_lines("config.unnamed", ""), 0u) << "once";

  // Likewise by a reload.
  options.config.partitions.file = file;
  EXPECT_EQ(live([&] {
              std::ofstream(options.config_path) << "[sm]\n";
              std::raise(SIGHUP);
              EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(copy); },
                                           std::chrono::seconds(60)));
            }),
            0);
  EXPECT_EQ(count_lines("config.unnamed", "kind=partitions"), 1u);
}

TEST_F(FaultyFiles, WithoutACopyAreTheEnd) {
  write(red("0x0020") + "green=0x0030 : nobody=full;\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(live([] {}), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find(file.string() + ":2:16: 'nobody' is no port"), 0u) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_FALSE(opened);
}

/// Files of other kinds. What they say is seen in the SL of a path and in the forwarding tables.
enum class Kind : std::uint8_t { QosPolicy, Roots };

class FaultyFilesOfAKind : public FaultyFiles, public testing::WithParamInterface<Kind> {
 protected:
  FaultyFilesOfAKind() {
    options.config.partitions.file.clear();
    (is_qos() ? options.config.qos.policy_file : options.config.sm.roots_file) = file;
    std::ofstream(options.config_path) << (is_qos() ? "[qos]\npolicy_file" : "[sm]\nroots_file")
                                       << " = \"" << file.string() << "\"\n";
  }

  [[nodiscard]] static bool is_qos() { return GetParam() == Kind::QosPolicy; }

  /// Two texts that are good, and that routes or paths tell apart.
  [[nodiscard]] std::string good(unsigned which) const {
    if (is_qos()) return fmt::format("qos-ulps\ndefault: {}\nend-qos-ulps\n", 3 + which);
    // With a leaf as root, the way from one top switch to the other leads through that leaf.
    const std::string leaf = fmt::format("sw-0-{}", which);
    const auto& nodes = fabric.spec().nodes;
    return fmt::format("{}\n", std::ranges::find(nodes, leaf, &sim::NodeSpec::description)->guid);
  }

  /// Its fault is in the second line.
  [[nodiscard]] static std::string bad() {
    return is_qos() ? "qos-ulps\nnonsense: 1\nend-qos-ulps\n" : "# of the second row\nnonsense\n";
  }

  /// A life, and what was in force when somebody had done `act`.
  std::string live_and_see(std::function<void()> act = [] {}) {
    std::string sl;
    EXPECT_EQ(live([&] {
                act();
                sl = sl_of_a_path();
              }),
              0);
    return is_qos() ? sl : tables;
  }

  [[nodiscard]] std::string sl_of_a_path() const {
    const auto nodes = ask("sa", {{"record", "NodeRecord"}, {"where", {{"node_type", 1}}}});
    if (nodes.value("count", 0) < 2) return "two adapters are missing";
    const auto lid = [&](unsigned i) {
      return nodes.at("records").at(i).at("lid").get<unsigned>();
    };
    const auto paths = ask("sa",
                           {{"record", "PathRecord"},
                            {"where", {{"slid", lid(0)}, {"dlid", lid(1)}, {"numb_path", 1}}}});
    if (paths.value("count", 0) != 1) return "no path";
    return "SL " + paths.at("records").at(0).at("sl").dump();
  }

  void reload() const {
    std::raise(SIGHUP);
    EXPECT_TRUE(test::wait_until([&] { return ask("status").at("alarms").empty(); },
                                 std::chrono::seconds(60)));
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds,
                         FaultyFilesOfAKind,
                         testing::Values(Kind::QosPolicy, Kind::Roots),
                         [](const auto& given) {
                           return given.param == Kind::QosPolicy ? "QosPolicy" : "Roots";
                         });

TEST_P(FaultyFilesOfAKind, AreReplacedByWhatTheySaidBefore) {
  write(good(1));
  const std::string second = live_and_see();
  write(good(0));
  const std::string first = live_and_see();
  ASSERT_NE(first, second);
  if (is_qos()) {
    EXPECT_EQ(first, "SL 3");
  }

  write(bad());
  nlohmann::json alarms;
  const unsigned long errors = log::count(log::Level::Error);
  EXPECT_EQ(live_and_see([&] { alarms = ask("status").at("alarms"); }), first);
  EXPECT_EQ(log::count(log::Level::Error) - errors, 2u) << "what is wrong, and what is in force";
  ASSERT_EQ(alarms.size(), 1u);
  const std::string alarm = alarms[0].get<std::string>();
  EXPECT_EQ(alarm.find(file.string() + ":2:1: "), 0u) << alarm;
  const std::string copy = is_qos() ? "/qos_policy" : "/roots";
  EXPECT_NE(alarm.find("from " + options.config.sm.state_dir + copy), std::string::npos) << alarm;

  // Mended while it runs; what that said is kept for the next start, too.
  EXPECT_NE(live_and_see([&] {
              write(good(1));
              reload();
            }),
            "");
  std::filesystem::remove(file);
  EXPECT_EQ(live_and_see(), second);
}

TEST_P(FaultyFilesOfAKind, WithoutACopyAreTheEnd) {
  for (const bool missing : {false, true}) {
    write(bad());
    if (missing) std::filesystem::remove(file);
    testing::internal::CaptureStderr();
    EXPECT_EQ(live([] {}), 2);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find(file.string() + (missing ? ": " : ":2:1: ")), 0u) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_FALSE(opened);
  }
}

/// A manager whose M_Keys come from a file.
class MKeyFiles : public FaultyFiles {
 protected:
  MKeyFiles() {
    options.config.partitions.file.clear();
    options.config.sm.m_key_file = file;
    std::ofstream(options.config_path) << "[sm]\nm_key_file = \"" << file.string() << "\"\n";
  }

  void write(const std::string& text) const {
    std::ofstream(file) << text;
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  /// SIGHUP, and a sweep with the new keys has ended.
  void reload() {
    std::raise(SIGHUP);
    EXPECT_TRUE(test::wait_until(
        [&] {
          return ask("status").value("/last_sweep/reason"_json_pointer, "") == "configuration";
        },
        std::chrono::seconds(60)));
  }

  /// To its end.
  void sweep() {
    ask("sweep", {{"full", true}});
    EXPECT_TRUE(test::wait_until(
        [&] { return ask("status").value("/last_sweep/reason"_json_pointer, "") == "command"; },
        std::chrono::seconds(60)));
  }

  static std::string seed(char digit) { return "seed " + std::string(32, digit) + "\n"; }

  [[nodiscard]] MKey key(char byte) const { return derive_m_key(std::string(16, byte), own_guid); }
};

TEST_F(MKeyFiles, GiveWayToNewSeedsThatKeepTheOldOne) {
  write(seed('1'));
  EXPECT_EQ(live([] {}), 0);
  EXPECT_EQ(m_key, key(0x11));
  const unsigned long errors = log::count(log::Level::Error);
  EXPECT_EQ(live([&] {
              write(seed('2'));
              std::raise(SIGHUP);
              EXPECT_TRUE(test::wait_until([&] { return log::count(log::Level::Error) > errors; },
                                           std::chrono::seconds(60)));
              sweep();
            }),
            0);
  EXPECT_EQ(m_key, key(0x11)) << "ports would refuse it";
  EXPECT_EQ(log::count(log::Level::Error) - errors, 1u);
  write(seed('1'));
  EXPECT_EQ(live([&] {
              write(seed('2') + seed('1'));
              reload();
            }),
            0);
  EXPECT_EQ(m_key, key(0x22));
}

TEST_F(MKeyFiles, ThatAreFaultyAreReplacedByWhatTheySaidBefore) {
  write(seed('1'));
  EXPECT_EQ(live([] {}), 0);
  write("seed 12\n");
  EXPECT_EQ(live([] {}), 0);
  EXPECT_EQ(m_key, key(0x11));
  const auto copy = std::filesystem::status(options.config.sm.state_dir + "/m_keys").permissions();
  EXPECT_EQ(copy & (std::filesystem::perms::others_all | std::filesystem::perms::group_all),
            std::filesystem::perms::none);
}

/// Partitions that are ordered through the socket, and lives of the daemon that had the order.
class OrderedPartitions : public FaultyFiles {
 protected:
  /// The answer: result, or the line that says why not.
  nlohmann::json order(nlohmann::json args) const {
    const auto answer =
        send_command({.socket = options.config.admin.socket}, "partition", std::move(args));
    if (!answer) return answer.error().context;
    std::string refusal;
    EXPECT_TRUE(test::wait_until(
        [&] {
          const auto now = send_command({.socket = options.config.admin.socket},
                                        "partition",
                                        {{"order", answer->at("order")}});
          if (!now) refusal = now.error().context;
          return !now || !now->value("adopting", true);
        },
        std::chrono::seconds(60)));
    return refusal.empty() ? *answer : nlohmann::json(refusal);
  }

  nlohmann::json create_blue() const {
    return {{"verb", "create"},
            {"partition", "blue"},
            {"p_key", "0x40"},
            {"ports", {print_guid(fabric.spec().sm_node)}}};
  }

  void hang_up(const std::string& reason) const {
    const auto sweeps = [this] {
      return ask("status").value("/last_sweep/reason"_json_pointer, "");
    };
    ask("sweep", {{"full", true}});
    EXPECT_TRUE(test::wait_until([&] { return sweeps() == "command"; }, std::chrono::seconds(60)));
    std::raise(SIGHUP);
    EXPECT_TRUE(test::wait_until([&] { return sweeps() == reason; }, std::chrono::seconds(60)));
  }
};

TEST_F(OrderedPartitions, SurviveARestartAndAReload) {
  write(red("0x0010"));
  EXPECT_EQ(live([&] { EXPECT_TRUE(order(create_blue()).value("changed", false)); }), 0);
  EXPECT_TRUE(has(0x8040));
  EXPECT_TRUE(has(0x8010));
  EXPECT_EQ(load_state(options.config.sm.state_dir)->partitions.size(), 1u);
  EXPECT_EQ(live([] {}), 0);
  EXPECT_TRUE(has(0x8040)) << "after a restart";
  EXPECT_EQ(live([&] {
              write(red("0x0030"));
              hang_up("configuration");
            }),
            0);
  EXPECT_TRUE(has(0x8040)) << "beside what the file says now";
  EXPECT_TRUE(has(0x8030));
  EXPECT_FALSE(has(0x8010));
}

TEST_F(OrderedPartitions, ThatWereKeptBeforeACrashComeIntoForce) {
  const Guid own = fabric.spec().nodes[fabric.spec().sm_node].ports.at(1).guid;
  const PartitionOrders kept{
      {.key = 0x40, .name = "blue", .created = true, .members = {{own, Membership::Full}}}};
  ASSERT_TRUE(
      save_state(options.config.sm.state_dir, {.partitions = kept}, StateKind::kPartitionOrders));
  write(red("0x0010"));
  EXPECT_EQ(live([] {}), 0);
  EXPECT_TRUE(has(0x8040));
}

TEST_F(OrderedPartitions, GiveWayToTheFileWithAnAlarm) {
  write(red("0x0010"));
  nlohmann::json refused;
  nlohmann::json alarms;
  nlohmann::json left;
  EXPECT_EQ(live([&] {
              refused = order({{"verb", "delete"}, {"partition", "red"}});
              order(create_blue());
              EXPECT_EQ(ask("status").at("alarms").size(), 0u);
              write("green=0x0040 : 0x1=full;\n");
              hang_up("configuration");
              alarms = ask("status").at("alarms");
              order({{"verb", "delete"}, {"partition", "blue"}});
              left = ask("status").at("alarms");
            }),
            0);
  EXPECT_EQ(refused.get<std::string>().find(file.string() + ":1: defines 'red'"), 0u) << refused;
  ASSERT_EQ(alarms.size(), 1u);
  EXPECT_EQ(alarms[0].get<std::string>().find("partitions: " + file.string() +
                                              ":1: 0x0040 is 'green'; what was ordered as 'blue'"),
            0u)
      << alarms;
  EXPECT_EQ(left.size(), 0u);
  EXPECT_FALSE(has(0x8040)) << "who was let into blue is not let into green";
}

TEST_F(OrderedPartitions, ThatCannotBeWrittenDownAreRefused) {
  write(red("0x0010"));
  nlohmann::json refused;
  nlohmann::json there;
  const std::filesystem::path obstacle =
      std::filesystem::path(options.config.sm.state_dir) / "partition_orders.new";
  EXPECT_EQ(live([&] {
              std::filesystem::create_directories(obstacle / "full");
              refused = order(create_blue());
              there = ask("partition", {{"verb", "list"}}).at("partitions");
            }),
            0);
  EXPECT_NE(refused.get<std::string>().find("nothing was changed, since the order cannot be kept"),
            std::string::npos)
      << refused;
  EXPECT_EQ(there.size(), 2u);
  EXPECT_FALSE(has(0x8040));
  std::filesystem::remove_all(obstacle);
  EXPECT_EQ(live([&] { order(create_blue()); }), 0);
  EXPECT_TRUE(has(0x8040));
}

/// Who opens it to write waits for a reader, as for a disk that does not answer.
TEST_F(OrderedPartitions, ThatADiskDoesNotTakeInTimeKeepNobodyElseWaiting) {
  write(red("0x0010"));
  const std::string pipe = options.config.sm.state_dir + "/partition_orders.new";
  nlohmann::json refused;
  nlohmann::json there;
  bool is_answered = false;
  EXPECT_EQ(
      live([&] {
        ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        std::jthread ordering([&] { refused = order(create_blue()); });
        EXPECT_TRUE(test::wait_until([&] { return ask("partition").value("adopting", false); },
                                     std::chrono::seconds(60)));
        is_answered = ask("status").contains("state");
        ordering.join();
        there = ask("partition", {{"verb", "list"}}).at("partitions");
        const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        EXPECT_TRUE(test::wait_until([&] { return !std::filesystem::exists(pipe); },
                                     std::chrono::seconds(60)));
        ::close(reader);
      }),
      0);
  EXPECT_TRUE(is_answered);
  EXPECT_EQ(refused,
            "nothing was changed, since the order cannot be kept: the disk has not taken it within "
            "5 s");
  EXPECT_EQ(there.size(), 2u);
  EXPECT_FALSE(has(0x8040));
  EXPECT_TRUE(load_state(options.config.sm.state_dir)->partitions.empty());
}

}  // namespace daemon_files_test
}  // namespace smd
