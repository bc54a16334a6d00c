// Small networks on which each thing that can go wrong with a transition does.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/plan/table_text.h"

namespace smd::test {

//   S1 --- S2      H3 on S3. Before, S1 goes through S2; afterwards S2 goes through S1. Where S2
//     \   /        changes first, the two send packets to each other.
//      S3
inline HandMade loop_of_two() {
  return {"S1-S2 S2-S3 S3-S1 S3-H3", "S1>H3=S2 S2>H3=S3 S3>H3=H3", "S1>H3=S3 S2>H3=S1"};
}

//   S1 --- S2      A host on each. Packets to H1 and H2 go round clockwise as far as S1 and S2;
//    |  \   | \    those to H3 go S1, S2, S4 before. When S2 turns to S3, packets that S1 had sent
//    |   \  |  S4  to it close the circle, and a new entry in S1 does not call them back.
//     `--- S3 /
inline HandMade circle_of_late_packets() {
  return {"S1-S2 S2-S3 S3-S1 S2-S4 S4-S3 S1-H1 S2-H2 S3-H3",
          "S2>H1=S3 S3>H1=S1 S1>H1=H1 S3>H2=S1 S1>H2=S2 S2>H2=H2 "
          "S1>H3=S2 S2>H3=S4 S4>H3=S3 S3>H3=H3",
          "S1>H3=S3 S2>H3=S3"};
}

//   S1 - S2    H1 and H6 on S1, H3 and H5 on S3, H2 on S2, H4 on S4. Packets between S2 and S4 go
//   |    |     through S1 before, through S3 afterwards; all else stays, and goes round the other
//   S4 - S3    corners both ways. Both tables are free of deadlock, but whichever of S2 and S4
//              changes first, one way round the circle is closed.
inline HandMade moved_cut_node() {
  HandMade made{"S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4 S3-H5 S1-H6",
                "S1>H1=H1 S2>H2=H2 S3>H3=H3 S4>H4=H4 S3>H5=H5 S1>H6=H6 "
                "S2>H1=S1 S3>H1=S2 S4>H1=S1  S2>H6=S1 S3>H6=S4 S4>H6=S1 "
                "S1>H3=S2 S2>H3=S3 S4>H3=S3  S1>H5=S4 S2>H5=S3 S4>H5=S3 "
                "S1>H2=S2 S3>H2=S2 S4>H2=S1  S1>H4=S4 S2>H4=S1 S3>H4=S4",
                "S4>H2=S3 S2>H4=S3"};
  made.orientation.rank = {2, 1, 0, 1};
  return made;
}

//   S1 - S2    H3 on S3, H1 on S1. S1 goes through S4 before and through S2 afterwards, which has
//   |    |     no entry for H3 before.
//   S4 - S3
inline HandMade first_entry() {
  return {"S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S3-H3",
          "S1>H3=S4 S4>H3=S3 S3>H3=H3 S1>H1=H1",
          "S1>H3=S2 S2>H3=S3"};
}

// The same where S2 has an entry for H3, which leads over a cable that is gone.
inline HandMade dead_entry() {
  HandMade made{"S1:1-S2:1 S2:4-S3:1 S3:2-S4:1 S4:2-S1:2 S1:3-H1 S3:3-H3",
                "S1>H3=S4 S4>H3=S3 S3>H3=H3 S1>H1=H1",
                "S1>H3=S2 S2>H3=S3"};
  const SwitchIdx at = switch_named(*made.fabric, "S2");
  const PortIdx dead = made.fabric->port_of(made.fabric->switch_node[at], PortNum{3});
  EXPECT_EQ(made.fabric->peer[dead], kNone<PortIdx>);
  made.held.set_route(at, Lid{3}, PortNum{3});
  return made;
}

//   S2 - S4    H1 on S5, H2 on S1, H3 on S2. S4 goes straight to H1 before and through S2
//   afterwards, | \    \   which has no entry for H1 before, and may not go through S3 before it
//   has turned its
//  S1-S3 - S5  packets to H2 away from there.
inline HandMade first_entry_that_waits() {
  return {"S1-S2 S2-S3 S3-S1 S4-S2 S4-S5 S3-S5 S5-H1 S1-H2 S2-H3",
          "S1>H1=S2 S3>H1=S5 S4>H1=S5 S5>H1=H1 "
          "S2>H2=S3 S3>H2=S1 S1>H2=H2 "
          "S3>H3=S1 S1>H3=S2 S2>H3=H3",
          "S2>H1=S3 S4>H1=S2 S2>H2=S1"};
}

// The same when all is done, but nobody knows what S1 holds.
inline HandMade unknown_block() {
  HandMade made = moved_cut_node();
  made.held = made.wanted;
  made.unknown = {{switch_named(*made.fabric, "S1"), 0}};
  return made;
}

//   S1 ~ S2    The cable between S1 and S2 has just come up; H1 was reached through S3.
//    \   /
//     S3
inline HandMade new_cable() {
  return {"S1~S2 S2-S3 S3-S1 S1-H1 S2-H2 S3-H3",
          "S1>H1=H1 S2>H1=S3 S3>H1=S1 S2>H2=H2 S1>H2=S3 S3>H2=S2 S1>H3=S3 S2>H3=S3 S3>H3=H3",
          "S2>H1=S1 S1>H2=S2"};
}

}  // namespace smd::test
