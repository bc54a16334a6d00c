// The ways of a packet through a shape, minimal or by an intermediate place (Valiant and Brebner,
// 1981), and the VLs that keep them free of deadlocks. Every rule chooses among these; the relation
// that is proved lists all of them.
//
// VLs of a butterfly: 0, and 1 behind the intermediate router. Of a dragonfly by groups: the global
// cables passed so far (Dally's hop classes: local 0, global 0, local 1, global 1, local 2). Of one
// by routers there are two local hops in the intermediate group, so local cables go 0 | 1, 2 | 3
// and global ones 0 | 1. Where a butterfly's dimensions have no order, the hops passed.
#pragma once

#include <array>
#include <cstdint>

#include "sim-backend/adaptive/shape.h"

namespace smd::sim {

/// What an intermediate place of a dragonfly is; a butterfly's is a router.
enum class IntermediateKind : std::uint8_t { ByRouter, ByGroup };

/// Whom intermediate places are drawn from.
enum class IntermediateSet : std::uint8_t {
  All,
  NotOwn,  // all but the source's own
  Others   // all but the source's and the destination's
};

enum class PathPhase : std::uint8_t {
  Minimal,
  Toward,  // the intermediate place
  Past     // it, on the minimal way
};

/// What a packet keeps of its way.
struct PathState {
  /// A router or a group, where the phase is not Minimal; by any dimension, those that it went
  /// astray in, by bit.
  std::uint32_t via = 0;
  PathPhase phase = PathPhase::Minimal;
  std::uint8_t globals = 0;  // global cables passed; by any dimension, cables
  bool diverted = false;     // after a first minimal hop within its group (PAR)

  [[nodiscard]] std::uint8_t pack() const {
    return static_cast<std::uint8_t>(static_cast<unsigned>(phase) | unsigned{diverted} << 2 |
                                     unsigned{globals} << 3);
  }

  [[nodiscard]] static PathState unpack(std::uint32_t via, std::uint8_t phase) {
    return {.via = via,
            .phase = static_cast<PathPhase>(phase & 3),
            .globals = static_cast<std::uint8_t>(phase >> 3),
            .diverted = (phase >> 2 & 1) != 0};
  }

  friend bool operator==(const PathState&, const PathState&) = default;
};

/// One cable that a packet may take next.
struct Candidate {
  Router next;
  std::uint16_t gate;  // which gateway it goes by, or dimension; 0 where there is but one way
  std::uint8_t port;
  std::uint8_t vl;
  bool is_global;
  bool own;     // that gateway is this router's
  bool astray;  // of ways by any dimension: to another coordinate than the destination's
  std::uint8_t dimension;
};

/// At most one for each port; made for every packet and switch, so it takes no memory.
class CandidateList {
 public:
  void clear() { count_ = 0; }

  void push_back(const Candidate& candidate) { items_[count_++] = candidate; }

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] bool empty() const { return count_ == 0; }

  [[nodiscard]] const Candidate* begin() const { return items_.data(); }

  [[nodiscard]] const Candidate* end() const { return items_.data() + count_; }

  [[nodiscard]] const Candidate& front() const { return items_[0]; }

  [[nodiscard]] const Candidate& back() const { return items_[count_ - 1]; }

 private:
  std::array<Candidate, 256> items_;  // what lies beyond the count was never written
  std::size_t count_ = 0;
};

struct CandidateSet {
  CandidateList all;
  PathState state;  // as it is from here on, but for a global cable that is taken
};

struct PathOptions {
  IntermediateKind via = IntermediateKind::ByGroup;  // of a dragonfly
  bool any_dimension = false;                        // of a butterfly: any that differs
  bool goes_astray = false;                          // by any dimension: once in each (DAL)
  bool diverts = false;  // minimal packets may turn off once more in their group: local 0, 1 first
  bool single_vl = false;  // everything on VL 0: what a proof must refuse
};

class CandidatePaths {
 public:
  CandidatePaths(const Shape& shape, PathOptions options) : shape_(&shape), options_(options) {}

  [[nodiscard]] const Shape& shape() const { return *shape_; }

  [[nodiscard]] const PathOptions& options() const { return options_; }

  /// Intermediate places are numbered below this.
  [[nodiscard]] std::uint32_t places() const;

  [[nodiscard]] std::uint32_t place_of(Router router) const;

  /// Whether `via` may be drawn.
  [[nodiscard]] bool allows(IntermediateSet among,
                            Router source,
                            Router to,
                            std::uint32_t via) const;

  /// One of them, each as likely; kNowhere where there is none.
  [[nodiscard]] std::uint32_t draw_via(IntermediateSet among,
                                       Router source,
                                       Router to,
                                       std::uint64_t draw) const;

  /// Lists the next cables of a packet for `to` that is at `at` and came from router `from`
  /// (kNowhere: from a host). Ensures: none exactly where it is delivered.
  void list(Router at, Router from, Router to, const PathState& state, CandidateSet& out) const;

  /// Routers passed from here to the end, less one; by a dragonfly's own gateways where there are.
  [[nodiscard]] unsigned hops(Router at, Router to, const PathState& state) const;

  /// What the packet keeps once it has taken one of them.
  [[nodiscard]] static PathState after(const CandidateSet& from, const Candidate& taken) {
    PathState out = from.state;
    out.globals = static_cast<std::uint8_t>(out.globals + taken.is_global);
    if (taken.astray) out.via |= 1u << taken.dimension;
    return out;
  }

 private:
  [[nodiscard]] bool is_at_via(Router at, const PathState& state) const;
  void list_butterfly(Router at, Router target, CandidateSet& out) const;
  void list_any_dimension(Router at, Router to, CandidateSet& out) const;
  void list_dragonfly(Router at, Router from, Router to, bool turned, CandidateSet& out) const;
  void add_local(Router at, Router next, std::uint16_t gate, CandidateSet& out) const;
  [[nodiscard]] std::uint8_t local_vl(Router at, const PathState& state) const;
  [[nodiscard]] std::uint8_t global_vl(const PathState& state) const;

  const Shape* shape_;
  PathOptions options_;
};

}  // namespace smd::sim
