// Hosts make groups, join and leave them, register services and subscribe, first with smd and then
// with OpenSM, on ibsim and on smsim: answers and records are the same, field by field, but for
// what docs/multicast.md says. What the switches hold is what the administration says they hold,
// and leads from every member to every other. OpenSM's own test of multicast is content with smd.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "smd/report/sa_query.h"
#include "tests/cross/opensm_with_plugin.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace groups_test {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;
using Fields = std::set<std::string>;

constexpr const char* kFabric = "fat-tree:k=4,levels=2";
const std::string kGroup = "ff12:401b:ffff::101";
const std::string kSmall = "ff15:a01c::7";

/// Lines without leading blanks and dots, but for those that begin with one of `ignored`.
Words lines_of(const std::string& text, const Fields& ignored = {}) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    line.erase(0, start);
    if (std::ranges::none_of(ignored,
                             [&](const std::string& each) { return line.starts_with(each); }))
      lines.push_back(line);
  }
  return lines;
}

/// The records of an answer, each once. A host that subscribes again is found by OpenSM when every
/// byte of its address is as before, and among them are some that nobody sets: at times it is
/// listed twice.
std::set<Words> distinct_records(const Words& lines) {
  std::set<Words> records;
  Words record;
  const auto end = [&] {
    if (!record.empty()) records.insert(std::move(record));
    record.clear();
  };
  for (const std::string& line : lines) {
    if (line.starts_with("InformInfoRecord dump")) end();
    record.push_back(line);
  }
  end();
  return records;
}

Fields all_but_the_status() {
  Fields out;
  for (const SaField& field : find_sa_record("MCMR")->fields)
    out.insert(fmt::format("{}=", field.name));
  return out;
}

/// What a host writes, and which lines of the answer differ for a reason.
struct Act {
  std::string name;
  std::size_t host;
  Words words;
  Fields ignored;
};

Words words(const std::string& method, Words middle, const Words& more) {
  middle.insert(middle.begin(), method);
  middle.insert(middle.end(), more.begin(), more.end());
  return middle;
}

Words creation(const std::string& mgid, const Words& more = {}) {
  return words("set",
               {"MCMR",
                "mgid=" + mgid,
                "port_gid=self",
                "q_key=0xb1b",
                "tclass=0",
                "p_key=0xffff",
                "sl=0",
                "flow_label=0",
                "join_state=1"},
               more);
}

Words joining(const std::string& mgid, unsigned state, const Words& more = {}) {
  return words(
      "set", {"MCMR", "mgid=" + mgid, "port_gid=self", fmt::format("join_state={}", state)}, more);
}

Words leaving(const std::string& mgid, unsigned state) {
  Words out = joining(mgid, state);
  out[0] = "delete";
  return out;
}

/// In the order in which they are done.
std::vector<Act> acts() {
  // Nobody asked for them: smd says the subnet's lifetime and the MGID's scope, OpenSM 0.
  const Fields unasked{"life_time=", "scope=", "hop_limit="};
  // Of a group that was left OpenSM says what the request said.
  const Fields left{
      "q_key", "mlid", "mtu=", "p_key", "rate=", "life_time=", "scope=", "hop_limit="};
  // OpenSM sends a record back with a refusal; what is in it means nothing.
  const Fields refused = all_but_the_status();
  const Words fully{"scope=5",
                    "hop_limit=3",
                    "life_time_selector=2",
                    "life_time=19",
                    "rate_selector=2",
                    "rate=3",
                    "mtu_selector=1",
                    "mtu=4"};
  const Words service{"SR", "id=0x1122", "gid=self", "p_key=0xffff", "name=files"};
  const Words notices{"InformInfo",
                      "lid_first=0xffff",
                      "is_generic=1",
                      "type=0xffff",
                      "trap=0xffff",
                      "producer=0xffffff",
                      "resp_time=18",
                      "qp=1"};
  return {
      {"no_group_yet", 2, joining(kGroup, 1), refused},
      {"creates", 2, creation(kGroup), unasked},
      {"joins", 3, joining(kGroup, 1), unasked},
      {"joins_and_says_all", 6, creation(kGroup), unasked},
      {"sends_too", 6, joining(kGroup, 4), unasked},
      {"leaves_in_part", 6, leaving(kGroup, 4), left},
      {"leaves_what_it_is_not", 6, leaving(kGroup, 2), refused},
      {"only_sends", 5, joining(kGroup, 4), unasked},
      {"wants_more_mtu", 4, joining(kGroup, 1, {"mtu_selector=0", "mtu=5"}), refused},
      {"wants_another_rate", 4, joining(kGroup, 1, {"rate_selector=2", "rate=2"}), refused},
      {"creates_and_says_all", 6, creation(kSmall, fully), {}},
      {"joins_small", 1, joining(kSmall, 1), {}},
      {"leaves_small", 1, leaving(kSmall, 1), left},
      {"leaves_again", 1, leaving(kSmall, 1), refused},
      {"asks_for_unicast", 1, creation("fe12:401b::1"), refused},
      {"asks_for_one_of_the_managers", 1, creation("ff12:a01b::1"), refused},
      {"subscribes", 2, words("set", notices, {"subscribe=1"}), {}},
      {"subscribes_again", 2, words("set", notices, {"subscribe=1"}), {}},
      {"serves", 3, words("set", service, {"lease_s=0xffffffff"}), {}},
      {"serves_for_a_while", 1, words("set", service, {"lease_s=1000"}), {}},
      {"serves_no_more", 1, words("delete", service, {}), {"lease_s="}},
  };
}

struct Question {
  std::string name;
  Words words;
  Fields ignored;
};

std::vector<Question> questions() {
  const Fields unasked{"pkt_life", "Scope.", "HopLimit"};
  return {
      {"groups", {"-g"}, {}},
      {"members", {"--smkey", "1", "-m", "0xc001"}, {}},
      {"members_untrusted", {"-m", "0xc001"}, {}},
      {"of_group", {"--smkey", "1", "MCMR", "--mgid", kGroup}, unasked},
      {"of_group_untrusted", {"MCMR", "--mgid", kGroup}, unasked},
      {"who_sends", {"--smkey", "1", "MCMR", "--mgid", kGroup, "-J", "4"}, unasked},
      {"of_port", {"--smkey", "1", "MCMR", "--gid", "fe80::1:0:0:7"}, unasked},
      {"small", {"--smkey", "1", "MCMR", "--mgid", kSmall}, {}},
      {"by_mlid", {"--smkey", "1", "MCMR", "--mlid", "0xc002"}, {}},
      {"by_scope", {"MCMR", "--scope", "5"}, {}},
      {"no_such_group", {"MCMR", "--mgid", "ff12::99"}, {}},
      {"services", {"SR"}, {}},
      {"subscriptions", {"IIR"}, {}},
      {"subscriptions_of_another", {"IIR", "fe80::1:0:0:7"}, {}},
  };
}

/// smd as a daemon on the stage's first adapter. `options`: lines of its section [sm].
class Daemon {
 public:
  explicit Daemon(const Stage& stage, const std::string& options = "")
      : process_({.argv = {smd_path(), "run", "-c", configure(options)}, .env = stage.env(0)}) {}

  bool wait_until_up() {
    return wait_until([this] { return ctl({"status"}).find("\"master\"") != std::string::npos; },
                      20s);
  }

  /// What smctl prints.
  [[nodiscard]] std::string ctl(const Words& words) const {
    Words argv{smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = argv}, 10s).out;
  }

  Process& process() { return process_; }

 private:
  std::string configure(const std::string& options) {
    const std::filesystem::path file = write_config(scratch_.path(), "interval_s = 0\n");
    std::string lines = read_text(file);
    lines.replace(lines.find("[sm]\n"), 5, "[sm]\nsm_key = 1\n" + options);
    std::ofstream(file) << lines;
    return file;
  }

  Scratch scratch_;
  Process process_;
};

class GroupsAsked : public ::testing::TestWithParam<Server> {
 protected:
  GroupsAsked() : stage_(GetParam(), kFabric, scratch_.path()) {}

  void SetUp() override { ASSERT_TRUE(stage_.ready()); }

  [[nodiscard]] Finished act(const Act& what) const {
    Words argv{build_path("bin/sa_client")};
    argv.insert(argv.end(), what.words.begin(), what.words.end());
    return run_process({.argv = std::move(argv), .env = stage_.env(what.host)}, 20s);
  }

  [[nodiscard]] Finished ask(Words words) const {
    words.insert(words.begin(), "saquery");
    return stage_.tool(std::move(words));
  }

  struct Told {
    std::map<std::string, Finished> acts;
    std::map<std::string, Finished> answers;
  };

  [[nodiscard]] Told tell_all() const {
    Told told;
    for (const Act& each : acts()) told.acts[each.name] = act(each);
    for (const Question& each : questions()) told.answers[each.name] = ask(each.words);
    return told;
  }

  Scratch scratch_;
  Stage stage_;
};

TEST_P(GroupsAsked, AnswersAsOpensmDoes) {
  Told ours;
  {
    Daemon smd(stage_);
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    ours = tell_all();
    smd.process().terminate();
  }
  OpensmWithPlugin opensm(stage_, {.engines = "minhop"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  const Told theirs = tell_all();
  for (const Act& each : acts()) {
    EXPECT_EQ(lines_of(ours.acts.at(each.name).out, each.ignored),
              lines_of(theirs.acts.at(each.name).out, each.ignored))
        << each.name << ours.acts.at(each.name).err << theirs.acts.at(each.name).err;
  }
  for (const Question& each : questions()) {
    const Words mine = lines_of(ours.answers.at(each.name).out, each.ignored);
    const Words others = lines_of(theirs.answers.at(each.name).out, each.ignored);
    if (each.name != "subscriptions") {
      EXPECT_EQ(mine, others) << each.name;
      continue;
    }
    EXPECT_EQ(distinct_records(mine), distinct_records(others));
    EXPECT_EQ(std::ranges::count(mine, "InformInfoRecord dump:"), 1)
        << "subscribed twice, listed once";
  }
}

/// By LID of the switch and MLID, the ports that are copied to.
using Masks = std::map<std::pair<unsigned, unsigned>, unsigned>;

/// "0xc001  0x000e", in a record.
void read_record(unsigned lid, const std::string& text, Masks& masks) {
  for (const std::string& line : lines_of(text)) {
    unsigned mlid = 0;
    unsigned mask = 0;
    if (std::sscanf(line.c_str(), "0x%x 0x%x", &mlid, &mask) == 2 && mask != 0)
      masks[{lid, mlid}] = mask;
  }
}

/// "     Ports: 0 1 2 3 4", and a cross below for every port.
void read_ibroute(unsigned lid, const std::string& text, Masks& masks) {
  constexpr std::size_t kFirstPort = 12;
  for (const std::string& line : lines_of(text)) {
    unsigned mlid = 0;
    if (std::sscanf(line.c_str(), "0x%x ", &mlid) != 1) continue;
    for (std::size_t at = kFirstPort; at < line.size(); at += 2) {
      if (line[at] == 'x') masks[{lid, mlid}] |= 1u << (at - kFirstPort) / 2;
    }
  }
}

struct Tables {
  Masks told;         // by the administration
  Masks held;         // by the switches
  Words not_reached;  // members that a packet does not come to
};

/// Members are given by their hosts; senders also send.
struct Membership {
  std::vector<std::size_t> members;
  std::vector<std::size_t> senders;
};

constexpr unsigned kMlid = 0xc001;

Tables read_tables(const Stage& stage, const Membership& group) {
  Tables out;
  std::map<std::string, unsigned> lid_of;
  const SeenFabric seen = read_ibnetdiscover(stage.tool({"ibnetdiscover"}).out);
  for (const auto& [lid, port] : seen.lids()) {
    const SeenNode& node = seen.nodes.at(port.first);
    lid_of[node.description] = lid;
    if (!node.is_switch) continue;
    const std::string text = std::to_string(lid);
    read_record(lid, stage.tool({"saquery", "MFTR", text + "/0/0"}).out, out.told);
    read_ibroute(lid, stage.tool({"ibroute", "-M", text}).out, out.held);
  }
  const auto lid = [&](std::size_t host) {
    return std::to_string(lid_of.at(fmt::format("host-{:05}", host)));
  };
  Membership all = group;
  all.senders.insert(all.senders.end(), group.members.begin(), group.members.end());
  for (const std::size_t from : all.senders) {
    for (const std::size_t to : group.members) {
      if (from == to) continue;
      const Finished way =
          stage.tool({"ibtracert", "-m", fmt::format("0x{:x}", kMlid), lid(from), lid(to)});
      if (way.exit_code != 0) out.not_reached.push_back(fmt::format("{} to {}", from, to));
    }
  }
  return out;
}

bool complete(const Tables& tables) {
  return !tables.held.empty() && tables.told == tables.held && tables.not_reached.empty();
}

void expect_complete(const Tables& tables) {
  EXPECT_FALSE(tables.held.empty());
  EXPECT_EQ(tables.told, tables.held);
  EXPECT_THAT(tables.not_reached, ::testing::IsEmpty());
}

TEST_P(GroupsAsked, SwitchesHoldWhatTheAdministrationSays) {
  const Membership group{.members = {2, 3, 6}, .senders = {5}};
  const auto join_all = [this] {
    EXPECT_THAT(act({"", 2, creation(kGroup), {}}).out, HasSubstr("status=0x0000"));
    EXPECT_THAT(act({"", 3, joining(kGroup, 1), {}}).out, HasSubstr("status=0x0000"));
    EXPECT_THAT(act({"", 6, joining(kGroup, 1), {}}).out, HasSubstr("status=0x0000"));
    EXPECT_THAT(act({"", 5, joining(kGroup, 4), {}}).out, HasSubstr("status=0x0000"));
  };
  Tables tables;
  const auto settled = [&] {
    return wait_until(
        [&] {
          tables = read_tables(stage_, group);
          return complete(tables);
        },
        10s);
  };
  {
    Daemon smd(stage_);
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    join_all();
    settled();
    expect_complete(tables);
    // smctl asks for the same by field name.
    EXPECT_THAT(smd.ctl({"sa", "MCMR", "mlid=0xc001"}), HasSubstr("\"count\": 4"));
    const auto& [place, mask] = *tables.held.begin();
    EXPECT_THAT(smd.ctl({"sa", "MFTR", fmt::format("lid={}", place.first)}),
                HasSubstr(fmt::format("\"masks\": \"0000{:04x}0000", mask)));
    smd.process().terminate();
  }
  OpensmWithPlugin opensm(stage_, {.engines = "minhop"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  join_all();
  settled();
  expect_complete(tables);
}

TEST_P(GroupsAsked, OsmtestIsContent) {
  Daemon smd(stage_);
  ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
  // "Multiple": without counting groups at the end, for which tables would need RMPP.
  for (int times = 0; times < 2; ++times) {
    const Finished run = stage_.tool({"osmtest", "-f", "m", "-M", "2", "-l", "osmtest.log"});
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_THAT(run.out, HasSubstr("TEST \"Multicast\" PASS"));
  }
}

/// `smd verify` of what a manager dumped into `folder`, as JSON.
nlohmann::json judge(const std::filesystem::path& folder,
                     const std::filesystem::path& members,
                     const Words& more = {}) {
  Words argv{smd_path(),
             "verify",
             "--fabric",
             folder / "net",
             "--lft",
             folder / "opensm-lfts.dump",
             "--mft",
             folder / "opensm.mcfdbs",
             "--groups",
             members,
             "--json"};
  argv.insert(argv.end(), more.begin(), more.end());
  const Finished run = run_process({.argv = argv}, 60s);
  EXPECT_NE(run.exit_code, 2) << run.err;
  return nlohmann::json::parse(run.out, nullptr, false);
}

bool has_group(const std::filesystem::path& mcfdbs) {
  return read_text(mcfdbs).find("0xC001") != std::string::npos;
}

// Trees of both on one fabric, by one judge. OpenSM's go by shortest ways from a centre; on a torus
// these may turn every way.
TEST(JudgedTrees, OfOpensmAndOfSmd) {
  const Scratch scratch;
  Stage stage(Server::Ibsim, "torus:dims=4.4,hosts=1", scratch.path());
  ASSERT_TRUE(stage.ready());
  const std::filesystem::path theirs = scratch.path() / "opensm", ours = scratch.path() / "smd";
  std::filesystem::create_directories(theirs);
  std::filesystem::create_directories(ours);
  const auto act = [&](std::size_t host, Words words) {
    words.insert(words.begin(), build_path("bin/sa_client"));
    return run_process({.argv = std::move(words), .env = stage.env(host)}, 20s).out;
  };
  const auto join_all = [&] {
    std::string made;
    const auto create = [&] {
      made = act(1, creation(kGroup));
      return made.find("status=0x0000") != std::string::npos;
    };
    EXPECT_TRUE(wait_until(create, 20s)) << made;
    for (const std::size_t host : {3u, 6u, 9u, 11u, 14u})
      EXPECT_THAT(act(host, joining(kGroup, 1)), HasSubstr("status=0x0000"));
  };
  const auto save_net = [&](const std::filesystem::path& folder) {
    std::ofstream(folder / "net") << stage.tool({"ibnetdiscover"}).out;
  };
  {
    OpensmWithPlugin opensm(
        stage,
        {.engines = "minhop",
         .config = {"log_flags 0x43", "sa_db_dump TRUE", "dump_files_dir " + theirs.string()}});
    ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
    join_all();
    ::kill(opensm.process().pid(), SIGHUP);  // a heavy sweep, after which it dumps
    const auto dumped = [&] {
      return has_group(theirs / "opensm.mcfdbs") &&
             std::filesystem::exists(theirs / "opensm-sa.dump");
    };
    ASSERT_TRUE(wait_until(dumped, 30s)) << opensm.log();
    ASSERT_TRUE(opensm.wait_until_quiet());
    save_net(theirs);
  }
  {
    Daemon smd(stage);
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    join_all();
    const auto dumped = [&] {
      static_cast<void>(smd.ctl({"dump", ours}));
      return has_group(ours / "opensm.mcfdbs");
    };
    ASSERT_TRUE(wait_until(dumped, 30s));
    save_net(ours);
    const auto told = nlohmann::json::parse(smd.ctl({"multicast"}), nullptr, false);
    EXPECT_EQ(told["trees"][0]["members"], 6) << told.dump();
    EXPECT_EQ(told["deadlock_free"], true);
    smd.process().terminate();
  }
  // Who is in the group is the same.
  const auto of_opensm = judge(theirs, theirs / "opensm-sa.dump")["multicast"];
  const auto of_smd = judge(ours, theirs / "opensm-sa.dump")["multicast"];
  for (const auto& each : {of_opensm, of_smd}) {
    EXPECT_EQ(each["members"], 6) << each.dump();
    EXPECT_EQ(each["loops"], 0) << each.dump();
    EXPECT_EQ(each["duplicates"], 0) << each.dump();
    EXPECT_EQ(each["missed"], 0) << each.dump();
    EXPECT_GT(each["trees"]["depth"], 0);
  }
  EXPECT_EQ(of_smd["deadlock"]["acyclic"], true) << of_smd.dump();
  RecordProperty("opensm", of_opensm.dump());
  RecordProperty("smd", of_smd.dump());
}

constexpr const char* kMarket = "ff12:6e6d:feed::101";  // IPoIB's groups always have trees for all

// Hosts 1, 3 … receive and 8 alone sends: a tree for all under "up-down", one for host 8 under
// "by-sender", where what others send misses some. Every entry leads to somebody.
TEST(JudgedTrees, ForOneSender) {
  for (const bool by_sender : {false, true}) {
    const Scratch scratch;
    const Stage stage(Server::Ibsim, "torus:dims=4.4,hosts=1", scratch.path());
    ASSERT_TRUE(stage.ready());
    Daemon smd(stage, by_sender ? "multicast_trees = \"by-sender\"\n" : "");
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    const auto act = [&](std::size_t host, Words words) {
      words.insert(words.begin(), build_path("bin/sa_client"));
      return run_process({.argv = std::move(words), .env = stage.env(host)}, 20s).out;
    };
    EXPECT_THAT(act(1, creation(kMarket)), HasSubstr("status=0x0000"));
    for (const std::size_t host : {3u, 6u, 9u, 11u, 14u})
      EXPECT_THAT(act(host, joining(kMarket, 1)), HasSubstr("status=0x0000"));
    EXPECT_THAT(act(8, joining(kMarket, 4)), HasSubstr("status=0x0000"));
    const auto& folder = scratch.path();
    nlohmann::json told;
    const auto dumped = [&] {
      static_cast<void>(smd.ctl({"dump", folder}));
      told = nlohmann::json::parse(smd.ctl({"multicast"}), nullptr, false);
      return has_group(folder / "opensm.mcfdbs") && told["trees"][0]["members"] == 7;
    };
    ASSERT_TRUE(wait_until(dumped, 30s)) << told.dump();
    static_cast<void>(smd.ctl({"dump", folder}));
    std::ofstream(folder / "net") << stage.tool({"ibnetdiscover"}).out;
    // As saquery -m would print it; libumad2sim brings the first segment of a table alone.
    std::ofstream groups(folder / "groups.txt");
    for (const unsigned host : {1u, 3u, 6u, 8u, 9u, 11u, 14u}) {
      groups << fmt::format(
          "MCMemberRecord member dump:\nMlid....0xC001\nPortGid....fe80::1:0:0:{:x}\n"
          "ScopeState....0x2{}\n",
          2 * host + 1,
          host == 8 ? 4 : 1);
    }
    groups.close();
    const auto of_all = judge(folder, folder / "groups.txt")["multicast"];
    const auto of_one = judge(folder, folder / "groups.txt", {"--one-sender"})["multicast"];
    EXPECT_EQ(of_all["members"], 7) << of_all.dump();
    EXPECT_EQ(of_all["missed"], by_sender ? 1 : 0) << of_all.dump();
    EXPECT_EQ(of_one["missed"], 0) << of_one.dump();
    EXPECT_EQ(of_one["ok"], true) << of_one.dump();
    std::string tables = read_text(folder / "opensm.mcfdbs");
    const std::size_t entry = tables.find("0xC001");
    tables.erase(entry, tables.find('\n', entry) + 1 - entry);
    std::ofstream(folder / "opensm.mcfdbs") << tables;
    const auto cut = judge(folder, folder / "groups.txt", {"--one-sender"})["multicast"];
    EXPECT_EQ(cut["missed"], 1) << cut.dump();
    smd.process().terminate();
  }
}

INSTANTIATE_TEST_SUITE_P(On,
                         GroupsAsked,
                         ::testing::Values(Server::Ibsim, Server::Smsim),
                         [](const auto& at) {
                           return at.param == Server::Ibsim ? "ibsim" : "smsim";
                         });

/// What ibdmchk of ibutils says of dumped files: it walks the tables of the paths between all
/// adapters and of all groups, and looks for credit loops. Debian's crashes when it has said all.
struct Judged {
  std::vector<std::string> faults;  // lines "-E- …" and "-W- …"
  std::string all;
};

Judged ibdmchk(const std::filesystem::path& folder,
               const std::string& unicast,
               const std::string& multicast) {
  Judged out;
  out.all = run_process({.argv = {"ibdmchk",
                                  "-s",
                                  folder / "opensm-subnet.lst",
                                  "-f",
                                  folder / unicast,
                                  "-m",
                                  folder / multicast}},
                        60s)
                .out;
  for (const std::string& line : lines_of(out.all)) {
    if (line.starts_with("-E-") || line.starts_with("-W-")) out.faults.push_back(line);
  }
  return out;
}

/// A copy of the file whose first line that begins so is another one.
void put_with(const std::filesystem::path& from,
              const std::filesystem::path& to,
              const std::string& begin,
              const std::string& line) {
  std::string lines = read_text(from);
  const std::size_t at = lines.find("\n" + begin);
  ASSERT_NE(at, std::string::npos) << begin;
  lines.replace(at + 1, lines.find('\n', at + 1) - at - 1, line);
  std::ofstream(to) << lines;
}

class Dumped : public ::testing::TestWithParam<const char*> {};

TEST_P(Dumped, IbdmchkReadsTheFilesAndIsContent) {
  const Scratch scratch;
  const std::filesystem::path folder = scratch.path() / "dump";
  const Stage stage(Server::Ibsim, GetParam(), scratch.path());
  ASSERT_TRUE(stage.ready());
  Daemon smd(stage);
  ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
  const auto act = [&](std::size_t host, const Words& words) {
    Words argv{build_path("bin/sa_client")};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv), .env = stage.env(host)}, 20s).out;
  };
  EXPECT_THAT(act(2, creation(kGroup)), HasSubstr("status=0x0000"));
  for (const std::size_t host : {3, 6})
    EXPECT_THAT(act(host, joining(kGroup, 1)), HasSubstr("status=0x0000"));
  const auto text_of = [&](const char* name) { return read_text(folder / name); };
  EXPECT_TRUE(wait_until(
      [&] {
        (void)smd.ctl({"dump", folder});
        return text_of("opensm.mcfdbs").find("0xC001 :") != std::string::npos;
      },
      10s));
  // As docs/formats/tables.md says.
  const Finished made =
      run_process({.argv = {"sh",
                            "-c",
                            "awk '/^Unicast/ { print \"dump_ucast_routes: Switch\", $9 } "
                            "/^0x/ { print $1, \":\", $2 }' opensm-lfts.dump > opensm.fdbs"},
                   .env = {},
                   .cwd = folder},
                  10s);
  ASSERT_EQ(made.exit_code, 0) << made.err;

  const Judged judged = ibdmchk(folder, "opensm.fdbs", "opensm.mcfdbs");
  EXPECT_THAT(judged.faults, ::testing::IsEmpty()) << judged.all;
  const std::size_t hosts = read_net_facts(net_of(GetParam(), scratch.path())).adapter_ids.size();
  EXPECT_THAT(judged.all,
              HasSubstr(fmt::format("-I- Scanned:{} CA to CA paths", hosts * (hosts - 1))));
  EXPECT_THAT(judged.all, HasSubstr("no credit loops found"));
  EXPECT_THAT(judged.all,
              ::testing::ContainsRegex("Multicast Group:0xC001 has:[0-9]+ switches and:3 HCAs"));

  put_with(folder / "opensm.fdbs", folder / "wrong.fdbs", "0x0001 : ", "0x0001 : 255");
  EXPECT_FALSE(ibdmchk(folder, "wrong.fdbs", "opensm.mcfdbs").faults.empty());
  put_with(folder / "opensm.mcfdbs", folder / "wrong.mcfdbs", "0xC001 :", "0xC001 : 0x001 ");
  EXPECT_FALSE(ibdmchk(folder, "opensm.fdbs", "wrong.mcfdbs").faults.empty());
}

INSTANTIATE_TEST_SUITE_P(OnA,
                         Dumped,
                         ::testing::Values("fat-tree:k=4,levels=2", "torus:dims=3.3,hosts=1"),
                         [](const auto& at) {
                           return std::string(at.param).starts_with("torus") ? "torus" : "tree";
                         });

}  // namespace groups_test
}  // namespace smd::test
