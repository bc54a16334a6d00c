// A client for umad_ibsim_test: asks a few questions through the umad transport and prints what
// comes back. Commands on stdin: "ask PATH", "burst COUNT", "issm on|off", "quit".
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "smd/mad/node_info.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/smp/smp_client.h"
#include "smd/transport/umad_ports.h"

namespace smd {
namespace {

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

class Probe {
 public:
  Probe(AsioRuntime& runtime, Transport& transport)
      : runtime_(runtime),
        transport_(transport),
        client_(runtime, transport, {.retries = 1, .timeout = std::chrono::milliseconds(300)}),
        scope_(client_) {}

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    std::string argument;
    words >> command >> argument;
    if (command == "ask") {
      ask(argument);
    } else if (command == "burst") {
      burst(std::stoi(argument));
    } else if (command == "issm") {
      const Result<void> done = transport_.set_is_sm(argument == "on");
      say(done ? "issm done" : "issm " + done.error().context);
    } else {
      say("bye");
      runtime_.stop();
    }
  }

 private:
  static SmpRequest node_info(const std::string& path) {
    HopPath hops;
    std::istringstream numbers(path);
    for (std::string number; std::getline(numbers, number, ',');) {
      hops.push_back(PortNum{static_cast<std::uint8_t>(std::stoi(number))});
    }
    return {.route = SmpRoute::directed(hops), .attribute = AttributeId::NodeInfo};
  }

  void ask(const std::string& path) {
    scope_.send(node_info(path), [path](const Result<SmpReply>& reply) {
      if (!reply) return say("failed " + reply.error().context);
      const NodeInfo info = decode_node_info(reply->data).value();
      say(fmt::format("node ({}) type {} ports {} guid {} arrived {}",
                      path,
                      info.node_type,
                      info.num_ports,
                      info.node_guid,
                      info.local_port));
    });
  }

  void burst(int count) {
    burst_left_ = count;
    for (int i = 0; i < count; ++i) {
      scope_.send(node_info("1"), [this](const Result<SmpReply>&) {
        if (--burst_left_ > 0) return;
        say(fmt::format("burst answered {} window {}", client_.stats().answered, client_.window()));
      });
    }
  }

  AsioRuntime& runtime_;
  Transport& transport_;
  SmpClient client_;
  SmpScope scope_;
  int burst_left_ = 0;
};

int run(const UmadSelection& selection) {
  AsioRuntime runtime;
  runtime.on_signal(SIGTERM, [&] { runtime.stop(); });
  auto transport = open_umad_transport(runtime, selection);
  if (!transport) {
    say("cannot open: " + transport.error().context);
    return 1;
  }
  const LocalPort port = (*transport)->local_port();
  say(fmt::format("opened {} port {} guid {}", port.device, port.port, port.port_guid));
  Probe probe(runtime, **transport);
  std::thread([&] {
    for (std::string line; std::getline(std::cin, line);) {
      runtime.post([&probe, line] { probe.obey(line); });
    }
  }).detach();
  runtime.run();
  return 0;
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  smd::UmadSelection selection;
  if (argc > 1) selection.device = argv[1];
  const int code = smd::run(selection);
  // The thread on stdin never ends; libumad2sim's clean-up must still run.
  std::exit(code);
}
