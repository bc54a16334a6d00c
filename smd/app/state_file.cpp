#include "smd/app/state_file.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cstdio>

#include "smd/base/log.h"

namespace smd::app {
namespace {

constexpr std::string_view kMark = "# smd-state ";

std::uint32_t checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

std::string last_line(std::string_view text) {
  return fmt::format("# end {} bytes, crc32 {:08x}\n", text.size(), checksum(text));
}

bool is_whole(StateDisk& disk, const std::string& name) {
  auto file = disk.read(name);
  return file && *file && unwrap_state(name, std::move(**file), name).has_value();
}

}  // namespace

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
    // The mark itself may be cut off; no other file is so short and begins so.
    if (!file.empty() && kMark.starts_with(file)) return fault(where, 1, "is cut off");
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
  auto file = disk.read(name);
  if (!file) return fault(where, 0, fmt::format("cannot be read: {}", file.error().context));
  if (!*file) return std::string{};
  auto text = unwrap_state(name, std::move(**file), where);
  if (text) return text;
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

void set_aside(const std::string& state_dir, std::string_view name) {
  RealDisk disk(state_dir);
  const std::string file(name);
  static_cast<void>(disk.rename(file, file + ".damaged"));
}

}  // namespace smd::app
