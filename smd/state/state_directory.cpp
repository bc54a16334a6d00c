// Files of the state directory: whole versions, and a journal of changes, checked when they are
// read.
#include "smd/state/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "smd/base/log.h"
#include "smd/base/read_file.h"

namespace smd {

namespace {

tl::unexpected<Error> io_error(const std::string& path, int error) {
  return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(error)));
}

Result<void> sync(const Descriptor& file, const std::string& path) {
  if (file.get() < 0 || ::fsync(file.get()) != 0) return io_error(path, errno);
  return {};
}

/// The bytes, on the disk when this returns.
Result<void> put(const Descriptor& file, const std::string& path, std::string_view bytes) {
  if (file.get() < 0) return io_error(path, errno);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return sync(file, path);
}

constexpr std::string_view kMark = "# smd-state ";

std::uint32_t checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

std::string last_line(std::string_view text) {
  return fmt::format("# end {} bytes, crc32 {:08x}\n", text.size(), checksum(text));
}

/// Its last line is one of ours.
bool ends_as_written(std::string_view file) {
  if (file.ends_with('\n')) file.remove_suffix(1);
  const std::size_t before = file.rfind('\n');  // npos + 1 is 0
  return file.substr(before + 1).starts_with("# end ");
}

/// Of a text whose first line is not one of ours.
bool has_lost_beginning(std::string_view file) {
  return !file.starts_with(kMark) && !kMark.starts_with(file) &&
         file.find('\0') == std::string_view::npos && ends_as_written(file);
}

bool is_whole(StateDisk& disk, const std::string& name) {
  auto file = disk.read(name);
  return file && *file && unwrap_state(name, std::move(**file), name).has_value();
}

constexpr std::size_t kSumDigits = 8;

/// Shorter journals are not worth writing the file anew.
constexpr std::size_t kShortJournal = std::size_t{64} << 10;

/// Of a line behind one with the checksum `before`.
std::uint32_t checksum(std::uint32_t before, std::string_view line) {
  return checksum(fmt::format("{:08x} {}", before, line));
}

/// The line that says to which text of a file a journal belongs.
std::string first_line(std::string_view name, std::string_view text) {
  return fmt::format("# smd-journal {} {} of {} bytes, crc32 {:08x}\n",
                     name,
                     kStateVersion,
                     text.size(),
                     checksum(text));
}

/// The line that says that nothing came after what was read.
std::string seal_line(std::string_view name, const StateJournal::Content& content) {
  const std::string all = content.text + content.changes;
  return fmt::format("# smd-complete {} {} of {} bytes, crc32 {:08x}\n",
                     name,
                     kStateVersion,
                     all.size(),
                     checksum(all));
}

/// read_state() leaves an empty line where the first one was.
std::string_view text_of(std::string_view unwrapped) {
  return unwrapped.starts_with('\n') ? unwrapped.substr(1) : unwrapped;
}

struct Lines {
  std::string good;
  std::string damage;
};

/// What can be read of a journal behind its first line.
Lines read_lines(std::string_view file, std::uint32_t chain) {
  Lines out;
  for (std::size_t number = 2; !file.empty(); ++number) {
    const std::size_t end = file.find('\n');
    const std::string_view line = file.substr(0, end);
    const std::string_view text = line.substr(std::min(line.size(), kSumDigits + 1));
    const std::uint32_t sum = checksum(chain, text);
    if (end == std::string_view::npos || line != fmt::format("{:08x} {}", sum, text)) {
      out.damage = fmt::format("line {} of it is not as it was written", number);
      return out;
    }
    out.good += text;
    out.good += '\n';
    chain = sum;
    file.remove_prefix(end + 1);
  }
  return out;
}

/// Those of a journal that belongs to `text`; nothing where it belongs to another.
std::optional<Lines> read_journal(const std::optional<std::string>& file,
                                  std::string_view name,
                                  std::string_view text) {
  const std::string first = first_line(name, text);
  if (!file || !file->starts_with(first)) return std::nullopt;
  return read_lines(std::string_view(*file).substr(first.size()), checksum(first));
}

/// Those of any journal, whatever it belongs to.
std::optional<Lines> read_journal(const std::optional<std::string>& file) {
  const std::size_t first = file ? file->find('\n') : std::string::npos;
  if (first == std::string::npos) return std::nullopt;
  return read_lines(std::string_view(*file).substr(first + 1),
                    checksum(std::string_view(*file).substr(0, first + 1)));
}

}  // namespace

Result<std::optional<std::string>> RealDisk::read(const std::string& name) {
  auto text = read_file(path(name), kLargestState);
  if (text) return std::move(*text);
  if (text.error().code == Errc::NoDevice) return std::nullopt;
  return tl::unexpected<Error>(text.error());
}

Result<void> RealDisk::write(const std::string& name, std::string_view bytes) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", directory_, error.message()));
  const std::string where = path(name);
  const Descriptor file(::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return put(file, where, bytes);
}

Result<void> RealDisk::append(const std::string& name, std::string_view bytes) {
  const std::string where = path(name);
  const Descriptor file(::open(where.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  return put(file, where, bytes);
}

Result<void> RealDisk::link(const std::string& from, const std::string& to) {
  ::unlink(path(to).c_str());
  if (::link(path(from).c_str(), path(to).c_str()) != 0) return io_error(path(to), errno);
  return {};
}

Result<void> RealDisk::rename(const std::string& from, const std::string& to) {
  if (::rename(path(from).c_str(), path(to).c_str()) != 0) return io_error(path(to), errno);
  return {};
}

void RealDisk::remove(const std::string& name) { ::unlink(path(name).c_str()); }

Result<void> RealDisk::sync_names() {
  return sync(Descriptor(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
              directory_);
}

RetryDisk::RetryDisk(std::string directory, std::function<void()> wait)
    : RealDisk(std::move(directory)), wait_(std::move(wait)) {
  if (!wait_) wait_ = [] { std::this_thread::sleep_for(std::chrono::seconds(1)); };
}

Result<std::optional<std::string>> RetryDisk::read(const std::string& name) {
  for (bool is_first = true;; is_first = false) {
    auto file = RealDisk::read(name);
    if (file || file.error().code == Errc::NoPermission || waits_ == kMostWaits) return file;
    if (is_first)
      log::warn("state.unreadable",
                "file={} why=\"{}\"; tried again for {} s",
                path(name),
                file.error().context,
                kMostWaits - waits_);
    ++waits_;
    wait_();
  }
}

Result<StateLock> StateLock::take(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    const bool denied = error == std::errc::permission_denied;
    return fail(denied ? Errc::NoPermission : Errc::Io,
                fmt::format("{}: {}", directory, error.message()));
  }
  const std::string path = directory + "/lock";
  Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.get() < 0) return io_error(path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return io_error(path, errno);
    std::array<char, 24> holder{};
    const ssize_t n = ::pread(file.get(), holder.data(), holder.size(), 0);
    const std::string_view text(holder.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    const std::string_view pid = text.substr(0, text.find_first_not_of("0123456789"));
    return fail(Errc::Busy,
                fmt::format("another smd keeps its state in {}{}{}; stop it, or name another "
                            "directory",
                            directory,
                            pid.empty() ? "" : ": process ",
                            pid));
  }
  // Only who asks in vain reads it: a disk that is full does not keep the daemon from running.
  const std::string own = fmt::format("{}\n", ::getpid());
  static_cast<void>(!::ftruncate(file.get(), 0));
  static_cast<void>(!::pwrite(file.get(), own.data(), own.size(), 0));
  return StateLock(std::move(file));
}

std::string state_path(const std::string& state_dir, std::string_view name) {
  return fmt::format("{}/{}", state_dir, name);
}

std::string wrap_state(std::string_view name, std::string_view text) {
  return fmt::format("{}{} {}\n{}{}", kMark, name, kStateVersion, text, last_line(text));
}

Parsed<std::string> unwrap_state(std::string_view name,
                                 std::string file,
                                 const std::string& where) {
  if (!file.starts_with(kMark)) {
    // The mark itself may be cut off, to nothing where a disk lost all of the file: an empty one is
    // neither what we wrote nor what anybody means.
    if (kMark.starts_with(file)) return fault(where, 1, "is cut off");
    // Nor is what a disk lost the beginning of.
    if (file.find('\0') != std::string::npos) return fault(where, 0, "has bytes that no text has");
    if (has_lost_beginning(file))
      return fault(where, 1, "has lost its beginning; who edits it removes the last line, too");
    return file;
  }
  const std::size_t body = file.find('\n');
  if (body == std::string::npos) return fault(where, 1, "is cut off");
  const std::string first = file.substr(0, body);
  if (first != fmt::format("{}{} {}", kMark, name, kStateVersion)) {
    return fault(where,
                 1,
                 fmt::format("'{}' is no '{}' of version {}; a newer smd, or another file?",
                             first,
                             name,
                             kStateVersion));
  }
  const std::size_t end = file.rfind("\n# end ");
  if (end == std::string::npos) return fault(where, 0, "is cut off: its last line is missing");
  const std::string_view text = std::string_view(file).substr(body + 1, end - body);
  if (std::string_view(file).substr(end + 1) != last_line(text))
    return fault(where, 0, "is not as it was written: its checksum is another");
  return "\n" + std::string(text);
}

Parsed<std::string> read_state(StateDisk& disk, const std::string& name, const std::string& where) {
  return read_state(disk, name, where, disk.read(name));
}

Parsed<std::string> read_state(StateDisk& disk,
                               const std::string& name,
                               const std::string& where,
                               Result<std::optional<std::string>> file) {
  const bool is_lost = !file && file.error().code == Errc::Malformed;
  // It may be whole, and later than its predecessor: it is not ours to do without it.
  if (!file && !is_lost) {
    const bool is_foreign = file.error().code == Errc::NoPermission;
    return fault(
        where, 0, file.error().context + (is_foreign ? ": let the user of smd read it" : ""));
  }
  if (file && !*file) return std::string{};
  const bool is_headless = file && has_lost_beginning(**file);
  auto text = file ? unwrap_state(name, std::move(**file), where)
                   : Parsed<std::string>(fault(where, 0, file.error().context));
  // Who edited it and left the last line does not want the LIDs of before.
  if (text || (is_headless && name == "lids")) return text;
  const std::string old = name + ".old";
  if (auto before = disk.read(old); before && *before) {
    if (auto old_text = unwrap_state(name, std::move(**before), where + ".old")) {
      log::error("state.damaged",
                 "file={} why=\"{}\" used={}.old",
                 where,
                 text.error().front().message,
                 where);
      return old_text;
    }
  }
  return text;
}

Result<void> write_state(StateDisk& disk,
                         const std::string& name,
                         std::string_view text,
                         const std::string& beside) {
  const std::string fresh = name + ".new";
  if (auto written = disk.write(fresh, wrap_state(name, text)); !written) {
    disk.remove(fresh);  // it may be what fills the disk
    return written;
  }
  // The predecessor is a convenience: not every file system has second names. A damaged file does
  // not take its place: until the rename it is all there is.
  if (is_whole(disk, name)) {
    static_cast<void>(disk.link(name, name + ".old"));
    if (!beside.empty()) static_cast<void>(disk.link(beside, beside + ".old"));
  }
  if (auto moved = disk.rename(fresh, name); !moved) return moved;
  return disk.sync_names();
}

Parsed<std::string> read_state(const std::string& state_dir, std::string_view name) {
  RealDisk disk(state_dir);
  return read_state(disk, std::string(name), state_path(state_dir, name));
}

Result<void> write_state(const std::string& state_dir,
                         std::string_view name,
                         const std::string& text) {
  RealDisk disk(state_dir);
  return write_state(disk, std::string(name), text);
}

void remove_state(const std::string& state_dir, std::string_view name) {
  RealDisk disk(state_dir);
  disk.remove(std::string(name));
  disk.remove(fmt::format("{}.old", name));
}

void set_aside(const std::string& state_dir, std::string_view name) {
  RealDisk disk(state_dir);
  const std::string file(name);
  static_cast<void>(disk.rename(file, file + ".damaged"));
}

void rename_state(const std::string& state_dir, std::string_view name, std::string_view to) {
  RealDisk disk(state_dir);
  if (disk.rename(std::string(name), std::string(to))) disk.remove(fmt::format("{}.old", name));
}

Parsed<StateJournal::Content> StateJournal::read() {
  auto content = read_both();
  if (!content) return content;
  const auto sealed = disk_.read(mark());
  content->complete =
      content->damage.empty() && sealed && *sealed && **sealed == seal_line(name_, *content);
  return content;
}

Parsed<StateJournal::Content> StateJournal::read_both() {
  const auto file_at = [this](const std::string& name) {
    auto file = disk_.read(name);
    return file ? std::move(*file) : std::nullopt;
  };
  const auto last = file_at(name_);
  const bool last_is_whole = !last || unwrap_state(name_, *last, where_).has_value();
  auto text = read_state(disk_, name_, where_);
  if (!text) return tl::unexpected<Faults>(text.error());
  Content out{.text = std::move(*text)};
  const auto take = [&out](std::optional<Lines> lines) {
    if (!lines || !out.damage.empty()) return false;
    out.changes += lines->good;
    out.damage = std::move(lines->damage);
    return true;
  };
  if (!last) return out;  // whoever removed it wants all of it gone
  const auto now = file_at(journal());
  const auto old = file_at(journal() + ".old");
  const std::string_view base = text_of(out.text);
  if (last_is_whole) {
    if (!take(read_journal(now, name_, base))) take(read_journal(old, name_, base));
  } else if (take(read_journal(old, name_, base))) {
    // What the damaged file had is in the journal of its predecessor, but for what was never there;
    // changes say what is, and so do those after it.
    take(read_journal(now));
  } else {
    take(read_journal(now, name_, base));
  }
  return out;
}

Result<void> StateJournal::replace(std::string_view text) {
  if (auto written = write_state(disk_, name_, text, journal()); !written) return written;
  const std::string first = first_line(name_, text);
  const std::string fresh = journal() + ".new";
  if (auto written = disk_.write(fresh, first); !written) {
    disk_.remove(fresh);
    return written;
  }
  if (auto moved = disk_.rename(fresh, journal()); !moved) return moved;
  if (auto synced = disk_.sync_names(); !synced) return synced;
  text_bytes_ = text.size();
  journal_bytes_ = 0;
  chain_ = checksum(first);
  return {};
}

Result<void> StateJournal::append(std::string_view changes) {
  std::string lines;
  std::uint32_t chain = chain_;
  while (!changes.empty()) {
    const std::size_t end = changes.find('\n');
    const std::string_view line = changes.substr(0, end);
    chain = checksum(chain, line);
    lines += fmt::format("{:08x} {}\n", chain, line);
    changes.remove_prefix(end == std::string_view::npos ? changes.size() : end + 1);
  }
  if (auto written = disk_.append(journal(), lines); !written) return written;
  chain_ = chain;
  journal_bytes_ += lines.size();
  return {};
}

Result<void> StateJournal::seal() {
  const auto content = read_both();
  if (!content) return fail(Errc::Io, print_fault(content.error().front()));
  if (!content->damage.empty()) return fail(Errc::Io, content->damage);
  if (auto written = disk_.write(mark(), seal_line(name_, *content)); !written) return written;
  return disk_.sync_names();
}

bool StateJournal::unseal() {
  const auto before = disk_.read(mark());
  if (before && !*before) return true;
  disk_.remove(mark());
  const auto left = disk_.read(mark());
  return left && !*left && disk_.sync_names().has_value();
}

bool StateJournal::is_long() const {
  return journal_bytes_ > kShortJournal && journal_bytes_ > text_bytes_;
}

}  // namespace smd
