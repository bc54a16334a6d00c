#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "smd/policy/lid_assignment.h"
#include "tests/support/fabric_text.h"

namespace smd::test {
namespace {

// Ten hosts on three switches; some links are fresh, so that there are several sides.
Fabric random_fabric() {
  std::string text;
  for (int i = 1; i <= 10; ++i) {
    const char* link = *rc::gen::element("-", "~");
    text += "S" + std::to_string(1 + i % 3) + link + "H" + std::to_string(i) + " ";
  }
  Fabric f = fabric_from(text + *rc::gen::element("S1-S2 S2~S3", "S1~S2 S2~S3", "S1-S2 S2-S3"));
  for (const PortIdx port : f.peer.indices())
    f.port_info[port].lid = Lid{*rc::gen::inRange<std::uint16_t>(0, 40)};
  return f;
}

LidBook random_book(const Fabric& f) {
  LidBook book;
  std::set<unsigned> used;
  for (const PortIdx port : f.peer.indices()) {
    if (!f.is_end_port(port)) continue;
    const auto lmc = *rc::gen::inRange<std::uint8_t>(0, 2);
    const unsigned base = *rc::gen::inRange(1u, 20u) << lmc;
    const bool absent = *rc::gen::inRange(0, 4) == 0;
    if (*rc::gen::inRange(0, 2) == 0 || used.contains(base) || used.contains(base + lmc)) continue;
    used.insert({base, base + lmc});
    book[absent ? Guid{0x9000 + base} : f.port_guid[port]] = {Lid(std::uint16_t(base)), lmc};
  }
  return book;
}

RC_GTEST_PROP(LidAssignment, IsSoundForEveryClaim, ()) {
  Fabric f = random_fabric();
  const LidBook book = random_book(f);
  const LidPolicy policy{.lmc = *rc::gen::inRange<std::uint8_t>(0, 3),
                         .min = Lid{*rc::gen::inRange<std::uint16_t>(1, 4)},
                         .max = Lid{*rc::gen::element<std::uint16_t>(10, 20, 40, 0xbfff)}};
  const LidAssignment a = assign_lids(f, book, policy).value();

  std::set<unsigned> seen;
  std::vector<PortIdx> without_lid;
  for (const PortIdx port : f.peer.indices()) {
    if (a.map.base[port] == kUnassignedLid) {
      if (f.is_end_port(port)) without_lid.push_back(port);
      continue;
    }
    RC_ASSERT(f.is_end_port(port));
    const unsigned base = a.map.base[port].value();
    const unsigned lmc = a.map.lmc[port];
    RC_ASSERT(lmc == (f.is_switch(f.node_of[port]) ? 0 : policy.lmc));
    RC_ASSERT(base >= policy.min.value());
    RC_ASSERT(base + (1u << lmc) - 1 <= policy.max.value());
    RC_ASSERT(base % (1u << lmc) == 0u);
    for (unsigned lid = base; lid < base + (1u << lmc); ++lid) {
      RC_ASSERT(seen.insert(lid).second);
      RC_ASSERT(a.map.owner_of(Lid(std::uint16_t(lid))) == port);
    }
    RC_ASSERT(a.book.at(f.port_guid[port]) == (LidRecord{a.map.base[port], a.map.lmc[port]}));
  }
  RC_ASSERT(a.without_lid == without_lid);
  RC_ASSERT(policy.max.value() < 0xbfff || without_lid.empty());
  RC_ASSERT(f.sm_port == kNone<PortIdx> || a.map.base[f.sm_port] != kUnassignedLid);
  // The manager takes links to them down.
  for (const PortIdx port : a.without_lid) {
    for (const PortIdx end : {port, f.peer[port]}) {
      if (end != kNone<PortIdx>)
        f.port_info[end].port_state = static_cast<std::uint8_t>(PortState::Initialize);
    }
  }
  const LidAssignment again = assign_lids(f, a.book, policy).value();
  RC_ASSERT(again.map == a.map);
  RC_ASSERT(again.book == a.book);
  RC_ASSERT(again.conflicts.empty());
  RC_ASSERT(parse_lid_book(print_lid_book(a.book), "lids").value() == a.book);
}

RC_GTEST_PROP(LidBook, AnyTextIsReadOrRefusedWithALine, (const std::string& text)) {
  const auto book = parse_lid_book(text, "lids");
  if (book) return;
  for (const Fault& fault : book.error()) RC_ASSERT(fault.line >= 1 && !fault.message.empty());
}

}  // namespace
}  // namespace smd::test
