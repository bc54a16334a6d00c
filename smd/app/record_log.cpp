#include "smd/app/record_log.h"

#include <utility>

namespace smd::app {

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

}  // namespace smd::app
