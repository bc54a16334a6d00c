// The hop pointer rules of IBA 14.2.2, one row each.
#include "sim-backend/agents/smi.h"

#include <gtest/gtest.h>

#include "smd/mad/smp.h"

namespace smd::sim::test {
namespace smi_test {

using Kind = SmiVerdict::Kind;

struct Case {
  const char* name;
  bool is_switch;
  SmiSource source;
  bool returning;
  unsigned pointer;
  unsigned count;
  Kind kind;
  unsigned port = 0;           // Exit
  unsigned pointer_after = 0;  // unless dropped
  Lid dr_slid = kPermissiveLid;
  Lid dr_dlid = kPermissiveLid;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SmiRules : public ::testing::TestWithParam<Case> {};

// Initial path 0,2,3,4; return path 0,5,6,7; in by port 2 (an adapter has only ports 1 and 2).
TEST_P(SmiRules, Hold) {
  const Case& c = GetParam();
  Smp smp;
  smp.directed = true;
  smp.returning = c.returning;
  smp.hop_pointer = static_cast<std::uint8_t>(c.pointer);
  smp.dr_slid = c.dr_slid;
  smp.dr_dlid = c.dr_dlid;
  for (unsigned i = 1; i <= 3; ++i) {
    smp.initial_path[i] = static_cast<std::uint8_t>(i + 1);
    smp.return_path[i] = static_cast<std::uint8_t>(c.is_switch ? i + 4 : 2);
  }
  MadBytes mad;
  encode_smp(smp, mad);
  mad[7] = static_cast<std::byte>(c.count);
  const SmiNode node{c.is_switch, c.is_switch ? std::uint8_t{8} : std::uint8_t{2}};
  const SmiVerdict verdict = pass_smi(node, c.source, PortNum{2}, mad);
  EXPECT_EQ(verdict.kind, c.kind);
  if (c.kind == Kind::Drop) return;
  EXPECT_EQ(verdict.port.value(), c.port);
  EXPECT_EQ(std::to_integer<unsigned>(mad[6]), c.pointer_after);
  if (!c.returning && c.source == SmiSource::Directed) {
    EXPECT_EQ(std::to_integer<unsigned>(mad[192 + c.pointer]), 2u) << "return path";
  }
}

constexpr bool kSwitch = true;
constexpr bool kAdapter = false;
constexpr bool kOut = false;
constexpr bool kBack = true;
constexpr SmiSource kLocal = SmiSource::Local;
constexpr SmiSource kWire = SmiSource::Directed;
constexpr SmiSource kByLid = SmiSource::LidRouted;

INSTANTIATE_TEST_SUITE_P(
    Outbound,
    SmiRules,
    ::testing::Values(
        Case{"SenderStarts", kSwitch, kLocal, kOut, 0, 3, Kind::Exit, 2, 1},
        Case{"AdapterStartsOnItsPort", kAdapter, kLocal, kOut, 0, 3, Kind::Exit, 2, 1},
        Case{"NoHopsMeansMyself", kAdapter, kLocal, kOut, 0, 0, Kind::Agent, 0, 1},
        Case{"SwitchForwards", kSwitch, kWire, kOut, 1, 3, Kind::Exit, 3, 2},
        Case{"AdapterDoesNot", kAdapter, kWire, kOut, 1, 3, Kind::Drop},
        Case{"EndsHere", kAdapter, kWire, kOut, 3, 3, Kind::Agent, 0, 4},
        Case{"DirectedPartStartsHere", kSwitch, kByLid, kOut, 0, 2, Kind::Exit, 2, 1},
        Case{"OnlyOnSwitches", kAdapter, kByLid, kOut, 0, 2, Kind::Drop},
        Case{"PointerZeroFromAWire", kSwitch, kWire, kOut, 0, 3, Kind::Drop},
        Case{"PointerPastTheEnd", kSwitch, kWire, kOut, 4, 3, Kind::Drop},
        Case{"PointerFarOff", kSwitch, kWire, kOut, 200, 3, Kind::Drop},
        Case{"SenderLiesAboutPointer", kSwitch, kLocal, kOut, 3, 3, Kind::Drop},
        Case{"SenderInTheMiddle", kSwitch, kLocal, kOut, 2, 3, Kind::Drop},
        Case{"TooManyHops", kSwitch, kLocal, kOut, 0, 64, Kind::Drop},
        Case{"FinalLidPart", kSwitch, kWire, kOut, 3, 3, Kind::ByLid, 0, 4, kPermissiveLid, Lid{9}},
        Case{"FinalLidPartEnds", kAdapter, kByLid, kOut, 4, 3, Kind::Agent, 0, 4}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Returning,
    SmiRules,
    ::testing::Values(
        Case{"ResponderStarts", kSwitch, kLocal, kBack, 4, 3, Kind::Exit, 7, 3},
        Case{"AdapterResponds", kAdapter, kLocal, kBack, 4, 3, Kind::Exit, 2, 3},
        Case{"SwitchForwards", kSwitch, kWire, kBack, 3, 3, Kind::Exit, 6, 2},
        Case{"AdapterDoesNot", kAdapter, kWire, kBack, 3, 3, Kind::Drop},
        Case{"BackAtTheSender", kAdapter, kWire, kBack, 1, 3, Kind::Agent, 0, 0},
        Case{"LastPartByLid", kSwitch, kWire, kBack, 1, 3, Kind::ByLid, 0, 0, Lid{5}},
        Case{"BackByLid", kAdapter, kByLid, kBack, 0, 3, Kind::Agent, 0, 0, Lid{5}},
        Case{"OfNoHops", kAdapter, kLocal, kBack, 1, 0, Kind::Agent, 0, 0},
        Case{"OfNoHopsByLid", kAdapter, kLocal, kBack, 1, 0, Kind::ByLid, 0, 0, Lid{5}},
        Case{"FromTheFinalLidPart",
             kAdapter,
             kLocal,
             kBack,
             4,
             3,
             Kind::ToOrigin,
             0,
             4,
             kPermissiveLid,
             Lid{9}},
        Case{"IntoTheDirectedPart",
             kSwitch,
             kByLid,
             kBack,
             4,
             3,
             Kind::Exit,
             7,
             3,
             kPermissiveLid,
             Lid{9}},
        Case{"PointerPastTheEnd", kSwitch, kWire, kBack, 4, 3, Kind::Drop},
        Case{"PointerZeroFromAWire", kSwitch, kWire, kBack, 0, 3, Kind::Drop}),
    [](const auto& test) { return test.param.name; });

TEST(Smi, RefusesPortsThatDoNotExist) {
  for (const unsigned hop : {0u, 9u, 255u}) {
    Smp smp;
    smp.directed = true;
    smp.hop_count = 1;
    smp.initial_path[1] = static_cast<std::uint8_t>(hop);
    MadBytes mad;
    encode_smp(smp, mad);
    EXPECT_EQ(pass_smi({true, 8}, kLocal, PortNum{0}, mad).kind, Kind::Drop) << hop;
  }
}

}  // namespace smi_test
}  // namespace smd::sim::test
