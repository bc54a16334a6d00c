#include "smd/base/command_line.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace smd {
namespace {

/// CLI11 takes -1 for the largest number, and what is too large for 64 bits too; of what is no
/// number it says that some range does not have it.
CLI::Option* refuse_what_does_not_fit(CLI::Option* option) {
  return option->check(
      [](const std::string& text) -> std::string {
        errno = 0;
        char* end = nullptr;
        static_cast<void>(std::strtoull(text.c_str(), &end, 0));
        const bool fits =
            !text.empty() && *end == '\0' && text.find('-') == std::string::npos && errno != ERANGE;
        return fits ? "" : "Value " + text + " is no whole number from 0 to 18446744073709551615";
      },
      "");
}

template <class T>
constexpr bool kIsUnsigned = std::is_unsigned_v<T> && !std::is_same_v<T, bool>;
template <class T>
constexpr bool kIsUnsigned<std::vector<T>> = kIsUnsigned<T>;

}  // namespace

CommandOption& CommandOption::required(bool is) {
  option_->required(is);
  return *this;
}

CommandOption& CommandOption::range(int from, int to) {
  option_->check(CLI::Range(from, to));
  return *this;
}

CommandOption& CommandOption::range(unsigned from, unsigned to) {
  option_->check(CLI::Range(from, to));
  return *this;
}

CommandOption& CommandOption::range(std::uint64_t from, std::uint64_t to) {
  option_->check(CLI::Range(from, to));
  return *this;
}

CommandOption& CommandOption::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

CommandOption& CommandOption::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

CommandOption& CommandOption::one_of(std::initializer_list<const char*> words) {
  option_->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
  return *this;
}

CommandOption& CommandOption::one_of(std::initializer_list<int> numbers) {
  option_->check(CLI::IsMember(std::vector<int>(numbers)));
  return *this;
}

CommandOption& CommandOption::check(std::function<std::string(const std::string&)> fault,
                                    const std::string& what) {
  option_->check(std::move(fault), what);
  return *this;
}

CommandOption& CommandOption::show_default() {
  option_->capture_default_str();
  return *this;
}

CommandOption& CommandOption::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

CommandOption& CommandOption::separator(char mark) {
  option_->delimiter(mark);
  return *this;
}

CommandOption& CommandOption::excludes(const CommandOption& other) {
  option_->excludes(other.option_);
  return *this;
}

Command Command::command(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

void Command::require_command() { app_->require_subcommand(1); }

void Command::let_options_follow_commands() { app_->fallthrough(); }

template <class T>
CommandOption Command::option(const std::string& names, T& target, const std::string& help) {
  CLI::Option* option = app_->add_option(names, target, help);
  if constexpr (kIsUnsigned<T>) refuse_what_does_not_fit(option);
  return CommandOption(option);
}

template CommandOption Command::option(const std::string&, std::string&, const std::string&);
template CommandOption Command::option(const std::string&, int&, const std::string&);
template CommandOption Command::option(const std::string&, std::uint8_t&, const std::string&);
template CommandOption Command::option(const std::string&, unsigned&, const std::string&);
template CommandOption Command::option(const std::string&, std::uint16_t&, const std::string&);
template CommandOption Command::option(const std::string&, std::uint64_t&, const std::string&);
template CommandOption Command::option(const std::string&, double&, const std::string&);
template CommandOption Command::option(const std::string&,
                                       std::vector<std::string>&,
                                       const std::string&);
template CommandOption Command::option(const std::string&,
                                       std::vector<unsigned>&,
                                       const std::string&);
template CommandOption Command::option(const std::string&,
                                       std::vector<std::uint64_t>&,
                                       const std::string&);

CommandOption Command::text(const std::string& names,
                            std::function<void(const std::string&)> take,
                            const std::string& help) {
  return CommandOption(app_->add_option_function<std::string>(names, std::move(take), help));
}

CommandOption Command::texts(const std::string& names,
                             std::function<void(const std::vector<std::string>&)> take,
                             const std::string& help) {
  return CommandOption(
      app_->add_option_function<std::vector<std::string>>(names, std::move(take), help));
}

CommandOption Command::number(const std::string& names,
                              std::function<void(std::uint64_t)> take,
                              const std::string& help) {
  return CommandOption(refuse_what_does_not_fit(app_->add_option_function<std::uint64_t>(
      names, [take = std::move(take)](const std::uint64_t& value) { take(value); }, help)));
}

void Command::flag(const std::string& names, bool& target, const std::string& help) {
  app_->add_flag(names, target, help);
}

void Command::flag(const std::string& names, int& count, const std::string& help) {
  app_->add_flag(names, count, help);
}

void Command::flag(const std::string& names, std::function<void()> take, const std::string& help) {
  app_->add_flag_callback(names, std::move(take), help);
}

void Command::on_run(std::function<void()> run) { app_->callback(std::move(run)); }

bool Command::was_given() const { return app_->parsed(); }

CommandLine::CommandLine(const std::string& about, const std::string& program)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(about, program)) {
  app_ = owned_.get();
}

CommandLine::~CommandLine() = default;

void CommandLine::show_version(const std::string& text) {
  app_->set_version_flag("--version", text);
}

void CommandLine::on_parsed(std::function<void()> call) {
  app_->parse_complete_callback(std::move(call));
}

std::string CommandLine::given_command() const {
  const auto given = app_->get_subcommands();
  return given.empty() ? "" : given.front()->get_name();
}

std::optional<int> CommandLine::parse(int argc,
                                      const char* const* argv,
                                      const std::function<void(const char*)>& complain) {
  constexpr int kBadCommandLine = 2;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app_->exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    if (complain) {
      complain(e.what());
    } else {
      app_->exit(e);
    }
    return kBadCommandLine;
  }
  return std::nullopt;
}

}  // namespace smd
