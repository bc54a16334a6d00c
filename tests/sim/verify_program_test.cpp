// `smd verify` as a program: what its options change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/files.h"
#include "tests/support/one_way_ring.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace verify_program_test {

using ::testing::HasSubstr;
using ::testing::Not;

/// Of the ring whose lanes are `sl2vl`.
Finished verify_ring(const std::string& sl2vl,
                     const std::string& path_sl = {},
                     std::vector<std::string> more = {}) {
  const Scratch folder;
  const auto written = [&](const char* name, const std::string& text) {
    const std::string file = (folder.path() / name).string();
    std::ofstream(file) << text;
    return file;
  };
  std::vector<std::string> argv{build_path("bin/smd"),
                                "verify",
                                "--fabric",
                                written("net", one_way_ring::ring(true)),
                                "--lft",
                                written("lft", one_way_ring::tables(true)),
                                "--sl2vl",
                                written("sl2vl", sl2vl)};
  if (!path_sl.empty()) argv.insert(argv.end(), {"--path-sl", written("sl", path_sl)});
  argv.insert(argv.end(), more.begin(), more.end());
  return run_process({.argv = std::move(argv)}, std::chrono::seconds(60));
}

// With the SLs that paths were given nobody waits in a circle.
TEST(VerifyProgram, AnySlMeansThatHostsMayUseOthersThanTheyWereGiven) {
  const std::string lanes = one_way_ring::identity(), given = one_way_ring::paths();
  const Finished obedient = verify_ring(lanes, given);
  EXPECT_EQ(obedient.exit_code, 0) << obedient.out << obedient.err;
  EXPECT_THAT(obedient.out, HasSubstr("none on 2 VLs\n"));
  const Finished any = verify_ring(lanes, given, {"--any-sl"});
  EXPECT_EQ(any.exit_code, 1) << any.out << any.err;
  EXPECT_THAT(any.out, HasSubstr("FOUND: sw-0:1(VL"));
  EXPECT_THAT(any.out, HasSubstr("NOT SOUND"));
}

TEST(VerifyProgram, SaysThatPathsWereTakenToUseAnySl) {
  const std::string lanes = one_way_ring::identity();
  constexpr const char* kNote = "  note         every path was taken to use any SL; ";
  const Finished without = verify_ring(lanes);
  EXPECT_EQ(without.exit_code, 1) << without.out << without.err;
  EXPECT_THAT(without.out, HasSubstr(kNote));
  EXPECT_THAT(verify_ring(lanes, {}, {"--any-sl"}).out, Not(HasSubstr(kNote))) << "asked for";
  EXPECT_THAT(verify_ring(lanes, one_way_ring::paths()).out, Not(HasSubstr(kNote)));
}

// All SLs are alike here, and what was judged is said.
TEST(VerifyProgram, AnySlIsSaidOfTheVerdict) {
  const std::string lanes = one_way_ring::lanes(0, 1, 0);
  EXPECT_THAT(verify_ring(lanes).out, HasSubstr("none on 2 VLs\n"));
  const Finished any = verify_ring(lanes, {}, {"--any-sl"});
  EXPECT_EQ(any.exit_code, 0) << any.out << any.err;
  EXPECT_THAT(any.out, HasSubstr("none on 2 VLs, whatever SLs hosts use\n"));
}

}  // namespace verify_program_test
}  // namespace smd::test
