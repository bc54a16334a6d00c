// Two smd daemons on one fabric of `smsim serve`, the standby with a copy over TLS on loopback: the
// master is killed, and what it kept is with the other. And callers over HTTP with TLS.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cross/served.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"

namespace smd::test {
namespace replica_cross_test {

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  ::close(fd);
  return ntohs(at.sin_port);
}

struct ReplicaOfDaemons : ::testing::Test {
  struct Machine {
    std::string name, host;
    unsigned priority;
    std::uint16_t port = free_port();
    std::string of_sm = "";  // more of its section [sm]
    std::string more = "";   // of its configuration
    std::optional<Process> smd;
  };

  ReplicaOfDaemons() {
    std::filesystem::create_directories(folder);
    authority.write_certificate(folder / "ca.pem");
    stranger.write_certificate(folder / "other.pem");
  }

  ~ReplicaOfDaemons() override {
    one.smd.reset();
    two.smd.reset();
    std::filesystem::remove_all(folder);
  }

  void start(Machine& machine, const Machine& peer, const Authority& by) {
    const std::filesystem::path home = folder / machine.name;
    std::filesystem::create_directories(home / "state");
    by.issue(machine.name, home / "own.pem", home / "own.key");
    std::ofstream(home / "smd.toml")
        << "[sm]\npriority = " << machine.priority
        << "\npoll_interval_ms = 500\npoll_retries = 2\nstate_dir = \"" << (home / "state").string()
        << "\"\n"
        << machine.of_sm << "[sweep]\ninterval_s = 1\n[admin]\nsocket = \""
        << (home / "smd.sock").string() << "\"\n[replica]\nlisten = \"127.0.0.1:" << machine.port
        << "\"\npeers = [\"127.0.0.1:" << peer.port << "\"]\ncertificate = \""
        << (home / "own.pem").string() << "\"\nkey = \"" << (home / "own.key").string()
        << "\"\nca = \"" << (folder / "ca.pem").string() << "\"\n"
        << machine.more;
    machine.smd.emplace(
        ProcessOptions{.argv = {build_path("bin/smd"), "run", "-c", home / "smd.toml"},
                       .env = served.env(machine.host)});
  }

  [[nodiscard]] nlohmann::json status(const Machine& machine) const {
    const auto said = run_process({.argv = {build_path("bin/smctl"),
                                            "--socket",
                                            folder / machine.name / "smd.sock",
                                            "--json",
                                            "status"}},
                                  seconds(10));
    const nlohmann::json json = nlohmann::json::parse(said.out, nullptr, false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  [[nodiscard]] bool is(const Machine& machine, const char* state) const {
    return status(machine).value("state", "") == state;
  }

  [[nodiscard]] nlohmann::json source_of(const Machine& machine) const {
    const nlohmann::json now = status(machine);
    return now.contains("replica") ? now.at("replica").at("sources").at(0)
                                   : nlohmann::json::object();
  }

  [[nodiscard]] std::string lids_of(const Machine& machine) const {
    return read_text(folder / machine.name / "state" / "lids");
  }

  Served served{"torus:dims=4,hosts=2"};
  std::filesystem::path folder = std::filesystem::temp_directory_path() / (served.name + "-copy");
  Authority authority{"managers"};
  Authority stranger{"somebody else"};
  Machine one{.name = "one", .host = served.host(0), .priority = 9};
  Machine two{.name = "two", .host = served.host(4), .priority = 3};
};

TEST_F(ReplicaOfDaemons, TheStandbyHoldsWhatTheKilledMasterKept) {
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();
  start(two, one, authority);
  ASSERT_TRUE(wait_until([&] { return source_of(two).value("parts", 0) >= 4; }, seconds(30)))
      << status(two) << two.smd->err();
  EXPECT_TRUE(wait_until([&] { return lids_of(two) == lids_of(one); }, seconds(10)));
  EXPECT_FALSE(lids_of(two).empty());
  const std::string before = lids_of(one);
  ::kill(one.smd->pid(), SIGKILL);
  one.smd->wait(seconds(5));
  ASSERT_TRUE(wait_until([&] { return is(two, "master"); }, seconds(40))) << two.smd->err();
  EXPECT_EQ(lids_of(two), before);

  // It comes back with an empty disk, gets the copy, and then the subnet.
  std::filesystem::remove_all(folder / "one" / "state");
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(40))) << one.smd->err();
  EXPECT_EQ(lids_of(one), before);
  EXPECT_NE(one.smd->err().find("replica.peer peer=127.0.0.1"), std::string::npos);
}

TEST_F(ReplicaOfDaemons, AStandbySaysWhatItsMasterHasOtherwise) {
  const auto partitions = [&](const Machine& machine, const char* text) {
    const std::filesystem::path file = folder / machine.name / "partitions.conf";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "Default=0x7fff, ipoib: ALL=full;\n" << text;
    return "[partitions]\nfile = \"" + file.string() + "\"\n";
  };
  const auto alarms = [&](const Machine& machine) {
    return status(machine).value("alarms", nlohmann::json::array()).dump();
  };
  one.more = partitions(one, "") + "[port]\nhoq_life = 18\n";
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();
  two.more = partitions(two, "A=0x12: ALL;\n") + "[port]\nhoq_life = 17\n";
  start(two, one, authority);
  ASSERT_TRUE(
      wait_until([&] { return alarms(two).find("otherwise") != std::string::npos; }, seconds(30)))
      << alarms(two) << two.smd->err();
  EXPECT_NE(alarms(two).find("otherwise: partitions.file, port.hoq_life; "), std::string::npos)
      << alarms(two);
  EXPECT_EQ(alarms(one).find("otherwise"), std::string::npos);

  // What is mended is no longer named; what belongs to a machine never was.
  (void)partitions(two, "");
  std::string text = read_text(folder / "two" / "smd.toml");
  text.replace(text.find("hoq_life = 17"), 13, "hoq_life = 18");
  std::ofstream(folder / "two" / "smd.toml") << text;
  ::kill(two.smd->pid(), SIGHUP);
  EXPECT_TRUE(
      wait_until([&] { return alarms(two).find("otherwise") == std::string::npos; }, seconds(10)))
      << alarms(two);
}

TEST_F(ReplicaOfDaemons, APrefixThatAReloadChangesIsThatOfBoth) {
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();
  const auto connected = [&] { return source_of(two).value("connected", false); };
  start(two, one, authority);
  ASSERT_TRUE(wait_until(connected, seconds(30))) << two.smd->err();

  const std::filesystem::path file = folder / "one" / "smd.toml";
  const std::string more = "subnet_prefix = \"0xfec0000000000001\"\n";
  std::string text = read_text(file);
  text.replace(text.find("[sm]\n"), 5, "[sm]\n" + more);
  std::ofstream(file) << text;
  ::kill(one.smd->pid(), SIGHUP);
  ASSERT_TRUE(
      wait_until([&] { return one.smd->err().find("key=sm.subnet_prefix") != std::string::npos; },
                 seconds(10)));
  two.of_sm = more;
  start(two, one, authority);
  EXPECT_TRUE(wait_until(connected, seconds(20))) << status(two) << two.smd->err();
}

/// Two managers, each with files of its own. They differ in port.hoq_life, so that the alarm shows
/// that the master's options have come.
struct ReplicaWithFiles : ReplicaOfDaemons {
  void put(const Machine& machine, const char* name, const std::string& text) const {
    namespace fs = std::filesystem;
    const fs::path file = folder / machine.name / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  }

  [[nodiscard]] std::string at(const Machine& machine, const char* name) const {
    return (folder / machine.name / name).string();
  }

  void start_both() {
    for (Machine* each : {&one, &two}) {
      each->of_sm = "m_key_file = \"" + at(*each, "keys") + "\"\n";
      each->more = "[qos]\npolicy_file = \"" + at(*each, "qos.conf") + "\"\n";
    }
    two.more += "[port]\nhoq_life = 17\n";
    start(one, two, authority);
    ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();
    start(two, one, authority);
  }

  /// The standby's alarm has these options and no other.
  void expect_differing(const std::string& names) {
    const std::string wanted = "master has otherwise: " + names + "; a takeover";
    const auto alarms = [&] { return status(two).value("alarms", nlohmann::json::array()).dump(); };
    EXPECT_TRUE(wait_until([&] { return alarms().find(wanted) != std::string::npos; }, seconds(30)))
        << wanted << " is not in " << alarms() << two.smd->err();
  }

  void hang_up() const { ::kill(two.smd->pid(), SIGHUP); }

  static std::string policy(unsigned sl) {
    return "qos-ulps\ndefault: 0\nsdp: " + std::to_string(sl) + "\nend-qos-ulps\n";
  }

  static std::string seed(char digit) { return "seed " + std::string(32, digit) + "\n"; }
};

TEST_F(ReplicaWithFiles, APolicyThatDiffersIsNamedWithAnMKeyFileBesideIt) {
  for (const Machine* each : {&one, &two}) {
    put(*each, "keys", seed('1'));
    put(*each, "qos.conf", policy(1));
  }
  start_both();
  expect_differing("port.hoq_life");
  put(two, "qos.conf", policy(2));
  hang_up();
  expect_differing("port.hoq_life, qos.policy_file");
  put(two, "qos.conf", policy(1));
  hang_up();
  expect_differing("port.hoq_life");
}

/// A sum of a key would let whoever sees it try guesses.
TEST_F(ReplicaWithFiles, OfKeysTheirKindsAloneAreCompared) {
  put(one, "keys", seed('1'));
  put(two, "keys", seed('2'));
  for (const Machine* each : {&one, &two}) put(*each, "qos.conf", policy(1));
  start_both();
  expect_differing("port.hoq_life");
  put(two, "keys", seed('2') + "key 0x1122334455667788\n");
  hang_up();
  expect_differing("port.hoq_life, sm.m_key");
}

TEST_F(ReplicaOfDaemons, AStrangersCertificateGetsNothingAndTheElectionGoesOn) {
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();
  start(two, one, stranger);
  ASSERT_TRUE(wait_until([&] { return is(two, "standby"); }, seconds(30))) << two.smd->err();
  ASSERT_TRUE(wait_until([&] { return source_of(two).value("failures", 0) > 0; }, seconds(30)));
  EXPECT_EQ(source_of(two).value("parts", 1), 0);
  EXPECT_GT(status(one).at("replica").at("refused"), 0);
  EXPECT_EQ(lids_of(two), "");
}

/// Who calls over HTTP shows a certificate as well as a token, where the configuration names what
/// signed it. Python's client shares nothing with the server.
TEST_F(ReplicaOfDaemons, CallersOverHttpShowACertificateAndAToken) {
  const std::uint16_t port = free_port();
  const std::filesystem::path home = folder / "one";
  const std::string token = "0123456789abcdef";
  std::filesystem::create_directories(home);
  std::ofstream(home / "tokens") << token << "\n";
  using std::filesystem::perms;
  std::filesystem::permissions(home / "tokens", perms::owner_read | perms::owner_write);
  authority.issue("caller", folder / "caller.pem", folder / "caller.key");
  authority.issue("caller of old", folder / "old.pem", folder / "old.key", -1);
  stranger.issue("caller", folder / "stranger.pem", folder / "stranger.key");
  one.more = "[rest]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\ncertificate = \"" +
             (home / "own.pem").string() + "\"\nkey = \"" + (home / "own.key").string() +
             "\"\nca = \"" + (folder / "ca.pem").string() + "\"\ntoken_file = \"" +
             (home / "tokens").string() + "\"\n";
  start(one, two, authority);
  ASSERT_TRUE(wait_until([&] { return is(one, "master"); }, seconds(30))) << one.smd->err();

  constexpr const char* kCall = R"(
import http.client, ssl, sys
port, ca, certificate, token = sys.argv[1:]
if ca:
    context = ssl.create_default_context(cafile=ca)
    context.check_hostname = False
    if certificate:
        context.load_cert_chain(certificate + ".pem", certificate + ".key")
    client = http.client.HTTPSConnection("127.0.0.1", int(port), context=context, timeout=10)
else:
    client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
client.request("GET", "/ufmRest/app/ufm_version", headers={"Authorization": "Basic " + token})
print(client.getresponse().status)
)";
  const auto call = [&](const std::string& ca, const std::string& name, const std::string& shown) {
    const std::string certificate = name.empty() ? "" : (folder / name).string();
    const std::string signer = ca.empty() ? "" : (folder / ca).string();
    const Finished done = run_process(
        {.argv = {"python3", "-c", kCall, std::to_string(port), signer, certificate, shown}},
        seconds(20));
    return done.exit_code == 0 ? done.out : std::string("refused");
  };
  EXPECT_EQ(call("ca.pem", "caller", token), "200\n") << one.smd->err();
  EXPECT_EQ(call("ca.pem", "caller", "fedcba9876543210"), "401\n");
  EXPECT_EQ(call("ca.pem", "", token), "refused") << "no certificate";
  EXPECT_EQ(call("ca.pem", "stranger", token), "refused");
  EXPECT_EQ(call("ca.pem", "old", token), "refused");
  EXPECT_EQ(call("", "", token), "refused") << "in the clear";
  EXPECT_EQ(call("other.pem", "caller", token), "refused") << "the caller does not know the server";
  EXPECT_EQ(status(one).value("state", ""), "master");
}

}  // namespace replica_cross_test
}  // namespace smd::test
