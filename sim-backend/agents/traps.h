// Traps of one node: sent when something happens, repeated until the manager represses them.
//
// The interval is the port's SubnetTimeout, at least kShortestInterval; after
// AgentOptions::trap_repeats repetitions the trap is given up. A newer event of the same trap
// number at the same port replaces the one that waits. Without a MasterSMLID nobody is told. Traps
// of congestion control go to whom its ClassPortInfo names, with the same repetitions.
#pragma once

#include <functional>
#include <map>
#include <tuple>

#include "sim-backend/agents/node_state.h"
#include "smd/mad/notice.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

inline constexpr Duration kShortestInterval = std::chrono::milliseconds(1);

struct TrapLetter {
  PortNum port;  // that speaks
  Lid to;
  std::uint32_t qp = 0;
  std::uint8_t sl = 0;
  MadBytes mad{};
};

class TrapSender {
 public:
  using Send = std::function<void(const TrapLetter& letter)>;

  TrapSender(Runtime& runtime, NodeState& node, Send send);

  /// `port`: the management port that speaks, 0 on a switch.
  void raise(PortNum port, Notice notice);

  /// A trap of class 0x21.
  void raise_congestion(PortNum port, Notice notice);

  /// A TrapRepress with this transaction id came; false when it is about no trap of this node's
  /// agent: a program's on the same port, or one that is repressed already.
  bool repress(std::uint64_t transaction_id);

  /// The node was switched off.
  void clear() { pending_.clear(); }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  struct Pending {
    TrapLetter letter;
    std::uint64_t transaction_id = 0;
    unsigned repeats_left = 0;
    Timer timer;
  };

  /// Port, QP, trap number.
  using Key = std::tuple<std::uint8_t, std::uint32_t, std::uint16_t>;

  void post(std::uint16_t trap, TrapLetter letter, std::uint64_t transaction_id);
  void send_now(Key key, Pending& pending);

  Runtime& runtime_;
  NodeState& node_;
  Send send_;
  std::map<Key, Pending> pending_;
  std::uint64_t next_id_ = 1;
  std::uint64_t sent_ = 0;
};

}  // namespace smd::sim
