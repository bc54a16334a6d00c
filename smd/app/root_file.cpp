#include "smd/app/root_file.h"

#include <charconv>

#include "smd/base/fault_list.h"

namespace smd {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool parse_guid(std::string_view word, Guid& guid) {
  if (!word.starts_with("0x") && !word.starts_with("0X")) return false;
  word.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
  if (error != std::errc{} || end != word.data() + word.size() || bits == 0) return false;
  guid = Guid{bits};
  return true;
}

}  // namespace

Parsed<std::vector<Guid>> parse_root_file(std::string_view text, const std::string& file) {
  std::vector<Guid> roots;
  FaultList faults(file);
  int line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view word = trim(whole.substr(0, whole.find('#')));
    if (word.empty()) continue;
    Guid guid;
    if (parse_guid(word, guid)) {
      roots.push_back(guid);
    } else {
      faults.add(line, "no GUID of a switch, such as 0x0002c90300000001");
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return roots;
}

}  // namespace smd
