// Debian's opensm and smd set up congestion control in the same fabric from options of the same
// names: the registers of the agents are the same, line by line.
#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cross/served.h"

namespace smd::test {
namespace congestion_cross_test {

using testing::HasSubstr;

constexpr const char* kFabric = "fat-tree:k=4,levels=2";
constexpr std::size_t kAgents = 6 + 8;

/// Values that differ by SL, a table of two blocks, a mask that is none of those computed.
struct Wish {
  static constexpr unsigned kEntries = 70;

  static unsigned timer(unsigned sl) { return 10 + 7 * sl; }

  static unsigned increase(unsigned sl) { return 1 + sl % 3; }

  static unsigned trigger(unsigned sl) { return sl; }

  static unsigned min(unsigned sl) { return sl / 8; }

  static std::string table() {
    std::string text;
    for (unsigned i = 0; i < kEntries; ++i)
      text += (i == 0 ? "" : ",") + std::to_string(i % 4) + ":" + std::to_string(i * (1 << i % 4));
    return text;
  }
};

constexpr const char* kMask = "0x000000000000000000000000000000000000000000000000000000000000001a";

std::string opensm_options() {
  std::string text =
      "congestion_control TRUE\n"
      "cc_sw_cong_setting_control_map 0x15\n"
      "cc_sw_cong_setting_threshold 0x0d\n"
      "cc_sw_cong_setting_packet_size 9\n"
      "cc_sw_cong_setting_marking_rate 513\n"
      "cc_ca_cong_setting_port_control 0x0001\n"
      "cc_ca_cong_setting_control_map 0xffff\n";
  text += std::string("cc_sw_cong_setting_victim_mask ") + kMask + "\n";
  for (unsigned sl = 0; sl < 16; ++sl) {
    const auto line = [&](const char* name, unsigned value) {
      text += std::string("cc_ca_cong_setting_") + name + " " + std::to_string(sl) + " " +
              std::to_string(value) + "\n";
    };
    line("ccti_timer", Wish::timer(sl));
    line("ccti_increase", Wish::increase(sl));
    line("trigger_threshold", Wish::trigger(sl));
    line("ccti_min", Wish::min(sl));
  }
  return text + "cc_cct " + Wish::table() + "\n";
}

std::string smd_options() {
  std::string text =
      "[congestion]\n"
      "enabled = true\n"
      "floor_hosts = 100\n"
      "cc_sw_cong_setting_control_map = 0x15\n"
      "cc_sw_cong_setting_threshold = 0x0d\n"
      "cc_sw_cong_setting_packet_size = 9\n"
      "cc_sw_cong_setting_marking_rate = 513\n"
      "cc_ca_cong_setting_port_control = 0x0001\n"
      "cc_ca_cong_setting_control_map = 0xffff\n";
  text += std::string("cc_sw_cong_setting_victim_mask = \"") + kMask + "\"\n";
  const auto list = [&](const char* name, unsigned (*value)(unsigned)) {
    text += std::string("cc_ca_cong_setting_") + name + " = [";
    for (unsigned sl = 0; sl < 16; ++sl)
      text += "\"" + std::to_string(sl) + " " + std::to_string(value(sl)) + "\", ";
    text += "]\n";
  };
  list("ccti_timer", Wish::timer);
  list("ccti_increase", Wish::increase);
  list("trigger_threshold", Wish::trigger);
  list("ccti_min", Wish::min);
  return text + "cc_cct = \"" + Wish::table() + "\"\n";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

/// What a switch and an adapter hold then, said here once more.
const std::string kOfSwitch =
    "map 0x15 victims 0x1a credits 0x0 threshold 13 packet size 9 starvation 0 delay 0:0 marking "
    "rate 513";

std::string of_adapter() {
  std::string text = "control 0x1 map 0xffff";
  for (unsigned sl = 0; sl < 16; ++sl) {
    for (const auto& [before, value] : {std::pair{" ", sl},
                                        std::pair{":", 10 + 7 * sl},
                                        std::pair{"/", 1 + sl % 3},
                                        std::pair{"/", sl},
                                        std::pair{"/", sl / 8}})
      text += before + std::to_string(value);
  }
  return text;
}

class CongestionCross : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "state");
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The registers of all agents when every one has been told everything.
  static std::string wait_for_registers(Served& served) {
    std::string text;
    const auto all_told = [&] {
      text = served.console("congestion");
      return count(text, kOfSwitch) == 6 && count(text, of_adapter()) == 8 &&
             count(text, "from 64 limit 69 0=0:64 1=1:130 2=2:264 3=3:536 4=0:68 5=1:138\n") == 8;
    };
    EXPECT_TRUE(wait_until(all_told, seconds(60))) << text;
    return text;
  }

  std::string name_ = "smd-cc-" + std::to_string(::getpid());
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / name_;
};

/// Without the key that smd wrote, opensm's MADs are as if nobody heard them; with it they are
/// obeyed.
TEST_F(CongestionCross, OpensmIsObeyedWithTheKeyOfSmdAlone) {
  Served served(kFabric);
  const auto start_opensm = [&](const std::string& key) {
    std::ofstream(folder_ / "opensm.conf") << opensm_options() << "cc_key " << key << "\n";
    return std::make_unique<Process>(ProcessOptions{.argv = {"opensm",
                                                             "-F",
                                                             (folder_ / "opensm.conf").string(),
                                                             "-f",
                                                             (folder_ / "opensm.log").string()},
                                                    .env = served.env(served.host(0))});
  };
  const std::string key = "0x0011223344556677";
  std::ofstream(folder_ / "smd.toml")
      << "[sm]\nstate_dir = \"" << (folder_ / "state").string()
      << "\"\n[congestion]\nenabled = true\nprotect = true\ncc_key = \"" << key << "\"\n";
  const Finished smd = served.tool({build_path("bin/smd"),
                                    "run",
                                    "--transport",
                                    "umad",
                                    "--once",
                                    "-c",
                                    (folder_ / "smd.toml").string()},
                                   served.host(0),
                                   seconds(60));
  EXPECT_EQ(smd.exit_code, 0) << smd.err;
  const std::string by_smd = served.console("congestion");
  EXPECT_EQ(count(by_smd, "key " + key + " protect true"), kAgents) << by_smd;

  const auto without_violations = [](std::string text) {
    return std::regex_replace(text, std::regex("violations [0-9]+"), "");
  };
  {
    const auto stranger = start_opensm("0x0000000000000001");
    // It gives up on everybody when the first few do not answer.
    const auto lease_probed = [&] {
      return count(served.console("congestion"), "violations 0\n") < kAgents;
    };
    EXPECT_TRUE(wait_until(lease_probed, seconds(60)));
  }
  EXPECT_EQ(without_violations(served.console("congestion")), without_violations(by_smd));
  const auto friend_of_smd = start_opensm(key);
  wait_for_registers(served);
}

TEST_F(CongestionCross, OpensmAndSmdWriteTheSameRegisters) {
  std::string by_opensm;
  {
    Served served(kFabric);
    std::ofstream(folder_ / "opensm.conf") << opensm_options();
    Process opensm({.argv = {"opensm",
                             "-F",
                             (folder_ / "opensm.conf").string(),
                             "-f",
                             (folder_ / "opensm.log").string()},
                    .env = served.env(served.host(0))});
    by_opensm = wait_for_registers(served);
  }
  Served served(kFabric);
  const std::string socket = (folder_ / "smd.sock").string();
  std::ofstream(folder_ / "smd.toml") << "[sm]\nstate_dir = \"" << (folder_ / "state").string()
                                      << "\"\n[admin]\nsocket = \"" << socket << "\"\n"
                                      << smd_options();
  Process smd({.argv = {build_path("bin/smd"),
                        "run",
                        "--transport",
                        "umad",
                        "-c",
                        (folder_ / "smd.toml").string()},
               .env = served.env(served.host(0))});
  EXPECT_EQ(wait_for_registers(served), by_opensm);

  nlohmann::json shown;
  const auto all_confirmed = [&] {
    const Finished smctl =
        run_process({.argv = {build_path("bin/smctl"), "--socket", socket, "--json", "congestion"}},
                    seconds(10));
    shown = nlohmann::json::parse(smctl.out, nullptr, false);
    return shown.is_object() && shown.value("enabled", false) &&
           shown.at("agents").at("confirmed") == kAgents;
  };
  EXPECT_TRUE(wait_until(all_confirmed, seconds(30))) << shown;
  EXPECT_THAT(served.console("counters"), HasSubstr("dropped_cc_key 0\n"));
}

}  // namespace congestion_cross_test
}  // namespace smd::test
