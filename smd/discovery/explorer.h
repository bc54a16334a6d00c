// Explores what is unknown: NodeInfo across every link without a known other end, then
// everything about the node found. Full discovery explores from nothing; partial discovery from the
// ports that came up.
//
// A link whose two ends contradict each other is looked at again before it is believed: a switch
// that answers across it, while its port there is Down, is a second one with the same GUID.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "smd/discovery/survey.h"
#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_client.h"

namespace smd {

class Explorer {
 public:
  Explorer(SmpClient& client, DiscoveryOptions options);
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
  void probe(LinkEnd from);

  void pump_probes();

  [[nodiscard]] bool is_asking() const { return outstanding_ > 0; }

  /// The attribute modifier of PortInfo: with bit 31 where the device has announced extended
  /// speeds, or has not been heard while others of its kind have.
  [[nodiscard]] std::uint32_t modifier_of(LinkEnd end) const;

  /// Devices of the node's kind are asked with bit 31 from now on, if it announces extended speeds.
  void learn_kind(std::uint32_t node, const PortInfo& management);

  [[nodiscard]] const std::deque<LinkEnd>& probes() const { return probes_; }

  /// `then` follows when the switch has said what it is.
  void ask_switch_info(std::uint32_t node, std::function<void()> then);

  void ask_switch_ports(std::uint32_t node);

  /// Sets a port of the node that answers over `route`, and keeps what it answers.
  void set_port(LinkEnd end, const SmpRoute& route, const PortInfo& wanted);

  /// Nothing leads to the node any more, and its GUID is free for another one.
  void forget(std::uint32_t node);

  /// Asks about the first link whose ends contradict each other; false when there is none (left).
  bool settle_links();

  void fail_locally(Errc code, std::string why);

  void stop() { scope_.cancel_all(); }

  // What the forms of discovery decide.

  /// Last after every answer; may destroy this.
  virtual void on_step() = 0;

  /// A switch that was not known: what it is, and its ports.
  virtual void explore_switch(std::uint32_t node);

  /// PortInfo was read, over `route`.
  virtual void on_port_read(LinkEnd, const SmpRoute&) {}

  /// Links whose other end is known are asked all the same.
  [[nodiscard]] virtual bool probes_known_links() const { return false; }

  /// `from` leads to `arrival`, whose link went elsewhere before or not. False: the caller takes
  /// care of `from` later.
  virtual bool may_join(LinkEnd, LinkEnd) { return true; }

  virtual void on_joined(LinkEnd, LinkEnd) {}

  /// A node of the survey that another one may replace under its GUID.
  virtual bool is_stale(std::uint32_t) { return false; }

  /// A probe that could not be sent.
  virtual void on_out_of_reach(LinkEnd) {}

  /// The link at `end` came or went while we looked.
  virtual void on_contradiction(LinkEnd) {}

  virtual void unlink(LinkEnd end) { survey_.unlink(end); }

  /// Requests on the way up to which probes are added.
  virtual std::size_t room() { return client_.window(); }

  /// Nothing when it cannot be reached any more.
  virtual std::optional<SmpRoute> route_to(std::uint32_t node) { return survey_.node(node).route; }

  Survey survey_;
  DiscoveryOptions options_;
  std::optional<Error> fatal_;
  Anomalies anomalies_;

 private:
  void ask_node_info(const SmpRoute& route, std::optional<LinkEnd> from);
  void on_node_info(const SmpRoute& route,
                    std::optional<LinkEnd> from,
                    const Result<SmpReply>& reply);
  void clear_port_state_change(std::uint32_t node);
  void ask_port_info(LinkEnd end, const SmpRoute& route);
  void send_port_info(LinkEnd end, const SmpRoute& route, std::uint32_t modifier);
  void on_port_info(LinkEnd end,
                    const SmpRoute& route,
                    std::uint32_t modifier,
                    const Result<SmpReply>& reply);
  void ask_plain_ports_again(std::uint32_t node, const SmpRoute& route);
  [[nodiscard]] const Survey::Port* management_port(LinkEnd end) const;

  /// Who answered a probe, and where it arrived.
  struct Arrival {
    LinkEnd end;
    NodeInfo info;
    SmpRoute route;
  };

  void join(LinkEnd from, const Arrival& to);
  void link(LinkEnd from, const Arrival& to);
  void take_adapter_in(const Arrival& at);
  void verify_older_link(LinkEnd older, LinkEnd newer, const Arrival& contested);
  [[nodiscard]] bool belongs_to_newer(LinkEnd older, LinkEnd newer, LinkEnd contested) const;
  void break_node(std::uint32_t node, PortNum port, std::string why);
  void break_port(LinkEnd end, std::string why);
  void silence_port(LinkEnd end, std::string why);
  void reread_end(LinkEnd end, std::function<void()> then);
  void settle(LinkEnd up, LinkEnd down);
  void verify_duplicate(LinkEnd up, LinkEnd down);

  SmpClient& client_;
  SmpScope scope_;
  std::size_t outstanding_ = 0;
  std::deque<LinkEnd> probes_;   // up ports whose other end is not known yet, oldest first
  std::vector<LinkEnd> joined_;  // links seen in this run, by one end

  /// By vendor and device: whose CapabilityMask says extended speeds.
  std::set<std::pair<std::uint32_t, std::uint16_t>> extended_kinds_;
  std::size_t settled_ = 0;  // of joined_
};

/// One hop more; nothing beyond 63.
[[nodiscard]] std::optional<SmpRoute> extend(const SmpRoute& route, PortNum port);

/// Why there is no good answer.
[[nodiscard]] std::string describe(const Result<SmpReply>& reply);

[[nodiscard]] inline bool answered(const Result<SmpReply>& reply) {
  return reply && reply->status == 0;
}

/// NodeInfo of a node that can exist and is reached through a cable.
[[nodiscard]] bool answers_as_node(const Result<SmpReply>& reply);

/// What a Set(SwitchInfo) carries to clear PortStateChange: everything as it was read, the bit
/// among it, since it is cleared by writing 1.
[[nodiscard]] SmpData clear_change_data(SwitchInfo info);

}  // namespace smd
