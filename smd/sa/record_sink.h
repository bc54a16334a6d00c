// Collects the records of one answer: what a request asks for, up to a limit.
#pragma once

#include <array>
#include <vector>

#include "smd/sa/component_mask.h"
#include "smd/sa/query.h"

namespace smd::sa {

class RecordSink {
 public:
  /// `settled`: components that the caller has looked at itself.
  RecordSink(const RecordShape& shape,
             const Query& query,
             std::size_t most_bytes,
             std::uint64_t settled = 0)
      : shape_(shape),
        filter_(shape, query.header.component_mask & ~settled, query.data),
        most_bytes_(most_bytes) {}

  /// Takes the record when it matches.
  template <class Record>
  void offer(const Record& record) {
    if (overflowed_) return;
    ++looked_at_;
    const std::span<std::byte> bytes = std::span(scratch_).first(shape_.size);
    encode_record(record, bytes);
    if (!filter_.matches(bytes)) return;
    if (records_.size() + bytes.size() > most_bytes_) {
      overflowed_ = true;
      return;
    }
    records_.insert(records_.end(), bytes.begin(), bytes.end());
  }

  /// Nothing more will be taken.
  [[nodiscard]] bool overflowed() const { return overflowed_; }

  [[nodiscard]] Answer finish() && {
    if (overflowed_) return {.status = Status::NoResources, .cost = looked_at_};
    return {.offset = shape_.offset(), .records = std::move(records_), .cost = looked_at_ + 1};
  }

 private:
  const RecordShape& shape_;
  ComponentFilter filter_;
  std::size_t most_bytes_;
  std::array<std::byte, kDataSize> scratch_{};
  std::vector<std::byte> records_;
  std::size_t looked_at_ = 0;
  bool overflowed_ = false;
};

}  // namespace smd::sa
