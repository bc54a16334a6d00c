// A wormhole network with source routes, literally: every flit is a thing in a queue or on a cable,
// every cycle visits everything. What sim-backend/worm works out from streams is compared with it.
// Nothing of the simulator is in it.
//
// In a cycle, in this order: cables go down and come up; what was sent `cable` cycles ago comes in,
// flits and symbols; heads that are in front begin to be routed, hosts take up messages; a branch
// that may leave by several channels asks for the first one that is free; outputs are granted;
// flits leave; buffers say STOP or GO.
//
// What is on a cable that goes down is lost, and so is, until its end, what its lanes are connected
// to. A worm of which a part has come in ends there with one flit more, and goes on so. The lane is
// in use again when the cable is up and what it was connected to has ended.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace smd::sim::test {

struct FlitChannel {
  int from = 0, to = 0;  // nodes
  int cable = 0;         // lanes of one cable have its number
};

/// What a worm does at one node of its route.
struct FlitStep {
  int strip = 0;                              // flits of its head that end here
  bool waits = false;                         // it is routed by the flit after those
  std::vector<std::pair<int, int>> branches;  // channel and next step; none: its end
  /// By branch, where there are any: what it takes as well, the more liked before the others.
  std::vector<std::vector<std::pair<int, int>>> others;
};

struct FlitWorm {
  int host = 0;
  std::int64_t made = 0;
  int flits = 1;
  std::vector<FlitStep> steps;  // the first one is that of its source
};

struct FlitFault {
  std::int64_t at = 0;
  int cable = 0;
  bool up = false;
};

struct FlitRuleSet {
  int cable = 8, transfer = 1, routing = 23, detection = 44, dma = 32;
  int buffer = 80, stop = 56, go = 40;
  bool credits = false;    // else STOP and GO
  bool lock_step = false;  // forks; else each branch by itself
  bool atomic = false;     // a lane between switches is free when all credits were back a cycle ago
  int memory = 1 << 19;    // of a host, for worms in transit
  int local_after[3] = {4, 2, 1};
  int local_marks[2] = {50, 100};
};

struct FlitCase {
  std::vector<char> is_host;  // by node
  std::vector<FlitChannel> channels;
  std::vector<FlitWorm> worms;  // by time
  FlitRuleSet rules;
  std::vector<FlitFault> faults;  // by time; then worms have no flits of header
};

struct FlitEnd {
  int worm = 0, node = 0;
  std::int64_t head = 0, tail = 0;    // cycles in which they came in
  bool dropped = false, cut = false;  // cut: it is not whole

  friend auto operator<=>(const FlitEnd&, const FlitEnd&) = default;
};

struct FlitOutcome {
  std::vector<FlitEnd> ends;                      // sorted
  std::vector<std::int64_t> busy, blocked, most;  // by channel
  std::int64_t cycles = 0;                        // that were run
  std::vector<int> lost;   // worms of which a part was lost and nothing is left, sorted
  std::vector<int> stuck;  // worms that set out and will never be whole, sorted
};

class FlitMachine {
 public:
  explicit FlitMachine(const FlitCase& what);

  /// Until nothing can move any more, then on to `cycles` at least.
  FlitOutcome run(std::int64_t cycles);

 private:
  struct Flit {
    int worm, step;  // step: of the node that it comes to
    bool head, tail;
  };

  struct Stay;

  struct Output {  // a branch that a worm has at a node
    int channel, next;
    std::vector<std::pair<int, int>> choices;  // with any, it asks for one anew in every cycle
    bool asks = false, chooses = false, granted = false, done = false;
    bool lost = false;      // what leaves by it comes in nowhere
    std::int64_t left = 0;  // flits that have left by it
    Stay* down = nullptr;   // at the far end, from its first flit on
  };

  struct Stay {  // a worm at a node
    int worm, step, in;
    std::int64_t came = 0, gone = 0, total = 0;  // flits: come in, gone from the buffer, in all
    std::int64_t head_in = -1, act_at = -1, room = 0;
    bool begun = false, dropped = false, over = false, cut = false;
    std::vector<Output> outputs;
  };

  struct Channel {
    FlitChannel place;
    std::deque<std::pair<std::int64_t, Flit>> wire;    // comes in at
    std::deque<std::pair<std::int64_t, int>> symbols;  // 1 STOP, 0 GO, 2 a credit
    std::deque<Stay*> stays;                           // at its far end, in order
    std::int64_t fill = 0, credits = 0, busy = 0, blocked = 0, most = 0;
    bool was_empty = true;  // before what comes in: as far as the sender knows
    bool said_stop = false, stopped = false, dead = false, down = false;  // dead: not in use yet
    Stay* owner = nullptr;
    Output* branch = nullptr;
    int last_granted = -1;
  };

  struct Host {
    std::vector<int> engines;
    std::deque<int> local;
    std::deque<Stay*> transit;
    int since_local = 0;
    std::int64_t memory = 0;
    std::vector<Stay*> programming;  // by engine
  };

  void change_cables();
  void cut(Channel& channel);
  void shorten(Stay& stay, std::int64_t total);
  void take_in();
  void begin();
  void begin_at_switch(Channel& channel);
  void begin_at_host(int node);
  void connect(Stay& stay, Output& output);
  void choose(Stay& stay);
  void grant();
  void move(int node);
  void send(Stay& stay, Output& output);
  void mark();
  void end(Stay& stay);
  Stay* add(int worm, int step, int in, std::int64_t total);
  [[nodiscard]] std::int64_t back_at(const Channel& channel) const;
  [[nodiscard]] bool permitted(const Channel& channel) const;
  [[nodiscard]] bool is_free(const Channel& channel) const;
  [[nodiscard]] bool ready(const Stay& stay, const Output& output) const;

  [[nodiscard]] bool is_host(int node) const { return case_.is_host[std::size_t(node)] != 0; }

  FlitCase case_;
  std::int64_t now_ = 0, changed_ = 0;
  std::size_t next_worm_ = 0, next_fault_ = 0;
  std::vector<Channel> channels_;
  std::vector<Host> hosts_;                       // by node
  std::deque<Stay> all_;                          // every stay that ever was
  std::vector<std::vector<int>> cables_of_;       // by node
  std::vector<std::vector<int>> lanes_, ins_of_;  // by cable; by node
  std::vector<int> last_lane_;                    // by cable
  FlitOutcome out_;
};

}  // namespace smd::sim::test
