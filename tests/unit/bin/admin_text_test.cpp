// What smctl prints for people.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smd/bin/smctl_text.h"

namespace smd::bin {
namespace {

using Json = nlohmann::json;

TEST(SmctlText, OneLinePerChange) {
  const Json answer = Json::parse(R"({"changes": [
    {"what": "trap 128 from lid 5", "kind": "down", "seconds_ago": 3.2, "ok": true,
     "smps": {"total": 35, "discovery": 20}, "virtual_ms": {"total": 1.25},
     "transition": {"kind": "certified", "phases": 2, "certified": true}},
    {"what": "sweep", "kind": "up", "seconds_ago": 5400, "ok": true,
     "smps": {"total": 1200}, "virtual_ms": {"total": 12.5},
     "transition": {"kind": "cut-dependencies", "phases": 1, "certified": true}},
    {"what": "command", "kind": "up", "seconds_ago": 300000, "ok": false,
     "smps": {"total": 7}, "virtual_ms": {"total": 0.5}, "error": "the local port is gone",
     "transition": {"kind": "unordered", "phases": 1, "certified": false}}]})");
  EXPECT_EQ(print_command_answer("changes", answer),
            "  3 s ago  trap 128 from lid 5 (down)    35 SMPs   1.250 ms  certified, 2 phases\n"
            "1.5 h ago  sweep (up)                  1200 SMPs  12.500 ms  cut-dependencies, 1 "
            "phase, proved\n"
            "3.5 d ago  command (up)                   7 SMPs   0.500 ms  unordered, 1 phase; "
            "FAILED: the local port is gone\n");
}

TEST(SmctlText, AChangeThatDidNotComeUpSaysSo) {
  const Json answer = Json::parse(
      R"({"changes": [{"what": "sweep", "kind": "up", "ok": false, "transition": {"kind": "nothing"}}]})");
  EXPECT_EQ(print_command_answer("changes", answer),
            "0 s ago  sweep (up)  0 SMPs  0.000 ms  nothing; NOT UP\n");
}

TEST(SmctlText, NoChangesAreSaid) {
  EXPECT_EQ(print_command_answer("changes", Json::parse(R"({"changes": []})")), "no changes\n");
}

TEST(SmctlText, ARouteHopByHop) {
  const Json answer = Json::parse(R"({"from": "host-0", "from_lid": 3, "to": "host-1", "lid": 4,
    "hops": [{"from": "host-0", "from_port": 1, "from_lid": 3, "to": "sw-0", "to_port": 12,
              "to_lid": 1, "width": "4x", "speed": "EDR", "state": "Active"},
             {"from": "sw-0", "from_port": 2, "from_lid": 1, "to": "host-1", "to_port": 1,
              "to_lid": 4, "width": "4x", "speed": "EDR", "state": "Active"}]})");
  EXPECT_EQ(print_command_answer("route", answer),
            "host-0 (lid 3) to host-1 (lid 4): 2 hops\n"
            " host-0:1  lid 3  ->  sw-0:12   lid 1  4x  EDR  Active\n"
            " sw-0:2    lid 1  ->  host-1:1  lid 4  4x  EDR  Active\n");
}

TEST(SmctlText, CongestionControlIsCountsThenThePlanThenTables) {
  const Json answer = Json::parse(R"({"enabled": true, "plan": ["radix 4", "  threshold 11"],
    "others": [{"node": "host-1", "standing": "silent"}, {"node": "host-2", "standing": "silent"}],
    "hot": []})");
  const std::string text = print_command_answer("congestion", answer);
  EXPECT_EQ(text.find("enabled"), 0u) << text;
  EXPECT_NE(text.find("\nplan:\nradix 4\n  threshold 11\n"), std::string::npos) << text;
  EXPECT_NE(text.find("host-2"), std::string::npos) << text;
  EXPECT_EQ(text.find("hot"), std::string::npos) << "nothing is hot";
  EXPECT_EQ(print_command_answer("congestion", Json{{"enabled", false}}), "enabled  no\n");
}

TEST(SmctlText, OneLinePerAlarm) {
  const Json answer =
      Json::parse(R"({"state": "master", "alarms": ["port 3 is silent", "two nodes\nhave 0x1"]})");
  EXPECT_EQ(print_command_answer("status", answer),
            "state  master\n\nalarms (2):\nport 3 is silent\ntwo nodes have 0x1\n");
  EXPECT_EQ(print_command_answer("status", Json::parse(R"({"state": "master", "alarms": []})")),
            "state   master\nalarms  none\n");
}

TEST(SmctlText, ForeignTextCannotSteerTheTerminal) {
  const Json answer = {{"changes", {{{"what", "trap \x1b[2J\nfrom"}, {"kind", "down"}}}}};
  const std::string text = print_command_answer("changes", answer);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(SmctlText, OtherShapesAreShownAsTheyAre) {
  for (const char* text : {R"({"changes": 3})",
                           R"({"changes": [3]})",
                           R"([])",
                           R"("x")",
                           R"({"hops": {}})",
                           R"({"alarms": 7})"}) {
    for (const char* command : {"changes", "route", "status", "links"}) {
      EXPECT_FALSE(print_command_answer(command, Json::parse(text)).empty()) << text;
    }
  }
  EXPECT_EQ(print_command_answer("links", Json::parse(R"({"a": 1})")), "a  1\n");
}

}  // namespace
}  // namespace smd::bin
