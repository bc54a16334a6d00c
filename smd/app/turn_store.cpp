#include "smd/app/turn_store.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>

#include "smd/app/state_file.h"
#include "smd/base/fault_list.h"

namespace smd::app {
namespace {

constexpr std::string_view kName = "turns";
constexpr std::string_view kRowsName = "rows";

std::optional<std::uint64_t> parse_whole(std::string_view word, int base, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size() || value > most) return std::nullopt;
  return value;
}

std::optional<TurnRef> parse_turn(const std::string& line) {
  std::istringstream words(line);
  std::string guid;
  std::string in;
  std::string out;
  std::string more;
  if (!(words >> guid >> in >> out) || (words >> more) || !guid.starts_with("0x"))
    return std::nullopt;
  const auto node = parse_whole(std::string_view(guid).substr(2), 16, ~std::uint64_t{0});
  const auto from = parse_whole(in, 10, 254);
  const auto to = parse_whole(out, 10, 254);
  if (!node || *node == 0 || !from || !to) return std::nullopt;
  return TurnRef{Guid{*node},
                 PortNum{static_cast<std::uint8_t>(*from)},
                 PortNum{static_cast<std::uint8_t>(*to)}};
}

}  // namespace

std::string print_turns(const std::vector<TurnRef>& turns) {
  std::string text;
  for (const TurnRef& turn : turns)
    fmt::format_to(
        std::back_inserter(text), "{} {} {}\n", turn.node, turn.in.value(), turn.out.value());
  return text;
}

Parsed<std::vector<TurnRef>> parse_turns(std::string_view text, const std::string& file) {
  std::vector<TurnRef> turns;
  FaultList faults(file);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (const auto turn = parse_turn(line)) {
      turns.push_back(*turn);
    } else {
      faults.add(number,
                 fmt::format("'{}' is no turn; a line is SWITCH_GUID IN OUT, as in "
                             "0x0002c90300000001 3 7",
                             line));
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return turns;
}

Parsed<std::vector<TurnRef>> load_turns(const std::string& state_dir) {
  const auto text = read_state(state_dir, kName);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_turns(*text, state_path(state_dir, kName));
}

Result<void> save_turns(const std::string& state_dir, const std::vector<TurnRef>& turns) {
  return write_state(state_dir, kName, print_turns(turns));
}

std::string print_rows_mark(bool set) { return set ? "set by routes\n" : ""; }

Parsed<bool> load_rows_mark(const std::string& state_dir) {
  const auto text = read_state(state_dir, kRowsName);
  if (!text) return tl::unexpected<Faults>(text.error());
  return !text->empty();
}

Result<void> save_rows_mark(const std::string& state_dir) {
  return write_state(state_dir, kRowsName, print_rows_mark(true));
}

}  // namespace smd::app
