// Small files in the state directory: read at start, replaced whole when what they hold changes
// (docs/formats/state.md, decision 25).
//
// A file begins with a line that names its kind and version and ends with one that has the length
// and checksum of what is between: a file that was cut off is noticed. A file without the first
// line was written by hand or by an older smd, and is taken as it is. The last version but one
// stays beside it as NAME.old and is used when NAME is damaged.
#pragma once

#include <string>
#include <string_view>

#include "smd/app/state_disk.h"
#include "smd/base/result.h"

namespace smd::app {

inline constexpr int kStateVersion = 1;

[[nodiscard]] std::string state_path(const std::string& state_dir, std::string_view name);

/// `text` between its two lines. Requires: it is empty or ends with a line feed.
[[nodiscard]] std::string wrap_state(std::string_view name, std::string_view text);

/// The text again, its first line empty so that lines keep their numbers. A fault names what is
/// wrong: cut off, changed, another kind, a newer version.
[[nodiscard]] Parsed<std::string> unwrap_state(std::string_view name,
                                               std::string file,
                                               const std::string& where);

/// Empty when the file does not exist; a fault when neither it nor its predecessor is whole.
/// `where` is for the messages.
[[nodiscard]] Parsed<std::string> read_state(StateDisk& disk,
                                             const std::string& name,
                                             const std::string& where);

/// After a failure, or when the power goes at any moment, the old file or the new one is there.
/// `beside`: a file that goes with the old one, and becomes BESIDE.old where that becomes NAME.old.
Result<void> write_state(StateDisk& disk,
                         const std::string& name,
                         std::string_view text,
                         const std::string& beside = {});

[[nodiscard]] Parsed<std::string> read_state(const std::string& state_dir, std::string_view name);

/// Creates the directory if needed.
Result<void> write_state(const std::string& state_dir,
                         std::string_view name,
                         const std::string& text);

/// Out of the way, as NAME.damaged, so that the next start finds nothing.
void set_aside(const std::string& state_dir, std::string_view name);

}  // namespace smd::app
