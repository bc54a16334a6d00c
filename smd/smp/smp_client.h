// The only sender of SMPs, and lists of them kept within its window.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/mad/smp.h"
#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"

namespace smd {

// The only sender of SMPs: transaction ids, timeouts, retries, late and duplicate answers, an
// adaptive window.
//
// The clock of a request starts when it is injected, not when it is queued. The first answer wins;
// later ones are counted and dropped. The window grows while answers come back in time and halves
// on a timeout. Retries go before new requests, but leave half of the window to them, so that
// silent nodes cannot hold up the rest of the fabric. A Get of the own port waits for nobody.

/// Exit ports from the local node outwards. On a channel adapter the first is its own port. At
/// most 63.
class HopPath {
 public:
  HopPath() = default;

  HopPath(std::initializer_list<PortNum> hops) {
    for (PortNum hop : hops) push_back(hop);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] bool full() const { return size_ == kMaxHops; }

  [[nodiscard]] PortNum operator[](std::size_t i) const { return PortNum{hops_[i]}; }

  /// Requires: !full().
  void push_back(PortNum hop) { hops_[size_++] = hop.value(); }

  [[nodiscard]] HopPath then(PortNum hop) const {
    HopPath longer = *this;
    longer.push_back(hop);
    return longer;
  }

  friend bool operator==(const HopPath&, const HopPath&) = default;

  friend auto operator<=>(const HopPath&, const HopPath&) = default;

 private:
  std::array<std::uint8_t, kMaxHops> hops_{};
  std::uint8_t size_ = 0;
};

/// "(1,3,2)".
[[nodiscard]] std::string print_path(const HopPath& path);

/// How a SMP reaches its node: directed from here, by LID, or by LID to a known switch and then
/// directed.
struct SmpRoute {
  enum class Kind : std::uint8_t { Directed, LidRouted, Mixed };

  Kind kind = Kind::Directed;
  Lid lid = kPermissiveLid;  // LidRouted: the destination; Mixed: the switch where the directed
                             // part starts
  HopPath path;              // Directed, Mixed

  static SmpRoute directed(HopPath path) { return {Kind::Directed, kPermissiveLid, path}; }

  static SmpRoute to_lid(Lid lid) { return {Kind::LidRouted, lid, {}}; }

  static SmpRoute mixed(Lid lid, HopPath path) { return {Kind::Mixed, lid, path}; }

  /// To the own port, over no cable.
  [[nodiscard]] bool stays_here() const { return kind == Kind::Directed && path.empty(); }

  friend bool operator==(const SmpRoute&, const SmpRoute&) = default;
  friend auto operator<=>(const SmpRoute&, const SmpRoute&) = default;
};

/// "(1,3)", "lid 7", "lid 7 (2,1)".
[[nodiscard]] std::string print_route(const SmpRoute& route);

struct SmpRequest {
  SmpRoute route;
  Method method = Method::Get;
  AttributeId attribute = AttributeId::NodeInfo;
  std::uint32_t modifier = 0;
  SmpData data{};
  MKey m_key;
};

struct SmpReply {
  std::uint16_t status = 0;  // of the MAD, D bit removed; nonzero when the agent refused
  SmpData data{};
  HopArray return_path{};  // directed only; return_path[hop_count] is the port it arrived at
  Duration round_trip{0};
};

struct SmpClientConfig {
  unsigned window_min = 4;  // SMPs outstanding; 1 … window_max
  unsigned window_start = 32;
  unsigned window_max = 256;                          // 1 … 4096
  unsigned retries = 3;                               // re-injections after the first, 0 … 20
  Duration timeout = std::chrono::milliseconds(200);  // until set_timeout() knows better
  unsigned max_per_second = 0;                        // 0: no limit
};

/// Injections of one attribute, retries included.
struct AttributeCount {
  std::uint16_t attribute = 0;
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;

  friend bool operator==(const AttributeCount&, const AttributeCount&) = default;
};

class PortMKeys;

struct SmpStats {
  std::uint64_t sent = 0;  // injections, retries included
  std::uint64_t answered = 0;
  std::uint64_t retries = 0;
  std::uint64_t timeouts = 0;         // requests given up
  std::uint64_t silent_timeouts = 0;  // likewise, on routes where one was and nobody answered since
  std::uint64_t late = 0;             // answers to requests no longer pending (duplicates included)
  std::uint64_t malformed = 0;
  std::uint64_t refused = 0;  // status other than 0
  std::uint64_t send_errors = 0;
  std::uint64_t unsolicited = 0;                  // requests and traps addressed to us, and answers
                                                  // of others than were asked
  std::vector<AttributeCount> sent_by_attribute;  // sorted by attribute

  /// Requests put on the wire for the first time: what a protocol costs without losses.
  [[nodiscard]] std::uint64_t requests() const { return sent - retries; }
};

class SmpScope;

class SmpClient {
 public:
  using Done = std::function<void(Result<SmpReply>)>;

  /// A SMP that is not an answer: a trap, or a Get/Set of SMInfo. `source` is where to reply.
  using Unsolicited = std::function<void(const Smp& smp, const MadPacket& packet)>;

  SmpClient(Runtime& runtime, Transport& transport, SmpClientConfig config);
  ~SmpClient();
  SmpClient(const SmpClient&) = delete;

  /// 2 * SubnetTimeout + RespTimeValue, from what discovery learned. Applies to requests injected
  /// from now on.
  void set_timeout(Duration timeout);

  /// The LID that mixed routes put into DrSLID.
  void set_local_lid(Lid lid);

  [[nodiscard]] Lid local_lid() const;

  /// Whether one port has both LIDs. Null: none is known to have several.
  using MatchPort = std::function<bool(Lid one, Lid other)>;

  /// What was sent by LID is answered by the port that has it, and by nobody else.
  void set_same_port(MatchPort same_port);

  /// The path from here to the port that has the LID; nothing where none is known.
  using FindPath = std::function<std::optional<HopPath>(Lid)>;

  /// From now on every request goes directed, also one by LID, for subnets that route no SMPs by
  /// LID. One whose path is not known fails with Unreachable. Null: as requests say.
  void set_directed_only(FindPath find_path);

  /// Null: M_Keys go as they are. They outlive the client.
  void set_port_m_keys(PortMKeys* keys);

  /// The M_Key for what leaves by send_once(); see m_keys.h.
  [[nodiscard]] MKey find_m_key(const SmpRoute& route, MKey name) const;

  void on_unsolicited(Unsolicited handler);

  /// `handler` runs once when the transport is lost, after every pending request completed with
  /// NoDevice. It may destroy the client.
  void on_lost(std::function<void(const Error&)> handler);

  /// Fire and forget, outside the window: TrapRepress, answers to SMInfo. See messages.h. Goes as
  /// it is.
  Result<void> send_once(const MadPacket& packet);

  [[nodiscard]] const SmpStats& stats() const;

  [[nodiscard]] unsigned window() const;

  /// Requests on the wire.
  [[nodiscard]] std::size_t outstanding() const;

  /// Requests that live but are not on the wire: not yet, or waiting for their retry.
  [[nodiscard]] std::size_t queued() const;

 private:
  friend class SmpScope;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One conversation's requests. Destroying or clearing it cancels every one of them, so a handler
/// cannot outlive its owner. Handlers may send more through the same scope, and may destroy it.
/// A scope must not outlive its client.
class SmpScope {
 public:
  explicit SmpScope(SmpClient& client);
  ~SmpScope();
  SmpScope(const SmpScope&) = delete;

  /// Queues the request. `done` runs exactly once unless cancelled: with the answer (also one with
  /// a status), or with Timeout, Malformed, Io or NoDevice. Never inside this call.
  void send(const SmpRequest& request, SmpClient::Done done);

  void cancel_all();

  /// Requests queued or on the wire.
  [[nodiscard]] std::size_t pending() const;

 private:
  SmpClient& client_;
  std::uint32_t id_;
};

// Sends a long series of SMPs without building it first: asks for the next one while the window has
// room.

class SmpPump {
 public:
  /// Sends through `send()` the next piece of the series; false when there is none left.
  using IssueNext = std::function<bool()>;

  explicit SmpPump(SmpClient& client) : client_(client), scope_(client) {}

  SmpPump(const SmpPump&) = delete;

  /// `done` runs once, last, when the series is exhausted and every answer is in; it may destroy
  /// this.
  void start(IssueNext issue_next, std::function<void()> done);

  /// Requires: called from `issue_next`, or from a handler of this pump.
  void send(const SmpRequest& request, std::function<void(const Result<SmpReply>&)> on_reply);

 private:
  void pump();

  SmpClient& client_;
  SmpScope scope_;
  IssueNext issue_next_;
  std::function<void()> done_;
  std::size_t outstanding_ = 0;
};

// How long to wait for an answer (IBA 13.4.6.2). The time fields of PortInfo are exponents:
// 4.096 us * 2^n.

/// 4.096 us * 2^code, for SubnetTimeout, RespTimeValue and the other fields coded like them. Only
/// the low five bits count.
[[nodiscard]] constexpr Duration subnet_timeout(std::uint8_t code) {
  return Duration{std::int64_t{4096} << (code & 0x1fu)};
}

/// The longest that an answer may take: 2 * SubnetTimeout + RespTimeValue.
[[nodiscard]] constexpr Duration response_timeout(std::uint8_t subnet_timeout_code,
                                                  std::uint8_t resp_time_code) {
  return 2 * subnet_timeout(subnet_timeout_code) + subnet_timeout(resp_time_code);
}

/// What SubnetTimeout depends on.
struct SubnetExtent {
  unsigned max_distance = 1;  // hops from the subnet manager to the farthest node
  Duration link_delay{0};     // of one SMP over one link, store and forward included
  Duration max_resp_time{0};  // the largest RespTimeValue of all ports
};

/// The smallest SubnetTimeout code that covers max_distance * (link_delay + max_resp_time); 31
/// when none does.
[[nodiscard]] constexpr std::uint8_t compute_subnet_timeout_code(const SubnetExtent& extent) {
  const Duration wanted = extent.max_distance * (extent.link_delay + extent.max_resp_time);
  std::uint8_t code = 0;
  while (code < 31 && subnet_timeout(code) < wanted) ++code;
  return code;
}

}  // namespace smd
