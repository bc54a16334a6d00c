// Both ends of the admin socket: a request always has an answer of one line of JSON, and whatever
// JSON a daemon answers has a text without control characters.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "smd/admin/client.h"
#include "smd/admin/commands.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

using Json = nlohmann::json;

void add_commands(CommandTable& table) {
  table.add("echo", "its arguments", [](const Json& args) -> Result<Json> { return args; });
  table.add("read", "arguments of two kinds", [](const Json& args) -> Result<Json> {
    if (!args.at("n").is_number_unsigned()) return fail(Errc::Invalid, "'n' is a number");
    return Json{{"n", args.at("n").get<std::uint64_t>()}, {"s", args.at("s").get<std::string>()}};
  });
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  // The server takes no longer request.
  if (size > 65536) return 0;
  CommandTable table;
  fuzz::add_commands(table);
  const std::string line = table.answer(std::string(data, data + size));
  fuzz::require(line.find('\n') == std::string::npos);
  const fuzz::Json answer = fuzz::Json::parse(line, nullptr, false);
  fuzz::require(answer.is_object() && answer.at("ok").is_boolean());
  fuzz::require(answer.contains(answer.at("ok") == true ? "result" : "error"));

  const std::string text = print_answer_text(answer);
  fuzz::require(text.ends_with('\n'));
  fuzz::require(std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  }));
  return 0;
}
