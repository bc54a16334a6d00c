// Keeps what clients left with the administration in the state directory. Written a moment after
// it changed, off the loop, one write at a time: a crowd of clients costs a few writes.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "smd/app/kept_records.h"

namespace smd::app {

class RecordStore {
 public:
  /// From a change to the write. What came so shortly before a crash is lost.
  static constexpr Duration kDelay = std::chrono::milliseconds(200);

  using Collect = std::function<KeptRecords()>;

  RecordStore(Runtime& runtime, std::string state_dir, std::function<std::int64_t()> wall_ms);
  RecordStore(const RecordStore&) = delete;

  /// What a former life left; nothing where there is none. A file that is damaged is put aside and
  /// said so: clients register again with a manager that does not know them.
  [[nodiscard]] KeptRecords load();

  /// Asked for what to write, when it is time.
  void set_collect(Collect collect) { collect_ = std::move(collect); }

  void note_change();

  /// Now, if anything changed that was not written; waits for a write that is under way. Before the
  /// end of the process.
  void flush();

 private:
  void write();
  void finish(const Result<void>& written);

  [[nodiscard]] Moment now() const { return {runtime_.now(), wall_ms_()}; }

  Runtime& runtime_;
  std::string state_dir_;
  std::function<std::int64_t()> wall_ms_;
  Collect collect_;
  bool changed_ = false;  // since what is being written was collected
  bool failed_ = false;   // the last write: said once
  bool writing_ = false;
  std::future<void> written_;
  Timer timer_;
  OffloadOwner work_;
};

}  // namespace smd::app
