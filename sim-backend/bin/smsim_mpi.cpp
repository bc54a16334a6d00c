// smsim-mpi: `smsim run` as the processes that mpirun starts, which share each run.
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "sim-backend/bin/cmd_run.h"
#include "sim-backend/bin/joined_processes.h"
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
  std::string fault;
  const auto end = line.parse(argc, argv, [&fault](const char* what) { fault = what; });
  if (!end) return exit_code;
  // Others may be in the command already, which asks the same first.
  return *smd::sim::JoinedProcesses(&processes).end_together(end, [&] {
    fmt::print(stderr, "smsim-mpi: {}; see smsim-mpi --help\n", fault);
  });
}

}  // namespace

int main(int argc, char** argv) {
  smd::sim::MpiProcesses processes(argc, argv);
  // All of them would answer --help.
  if (processes.number() != 0) static_cast<void>(std::freopen("/dev/null", "w", stdout));
  bool together = false;
  const int code = smd::run_program("smsim-mpi", [&] {
    const int code_of_all = run_command_line(argc, argv, processes);
    together = true;
    return code_of_all;
  });
  // The others still wait for this one.
  if (!together) processes.end_all(code);
  return code;
}
