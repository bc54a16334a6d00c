#include "sim-backend/bin/cmd_gen.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

struct GenOptions {
  std::string fabric;
  std::string output;
  bool list = false;
};

int print_to_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  fmt::print(stderr, "smsim: standard output: {}\n", std::strerror(errno));
  return kFailed;
}

bool write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out.good();
}

/// Whole or not at all: a file that was there stays until the new one is complete. Devices and
/// pipes are written directly.
int write_file(const std::string& name, const std::string& text) {
  const std::filesystem::path path(name);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool is_new = status.type() == std::filesystem::file_type::not_found;
  const bool by_rename = is_new || std::filesystem::is_regular_file(status);
  const std::filesystem::path target = by_rename ? path.string() + ".part" : name;
  errno = 0;
  if (!write_text(target, text)) {
    const int why = errno;
    if (by_rename) std::filesystem::remove(target, error);
    fmt::print(stderr, "{}: cannot be written: {}\n", name, std::strerror(why));
    return kFailed;
  }
  if (by_rename) std::filesystem::rename(target, path, error);
  if (!error) return 0;
  fmt::print(stderr, "{}: cannot be written: {}\n", name, error.message());
  std::filesystem::remove(target, error);
  return kFailed;
}

int run_gen(const GenOptions& options) {
  if (options.list) return print_to_stdout(list_generators());
  if (options.fabric.empty()) {
    fmt::print(stderr, "smsim: gen needs a FABRIC, or --list to see what there is\n");
    return kBadInput;
  }
  const Parsed<FabricSpec> spec = load_fabric(options.fabric);
  if (!spec) {
    for (const Fault& fault : spec.error()) fmt::print(stderr, "{}\n", print_fault(fault));
    return kBadInput;
  }
  const std::string text = print_fabric(*spec);
  return options.output.empty() ? print_to_stdout(text) : write_file(options.output, text);
}

}  // namespace

void add_gen_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<GenOptions>();
  CLI::App* command = app.add_subcommand("gen", "Print a fabric that ibsim and smd can read");
  command->add_option("FABRIC", options->fabric, "Generator NAME:key=value,… or a file to convert");
  command->add_option("-o,--output", options->output, "File to write instead of standard output");
  command->add_flag("--list", options->list, "All generators with their keys and defaults");
  command->callback([options, &exit_code] { exit_code = run_gen(*options); });
}

}  // namespace smd::sim
