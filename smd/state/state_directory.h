// The state directory: small files that are read at start and replaced whole when what they hold
// changes (docs/formats/state.md, decision 25), files that grow by what changed, and the lock that
// says whose they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "smd/base/read_file.h"
#include "smd/base/result.h"

namespace smd {

/// Names within one directory.
class StateDisk {
 public:
  virtual ~StateDisk() = default;

  /// Nothing when there is no such file.
  virtual Result<std::optional<std::string>> read(const std::string& name) = 0;

  /// A new file, or one in place of what was there; on the disk when this returns.
  virtual Result<void> write(const std::string& name, std::string_view bytes) = 0;

  /// To the end of a file that is there; on the disk when this returns. After a failure a part of
  /// it may be.
  virtual Result<void> append(const std::string& name, std::string_view bytes) = 0;

  /// A second name; in place of what has it.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;

  /// In one step: whoever looks sees the old file or the new one.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;

  virtual void remove(const std::string& name) = 0;

  /// Names are on the disk, too, when this returns.
  virtual Result<void> sync_names() = 0;
};

class RealDisk : public StateDisk {
 public:
  /// The directory is made when something is first written.
  explicit RealDisk(std::string directory) : directory_(std::move(directory)) {}

  Result<std::optional<std::string>> read(const std::string& name) override;
  Result<void> write(const std::string& name, std::string_view bytes) override;
  Result<void> append(const std::string& name, std::string_view bytes) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& name) override;
  Result<void> sync_names() override;

 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }

 private:
  std::string directory_;
};

/// Of a start: what the operating system does not give (no descriptors are left, a file server is
/// away) it is asked for again, once a second.
class RetryDisk final : public RealDisk {
 public:
  /// In all, of whatever file. With the pause before systemd starts a unit again, that is longer
  /// than the time after which it would start it no more (StartLimitIntervalSec / StartLimitBurst).
  static constexpr int kMostWaits = 15;

  /// `wait` takes a second.
  explicit RetryDisk(std::string directory, std::function<void()> wait = {});

  Result<std::optional<std::string>> read(const std::string& name) override;

 private:
  std::function<void()> wait_;
  int waits_ = 0;
};

/// A state file may be whole and cannot be read: the start has to be tried later. Says which file,
/// and why.
class UnreadableState final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whose state a directory holds: one daemon at a time, or both would write over each other's LIDs.
/// The kernel lets go of it when its process ends, however it ends.
class StateLock {
 public:
  /// Makes the directory if needed. Busy: another process holds it; the context names the directory
  /// and the process. NoPermission, Io: nobody can hold it.
  [[nodiscard]] static Result<StateLock> take(const std::string& directory);

 private:
  explicit StateLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

// Small files in the state directory: read at start, replaced whole when what they hold changes
// (docs/formats/state.md, decision 25).
//
// A file begins with a line that names its kind and version and ends with one that has the length
// and checksum of what is between: a file that was cut off is noticed. A file without the first
// line was written by hand or by an older smd, and is taken as it is. The last version but one
// stays beside it as NAME.old and is used when NAME is damaged.

inline constexpr int kStateVersion = 1;

[[nodiscard]] std::string state_path(const std::string& state_dir, std::string_view name);

/// `text` between its two lines. Requires: it is empty or ends with a line feed.
[[nodiscard]] std::string wrap_state(std::string_view name, std::string_view text);

/// The text again, its first line empty so that lines keep their numbers. A fault names what is
/// wrong: cut off, changed, another kind, a newer version.
[[nodiscard]] Parsed<std::string> unwrap_state(std::string_view name,
                                               std::string file,
                                               const std::string& where);

/// Empty when the file does not exist; a fault when neither it nor its predecessor is whole, or
/// when it cannot be read: it may be whole, and later than its predecessor. `where` is for the
/// messages.
[[nodiscard]] Parsed<std::string> read_state(StateDisk& disk,
                                             const std::string& name,
                                             const std::string& where);

/// The same, of what disk.read() gave.
[[nodiscard]] Parsed<std::string> read_state(StateDisk& disk,
                                             const std::string& name,
                                             const std::string& where,
                                             Result<std::optional<std::string>> file);

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

/// Of the file and its predecessor; none is no failure.
void remove_state(const std::string& state_dir, std::string_view name);

/// Out of the way, as NAME.damaged, so that the next start finds nothing.
void set_aside(const std::string& state_dir, std::string_view name);

/// In place of the file that has the name `to`, and without its own predecessor; none is no
/// failure.
void rename_state(const std::string& state_dir, std::string_view name, std::string_view to);

// A state file with a journal beside it (docs/formats/state.md, decision 37): what changed is
// appended as lines, at a cost that does not grow with the file. The file itself is written anew
// when the journal has outgrown it.
//
// A journal names the file that it belongs to by length and checksum, and beside another it means
// nothing: so there is no moment between the two writes at which a restart would read the wrong
// pair. Each line has a checksum that goes on from the line before: a line that is damaged, cut
// off, missing or out of place ends what is read.

class StateJournal {
 public:
  /// `disk` outlives this; `where` is for the messages.
  StateJournal(StateDisk& disk, std::string name, std::string where)
      : disk_(disk), name_(std::move(name)), where_(std::move(where)) {}

  struct Content {
    std::string text{};     // of the file, as read_state() has it
    std::string changes{};  // lines of its journal, in order
    std::string damage{};   // why there are no more of them; empty: there are none
    bool complete = false;  // as it was when seal() said that there is no more
  };

  /// As read_state(); of the file before the last with its own journal, and what came after it.
  [[nodiscard]] Parsed<Content> read();

  /// The file whole, with an empty journal. After a failure, or when the power goes at any moment,
  /// the old pair or the new one is there. Requires: `text` is empty or ends with a line feed.
  Result<void> replace(std::string_view text);

  /// Requires: the last replace() or append() went well; `changes` are whole lines. After a failure
  /// those before are there, and perhaps some of these.
  Result<void> append(std::string_view changes);

  /// What is on the disk is all that there is to be kept, and the next read() says so, unless it
  /// finds something else there.
  Result<void> seal();

  /// From now on there may be more. False: read() may say otherwise.
  [[nodiscard]] bool unseal();

  /// The journal is so much longer than the file that both are better written as one.
  [[nodiscard]] bool is_long() const;

 private:
  [[nodiscard]] Parsed<Content> read_both();

  [[nodiscard]] std::string journal() const { return name_ + ".journal"; }

  [[nodiscard]] std::string mark() const { return name_ + ".complete"; }

  StateDisk& disk_;
  std::string name_;
  std::string where_;
  std::size_t text_bytes_ = 0;
  std::size_t journal_bytes_ = 0;
  std::uint32_t chain_ = 0;  // checksum of the last line
};

}  // namespace smd
