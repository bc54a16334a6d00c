// smsim-mpi: `smsim run` as the processes that mpirun starts, which share each run.
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "sim-backend/bin/cmd_run.h"
#include "sim-backend/mpi/mpi_processes.h"
#include "smd/base/command_line.h"
#include "smd/base/program.h"

namespace {

int run_command_line(int argc, char** argv, smd::sim::Processes& processes) {
  smd::CommandLine line{"Runs of simulated InfiniBand fabrics on several processes", "smsim-mpi"};
  line.show_version(std::string("smsim-mpi ") + SMD_VERSION);
  line.require_command();
  int exit_code = 0;
  smd::sim::add_run_command(line, exit_code, &processes);
  const auto end = line.parse(argc, argv, [&processes](const char* what) {
    if (processes.number() != 0) return;
    fmt::print(stderr, "smsim-mpi: {}; see smsim-mpi --help\n", what);
  });
  return end ? *end : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  smd::sim::MpiProcesses processes(argc, argv);
  // All of them would answer --help.
  if (processes.number() != 0) static_cast<void>(std::freopen("/dev/null", "w", stdout));
  return smd::run_program("smsim-mpi", [&] { return run_command_line(argc, argv, processes); });
}
