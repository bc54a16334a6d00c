// Markings in a net: when they are asked, what they are told, what becomes of marks.
#include "sim-backend/congestion/marking.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace marking_run_test {

//  H1, H2, H3 behind S1 and H4 at S2 send 100 packets each to H5. Buffers hold four of them.
constexpr unsigned kPackets = 400;
constexpr unsigned kPassings = 300 * 2 + 100;  // of switches

struct Flood {
  explicit Flood(Marking& rule) : rig(draw("S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2"), options()) {
    std::vector<Script::Line> lines;
    for (HostNum host = 0; host < 4; ++host) {
      for (int i = 0; i < 100; ++i) lines.push_back({0, host, rig.to(4, 256)});
    }
    Script script(std::move(lines));
    rig.net->set_congestion_control({.marking = &rule});
    rig.net->set_workload(&script);
    rig.net->set_observer(&script);
    rig.net->start();
    rig.net->run_until(kSecond);
    EXPECT_EQ(script.arrivals.size(), kPackets);
    for (const Delivery& arrival : script.arrivals) ++by_marks[arrival.marks];
  }

  static PacketOptions options() {
    PacketOptions out = PacketOptions::multistage();
    out.switches.input_buffer_bytes = out.switches.output_buffer_bytes = 4 * 256;
    return out;
  }

  PacketRig rig;
  std::map<Marks, unsigned> by_marks;
};

/// Marks what finds room for no other one behind it, and writes down what it is told.
class MarksTheFourth final : public Marking {
 public:
  void on_input(const MarkPoint& at, const SwitchQueues&, Marks& marks) override {
    inputs.insert(at.used);
    ++passings;
    capacity = at.capacity;
    blocks = at.blocks;
    if (at.used < at.capacity) return;
    marked += (marks & kFirstMark) == 0;
    marks |= kFirstMark;
  }

  void on_output(const MarkPoint& at, Marks&) override { outputs.insert(at.used); }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks <= kFirstMark; }

  std::set<unsigned> inputs, outputs;
  unsigned passings = 0, marked = 0, capacity = 0, blocks = 0;
};

TEST(MarkingRun, WhatArrivesIsCounted) {
  MarksTheFourth rule;
  const Flood flood(rule);
  EXPECT_EQ(rule.capacity, 4 * rule.blocks);
  EXPECT_EQ(*rule.inputs.begin(), rule.blocks) << "an empty buffer holds what arrives";
  EXPECT_EQ(*rule.inputs.rbegin(), rule.capacity) << "and the fourth fills it";
  EXPECT_EQ(*rule.outputs.begin(), rule.blocks);
  EXPECT_EQ(*rule.outputs.rbegin(), rule.capacity);
}

// Every packet is looked at once per input buffer, and what was marked there arrives marked: no
// other one does, though each waited in buffers that were full after it had come.
TEST(MarkingRun, WhatIsStoredIsNotMarkedAgain) {
  MarksTheFourth rule;
  Flood flood(rule);
  EXPECT_EQ(rule.passings, kPassings);
  EXPECT_GT(rule.marked, 0u);
  EXPECT_LT(rule.marked, kPackets);
  EXPECT_EQ(flood.by_marks[kFirstMark], rule.marked);
  EXPECT_EQ(flood.by_marks[0], kPackets - rule.marked);
}

/// MVPM that does not look whether the input has marked.
class Forgetful final : public Marking {
 public:
  void on_input(const MarkPoint& at, const SwitchQueues& queues, Marks& marks) override {
    right_->on_input(at, queues, marks);
  }

  void on_output(const MarkPoint& at, Marks& marks) override {
    if (is_above(at.used, at.capacity, MarkThresholds{}.output)) marks |= kSecondMark;
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return right_->may_occur(marks); }

 private:
  std::unique_ptr<Marking> right_ = mark_and_validate({});
};

TEST(MarkingRun, OnlyAForgetfulRuleValidatesWhatIsNotMarked) {
  const auto right = mark_and_validate({});
  Flood good(*right);
  EXPECT_EQ(good.rig.net->audit(), "");
  EXPECT_EQ(good.rig.net->stats().impossible_marks, 0u);
  EXPECT_EQ(good.by_marks[kSecondMark], 0u);
  EXPECT_GT(good.by_marks[kFirstMark | kSecondMark], 0u);

  Forgetful wrong;
  Flood bad(wrong);
  EXPECT_GT(bad.by_marks[kSecondMark], 0u);
  EXPECT_EQ(bad.rig.net->stats().impossible_marks, bad.by_marks[kSecondMark]);
  EXPECT_NE(bad.rig.net->audit(), "");
}

}  // namespace marking_run_test
}  // namespace smd::sim::test
