// RPM (Renato, Turner, Janakiraman 2002): a full input buffer makes every output that its packets
// want a congested one; as many packets as then stand in the switch for such an output are marked
// when they leave. Those that leave need not be those that stood there: that is the rule's own.
#include <algorithm>

#include "sim-backend/congestion/marking.h"

namespace smd::sim {
namespace {

class FullInputMarking final : public Marking {
 public:
  void on_input(const MarkPoint& at, const SwitchQueues& queues, Marks&) override {
    if (at.used < at.capacity) return;
    wanted_.assign(1, at.out);
    queues.list_wanted(at.port_vl, wanted_);
    std::ranges::sort(wanted_);
    const auto rest = std::ranges::unique(wanted_);
    wanted_.erase(rest.begin(), rest.end());
    if (to_mark_.size() <= wanted_.back()) to_mark_.resize(wanted_.back() + 1, 0);
    for (const std::uint32_t out : wanted_) {
      to_mark_[out] = queues.count_bound(out) + (out == at.out ? 1 : 0);
    }
  }

  void on_departure(const MarkPoint& at, Marks& marks) override {
    if (at.out >= to_mark_.size() || to_mark_[at.out] == 0) return;
    --to_mark_[at.out];
    marks |= kFirstMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks <= kFirstMark; }

 private:
  std::vector<unsigned> to_mark_;  // by output VL: of those that leave next
  std::vector<std::uint32_t> wanted_;
};

}  // namespace

std::unique_ptr<Marking> mark_by_full_input() { return std::make_unique<FullInputMarking>(); }

}  // namespace smd::sim
