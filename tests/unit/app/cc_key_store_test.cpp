// The text in which CC_Keys survive a restart.
#include "smd/app/cc_key_store.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace smd::app {
namespace {

const std::vector<cc::CcKey> kKeys = {cc::CcKey{0x22}, cc::CcKey{0x1122334455667788}};

TEST(CcKeyStore, PrintsOneLinePerKeyAndReadsItBack) {
  const std::string text = print_cc_keys(kKeys);
  EXPECT_EQ(text, "0x0000000000000022\n0x1122334455667788\n");
  EXPECT_EQ(parse_cc_keys(text, "cc_keys").value(), kKeys);
}

TEST(CcKeyStore, NamesEveryFaultWithItsLineAndShowsNoKey) {
  for (const char* bad : {"22", "0x", "0x0", "0x1g", "0x11111111111111111", "0x1 0x2"}) {
    const auto keys = parse_cc_keys(std::string("0x1\n\n") + bad + "\n", "cc_keys");
    ASSERT_FALSE(keys) << bad;
    EXPECT_EQ(print_fault(keys.error().front()),
              "cc_keys:3: no key; a line is one, as in 0x0000000000000022");
  }
}

TEST(CcKeyStore, IsReadableForItsOwnerAlone) {
  std::string pattern = testing::TempDir() + "/smd-keys-XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern.data());
  EXPECT_TRUE(load_cc_keys(folder).value().empty()) << "there is none yet";
  ASSERT_TRUE(save_cc_keys(folder, kKeys));
  EXPECT_EQ(load_cc_keys(folder).value(), kKeys);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "cc_keys").permissions() & perms::all,
            perms::owner_read | perms::owner_write);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::app
