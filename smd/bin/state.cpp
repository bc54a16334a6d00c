#include "smd/bin/state.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "smd/admin/client.h"
#include "smd/app/state_bundle.h"
#include "smd/app/state_file.h"

namespace smd::bin {
namespace {

int report(const Faults& faults) {
  for (const Fault& each : faults) fmt::print(stderr, "{}\n", print_fault(each));
  return 2;
}

int report(const Error& error) {
  fmt::print(stderr, "smd state: {}\n", error.context);
  return 1;
}

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The daemon would write over what is imported.
bool is_running(const Config& config) {
  return send_command({.socket = config.admin.socket}, "status", nlohmann::json::object())
      .has_value();
}

Parsed<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fault(path, 0, "cannot be read");
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int export_state(const Config& config, const StateOptions& options) {
  const auto bundle = app::read_bundle(options.dir.empty() ? config.sm.state_dir : options.dir);
  if (!bundle) return report(bundle.error());
  const std::string text = app::print_bundle(*bundle);
  std::FILE* file = options.out.empty() ? stdout : std::fopen(options.out.c_str(), "w");
  if (file == nullptr) return report({Errc::Io, options.out + ": cannot be written"});
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && written;
  return written ? 0 : report({Errc::Io, "the export could not be written"});
}

int import_state(const Config& config, const StateOptions& options) {
  const std::string dir = options.dir.empty() ? config.sm.state_dir : options.dir;
  if (is_running(config))
    return report({Errc::Busy, "a daemon runs; stop it first: " + config.admin.socket});
  app::StateBundle all;
  for (const std::string& path : options.files) {
    const auto text = read_file(path);
    if (!text) return report(text.error());
    auto imported = app::import_state(*text, path, wall_ms());
    if (!imported) return report(imported.error());
    if (!imported->note.empty()) fmt::print("{}: {}\n", path, imported->note);
    for (auto& [kind, content] : imported->bundle) all[kind] = std::move(content);
  }
  // All or nothing is decided before the first file is written.
  for (const auto& [kind, content] : all) {
    const auto there = app::read_state(dir, kind);
    if (options.replace || (there && there->empty())) continue;
    return report(Faults{{app::state_path(dir, kind), 0, "is there already; --replace it?"}});
  }
  for (const auto& [kind, content] : all) {
    if (auto written = app::write_state(dir, kind, content); !written)
      return report(written.error());
    fmt::print("{} written\n", app::state_path(dir, kind));
  }
  return 0;
}

}  // namespace smd::bin
