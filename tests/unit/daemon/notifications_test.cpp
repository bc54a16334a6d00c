#include "smd/daemon/notifications.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "smd/base/log.h"
#include "smd/runtime/asio_runtime.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Plays the service manager: a datagram socket named by NOTIFY_SOCKET.
class ServiceNotifyTest : public testing::Test {
 protected:
  ServiceNotifyTest()
      : path_("/tmp/smd_notify_" + std::to_string(::getpid())),
        fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(path_.c_str());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }

  ~ServiceNotifyTest() override {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    ::close(fd_);
    ::unlink(path_.c_str());
  }

  std::string told() const {
    std::array<char, 1024> text{};
    const ssize_t bytes = ::recv(fd_, text.data(), text.size(), 0);
    return bytes < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(bytes));
  }

  std::string path_;
  int fd_;
  ServiceNotify notify_;
};

TEST_F(ServiceNotifyTest, TellsTheStatesOfItsLife) {
  notify_.ready();
  EXPECT_EQ(told(), "READY=1");
  notify_.reloading();
  EXPECT_THAT(told(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  notify_.stopping();
  EXPECT_EQ(told(), "STOPPING=1");
  notify_.watchdog();
  EXPECT_EQ(told(), "WATCHDOG=1");
}

TEST_F(ServiceNotifyTest, StatusCannotSmuggleAnotherAssignment) {
  notify_.status("master\nSTOPPING=1");
  EXPECT_EQ(told(), "STATUS=master STOPPING=1");
}

TEST_F(ServiceNotifyTest, WatchdogIntervalIsWhatTheUnitSays) {
  EXPECT_FALSE(notify_.watchdog_interval());
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(notify_.watchdog_interval(), std::chrono::seconds(30));
  ::setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_FALSE(notify_.watchdog_interval());
}

TEST_F(ServiceNotifyTest, WithoutAServiceManagerNothingHappens) {
  ::unsetenv("NOTIFY_SOCKET");
  notify_.ready();
  notify_.status("x");
  EXPECT_EQ(told(), "");
}

class RunWithInput : public testing::Test {
 protected:
  RunWithInput() { std::filesystem::create_directories(folder); }

  ~RunWithInput() override { std::filesystem::remove_all(folder); }

  std::string script(const std::string& text) const {
    const std::filesystem::path path = folder / "program";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  std::string heard() const { return test::read_text(folder / "heard"); }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("smd-event-{}", ::getpid());
  const std::string hear = fmt::format("cat >> {}/heard", folder.string());
};

TEST_F(RunWithInput, GivesTheWholeInput) {
  const std::string input(300000, 'x');
  ASSERT_TRUE(run_with_input(script(hear), input, 10s));
  EXPECT_EQ(heard(), input);
}

TEST_F(RunWithInput, SaysHowItEnded) {
  EXPECT_THAT(run_with_input(script("exit 3"), "", 10s).error().context, EndsWith("with code 3"));
  EXPECT_THAT(run_with_input(script("kill -TERM $$"), "", 10s).error().context,
              EndsWith("by signal 15"));
  EXPECT_THAT(run_with_input("/nowhere/at-all", "", 10s).error().context,
              StartsWith("/nowhere/at-all: No such file"));
}

TEST_F(RunWithInput, EndsWhatLastsTooLongWithAllThatItStarted) {
  const auto late = run_with_input(
      script("sleep 600 & echo $! > " + (folder / "heard").string() + "; wait"), "", 500ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::Timeout);
  const pid_t started = std::stoi(heard());
  // Killed, it ends when it has the processor next; reaped or not.
  const auto has_ended = [&] {
    std::istringstream state(test::read_process(started, "stat"));
    std::string number, name, is;
    return !(state >> number >> name >> is) || is == "Z" || is == "X";
  };
  EXPECT_TRUE(test::wait_until(has_ended, 10s));
}

// Whoever else holds an adapter's file keeps the adapter busy after the manager has ended.
TEST_F(RunWithInput, KeepsFilesOfTheManagerToItself) {
  const int adapter = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(adapter, 3);
  ASSERT_TRUE(run_with_input(script("ls /proc/$$/fd > " + (folder / "heard").string()), "", 10s));
  EXPECT_THAT(heard(), Not(HasSubstr(fmt::format("\n{}\n", adapter))));
  ::close(adapter);
}

TEST_F(RunWithInput, IsDoneForOneEventAtATimeInTheirOrder) {
  AsioRuntime runtime;
  EventProgram events(runtime);
  const std::string program = script("sleep 0.05; " + hear);
  for (const char* event : {"a", "b", "c"}) events.run(program, event, event);
  const Timer end(runtime, runtime.now() + 20s, [&] { runtime.stop(); });
  std::function<void()> look = [&] { heard() == "abc" ? runtime.stop() : runtime.post(look); };
  runtime.post(look);
  runtime.run();
  EXPECT_EQ(heard(), "abc");
}

/// How often the program is run for events of these names that come at once, and whether the log
/// says that others were left out.
class ManyEvents : public RunWithInput {
 protected:
  std::size_t run(const std::vector<std::string>& names, std::size_t expected) {
    AsioRuntime runtime;
    EventProgram events(runtime);
    const std::string program = script(hear);
    const unsigned long before = log::count(log::Level::Warn);
    for (const std::string& name : names) events.run(program, name, ".");
    events.report_left_out();
    events.report_left_out();
    said = log::count(log::Level::Warn) - before;
    const Timer end(runtime, runtime.now() + 60s, [&] { runtime.stop(); });
    std::function<void()> look = [&] {
      heard().size() == expected ? runtime.stop() : runtime.post(look);
    };
    runtime.post(look);
    runtime.run();
    return heard().size();
  }

  unsigned long said = 0;
};

TEST_F(ManyEvents, OneRunsAndAHundredWait) {
  std::vector<std::string> names;
  for (int i = 0; i < 150; ++i) names.push_back(fmt::format("event-{}", i));
  EXPECT_EQ(run(names, 101), 101u);
  EXPECT_EQ(said, 1u) << "49 were left out, said once";
}

TEST_F(ManyEvents, OneNameDoesNotCrowdOutTheOthers) {
  std::vector<std::string> names(50, "loud");
  names.emplace_back("quiet");
  EXPECT_EQ(run(names, 12), 12u) << "one runs, ten and the other one wait";
  EXPECT_EQ(said, 1u);
}

}  // namespace
}  // namespace smd
