#include "smd/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace smd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RootFile, HasOneGuidALine) {
  const auto roots = parse_root_file(
      "# spines\n"
      "0x0002c90300000001\n"
      "\n"
      "\t0X2C  # the second one\r\n"
      "0xffffffffffffffff",
      "roots");
  ASSERT_TRUE(roots);
  EXPECT_THAT(*roots, ElementsAre(Guid{0x0002c90300000001}, Guid{0x2c}, Guid{~std::uint64_t{0}}));
  EXPECT_THAT(*parse_root_file("", "roots"), IsEmpty());
}

TEST(RootFile, EveryOtherLineIsAFault) {
  const auto roots =
      parse_root_file("0x1\nspine-1\n0x\n0x0\n0x1 0x2\n0x10000000000000000\n12\n0x-1\n", "roots");
  ASSERT_FALSE(roots);
  std::vector<int> lines;
  for (const Fault& fault : roots.error()) {
    EXPECT_EQ(fault.where, "roots");
    lines.push_back(fault.line);
  }
  EXPECT_THAT(lines, ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

using Names = std::vector<std::pair<Guid, std::string>>;

TEST(NodeNameMap, HasAGuidAndAQuotedNameALine) {
  const auto names = parse_node_name_map(
      "# the machine room\n"
      "0x0002c90300000002 \"leaf 7 # of \xc3\xa9tage 2\"\r\n"
      "\n"
      "\t0X1\t\"spine\"  # in the middle\n",
      "names");
  ASSERT_TRUE(names) << print_fault(names.error().front());
  EXPECT_EQ(*names,
            (Names{{Guid{1}, "spine"}, {Guid{0x0002c90300000002}, "leaf 7 # of \xc3\xa9tage 2"}}));
}

TEST(NodeNameMap, EveryOtherLineIsAFault) {
  const auto names = parse_node_name_map(
      "0x1 \"a\"\n0x2 a\n\"a\"\n0x0 \"a\"\n0x3 \"a\n0x4 \"\"\n0x5 \"a\" b\n0x1 \"b\"\n0x6 # \"a\"\n"
      "leaf \"a\"\n",
      "names");
  ASSERT_FALSE(names);
  std::vector<int> lines;
  for (const Fault& fault : names.error()) lines.push_back(fault.line);
  EXPECT_THAT(lines, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(PrefixRoute, IsAPrefixAndARouter) {
  EXPECT_EQ(parse_prefix_route(" 0xfec0000000000007 \t0x1 "),
            std::pair(std::uint64_t{0xfec0000000000007}, Guid{1}));
  EXPECT_EQ(parse_prefix_route("* *"), std::pair(std::uint64_t{0}, Guid{0}));
  for (const char* line : {"", "*", "0x1", "0x1 0x2 0x3", "7 0x1", "0x1 host", "0x1,0x2"})
    EXPECT_EQ(parse_prefix_route(line), std::nullopt) << line;
}

class RootsOfConfig : public ::testing::Test {
 protected:
  RootsOfConfig() {
    std::filesystem::create_directories(folder_);
    std::ofstream(config_) << "[sm]\nroots = [\"0x7\"]\nroots_file = \"" << roots_ << "\"\n";
  }

  ~RootsOfConfig() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "root_file_test_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string config_ = folder_ + "/smd.toml";
  const std::string roots_ = folder_ + "/roots";
};

TEST_F(RootsOfConfig, AreThoseOfBothPlaces) {
  std::ofstream(roots_) << "0x8\n0x9\n";
  const auto config = load_config(config_);
  ASSERT_TRUE(config);
  EXPECT_THAT(config->sm.roots, ElementsAre(Guid{7}, Guid{8}, Guid{9}));
}

TEST_F(RootsOfConfig, FaultsNameTheFile) {
  const auto missing = load_config(config_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().at(0).where, roots_);
  EXPECT_THAT(missing.error().at(0).message, HasSubstr("no such file"));
  std::ofstream(roots_) << "0x8\nspine\n";
  const auto wrong = load_config(config_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(print_fault(wrong.error().at(0)),
            roots_ + ":2: no GUID of a switch, such as 0x0002c90300000001");
}

}  // namespace
}  // namespace smd
