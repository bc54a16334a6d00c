// A source that acts on marked acknowledgements: a window, a pace, or both.
//
//   clean                 the pace recovers; when it has nothing to take back, the window widens
//   moderate (one mark of two)  the window narrows
//   severe                the window narrows; where it cannot, the pace slows down
//
// Immediate recovery: a packet that finds none of its flow waiting at the source finds window and
// pace as at the start. Progressive: acknowledgements alone bring them back.
//
// A gap is counted from the beginning of the last packet with the pace as it is when one looks:
// what a clean acknowledgement takes back is gone at once.
//
// Source: Ferrer 2012, 6.2 (Tables 6.1 to 6.4) and Table 8.3.
#pragma once

#include <memory>

#include "sim-backend/congestion/flow_table.h"
#include "sim-backend/congestion/pace.h"
#include "sim-backend/congestion/window.h"

namespace smd::sim {

enum class Recovery : std::uint8_t { Immediate, Progressive };

enum class Scope : std::uint8_t { Pair, Host };  // what a window is of

struct WindowOptions {
  WindowRule window;
  std::unique_ptr<Pace> pace;  // null: none
  Recovery recovery = Recovery::Immediate;
  Scope scope = Scope::Pair;
  bool two_bits = false;  // one mark of two is moderate; else a mark is severe
};

class WindowReaction final : public Reaction {
 public:
  WindowReaction(HostNum hosts, WindowOptions options);

  Picos allowed_at(const Flow& flow, Picos now) override;
  void on_queued(const Flow& flow) override;
  void on_unqueued(const Flow& flow) override;
  void on_injected(const Flow& flow, Picos begin, Picos end) override;
  void on_feedback(const Flow& flow, const Feedback& feedback, Picos now) override;
  void on_lost(const Flow& flow) override;

  /// What a flow is held to, for those who look on.
  struct View {
    unsigned window = 0;
    unsigned outstanding = 0;
    double pace = 0;
  };

  [[nodiscard]] View view(const Flow& flow);

  /// Bytes that are kept for flows.
  [[nodiscard]] std::size_t memory() const { return flows_.memory(); }

  /// Most packets of any flow that were ever on their way at once.
  [[nodiscard]] unsigned most_outstanding() const { return most_outstanding_; }

 private:
  struct State {
    WindowState window;
    std::uint32_t outstanding = 0;
    std::uint32_t waiting = 0;
    double pace = 0;
    Picos begin = 0;
    Picos packet = 0;  // time that the last one took
  };

  [[nodiscard]] State& find(const Flow& flow) {
    return flows_.at(flow.source, options_.scope == Scope::Host ? 0 : flow.destination);
  }

  WindowOptions options_;
  FlowTable<State> flows_;
  unsigned most_outstanding_ = 0;
};

}  // namespace smd::sim
