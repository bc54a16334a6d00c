// Two ends on loopback with certificates made here: who is let in, who is not and why, and what
// comes through.
#include "smd/replica/tls.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "smd/base/text.h"
#include "smd/replica/client.h"
#include "smd/replica/server.h"
#include "smd/replica/stream.h"
#include "tests/support/certificates.h"

namespace smd::replica {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(port)};
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

struct Tls : ::testing::Test {
  Tls() {
    ours.write_certificate(folder / "ca.pem");
    theirs.write_certificate(folder / "other-ca.pem");
    ours.issue("smd-1", folder / "one.pem", folder / "one.key");
    ours.issue("smd-2", folder / "two.pem", folder / "two.key");
    ours.issue("smd-3", folder / "old.pem", folder / "old.key", -1);
    theirs.issue("smd-4", folder / "foreign.pem", folder / "foreign.key");
  }

  ~Tls() override { std::filesystem::remove_all(folder); }

  static std::filesystem::path make_folder() {
    std::string name = testing::TempDir() + "/smd-tls-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  [[nodiscard]] TlsOptions options(const std::string& who, const std::string& ca = "ca.pem") const {
    return {.certificate = folder / (who + ".pem"),
            .key = folder / (who + ".key"),
            .ca = folder / ca,
            .patience = patience};
  }

  void serve(const std::string& who = "one") {
    TlsOptions at = options(who);
    at.listen = "127.0.0.1:0";
    at.names = names;
    auto opened =
        TlsNetwork::open(runtime, at, [this](auto stream) { server.accept(std::move(stream)); });
    ASSERT_TRUE(opened) << opened.error().context;
    net = std::move(*opened);
    server.present({.manager = Guid{1}, .state = SmState::Master});
  }

  void read_as(const TlsOptions& reader) {
    auto opened = TlsNetwork::open(runtime, reader, [](auto) {});
    ASSERT_TRUE(opened) << opened.error().context;
    reader_net = std::move(*opened);
    client = std::make_unique<Client>(
        runtime,
        *reader_net,
        std::vector<std::string>{peer_name + "127.0.0.1:" + std::to_string(net->port())},
        [] { return 0; },
        Client::Handlers{.is_master = [](const Hello&) { return true; },
                         .on_part =
                             [this](const Part& part, std::int64_t) {
                               copy[part.name] = part.text;
                               return true;
                             }});
    client->enable(true);
  }

  /// Runs the loop until it is so; the limit is for a test that fails.
  bool until(const std::function<bool()>& done) {
    bool late = false;
    const Timer limit(runtime, runtime.now() + 30s, [&] {
      late = true;
      runtime.stop();
    });
    std::function<void()> look;
    Timer again;
    look = [&] {
      if (done()) return runtime.stop();
      again = Timer(runtime, runtime.now() + 2ms, look);
    };
    again = Timer(runtime, runtime.now(), look);
    runtime.run();
    return !late;
  }

  [[nodiscard]] PeerView view() const { return client->peers().at(0); }

  std::filesystem::path folder = make_folder();
  test::Authority ours{"managers"};
  test::Authority theirs{"somebody else"};
  Duration patience = 2s;
  std::vector<std::string> names;  // that the server wants to see
  std::string peer_name;           // that its reader does: NAME@
  AsioRuntime runtime;
  std::map<std::string, std::string> copy;
  Server server{runtime, [] { return 0; }};
  std::unique_ptr<TlsNetwork> net;
  std::unique_ptr<TlsNetwork> reader_net;
  std::unique_ptr<Client> client;
};

TEST_F(Tls, TwoOfOneAuthorityShareWhatIsKept) {
  serve();
  const std::string large(5 << 20, 'x');
  server.publish({{"lids", "a\n"}, {"records", large}});
  read_as(options("two"));
  ASSERT_TRUE(until([&] { return copy.size() == 2; })) << view().trouble;
  EXPECT_EQ(copy.at("lids"), "a\n");
  EXPECT_EQ(copy.at("records"), large);
  server.publish({{"lids", "b\n"}});
  EXPECT_TRUE(until([&] { return copy.at("lids") == "b\n"; }));
  EXPECT_EQ(net->refused(), 0u);
  net.reset();
  client->enable(false);
  EXPECT_TRUE(until([&] { return server.peers().empty(); })) << "whoever goes is noticed";
}

TEST_F(Tls, AReaderOfAnotherNameIsRefused) {
  names = {"smd-7", "smd-3"};
  serve();
  server.publish({{"lids", "secret\n"}});
  read_as(options("two"));
  ASSERT_TRUE(until([&] { return net->refused() > 0; }));
  EXPECT_TRUE(copy.empty());
  EXPECT_TRUE(server.peers().empty());
}

TEST_F(Tls, AMasterOfAnotherNameIsNotRead) {
  names = {"smd-2", "smd-9"};
  serve();
  server.publish({{"lids", "a\n"}});
  peer_name = "smd-9@";
  read_as(options("two"));
  ASSERT_TRUE(until([&] { return !view().trouble.empty(); }));
  EXPECT_EQ(view().trouble, "its certificate is of \"smd-1\", not of smd-9");
  EXPECT_TRUE(copy.empty());
  peer_name = "smd-1@";
  read_as(options("two"));
  EXPECT_TRUE(until([&] { return copy.size() == 1; })) << view().trouble;
}

TEST(Peer, NamesAreBeforeTheAddress) {
  EXPECT_EQ(parse_peer("sm2:7011")->name, "");
  EXPECT_EQ(parse_peer("two@[::1]:7011")->name, "two");
  EXPECT_EQ(parse_peer("two@[::1]:7011")->at.host, "::1");
  for (const char* wrong : {"@sm2:7011", "two@", "two@sm2", "a@b@sm2:7011x"})
    EXPECT_FALSE(parse_peer(wrong)) << wrong;
  EXPECT_THAT(names_of({"a@x:1", "b@y:2"}), ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(names_of({"a@x:1", "y:2"}).empty()) << "whoever is at y may have any";
}

TEST_F(Tls, AReaderOfAnotherAuthorityIsRefused) {
  serve();
  server.publish({{"lids", "secret\n"}});
  read_as(options("foreign"));
  ASSERT_TRUE(until([&] { return net->refused() > 0 && view().failures > 0; }));
  EXPECT_TRUE(copy.empty());
  EXPECT_TRUE(server.peers().empty());
  EXPECT_THAT(view().trouble, HasSubstr("unknown ca"));
}

TEST_F(Tls, AnExpiredReaderIsRefused) {
  serve();
  server.publish({{"lids", "secret\n"}});
  read_as(options("old"));
  ASSERT_TRUE(until([&] { return net->refused() > 0 && view().failures > 0; }));
  EXPECT_TRUE(copy.empty());
  EXPECT_THAT(view().trouble, HasSubstr("expired"));
}

TEST_F(Tls, AMasterOfAnotherAuthorityIsNotBelieved) {
  serve("foreign");
  server.publish({{"lids", "forged\n"}});
  read_as(options("two"));
  ASSERT_TRUE(until([&] { return view().failures > 0; }));
  EXPECT_TRUE(copy.empty());
  EXPECT_THAT(view().trouble, HasSubstr("certificate is not good"));
}

TEST_F(Tls, AnExpiredMasterIsNotBelieved) {
  serve("old");
  server.publish({{"lids", "forged\n"}});
  read_as(options("two"));
  ASSERT_TRUE(until([&] { return view().failures > 0; }));
  EXPECT_TRUE(copy.empty());
  EXPECT_THAT(view().trouble, HasSubstr("certificate has expired"));
}

TEST_F(Tls, AReaderWithoutACertificateIsRefused) {
  serve();
  server.publish({{"lids", "secret\n"}});
  std::string got;
  std::thread reader([this, &got] {
    const int fd = connect_to(net->port());
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL* talk = SSL_new(context);
    SSL_set_fd(talk, fd);
    char byte = 0;
    if (SSL_connect(talk) == 1 && SSL_read(talk, &byte, 1) > 0) got = byte;
    SSL_free(talk);
    SSL_CTX_free(context);
    ::close(fd);
  });
  EXPECT_TRUE(until([&] { return net->refused() == 1; }));
  reader.join();
  EXPECT_EQ(got, "");
  EXPECT_TRUE(server.peers().empty());
}

TEST_F(Tls, WhoeverSpeaksNoTlsIsRefusedInTime) {
  serve();
  std::vector<int> sockets;
  for (const std::string words : {"GET / HTTP/1.1\r\n\r\n", "", "SMDR"}) {
    const int fd = connect_to(net->port());
    ASSERT_EQ(::write(fd, words.data(), words.size()), static_cast<ssize_t>(words.size()));
    sockets.push_back(fd);
  }
  EXPECT_TRUE(until([&] { return net->refused() == 3; }));
  for (const int fd : sockets) ::close(fd);
  server.publish({{"lids", "a\n"}});
  read_as(options("two"));
  EXPECT_TRUE(until([&] { return copy.size() == 1; })) << "others are served as before";
}

TEST_F(Tls, ACrowdOfHalfOpenConnectionsIsBounded) {
  patience = 200ms;
  serve();
  std::vector<int> sockets;
  for (std::size_t i = 0; i < 3 * TlsNetwork::kMostHandshakes; ++i) {
    const int fd = connect_to(net->port());
    sockets.push_back(fd);
  }
  EXPECT_TRUE(until([&] { return net->refused() == sockets.size(); }));
  for (const int fd : sockets) ::close(fd);
}

TEST_F(Tls, AnAttemptThatIsDroppedIsNotHeardOfAgain) {
  serve();
  auto opened = TlsNetwork::open(runtime, options("two"), [](auto) {});
  bool heard = false;
  std::unique_ptr<Attempt> attempt = (*opened)->dial("127.0.0.1:" + std::to_string(net->port()),
                                                     [&](const auto&) { heard = true; });
  attempt.reset();
  bool refused = false;
  attempt = (*opened)->dial("nowhere", [&](const auto& stream) { refused = !stream; });
  EXPECT_TRUE(until([&] { return refused; }));
  EXPECT_FALSE(heard);
}

TEST_F(Tls, AnAttemptFailsOnce) {
  patience = 50ms;
  serve();
  auto opened = TlsNetwork::open(runtime, options("two"), [](auto) {});
  const std::string here = "127.0.0.1:" + std::to_string(net->port());
  net.reset();  // nobody listens there any more
  std::vector<std::string> reasons;
  std::unique_ptr<Attempt> attempt =
      (*opened)->dial(here, [&](const auto& stream) { reasons.push_back(stream.error().context); });
  const TimePoint began = runtime.now();
  EXPECT_TRUE(until([&] { return runtime.now() - began > 5 * patience && !reasons.empty(); }));
  EXPECT_THAT(reasons, ElementsAre(HasSubstr("refused")));
}

TEST_F(Tls, FilesThatCannotBeUsedAreNamed) {
  const auto why = [this](const TlsOptions& bad) {
    auto opened = TlsNetwork::open(runtime, bad, [](auto) {});
    return opened ? std::string("none") : opened.error().context;
  };
  EXPECT_THAT(why(options("nobody")), HasSubstr("nobody.pem"));
  EXPECT_THAT(why(options("one", "no.pem")), HasSubstr("replica.ca: "));
  TlsOptions mixed = options("one");
  mixed.key = folder / "two.key";
  EXPECT_THAT(why(mixed), HasSubstr("replica.key: "));
  std::ofstream(folder / "one.key") << "rubbish\n";
  EXPECT_THAT(why(options("one")), HasSubstr("one.key"));
  TlsOptions deaf = options("two");
  deaf.listen = "nowhere";
  EXPECT_THAT(why(deaf), HasSubstr("is no HOST:PORT"));
}

TEST(HostPort, IsTakenApart) {
  EXPECT_EQ(parse_host_port("sm1:7011")->host, "sm1");
  EXPECT_EQ(parse_host_port("sm1:7011")->port, "7011");
  EXPECT_EQ(parse_host_port("[::1]:7")->host, "::1");
  for (const char* bad : {"", ":1", "sm1", "sm1:", "sm1:x", "sm1:65536", "::1:7", "[]:1", "a b:1"})
    EXPECT_FALSE(parse_host_port(bad)) << bad;
}

}  // namespace
}  // namespace smd::replica
