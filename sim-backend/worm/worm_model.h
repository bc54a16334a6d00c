// Worms in a network of channels, as streams of flits: a stream runs at one flit per cycle or
// stands, and what happens is that one begins or ends. What comes of it is, to the cycle, what a
// machine does that moves every flit.
//
// A cycle, in this order: cables go down and come up; what was sent comes in, flits and symbols;
// heads and hosts act; who may choose asks for the free output that it likes best; outputs are
// granted; flits leave; buffers say STOP or GO. Nothing in one node's cycle depends on another's,
// since a cable takes a cycle at least.
//
// Lanes of one cable that could both send are looked at every cycle, and so is what follows of it
// downstream; everything else costs the same however long a worm is.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "sim-backend/packet/event_queue.h"
#include "sim-backend/worm/worm_graph.h"
#include "sim-backend/worm/worm_options.h"
#include "sim-backend/worm/worm_route.h"

namespace smd::sim {

using Cycle = std::int64_t;
using WormAt = std::uint32_t;
using HopAt = std::uint32_t;

/// What happens at most once a cycle, counted as a line in time.
struct FlitCount {
  Cycle since = 0;
  std::uint64_t done = 0;  // in cycles before `since`
  bool runs = false;

  /// In cycles before `at`.
  [[nodiscard]] std::uint64_t before(Cycle at) const {
    return done + (runs ? static_cast<std::uint64_t>(at - since) : 0);
  }

  void set(Cycle at, bool on, std::uint64_t more = 0) {
    done = before(at) + more;
    since = at;
    runs = on;
  }
};

struct Worm {
  const WormRoute* route = nullptr;
  std::uint64_t cookie = 0;
  Cycle made = 0, left = 0;   // left: its first flit went onto its first cable
  std::uint32_t source = 0;   // node
  ChannelAt last = kNowhere;  // what kToDestination stands for
  std::uint32_t flits = 0;
  std::uint32_t hops = 0;      // where it is, or is expected
  std::uint32_t transits = 0;  // hosts that it went through
  bool cut = false;            // a part of it was lost on a cable that went down
};

/// One worm at one node: what has come in of it and where it leaves.
struct WormHop {
  struct Branch {
    ChannelAt out = kNowhere;
    std::uint32_t next = 0;  // step
    std::uint64_t base = 0;  // of out.sent when it was connected
    HopAt down = kNowhere;   // the hop at the far end, from its first flit on
    bool asks = false, granted = false, begun = false, done = false;
    bool lost = false;     // what leaves by it comes in nowhere
    bool chooses = false;  // among several, none of which it asks for now
  };

  WormAt worm = 0;
  std::uint32_t step = 0;
  ChannelAt in = kNowhere;  // kNowhere: at its source
  HopAt after = kNowhere;   // that came in behind it
  std::uint64_t base = 0;   // of in.came
  std::uint32_t flits = 0;  // that come in
  std::uint32_t room = 0;   // that it takes of a host's memory
  std::uint8_t strip = 0, forks = 0;
  bool cut = false;                     // it is not whole
  bool dropped = false, waits = false;  // waits: for the flit that it is routed by
  Cycle head_in = -1;
  std::array<Branch, kMostForks> branches;
};

/// A worm at a host, with all that is left of it.
struct WormEnd {
  WormAt worm = 0;
  std::uint32_t node = 0;
  Cycle head = 0, tail = 0;  // in which they came in
  bool dropped = false;      // the host had no room to pass it on
  bool cut = false;          // it is not whole
};

/// How the network's user hears of it.
class WormWatcher {
 public:
  virtual ~WormWatcher() = default;

  /// A host asked to be called now.
  virtual void on_call(std::uint32_t host) = 0;

  /// It is about to leave, and has no route yet: set_route() it.
  virtual void on_start(WormAt) {}

  /// It begins to leave by a channel whose next step is kToLayOut and a number: adds that step to
  /// its route and returns which it is.
  virtual std::uint32_t lay_out(WormAt, std::uint32_t number) { return number; }

  /// All of it has left its source, in the cycle before this one.
  virtual void on_left(WormAt, Cycle) {}

  virtual void on_end(const WormEnd& end) = 0;

  /// Nothing is left of a worm of which a part was lost.
  virtual void on_lost(WormAt) {}
};

class WormModel {
 public:
  /// Requires: check_options(options) is empty but for a buffer that overflows; all outlive this.
  WormModel(const WormGraph& graph, const WormOptions& options, WormWatcher& watcher);

  /// A worm that is made at a host now. Requires: within on_call or on_end, or before the first
  /// cycle.
  WormAt send(const WormRoute& route,
              std::uint32_t host,
              std::uint32_t flits,
              ChannelAt last = kNowhere,
              std::uint64_t cookie = 0);

  /// A worm whose route is set when it starts. Requires: as send().
  WormAt send(std::uint32_t host, ChannelAt last, std::uint64_t cookie);

  void set_route(WormAt worm, const WormRoute& route, std::uint32_t flits) {
    worms_[worm].route = &route;
    worms_[worm].flits = flits;
  }

  /// on_call(host) at `at`, at or after the cycle that runs.
  void call(std::uint32_t host, Cycle at) { push(at, Kind::Call, host); }

  /// Both directions of a cable are two cables. What is on it when it goes down is lost, and what
  /// its lanes are connected to goes on losing what it sends until its end; of a worm that was
  /// coming in the far end makes a shorter one, with one flit more. A lane is in use again when the
  /// cable is up and what it was connected to has ended. Requires: from this cycle on; worms have
  /// no flits of header and choose nothing.
  void set_cable(std::uint32_t cable, bool up, Cycle at) {
    push(at, up ? Kind::CableUp : Kind::CableDown, cable);
  }

  /// Runs everything up to this cycle, which is the last one that has been.
  void run_until(Cycle last);

  [[nodiscard]] Cycle now() const { return now_; }

  /// When something happens next; a cycle that never comes when nothing does.
  [[nodiscard]] Cycle next_event();

  [[nodiscard]] const Worm& worm(WormAt at) const { return worms_[at]; }

  [[nodiscard]] std::uint64_t events() const { return events_; }

  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }

  [[nodiscard]] std::size_t local_waiting(std::uint32_t host) const {
    return hosts_[host].local.size();
  }

  [[nodiscard]] std::size_t transit_waiting(std::uint32_t host) const {
    return hosts_[host].transit.size();
  }

  /// Flits that it has carried, in cycles before `at`, and cycles in which it might not send.
  [[nodiscard]] std::uint64_t busy(ChannelAt channel, Cycle at) const {
    return channels_[channel].sent.before(at);
  }

  [[nodiscard]] Cycle blocked(ChannelAt channel, Cycle at) const;

  /// Flits in its buffer now.
  [[nodiscard]] std::uint64_t fill(ChannelAt channel) const {
    const Channel& at = channels_[channel];
    return at.came.before(now_ + 1) - at.taken.before(now_ + 1);
  }

  /// The most that its buffer has held so far.
  [[nodiscard]] std::uint64_t fullest(ChannelAt channel) const;

  /// One step of a knot: a worm, and the channel that it waits for. The next one holds that, or
  /// fills the buffer behind it.
  struct Held {
    WormAt worm = 0;
    ChannelAt channel = 0;
  };

  /// Worms each of which waits for what only the others could give free; empty when there are none.
  /// `all`: every worm that waits for them, however indirectly; else a circle of them.
  [[nodiscard]] std::vector<Held> find_knot(bool all = false) const;

  /// Counts everything again: what does not hold, or nothing.
  [[nodiscard]] std::string audit() const;

 private:
  enum class Kind : std::uint8_t {
    TailLeft,
    CableDown,
    CableUp,
    Stop,
    Go,
    CreditsOn,
    CreditsOff,
    Credit,
    ComesOn,
    ComesOff,
    HeadIn,
    NextIn,
    TailIn,  // comes in
    Ask,
    Detected,
    Programmed,
    Call,    // acts
    Choose,  // asks
    Grant,   // grants
    Move,    // leaves
    Mark     // says
  };

  struct OutputRequest {
    HopAt hop;
    std::uint8_t branch;
  };

  struct Channel {
    FlitCount sent, came, taken, returned;  // returned: credits
    HopAt owner = kNowhere;
    HopAt front = kNowhere, back = kNowhere;
    std::uint8_t owner_branch = 0;
    bool stopped = false, said_stop = false, to_host = false, from_host = false, reserved = false;
    bool down = false, dead = false;  // dead: not in use, nor again yet
    Cycle cut_at = kNoCycle;          // the last time
    std::int64_t lost = 0;            // flits sent that are not counted in `came`, but for those
                                      // that the far end made
    std::uint32_t forth = 0, back_delay = 0;
    std::uint32_t last_granted = kNowhere;  // the channel into the node that had it
    Cycle blocked_since = -1, blocked = 0, mark_at = kNoCycle;
    std::uint64_t fullest = 0;
    std::vector<OutputRequest> asking;
    bool proposed = false;  // by one that chooses
  };

  struct LinkState {
    ChannelAt first = 0;
    std::uint32_t lanes = 0, node = 0;
    std::uint32_t last_lane = 0;
    Cycle move_at = kNoCycle, chosen_at = -1;
    ChannelAt chosen = kNowhere;
  };

  struct Host {
    std::deque<WormAt> local;
    std::deque<HopAt> transit;
    std::uint32_t since_local = 0;
    std::uint64_t memory = 0;
  };

  class KnotSearch;

  static constexpr Cycle kNoCycle = INT64_MAX;

  void push(Cycle at, Kind kind, std::uint32_t key, std::uint32_t hop = 0) {
    wheel_.push({at, (std::uint64_t(kind) << 59) | (std::uint64_t(key) << 32) | hop});
  }

  void handle(Kind kind, std::uint32_t key, HopAt hop);
  HopAt add_hop(const WormHop& hop);
  void free_hop(HopAt at);
  void remove(ChannelAt channel, HopAt hop);

  // worm_model.cpp: what comes in, and what is granted
  void on_tail_left(ChannelAt channel);
  void on_stop(ChannelAt channel, bool stop);
  void on_credits(ChannelAt channel, Kind kind);
  void on_comes(ChannelAt channel, bool on);
  void on_head_in(HopAt hop);
  void begin(HopAt hop);
  [[nodiscard]] bool has_route_flit(const WormHop& hop) const;
  void on_ask(HopAt hop);
  void on_grant(ChannelAt channel);
  void on_choose(HopAt hop);
  [[nodiscard]] std::span<const WormChoice> choices(const WormHop& hop, std::size_t branch) const;
  void on_mark(ChannelAt channel);
  [[nodiscard]] std::uint64_t held_before(const Channel& channel) const;
  void retally_fork(ChannelAt channel, WormHop& front);
  void finish(HopAt hop);
  void connect(ChannelAt channel, HopAt hop, std::uint8_t branch);
  [[nodiscard]] bool is_free(const Channel& channel) const;
  void offer_lane(ChannelAt channel);
  void end_blocked(Channel& channel);

  // link_loss.cpp
  void on_cable(std::uint32_t cable, bool up);
  void cut(ChannelAt channel);
  void mend(ChannelAt channel);
  void shorten(HopAt hop, std::uint32_t flits);
  void lose(HopAt hop);
  [[nodiscard]] bool is_lost_on_wire(ChannelAt channel) const;
  [[nodiscard]] bool is_lost_symbol(ChannelAt channel) const;

  // flit_transfer.cpp: what leaves
  void on_move(std::uint32_t cable);
  bool choose(LinkState& cable);
  void apply(LinkState& cable, bool contended);
  void set_sending(ChannelAt channel, bool on);
  void set_taken(ChannelAt channel, bool on);
  void begin_down(ChannelAt channel, WormHop& hop, WormHop::Branch& branch);
  Cycle predict(ChannelAt channel);
  [[nodiscard]] bool permitted(const Channel& channel, Cycle at) const;
  [[nodiscard]] std::int64_t credits(const Channel& channel, Cycle at) const;
  [[nodiscard]] bool ready(ChannelAt channel) const;
  [[nodiscard]] std::int64_t arrived(const WormHop& hop, Cycle at) const;
  [[nodiscard]] std::int64_t left(const WormHop& hop,
                                  const WormHop::Branch& branch,
                                  Cycle at) const;

  [[nodiscard]] bool is_locked_fork(const WormHop& hop) const {
    return hop.forks > 1 && options_.copies == WormCopies::LockStep;
  }

  void look(std::uint32_t cable, Cycle at);
  void look_at_outputs(const WormHop& hop);
  void mark(ChannelAt channel, Cycle at);

  // host_queue.cpp
  void on_host_head(HopAt hop);
  void on_tail_in(HopAt hop);
  void on_engine(ChannelAt channel);
  [[nodiscard]] bool takes_local(Host& host) const;
  void offer(std::uint32_t node);

  const WormGraph& graph_;
  const WormOptions& options_;
  WormWatcher& watcher_;
  Cycle now_ = 0;
  EventWheel wheel_{0};  // by cycles
  std::uint64_t events_ = 0, waiting_ = 0;
  std::vector<Channel> channels_;
  /// By channel, once anyone chooses: who would take it, and found all of theirs in use.
  std::vector<std::vector<OutputRequest>> choosing_;
  std::vector<LinkState> cables_;
  std::vector<Host> hosts_;           // by host
  std::vector<std::uint32_t> forks_;  // by node: worms that fork there, in lock-step
  std::vector<std::vector<std::uint32_t>> cables_of_;  // by node
  std::vector<Worm> worms_;
  std::vector<WormHop> hops_;
  std::vector<WormAt> free_worms_;
  std::vector<HopAt> free_hops_;
};

}  // namespace smd::sim
