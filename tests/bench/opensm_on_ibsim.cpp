#include "tests/bench/opensm_on_ibsim.h"

#include <fstream>
#include <thread>

namespace smd::bench {
namespace {

TimedProcess::Options options(const test::Ibsim& ibsim,
                              const std::filesystem::path& folder,
                              const OpensmSetup& setup) {
  {
    std::ofstream config(folder / "opensm.conf");
    config << "event_plugin_name " << setup.plugin << "\nsweep_interval 0\n"
           << "dump_files_dir " << folder.string() << "\n";
    if (setup.window != 0)
      config << "max_wire_smps " << setup.window << "\nmax_wire_smps2 " << setup.window << "\n";
    config << setup.config;
  }
  auto env = ahead_of(setup.preload, ibsim.client_environment(ibsim.facts().adapter_ids.front()));
  env.insert(env.end(), setup.env.begin(), setup.env.end());
  env.insert(env.end(),
             {{"SMD_PROBE_OUT", folder / "probe"},
              {"LD_LIBRARY_PATH", SMD_PROBE_DIR},
              {"OSM_TMP_DIR", folder},
              {"OSM_CACHE_DIR", folder}});
  return {.argv = {"opensm", "-F", folder / "opensm.conf", "-f", folder / "opensm.log"},
          .env = env,
          .out = folder / "opensm.out",
          .err = folder / "opensm.err"};
}

}  // namespace

OpensmOnIbsim::OpensmOnIbsim(const test::Ibsim& ibsim,
                             const std::filesystem::path& folder,
                             const OpensmSetup& setup)
    : folder_(folder), process_(options(ibsim, folder, setup)) {}

std::vector<OpensmEvent> OpensmOnIbsim::events() const {
  std::vector<OpensmEvent> events;
  std::ifstream file(probe_file());
  OpensmEvent event;
  for (long long ns = 0; file >> event.what >> ns >> event.smps >> event.blocks;) {
    event.at = Clock::time_point(std::chrono::nanoseconds(ns));
    events.push_back(event);
  }
  return events;
}

std::optional<OpensmEvent> OpensmOnIbsim::wait_until_up(std::chrono::seconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    for (const OpensmEvent& event : events()) {
      if (event.what == "up") return event;
    }
    if (process_.poll() || Clock::now() > end) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace smd::bench
