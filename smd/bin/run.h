// `smd run`: the daemon on an adapter, or on a simulated fabric in real time.
#pragma once

#include <functional>
#include <string>

#include "smd/config/config.h"

namespace smd::bin {

struct RunOptions {
  std::string transport;  // "", "umad", "sim"
  std::string ca;
  unsigned port = 0;
  std::string port_guid;
  std::string instance;  // "": the only one
  std::string fabric;
  bool once = false;
  bool json = false;
  std::string config_path;
};

[[nodiscard]] int run(const Config& config,
                      const RunOptions& options,
                      std::function<void(Config&)> override_config);

}  // namespace smd::bin
