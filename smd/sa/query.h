// One request, answered from a view: which records match, and which status stands for none.
//
// Get takes exactly one record, GetTable any number, none included (IBA 15.4.3, 15.4.4). What a
// client may not see (SA_Key trust, 15.4.1.2) is blanked before it is compared, so that nobody can
// guess a key by asking.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/sa/component_mask.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

/// Where a request came from, and so where what it asks for is sent.
struct Client {
  Lid lid;
  std::uint32_t qp = 1;
  std::uint8_t sl = 0;
  std::uint16_t pkey_index = 0;  // in the table of our port

  friend auto operator<=>(const Client&, const Client&) = default;
};

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
};

/// Who is not trusted sees ports that share a partition with his own (IBA 15.4.1.2).
[[nodiscard]] bool is_visible(const SubnetView& view, const Query& query, PortIdx port);

/// What one request may cost.
struct QueryLimits {
  std::size_t bytes = std::size_t{64} << 20;  // of records in one answer
  std::size_t paths = std::size_t{1} << 16;   // that one request walks
};

struct Answer {
  Status status = Status::Ok;
  std::uint16_t offset = 0;        // of records, in units of 8 bytes
  std::vector<std::byte> records;  // status Ok: one after the other; else empty
  std::size_t cost = 1;            // records and paths that were looked at
  bool waits = false;              // there is none yet: ask again when something has been read

  [[nodiscard]] std::size_t count() const {
    return offset == 0 ? 0 : records.size() / (std::size_t{8} * offset);
  }
};

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

}  // namespace smd::sa
