#include "smd/state/record_store.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace smd {

void RecordLog::append(std::string changes) {
  if (changes.empty()) return;
  bytes_ += changes.size();
  entries_.push_back(std::move(changes));
  for (; bytes_ > kMostBytes; ++first_) {
    bytes_ -= entries_.front().size();
    entries_.pop_front();
  }
}

void RecordLog::restart() {
  first_ = end() + 1;
  entries_.clear();
  bytes_ = 0;
}

std::optional<std::string> RecordLog::since(std::uint64_t position) const {
  if (position < first_ || position > end()) return std::nullopt;
  std::string changes;
  for (std::uint64_t at = position; at < end(); ++at) changes += entries_[at - first_];
  return changes;
}

void RecordStore::open(RecordTables& tables) {
  tables_ = &tables;
  log_.restart();
  tables.restore(std::exchange(left_, {}));
}

void RecordStore::close() {
  left_ = collect();
  copy_.reset();
  tables_ = nullptr;
  log_.restart();
}

/// Of the copy: the world's clock may be set while it waits for its use.
Moment RecordStore::runtime_moment() const {
  const TimePoint now = tables_->now().runtime;
  const auto since_start = std::chrono::duration_cast<std::chrono::milliseconds>(now - TimePoint{});
  return {now, since_start.count()};
}

ClientRecords RecordStore::collect() const {
  if (copy_)
    return parse_records(copy_->print(), "copy", runtime_moment()).value_or(ClientRecords{});
  return tables_ != nullptr ? tables_->collect() : left_;
}

/// Whatever changed that the log does not have.
void RecordStore::note_in_log() {
  if (copy_ || tables_ == nullptr) return;  // changes of the copy come through the log
  std::string changes;
  if (tables_->take_changes(changes)) {
    log_.append(std::move(changes));
  } else {
    log_.restart();
  }
}

std::uint64_t RecordStore::position() {
  note_in_log();
  return log_.end();
}

std::optional<std::string> RecordStore::since(std::uint64_t position) {
  note_in_log();
  return log_.since(position);
}

void RecordStore::replace(const ClientRecords& records) {
  copy_.reset();
  tables_->restore(records);
  on_change_();
}

bool RecordStore::apply(std::string_view changes, std::int64_t ahead_ms) {
  on_change_();
  if (!copy_) {
    copy_ = RecordLines::read(print_records(collect(), runtime_moment()));
    if (!copy_) return false;
    log_.restart();
  }
  std::string ours = shift_leases(changes, -ahead_ms);
  const auto all = static_cast<std::size_t>(std::ranges::count(ours, '\n'));
  const std::int64_t to_copy_ms = runtime_moment().wall_ms - tables_->now().wall_ms;
  if (copy_->apply(shift_leases(ours, to_copy_ms)) < all) return false;
  log_.append(std::move(ours));
  return true;
}

void RecordStore::adopt_copy() {
  if (!copy_) return;
  const ClientRecords records = collect();
  copy_.reset();
  tables_->restore(records);
}

}  // namespace smd
