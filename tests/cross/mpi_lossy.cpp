// A run of two processes that mpirun starts, in which the twentieth message of the first is lost,
// or with the argument "on" that and all after it. Who waits for one that has one behind it has
// patience enough for a machine that is busy.
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "sim-backend/mpi/mpi_processes.h"
#include "sim-backend/scenario/run.h"

namespace {

class Lossy final : public smd::sim::MpiProcesses {
 public:
  Lossy(int& argc, char**& argv, bool goes_on)
      : MpiProcesses(argc, argv, goes_on ? std::chrono::milliseconds(500) : kPatience),
        goes_on_(goes_on) {}

 protected:
  bool leaves(unsigned, const Bytes&) override {
    if (number() != 0) return true;
    ++sent_;
    return goes_on_ ? sent_ < 20 : sent_ != 20;
  }

 private:
  bool goes_on_;
  unsigned sent_ = 0;
};

constexpr const char* kScenario = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = [0.3]
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace smd::sim;
  Lossy processes(argc, argv, argc > 1 && std::string_view(argv[1]) == "on");
  auto scenario = parse_scenario(kScenario, "lossy.toml");
  if (!scenario) return EXIT_FAILURE;
  scenario->packet.partitions = 2;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  if (!prepared) return EXIT_FAILURE;
  static_cast<void>(prepared->run(0.3, 1, {.processes = &processes}));
  fmt::print("nothing was missed\n");
  return EXIT_SUCCESS;
}
