#include "smd/admin/socket_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace smd {
namespace socket_server_test {

using Json = nlohmann::json;
using testing::HasSubstr;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// A client on the loop's own thread: it never waits, the test turns the loop until it has what it
/// wants.
class TestClient {
 public:
  explicit TestClient(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(path);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  ~TestClient() { close(); }

  TestClient(const TestClient&) = delete;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  /// Sends what fits; false when the server has closed the connection.
  bool send(std::string_view text) {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  void finish() const { ::shutdown(fd_, SHUT_WR); }

  void receive() {
    std::array<char, 65536> chunk;
    ssize_t bytes = 0;
    while ((bytes = ::recv(fd_, chunk.data(), chunk.size(), 0)) > 0) {
      received_.append(chunk.data(), static_cast<std::size_t>(bytes));
    }
    ended_ = ended_ || bytes == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  [[nodiscard]] bool has_line() const { return received_.find('\n') != std::string::npos; }

  std::string take_line() {
    const std::size_t end = received_.find('\n');
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

  [[nodiscard]] bool connected() const { return connected_; }

  [[nodiscard]] bool ended() const { return ended_; }

  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

class SocketServerTest : public testing::Test {
 protected:
  SocketServerTest() : path_(folder() + "/smd.sock") {
    std::filesystem::create_directories(folder());
    table_.add("echo", "", [](const Json& args) -> Result<Json> { return args; });
    table_.add("long", "", [](const Json& args) -> Result<Json> {
      return Json(std::string(args.at("bytes").get<std::size_t>(), 'x'));
    });
  }

  ~SocketServerTest() override { std::filesystem::remove_all(folder()); }

  static std::string folder() {
    return "/tmp/smd_admin_" + std::to_string(::getpid()) + "_" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  SocketServerOptions options() const { return {.path = path_}; }

  std::unique_ptr<SocketServer> listen(SocketServerOptions options) {
    auto server = SocketServer::listen(runtime_, table_, std::move(options));
    EXPECT_TRUE(server) << (server ? "" : server.error().context);
    return server ? std::move(*server) : nullptr;
  }

  std::unique_ptr<SocketServer> listen() { return listen(options()); }

  Errc refused() {
    const auto server = SocketServer::listen(runtime_, table_, options());
    EXPECT_FALSE(server);
    return server ? Errc::Cancelled : server.error().code;
  }

  /// Turns the loop until `done`, at most so often that a test which fails ends.
  template <class Done>
  bool turn_until(Done done) {
    for (int turn = 0; turn < 2000; ++turn) {
      if (done()) return true;
      runtime_.io().run_one_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::string next_line(TestClient& client) {
    const bool came = turn_until([&] {
      client.receive();
      return client.has_line() || client.ended();
    });
    EXPECT_TRUE(came) << "no answer";
    return client.has_line() ? client.take_line() : "<connection closed>";
  }

  std::string exchange(TestClient& client, const std::string& request) {
    EXPECT_TRUE(client.send(request + "\n"));
    return next_line(client);
  }

  bool ends(TestClient& client) {
    return turn_until([&] {
      client.receive();
      return client.ended();
    });
  }

  static constexpr const char* kRequest = R"({"command":"echo","args":{"n":1}})";
  static constexpr const char* kAnswer = R"({"ok":true,"result":{"n":1}})";

  std::string path_;
  AsioRuntime runtime_;
  CommandTable table_;
};

TEST_F(SocketServerTest, AnswersLinesInTheirOrder) {
  const auto server = listen();
  TestClient client(path_);
  EXPECT_EQ(exchange(client, kRequest), kAnswer);
  ASSERT_TRUE(
      client.send("{\"command\":\"echo\",\"args\":{\"n\":2}}\n{\"command\":\"echo\",\"arg"));
  EXPECT_EQ(next_line(client), R"({"ok":true,"result":{"n":2}})");
  ASSERT_TRUE(client.send("s\":{\"n\":3}}\n"));
  EXPECT_EQ(next_line(client), R"({"ok":true,"result":{"n":3}})");
}

// Each may take long at 12,000 hosts, and the subnet waits meanwhile.
TEST_F(SocketServerTest, RequestsThatCameTogetherLeaveTheLoopToOthersInBetween) {
  std::string order;
  table_.add("mark", "", [&](const Json&) -> Result<Json> {
    order += 'r';
    runtime_.post([&order] { order += 'o'; });
    return Json(true);
  });
  const auto server = listen(options());
  TestClient client(path_);
  ASSERT_TRUE(
      client.send("{\"command\":\"mark\"}\n{\"command\":\"mark\"}\n"
                  "{\"command\":\"mark\"}\n"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next_line(client), R"({"ok":true,"result":true})");
  EXPECT_EQ(order.substr(0, 5), "roror");
}

TEST_F(SocketServerTest, AnswersAClientThatHasNothingMoreToSay) {
  const auto server = listen();
  TestClient client(path_);
  ASSERT_TRUE(client.send(std::string(kRequest) + "\n"));
  client.finish();
  EXPECT_EQ(next_line(client), kAnswer);
  EXPECT_TRUE(ends(client));
}

TEST_F(SocketServerTest, GarbageIsAnsweredAndTheConnectionStays) {
  const auto server = listen();
  TestClient client(path_);
  EXPECT_THAT(exchange(client, "GET / HTTP/1.1\r"), HasSubstr("not JSON"));
  EXPECT_THAT(exchange(client, std::string("\0\xff\x01", 3)), HasSubstr("not JSON"));
  EXPECT_THAT(exchange(client, ""), HasSubstr("not JSON"));
  EXPECT_EQ(exchange(client, kRequest), kAnswer);
}

TEST_F(SocketServerTest, LongestRequestIsServedAndALongerOneCut) {
  SocketServerOptions small = options();
  small.max_request = 100;
  const auto server = listen(small);
  const std::string head = R"({"command":"echo","args":{"n":1}})";
  TestClient fits(path_);
  EXPECT_EQ(exchange(fits, head + std::string(100 - head.size(), ' ')), kAnswer);

  TestClient ended(path_);
  EXPECT_THAT(exchange(ended, head + std::string(101 - head.size(), ' ')),
              HasSubstr("longer than 100 bytes"));
  EXPECT_TRUE(ends(ended));

  TestClient endless(path_);
  ASSERT_TRUE(endless.send(std::string(101, 'x')));
  EXPECT_THAT(next_line(endless), HasSubstr("longer than 100 bytes"));
  EXPECT_TRUE(ends(endless));
  EXPECT_EQ(exchange(fits, kRequest), kAnswer) << "the others are not cut";
}

TEST_F(SocketServerTest, ClientsThatVanishAreForgotten) {
  const auto server = listen();
  for (const char* sent : {"", "{\"comm", "{\"command\":\"echo\"}\n"}) {
    TestClient client(path_);
    ASSERT_TRUE(client.send(sent));
    ASSERT_TRUE(turn_until([&] { return server->client_count() == 1; }));
    client.close();
    EXPECT_TRUE(turn_until([&] { return server->client_count() == 0; })) << sent;
  }
  TestClient client(path_);
  EXPECT_EQ(exchange(client, kRequest), kAnswer);
}

TEST_F(SocketServerTest, ClientThatVanishesBeforeItsLongAnswerIsForgotten) {
  const auto server = listen();
  TestClient client(path_);
  ASSERT_TRUE(client.send("{\"command\":\"long\",\"args\":{\"bytes\":8000000}}\n"));
  ASSERT_TRUE(turn_until([&] {
    std::array<char, 1> one{};
    return ::recv(client.fd(), one.data(), 1, MSG_PEEK) == 1;
  }));
  client.close();
  EXPECT_TRUE(turn_until([&] { return server->client_count() == 0; }));
}

TEST_F(SocketServerTest, LongAnswersWaitForTheirReaderAndLaterOnesQueueBehind) {
  const auto server = listen();
  TestClient client(path_);
  ASSERT_TRUE(client.send("{\"command\":\"long\",\"args\":{\"bytes\":8000000}}\n" +
                          std::string(kRequest) + "\n"));
  EXPECT_EQ(next_line(client).size(), 8000000 + std::string(R"({"ok":true,"result":""})").size());
  EXPECT_EQ(next_line(client), kAnswer);
}

TEST_F(SocketServerTest, AnswerBeyondTheBacklogIsCut) {
  SocketServerOptions small = options();
  small.max_backlog = 1000;
  const auto server = listen(small);
  TestClient client(path_);
  ASSERT_TRUE(client.send("{\"command\":\"long\",\"args\":{\"bytes\":8000000}}\n"));
  EXPECT_EQ(next_line(client), "<connection closed>");
  EXPECT_EQ(server->client_count(), 0u);
}

TEST_F(SocketServerTest, ReaderThatTakesNothingIsCut) {
  SocketServerOptions impatient = options();
  impatient.stall = std::chrono::milliseconds(1);
  const auto server = listen(impatient);
  TestClient client(path_);
  ASSERT_TRUE(client.send("{\"command\":\"long\",\"args\":{\"bytes\":8000000}}\n"));
  ASSERT_TRUE(turn_until([&] { return server->client_count() == 1; }));
  EXPECT_TRUE(turn_until([&] { return server->client_count() == 0; }));
}

TEST_F(SocketServerTest, TheLongestIdleGivesWayToANewcomer) {
  SocketServerOptions two = options();
  two.max_clients = 2;
  const auto server = listen(two);
  TestClient first(path_);
  ASSERT_TRUE(turn_until([&] { return server->client_count() == 1; }));
  TestClient second(path_);
  ASSERT_TRUE(turn_until([&] { return server->client_count() == 2; }));
  EXPECT_EQ(exchange(first, kRequest), kAnswer) << "since then the second is the longest idle";
  TestClient third(path_);
  EXPECT_EQ(exchange(third, kRequest), kAnswer);
  EXPECT_THAT(next_line(second), HasSubstr("idle for longest"));
  EXPECT_TRUE(ends(second));
  EXPECT_EQ(exchange(first, kRequest), kAnswer);
  EXPECT_EQ(server->client_count(), 2u);
}

TEST_F(SocketServerTest, AsManySilentClientsAsThereMayBeKeepNobodyOut) {
  const auto server = listen();
  std::vector<std::unique_ptr<TestClient>> silent;
  for (std::size_t i = 1; i <= options().max_clients; ++i) {
    silent.push_back(std::make_unique<TestClient>(path_));
    ASSERT_TRUE(turn_until([&] { return server->client_count() == i; }));
  }
  TestClient newcomer(path_);
  EXPECT_EQ(exchange(newcomer, kRequest), kAnswer);
  EXPECT_EQ(server->client_count(), options().max_clients);
}

TEST_F(SocketServerTest, ReadersThatTakeNothingGiveWayWhereNobodyIsIdle) {
  SocketServerOptions one = options();
  one.max_clients = 1;
  const auto server = listen(one);
  TestClient slow(path_);
  ASSERT_TRUE(slow.send("{\"command\":\"long\",\"args\":{\"bytes\":8000000}}\n"));
  ASSERT_TRUE(turn_until([&] {
    std::array<char, 1> byte{};
    return ::recv(slow.fd(), byte.data(), 1, MSG_PEEK) == 1;
  }));
  TestClient newcomer(path_);
  EXPECT_EQ(exchange(newcomer, kRequest), kAnswer);
  EXPECT_TRUE(ends(slow));
}

TEST_F(SocketServerTest, WhoeverAsksNothingIsCutAfterAWhile) {
  SocketServerOptions impatient = options();
  impatient.idle = std::chrono::milliseconds(1);
  const auto server = listen(impatient);
  TestClient silent(path_), half(path_);
  ASSERT_TRUE(half.send("{\"comm"));
  for (TestClient* client : {&silent, &half}) {
    EXPECT_THAT(next_line(*client), HasSubstr("no request came"));
    EXPECT_TRUE(ends(*client));
  }
  EXPECT_EQ(server->client_count(), 0u);
}

TEST_F(SocketServerTest, ADirectoryThatCannotBeMadeIsSaidWithWhatToDo) {
  SocketServerOptions nowhere = options();
  nowhere.path = "/proc/smd/smd.sock";  // where nobody may make anything, not even root
  const auto server = SocketServer::listen(runtime_, table_, nowhere);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().context, testing::StartsWith("/proc/smd cannot be made: "));
  EXPECT_THAT(server.error().context, HasSubstr("name a socket elsewhere"));
}

TEST_F(SocketServerTest, SecondDaemonIsRefused) {
  const auto server = listen();
  EXPECT_EQ(refused(), Errc::Busy);
  TestClient client(path_);
  EXPECT_EQ(exchange(client, kRequest), kAnswer) << "the first one must not notice";
}

TEST_F(SocketServerTest, ListenerThatIsNoneOfOursIsRefusedToo) {
  const sockaddr_un address = address_of(path_);
  const int other = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(other, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(other, 1), 0);
  EXPECT_EQ(refused(), Errc::Busy);
  ::close(other);
}

TEST_F(SocketServerTest, SocketOfADaemonThatDiedIsReplaced) {
  const sockaddr_un address = address_of(path_);
  const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(dead);
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto server = listen();
  TestClient client(path_);
  EXPECT_EQ(exchange(client, kRequest), kAnswer);
}

TEST_F(SocketServerTest, FileThatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(refused(), Errc::Invalid);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(SocketServerTest, PathsThatCannotBe) {
  std::ofstream(folder() + "/file") << "no folder";
  path_ = folder() + "/file/smd.sock";
  EXPECT_EQ(refused(), Errc::Io);
  path_ = "/tmp/" + std::string(200, 'x');
  EXPECT_EQ(refused(), Errc::Invalid);
  path_ = "";
  EXPECT_EQ(refused(), Errc::Invalid);
}

TEST_F(SocketServerTest, FileHasItsModeAndGoesWithTheServer) {
  SocketServerOptions open = options();
  open.mode = 0606;
  auto server = listen(open);

  struct stat status {};

  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0606u);
  TestClient client(path_);
  ASSERT_TRUE(turn_until([&] { return server->client_count() == 1; }));
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(ends(client));
  EXPECT_TRUE(listen()) << "the path is free again";
}

TEST_F(SocketServerTest, CommandThatStopsTheLoopIsAnswered) {
  table_.add("stop", "", [this](const Json&) -> Result<Json> {
    runtime_.stop();
    return Json{{"stopping", true}};
  });
  const auto server = listen();
  TestClient client(path_);
  ASSERT_TRUE(client.send("{\"command\":\"stop\"}\n"));
  runtime_.run();
  client.receive();
  ASSERT_TRUE(client.has_line());
  EXPECT_EQ(client.take_line(), R"({"ok":true,"result":{"stopping":true}})");
}

}  // namespace socket_server_test
}  // namespace smd
