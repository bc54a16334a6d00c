// What a FABRIC argument may say, and the one line that each mistake gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/topology/generator.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace arguments_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> faults_of(const std::string& fabric) {
  std::vector<std::string> lines;
  const auto spec = load_fabric(fabric);
  if (!spec) {
    for (const Fault& fault : spec.error()) lines.push_back(print_fault(fault));
  }
  return lines;
}

struct Mistake {
  const char* fabric;
  const char* advice;
};

void PrintTo(const Mistake& mistake, std::ostream* os) { *os << mistake.fabric; }

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreAnsweredWithWhatWouldBeRight) {
  EXPECT_THAT(faults_of(GetParam().fabric),
              ElementsAre(HasSubstr(std::string(GetParam().fabric) + ": ")));
  EXPECT_THAT(faults_of(GetParam().fabric), ElementsAre(HasSubstr(GetParam().advice)));
}

INSTANTIATE_TEST_SUITE_P(Names,
                         Mistakes,
                         ::testing::Values(Mistake{"fattree", "did you mean \"fat-tree\"?"},
                                           Mistake{"tors:dims=4.4", "did you mean \"torus\"?"},
                                           Mistake{"drag_onfly", "did you mean \"dragonfly\"?"},
                                           Mistake{"./no/such/file", "no such file"},
                                           Mistake{"fabric.net", "no such file"},
                                           Mistake{"/tmp", "is a directory"}));

INSTANTIATE_TEST_SUITE_P(
    Keys,
    Mistakes,
    ::testing::Values(Mistake{"torus:dim=4.4", "torus has no key \"dim\": did you mean \"dims\"?"},
                      Mistake{"torus:sped=NDR", "did you mean \"speed\"?"},
                      Mistake{"torus:hosts", "hosts needs a value"},
                      Mistake{"torus:hosts=1,hosts=2", "hosts is given twice"},
                      Mistake{"torus:,hosts=1", "an empty argument"},
                      Mistake{"torus:hosts=", "a number from 0 to 253"},
                      Mistake{"torus:hosts=-1", "a number from 0 to 253"},
                      Mistake{"torus:hosts=1x", "a number from 0 to 253"},
                      Mistake{"torus:hosts=99999999999999999999", "a number from 0 to 253"},
                      Mistake{"torus:dims=4..4", "numbers joined by dots"},
                      Mistake{"torus:dims=4.0", "each from 1 to 49151"},
                      Mistake{"torus:dims=1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", "at most 16"},
                      Mistake{"torus:width=3x", "one of 1x, 2x, 4x, 8x or 12x"},
                      Mistake{"torus:speed=fast", "one of SDR, DDR"},
                      Mistake{"bmin:wiring=random", "one of perfect-shuffle|butterfly"},
                      Mistake{"example:name=fig1", "fig67|fig68|fig69|fig76|flich"}));

INSTANTIATE_TEST_SUITE_P(
    Sizes,
    Mistakes,
    ::testing::Values(Mistake{"fat-tree:k=7", "k=7 is odd"},
                      Mistake{"fat-tree:hosts=649", "hold 648"},
                      Mistake{"fat-tree:k=254,levels=4", "49151 LIDs"},
                      Mistake{"torus:dims=300.300", "49151 LIDs"},
                      Mistake{"torus:dims=49151.49151.49151.49151.49151", "49151 LIDs"},
                      Mistake{"hypercube:dim=14,hosts=2", "49151 LIDs"},
                      Mistake{"torus:hosts=253", "257 ports on one switch"},
                      Mistake{"hamming:dims=255.2", "ports on one switch"},
                      Mistake{"hamming:dims=4.4,trunk=1.1.1", "one per dimension (2)"},
                      Mistake{"dragonfly:a=4,h=2,groups=10", "a·h gives 8"},
                      Mistake{"dragonfly:a=254,c=1,h=1", "ports on one switch"},
                      Mistake{"clos:m=200,n=100,r=4", "300 ports on one switch"},
                      Mistake{"cplant:hosts=124,adapters=2", "256 ports on one switch"},
                      Mistake{"pgft:levels=3", "3 numbers each"},
                      Mistake{"pgft:up=2.2", "a host has one port"},
                      Mistake{"pgft:down=65535.65535,up=1.254,parallel=1.254",
                              "ports on one switch"},
                      Mistake{"bmin:hosts=63", "a multiple of k=4"},
                      Mistake{"bmin:wiring=butterfly,hosts=32", "exactly that many"},
                      Mistake{"umin:k=127,stages=15", "49151 LIDs"},
                      Mistake{"irregular:switches=4", "switches=5 or more"},
                      Mistake{"irregular:links=5", "ports=8 is too few"},
                      Mistake{"irregular:switches=3,links=1", "links=2 or more"},
                      Mistake{"irregular4:switches=8,nodes=7", "8 to 26"},
                      Mistake{"irregular4:switches=8,nodes=27", "8 to 26"}));

TEST(Arguments, AllMistakesOfACallAreReported) {
  EXPECT_THAT(faults_of("torus:dim=4,hosts=x,width=5x"),
              ElementsAre(HasSubstr("\"dim\""), HasSubstr("hosts=x"), HasSubstr("width=5x")));
}

TEST(Arguments, TheLargestOfEachKindStillFits) {
  EXPECT_EQ(draw("irregular4:switches=8,nodes=26").nodes.size(), 26u);
  EXPECT_EQ(draw("torus:dims=4,hosts=252").nodes.size(), 4u + 4u * 252u);
  EXPECT_EQ(draw("fat-tree:k=254,levels=1").nodes.size(), 255u);
  EXPECT_EQ(draw("torus:dims=49151,hosts=0").nodes.size(), 49151u);
}

TEST(Arguments, ABareNameAndAnEmptyListAreTheDefaults) {
  EXPECT_EQ(draw("torus").nodes, draw("torus:dims=8.8,hosts=1,mesh=0,width=4x,speed=EDR").nodes);
  EXPECT_EQ(draw("torus:").nodes, draw("torus").nodes);
}

TEST(Arguments, TheListNamesEveryGeneratorKeyAndDefault) {
  const std::string list = list_generators();
  for (const Generator& generator : generators()) {
    const auto start = list.find(std::string(generator.name) + ": ");
    ASSERT_NE(start, std::string::npos) << generator.name;
    const std::string block = list.substr(start, list.find("\n\n", start) - start);
    for (const Key& key : generator.keys) {
      EXPECT_THAT(block, HasSubstr("  " + std::string(key.name) + " "));
      EXPECT_THAT(block, HasSubstr(" " + std::string(key.fallback) + " "));
    }
    EXPECT_THAT(block, HasSubstr("speed"));
  }
}

}  // namespace arguments_test
}  // namespace smd::sim::testing
