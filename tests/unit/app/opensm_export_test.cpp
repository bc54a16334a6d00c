// What OpenSM 3.3.23 is left, read back by what reads OpenSM's own files.
#include "smd/app/opensm_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/app/opensm_state.h"

namespace smd::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLids =
    "0x0000000000010001 0x0001 0\n0x0000000000010005 0x0004 2\n0x0000000000020001 0xbfff 0\n";

TEST(OpensmExport, LidsAreWrittenAsOpensmWritesThem) {
  const auto files = export_for_opensm({{"lids", kLids}}, "state").value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "guid2lid");
  EXPECT_EQ(files[0].text,
            "0x0000000000010001 0x0001 0x0001\n\n0x0000000000010005 0x0004 0x0007\n\n"
            "0x0000000000020001 0xbfff 0xbfff\n\n");
  EXPECT_EQ(files[0].note, "3 ports with LIDs");
}

TEST(OpensmExport, LidsComeBackAsTheyWere) {
  const LidBook book = parse_lid_book(kLids, "f").value();
  EXPECT_EQ(parse_guid2lid(print_guid2lid(book), "f").value(), book);
  const StateBundle bundle{{"lids", kLids}};
  const auto files = export_for_opensm(bundle, "state").value();
  EXPECT_EQ(import_state(files[0].text, "f", 0)->bundle, bundle);
}

TEST(OpensmExport, AStateWithoutLidsIsAFault) {
  for (const StateBundle& bundle : {StateBundle{}, StateBundle{{"lids", ""}}}) {
    const auto files = export_for_opensm(bundle, "/where");
    ASSERT_FALSE(files);
    EXPECT_THAT(print_fault(files.error().front()), HasSubstr("/where: has no LIDs"));
  }
}

}  // namespace
}  // namespace smd::app
