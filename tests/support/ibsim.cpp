#include "tests/support/ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

constexpr const char* kPreload = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so";
constexpr std::string_view kPrompt = "sim> ";

std::string fresh_socket_name() {
  static unsigned count = 0;
  return "smd-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// The limits are for a little more than the file has: ibsim counts generously.
ProcessOptions server(const std::filesystem::path& net,
                      const NetFacts& facts,
                      const std::string& socket_name) {
  // ibsim tells every packet that it cannot route: into a file, since nobody reads a pipe while it
  // serves.
  return {.argv = {"/bin/sh",
                   "-c",
                   "exec ibsim \"$@\" 2> ibsim.err",
                   "ibsim",
                   "-s",
                   "-N",
                   std::to_string(facts.nodes + 8),
                   "-S",
                   std::to_string(facts.switches + 4),
                   "-P",
                   std::to_string(facts.ports + 64),
                   std::filesystem::absolute(net).string()},
          .env = {{"IBSIM_SOCKNAME", socket_name}}};
}

}  // namespace

NetFacts read_net_facts(const std::filesystem::path& net) {
  NetFacts facts;
  std::ifstream file(net);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string type, id;
    unsigned ports = 0;
    if (!(words >> type >> ports >> id) || id.size() < 2 || id.front() != '"') continue;
    const bool is_switch = type == "Switch";
    if (!is_switch && type != "Ca" && type != "Hca" && type != "Rt") continue;
    id = id.substr(1, id.find('"', 1) - 1);
    facts.nodes += 1;
    facts.switches += is_switch ? 1 : 0;
    facts.ports += ports + (is_switch ? 1 : 0);
    (is_switch ? facts.switch_ids : facts.adapter_ids).push_back(id);
  }
  return facts;
}

Ibsim::Ibsim(const std::filesystem::path& net)
    : facts_(read_net_facts(net)),
      socket_name_(fresh_socket_name()),
      process_(server(net, facts_, socket_name_)) {
  ready_ = process_.wait_for_output("Network simulator ready", 120s) &&
           process_.wait_for_output(kPrompt, 5s);
}

std::string Ibsim::complaint() const { return read_text(process_.cwd() / "ibsim.err"); }

std::vector<std::pair<std::string, std::string>> Ibsim::client_environment(
    std::string_view host) const {
  return {{"IBSIM_SOCKNAME", socket_name_},
          {"SIM_HOST", std::string(host)},
          {"LD_PRELOAD", kPreload},
          // A build with AddressSanitizer would refuse to start behind another preloaded library.
          {"ASAN_OPTIONS",
           "verify_asan_link_order=0:suppressions=" +
               source_path("tests/support/asan_suppressions.txt")}};
}

bool Ibsim::command(std::string_view line) {
  const std::size_t seen = process_.out().size();
  return process_.write(std::string(line) + "\n") && process_.wait_for_output(kPrompt, 10s, seen);
}

void Ibsim::stop() { process_.terminate(); }

Finished tool(const Ibsim& ibsim,
              std::string_view host,
              std::vector<std::string> argv,
              Process::Milliseconds limit) {
  return run_process({.argv = std::move(argv), .env = ibsim.client_environment(host)}, limit);
}

}  // namespace smd::test
