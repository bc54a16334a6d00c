#include "smd/bin/sl2vl_dump.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "sim-backend/topology/cursor.h"
#include "smd/bin/text_lines.h"

namespace smd::bin {
namespace {

using sim::Cursor;
using sim::trim;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedSlToVl>> run() {
    while (!lines_.full() && lines_.next()) read_line(lines_.text());
    if (lines_.faults().empty() && switches_.empty()) {
      lines_.add_fault_at(0,
                          "no SL-to-VL tables; OpenSM's opensm-sl2vl.dump has lines like Switch "
                          "0x0002c90300000001, base LID 3, \"name\"");
    }
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(switches_);
  }

 private:
  enum class Inside : std::uint8_t { Nothing, Switch, Other };

  void read_line(std::string_view line) {
    Cursor in(line);
    in.skip_space();
    if (in.at_end() || in.eat('#')) return;
    if (in.eat("Switch ")) return begin_switch(in);
    if (in.eat("Channel Adapter ") || in.eat("Router ")) {
      inside_ = Inside::Other;
      return;
    }
    read_row(in);
  }

  // "0x0002000000000000, base LID 3, "sw-0-0""
  void begin_switch(Cursor in) {
    inside_ = Inside::Other;
    in.skip_space();
    const auto guid = in.hex();
    if (!guid || *guid == 0 || !in.eat(',')) {
      return lines_.add_fault(
          "the table of a switch begins with: Switch 0x0002c90300000001, base LID 3, \"name\"");
    }
    const auto [known, is_new] = seen_.emplace(Guid{*guid}, lines_.number());
    if (!is_new) {
      return lines_.add_fault(fmt::format(
          "switch {} again after line {}; every switch has one table", Guid{*guid}, known->second));
    }
    inside_ = Inside::Switch;
    switches_.push_back({.line = lines_.number(), .guid = Guid{*guid}});
  }

  // "1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7"
  void read_row(Cursor in) {
    const auto from = in.number();
    in.skip_space();
    const auto to = in.number();
    in.skip_space();
    if (!from || !to || *from > 254 || *to > 254 || !in.eat(':')) return refuse_row();
    DumpedRow row{.in = PortNum{static_cast<std::uint8_t>(*from)},
                  .out = PortNum{static_cast<std::uint8_t>(*to)}};
    for (Vl& vl : row.vls) {
      in.skip_space();
      const auto number = in.number();
      if (!number || *number > kManagementVl.value()) return refuse_row();
      vl = Vl{static_cast<std::uint8_t>(*number)};
    }
    if (!trim(in.rest()).empty()) return refuse_row();
    if (inside_ == Inside::Nothing)
      return lines_.add_fault(
          "a row outside a table; Switch 0x…, base LID …, \"name\" comes first");
    if (inside_ == Inside::Other) return;
    std::vector<DumpedRow>& rows = switches_.back().rows;
    if (!rows.empty() && std::pair{row.out, row.in} <= std::pair{rows.back().out, rows.back().in}) {
      return lines_.add_fault(
          fmt::format("ports {} to {} after {} to {}; rows ascend by output, "
                      "then by input",
                      row.in,
                      row.out,
                      rows.back().in,
                      rows.back().out));
    }
    rows.push_back(row);
  }

  void refuse_row() {
    lines_.add_fault(
        fmt::format("\"{}\" is no row; one is input port, output port, colon and the "
                    "VLs of SL 0 to 15, each 0 to 15",
                    shorten(trim(lines_.text()))));
  }

  TextLines lines_;
  std::vector<DumpedSlToVl> switches_;
  std::unordered_map<Guid, int> seen_;  // look-ups only
  Inside inside_ = Inside::Nothing;
};

}  // namespace

Parsed<std::vector<DumpedSlToVl>> parse_sl2vl_dump(std::string_view text, const std::string& file) {
  return Reader(text, file).run();
}

}  // namespace smd::bin
