// Names of types and files are made of the field's words, of plain ones, and of terms that the
// glossary explains: whoever knows the field can search for what he knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lint/names.h"

namespace smd::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kMostTerms = 60;

// Words that only their inventor understands. They belong into no list.
const WordSet kPrivate{
    "aftercare",    "beyond",    "borne",    "bounce",   "bridge",   "bystander", "cable",
    "cables",       "carried",   "carrying", "crowd",    "desk",     "draws",     "ear",
    "evener",       "evenness",  "exit",     "far",      "farthest", "fate",      "followed",
    "halver",       "heat",      "heir",     "holdings", "judge",    "judgement", "judging",
    "keeper",       "keepers",   "kept",     "knock",    "lane",     "lanes",     "lay",
    "lean",         "lingering", "look",     "mend",     "mended",   "mender",    "mixture",
    "oddities",     "plane",     "planes",   "playback", "pulse",    "realm",     "reign",
    "relief",       "relieve",   "roll",     "rows",     "scene",    "stretch",   "struck",
    "surroundings", "suspicion", "tally",    "taste",    "told",     "twin",      "uneven",
    "wake",         "way",       "ways",     "wish",     "wishes"};

std::vector<Line> listed_words() { return read_lines("tests/lint/words.txt"); }

std::vector<Term> terms() { return read_terms(read_lines("docs/glossary.md")); }

const WordSet& known_words() {
  static const WordSet all = [] {
    WordSet words = words_of(terms());
    for (const Line& line : listed_words()) words.insert(line.text);
    return words;
  }();
  return all;
}

TEST(Words, NamesAreOfWordsThatTheFieldOrTheGlossaryHas) {
  for (const char* top : {"smd", "sim-backend"}) {
    const std::vector<SourceFile> files = source_files_below(top);
    ASSERT_GT(files.size(), 50u);
    for (const SourceFile& file : files) {
      for (const std::string& fault : find_unknown_words(file, known_words()))
        ADD_FAILURE() << fault;
    }
  }
}

TEST(Words, TheListIsSortedAndHasNoPrivateWord) {
  const std::vector<Line> lines = listed_words();
  ASSERT_GT(lines.size(), 100u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(split_name(lines[i].text), ElementsAre(lines[i].text))
        << "tests/lint/words.txt:" << lines[i].number << ": one word in lower case";
    EXPECT_FALSE(kPrivate.contains(lines[i].text))
        << "tests/lint/words.txt:" << lines[i].number << ": " << lines[i].text;
    if (i == 0) continue;
    EXPECT_LT(lines[i - 1].text, lines[i].text) << "tests/lint/words.txt:" << lines[i].number;
  }
}

TEST(Words, TheGlossaryIsShortAndEveryTermExplained) {
  const std::vector<Term> all = terms();
  EXPECT_GT(all.size(), 10u);
  EXPECT_LE(all.size(), kMostTerms);
  for (const Term& term : all) {
    ASSERT_EQ(term.cells.size(), 3u) << "docs/glossary.md:" << term.line;
    EXPECT_THAT(term.cells, testing::Each(testing::Not(IsEmpty())))
        << "docs/glossary.md:" << term.line;
  }
  for (const std::string& word : words_of(all)) EXPECT_FALSE(kPrivate.contains(word)) << word;
}

TEST(Words, TheGlossaryNamesTypesThatThereAre) {
  WordSet types;
  for (const SourceFile& file : source_files_below("smd")) {
    for (const PlacedName& each : names_of(file)) types.insert(each.name);
  }
  for (const Term& term : terms()) {
    const std::string& cell = term.cells.front();
    const std::size_t from = cell.find('`');
    if (from == std::string::npos) continue;
    const std::string name = cell.substr(from + 1, cell.rfind('`') - from - 1);
    EXPECT_TRUE(types.contains(name)) << "docs/glossary.md:" << term.line << ": " << name;
  }
}

// The judges themselves.

TEST(NameRules, NamesAreSplitIntoWords) {
  EXPECT_THAT(split_name("SmpWindow"), ElementsAre("smp", "window"));
  EXPECT_THAT(split_name("smp_window"), ElementsAre("smp", "window"));
  EXPECT_THAT(split_name("Fdr10Fetch"), ElementsAre("fdr", "fetch"));
  EXPECT_THAT(split_name("LIDBook"), ElementsAre("lid", "book"));
  EXPECT_THAT(split_name("SubnetSM"), ElementsAre("subnet", "sm"));
  EXPECT_THAT(split_name("X"), IsEmpty());
}

TEST(NameRules, TypesAndAliasesAreNamesAndDeclarationsAreNot) {
  const SourceFile file{"smd/mad/port_info.h",
                        {{3, "struct PortInfo {"},
                         {4, "class Later;"},
                         {5, "  enum class Kind : std::uint8_t { A, B };"},
                         {6, "class Reader final : public Base {"},
                         {7, "using Done = std::function<void()>;  // struct Comment {"},
                         {8, "using std::vector;"},
                         {9, "// struct Comment {"},
                         {10, "template <class T> struct Box {"}}};
  std::vector<std::string> names;
  for (const PlacedName& each : names_of(file)) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("port_info", "PortInfo", "Kind", "Reader", "Done", "Box"));
}

TEST(NameRules, ABadNameIsReportedWithItsPlace) {
  const WordSet known{"port", "trap", "handler"};
  const SourceFile file{"smd/app/trap_desk.h",
                        {{1, "// …"}, {7, "class TrapHandler {"}, {9, "struct PortEar {"}}};
  EXPECT_THAT(find_unknown_words(file, known),
              ElementsAre(HasSubstr("smd/app/trap_desk.h:1: trap_desk: \"desk\" is neither"),
                          HasSubstr("smd/app/trap_desk.h:9: PortEar: \"ear\" is neither")));
}

TEST(NameRules, TheGlossaryKnowsTheWordsOfItsTerms) {
  const std::vector<Term> terms =
      read_terms({{1, "# Glossary"},
                  {3, "| term | meaning | from |"},
                  {4, "|---|---|---|"},
                  {5, "| LID book, `LidBook` | Who has which. | plain |"}});
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].line, 5);
  EXPECT_THAT(terms[0].cells, ElementsAre("LID book, `LidBook`", "Who has which.", "plain"));
  EXPECT_THAT(words_of(terms), ElementsAre("book", "lid"));
}

}  // namespace
}  // namespace smd::lint
