#include "sim-backend/serve/console.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "sim-backend/serve/console_context.h"
#include "smd/base/text.h"

namespace smd::sim {
namespace {

using Context = ConsoleContext;
using Answer = ConsoleAnswer;

/// The external ports that the next target means: one, or all that have cables.
Result<std::vector<ConsolePort>> next_ports(Context& context) {
  const Result<ConsoleTarget> target = context.words.next_target();
  if (!target) return fail(target.error().code, target.error().context);
  const Result<std::uint32_t> node = find_named(context, target->node);
  if (!node) return fail(node.error().code, node.error().context);
  const NodeSpec& spec = context.fabric.spec().nodes[*node];
  std::vector<ConsolePort> ports;
  if (target->has_port) {
    if (target->port < 1 || target->port > spec.num_ports()) {
      return fail(Errc::Invalid,
                  fmt::format("node '{}' has ports 1 to {}, no port {}",
                              target->node,
                              spec.num_ports(),
                              target->port));
    }
    ports.push_back({*node, PortNum{static_cast<std::uint8_t>(target->port)}});
    return ports;
  }
  for (unsigned p = 1; p <= spec.num_ports(); ++p) {
    if (spec.ports[p].peer_node != kNoNode) {
      ports.push_back({*node, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return ports;
}

Answer set_links(Context& context, bool up) {
  const Result<std::vector<ConsolePort>> ports = next_ports(context);
  if (!ports) return fail(ports.error().code, ports.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  for (const ConsolePort& at : *ports) context.fabric.set_link(at.node, at.port, up);
  return fmt::format(
      "{} link{} {}\n", ports->size(), ports->size() == 1 ? "" : "s", up ? "up" : "down");
}

/// With a port: its cable alone.
Answer set_node(Context& context, bool up) {
  ConsoleWords ahead = context.words;
  if (const auto target = ahead.next_target(); target && target->has_port)
    return set_links(context, up);
  const Result<std::uint32_t> node = next_node(context);
  if (!node) return fail(node.error().code, node.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  context.fabric.set_node(*node, up);
  return fmt::format("{} is {}\n", name_of(context, *node), up ? "on" : "off");
}

Answer run_down(Context& context) { return set_node(context, false); }

Answer run_up(Context& context) { return set_node(context, true); }

Answer run_unlink(Context& context) { return set_links(context, false); }

Answer run_relink(Context& context) { return set_links(context, true); }

/// A cable between two ports: the one that either has already, with its other end moved.
Answer join(Context& context, ConsolePort a, ConsolePort b) {
  if (a.node == b.node && a.port == b.port) {
    return fail(Errc::Invalid, "a cable has two different ports: \"A\"[1] \"B\"[2]");
  }
  const auto cable = [&](ConsolePort at) {
    return context.fabric.spec().nodes[at.node].ports[at.port.value()];
  };
  if (cable(a).peer_node == kNoNode) std::swap(a, b);
  const PortSpec from = cable(a);
  if (from.peer_node == kNoNode) {
    return fail(Errc::Invalid, "neither port has a cable that could be moved to the other");
  }
  if (from.peer_node != b.node || from.peer_port != b.port) {
    context.fabric.move_cable(from.peer_node, from.peer_port, b.node, b.port);
  }
  context.fabric.set_link(a.node, a.port, true);
  return std::string("linked\n");
}

/// "Link a[1] b[2]", "link down a[1]", "link up a[1]".
Answer run_link(Context& context) {
  ConsoleWords ahead = context.words;
  const std::string word = ahead.next_word();
  if (word == "down" || word == "up") {
    context.words = ahead;
    return set_links(context, word == "up");
  }
  std::array<ConsolePort, 2> ends;
  for (ConsolePort& end : ends) {
    const Result<std::vector<ConsolePort>> ports = next_ports(context);
    if (!ports) return fail(ports.error().code, ports.error().context);
    if (ports->size() != 1) return fail(Errc::Invalid, "a cable has two ports: \"A\"[1] \"B\"[2]");
    end = ports->front();
  }
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  return join(context, ends[0], ends[1]);
}

/// "node down a", "node up a".
Answer run_node(Context& context) {
  const std::string word = context.words.next_word();
  if (word == "down" || word == "up") return set_node(context, word == "up");
  return fail(Errc::Malformed, "write 'node down NAME' or 'node up NAME'");
}

/// As after a power cycle, with every link down until it is linked again.
Answer run_clear(Context& context) {
  ConsoleWords ahead = context.words;
  const Result<ConsoleTarget> target = ahead.next_target();
  if (target && target->has_port) return set_links(context, false);
  const Result<std::vector<ConsolePort>> ports = next_ports(context);
  if (!ports) return fail(ports.error().code, ports.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  const std::uint32_t node = *find_named(context, target->node);
  context.fabric.set_node(node, false);
  for (const ConsolePort& at : *ports) context.fabric.set_link(at.node, at.port, false);
  context.fabric.set_node(node, true);
  return fmt::format("{} is reset, {} links down\n", name_of(context, node), ports->size());
}

Answer run_reboot(Context& context) {
  const Result<std::uint32_t> node = next_node(context);
  if (!node) return fail(node.error().code, node.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  context.fabric.set_node(*node, false);
  context.fabric.set_node(*node, true);
  return fmt::format("{} starts anew\n", name_of(context, *node));
}

Answer set_silent(Context& context, bool silent) {
  const Result<std::uint32_t> node = next_node(context);
  if (!node) return fail(node.error().code, node.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  context.fabric.set_silent(*node, silent);
  return fmt::format("{} {}\n", name_of(context, *node), silent ? "is silent" : "answers");
}

Answer run_silent(Context& context) { return set_silent(context, true); }

Answer run_speak(Context& context) { return set_silent(context, false); }

Answer run_drop(Context& context) {
  const Result<unsigned> percent = context.words.next_number(100);
  if (!percent) return fail(percent.error().code, percent.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  WireFaults faults;
  faults.drop = *percent / 100.0;
  context.fabric.set_wire_faults(faults);
  return fmt::format("every cable loses {} % of its MADs\n", *percent);
}

Answer run_attached(Context& context) {
  std::string text;
  for (const ClientView& client : context.board.clients()) {
    const PortInfo info = context.fabric.port_info(client.node, client.port);
    text += fmt::format("Client {}: pid {} connected at \"{}\" port {}, lid {}, waiting {}{}\n",
                        client.number,
                        client.pid,
                        name_of(context, client.node),
                        client.port.value(),
                        info.lid.value(),
                        client.waiting,
                        client.is_sm ? " SM" : "");
  }
  return text.empty() ? "no clients\n" : text;
}

Answer run_disconnect(Context& context) {
  const Result<unsigned> number = context.words.next_number(UINT16_MAX);
  if (!number) return fail(number.error().code, number.error().context);
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  const std::vector<ClientView> clients = context.board.clients();
  if (std::none_of(clients.begin(), clients.end(), [&](const ClientView& client) {
        return client.number == *number;
      })) {
    return fail(Errc::Invalid, fmt::format("no client {}; Attached lists them", *number));
  }
  context.board.disconnect(*number);
  return fmt::format("client {} is detached\n", *number);
}

Answer run_counters(Context& context) {
  const SimFabricStats& fabric = context.fabric.stats();
  const SwitchboardStats& board = context.board.stats();
  return fmt::format(
      "clients {}\nfrom_clients {}\nto_clients {}\nretransmitted {}\ntimed_out {}\nstray {}\n"
      "malformed {}\ninjected {}\ndelivered {}\nagent_requests {}\ndropped_fault {}\n"
      "dropped_vl15 {}\ndropped_link {}\ndropped_route {}\ndropped_m_key {}\n"
      "dropped_cc_key {}\ndropped_malformed {}\ntraps {}\n",
      context.board.clients().size(),
      board.from_clients,
      board.to_clients,
      board.retransmitted,
      board.timed_out,
      board.stray,
      board.malformed,
      fabric.injected,
      fabric.delivered,
      fabric.agent_requests,
      fabric.dropped_fault,
      fabric.dropped_vl15,
      fabric.dropped_link,
      fabric.dropped_route,
      fabric.dropped_m_key,
      fabric.dropped_cc_key,
      fabric.dropped_malformed,
      fabric.traps);
}

Answer run_quit(Context& context) {
  context.quit = true;
  return std::string();
}

Answer run_start(Context&) { return std::string(); }

Answer run_help(Context& context);

/// A command that takes no words.
template <Answer (*run)(Context&)>
Answer run_alone(Context& context) {
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  return run(context);
}

struct Command {
  std::string_view name;
  char letter;  // ibsim's short form; 0 where there is none
  Answer (*run)(Context&);
  std::string_view usage;
};

constexpr std::array kCommands = {
    Command{"unlink", 'u', run_unlink, "Unlink NODE[PORT] | NODE - pull a cable, or all of a node"},
    Command{"relink", 'r', run_relink, "ReLink NODE[PORT] | NODE - put it, or them, back"},
    Command{"link",
            'l',
            run_link,
            "Link NODE[PORT] NODE[PORT] - put a cable there; link down|up NODE[PORT]"},
    Command{"clear", 'c', run_clear, "Clear NODE[PORT] | NODE - unlink; a whole node is reset too"},
    Command{"node",
            0,
            run_node,
            "node down|up NODE - switch a node off or on; with a PORT: its cable; also Down, Up"},
    Command{"down", 0, run_down, ""},
    Command{"up", 0, run_up, ""},
    Command{"reboot", 0, run_reboot, "Reboot NODE - off and on at once"},
    Command{"silent", 0, run_silent, "Silent NODE - links stay up, the agent does not answer"},
    Command{"speak", 0, run_speak, "Speak NODE - the agent answers again"},
    Command{"drop", 0, run_drop, "Drop PERCENT - what every cable loses at random"},
    Command{"dump", 'd', run_dump, "Dump [NODE] - ports, cables, LIDs and states"},
    Command{"congestion", 0, run_congestion, "Congestion [NODE] - registers of congestion control"},
    Command{"route", 0, run_route, "Route FROM-LID TO-LID - along the switches' tables"},
    Command{"attached", 'a', run_alone<run_attached>, "Attached - clients"},
    Command{"x", 'x', run_disconnect, "X CLIENT - detach a client"},
    Command{"counters", 0, run_alone<run_counters>, "Counters - of the fabric and of this server"},
    Command{"start", 's', run_alone<run_start>, ""},
    Command{"help", 'h', run_alone<run_help>, "Help"},
    Command{"quit", 'q', run_alone<run_quit>, "Quit"},
};

Answer run_help(Context&) {
  std::string text = "NODE is \"DESCRIPTION\", an id or a GUID.\n";
  for (const Command& command : kCommands) {
    if (!command.usage.empty()) text += fmt::format("\t{}\n", command.usage);
  }
  return text;
}

const Command* find_command(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  if (word == "?") word = "help";
  for (const Command& command : kCommands) {
    const bool is_letter = word.size() == 1 && word[0] == command.letter;
    if (word == command.name || is_letter) return &command;
  }
  return nullptr;
}

}  // namespace

std::string Console::run(std::string_view line) {
  Context context{fabric_, board_, ConsoleWords(line), quit_};
  const std::string word = context.words.next_word();
  if (word.empty() || word[0] == '#') return {};
  const Command* command = find_command(word);
  if (command == nullptr) {
    return fmt::format("# unknown command '{}'; help lists them\n", printable(word.substr(0, 40)));
  }
  const Answer answer = command->run(context);
  return answer ? *answer : fmt::format("# {}\n", printable(answer.error().context));
}

}  // namespace smd::sim
