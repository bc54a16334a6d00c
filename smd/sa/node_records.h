// Records of what the snapshot holds: nodes, ports, switches, links.
#pragma once

#include <string>

#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

// Records that wrap an attribute of an agent with the LID of the port it belongs to (IBA 15.2.5.2,
// .3, .5, .6, .16). For switches the LID is that of port 0.

struct NodeRecord {
  Lid lid;
  NodeInfo info;
  std::string description;

  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

struct PortInfoRecord {
  Lid lid;
  PortNum port;
  std::uint8_t options = 0;
  PortInfo info;

  friend bool operator==(const PortInfoRecord&, const PortInfoRecord&) = default;
};

struct SwitchInfoRecord {
  Lid lid;
  SwitchInfo info;

  friend bool operator==(const SwitchInfoRecord&, const SwitchInfoRecord&) = default;
};

struct SmInfoRecord {
  Lid lid;
  SmInfo info;

  friend bool operator==(const SmInfoRecord&, const SmInfoRecord&) = default;
};

struct GuidInfoRecord {
  Lid lid;
  std::uint8_t block = 0;
  GuidBlock guids{};

  friend bool operator==(const GuidInfoRecord&, const GuidInfoRecord&) = default;
};

extern const RecordShape kNodeRecord;
extern const RecordShape kPortInfoRecord;
extern const RecordShape kSwitchInfoRecord;
extern const RecordShape kSmInfoRecord;
extern const RecordShape kGuidInfoRecord;

Result<NodeRecord> decode_node_record(std::span<const std::byte> data);
Result<PortInfoRecord> decode_port_info_record(std::span<const std::byte> data);
Result<SwitchInfoRecord> decode_switch_info_record(std::span<const std::byte> data);
Result<SmInfoRecord> decode_sm_info_record(std::span<const std::byte> data);
Result<GuidInfoRecord> decode_guid_info_record(std::span<const std::byte> data);

/// Each fills `data`, which has the size of the record's shape.
void encode_record(const NodeRecord& record, std::span<std::byte> data);
void encode_record(const PortInfoRecord& record, std::span<std::byte> data);
void encode_record(const SwitchInfoRecord& record, std::span<std::byte> data);
void encode_record(const SmInfoRecord& record, std::span<std::byte> data);
void encode_record(const GuidInfoRecord& record, std::span<std::byte> data);

// LinkRecord and the records of forwarding tables (IBA 15.2.5.7, .13).

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
