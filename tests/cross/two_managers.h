// smd and Debian's opensm as managers of one fabric, each on a host of its own, and what Debian's
// diagnostics on two further hosts say of them: who rules is asked with sminfo; that all is well,
// of the registers by ibnetdiscover, iblinkinfo and dump_fts.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/process.h"
#include "tests/support/readings.h"

namespace smd::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// A ring of switches; smd and one outsider on one side of it, opensm and another on the other.
class TwoManagers : public ::testing::Test {
 protected:
  static constexpr const char* kFabric = "torus:dims=4,hosts=2";

  TwoManagers() : net_(net_of(kFabric, scratch_.path())) {}

  void SetUp() override;

  /// What makes a program a client that sits on `host`.
  [[nodiscard]] virtual Environment client(const std::string& host) const = 0;

  void start_smd(unsigned priority);
  void start_opensm(unsigned priority);

  /// SIGKILL, and not started again.
  void kill(std::optional<Process>& manager);

  [[nodiscard]] Finished ask(std::vector<std::string> argv, bool far = false) const;
  [[nodiscard]] nlohmann::json status() const;
  [[nodiscard]] std::string opensm_log() const;

  [[nodiscard]] SeenFabric see(bool far = false) const;

  [[nodiscard]] std::map<PortKey, unsigned> lids() const { return see().lid_of_port(); }

  /// Nodes that are not seen, routes that do not arrive, ports that are not Active, from one side;
  /// of so many equal `parts` of the ring one.
  [[nodiscard]] std::vector<std::string> faults(bool far = false, unsigned parts = 1) const;

  /// sminfo asks whoever the outsider's own port takes for the master.
  [[nodiscard]] bool rules(const std::string& host, bool far = false) const;

  /// Waits until it rules what either outsider sees, and all is well there.
  ::testing::AssertionResult one_rules(const std::string& host);

  /// Waits until it rules what the outsider of its own side sees, and all is well there.
  ::testing::AssertionResult rules_its_half(const std::string& host);

  Scratch scratch_;
  std::filesystem::path net_;
  std::string smd_host_, opensm_host_, outsider_, far_outsider_;
  std::string m_key_;  // of both managers; empty: none
  std::optional<Process> smd_;
  std::optional<Process> opensm_;

 private:
  [[nodiscard]] unsigned lid_of(const std::string& host, bool far) const;
  [[nodiscard]] std::string story() const;
};

}  // namespace smd::test
