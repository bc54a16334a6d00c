// LIDs, blocked turns and CC_Keys as lines of text.
#include "smd/state/persistent_state.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>

#include "smd/base/fault_list.h"
#include "smd/state/state_directory.h"

namespace smd {

namespace {

constexpr std::string_view kLidsFile = "lids";

constexpr std::string_view kTurnsFile = "turns";
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

constexpr std::string_view kCcKeysFile = "cc_keys";

std::optional<cc::CcKey> parse_key(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (error != std::errc{} || end != word.data() + word.size() || value == 0) return std::nullopt;
  return cc::CcKey{value};
}

}  // namespace

Parsed<LidBook> load_lids(const std::string& state_dir) {
  const auto text = read_state(state_dir, kLidsFile);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_lid_book(*text, state_path(state_dir, kLidsFile));
}

Result<void> save_lids(const std::string& state_dir, const LidBook& book) {
  return write_state(state_dir, kLidsFile, print_lid_book(book));
}

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
  const auto text = read_state(state_dir, kTurnsFile);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_turns(*text, state_path(state_dir, kTurnsFile));
}

Result<void> save_turns(const std::string& state_dir, const std::vector<TurnRef>& turns) {
  return write_state(state_dir, kTurnsFile, print_turns(turns));
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

std::string print_cc_keys(const std::vector<cc::CcKey>& keys) {
  std::string text;
  for (const cc::CcKey key : keys) text += fmt::format("0x{:016x}\n", key.value());
  return text;
}

Parsed<std::vector<cc::CcKey>> parse_cc_keys(std::string_view text, const std::string& file) {
  std::vector<cc::CcKey> keys;
  FaultList faults(file);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    if (const auto key = parse_key(line)) {
      keys.push_back(*key);
    } else {
      faults.add(number, "no key; a line is one, as in 0x0000000000000022");
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return keys;
}

Parsed<std::vector<cc::CcKey>> load_cc_keys(const std::string& state_dir) {
  const auto text = read_state(state_dir, kCcKeysFile);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_cc_keys(*text, state_path(state_dir, kCcKeysFile));
}

Result<void> save_cc_keys(const std::string& state_dir, const std::vector<cc::CcKey>& keys) {
  return write_state(state_dir, kCcKeysFile, print_cc_keys(keys));
}

}  // namespace smd
