// `smsim routes` from outside: figures, verdict, exit codes, and the routes as a file.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

Finished routes(std::vector<std::string> args, const std::filesystem::path& cwd = {}) {
  args.insert(args.begin(), {test::build_path("bin/smsim"), "routes"});
  return run_process({.argv = std::move(args), .cwd = cwd}, std::chrono::seconds(60));
}

TEST(RoutesCommand, PrintsFiguresAndTheVerdict) {
  const Finished plain = routes({"example:name=flich", "--system", "UD"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.out, HasSubstr("routes 56, shortest 89.3 %"));
  EXPECT_THAT(plain.out, HasSubstr("free of deadlock"));
  const Finished json = routes({"example:name=flich", "--system", "BMAX_ITB", "--json"});
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["stop_share"], 1.0);
  EXPECT_EQ(object["deadlock"], "");
}

TEST(RoutesCommand, NamesTheCircleOfRoutesThatCanDeadlock) {
  const Finished out = routes({"torus:dims=6,hosts=1", "--system", "SHORTEST", "--keep", "10"});
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_THAT(out.out, HasSubstr("can deadlock: sw-"));
}

TEST(RoutesCommand, WritesARouteALine) {
  const Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  EXPECT_EQ(routes({"example:name=flich", "--system", "BMAX_ITB", "-o", "r.txt"}, folder).exit_code,
            0);
  std::ifstream file(folder / "r.txt");
  std::string line;
  unsigned lines = 0, stops = 0;
  while (std::getline(file, line)) {
    ++lines;
    stops += line.find('[') != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(lines, 56u);
  EXPECT_EQ(stops, 56u - 24) << "neighbours need none";
}

TEST(RoutesCommand, RefusesWhatIsWrong) {
  const auto refused = [](std::vector<std::string> args) {
    const Finished out = routes(std::move(args));
    EXPECT_EQ(out.exit_code, 2);
    return out.err;
  };
  EXPECT_THAT(refused({"example:name=flich", "--system", "UP"}),
              HasSubstr("UP is no system; known are UD, DFS"));
  EXPECT_THAT(refused({"example:name=flich", "--root", "x"}), HasSubstr("no switch of that name"));
  EXPECT_THAT(refused({"fat-tree:k=4,levels=2", "--system", "BMAX_ITB"}),
              HasSubstr("BMAX_ITB needs a host at "));
  EXPECT_THAT(refused({}), HasSubstr("routes needs a FABRIC"));
}

}  // namespace
}  // namespace smd::test
