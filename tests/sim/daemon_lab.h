// A daemon on a simulated fabric and the real loop, and somebody who asks it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/admin/client.h"
#include "smd/daemon/daemon.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd {

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    options.config.sm.state_dir = folder / "state";
    options.config.admin.socket = folder / "smd.sock";
    options.config.transport.retry_backoff_min_s = 1;
    options.config.transport.retry_backoff_max_s = 1;
  }

  ~DaemonTest() override {
    for (std::thread& each : operators) each.join();
  }

  /// What the daemon answers on its socket to those who ask from another thread.
  nlohmann::json ask(const std::string& command,
                     nlohmann::json args = nlohmann::json::object()) const {
    const auto answer = send_command({.socket = options.config.admin.socket}, command, args);
    return answer && answer->is_object() ? *answer : nlohmann::json::object();
  }

  /// Somebody on a thread of his own who does something once the subnet is up, however long that
  /// takes.
  void when_up(std::function<void()> act) {
    operators.emplace_back([this, act = std::move(act)] {
      const auto is_up = [this] { return ask("status").value("state", "") == "master"; };
      if (test::wait_until(is_up, std::chrono::seconds(60))) act();
    });
  }

  std::unique_ptr<Transport> plug_in() {
    return std::make_unique<sim::SimTransport>(
        fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  }

  test::Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
  DaemonOptions options;
  std::vector<std::thread> operators;
  AsioRuntime runtime;
  sim::SimFabric fabric{
      runtime, sim::load_fabric("fat-tree:k=4,levels=2").value(), sim::Timing::none(), 1};
};

}  // namespace smd
