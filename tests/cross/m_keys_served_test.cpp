// Ports under M_Keys of their own on a served fabric, asked by Debian's smpquery with keys out of
// guid2mkey. Debian's ibsim keeps no M_Key.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cross/served.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

class KeyedOnServed : public ::testing::TestWithParam<unsigned> {
 protected:
  KeyedOnServed() : served_("fat-tree:k=4,levels=2") {
    write_seeds("1");
    config_ = scratch_.path() / "smd.toml";
    std::ofstream(config_) << "[sm]\nstate_dir = \"" << scratch_.path().string() << "/state\"\n"
                           << "m_key_file = \"" << keys_.string() << "\"\n"
                           << "m_key_protect = " << GetParam() << "\n[admin]\nsocket = \""
                           << scratch_.path().string() << "/smd.sock\"\n";
    start();
  }

  void start() {
    smd_.emplace(ProcessOptions{.argv = {smd_path(), "run", "-c", config_},
                                .env = served_.env(served_.host(0))});
    ASSERT_TRUE(wait_until([this] { return status().value("state", "") == "master"; }, 20s))
        << smd_->err();
  }

  /// One for each digit, the newest first.
  void write_seeds(const std::string& digits) const {
    std::ofstream file(keys_);
    for (const char digit : digits) file << "seed " << std::string(32, digit) << '\n';
    file.close();
    using std::filesystem::perms;
    std::filesystem::permissions(keys_, perms::owner_read | perms::owner_write);
  }

  nlohmann::json answer(std::vector<std::string> words) const {
    std::vector<std::string> argv{smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json"};
    argv.insert(argv.end(), words.begin(), words.end());
    const Finished done = run_process({.argv = std::move(argv)}, 10s);
    const nlohmann::json json = nlohmann::json::parse(done.out, nullptr, false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  nlohmann::json status() const { return answer({"status"}); }

  /// "GUID VALUE …" lines of what `smctl dump` writes.
  std::map<std::string, std::string> dumped(const char* name) const {
    const std::filesystem::path folder = scratch_.path() / "dump";
    (void)answer({"dump", folder});
    std::map<std::string, std::string> out;
    std::ifstream file(folder / name);
    std::string guid, value, rest;
    while (file >> guid >> value) {
      std::getline(file, rest);
      out[guid] = value;
    }
    return out;
  }

  /// What PortInfo has as M_Key for who shows `key`; empty where the port does not answer.
  std::string shown(const std::string& lid, const std::string& key) const {
    const std::string number = std::to_string(std::stoul(lid, nullptr, 16));
    const std::string out =
        served_
            .tool({"smpquery", "-K", "-t", "200", "-y", key, "portinfo", number}, served_.host(3))
            .out;
    const std::size_t at = out.find("Mkey:");
    if (at == std::string::npos) return "";
    const std::size_t from = out.find_first_not_of('.', at + 5);
    return out.substr(from, out.find('\n', from) - from);
  }

  Scratch scratch_;
  const std::filesystem::path keys_ = scratch_.path() / "m_keys";
  std::filesystem::path config_;
  Served served_;
  std::optional<Process> smd_;
};

INSTANTIATE_TEST_SUITE_P(ProtectionLevels, KeyedOnServed, ::testing::Values(1u, 2u));

TEST_P(KeyedOnServed, EachPortAnswersToItsOwnKeyAndSeedsChangeWhileTheSubnetRuns) {
  const nlohmann::json nodes = status().at("nodes");
  auto keys = dumped("guid2mkey");
  const auto lids = dumped("guid2lid");
  ASSERT_EQ(keys.size(), served_.spec.nodes.size());
  const std::string one = keys.begin()->first, other = std::next(keys.begin())->first;
  ASSERT_NE(keys[one], keys[other]);
  const auto opens = [&](const std::string& guid) { return shown(lids.at(guid), keys[guid]); };
  const std::string hidden = GetParam() == 1 ? "0x0000000000000000" : "";
  EXPECT_EQ(opens(one), keys[one]);
  EXPECT_EQ(opens(other), keys[other]);
  EXPECT_EQ(shown(lids.at(one), keys[other]), hidden);

  write_seeds("21");
  ASSERT_EQ(::kill(smd_->pid(), SIGHUP), 0);
  const auto old_keys = keys;
  EXPECT_TRUE(wait_until(
      [&] {
        keys = dumped("guid2mkey");
        return keys[one] != old_keys.at(one) && opens(one) == keys[one] &&
               opens(other) == keys[other];
      },
      30s))
      << smd_->err();
  EXPECT_EQ(shown(lids.at(one), old_keys.at(one)), hidden);
  EXPECT_EQ(dumped("guid2lid"), lids) << "no LID moves";

  ASSERT_EQ(smd_->terminate(2s), 0) << smd_->err();
  start();
  EXPECT_EQ(status().at("nodes"), nodes);
  EXPECT_EQ(status().at("last_sweep").at("blocks_written"), 0);
  EXPECT_EQ(dumped("guid2lid"), lids);
}

}  // namespace
}  // namespace smd::test
