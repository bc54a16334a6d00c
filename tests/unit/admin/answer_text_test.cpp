#include "smd/admin/answer_text.h"

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

}  // namespace
}  // namespace smd
