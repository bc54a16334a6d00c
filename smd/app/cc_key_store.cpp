#include "smd/app/cc_key_store.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>

#include "smd/app/state_file.h"
#include "smd/base/fault_list.h"

namespace smd::app {
namespace {

constexpr std::string_view kName = "cc_keys";

std::optional<cc::CcKey> parse_key(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (error != std::errc{} || end != word.data() + word.size() || value == 0) return std::nullopt;
  return cc::CcKey{value};
}

}  // namespace

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
  const auto text = read_state(state_dir, kName);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_cc_keys(*text, state_path(state_dir, kName));
}

Result<void> save_cc_keys(const std::string& state_dir, const std::vector<cc::CcKey>& keys) {
  return write_state(state_dir, kName, print_cc_keys(keys));
}

}  // namespace smd::app
