// Command lines of programs: commands, options and flags with their help, read into variables. Only
// command_line.cpp reads CLI11, which takes longer to compile than the rest of a program.
//
//   CommandLine line{"Packets through fabrics", "bench_packet"};
//   line.option("--runs", runs, "Of each row").range(1, 1000).show_default();
//   if (const auto code = line.parse(argc, argv)) return *code;
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace smd {

/// One option, as it was added; lives as long as its command line.
class CommandOption {
 public:
  CommandOption& required(bool is = true);
  CommandOption& range(int from, int to);  // both may be given
  CommandOption& range(unsigned from, unsigned to);
  CommandOption& range(std::uint64_t from, std::uint64_t to);
  CommandOption& positive();
  CommandOption& not_negative();
  CommandOption& one_of(std::initializer_list<const char*> words);
  CommandOption& one_of(std::initializer_list<int> numbers);

  /// `fault` gets the text that was given and says what is wrong with it, or nothing; help shows
  /// `what` is wanted.
  CommandOption& check(std::function<std::string(const std::string&)> fault,
                       const std::string& what = "");

  /// What the variable holds now, or `text`, appears in help.
  CommandOption& show_default();
  CommandOption& show_default(const std::string& text);

  /// Values of a list may also stand in one word, with `mark` between.
  CommandOption& separator(char mark);
  CommandOption& excludes(const CommandOption& other);

 private:
  friend class Command;

  explicit CommandOption(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

/// One command of a program, or the program; lives as long as its command line.
class Command {
 public:
  Command command(const std::string& name, const std::string& help);
  void require_command();

  /// What stands before a command may stand behind it.
  void let_options_follow_commands();

  /// `names` as "-o,--out", or "FILE" for a word without dashes. T is a string, int, unsigned,
  /// std::uint16_t, std::uint64_t, double, or a list of strings or unsigned. Requires: `target`
  /// outlives parse().
  template <class T>
  CommandOption option(const std::string& names, T& target, const std::string& help = "");

  /// `take` gets the value after all have been checked.
  CommandOption text(const std::string& names,
                     std::function<void(const std::string&)> take,
                     const std::string& help);
  CommandOption texts(const std::string& names,
                      std::function<void(const std::vector<std::string>&)> take,
                      const std::string& help);
  CommandOption number(const std::string& names,
                       std::function<void(std::uint64_t)> take,
                       const std::string& help);

  void flag(const std::string& names, bool& target, const std::string& help);
  void flag(const std::string& names, int& count, const std::string& help);
  void flag(const std::string& names, std::function<void()> take, const std::string& help);

  /// Called by parse() when this command was given and all is right.
  void on_run(std::function<void()> run);

  [[nodiscard]] bool was_given() const;

 protected:
  explicit Command(CLI::App* app) : app_(app) {}

  CLI::App* app_;
};

class CommandLine : public Command {
 public:
  explicit CommandLine(const std::string& about, const std::string& program = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void show_version(const std::string& text);

  /// Called by parse() before any on_run().
  void on_parsed(std::function<void()> call);

  /// Of the command that was given; empty for none.
  [[nodiscard]] std::string given_command() const;

  /// An exit code where there is no more to do: 0 after --help and --version, 2 for a fault, which
  /// `complain` says, or a text on stderr without it.
  std::optional<int> parse(int argc,
                           const char* const* argv,
                           const std::function<void(const char*)>& complain = {});

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace smd
