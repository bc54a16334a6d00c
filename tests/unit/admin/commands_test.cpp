#include "smd/admin/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smd {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Commands : public testing::Test {
 protected:
  Commands() {
    table_.add("echo", "its arguments", [](const Json& args) -> Result<Json> { return args; });
    table_.add("refuse", "nothing", [](const Json&) -> Result<Json> {
      return fail(Errc::Busy, "the subnet is not up yet");
    });
    table_.add("half", "half of n", [](const Json& args) -> Result<Json> {
      return Json{{"half", args.at("n").get<unsigned>() / 2}};
    });
    table_.add("name", "a name that is no UTF-8", [](const Json&) -> Result<Json> {
      return Json{{"name", "s\xffw"}};
    });
  }

  Json answer(std::string_view request) const { return Json::parse(table_.answer(request)); }

  std::string error(std::string_view request) const {
    const Json json = answer(request);
    EXPECT_EQ(json.at("ok"), false) << request;
    EXPECT_EQ(json.size(), 2u) << "an error answer holds ok and error, no result";
    return json.value("error", "");
  }

  CommandTable table_;
};

TEST_F(Commands, AnswerHoldsTheResult) {
  EXPECT_EQ(answer(R"({"command":"echo","args":{"a":[1,2]}})"),
            Json::parse(R"({"ok":true,"result":{"a":[1,2]}})"));
}

TEST_F(Commands, ArgumentsMayBeLeftOut) {
  EXPECT_EQ(answer(R"({"command":"echo"})").at("result"), Json::object());
}

TEST_F(Commands, RefusalIsTheErrorsContext) {
  EXPECT_EQ(error(R"({"command":"refuse"})"), "the subnet is not up yet");
}

TEST_F(Commands, UnknownCommandListsTheKnown) {
  EXPECT_EQ(error(R"({"command":"frob"})"),
            "unknown command 'frob'; one of echo, half, help, name, refuse");
}

TEST_F(Commands, GarbageIsAnswered) {
  EXPECT_EQ(error(""), "the request is not JSON");
  EXPECT_EQ(error("status"), "the request is not JSON");
  EXPECT_EQ(error("{\"command\":\"echo\""), "the request is not JSON");
  EXPECT_EQ(error("\xff\xfe"), "the request is not JSON");
  EXPECT_EQ(error(std::string("{\"command\":\"ec\0ho\"}", 19)), "the request is not JSON");
  EXPECT_EQ(error("[\"echo\"]"), "the request is not a JSON object");
  EXPECT_EQ(error("{}"), "'command' is missing, or not a text");
  EXPECT_EQ(error(R"({"command":7})"), "'command' is missing, or not a text");
  EXPECT_EQ(error(R"({"command":"echo","args":[1]})"), "'args' is not a JSON object");
  EXPECT_EQ(error("[[}"), "the request is not JSON");
}

TEST_F(Commands, DeepNestingIsRefusedBeforeItIsParsed) {
  const auto nested = [](int depth) {
    return R"({"command":"echo","args":{"]\"[":)" +
           std::string(static_cast<std::size_t>(depth - 2), '[') +
           std::string(static_cast<std::size_t>(depth - 2), ']') + "}}";
  };
  EXPECT_EQ(answer(nested(32)).at("ok"), true);
  EXPECT_EQ(error(nested(33)), "the request nests deeper than 32");
  EXPECT_EQ(error(nested(30000)), "the request nests deeper than 32");
}

TEST_F(Commands, ArgumentsOfTheWrongKindAreAnError) {
  EXPECT_THAT(error(R"({"command":"half","args":{"n":"many"}})"), HasSubstr("of the wrong kind"));
  EXPECT_THAT(error(R"({"command":"half"})"), HasSubstr("of the wrong kind"));
}

TEST_F(Commands, AnswerIsOneLineOfUtf8) {
  const std::string line = table_.answer(R"({"command":"name"})");
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_EQ(Json::parse(line).at("result").at("name"), "s\uFFFDw");
  EXPECT_THAT(table_.answer(R"({"command":"echo","args":{"a":"x\ny"}})"), Not(HasSubstr("\n")));
}

TEST_F(Commands, LongNamesAreCutInTheError) {
  EXPECT_LT(error(R"({"command":")" + std::string(5000, 'x') + "\"}").size(), 200u);
}

TEST_F(Commands, HelpListsEveryCommand) {
  const Json commands = answer(R"({"command":"help"})").at("result").at("commands");
  ASSERT_EQ(commands.size(), 5u);
  EXPECT_EQ(commands[0], (Json{{"command", "echo"}, {"help", "its arguments"}}));
}

TEST_F(Commands, TwoOfOneNameIsABug) {
  EXPECT_DEATH(table_.add("echo", "", [](const Json&) -> Result<Json> { return Json(); }),
               "two commands of one name");
}

}  // namespace
}  // namespace smd
