#include "smd/daemon/service_notify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace smd {
namespace {

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

}  // namespace
}  // namespace smd
