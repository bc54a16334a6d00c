// What a running daemon says of itself when something around it is not as it should be: its
// configuration, its adapter, its socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "smd/admin/listener.h"
#include "tests/sim/daemon_lab.h"
#include "tests/support/exposition_check.h"
#include "tests/support/wait_until.h"

namespace smd {
namespace daemon_alarms_test {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DaemonAlarms : public DaemonTest {
 protected:
  DaemonAlarms() {
    options.config_path = folder / "smd.toml";
    options.config.metrics.listen = folder / "metrics.sock";
  }

  void write(const std::string& text) const { std::ofstream(options.config_path) << text; }

  [[nodiscard]] std::vector<std::string> alarms() const {
    return ask("status").value("alarms", std::vector<std::string>{"no answer"});
  }

  /// The one alarm, once it has `words`; what there is otherwise, after a minute.
  [[nodiscard]] std::vector<std::string> wait_for_alarm(const std::string& words) const {
    std::vector<std::string> seen;
    const auto is_there = [&] {
      seen = alarms();
      return seen.size() == 1 && seen.front().find(words) != std::string::npos;
    };
    test::wait_until(is_there, std::chrono::seconds(60));
    return seen;
  }

  [[nodiscard]] bool wait_for_silence() const {
    return test::wait_until([&] { return alarms().empty(); }, std::chrono::seconds(60));
  }

  /// As Prometheus sees it.
  [[nodiscard]] double count() const {
    const auto page = test::read_metric_page(read_page(options.config.metrics.listen));
    EXPECT_EQ(page.trouble, "");
    return page.sum("smd_alarms");
  }
};

TEST_F(DaemonAlarms, TellOfARefusedConfigurationUntilAGoodOneIsRead) {
  std::vector<std::string> faulty, unusable;
  double counted = 0;
  bool over = false;
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        when_up([&] {
          write("[sm]\nprioritty = 3\n");
          std::raise(SIGHUP);
          faulty = wait_for_alarm("prioritty");
          counted = count();
          write("[sm]\nengine = \"updnn\"\n");
          std::raise(SIGHUP);
          unusable = wait_for_alarm("updnn");
          write("[sm]\nengine = \"updn\"\n");
          std::raise(SIGHUP);
          over = wait_for_silence();
          std::raise(SIGTERM);
        });
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_THAT(faulty, ElementsAre(HasSubstr(options.config_path + ":2:1: ")));
  EXPECT_THAT(faulty, ElementsAre(HasSubstr("a restart may end without a manager")));
  EXPECT_EQ(counted, 1);
  EXPECT_THAT(unusable, ElementsAre(HasSubstr("no engine is called 'updnn'")));
  EXPECT_TRUE(over);
}

TEST_F(DaemonAlarms, TellOfAnAdapterThatIsWaitedForWhileItIs) {
  std::atomic<bool> there = false;
  std::vector<std::string> waiting;
  double counted = 0;
  bool over = false;
  std::vector<std::string> at_first{"no answer"};
  operators.emplace_back([&] {
    test::wait_until(
        [&] {
          at_first = alarms();
          return at_first.empty() || at_first.front() != "no answer";
        },
        std::chrono::seconds(60));
    waiting = wait_for_alarm("no InfiniBand device");
    counted = count();
    there = true;
    over = wait_for_silence();
    std::raise(SIGTERM);
  });
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        if (!there) return fail(Errc::NoDevice, "no InfiniBand device");
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0);
  EXPECT_THAT(at_first, IsEmpty()) << "a driver takes its time";
  EXPECT_THAT(waiting, ElementsAre(HasSubstr("waits for a device since ")));
  // 0 where the alarm is read at the moment at which it is tried again.
  EXPECT_THAT(waiting, ElementsAre(ContainsRegex("; tried again in [01] s")));
  EXPECT_EQ(counted, 1) << "without a manager, too";
  EXPECT_TRUE(over);
}

TEST_F(DaemonAlarms, TellOfASocketThatCannotBeMadeUntilItCan) {
  const std::filesystem::path run = folder / "run";
  std::ofstream(run) << "no folder";
  options.config.admin.socket = run / "smd.sock";
  double before = 0, after = 1;
  bool answers = false, over = false;
  operators.emplace_back([&] {
    test::wait_until([&] { return count() >= 1; }, std::chrono::seconds(60));
    before = count();
    std::filesystem::remove(run);
    answers = test::wait_until([&] { return ask("status").value("state", "") == "master"; },
                               std::chrono::seconds(60));
    over = wait_for_silence();
    after = count();
    std::raise(SIGTERM);
  });
  Daemon daemon(
      runtime, options, [&](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        return plug_in();
      });
  EXPECT_EQ(daemon.run(), 0) << "the subnet is managed";
  EXPECT_EQ(before, 1);
  EXPECT_TRUE(answers);
  EXPECT_TRUE(over);
  EXPECT_EQ(after, 0);
}

TEST_F(DaemonAlarms, AreNoneWhereAnotherOneListensForThatEndsIt) {
  const auto another = SocketFile::open(options.config.admin.socket, 0600);
  ASSERT_TRUE(another) << another.error().context;
  Daemon daemon(
      runtime, options, [](AsioRuntime&, const Config&) -> Result<std::unique_ptr<Transport>> {
        ADD_FAILURE() << "opened the device";
        return fail(Errc::NoDevice, "");
      });
  EXPECT_EQ(daemon.run(), 1);
}

}  // namespace daemon_alarms_test
}  // namespace smd
