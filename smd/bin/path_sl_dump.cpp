#include "smd/bin/path_sl_dump.h"

#include <fmt/format.h>

#include <optional>

#include "sim-backend/topology/cursor.h"
#include "smd/bin/text_lines.h"

namespace smd::bin {
namespace {

using sim::Cursor;
using sim::trim;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedPath>> run() {
    while (!lines_.full() && lines_.next()) read_line(trim(lines_.text()));
    end_record();
    if (lines_.faults().empty() && paths_.empty())
      lines_.add_fault_at(0, "no paths; saquery -p prints \"PathRecord dump:\" for each");
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(paths_);
  }

 private:
  // "dlid....................17": what a record does not need is skipped.
  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line == "PathRecord dump:") {
      end_record();
      begun_ = lines_.number();
      return;
    }
    const std::size_t dots = line.find("..");
    if (dots == std::string_view::npos) {
      lines_.add_fault(
          fmt::format("\"{}\" is no line of a PathRecord: name, dots, value", shorten(line)));
      return;
    }
    const std::string_view name = line.substr(0, dots);
    const std::string_view value =
        line.substr(std::min(line.find_first_not_of('.', dots), line.size()));
    if (name == "slid") read_number(value, kTopUnicastLid.value(), source_);
    if (name == "dlid") read_number(value, kTopUnicastLid.value(), destination_);
    if (name == "sl") read_number(value, 15, sl_);
  }

  void read_number(std::string_view value,
                   std::uint64_t most,
                   std::optional<std::uint64_t>& number) {
    Cursor in(value);
    number = in.number();
    if (number && *number <= most && trim(in.rest()).empty()) return;
    number = 0;
    lines_.add_fault(fmt::format("\"{}\" is no number from 0 to {}", shorten(value), most));
  }

  void end_record() {
    if (begun_ != 0 && source_ && destination_ && sl_) {
      paths_.push_back({.line = begun_,
                        .source = Lid{static_cast<std::uint16_t>(*source_)},
                        .destination = Lid{static_cast<std::uint16_t>(*destination_)},
                        .sl = Sl{static_cast<std::uint8_t>(*sl_)}});
    } else if (begun_ != 0) {
      lines_.add_fault_at(begun_, "a PathRecord without slid, dlid or sl: the file is cut");
    }
    begun_ = 0;
    source_.reset();
    destination_.reset();
    sl_.reset();
  }

  TextLines lines_;
  std::vector<DumpedPath> paths_;
  int begun_ = 0;  // line; 0 outside records
  std::optional<std::uint64_t> source_, destination_, sl_;
};

}  // namespace

Parsed<std::vector<DumpedPath>> parse_path_sl_dump(std::string_view text, const std::string& file) {
  return Reader(text, file).run();
}

}  // namespace smd::bin
