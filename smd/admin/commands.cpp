#include "smd/admin/commands.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "smd/base/check.h"

namespace smd {
namespace {

using Json = nlohmann::json;

/// Node descriptions are bytes of anyone's choosing; an answer is UTF-8 all the same.
std::string print_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Quotes what a client sent, without flooding the answer with it.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return fmt::format("'{}'{}", text.substr(0, kShown), text.size() > kShown ? "..." : "");
}

}  // namespace

std::string print_error_answer(std::string_view error) {
  return print_line(Json{{"ok", false}, {"error", error}});
}

CommandTable::CommandTable() {
  add("help", "the commands there are", [this](const Json&) -> Result<Json> {
    Json commands = Json::array();
    for (const auto& [name, command] : commands_) {
      commands.push_back({{"command", name}, {"help", command.help}});
    }
    return Json{{"commands", std::move(commands)}};
  });
}

void CommandTable::add(std::string name, std::string help, Handler handler) {
  const bool added =
      commands_.emplace(std::move(name), Command{std::move(help), std::move(handler)}).second;
  SMD_CHECK(added, "two commands of one name");
}

std::string CommandTable::answer(std::string_view request) const {
  if (nests_too_deep(request)) {
    return print_error_answer(fmt::format("the request nests deeper than {}", kDeepestJson));
  }
  const Json json = Json::parse(request, nullptr, false);
  if (json.is_discarded()) return print_error_answer("the request is not JSON");
  if (!json.is_object()) return print_error_answer("the request is not a JSON object");

  const auto name = json.find("command");
  if (name == json.end() || !name->is_string()) {
    return print_error_answer("'command' is missing, or not a text");
  }
  const auto& text = name->get_ref<const std::string&>();
  const auto command = commands_.find(text);
  if (command == commands_.end()) {
    std::vector<std::string_view> known;
    for (const auto& entry : commands_) known.emplace_back(entry.first);
    return print_error_answer(
        fmt::format("unknown command {}; one of {}", excerpt(text), fmt::join(known, ", ")));
  }

  const auto given = json.find("args");
  const Json args = given == json.end() ? Json::object() : *given;
  if (!args.is_object()) return print_error_answer("'args' is not a JSON object");

  try {
    const Result<Json> result = command->second.handler(args);
    if (!result) return print_error_answer(result.error().context);
    return print_line(Json{{"ok", true}, {"result", *result}});
  } catch (const Json::exception& e) {
    return print_error_answer(fmt::format("an argument is of the wrong kind: {}", e.what()));
  }
}

}  // namespace smd
