// Any bytes as dumps of forwarding, multicast and SL-to-VL tables and of members: tables in which
// every switch is there once and every list ascends, or between one and twenty faults. Whatever is
// read joins a fabric or is refused.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "smd/bin/verify_input.h"

namespace {

using namespace smd;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
bool is_reported(const Parsed<T>& parsed) {
  return parsed || (!parsed.error().empty() && parsed.error().size() <= 20);
}

void check_lft(const bin::LftDump& dump) {
  std::set<Guid> guids;
  for (const bin::DumpedSwitch& table : dump.switches) {
    require(guids.insert(table.guid).second && table.line > 0);
    for (std::size_t i = 1; i < table.entries.size(); ++i)
      require(table.entries[i - 1].lid < table.entries[i].lid);
  }
  require(dump.owners.size() <= kTopUnicastLid.value() + std::size_t{1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto lft = bin::parse_lft_dump(text, "lft");
  require(is_reported(lft));
  if (lft) check_lft(*lft);
  const auto sl2vl = bin::parse_sl2vl_dump(text, "sl2vl");
  require(is_reported(sl2vl));
  const auto path_sl = bin::parse_path_sl_dump(text, "sl");
  require(is_reported(path_sl));
  const auto copies = bin::parse_mft_dump(text, "mft");
  require(is_reported(copies));
  for (std::size_t i = 1; copies && i < copies->size(); ++i) {
    const bin::DumpedCopies &before = (*copies)[i - 1], &now = (*copies)[i];
    require(before.guid != now.guid || before.mlid < now.mlid);
  }
  require(is_reported(bin::parse_member_dump(text, "groups")));
  static const sim::FabricSpec spec = *sim::load_fabric("example");
  bin::Dumps dumps;
  if (lft) dumps.lft = *lft;
  if (sl2vl) dumps.sl2vl = *sl2vl;
  if (path_sl) dumps.path_sl = *path_sl;
  require(is_reported(bin::join_dumps(spec, dumps)));
  return 0;
}
