#include "smd/bin/commands.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "smd/admin/client.h"
#include "smd/base/program.h"
#include "smd/base/read_file.h"
#include "smd/config/config.h"
#include "smd/config/opensm_config.h"
#include "smd/state/opensm_state.h"
#include "smd/state/state_bundle.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_files.h"
#include "smd/transport/umad_ports.h"

namespace smd::bin {
namespace {

constexpr const char* kOpensmCache = "/var/cache/opensm";

/// etc/site.toml
constexpr std::string_view kSiteFile =
    R"(# The configuration of smd: what this file says is set, and all else is at its default.
# /usr/share/smd/smd.toml has every option with its default, its unit and its range, as smd.toml(5) has;
# "smd check-config -c FILE" judges a file, and with --print says what is in force.
)";

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

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

/// What link() says on file systems without hard links, such as vfat and many of CIFS.
bool says_no_links(int why) { return why == EPERM || why == EOPNOTSUPP || why == ENOSYS; }

/// Gives a file of before a second name beside it, one that nothing has; or a copy where a file has
/// one name alone.
Result<std::string> keep_beside(const std::filesystem::path& path) {
  for (unsigned n = 1;; ++n) {
    std::string kept = path.string() + ".before-smd";
    if (n > 1) kept += fmt::format(".{}", n);
    if (::link(path.c_str(), kept.c_str()) == 0) return kept;
    if (says_no_links(errno)) {
      const auto text = read_file(path.string(), kLargestState);
      if (!text) return fail(Errc::Io, fmt::format("{}: {}", kept, text.error().context));
      if (write_new(kept, *text)) return kept;
    }
    if (errno != EEXIST) return fail(Errc::Io, fmt::format("{}: {}", kept, std::strerror(errno)));
  }
}

/// Files for OpenSM. Either all of them come into place or each name has what it had.
class OpensmFiles {
 public:
  OpensmFiles(std::filesystem::path dir, bool replace) : dir_(std::move(dir)), replace_(replace) {}

  OpensmFiles(const OpensmFiles&) = delete;
  OpensmFiles& operator=(const OpensmFiles&) = delete;

  ~OpensmFiles() {
    std::error_code error;
    for (const std::string& fresh : fresh_) std::filesystem::remove(fresh, error);
    if (done_) return;
    for (const std::string& name : placed_) {
      if (!kept_.contains(name)) std::filesystem::remove(dir_ / name, error);
    }
    // Two names of one file stay two when one is given the other.
    for (const auto& [name, kept] : kept_) {
      std::filesystem::rename(kept, dir_ / name, error);
      if (!error) std::filesystem::remove(kept, error);
    }
  }

  Result<void> write(const std::vector<OpensmFile>& files) {
    for (const OpensmFile& file : files) {
      const std::string fresh = fmt::format("{}.new.{}", (dir_ / file.name).string(), ::getpid());
      if (!write_new(fresh, file.text))
        return fail(Errc::Io,
                    fmt::format("{}: {}", (dir_ / file.name).string(), std::strerror(errno)));
      fresh_.push_back(fresh);
    }
    if (replace_) {
      for (const std::string_view name : kOpensmStateFiles) {
        const std::filesystem::path path = dir_ / name;
        if (!is_there(path)) continue;
        const auto kept = keep_beside(path);
        if (!kept) return tl::unexpected<Error>(kept.error());
        kept_.emplace(name, *kept);
      }
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string path = dir_ / files[i].name;
      const bool was_kept = kept_.contains(files[i].name);
      // A link, other than a rename, never goes over a file that came meanwhile.
      bool placed = was_kept ? std::rename(fresh_[i].c_str(), path.c_str()) == 0
                             : ::link(fresh_[i].c_str(), path.c_str()) == 0;
      if (!placed && !was_kept && says_no_links(errno)) placed = write_new(path, files[i].text);
      if (!placed) return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(errno)));
      placed_.push_back(files[i].name);
    }
    // Files that nothing was exported for: OpenSM would read what was true before smd.
    for (const auto& [name, kept] : kept_) {
      if (std::ranges::count(placed_, name) == 0 && std::remove((dir_ / name).c_str()) != 0)
        return fail(Errc::Io, fmt::format("{}: {}", (dir_ / name).string(), std::strerror(errno)));
    }
    done_ = true;
    return {};
  }

  /// The names of files of before, and what they are called now.
  [[nodiscard]] const std::map<std::string, std::string>& kept() const { return kept_; }

 private:
  std::filesystem::path dir_;
  bool replace_;
  bool done_ = false;
  std::vector<std::string> fresh_;   // whole, beside their places
  std::vector<std::string> placed_;  // names
  std::map<std::string, std::string> kept_;
};

int write_files(const std::vector<OpensmFile>& files,
                const std::filesystem::path& dir,
                bool replace) {
  for (const OpensmFile& file : files) {
    if (!replace && is_there(dir / file.name))
      return print_faults(
          Faults{{dir / file.name,
                  0,
                  "is there already; --replace puts it aside, or name another directory"}});
  }
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return report({Errc::Io, fmt::format("{}: {}", dir.string(), error.message())});
  OpensmFiles all(dir, replace);
  if (const auto written = all.write(files); !written) return report(written.error());
  for (const auto& [name, kept] : all.kept())
    fmt::print("{} of before is {} now\n", (dir / name).string(), kept);
  for (const OpensmFile& file : files)
    fmt::print("{} written: {}\n", (dir / file.name).string(), file.note);
  return 0;
}

/// A file that an imported option names; nothing where there is none.
std::optional<Parsed<std::string>> read_named(const std::string& path) {
  auto text = read_file(path, kLargestSettings);
  if (text) return Parsed<std::string>(std::move(*text));
  if (text.error().code == Errc::NoDevice) return std::nullopt;
  return Parsed<std::string>(fault(path, 0, text.error().context));
}

/// A folder beside the files to be, gone with its owner.
class Staging {
 public:
  explicit Staging(const std::filesystem::path& dir) : path_(dir / ".smd-import-XXXXXX") {
    std::string name = path_.string();
    made_ = ::mkdtemp(name.data()) != nullptr;
    path_ = name;
  }

  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  ~Staging() {
    std::error_code error;
    if (made_) std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] bool made() const { return made_; }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

/// Who may read both OpenSM's file, whose keys are in what comes of it, and the file in whose place
/// that goes. A new one is as the packages make it, since keys may be added later.
void limit_readers(const std::filesystem::path& fresh,
                   const std::string& theirs,
                   const std::filesystem::path& place) {
  using std::filesystem::perms;
  std::error_code error;
  perms all = perms::owner_read | perms::group_read;
  if (const auto before = std::filesystem::status(place, error); std::filesystem::exists(before))
    all = before.permissions() & (all | perms::others_read);
  if (const auto read = std::filesystem::status(theirs, error); std::filesystem::exists(read))
    all &= read.permissions();
  std::filesystem::permissions(fresh, all | perms::owner_read | perms::owner_write, error);
}

/// Of etc/smd.toml, which packages put there up to 2026-11-30: its first line, and nothing but
/// remarks and names of sections. What else it says is each release's own.
bool is_earlier_default(std::string_view text) {
  const std::string now = print_default_config();
  if (!text.starts_with(std::string_view(now).substr(0, now.find('\n') + 1))) return false;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool is_section = line.starts_with('[') && line.find_first_of("]#=\"") == line.size() - 1;
    if (!line.empty() && !line.starts_with('#') && !is_section) return false;
  }
  return true;
}

/// What a package puts there, or did (etc/README.md): it sets nothing. A link is somebody's own.
bool is_untouched(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return false;
  const auto text = read_file(path.string(), kLargestSettings);
  return text && (*text == kSiteFile || is_earlier_default(*text));
}

/// All of the files under their names, or none: each is written whole beside its place first.
int put_in_place(const std::vector<OpensmFile>& files, const OpensmImportOptions& options) {
  const std::filesystem::path dir = options.dir;
  std::error_code error;
  std::vector<std::string> untouched;
  if (!options.force) {
    for (const OpensmFile& file : files) {
      if (!std::filesystem::exists(std::filesystem::symlink_status(dir / file.name, error)))
        continue;
      if (!is_untouched(dir / file.name))
        return print_faults(
            Faults{{dir / file.name, 0, "is there already; --force writes over it"}});
      untouched.push_back(file.name);
    }
  }
  const auto fail_at = [](const std::filesystem::path& path, const std::string& why) {
    fmt::print(stderr, "smd import-opensm: {}: {}\n", path.string(), why);
    return 1;
  };
  std::filesystem::create_directories(dir, error);
  if (error) return fail_at(dir, error.message());
  const Staging staging(dir);
  if (!staging.made()) return fail_at(dir, std::strerror(errno));
  for (const OpensmFile& file : files) {
    const std::filesystem::path path = staging.path() / file.name;
    if (!write_new(path, file.text)) return fail_at(dir / file.name, std::strerror(errno));
    limit_readers(path, options.file, dir / file.name);
  }
  const auto kept = [&](const std::string& name) { return staging.path() / ("was." + name); };
  const auto goes_over = [&](const std::string& name) {
    return options.force || std::ranges::count(untouched, name) != 0;
  };
  for (const std::string& name : untouched) {
    std::filesystem::create_hard_link(dir / name, kept(name), error);
    if (error) return fail_at(dir / name, error.message());
  }
  for (auto file = files.begin(); file != files.end(); ++file) {
    // A link, other than a rename, never goes over a file that came meanwhile.
    if (goes_over(file->name))
      std::filesystem::rename(staging.path() / file->name, dir / file->name, error);
    else
      std::filesystem::create_hard_link(staging.path() / file->name, dir / file->name, error);
    if (!error) continue;
    const std::string why = error.message();
    for (auto done = files.begin(); !options.force && done != file; ++done) {
      if (goes_over(done->name))
        std::filesystem::rename(kept(done->name), dir / done->name, error);
      else
        std::filesystem::remove(dir / done->name, error);
    }
    return fail_at(dir / file->name, why);
  }
  return 0;
}

/// As a word for a shell.
std::string quoted(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Of several managers. smd.service would be one more, at its defaults.
std::string print_next_steps(const std::vector<ImportedConfig>& configs,
                             const std::filesystem::path& dir) {
  std::error_code error;
  constexpr const char* kFolder = "/etc/smd";
  std::string text =
      "Several ports, several managers: smd.target, and not smd.service. What is to be run:\n";
  if (!std::filesystem::equivalent(dir, kFolder, error)) {
    text += fmt::format("  sudo install -D -m 0640 -t {}", kFolder);
    for (const ImportedConfig& each : configs) text += " " + quoted(dir / each.name);
    text += " &&\n";
  }
  const char* cache = std::getenv("OSM_CACHE_DIR");  // as OpenSM
  const bool is_named = cache != nullptr && *cache != '\0';
  const std::string book = fmt::format("{}/guid2lid", is_named ? cache : kOpensmCache);
  if (std::filesystem::exists(book, error)) {
    for (const ImportedConfig& each : configs)
      text += fmt::format(
          "  sudo smd state import --instance {} {} &&\n", each.instance(), quoted(book));
  } else {
    text += fmt::format(
        "  # no {}: no LIDs of OpenSM; where its cache directory is another, import the guid2lid "
        "there first\n",
        book);
  }
  text +=
      "  sudo systemctl disable --now opensm &&\n"
      "  sudo systemctl daemon-reload &&\n"
      "  sudo systemctl enable --now smd.target";
  for (const ImportedConfig& each : configs)
    text += fmt::format(" &&\n  sudo smctl -i {} status", each.instance());
  return text + "\n";
}

/// The file before stays until all of the new one is on the disk. What is no file, such as a pipe,
/// is written as it is.
Result<void> write_in_place_of(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const bool is_file =
      !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
  const std::string fresh = is_file ? path + ".new" : path;
  std::FILE* file = std::fopen(fresh.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = written && std::fflush(file) == 0 && (!is_file || ::fsync(::fileno(file)) == 0);
  int why = written ? 0 : errno;
  if (file != nullptr && std::fclose(file) != 0 && written) {
    written = false;
    why = errno;
  }
  if (written && is_file && std::rename(fresh.c_str(), path.c_str()) != 0) {
    written = false;
    why = errno;
  }
  if (written) return {};
  if (is_file) std::filesystem::remove(fresh, ignored);
  return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(why)));
}

/// OpenSM, which knows nothing of blocked turns, would lead routes over them.
Faults find_blocked(const StateBundle& bundle, const std::string& dir) {
  const auto found = bundle.find("turns");
  if (found == bundle.end()) return {};
  const auto turns = parse_turns(found->second, state_path(dir, "turns"));
  if (!turns) return turns.error();
  if (turns->empty()) return {};
  return {{state_path(dir, "turns"),
           0,
           fmt::format("{} turns may be blocked, and packets of OpenSM's routes over them would be "
                       "discarded; start smd once more, which opens them, stop it and export "
                       "again; or --leave-turns, where these switches are gone for good",
                       turns->size())}};
}

}  // namespace

int export_state(const Config& config, const StateOptions& options) {
  const std::string dir = options.dir.empty() ? config.sm.state_dir : options.dir;
  const bool for_opensm = options.format == "opensm";
  if (for_opensm == options.opensm_dir.empty())
    return print_faults(
        Faults{{"--as", 0, "opensm needs a DIR to write into, and nothing else does"}});
  if (options.replace && !for_opensm)
    return print_faults(
        Faults{{"--replace", 0, "is for --as opensm; another export has one file"}});
  if (std::error_code error; !std::filesystem::is_directory(dir, error))
    return print_faults(Faults{{dir, 0, "is no folder; the state is where sm.state_dir says"}});
  const auto bundle = read_bundle(dir);
  if (!bundle) return print_faults(bundle.error());
  if (for_opensm) {
    if (const auto faults = find_blocked(*bundle, dir); !faults.empty() && !options.leave_turns)
      return print_faults(faults);
    // What clients leave with OpenSM is in no records of ours.
    if (const auto forgotten = unseal_records(dir); !forgotten) return report(forgotten.error());
    const auto files = export_for_opensm(
        *bundle, {.from = dir, .subnet_prefix = config.sm.subnet_prefix, .wall_ms = wall_ms()});
    return files ? write_files(*files, options.opensm_dir, options.replace)
                 : print_faults(files.error());
  }
  const std::string text = print_bundle(*bundle);
  if (options.out.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  const auto written = write_in_place_of(options.out, text);
  return written ? 0 : report(written.error());
}

int import_opensm_config(const OpensmImportOptions& options) {
  OpensmSources sources{.file = options.file, .flags = options.flags, .read = read_named};
  auto text = read_file(options.file, kLargestSettings);
  if (text)
    sources.text = std::move(*text);
  else if (text.error().code != Errc::NoDevice)
    return print_faults(Faults{{options.file, 0, text.error().context}});
  if (!options.start_file.empty()) {
    auto start = read_file(options.start_file, kLargestSettings);
    if (!start) return print_faults(Faults{{options.start_file, 0, start.error().context}});
    sources.start_file = options.start_file;
    sources.start_text = std::move(*start);
  }
  for (const UmadPort& port : list_ports())
    if (port.is_infiniband && port.port_guid != Guid{})
      sources.local_ports.push_back(port.port_guid);
  const auto import = import_opensm(sources);
  if (!import) return print_faults(import.error());
  std::string lines;
  for (const OpensmReportLine& line : import->report) lines += print_report_line(line) + "\n";
  if (options.dir.empty()) {
    if (import->configs.size() > 1) {
      return print_faults(
          Faults{{"-o",
                  0,
                  fmt::format("{} ports have a configuration each; name a directory for them",
                              import->configs.size())}});
    }
    fmt::print("{}", import->configs.front().text);
    fmt::print(stderr, "{}", lines);
    return 0;
  }
  std::vector<OpensmFile> files;
  for (const ImportedConfig& each : import->configs) files.push_back({each.name, each.text, ""});
  files.push_back({"import-opensm.txt", lines, ""});
  if (const int code = put_in_place(files, options); code != 0) return code;
  for (const OpensmFile& file : files)
    fmt::print("{} written\n", (std::filesystem::path(options.dir) / file.name).string());
  fmt::print("{}", lines);
  if (import->configs.size() > 1) fmt::print("{}", print_next_steps(import->configs, options.dir));
  return 0;
}

int import_state(const Config& config, const StateOptions& options) {
  const std::string dir = options.dir.empty() ? config.sm.state_dir : options.dir;
  if (is_running(config))
    return report({Errc::Busy, "a daemon runs; stop it first: " + config.admin.socket});
  StateBundle all;
  for (const std::string& path : options.files) {
    const auto text = read_file(path, kLargestState, Pipes::Accepted);
    if (!text) return print_faults(Faults{{path, 0, text.error().context}});
    auto imported = smd::import_state(*text, path, wall_ms());
    if (!imported) return print_faults(imported.error());
    if (!imported->note.empty()) fmt::print("{}: {}\n", path, imported->note);
    for (auto& [kind, content] : imported->bundle) all[kind] = std::move(content);
  }
  const auto lock = StateLock::take(dir);
  if (!lock) return report(lock.error());
  // All or nothing is decided before the first file is written.
  for (const auto& [kind, content] : all) {
    const auto there = read_state(dir, kind);
    if (options.replace || (there && there->empty())) continue;
    return print_faults(Faults{{state_path(dir, kind), 0, "is there already; --replace it?"}});
  }
  // Another manager may have ruled since our records were written.
  if (const auto forgotten = unseal_records(dir); !forgotten) return report(forgotten.error());
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
