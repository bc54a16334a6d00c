// Answers of the daemon as smctl prints them.
#include "smd/admin/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smd {
namespace {

std::string text_of(const char* json) { return print_answer_text(nlohmann::json::parse(json)); }

TEST(AnswerText, ObjectsAreAlignedWithTheStateFirst) {
  EXPECT_EQ(text_of(R"({"alarms":[],"engine":"updn","nodes":7,"state":"master","uptime_s":12.5,
                        "last_sweep":{"ok":true,"smps":97},"zeal":null})"),
            "state       master\n"
            "engine      updn\n"
            "nodes       7\n"
            "last_sweep  ok=yes smps=97\n"
            "alarms      none\n"
            "uptime_s    12.5\n"
            "zeal        -\n");
}

TEST(AnswerText, ListsOfObjectsAreTables) {
  EXPECT_EQ(text_of(R"({"nodes":[
              {"description":"sw-0-3","guid":"0x0000000000000001","lid":7,"type":"switch"},
              {"description":"h","guid":"0x0000000000000002","lid":49151,"type":"ca"}]})"),
            "guid                type    description    lid\n"
            "0x0000000000000001  switch  sw-0-3           7\n"
            "0x0000000000000002  ca      h            49151\n");
}

TEST(AnswerText, RowsMayLackKeysAndTotalsStandForTheirParts) {
  EXPECT_EQ(text_of(R"({"changes":[
              {"what":"sw-1:5","smps":{"discovery":3,"total":12}},
              {"what":"sw-2"}]})"),
            "what    smps\n"
            "sw-1:5    12\n"
            "sw-2       -\n");
}

TEST(AnswerText, SeveralTablesHaveTitlesBelowThePlainKeys) {
  EXPECT_EQ(text_of(R"({"links":[{"from":"a","to":"b"}],"switches":[{"guid":"1"}],"lid":3})"),
            "lid  3\n"
            "\nswitches (1):\nguid\n1\n"
            "\nlinks (1):\nfrom  to\na     b\n");
}

TEST(AnswerText, TextOfManyLinesIsABlock) {
  EXPECT_EQ(text_of(R"({"port":1,"info":"State: Active\nMTU: 4096"})"),
            "port  1\n\ninfo:\nState: Active\nMTU: 4096\n");
}

TEST(AnswerText, AnyJsonHasAText) {
  EXPECT_EQ(text_of("{}"), "none\n");
  EXPECT_EQ(text_of("[]"), "none\n");
  EXPECT_EQ(text_of("null"), "-\n");
  EXPECT_EQ(text_of("[1,\"a\",false]"), "1, a, no\n");
  EXPECT_EQ(text_of("-7"), "-7\n");
  EXPECT_EQ(text_of("[{}]"), "\n\n");
  EXPECT_EQ(text_of(R"({"a":[[[[[[1]]]]]]})"), "a  [[1]]\n");
}

TEST(AnswerText, ForeignTextCannotSteerTheTerminal) {
  EXPECT_EQ(text_of(R"({"a":"\u001b[2J\u009bx\u007f","b":"1\n\u001b]0;x"})"),
            "a  ?[2J?x?\n\nb:\n1\n?]0;x\n");
}

TEST(AnswerText, AlignsCharactersNotBytes) {
  EXPECT_EQ(text_of(R"([{"from":"é","to":"x"},{"from":"ab","to":"y"}])"),
            "from  to\n"
            "é     x\n"
            "ab    y\n");
}

using Json = nlohmann::json;

TEST(CommandAnswer, OneLinePerChange) {
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

TEST(CommandAnswer, AChangeThatDidNotComeUpSaysSo) {
  const Json answer = Json::parse(
      R"({"changes": [{"what": "sweep", "kind": "up", "ok": false, "transition": {"kind": "nothing"}}]})");
  EXPECT_EQ(print_command_answer("changes", answer),
            "0 s ago  sweep (up)  0 SMPs  0.000 ms  nothing; NOT UP\n");
}

TEST(CommandAnswer, NoChangesAreSaid) {
  EXPECT_EQ(print_command_answer("changes", Json::parse(R"({"changes": []})")), "no changes\n");
}

TEST(CommandAnswer, ARouteHopByHop) {
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

TEST(CommandAnswer, CongestionControlIsCountsThenThePlanThenTables) {
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

TEST(CommandAnswer, OneLinePerAlarm) {
  const Json answer =
      Json::parse(R"({"state": "master", "alarms": ["port 3 is silent", "two nodes\nhave 0x1"]})");
  EXPECT_EQ(print_command_answer("status", answer),
            "state  master\n\nalarms (2):\nport 3 is silent\ntwo nodes have 0x1\n");
  EXPECT_EQ(print_command_answer("status", Json::parse(R"({"state": "master", "alarms": []})")),
            "state   master\nalarms  none\n");
}

TEST(CommandAnswer, ForeignTextCannotSteerTheTerminal) {
  const Json answer = {{"changes", {{{"what", "trap \x1b[2J\nfrom"}, {"kind", "down"}}}}};
  const std::string text = print_command_answer("changes", answer);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(CommandAnswer, OtherShapesAreShownAsTheyAre) {
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
}  // namespace smd
