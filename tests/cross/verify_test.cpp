// Debian's OpenSM routes fabrics that Debian's ibsim simulates, its tools dump what it wrote, and
// `smd verify` says what it is worth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace verify_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr auto kLimit = std::chrono::seconds(120);

Finished verify(std::vector<std::string> arguments) {
  std::vector<std::string> argv{smd_path().string(), "verify"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process({.argv = argv}, kLimit);
}

/// One fabric under ibsim, brought up by OpenSM once.
class RoutedByOpensm {
 public:
  RoutedByOpensm(const std::string& fabric,
                 const std::string& engine,
                 std::vector<std::string> more = {})
      : ibsim_(net_of(fabric, scratch_.path())) {
    EXPECT_TRUE(ibsim_.ready()) << ibsim_.complaint();
    host_ = ibsim_.facts().adapter_ids.front();
    std::vector<std::string> argv{"opensm",
                                  "-o",
                                  "-R",
                                  engine,
                                  "-f",
                                  path("osm.log"),
                                  // Errors, information and routing: what makes it write its dumps.
                                  "-D",
                                  "0x43",
                                  "--dump_files_dir",
                                  scratch_.path().string()};
    argv.insert(argv.end(), more.begin(), more.end());
    const Finished opensm = tool(ibsim_, host_, argv, kLimit);
    EXPECT_EQ(opensm.exit_code, 0) << opensm.err;
    EXPECT_THAT(read("osm.log"), HasSubstr("SUBNET UP"));
    write("net", tool(ibsim_, host_, {"ibnetdiscover"}).out);
    write("lft", tool(ibsim_, host_, {"dump_fts"}, kLimit).out);
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }

  [[nodiscard]] std::string read(const std::string& name) const { return read_text(path(name)); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  [[nodiscard]] Finished verify_it(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"--fabric", path("net"), "--lft", path("lft")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return verify(arguments);
  }

 private:
  Scratch scratch_;
  Ibsim ibsim_;
  std::string host_;
};

TEST(Verify, MinhopOnATorusHasACreditLoop) {
  const RoutedByOpensm torus("torus:dims=5.5,hosts=1", "minhop");
  const Finished text = torus.verify_it();
  EXPECT_EQ(text.exit_code, 1) << text.out << text.err;
  EXPECT_THAT(text.out, HasSubstr("0 unreachable, 0 in loops"));
  EXPECT_THAT(text.out, HasSubstr("credit loops FOUND: "));
  EXPECT_THAT(text.out, HasSubstr("NOT SOUND"));

  const Finished json = torus.verify_it({"--json"});
  EXPECT_EQ(json.exit_code, 1);
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("fabric").at("switches"), 25);
  EXPECT_EQ(report.at("fabric").at("lids"), 50);
  EXPECT_EQ(report.at("routes").at("pairs"), 50 * 49);
  EXPECT_EQ(report.at("routes").at("minimal_pct"), 100.0);
  EXPECT_EQ(report.at("deadlock").at("acyclic"), false);
  EXPECT_THAT(report.at("deadlock").at("cycle").at(0).get<std::string>(),
              MatchesRegex("(sw-[0-9-]+:[0-9]+\\(VL0\\) -> )+sw-[0-9-]+:[0-9]+\\(VL0\\)"));
}

TEST(Verify, EnginesForFatTreesAreSoundOnOne) {
  for (const char* const engine : {"updn", "ftree"}) {
    const RoutedByOpensm tree("fat-tree:k=8,levels=3", engine);
    const Finished run = tree.verify_it();
    EXPECT_EQ(run.exit_code, 0) << engine << '\n' << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("none on 1 VL\n"));
    EXPECT_THAT(run.out, HasSubstr("are two switches")) << "its tops do not reach each other";
    EXPECT_THAT(run.out, HasSubstr("\nsound\n"));
    const Finished own =
        verify({"--fabric", tree.path("net"), "--lft", tree.path("opensm-lfts.dump"), "--json"});
    EXPECT_EQ(own.exit_code, 0) << own.err;
    EXPECT_EQ(own.out, tree.verify_it({"--json"}).out) << "OpenSM's own dump says the same";
    const Finished generated =
        verify({"--fabric", "fat-tree:k=8,levels=3", "--lft", tree.path("lft")});
    EXPECT_EQ(generated.exit_code, 0) << generated.err;
  }
}

TEST(Verify, ReadsTheLanesThatOpensmSet) {
  const RoutedByOpensm torus("torus:dims=5.5,hosts=1", "minhop", {"-Q"});
  const std::vector<std::string> lanes{"--sl2vl", torus.path("opensm-sl2vl.dump"), "--json"};
  const Finished run = torus.verify_it(lanes);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report.at("deadlock").at("acyclic"), false);
  EXPECT_EQ(report.at("routes").at("unreachable"), 0);
  EXPECT_GT(report.at("deadlock").at("vls"), 1) << "every SL may be used";
}

TEST(Verify, ReadsSeveralLidsPerPort) {
  const RoutedByOpensm tree("fat-tree:k=4,levels=3", "minhop", {"-l", "1"});
  for (const char* const fabric : {"net", ""}) {
    const Finished run = verify({"--fabric",
                                 *fabric == 0 ? "fat-tree:k=4,levels=3" : tree.path(fabric),
                                 "--lft",
                                 tree.path("lft"),
                                 "--json"});
    EXPECT_NE(run.exit_code, 2) << run.err;
    const auto report = nlohmann::json::parse(run.out);
    EXPECT_EQ(report.at("fabric").at("lids"), 20 + 2 * 16);
    EXPECT_EQ(report.at("routes").at("unreachable"), 0);
    EXPECT_GT(report.at("tables").at("paths"), 0);
  }
}

/// Base LIDs of adapters in the output of ibnetdiscover.
std::vector<std::string> host_lids(const std::string& net) {
  std::vector<std::string> lids;
  std::istringstream lines(net);
  bool adapter = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("[")) adapter = line.starts_with("Ca");
    const std::size_t at = line.find("# lid ");
    if (adapter && at != std::string::npos)
      lids.push_back(line.substr(at + 6, line.find(' ', at + 6) - at - 6));
  }
  return lids;
}

// What it gives to paths of switches is drawn at random, and may close a loop.
TEST(Verify, SlsOfPathsShowWhatDfssspMeansForHosts) {
  const Scratch scratch;
  const Ibsim ibsim(net_of("torus:dims=5,hosts=1", scratch.path()));
  ASSERT_TRUE(ibsim.ready()) << ibsim.complaint();
  const std::string host = ibsim.facts().adapter_ids.front();
  const std::string log = (scratch.path() / "osm.log").string();
  auto environment = ibsim.client_environment(host);
  environment.emplace_back("OSM_TMP_DIR", scratch.path().string());
  environment.emplace_back("OSM_CACHE_DIR", scratch.path().string());
  const auto save = [&](const char* name, const std::string& text) {
    std::ofstream(scratch.path() / name) << text;
    return (scratch.path() / name).string();
  };
  // Flushed, so that the log says in time when it is up.
  const std::string config = save(
      "opensm.conf",
      "routing_engine dfsssp\nqos TRUE\nlog_flags 0x43\nforce_log_flush TRUE\ndump_files_dir " +
          scratch.path().string() + "\n");
  Process opensm({.argv = {"opensm", "-F", config, "-f", log}, .env = environment});
  const auto is_up = [&] { return read_text(log).find("SUBNET UP") != std::string::npos; };
  ASSERT_TRUE(wait_until(is_up, kLimit)) << opensm.out() << opensm.err();
  const std::string topology = tool(ibsim, host, {"ibnetdiscover"}).out;
  const std::string net = save("net", topology);
  const std::string lft = save("lft", tool(ibsim, host, {"dump_fts"}).out);
  const std::vector<std::string> hosts = host_lids(topology);
  ASSERT_EQ(hosts.size(), 5u);
  // Answers of several packets do not get through ibsim: one path at a time.
  std::string records;
  for (const std::string& from : hosts) {
    for (int to = 1; to <= 10; ++to)
      records +=
          tool(ibsim, host, {"saquery", "-p", "--slid", from, "--dlid", std::to_string(to)}).out;
  }
  const std::string lanes = (scratch.path() / "opensm-sl2vl.dump").string();
  const Finished any = verify({"--fabric", net, "--lft", lft, "--sl2vl", lanes});
  EXPECT_EQ(any.exit_code, 1) << any.out << any.err;
  const Finished run = verify(
      {"--fabric", net, "--lft", lft, "--sl2vl", lanes, "--path-sl", save("paths", records)});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("credit loops none on "));
  EXPECT_THAT(run.out, Not(HasSubstr("note")));
}

/// Lines that are not blank, in the order of their bytes.
std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> replaced(std::vector<std::string> lines,
                                  const char* what,
                                  const char* with) {
  for (std::string& line : lines) line = std::regex_replace(line, std::regex(what), with);
  return lines;
}

/// `opensm -o`, whose cache directory and dumps are `folder`.
void run_opensm(const Ibsim& ibsim,
                const std::filesystem::path& folder,
                const std::string& engine = "minhop") {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "osm.conf") << "routing_engine " << engine
                                     << "\nlog_flags 0x43\nsweep_interval 0\n"
                                        "honor_guid2lid_file TRUE\ndump_files_dir "
                                     << folder.string() << "\n";
  auto env = ibsim.client_environment(ibsim.facts().adapter_ids.front());
  env.insert(env.end(), {{"OSM_TMP_DIR", folder}, {"OSM_CACHE_DIR", folder}});
  const Finished done = run_process(
      {.argv = {"opensm", "-o", "-F", folder / "osm.conf", "-f", folder / "osm.log"}, .env = env},
      kLimit);
  ASSERT_EQ(done.exit_code, 0) << done.err;
}

/// `smd run --once` that leaves its dumps in `folder`.
void run_smd(const Ibsim& ibsim, const std::filesystem::path& folder, const std::string& more) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path config = write_config(folder);
  std::string text = read_text(config);
  text.replace(text.find("[sm]\n"), 5, "[sm]\ndump_dir = \"" + folder.string() + "\"\n" + more);
  std::ofstream(config) << text;
  const OnceRun run = run_once(ibsim, ibsim.facts().adapter_ids.front(), config);
  ASSERT_EQ(run.process.exit_code, 0) << run.process.err;
}

TEST(Dumps, OfSmdAreThoseOfOpensm) {
  const Scratch scratch;
  const std::filesystem::path theirs = scratch.path() / "opensm", ours = scratch.path() / "smd";
  const Ibsim ibsim(net_of("fat-tree:k=4,levels=2", scratch.path()));
  ASSERT_TRUE(ibsim.ready()) << ibsim.complaint();
  run_opensm(ibsim, theirs);
  run_smd(ibsim, ours, "");  // it keeps the LIDs
  for (const char* name : {"guid2lid", "guid2mkey", "neighbors"})
    EXPECT_EQ(lines_of(ours / name), lines_of(theirs / name)) << name;
  // OpenSM shifts the device at the second end by 16 bits.
  EXPECT_EQ(lines_of(ours / "opensm-subnet.lst"),
            replaced(lines_of(theirs / "opensm-subnet.lst"), "DevID:(.{4})0000 ", "DevID:$1 "));
  // Ports are each engine's own.
  const auto without_ports = [](const std::filesystem::path& file) {
    return replaced(lines_of(file), "^(0x[0-9a-f]{4}) [0-9]{3} #", "$1 #");
  };
  EXPECT_EQ(without_ports(ours / "opensm-lfts.dump"), without_ports(theirs / "opensm-lfts.dump"));
  EXPECT_EQ(lines_of(ours / "opensm.mcfdbs"), lines_of(theirs / "opensm.mcfdbs"))
      << "nobody joined";
}

TEST(Dumps, OfSmdAreWhatOpensmBeginsWith) {
  const Scratch scratch;
  const std::filesystem::path net = net_of("fat-tree:k=4,levels=2", scratch.path()),
                              folder = scratch.path() / "smd", cache = scratch.path() / "cache";
  {
    const Ibsim ibsim(net);
    run_smd(ibsim, folder, "lid_min = 100\n");
  }
  std::filesystem::create_directories(cache);
  for (const char* name : {"guid2lid", "guid2mkey", "neighbors"})
    std::filesystem::copy_file(folder / name, cache / name);
  const Ibsim ibsim(net);  // the fabric was switched off in between
  run_opensm(ibsim, cache);
  EXPECT_EQ(lines_of(cache / "guid2lid"), lines_of(folder / "guid2lid"));
  EXPECT_EQ(lines_of(cache / "neighbors"), lines_of(folder / "neighbors"));
  std::ifstream log(cache / "osm.log");
  for (std::string line; std::getline(log, line);) EXPECT_THAT(line, Not(HasSubstr(" ERR ")));
}

TEST(Dumps, OfLanesAreReadBack) {
  const Scratch scratch;
  const std::filesystem::path folder = scratch.path() / "smd";
  const std::filesystem::path net = net_of("torus:dims=4.4", scratch.path());
  const Ibsim ibsim(net);
  run_smd(ibsim, folder, "engine = \"dfsssp\"\n");
  const std::string fabric = (scratch.path() / "net").string();
  std::ofstream(fabric) << tool(ibsim, ibsim.facts().adapter_ids.front(), {"ibnetdiscover"}).out;
  const Finished run = verify({"--fabric",
                               fabric,
                               "--lft",
                               folder / "opensm-lfts.dump",
                               "--sl2vl",
                               folder / "opensm-sl2vl.dump",
                               "--json"});
  ASSERT_NE(run.exit_code, 2) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report.at("routes").at("unreachable"), 0);
  EXPECT_GT(lines_of(folder / "opensm-sl2vl.dump").size(), 16u * 4) << "rows of lanes";
}

/// What a dump of lanes says of switches, in the order of their GUIDs, without the lanes.
std::string rows_of_switches(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  const std::regex row("^([0-9]+ +[0-9]+ +:)( [0-9]+ *){16}$");
  std::map<std::string, std::string> switches;
  std::string head;
  for (std::string line; std::getline(in, line);) {
    if (line.find("base LID") != line.npos) head = line;
    if (head.starts_with("Switch"))
      switches[head] += std::regex_replace(line, row, "$1 16 lanes") + "\n";
  }
  std::string out;
  for (const auto& [ignored, rows] : switches) out += rows;
  return out;
}

TEST(Dumps, OfLanesHaveTheShapeOfOpensms) {
  const Scratch scratch;
  const std::filesystem::path theirs = scratch.path() / "opensm", ours = scratch.path() / "smd";
  const Ibsim ibsim(net_of("torus:dims=4.4,hosts=1", scratch.path()));
  ASSERT_TRUE(ibsim.ready()) << ibsim.complaint();
  run_opensm(ibsim, theirs, "dfsssp\nqos TRUE");
  run_smd(ibsim, ours, "engine = \"dfsssp\"\n");
  const auto rows = rows_of_switches(ours / "opensm-sl2vl.dump");
  EXPECT_EQ(rows, rows_of_switches(theirs / "opensm-sl2vl.dump"));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = rows.find("16 lanes", at)) != rows.npos; ++at) ++count;
  EXPECT_EQ(count, 16u * 6 * 5) << "from five ports and port 0 to five, in each of 16 switches";
}

TEST(Verify, ReadsWhatDryRunDumps) {
  const Scratch scratch;
  const std::string folder = scratch.path().string();
  const Finished dry = run_process(
      {.argv = {smd_path().string(), "dry-run", "--fabric", "torus:dims=4.4", "--dump", folder}},
      kLimit);
  ASSERT_EQ(dry.exit_code, 0) << dry.err;
  const Finished run =
      verify({"--fabric", folder + "/fabric.net", "--lft", folder + "/opensm-lfts.dump"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(Verify, BadInputIsOneLineAndExitCodeTwo) {
  const Scratch scratch;
  const std::string lft = (scratch.path() / "lft").string();
  std::ofstream(lft) << "0x0001 003\n";
  const Finished run = verify({"--fabric", "example", "--lft", lft});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr(lft + ":1: an entry outside a table"));
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1);
  EXPECT_EQ(verify({"--fabric", "example", "--lft", lft + "x"}).exit_code, 2);
  EXPECT_THAT(verify({"--fabric", "example", "--lft", lft + "x"}).err, HasSubstr("no such file"));
  EXPECT_EQ(verify({"--fabric", "exampel", "--lft", lft}).exit_code, 2);
  EXPECT_EQ(verify({"--lft", lft}).exit_code, 2);
}

}  // namespace verify_test
}  // namespace smd::test
