// The HTTP server against clients of every kind, on loopback and on a Unix socket, with and without
// TLS, as the server of /metrics and with a handler that takes bodies.
#include "smd/admin/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "smd/base/rng.h"
#include "tests/support/certificates.h"

namespace smd {
namespace http_server_test {

using std::chrono_literals::operator""ms;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
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

class HttpServerTest : public testing::Test {
 protected:
  void listen(HttpServerOptions options = {}, Duration fresh = 200ms) {
    serve(serve_metrics(
              runtime_, [this] { return "smd_asked " + std::to_string(++asked_) + "\n"; }, fresh),
          std::move(options));
  }

  void serve(HttpServer::Handler handler, HttpServerOptions options) {
    if (options.listen.empty()) options.listen = "127.0.0.1:0";
    auto server = HttpServer::listen(runtime_, std::move(handler), std::move(options));
    ASSERT_TRUE(server) << server.error().context;
    server_ = std::move(*server);
  }

  /// Says what it got.
  void listen_for_bodies(HttpServerOptions options = {}) {
    options.max_body = 100;
    serve(
        [this](const HttpRequest& request) {
          ++asked_;
          return plain_answer(200,
                              request.method + " " + request.target + " " + request.body + " " +
                                  request.authorization);
        },
        std::move(options));
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
  std::unique_ptr<HttpServer> server_;
};

constexpr const char* kGet = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(HttpServerTest, AnswersAGetAndCloses) {
  listen();
  const std::string answer = exchange(kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\nsmd_asked 1\n"));
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 0; }));
}

TEST_F(HttpServerTest, AHeadIsAGetWithoutBody) {
  listen();
  const std::string answer = exchange("HEAD /metrics?x=1 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, AnAddressWithItsHostIsTheSame) {
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

TEST_F(HttpServerTest, WhatIsAskedWronglyIsSaid) {
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

TEST_F(HttpServerTest, ALongRequestIsRefused) {
  listen();
  const std::string line = "X-Long: " + std::string(100, 'x') + "\r\n";
  std::string request = "GET /metrics HTTP/1.1\r\n";
  for (int i = 0; i < 2000; ++i) request += line;
  EXPECT_THAT(exchange(request), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(exchange("GET /" + std::string(9000, 'a')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, WhoeverWaitsKeepsNobodyOut) {
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

TEST_F(HttpServerTest, WhoeverDoesNotAskIsCut) {
  listen({.patience = 50ms});
  const auto silent = connect();
  const auto slow = connect();
  slow->send("GET /metrics HTTP/1.1\r\n");
  EXPECT_EQ(all_of(*silent), "");
  EXPECT_EQ(all_of(*slow), "");
  EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(HttpServerTest, WhoeverDoesNotReadIsCut) {
  const std::string large(64 * 1024 * 1024, 'x');
  serve([&](const HttpRequest&) { return plain_answer(200, large); }, {.patience = 200ms});
  const auto client = connect();
  client->send(kGet);
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 1; }));
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 0; }));
  EXPECT_LT(all_of(*client).size(), large.size());
}

TEST_F(HttpServerTest, WhoeverGoesOnSendingIsCut) {
  listen();
  const auto client = connect();
  client->send(kGet);
  const std::string more(4096, 'x');
  EXPECT_TRUE(turn_until([&] {
    client->send(more);
    return asked_ == 1 && server_->client_count() == 0;
  }));
}

TEST_F(HttpServerTest, NumbersAreSharedForAWhile) {
  listen({}, std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 1\n"));
  server_.reset();
  listen({}, Duration{0});
  EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 2\n"));
  EXPECT_THAT(exchange(kGet), HasSubstr("smd_asked 3\n"));
}

TEST_F(HttpServerTest, AnyBytesAreAnsweredOrCut) {
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

TEST_F(HttpServerTest, EndsWhileClientsAreThere) {
  listen();
  const auto client = connect();
  client->send("GET ");
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 1; }));
  server_.reset();
  EXPECT_EQ(all_of(*client), "");
}

TEST_F(HttpServerTest, AnAnswerMayComeLater) {
  std::vector<HttpServer::Answer> asked;
  auto server = HttpServer::listen_late(runtime_,
                                        [&asked](const HttpRequest&, HttpServer::Answer answer) {
                                          asked.push_back(std::move(answer));
                                        },
                                        {.listen = "127.0.0.1:0"});
  ASSERT_TRUE(server) << server.error().context;
  server_ = std::move(*server);
  const auto patient = connect();
  patient->send(kGet);
  ASSERT_TRUE(turn_until([&] { return asked.size() == 1; }));
  const auto gone = connect();
  gone->send(kGet);
  ASSERT_TRUE(turn_until([&] { return asked.size() == 2; }));
  asked[0](plain_answer(503, "not kept\n"));
  EXPECT_THAT(all_of(*patient), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("not kept\n")));
  server_.reset();
  asked[1](plain_answer(200, "nobody is there any more\n"));
  EXPECT_EQ(all_of(*gone), "");
}

TEST_F(HttpServerTest, WhoWaitsForAnAnswerGivesWayToNobody) {
  std::vector<HttpServer::Answer> asked;
  auto server = HttpServer::listen_late(runtime_,
                                        [&asked](const HttpRequest&, HttpServer::Answer answer) {
                                          asked.push_back(std::move(answer));
                                        },
                                        {.listen = "127.0.0.1:0", .max_clients = 2});
  ASSERT_TRUE(server) << server.error().context;
  server_ = std::move(*server);
  const auto first = connect();
  first->send(kGet);
  ASSERT_TRUE(turn_until([&] { return asked.size() == 1; }));
  const auto silent = connect();
  ASSERT_TRUE(turn_until([&] { return server_->client_count() == 2; }));
  const auto second = connect();
  second->send(kGet);
  ASSERT_TRUE(turn_until([&] { return asked.size() == 2; }));
  EXPECT_EQ(all_of(*silent), "") << "whose request is not there";
  const auto late = connect();
  EXPECT_EQ(all_of(*late), "") << "both others wait";
  for (const HttpServer::Answer& each : asked) each(plain_answer(200, "kept\n"));
  EXPECT_THAT(all_of(*first), HasSubstr("kept\n"));
  EXPECT_THAT(all_of(*second), HasSubstr("kept\n"));
}

TEST_F(HttpServerTest, AUnixSocketWillDo) {
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

TEST_F(HttpServerTest, AnAddressThatCannotBeListenedOnIsSaid) {
  listen();
  const auto refuse = [&](const std::string& where) {
    const auto server = HttpServer::listen(
        runtime_, [](const HttpRequest&) { return plain_answer(200, ""); }, {.listen = where});
    return server ? "" : server.error().context;
  };
  EXPECT_THAT(refuse("127.0.0.1:" + std::to_string(server_->port())), HasSubstr("in use"));
  EXPECT_THAT(refuse("nonsense"), HasSubstr("no HOST:PORT"));
  EXPECT_THAT(refuse("192.0.2.1:9"), HasSubstr("192.0.2.1:9: "));
  EXPECT_THAT(refuse("head.invalid:9"), HasSubstr("head.invalid is no address"));
  EXPECT_THAT(refuse("[fe80::1%later0]:9"), HasSubstr("fe80::1%later0 cannot be used now"));
  EXPECT_THAT(refuse("[fe80:%later0]:9"), HasSubstr("fe80:%later0 is no address"));
  EXPECT_EQ(refuse("localhost:0"), "");
}

TEST_F(HttpServerTest, BodiesAreTakenUpToALimit) {
  listen_for_bodies();
  EXPECT_THAT(exchange("POST /x?y=1 HTTP/1.1\r\nAuthorization: Bearer t\r\n"
                       "Content-Length: 3\r\n\r\nabc"),
              EndsWith("\r\n\r\nPOST /x?y=1 abc Bearer t"));
  const std::string chunked = "PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(exchange(chunked + "3\r\nabc\r\n0\r\n\r\n"), EndsWith("PUT /x abc "));
  // By its own word, chunk by chunk, and as an endless one that is cut short.
  EXPECT_THAT(exchange("POST /x HTTP/1.1\r\nContent-Length: 101\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(exchange("POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(exchange(chunked + "80\r\n" + std::string(128, 'x')), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(exchange("POST /x HTTP/1.1\r\nContent-Length: 50\r\n\r\nabc"),
              StartsWith("HTTP/1.1 400 "));
  // Two lengths: what one server takes for the end another takes for a further request.
  EXPECT_THAT(exchange("POST /x HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(server_->stats().answered, 2u);
  EXPECT_EQ(server_->stats().too_long, 2u);
  EXPECT_EQ(server_->stats().malformed, 3u);
}

TEST_F(HttpServerTest, ABodyThatDripsIsCut) {
  HttpServerOptions options;
  options.patience = 100ms;
  listen_for_bodies(std::move(options));
  const auto slow = connect();
  slow->send("POST /x HTTP/1.1\r\nContent-Length: 90\r\n\r\n");
  int sent = 0;
  EXPECT_TRUE(turn_until([&] {
    if (sent++ < 50) slow->send("x");
    slow->receive();
    return slow->ended();
  }));
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(server_->stats().cut, 1u);
}

TEST_F(HttpServerTest, ClientsAreTakenAtARate) {
  listen({.taken = {.burst = 2, .refill = 50ms}});
  const TimePoint start = runtime_.now();
  for (int i = 0; i < 6; ++i) EXPECT_THAT(exchange(kGet), StartsWith("HTTP/1.1 200 "));
  EXPECT_GE(runtime_.now() - start, 150ms) << "four of them waited for their turn";
}

// Who may call.

TEST(HttpToken, IsShownInThreeWays) {
  const std::vector<std::string> tokens = {"0123456789abcdef", "fedcba9876543210"};
  for (const char* good : {"Bearer 0123456789abcdef",
                           "Bearer fedcba9876543210",
                           "Basic fedcba9876543210",
                           // user:fedcba9876543210 and :0123456789abcdef
                           "Basic dXNlcjpmZWRjYmE5ODc2NTQzMjEw",
                           "Basic OjAxMjM0NTY3ODlhYmNkZWY="})
    EXPECT_TRUE(shows_token(good, tokens)) << good;
  for (const char* bad : {"",
                          "Bearer",
                          "Bearer ",
                          "Basic ",
                          "Basic =",
                          "Basic ====",
                          "Basic dXNlcg==",
                          "0123456789abcdef",
                          "Digest 0123456789abcdef",
                          "Bearer 0123456789abcde",
                          "Bearer 0123456789abcdeff",
                          "Bearer dXNlcjpmZWRjYmE5ODc2NTQzMjEw",
                          "Basic MDEyMzQ1Njc4OWFiY2RlZg=="})  // without a user
    EXPECT_FALSE(shows_token(bad, tokens)) << bad;
  EXPECT_FALSE(shows_token("Bearer 0123456789abcdef", {}));
}

TEST(HttpToken, FilesAreRead) {
  constexpr auto kOwnerAlone =
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  const std::string file = testing::TempDir() + "/smd-tokens-" + std::to_string(::getpid());
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << text;
    std::filesystem::permissions(file, kOwnerAlone);
    const auto tokens = read_tokens(file);
    return tokens ? std::to_string(tokens->size()) : tokens.error().context.substr(file.size());
  };
  EXPECT_EQ(read("# mine\n\n 0123456789abcdef  # theirs\nfedcba9876543210"), "2");
  EXPECT_THAT(read("0123456789abcdef\nshort\n"), StartsWith(":2:1: no token; 16 to 256"));
  EXPECT_THAT(read(" \t0123456789 abcdef # mine\n"), StartsWith(":1:3: no token"));
  EXPECT_THAT(read("0123456789abcde\xe9\n"), StartsWith(":1:1: no token"));
  EXPECT_THAT(read("# none\n"), StartsWith(" has no token"));
  EXPECT_EQ(read("0123456789abcdef\n"), "1");
  std::filesystem::permissions(file, kOwnerAlone | std::filesystem::perms::others_read);
  const auto shown = read_tokens(file);
  ASSERT_FALSE(shown);
  EXPECT_THAT(shown.error().context, testing::HasSubstr("chmod 600"));
  std::filesystem::remove(file);
  EXPECT_FALSE(read_tokens(file));
  EXPECT_FALSE(read_tokens("/dev/zero"));
}

/// With certificates made here: a client of OpenSSL over memory, so that what it says can be kept.
class HttpTlsTest : public HttpServerTest {
 protected:
  HttpTlsTest() {
    ours_.write_certificate(folder_ / "ca.pem");
    ours_.issue("head", folder_ / "head.pem", folder_ / "head.key");
    ours_.issue("caller", folder_ / "caller.pem", folder_ / "caller.key");
    theirs_.issue("caller", folder_ / "other.pem", folder_ / "other.key");
  }

  ~HttpTlsTest() override { std::filesystem::remove_all(folder_); }

  static std::filesystem::path make_folder() {
    std::string name = testing::TempDir() + "/smd-http-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  [[nodiscard]] HttpServerOptions options(const std::string& ca = "") const {
    HttpServerOptions out;
    out.certificate = folder_ / "head.pem";
    out.key = folder_ / "head.key";
    if (!ca.empty()) out.ca = folder_ / ca;
    return out;
  }

  /// What comes for it; `sent_` has every byte that went out.
  std::string call(const std::string& request,
                   const std::string& as = "",
                   bool old = false,
                   SSL_SESSION* before = nullptr) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
    if (old) SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_load_verify_locations(context.get(), (folder_ / "ca.pem").c_str(), nullptr);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (!as.empty()) {
      SSL_CTX_use_certificate_file(
          context.get(), (folder_ / (as + ".pem")).c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(
          context.get(), (folder_ / (as + ".key")).c_str(), SSL_FILETYPE_PEM);
    }
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), &SSL_free);
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(tls.get(), in, out);
    SSL_set_connect_state(tls.get());
    if (before != nullptr) {
      EXPECT_EQ(SSL_set_session(tls.get(), before), 1);
    }
    sent_.clear();
    const auto client = connect();
    std::size_t taken = 0;
    std::string answer;
    bool asked = false;
    turn_until([&] {
      client->receive();
      const std::string& got = client->received();
      BIO_write(in, got.data() + taken, static_cast<int>(got.size() - taken));
      taken = got.size();
      std::array<char, 4096> chunk{};
      int bytes = 0;
      while ((bytes = SSL_read(tls.get(), chunk.data(), static_cast<int>(chunk.size()))) > 0)
        answer.append(chunk.data(), static_cast<std::size_t>(bytes));
      if (SSL_is_init_finished(tls.get()) != 0 && !std::exchange(asked, asked || true))
        SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
      if (SSL_get_shutdown(tls.get()) != 0) SSL_shutdown(tls.get());
      while ((bytes = BIO_read(out, chunk.data(), static_cast<int>(chunk.size()))) > 0) {
        sent_.append(chunk.data(), static_cast<std::size_t>(bytes));
        client->send({chunk.data(), static_cast<std::size_t>(bytes)});
      }
      return client->ended();
    });
    session_.reset(SSL_get1_session(tls.get()));
    reused_ = SSL_session_reused(tls.get()) != 0;
    return answer;
  }

  std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session_{nullptr, &SSL_SESSION_free};
  bool reused_ = false;  // the last call took up `before`

  std::filesystem::path folder_ = make_folder();
  test::Authority ours_{"ours"};
  test::Authority theirs_{"theirs"};
  std::string sent_;
};

constexpr const char* kPost =
    "POST /x HTTP/1.1\r\nAuthorization: Bearer t\r\nContent-Length: 3\r\n\r\nabc";

TEST_F(HttpTlsTest, CallsGoThrough) {
  listen_for_bodies(options());
  EXPECT_THAT(call(kPost), EndsWith("POST /x abc Bearer t"));
  EXPECT_EQ(sent_.find("Bearer"), std::string::npos) << "in the clear";
  EXPECT_TRUE(turn_until([&] { return server_->client_count() == 0; }));
}

TEST_F(HttpTlsTest, WhoeverDoesNotSpeakItIsCut) {
  listen_for_bodies(options());
  EXPECT_THAT(exchange(kPost), Not(HasSubstr("HTTP")));
  EXPECT_EQ(call(kPost, "", true), "") << "TLS 1.2";
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(server_->stats().no_handshake, 2u);
}

TEST_F(HttpTlsTest, ACertificateOfTheAuthorityIsWantedWhereOneIsNamed) {
  listen_for_bodies(options("ca.pem"));
  EXPECT_THAT(call(kPost, "caller"), EndsWith("POST /x abc Bearer t"));
  EXPECT_EQ(call(kPost), "");
  EXPECT_EQ(call(kPost, "other"), "");
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(server_->stats().no_handshake, 2u);
}

/// All that a caller sent, once more. Early data alone could be heeded twice, and that takes a key
/// of an earlier connection: the server gives none out (NoConnectionIsTakenUpAgain).
TEST_F(HttpTlsTest, WhatWasRecordedIsNoRequest) {
  listen_for_bodies(options());
  EXPECT_THAT(call(kPost), EndsWith("POST /x abc Bearer t"));
  ASSERT_GT(sent_.size(), std::string(kPost).size() + 200) << "hello, key and request";
  EXPECT_THAT(exchange(sent_), Not(HasSubstr("HTTP")));
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(server_->stats().answered, 1u);
  EXPECT_EQ(server_->stats().no_handshake, 1u);
}

TEST_F(HttpTlsTest, NoConnectionIsTakenUpAgain) {
  for (const char* ca : {"", "ca.pem"}) {
    asked_ = 0;
    listen_for_bodies(options(ca));
    ASSERT_THAT(call(kPost, "caller"), EndsWith("POST /x abc Bearer t"));
    EXPECT_EQ(SSL_SESSION_is_resumable(session_.get()), 0) << "a ticket came";
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session_.get()), 0u);
    const auto before = std::move(session_);
    EXPECT_THAT(call(kPost, "caller", false, before.get()), EndsWith("POST /x abc Bearer t"))
        << "whoever shows one is taken like anybody";
    EXPECT_FALSE(reused_);
    EXPECT_EQ(asked_, 2);
    EXPECT_EQ(server_->stats().no_handshake, 0u);
  }
}

TEST_F(HttpTlsTest, CertificatesAreReadAgainForWhoeverConnectsThen) {
  listen_for_bodies(options("ca.pem"));
  theirs_.write_certificate(folder_ / "ca.pem");
  EXPECT_EQ(call(kPost, "caller"), "") << "ours is shown, and theirs is expected here";
  theirs_.issue("head", folder_ / "head.pem", folder_ / "head.key");
  ASSERT_TRUE(server_->read_certificates());
  EXPECT_THAT(call(kPost, "other"), EndsWith("POST /x abc Bearer t"));
  EXPECT_EQ(call(kPost, "caller"), "");
  std::filesystem::copy_file(folder_ / "caller.key",
                             folder_ / "head.key",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(server_->read_certificates()) << "of another certificate";
  EXPECT_THAT(call(kPost, "other"), EndsWith("POST /x abc Bearer t")) << "those before stay";
}

TEST_F(HttpTlsTest, FilesThatAreNoneAreSaid) {
  const auto refuse = [&](HttpServerOptions options) {
    options.listen = "127.0.0.1:0";
    const auto server = HttpServer::listen(
        runtime_, [](const HttpRequest&) { return plain_answer(200, ""); }, std::move(options));
    return server ? "" : server.error().context;
  };
  HttpServerOptions bad = options();
  bad.certificate = "/nowhere.pem";
  EXPECT_THAT(refuse(bad), StartsWith("/nowhere.pem cannot be used: "));
  bad = options();
  bad.key = folder_ / "other.key";
  EXPECT_THAT(refuse(bad), HasSubstr("other.key cannot be used: "));
  bad = options();
  bad.ca = "/dev/zero";
  EXPECT_THAT(refuse(bad), StartsWith("/dev/zero cannot be used: "));
}

}  // namespace http_server_test
}  // namespace smd
