// LinkRecord and the records of forwarding tables (IBA 15.2.5.7, .13).
#pragma once

#include "smd/mad/tables.h"
#include "smd/sa/component_mask.h"

namespace smd::sa {

/// One direction of a link. The LID of a switch is that of port 0.
struct LinkRecord {
  Lid from_lid;
  PortNum from_port;
  PortNum to_port;
  Lid to_lid;

  friend bool operator==(const LinkRecord&, const LinkRecord&) = default;
};

struct LftRecord {
  Lid lid;
  std::uint16_t block = 0;
  LftBlock ports{};

  friend bool operator==(const LftRecord&, const LftRecord&) = default;
};

extern const RecordShape kLinkRecord;
extern const RecordShape kLftRecord;

Result<LinkRecord> decode_link_record(std::span<const std::byte> data);
Result<LftRecord> decode_lft_record(std::span<const std::byte> data);

/// Each fills `data`, which has the size of the record's shape.
void encode_record(const LinkRecord& record, std::span<std::byte> data);
void encode_record(const LftRecord& record, std::span<std::byte> data);

}  // namespace smd::sa
