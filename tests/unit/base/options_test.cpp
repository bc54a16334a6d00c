// Tables of options, the TOML that they are read from, and what a mistyped name was meant to be.
#include "smd/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "smd/base/text.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(Nearest, ASwapOfNeighboursIsOneMistake) {
  EXPECT_EQ(edit_distance("lcm", "lmc"), 1u);
  EXPECT_EQ(edit_distance("tors", "torus"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance(std::string(100000, 'a'), "a"), 79u) << "the rest is not looked at";
}

TEST(Nearest, TheFirstOfEqualsIsTaken) {
  EXPECT_EQ(find_nearest("halos", std::array<std::string_view, 3>{"ring", "halo", "hallos"}),
            "halo");
  EXPECT_EQ(find_nearest("halo", {}), "");
}

TEST(Toml, ValuesKnowTheirLinesAndTablesHaveTheirKeysByName) {
  const auto document = parse_toml("b = 0x1f\n[a]\nlist = [1, 2.5,\n 'x']\n", "f", "smd");
  ASSERT_TRUE(document);
  ASSERT_EQ(document->size(), 2u);
  EXPECT_EQ((*document)[0].key, "a");
  EXPECT_EQ((*document)[1].line, 1);
  EXPECT_EQ(print_value((*document)[1].value), "0x1f");
  const auto* section = as<OptionTable>((*document)[0].value);
  ASSERT_NE(section, nullptr);
  const OptionValue* list = find_value(*section, "list");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->line, 3);
  EXPECT_EQ(print_value(*list), "[1, 2.5, \"x\"]");
  EXPECT_EQ(find_value(*section, "lists"), nullptr);
}

TEST(Toml, DottedKeysMayGoDeep) {
  std::string key = "a";
  for (int i = 0; i < 200; ++i) key += ".a";
  const auto document = parse_toml(key + " = 1\n", "f", "smd");
  ASSERT_TRUE(document);
  EXPECT_EQ(print_value(document->front().value), "a table");
}

enum class Speed : std::uint8_t { Slow, Fast };

struct Machine {
  unsigned count = 1;
  Speed speed = Speed::Slow;
  std::chrono::nanoseconds wait{0};
  std::optional<bool> loud;

  friend bool operator==(const Machine&, const Machine&) = default;
};

struct Plant {
  Machine machine;
};

OptionKind<std::uint64_t> below_ten() {
  return {.range = "below 10",
          .parse = [](const OptionValue& value) -> std::optional<std::uint64_t> {
            const auto* number = as<std::int64_t>(value);
            if (number == nullptr || *number < 0 || *number > 9) return std::nullopt;
            return static_cast<std::uint64_t>(*number);
          },
          .print = [](std::uint64_t number) { return std::to_string(number); }};
}

TEST(Options, ARowReadsAndPrintsItsField) {
  const auto machine = option_section<Plant>("machine", &Plant::machine);
  const Option<Plant> count =
      machine("count", &Machine::count, below_ten()).means("How many").restart();
  EXPECT_EQ(count.name(), "machine.count");
  EXPECT_EQ(count.range, "below 10");
  EXPECT_TRUE(count.needs_restart);
  Plant plant;
  EXPECT_TRUE(count.apply({std::int64_t{7}}, plant));
  EXPECT_EQ(plant.machine.count, 7u);
  EXPECT_FALSE(count.apply({std::int64_t{10}}, plant));
  EXPECT_EQ(plant.machine.count, 7u) << "nothing is written";
  EXPECT_THAT(count.print(plant), Optional(std::string("7")));
}

TEST(Options, AFieldMayBeOfAnotherTypeThanItsKind) {
  const auto machine =
      option_section<Plant>("", [](auto& plant) -> auto& { return plant.machine; });
  const auto wait = machine("wait", &Machine::wait, below_ten());
  const auto loud = machine("loud", &Machine::loud, option_kinds::flag());
  const auto speed =
      machine("speed",
              &Machine::speed,
              option_kinds::choice_of<Speed>({{"slow", Speed::Slow}, {"fast", Speed::Fast}}, "'"));
  Plant plant;
  EXPECT_EQ(loud.print(plant), std::nullopt) << "absent";
  EXPECT_TRUE(wait.apply({std::int64_t{3}}, plant));
  EXPECT_TRUE(loud.apply({false}, plant));
  EXPECT_TRUE(speed.apply({std::string("fast")}, plant));
  EXPECT_FALSE(speed.apply({std::string("faster")}, plant));
  EXPECT_EQ(plant.machine,
            (Machine{.speed = Speed::Fast, .wait = std::chrono::nanoseconds(3), .loud = false}));
  EXPECT_THAT(loud.print(plant), Optional(std::string("false")));
  EXPECT_EQ(wait.name(), "wait");
  EXPECT_EQ(speed.range, "'slow' or 'fast'");
}

TEST(Options, WordsAreSplitAndNumbersReadWhole) {
  using namespace option_kinds;
  EXPECT_THAT(split("1,,2", ','), ElementsAre("1", "", "2"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(parse_digits("12"), Optional(12u));
  EXPECT_THAT(parse_hex("0X1f"), Optional(31u));
  for (const char* wrong : {"", "-1", "1x", " 1", "18446744073709551616"})
    EXPECT_EQ(parse_digits(wrong), std::nullopt) << wrong;
  EXPECT_EQ(parse_hex("1f"), std::nullopt);
  EXPECT_THAT(list_alternatives({}, "'"), IsEmpty());
}

}  // namespace
}  // namespace smd
