// One request for records and its answer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "smd/sa/sa_mad.h"
#include "smd/sa/subnet_view.h"
#include "smd/transport/transport.h"

namespace smd::sa {

// One request, answered from a view: which records match, and which status stands for none.
//
// Get takes exactly one record, GetTable any number, none included (IBA 15.4.3, 15.4.4). What a
// client may not see (SA_Key trust, 15.4.1.2) is blanked before it is compared, so that nobody can
// guess a key by asking.

/// Where a request came from, and so where what it asks for is sent.
struct Client {
  Lid lid;
  std::uint32_t qp = 1;
  std::uint8_t sl = 0;
  std::uint16_t pkey_index = 0;  // in the table of our port

  friend auto operator<=>(const Client&, const Client&) = default;
};

[[nodiscard]] Client client_of(const MadPacket& request);

[[nodiscard]] inline std::span<const std::byte, kDataSize> data_of(const MadPacket& request) {
  return std::span<const std::byte, kMadSize>(request.mad).subspan<kHeaderSize, kDataSize>();
}

struct Query {
  SaHeader header;
  std::span<const std::byte, kDataSize> data;

  /// The request carries the SM_Key that this subnet trusts.
  bool trusted = false;

  Client client = {};

  /// The port that asks; kNone when no port has the LID that the request came from.
  PortIdx requester = kNone<PortIdx>;

  /// The answer may come later; see Answer::waits.
  bool may_wait = false;

  /// What changes on the loop is not looked at: ViewParts::path_order, ViewParts::held.
  bool off_loop = false;
};

/// Who is not trusted sees ports that share a partition with his own (IBA 15.4.1.2). The port of a
/// switch that leads to an adapter tells of that one, too: he has to see both.
[[nodiscard]] bool is_visible(const SubnetView& view, const Query& query, PortIdx port);

/// Whether the request joins or leaves a group, registers or deletes a service in the name of a
/// port that is not the one it came from. IBA lets a port do so for those of its partition.
[[nodiscard]] bool speaks_for_another(const SubnetView& view, const Query& query);

/// Nobody is known that has the LID which the request came from, or the GID of this subnet that it
/// gives as that of who asks.
[[nodiscard]] bool is_stranger(const SubnetView& view, const Query& query);

/// What one request may cost.
struct QueryLimits {
  std::size_t bytes = std::size_t{64} << 20;  // of records in one answer
  std::size_t paths = std::size_t{1} << 16;   // that one request walks
};

struct Answer {
  Status status = Status::Ok;
  std::uint16_t offset = 0;        // of records, in units of 8 bytes
  std::vector<std::byte> records;  // status Ok: one after the other; else empty
  std::size_t cost = 1;            // records and paths that were looked at, whoever may see them
  bool waits = false;              // there is none yet: ask again when something has been read
  bool awaits_view = false;        // given only when the view is there that is due because of it

  [[nodiscard]] std::size_t count() const {
    return offset == 0 ? 0 : records.size() / (std::size_t{8} * offset);
  }
};

/// The header of the answer: the request's, without its key and its segment (IBA 15.4.1).
[[nodiscard]] SaHeader answer_header(const SaHeader& request, Status status, std::uint16_t offset);

/// One MAD to where the request came from: one record, or the status of a refusal.
[[nodiscard]] MadPacket make_answer(const MadPacket& request,
                                    const SaHeader& header,
                                    const Answer& answer);

/// GetMulti, whose data may be longer than a MAD holds.
[[nodiscard]] Answer answer_multi(const SubnetView& view,
                                  const Query& query,
                                  std::span<const std::byte> data,
                                  const QueryLimits& limits = {});

/// A Get takes exactly one record.
[[nodiscard]] Answer only_one(Answer answer);

/// Every other method.
[[nodiscard]] Answer answer_query(const SubnetView& view,
                                  const Query& query,
                                  const QueryLimits& limits = {});

// Attributes that clients write: who keeps such records answers for them.

class RecordManager {
 public:
  virtual ~RecordManager() = default;

  /// Any method but GetMulti. Nothing when the attribute, or this method of it, is not kept here;
  /// a Get that does not match exactly one record answers so itself. On the loop.
  [[nodiscard]] virtual std::optional<Answer> answer(const SubnetView& view,
                                                     const Query& query) = 0;
};

// Which end ports a request for records may mean, and what a client may see of them.

/// In every record that has one, the LID is component 0 and stands first.
inline constexpr std::uint64_t kLid = component_bit(0);

[[nodiscard]] inline bool asks(const Query& query, std::uint64_t components) {
  return (query.header.component_mask & components) == components;
}

[[nodiscard]] Lid wanted_lid(const Query& query);

/// How many that were.
std::size_t drop_invisible(const SubnetView& view, const Query& query, std::vector<PortIdx>& ports);

// Collects the records of one answer: what a request asks for, up to a limit.

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

  /// So many were looked at and are not offered: they cost as much as those that do not match.
  void pass(std::size_t count = 1) { looked_at_ += count; }

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

/// One port where the request names a LID, else all. A LID within the range of a port's LMC names
/// that port. What the client may not see is not among them, and passes by `sink`.
[[nodiscard]] std::vector<PortIdx> find_candidates(const SubnetView& view,
                                                   const Query& query,
                                                   RecordSink& sink);

// Of records that stand in the snapshot as they are (record_queries.cpp). Each looks up the LID or
// GUID that the request names and scans only what that leaves.
[[nodiscard]] Answer find_node_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_port_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_switch_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_sm_info_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_guid_info_records(const SubnetView&, const Query&, const QueryLimits&);

/// The same of the further GUIDs that ports have by `further`, whatever the view knows.
[[nodiscard]] Answer find_guid_infos(const SubnetView& view,
                                     const Query& query,
                                     const QueryLimits& limits,
                                     const std::map<Guid, std::vector<Guid>>& further);
[[nodiscard]] Answer find_link_records(const SubnetView&, const Query&, const QueryLimits&);
[[nodiscard]] Answer find_lft_records(const SubnetView&, const Query&, const QueryLimits&);

}  // namespace smd::sa
