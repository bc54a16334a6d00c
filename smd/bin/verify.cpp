#include "smd/bin/commands.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim-backend/topology/network.h"
#include "smd/base/program.h"
#include "smd/base/progress.h"
#include "smd/base/read_file.h"
#include "smd/bin/verify_report.h"

namespace smd::bin {
namespace {

/// Tables of the largest subnet that a switch can be told of, line by line.
constexpr std::size_t kMaxDump = std::size_t{16} << 30;

template <class Parse>
auto read_dump(const std::string& file, Parse parse) -> decltype(parse("", file)) {
  progress::begin(file);
  const auto text = read_file(file, kMaxDump, Pipes::Accepted);
  if (!text) return fault(file, 0, text.error().context);
  return parse(*text, file);
}

}  // namespace

int verify(const VerifyOptions& options) {
  std::optional<progress::Display> display(std::in_place, options.progress);
  progress::begin(options.fabric);
  Faults notes;
  const auto spec = sim::load_fabric(options.fabric, notes);
  if (!spec) return report_faults(display, spec.error());
  Dumps dumps{.fabric_file = options.fabric,
              .lft_file = options.lft,
              .sl2vl_file = options.sl2vl,
              .path_sl_file = options.path_sl};
  auto lft = read_dump(options.lft, parse_lft_dump);
  if (!lft) return report_faults(display, lft.error());
  dumps.lft = std::move(*lft);
  if (!options.sl2vl.empty()) {
    auto sl2vl = read_dump(options.sl2vl, parse_sl2vl_dump);
    if (!sl2vl) return report_faults(display, sl2vl.error());
    dumps.sl2vl = std::move(*sl2vl);
  }
  if (!options.path_sl.empty()) {
    auto path_sl = read_dump(options.path_sl, parse_path_sl_dump);
    if (!path_sl) return report_faults(display, path_sl.error());
    dumps.path_sl = std::move(*path_sl);
  }
  const auto input = join_dumps(*spec, dumps);
  if (!input) return report_faults(display, input.error());
  std::optional<MulticastInput> multicast;
  if (options.mft.empty() && !options.groups.empty()) {
    return report_faults(
        display,
        {{"--groups", 0, "says nothing without multicast tables; --mft takes opensm.mcfdbs"}});
  }
  if (options.one_sender && options.groups.empty()) {
    return report_faults(
        display, {{"--one-sender", 0, "needs to know who is in the groups; --groups says so"}});
  }
  if (!options.mft.empty()) {
    const auto copies = read_dump(options.mft, parse_mft_dump);
    if (!copies) return report_faults(display, copies.error());
    std::optional<std::vector<DumpedMember>> members;
    if (!options.groups.empty()) {
      auto read = read_dump(options.groups, parse_member_dump);
      if (!read) return report_faults(display, read.error());
      members = std::move(*read);
    }
    auto joined = join_multicast(*input, *copies, options.mft, members, options.groups);
    if (!joined) return report_faults(display, joined.error());
    multicast = std::move(*joined);
    if (options.one_sender) silence_others(*multicast);
  }
  VerifyReport report = verify_tables(*input, options.any_sl, options.permutations);
  if (multicast) {
    progress::begin("multicast");
    report.multicast = verify_multicast(*input, *multicast);
  }
  display.reset();
  static_cast<void>(print_faults(notes));
  if (options.json) {
    fmt::print("{}\n",
               verify_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", print_verify(report));
  }
  return report.sound() ? 0 : 1;
}

}  // namespace smd::bin
