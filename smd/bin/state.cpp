#include "smd/bin/state.h"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "smd/admin/client.h"
#include "smd/base/read_file.h"
#include "smd/state/opensm_export.h"
#include "smd/state/state_bundle.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_files.h"

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

/// Fails where the file is there already.
bool write_new(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) return true;
  const int why = errno;
  std::remove(path.c_str());
  errno = why;
  return false;
}

/// All of the files, or none.
int write_files(const std::vector<OpensmFile>& files, const std::filesystem::path& dir) {
  std::error_code error;
  for (const OpensmFile& file : files) {
    if (std::filesystem::exists(std::filesystem::symlink_status(dir / file.name, error)))
      return report(Faults{{dir / file.name, 0, "is there already; name another directory"}});
  }
  std::filesystem::create_directories(dir, error);
  if (error) return report({Errc::Io, fmt::format("{}: {}", dir.string(), error.message())});
  for (auto file = files.begin(); file != files.end(); ++file) {
    const std::string path = dir / file->name;
    if (write_new(path, file->text)) continue;
    const std::string why = fmt::format("{}: {}", path, std::strerror(errno));
    for (auto done = files.begin(); done != file; ++done)
      std::filesystem::remove(dir / done->name, error);
    return report({Errc::Io, why});
  }
  for (const OpensmFile& file : files)
    fmt::print("{} written: {}\n", (dir / file.name).string(), file.note);
  return 0;
}

}  // namespace

int export_state(const Config& config, const StateOptions& options) {
  const std::string dir = options.dir.empty() ? config.sm.state_dir : options.dir;
  const bool for_opensm = options.format == "opensm";
  if (for_opensm == options.opensm_dir.empty())
    return report(Faults{{"--as", 0, "opensm needs a DIR to write into, and nothing else does"}});
  const auto bundle = read_bundle(dir);
  if (!bundle) return report(bundle.error());
  if (for_opensm) {
    const auto files = export_for_opensm(
        *bundle, {.from = dir, .subnet_prefix = config.sm.subnet_prefix, .wall_ms = wall_ms()});
    return files ? write_files(*files, options.opensm_dir) : report(files.error());
  }
  const std::string text = print_bundle(*bundle);
  if (options.out.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::FILE* file = std::fopen(options.out.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (written) return 0;
  return report({Errc::Io, fmt::format("{}: {}", options.out, std::strerror(errno))});
}

int import_state(const Config& config, const StateOptions& options) {
  const std::string dir = options.dir.empty() ? config.sm.state_dir : options.dir;
  if (is_running(config))
    return report({Errc::Busy, "a daemon runs; stop it first: " + config.admin.socket});
  StateBundle all;
  for (const std::string& path : options.files) {
    const auto text = read_file(path, kLargestState, Pipes::Accepted);
    if (!text) return report(Faults{{path, 0, text.error().context}});
    auto imported = smd::import_state(*text, path, wall_ms());
    if (!imported) return report(imported.error());
    if (!imported->note.empty()) fmt::print("{}: {}\n", path, imported->note);
    for (auto& [kind, content] : imported->bundle) all[kind] = std::move(content);
  }
  const auto lock = StateLock::take(dir);
  if (!lock) return report(lock.error());
  // All or nothing is decided before the first file is written.
  for (const auto& [kind, content] : all) {
    const auto there = read_state(dir, kind);
    if (options.replace || (there && there->empty())) continue;
    return report(Faults{{state_path(dir, kind), 0, "is there already; --replace it?"}});
  }
  for (const auto& [kind, content] : all) {
    const bool journaled = kind == "records";
    if (auto written = journaled ? replace_records(dir, content) : write_state(dir, kind, content);
        !written)
      return report(written.error());
    fmt::print("{} written\n", state_path(dir, kind));
  }
  return 0;
}

}  // namespace smd::bin
