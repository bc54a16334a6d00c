// A state file with a journal beside it (docs/formats/state.md, decision 37): what changed is
// appended as lines, at a cost that does not grow with the file. The file itself is written anew
// when the journal has outgrown it.
//
// A journal names the file that it belongs to by length and checksum, and beside another it means
// nothing: so there is no moment between the two writes at which a restart would read the wrong
// pair. Each line has a checksum that goes on from the line before: a line that is damaged, cut
// off, missing or out of place ends what is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smd/app/state_disk.h"
#include "smd/base/result.h"

namespace smd::app {

class StateJournal {
 public:
  /// `disk` outlives this; `where` is for the messages.
  StateJournal(StateDisk& disk, std::string name, std::string where)
      : disk_(disk), name_(std::move(name)), where_(std::move(where)) {}

  struct Content {
    std::string text;     // of the file, as read_state() has it
    std::string changes;  // lines of its journal, in order
    std::string damage;   // why there are no more of them; empty: there are none
  };

  /// As read_state(); of the file before the last with its own journal, and what came after it.
  [[nodiscard]] Parsed<Content> read();

  /// The file whole, with an empty journal. After a failure, or when the power goes at any moment,
  /// the old pair or the new one is there. Requires: `text` is empty or ends with a line feed.
  Result<void> replace(std::string_view text);

  /// Requires: the last replace() or append() went well; `changes` are whole lines. After a failure
  /// those before are there, and perhaps some of these.
  Result<void> append(std::string_view changes);

  /// The journal is so much longer than the file that both are better written as one.
  [[nodiscard]] bool is_long() const;

 private:
  [[nodiscard]] std::string journal() const { return name_ + ".journal"; }

  StateDisk& disk_;
  std::string name_;
  std::string where_;
  std::size_t text_bytes_ = 0;
  std::size_t journal_bytes_ = 0;
  std::uint32_t chain_ = 0;  // checksum of the last line
};

}  // namespace smd::app
