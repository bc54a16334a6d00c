// A daemon on a simulated fabric and the real loop, and somebody who asks it.
#pragma once

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// Reads until the other end closes: what follows the header.
inline std::string read_page(
    const std::string& socket,
    const std::string& request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  socket.copy(at.sun_path, sizeof at.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string out;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
    (void)::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 4096> chunk;
    for (ssize_t n = 0; (n = ::recv(fd, chunk.data(), chunk.size(), 0)) > 0;)
      out.append(chunk.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  return out.substr(std::min(out.size(), out.find("\r\n\r\n") + 4));
}

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
