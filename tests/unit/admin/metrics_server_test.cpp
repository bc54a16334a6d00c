// The server of /metrics against clients of every kind, on loopback and on a Unix socket.
#include "smd/admin/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "smd/base/rng.h"

namespace smd {
namespace {

using std::chrono_literals::operator""ms;
using testing::HasSubstr;
using testing::StartsWith;

/// On the loop's own thread: it never waits.
class TestClient {
 public:
  TestClient(int family, const void* address, socklen_t size)
      : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    connected_ = ::connect(fd_, static_cast<const sockaddr*>(address), size) == 0;
  }

  ~TestClient() { ::close(fd_); }

  TestClient(const TestClient&) = delete;

  void send(std::string_view text) {
    (void)::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void finish() const { ::shutdown(fd_, SHUT_WR); }

  void receive() {
    std::array<char, 65536> chunk;
    ssize_t bytes = 0;
    while ((bytes = ::recv(fd_, chunk.data(), chunk.size(), MSG_DONTWAIT)) > 0)
      received_.append(chunk.data(), static_cast<std::size_t>(bytes));
    ended_ = ended_ || bytes == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

  [[nodiscard]] bool connected() const { return connected_; }

  [[nodiscard]] bool ended() const { return ended_; }

  [[nodiscard]] const std::string& received() const { return received_; }

 private:
  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

class MetricsServerTest : public testing::Test {
 protected:
  void listen(MetricsServerOptions options = {}) {
    if (options.listen.empty()) options.listen = "127.0.0.1:0";
    auto server = MetricsServer::listen(
        runtime_, [this] { return "smd_asked " + std::to_string(++asked_) + "\n"; }, options);
    ASSERT_TRUE(server) << server.error().context;
    server_ = std::move(*server);
  }

  std::unique_ptr<TestClient> connect() const {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto client = std::make_unique<TestClient>(AF_INET, &at, sizeof at);
    EXPECT_TRUE(client->connected());
    return client;
  }

  template <class Done>
  bool turn_until(Done done) {
    for (int turn = 0; turn < 2000; ++turn) {
      if (done()) return true;
      runtime_.io().run_one_for(5ms);
    }
    return false;
  }

  /// What came until the server closed.
  std::string all_of(TestClient& client) {
    EXPECT_TRUE(turn_until([&] {
      client.receive();
      return client.ended();
    })) << "the connection stays open";
    return client.received();
  }

  std::string exchange(std::string_view request) {
    const auto client = connect();
    client->send(request);
    client->finish();
    return all_of(*client);
  }

  AsioRuntime runtime_;
  int asked_ = 0;
  std::unique_ptr<MetricsServer> server_;
};

constexpr const char* kGet = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(MetricsServerTest, AnswersAGetAndCloses) {
  listen();
  const std::string answer = exchange(kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\nsmd_asked 1\n"));
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 0; }));
}

TEST_F(MetricsServerTest, AHeadIsAGetWithoutBody) {
  listen();
  const std::string answer = exchange("HEAD /metrics?x=1 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(MetricsServerTest, AnAddressWithItsHostIsTheSame) {
  listen();
  for (const char* target : {"http://head-node:9684/metrics", "HTTP://h/metrics?x=1"}) {
    EXPECT_THAT(exchange(std::string("GET ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n"),
                StartsWith("HTTP/1.1 200 OK\r\n"))
        << target;
  }
  for (const char* target : {"http://h/", "http://h", "http://h/x?/metrics", "metrics", "*"}) {
    EXPECT_THAT(exchange(std::string("GET ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n"),
                StartsWith("HTTP/1.1 404 "))
        << target;
  }
}

TEST_F(MetricsServerTest, WhatIsAskedWronglyIsSaid) {
  listen();
  EXPECT_THAT(exchange("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(exchange("GET /metrics/x HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(exchange("DELETE /metrics HTTP/1.1\r\n\r\n"), HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(exchange("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(exchange("{\"command\":\"status\"}\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(exchange("\x16\x03\x01\x02\x01\x01\xff\xff\xff\xff\xff"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(asked_, 0) << "no numbers were put together";
}

TEST_F(MetricsServerTest, ALongRequestIsRefused) {
  listen();
  const std::string line = "X-Long: " + std::string(100, 'x') + "\r\n";
  std::string request = "GET /metrics HTTP/1.1\r\n";
  for (int i = 0; i < 2000; ++i) request += line;
  EXPECT_THAT(exchange(request), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(exchange("GET /" + std::string(9000, 'a')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(MetricsServerTest, WhoeverWaitsKeepsNobodyOut) {
  listen({.max_clients = 4});
  std::vector<std::unique_ptr<TestClient>> idle;
  for (int i = 0; i < 12; ++i) {
    idle.push_back(connect());
    idle.back()->send(i % 2 == 0 ? "" : "GET /metr");
  }
  EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 1"));
  EXPECT_LE(server_->client_count(), 4u);
  EXPECT_EQ(all_of(*idle.front()), "") << "the oldest gave way";
}

TEST_F(MetricsServerTest, WhoeverDoesNotAskIsCut) {
  listen({.patience = 50ms});
  const auto silent = connect();
  const auto slow = connect();
  slow->send("GET /metrics HTTP/1.1\r\n");
  EXPECT_EQ(all_of(*silent), "");
  EXPECT_EQ(all_of(*slow), "");
  EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(MetricsServerTest, WhoeverDoesNotReadIsCut) {
  MetricsServerOptions options{.listen = "127.0.0.1:0", .patience = 200ms};
  const std::string large(64 * 1024 * 1024, 'x');
  auto server = MetricsServer::listen(
      runtime_, [&] { return large; }, options);
  ASSERT_TRUE(server);
  server_ = std::move(*server);
  const auto client = connect();
  client->send(kGet);
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 1; }));
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 0; }));
  EXPECT_LT(all_of(*client).size(), large.size());
}

TEST_F(MetricsServerTest, WhoeverGoesOnSendingIsCut) {
  listen();
  const auto client = connect();
  client->send(kGet);
  const std::string more(4096, 'x');
  EXPECT_TRUE(turn_until([&] {
    client->send(more);
    return asked_ == 1 && server_->client_count() == 0;
  }));
}

TEST_F(MetricsServerTest, NumbersAreSharedForAWhile) {
  listen({.fresh = std::chrono::hours(1)});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 1\n"));
  server_.reset();
  listen({.fresh = Duration{0}});
  EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 2\n"));
  EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 3\n"));
}

TEST_F(MetricsServerTest, AnyBytesAreAnsweredOrCut) {
  listen();
  Rng rng(3);
  const std::string seed = kGet;
  for (int round = 0; round < 200; ++round) {
    std::string request = seed.substr(0, rng.below(seed.size() + 1));
    for (std::uint64_t n = rng.below(8); n > 0; --n) {
      const std::size_t at = rng.below(request.size() + 1);
      request.insert(at, 1, static_cast<char>(rng.below(256)));
    }
    const std::string answer = exchange(request);
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
  }
  EXPECT_THAT(exchange(kGet), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(MetricsServerTest, EndsWhileClientsAreThere) {
  listen();
  const auto client = connect();
  client->send("GET ");
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 1; }));
  server_.reset();
  EXPECT_EQ(all_of(*client), "");
}

TEST_F(MetricsServerTest, AUnixSocketWillDo) {
  const std::string path = testing::TempDir() + "/smd-metrics-" + std::to_string(::getpid());
  listen({.listen = path});
  EXPECT_EQ(server_->port(), 0u);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  TestClient client(AF_UNIX, &at, sizeof at);
  client.send(kGet);
  EXPECT_THAT(all_of(client), HasSubstr("smd_asked 1\n"));
  server_.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "the file is gone";
}

TEST_F(MetricsServerTest, AnAddressThatCannotBeListenedOnIsSaid) {
  listen();
  const auto refuse = [&](const std::string& where) {
    const auto server = MetricsServer::listen(runtime_, [] { return ""; }, {.listen = where});
    return server ? "" : server.error().context;
  };
  EXPECT_THAT(refuse("127.0.0.1:" + std::to_string(server_->port())), HasSubstr("in use"));
  EXPECT_THAT(refuse("nonsense"), HasSubstr("no HOST:PORT"));
  EXPECT_THAT(refuse("192.0.2.1:9"), HasSubstr("192.0.2.1:9: "));
}

}  // namespace
}  // namespace smd
