// What we print, Debian's ibsim loads and ibnetdiscover finds again: the same graph, names and
// GUIDs. Each fabric gets an ibsim of its own, with its own sockets, ended through its console.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

constexpr const char* kPreload = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so";

/// A running ibsim; its console is our pipe, so it ends when we say quit.
class Ibsim {
 public:
  Ibsim(const std::string& net, const std::string& name) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it would spin when its console is gone
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(out[1], STDERR_FILENO);
      for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      ::setenv("IBSIM_SOCKNAME", name.c_str(), 1);
      ::execlp("ibsim",
               "ibsim",
               "-s",
               "-N",
               "2000",
               "-S",
               "1000",
               "-P",
               "40000",
               net.c_str(),
               static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    console_ = in[1];
    output_ = ::fdopen(out[0], "r");
  }

  Ibsim(const Ibsim&) = delete;
  Ibsim& operator=(const Ibsim&) = delete;

  /// What it says until it is ready; all it says when it never is.
  std::string greeting() {
    std::string text;
    std::array<char, 512> line{};
    while (std::fgets(line.data(), line.size(), output_) != nullptr) {
      text += line.data();
      if (text.find("simulator ready") != std::string::npos) break;
    }
    return text;
  }

  ~Ibsim() {
    if (::write(console_, "quit\n", 5) != 5) ::kill(pid_, SIGKILL);
    ::close(console_);
    std::array<char, 512> rest{};
    while (std::fgets(rest.data(), rest.size(), output_) != nullptr) continue;
    std::fclose(output_);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  int console_ = -1;
  std::FILE* output_ = nullptr;
};

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

/// "name|GUID[port](port GUID) - the same of the other end", for both directions of each cable.
std::set<std::string> cables_of(const FabricSpec& spec) {
  const auto end = [&spec](std::uint32_t node, std::size_t port) {
    const NodeSpec& n = spec.nodes[node];
    return n.description + "|" + fmt::format("{}[{}]({})", n.guid, port, n.ports[port].guid);
  };
  std::set<std::string> found;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (std::size_t p = 1; p < spec.nodes[n].ports.size(); ++p) {
      const PortSpec& port = spec.nodes[n].ports[p];
      if (port.peer_node == kNoNode) continue;
      found.insert(end(n, p) + " - " + end(port.peer_node, port.peer_port.value()));
    }
  }
  return found;
}

class IbsimLoads : public ::testing::TestWithParam<const char*> {};

TEST_P(IbsimLoads, TheGraphThatWePrinted) {
  if (std::system("command -v ibsim ibnetdiscover >/dev/null") != 0 ||
      !std::filesystem::exists(kPreload)) {
    GTEST_SKIP() << "ibsim-utils and infiniband-diags are not installed";
  }
  const std::string name = fmt::format("smd-topology-{}", ::getpid());
  const std::string net = ::testing::TempDir() + name + ".net";
  const FabricSpec spec = draw(GetParam());
  std::ofstream(net) << print_fabric(spec);
  {
    Ibsim ibsim(net, name);
    const std::string greeting = ibsim.greeting();
    ASSERT_NE(greeting.find("simulator ready"), std::string::npos) << greeting;
    for (const char* trouble : {"ibwarn", "ibpanic", "fatal"}) {
      EXPECT_EQ(greeting.find(trouble), std::string::npos) << greeting;
    }
    const std::string text = output_of(
        fmt::format("IBSIM_SOCKNAME={} LD_PRELOAD={} ibnetdiscover 2>/dev/null", name, kPreload));
    const auto found = parse_fabric(text, "ibnetdiscover");
    ASSERT_TRUE(found) << print_fault(found.error().front());
    EXPECT_EQ(cables_of(*found), cables_of(spec));
    EXPECT_EQ(found->nodes[found->sm_node].guid, spec.nodes[spec.sm_node].guid)
        << "a client that names no host sits where the manager does";
  }
  std::filesystem::remove(net);
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         IbsimLoads,
                         ::testing::Values("fat-tree:k=8",
                                           "fat-tree:hosts=324",
                                           "pgft:down=18.3,up=1.2,parallel=1.9",
                                           "torus:dims=4.4.2,speed=NDR",
                                           "torus:dims=3.3,speed=FDR10",
                                           "torus:dims=3.3,speed=FDR",
                                           "torus:dims=3.3,speed=HDR",
                                           "hypercube:width=2x,speed=XDR",
                                           "dragonfly:width=12x,speed=QDR",
                                           "hamming:speed=DDR,width=8x",
                                           "clos:width=1x,speed=SDR",
                                           "bmin",
                                           "umin",
                                           "irregular",
                                           "irregular4",
                                           "cplant",
                                           "express-torus:hosts=1",
                                           "example",
                                           "example:name=fig68",
                                           "example:name=fig76",
                                           "example:name=flich"));

}  // namespace
}  // namespace smd::sim::testing
