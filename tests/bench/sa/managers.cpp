#include "tests/bench/sa/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "smd/admin/client.h"
#include "tests/bench/opensm_on_ibsim.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Json = nlohmann::json;

constexpr auto kPatience = 600s;  // until it is up

Environment environment(const test::Ibsim& ibsim, const ManagerSetup& setup) {
  Environment env =
      ahead_of(setup.preload, ibsim.client_environment(ibsim.facts().adapter_ids.front()));
  env.insert(env.end(), setup.env.begin(), setup.env.end());
  return env;
}

class Smd final : public SaManager {
 public:
  Smd(const test::Ibsim& ibsim, const std::filesystem::path& folder, const ManagerSetup& setup)
      : socket_(folder / "smd.sock"),
        process_({.argv = {test::smd_path(),
                           "run",
                           "-c",
                           test::write_config(folder, "interval_s = 0\n")},
                  .env = environment(ibsim, setup),
                  .out = folder / "smd.out",
                  .err = folder / "smd.err"}) {}

  bool comes_up() override {
    for (const auto end = Clock::now() + kPatience; Clock::now() < end && !process_.poll();) {
      const auto status = send_command({.socket = socket_}, "status", Json::object());
      if (status && status->value("state", "") == "master" && status->contains("last_sweep"))
        return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  void sweep() override {
    static_cast<void>(send_command({.socket = socket_}, "sweep", Json{{"full", true}}));
  }

  TimedProcess& process() override { return process_; }

 private:
  std::string socket_;
  TimedProcess process_;
};

class Opensm final : public SaManager {
 public:
  Opensm(const test::Ibsim& ibsim, const std::filesystem::path& folder, const ManagerSetup& setup)
      : opensm_(ibsim, folder, {.window = 128, .preload = setup.preload, .env = setup.env}) {}

  bool comes_up() override { return opensm_.wait_until_up(kPatience).has_value(); }

  void sweep() override { opensm_.process().signal(SIGHUP); }

  TimedProcess& process() override { return opensm_.process(); }

 private:
  OpensmOnIbsim opensm_;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string cell(const std::vector<double>& values, int digits) {
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format(
      "{:.{}f} ({:.{}f}–{:.{}f})", median(values), digits, least, digits, most, digits);
}

std::unique_ptr<SaManager> start_manager(const test::Ibsim& ibsim,
                                         const std::filesystem::path& folder,
                                         const ManagerSetup& setup) {
  if (setup.opensm) return std::make_unique<Opensm>(ibsim, folder, setup);
  return std::make_unique<Smd>(ibsim, folder, setup);
}

/// Lines "[1](guid)" of adapters.
std::vector<std::string> read_port_guids(const std::filesystem::path& net) {
  std::vector<std::string> guids;
  std::ifstream in(net);
  bool adapter = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Ca")) adapter = true;
    if (line.starts_with("Switch")) adapter = false;
    const std::size_t at = line.find("](");
    if (adapter && line.starts_with('[') && at != std::string::npos)
      guids.push_back(line.substr(at + 2, line.find(')', at) - at - 2));
  }
  return guids;
}

}  // namespace smd::bench
