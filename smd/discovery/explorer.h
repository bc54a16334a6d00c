// Asks its way through what is unknown: NodeInfo across every cable without a known far end, then
// everything about the node found. Full discovery explores from nothing; partial discovery from the
// ports that came up.
//
// A cable whose two ends contradict each other is looked at again before it is believed: a switch
// that answers across it, while its port there is Down, is a second one with the same GUID.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smd/discovery/survey.h"
#include "smd/smp/smp_client.h"

namespace smd {

struct ExplorerOptions {
  /// Every up port is probed, the way back included, and LIDs are set on the way. Otherwise a cable
  /// known from one end is not asked from the other.
  bool literal = false;
  MKey m_key;

  /// Nothing is set: PortStateChange stays raised where it is, and what came after the ports were
  /// read does not show. Not with `literal`.
  bool look_only = false;

  /// Literal only: called with the port's GUID for every port that takes a LID; what it returns is
  /// sent as Set(PortInfo) at once.
  std::function<std::optional<PortInfo>(Guid, const PortInfo&)> set_end_port;
};

class Explorer {
 public:
  Explorer(SmpClient& client, ExplorerOptions options);
  virtual ~Explorer() = default;
  Explorer(const Explorer&) = delete;

 protected:
  using OnReply = std::function<void(const Result<SmpReply>&)>;

  struct Question {
    SmpRoute route;
    Method method = Method::Get;
    AttributeId attribute = AttributeId::NodeInfo;
    std::uint32_t modifier = 0;
    SmpData data{};
  };

  /// on_step() follows every answer.
  void ask(const Question& question, OnReply on_reply);

  /// Begins with the manager's own node.
  void ask_local_node();

  /// Asks who is at the other end when there is room, unless that is known by then.
  void probe(CableEnd from);

  void pump_probes();

  [[nodiscard]] bool is_asking() const { return outstanding_ > 0; }

  [[nodiscard]] const std::deque<CableEnd>& probes() const { return probes_; }

  /// Nothing leads to the node any more, and its GUID is free for another one.
  void forget(std::uint32_t node);

  /// Asks about the first cable whose ends contradict each other; false when there is none (left).
  bool settle_links();

  void fail_locally(Errc code, std::string why);

  void stop() { scope_.cancel_all(); }

  // What else must happen, for partial discovery.

  /// Last after every answer; may destroy this.
  virtual void on_step() = 0;

  /// `from` leads to `arrival`, whose cable went elsewhere before or not. False: the caller takes
  /// care of `from` later.
  virtual bool may_join(CableEnd, CableEnd) { return true; }

  virtual void on_joined(CableEnd, CableEnd) {}

  /// A node of the survey that another one may replace under its GUID.
  virtual bool is_stale(std::uint32_t) { return false; }

  /// A probe that could not be sent.
  virtual void on_out_of_reach(CableEnd) {}

  /// The cable at `end` came or went while we looked.
  virtual void on_contradiction(CableEnd) {}

  virtual void unlink(CableEnd end) { survey_.unlink(end); }

  /// Lean: requests on the way up to which probes are added.
  virtual std::size_t room() { return client_.window(); }

  /// Nothing when it cannot be reached any more.
  virtual std::optional<SmpRoute> route_to(std::uint32_t node) { return survey_.node(node).route; }

  Survey survey_;
  ExplorerOptions options_;
  std::optional<Error> fatal_;
  Oddities oddities_;

 private:
  void ask_node_info(const SmpRoute& route, std::optional<CableEnd> from);
  void on_node_info(const SmpRoute& route,
                    std::optional<CableEnd> from,
                    const Result<SmpReply>& reply);
  void explore_switch(std::uint32_t node);
  void on_switch_info(std::uint32_t node, const Result<SmpReply>& reply);
  void clear_port_state_change(std::uint32_t node);
  void ask_switch_ports(std::uint32_t node);
  void ask_port_info(std::uint32_t node, PortNum port, const SmpRoute& route);
  void on_port_info(std::uint32_t node,
                    PortNum port,
                    const SmpRoute& route,
                    const Result<SmpReply>& reply);
  void set_end_port(std::uint32_t node, PortNum port, const SmpRoute& route);
  void join(CableEnd a, CableEnd b);
  void link(CableEnd a, CableEnd b);
  void verify_older_link(CableEnd older, CableEnd newer, CableEnd contested);
  void break_node(std::uint32_t node, PortNum port, std::string why);
  void break_port(CableEnd end, std::string why);
  void silence_port(CableEnd end, std::string why);
  void reread_end(CableEnd end, std::function<void()> then);
  void settle(CableEnd up, CableEnd down);
  void verify_twin(CableEnd up, CableEnd down);

  SmpClient& client_;
  SmpScope scope_;
  std::size_t outstanding_ = 0;
  std::deque<CableEnd> probes_;   // up ports whose other end is not known yet, oldest first
  std::vector<CableEnd> joined_;  // cables seen in this run, by one end
  std::size_t settled_ = 0;       // of joined_
};

/// One hop more; nothing beyond 63.
[[nodiscard]] std::optional<SmpRoute> extend(const SmpRoute& route, PortNum port);

/// Why there is no good answer.
[[nodiscard]] std::string describe(const Result<SmpReply>& reply);

[[nodiscard]] inline bool answered(const Result<SmpReply>& reply) {
  return reply && reply->status == 0;
}

/// What a Set(SwitchInfo) carries to clear PortStateChange: everything as it was read, the bit
/// among it, since it is cleared by writing 1.
[[nodiscard]] SmpData clear_change_data(SwitchInfo info);

}  // namespace smd
