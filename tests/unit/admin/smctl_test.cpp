// The program smctl against a table of commands on a real socket.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "smd/admin/client.h"
#include "smd/admin/commands.h"
#include "smd/admin/socket_server.h"
#include "smd/base/log.h"
#include "tests/support/paths.h"

namespace smd {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out;  // stdout and stderr
};

class Smctl : public testing::Test {
 protected:
  Smctl()
      : folder_("/tmp/smctl_" + std::to_string(::getpid()) + "_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        path_(folder_ + "/smd.sock") {
    std::filesystem::create_directories(folder_);
    log::set_level(log::Level::Warn);
  }

  ~Smctl() override { std::filesystem::remove_all(folder_); }

  static Outcome shell(const std::string& command) {
    Outcome outcome;
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return outcome;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) outcome.out += static_cast<char>(c);
    const int status = ::pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  static std::string program() { return test::build_path("bin/smctl"); }

  Outcome smctl(const std::string& args) const {
    return shell(program() + " --socket " + path_ + " " + args);
  }

  std::string folder_;
  std::string path_;
};

/// With a daemon that answers what is in its table.
class SmctlServed : public Smctl {
 protected:
  void serve() {
    auto server = SocketServer::listen(runtime_, table_, {.path = path_});
    ASSERT_TRUE(server);
    server_ = std::move(*server);
    loop_ = std::thread([this] { runtime_.run(); });
  }

  ~SmctlServed() override {
    runtime_.stop();
    if (loop_.joinable()) loop_.join();
    server_.reset();
  }

  AsioRuntime runtime_;
  CommandTable table_;
  std::unique_ptr<SocketServer> server_;
  std::thread loop_;
};

/// Every command is answered with its own name and arguments.
class SmctlWithDaemon : public SmctlServed {
 protected:
  SmctlWithDaemon() {
    for (const char* name : {"status",
                             "fabric",
                             "nodes",
                             "links",
                             "port",
                             "route",
                             "sweep",
                             "changes",
                             "log",
                             "sa",
                             "partition",
                             "shutdown"}) {
      table_.add(name, "", [name](const Json& args) -> Result<Json> {
        return Json{{"command", name}, {"args", args}};
      });
    }
    serve();
  }

  /// The arguments that a command line turns into.
  Json args_of(const std::string& line) {
    const Outcome outcome = smctl("--json " + line);
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    const Json json = Json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << outcome.out;
    EXPECT_EQ(json.value("command", ""), line.substr(0, line.find(' ')));
    return json.value("args", Json());
  }
};

TEST_F(SmctlWithDaemon, CommandsCarryTheirArguments) {
  for (const char* plain : {"status", "fabric", "nodes", "links", "sweep", "changes", "shutdown"}) {
    EXPECT_EQ(args_of(plain), Json::object()) << plain;
  }
  EXPECT_EQ(args_of("port sw-0-3 5"), Json::parse(R"({"node":"sw-0-3","port":5})"));
  EXPECT_EQ(args_of("route host-1 host-2"), Json::parse(R"({"from":"host-1","to":"host-2"})"));
  EXPECT_EQ(args_of("sweep --full"), Json::parse(R"({"full":true})"));
  EXPECT_EQ(args_of("changes 3"), Json::parse(R"({"n":3})"));
  EXPECT_EQ(args_of("log debug"), Json::parse(R"({"level":"debug"})"));
  EXPECT_EQ(args_of("sa PathRecord SLID=1 DLID=2"),
            Json::parse(R"({"record":"PathRecord","where":{"SLID":"1","DLID":"2"}})"));
}

TEST_F(SmctlWithDaemon, PartitionOrdersCarryTheirArguments) {
  for (const auto& [line, args] : std::map<std::string, std::string>{
           {"list", R"({"verb":"list"})"},
           {"show red", R"({"verb":"show","partition":"red"})"},
           {"delete 0x0201", R"({"verb":"delete","partition":"0x0201"})"},
           {"delete red --dry-run", R"({"verb":"delete","partition":"red","dry_run":true})"},
           {"add red host-1 0x0002c90300000011=limited",
            R"({"verb":"add","partition":"red","ports":["host-1","0x0002c90300000011=limited"]})"},
           {"add --dry-run red host-1:1",
            R"({"verb":"add","partition":"red","ports":["host-1:1"],"dry_run":true})"},
           {"remove red host-1 host-2 --dry-run",
            R"({"verb":"remove","partition":"red","ports":["host-1","host-2"],"dry_run":true})"},
           {"create red 0x201", R"({"verb":"create","partition":"red","p_key":"0x201"})"},
           {"create red 0x201 host-1=full --ipoib --mtu 5 --q-key 0xb1b",
            R"({"verb":"create","partition":"red","p_key":"0x201","ports":["host-1=full"],
                "ipoib":{"mtu":5,"Q_Key":2843}})"}}) {
    EXPECT_EQ(args_of("partition " + line), Json::parse(args)) << line;
  }
}

TEST_F(Smctl, AnInstanceIsAskedOnItsOwnSocket) {
  const Outcome outcome = shell(program() + " -i rail-of-nobody status");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out,
            "smctl: no daemon listens on /run/smd/rail-of-nobody.sock; is smd running?\n");
  EXPECT_EQ(shell(program() + " --instance rail-of-nobody partition list").out, outcome.out);
}

TEST_F(SmctlWithDaemon, OptionsMayStandBehindTheCommand) {
  const Outcome outcome = shell(program() + " status --json --socket " + path_);
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_TRUE(Json::accept(outcome.out));
}

TEST_F(SmctlWithDaemon, PeopleGetLines) {
  const Outcome outcome = smctl("log info");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "command  log\nargs     level=info\n");
  EXPECT_EQ(smctl("--quiet status").out, "");
}

TEST_F(SmctlWithDaemon, WorksInAPipe) {
  EXPECT_EQ(shell(program() + " --socket " + path_ + " status | head -n 1").out,
            "command  status\n");
}

TEST_F(SmctlWithDaemon, FullDiskIsAFailure) {
  const Outcome outcome = shell("( " + program() + " --socket " + path_ + " status >/dev/full )");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("standard output: No space left on device"));
}

TEST_F(SmctlWithDaemon, RefusalIsCodeOneAndOneLine) {
  const Outcome outcome = smctl("engine");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, StartsWith("smctl: unknown command 'engine'; one of changes,"));
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
}

/// What a daemon says of an order while it is carried out: `ends` after one answer that it is under
/// way.
class SmctlThatWaits : public SmctlServed {
 protected:
  void answer(const char* command, const char* under_way, Json ends) {
    table_.add(
        command, "", [this, under_way, ends = std::move(ends)](const Json& args) -> Result<Json> {
          if (!args.empty() && args != Json{{"order", 7}})
            return Json{{"changed", changed_}, {"requested", true}, {"order", 7}};
          return asked_++ == 0 ? Json{{under_way, true}, {"rules", true}} : ends;
        });
    serve();
  }

  bool changed_ = true;

 private:
  unsigned asked_ = 0;
};

class SmctlEngine : public SmctlThatWaits {};

TEST_F(SmctlEngine, ThatIsTakenIsCodeZero) {
  answer("engine", "engine_undecided", {{"engine", "nue"}, {"engine_requested", "nue"}});
  EXPECT_EQ(smctl("engine nue").code, 0);
}

TEST_F(SmctlEngine, WhoseTrialAReloadEndedIsCodeOne) {
  answer("engine", "engine_undecided", {{"engine", "updn"}, {"engine_requested", "updn"}});
  const Outcome outcome = smctl("engine nue");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, StartsWith("smctl: engine nue was not tried: "));
  EXPECT_THAT(outcome.out, HasSubstr("; updn is asked for now\n"));
}

TEST_F(SmctlEngine, ThatNobodyHasIsCodeOne) {
  answer("engine", "engine_undecided", {{"engines", Json::array()}});
  EXPECT_EQ(smctl("engine nue").code, 1);
}

class SmctlDump : public SmctlThatWaits {};

TEST_F(SmctlDump, OfADaemonWithAnotherFolderOfThatNameIsCodeOne) {
  answer("dump", "dumping", {{"dumping", false}, {"dir", folder_}, {"files", {"guid2lid"}}});
  const Outcome elsewhere = smctl("dump " + folder_);
  EXPECT_EQ(elsewhere.code, 1);
  EXPECT_THAT(elsewhere.out, HasSubstr("a folder below /var/lib/smd"));
  std::ofstream(folder_ + "/guid2lid") << "0x1 0x0001 0x0001\n";
  EXPECT_EQ(smctl("dump " + folder_).code, 0);
}

class SmctlOrder : public SmctlThatWaits {};

TEST_F(SmctlOrder, ThatIsInForceIsCodeZero) {
  answer("partition", "adopting", {{"adopting", false}, {"rules", true}});
  EXPECT_EQ(smctl("partition delete red").code, 0);
}

TEST_F(SmctlOrder, WhoseCycleFailsIsCodeOneWithItsError) {
  answer(
      "partition", "adopting", {{"adopting", true}, {"rules", true}, {"failed", "no LID is left"}});
  const Outcome outcome = smctl("partition delete red");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out,
            "smctl: the order is kept, but not in force, and smd tries again: no LID is left\n");
}

TEST_F(SmctlOrder, ThatIsThereAlreadyAndNotInForceIsCodeOneAsWell) {
  changed_ = false;
  answer("partition", "adopting", {{"adopting", true}, {"rules", true}, {"failed", "no link"}});
  const Outcome outcome = smctl("partition add red host-1");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("kept, but not in force"));
}

TEST_F(SmctlOrder, ThatAPortDidNotTakeIsCodeOne) {
  answer("partition",
         "adopting",
         {{"adopting", false}, {"rules", true}, {"faults", 2}, {"fault", "host-1 has no room"}});
  const Outcome outcome = smctl("partition delete red");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("2 faults"));
  EXPECT_THAT(outcome.out, HasSubstr("host-1 has no room"));
}

TEST_F(SmctlOrder, OfAManagerThatRulesNoMoreIsCodeOne) {
  answer("partition", "adopting", {{"adopting", false}, {"rules", false}});
  const Outcome outcome = smctl("partition delete red");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("rules no more"));
}

TEST_F(Smctl, SaysThatNoDaemonListens) {
  const Outcome missing = smctl("status");
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "smctl: no daemon listens on " + path_ + "; is smd running?\n");

  std::ofstream(path_) << "no socket";
  EXPECT_EQ(smctl("status").code, 1);
}

TEST_F(Smctl, BadCommandLinesAreCodeTwoAndOneLine) {
  constexpr std::pair<const char*, const char*> kWrong[] = {
      {"", "A subcommand is required"},
      {"frob", "A subcommand is required"},
      {"status extra", "The following argument was not expected: extra"},
      {"port", "NODE is required"},
      {"port sw", "PORT is required"},
      {"port sw x", "PORT: Value x is no whole number from 0 to 18446744073709551615"},
      {"port sw 255", "PORT: Value 255 not in range 0 to 254"},
      {"port sw -1", "PORT: Value -1 is no whole number from 0 to 18446744073709551615"},
      {"route a", "DST is required"},
      {"changes x", "N: Value x is no whole number from 0 to 18446744073709551615"},
      {"changes -1", "N: Value -1 is no whole number from 0 to 18446744073709551615"},
      {"log", "LEVEL is required"},
      {"--frob status", "The following argument was not expected: --frob"},
      {"sa", "RECORD is required"},
      {"sa PathRecord SLID", "WHERE: 'SLID' is no condition; KEY=VALUE"},
      {"sweep --half", "The following argument was not expected: --half"},
      {"partition", "A subcommand is required"},
      {"partition frob", "A subcommand is required"},
      {"partition create red", "P_KEY is required"},
      {"partition delete", "PARTITION is required"},
      {"partition add red", "PORT[=full|limited] is required"},
      {"partition list --dry-run", "The following argument was not expected: --dry-run"},
      {"status nodes", "The following argument was not expected: nodes"},
  };
  for (const auto& [line, why] : kWrong) {
    const Outcome outcome = smctl(line);
    EXPECT_EQ(outcome.code, 2) << line << ": " << outcome.out;
    EXPECT_EQ(outcome.out, std::string("smctl: ") + why + "; smctl --help shows what there is\n")
        << line;
  }
}

TEST_F(Smctl, HelpAndVersionNeedNoDaemon) {
  const Outcome help = smctl("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("status"), HasSubstr("--socket")));
  EXPECT_EQ(smctl("--version").code, 0);
  EXPECT_THAT(smctl("port --help").out, HasSubstr("NODE"));
}

/// A listener that answers one connection with what the test says, then closes it.
class FakeDaemon {
 public:
  FakeDaemon(const std::string& path, std::string answer)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int client = ::accept(fd_, nullptr, nullptr);
      std::array<char, 4096> request;
      EXPECT_GT(::recv(client, request.data(), request.size(), 0), 0);
      EXPECT_EQ(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(answer.size()));
      ::close(client);
    });
  }

  ~FakeDaemon() {
    thread_.join();
    ::close(fd_);
  }

  FakeDaemon(const FakeDaemon&) = delete;

 private:
  int fd_;
  std::thread thread_;
};

TEST_F(Smctl, AnswersThatAreNoneOfSmdsAreRefused) {
  int n = 0;
  for (const char* answer : {"HTTP/1.1 400\r\n",
                             "[]\n",
                             "{}\n",
                             "{\"ok\":1}\n",
                             "{\"ok\":false}\n",
                             "{\"ok\":false,\"error\":7}\n",
                             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
                             "\xff\n"}) {
    const std::string path = path_ + std::to_string(n++);
    const FakeDaemon daemon(path, answer);
    const auto result = send_command({.socket = path}, "status", Json::object());
    ASSERT_FALSE(result) << answer;
    EXPECT_EQ(result.error().code, Errc::Malformed) << answer;
  }
}

TEST_F(Smctl, ConnectionThatEndsWithoutAnAnswerIsSaid) {
  for (const std::string half : {"", "{\"ok\":tr"}) {
    const std::string path = path_ + std::to_string(half.size());
    const FakeDaemon daemon(path, half);
    const auto result = send_command({.socket = path}, "status", Json::object());
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().context, HasSubstr("closed the connection"));
  }
}

TEST_F(Smctl, AnErrorOfTheDaemonStaysOneLine) {
  const FakeDaemon daemon(path_, "{\"ok\":false,\"error\":\"a\\nb\\u001b[2J\"}\n");
  const Outcome outcome = smctl("status");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "smctl: a\\x0ab\\x1b[2J\n");
}

}  // namespace
}  // namespace smd
