#include "smd/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace smd {
namespace root_file_test {

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
  const auto roots = parse_root_file(
      "0x1\nspine-1\n \t0x\n0x0\n0x1 0x2\n0x10000000000000000\n12\n0x-1\n", "roots");
  ASSERT_FALSE(roots);
  std::vector<int> lines;
  for (const Fault& fault : roots.error()) {
    EXPECT_EQ(fault.where, "roots");
    EXPECT_EQ(fault.column, fault.line == 3 ? 3 : 1);
    lines.push_back(fault.line);
  }
  EXPECT_THAT(lines, ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

using Names = std::vector<std::pair<Guid, std::string>>;

TEST(NodeNameMap, HasAGuidAndAQuotedNameALine) {
  const auto names = parse_node_name_map(
      "# the machine room\n"
      "0x0002c90300000002 \"leaf 7 of \xc3\xa9tage 2\"\r\n"
      "\n"
      "\t0X1\t\"spine\"  # in the middle\n",
      "names");
  ASSERT_TRUE(names) << print_fault(names.error().front());
  EXPECT_EQ(*names,
            (Names{{Guid{1}, "spine"}, {Guid{0x0002c90300000002}, "leaf 7 of \xc3\xa9tage 2"}}));
}

TEST(NodeNameMap, ANameEndsAtARemarkAsForOtherReaders) {
  const auto names = parse_node_name_map("0x1 \"rack #3\"\n0x2 \"rack 4\" # \"4\"\n", "names");
  ASSERT_TRUE(names) << print_fault(names.error().front());
  EXPECT_EQ(*names, (Names{{Guid{1}, "rack "}, {Guid{2}, "rack 4"}}));
  const auto nothing_left = parse_node_name_map("0x1 \"#3\"\n0x2 \"leaf\"\n", "names");
  ASSERT_TRUE(nothing_left) << print_fault(nothing_left.error().front());
  EXPECT_EQ(*nothing_left, (Names{{Guid{2}, "leaf"}}));
}

TEST(NodeNameMap, EveryOtherLineIsAFault) {
  const auto names = parse_node_name_map(
      "0x1 \"a\"\n0x2 a\n\"a\"\n0x0 \"a\"\n0x3 \"a\n0x4 \"\"\n0x5 \"a\" b\n0x1 \"b\"\n0x6 # \"a\"\n"
      "leaf \"a\"\n",
      "names");
  ASSERT_FALSE(names);
  std::vector<int> lines;
  for (const Fault& fault : names.error()) {
    lines.push_back(fault.line);
    EXPECT_EQ(fault.column, 1);
  }
  EXPECT_THAT(lines, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(PrefixRoute, IsAPrefixAndARouter) {
  EXPECT_EQ(parse_prefix_route(" 0xfec0000000000007 \t0x1 "),
            std::pair(std::uint64_t{0xfec0000000000007}, Guid{1}));
  EXPECT_EQ(parse_prefix_route("* *"), std::pair(std::uint64_t{0}, Guid{0}));
  for (const char* line : {"", "*", "0x1", "0x1 0x2 0x3", "7 0x1", "0x1 host", "0x1,0x2"})
    EXPECT_EQ(parse_prefix_route(line), std::nullopt) << line;
}

TEST(MKeyFile, HasSeedsAndKeysTheNewestFirst) {
  const auto sources = parse_m_key_file(
      "# openssl rand -hex 16\n"
      "seed 000102030405060708090a0b0c0d0eFF\r\n"
      "\n"
      "\tkey\t0xABC  # of all ports, before\n",
      "m_keys");
  ASSERT_TRUE(sources) << print_fault(sources.error().front());
  using std::string_literals::operator""s;
  EXPECT_EQ(*sources,
            (MKeySources{{.seed = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\xff"s, .key = {}},
                         {.seed = {}, .key = MKey{0xabc}}}));
}

TEST(MKeyFile, EveryOtherLineIsAFaultThatShowsNoKey) {
  const auto sources = parse_m_key_file(
      "seed 000102030405060708090a0b0c0d0e\n"    // too short
      "seed 000102030405060708090a0b0c0d0e0\n"   // half a byte
      "seed 000102030405060708090a0b0c0d0e0g\n"  // no digit
      "seed\nkey\nkey 0x0\nkey abc\nkey 0x1 0x2\n0x123\n"
      "key 0x5\nkey 0x5\n",
      "m_keys");
  ASSERT_FALSE(sources);
  std::vector<int> lines;
  for (const Fault& fault : sources.error()) {
    lines.push_back(fault.line);
    EXPECT_EQ(fault.column, fault.line == 1 ? 6 : 1) << "the seed, or the whole";
    for (const char* secret : {"0102", "0x1", "0x5", "abc"})
      EXPECT_EQ(fault.message.find(secret), std::string::npos) << fault.message;
  }
  EXPECT_THAT(lines, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 11));
  EXPECT_THAT(print_fault(parse_m_key_file("# nothing\n", "m_keys").error().front()),
              HasSubstr("has no M_Key"));
  EXPECT_THAT(
      print_fault(parse_m_key_file("key 0x1\nkey 0x2\nkey 0x3\nkey 0x4\nkey 0x5\n", "m_keys")
                      .error()
                      .front()),
      HasSubstr("has 5 lines; 4 at most"));
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
            roots_ + ":2:1: no GUID of a switch, such as 0x0002c90300000001");
}

class MKeysOfConfig : public RootsOfConfig {
 protected:
  void write(const std::string& keys, std::filesystem::perms mode) {
    std::ofstream(keys_) << keys;
    std::filesystem::permissions(keys_, mode);
    std::ofstream(config_) << "[sm]\nm_key_file = \"" << keys_ << "\"\n";
  }

  const std::string keys_ = folder_ + "/m_keys";
};

using std::filesystem::perms;

TEST_F(MKeysOfConfig, AreThoseOfTheFile) {
  write("key 0x7\nkey 0x8\n", perms::owner_read);
  const auto config = load_config(config_);
  ASSERT_TRUE(config) << print_fault(config.error().front());
  EXPECT_THAT(
      config->sm.m_keys,
      ElementsAre(MKeySource{.seed = {}, .key = MKey{7}}, MKeySource{.seed = {}, .key = MKey{8}}));
}

TEST_F(MKeysOfConfig, AreForTheirOwnerAlone) {
  write("key 0x7\n", perms::owner_read | perms::others_read);
  const auto config = load_config(config_);
  ASSERT_FALSE(config);
  EXPECT_EQ(print_fault(config.error().front()),
            keys_ + ": opens every port to whoever reads it, and others may; chmod 600");
}

TEST_F(MKeysOfConfig, AndNoKeyBesideThem) {
  write("key 0x7\n", perms::owner_read);
  std::ofstream(config_, std::ios::app) << "m_key = \"0x8\"\n";
  const auto config = load_config(config_);
  ASSERT_FALSE(config);
  EXPECT_THAT(print_fault(config.error().front()), HasSubstr("sm.m_key and sm.m_key_file both"));
}

}  // namespace root_file_test
}  // namespace smd
