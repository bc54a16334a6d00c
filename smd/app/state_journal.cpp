#include "smd/app/state_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <optional>

#include "smd/app/state_file.h"
#include "smd/base/log.h"

namespace smd::app {
namespace {

constexpr std::size_t kSumDigits = 8;

/// Shorter journals are not worth writing the file anew.
constexpr std::size_t kShortJournal = std::size_t{64} << 10;

std::uint32_t checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

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

Parsed<StateJournal::Content> StateJournal::read() {
  const auto file_at = [this](const std::string& name) {
    auto file = disk_.read(name);
    return file ? std::move(*file) : std::nullopt;
  };
  const auto last = file_at(name_);
  const bool last_is_whole = !last || unwrap_state(name_, *last, where_).has_value();
  auto text = read_state(disk_, name_, where_);
  if (!text) return tl::unexpected<Faults>(text.error());
  Content out{.text = std::move(*text), .changes = {}, .damage = {}};
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

bool StateJournal::is_long() const {
  return journal_bytes_ > kShortJournal && journal_bytes_ > text_bytes_;
}

}  // namespace smd::app
