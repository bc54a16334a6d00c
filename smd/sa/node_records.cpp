#include "smd/sa/node_records.h"

#include <algorithm>

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr Component kNodeComponents[] = {
    {0, 0, 16},      // LID
    {1, 16, 16},     // reserved
    {2, 32, 8},      // BaseVersion
    {3, 40, 8},      // ClassVersion
    {4, 48, 8},      // NodeType
    {5, 56, 8},      // NumPorts
    {6, 64, 64},     // SystemImageGUID
    {7, 128, 64},    // NodeGUID
    {8, 192, 64},    // PortGUID
    {9, 256, 16},    // PartitionCap
    {10, 272, 16},   // DeviceID
    {11, 288, 32},   // Revision
    {12, 320, 8},    // LocalPortNum
    {13, 328, 24},   // VendorID
    {14, 352, 512},  // NodeDescription
};

constexpr Component kPortInfoComponents[] = {
    {0, 0, 16},     // EndportLID
    {1, 16, 8},     // PortNum
    {2, 24, 8},     // Options
    {3, 32, 64},    // M_Key
    {4, 96, 64},    // GidPrefix
    {5, 160, 16},   // LID
    {6, 176, 16},   // MasterSMLID
    {7, 192, 32},   // CapabilityMask
    {8, 224, 16},   // DiagCode
    {9, 240, 16},   // M_KeyLeasePeriod
    {10, 256, 8},   // LocalPortNum
    {11, 264, 8},   // LinkWidthEnabled
    {12, 272, 8},   // LinkWidthSupported
    {13, 280, 8},   // LinkWidthActive
    {14, 288, 4},   // LinkSpeedSupported
    {15, 292, 4},   // PortState
    {16, 296, 4},   // PortPhysicalState
    {17, 300, 4},   // LinkDownDefaultState
    {18, 304, 2},   // M_KeyProtectBits
    {19, 306, 3},   // reserved
    {20, 309, 3},   // LMC
    {21, 312, 4},   // LinkSpeedActive
    {22, 316, 4},   // LinkSpeedEnabled
    {23, 320, 4},   // NeighborMTU
    {24, 324, 4},   // MasterSMSL
    {25, 328, 4},   // VLCap
    {26, 332, 4},   // InitType
    {27, 336, 8},   // VLHighLimit
    {28, 344, 8},   // VLArbitrationHighCap
    {29, 352, 8},   // VLArbitrationLowCap
    {30, 360, 4},   // InitTypeReply
    {31, 364, 4},   // MTUCap
    {32, 368, 3},   // VLStallCount
    {33, 371, 5},   // HOQLife
    {34, 376, 4},   // OperationalVLs
    {35, 380, 1},   // PartitionEnforcementInbound
    {36, 381, 1},   // PartitionEnforcementOutbound
    {37, 382, 1},   // FilterRawInbound
    {38, 383, 1},   // FilterRawOutbound
    {39, 384, 16},  // M_KeyViolations
    {40, 400, 16},  // P_KeyViolations
    {41, 416, 16},  // Q_KeyViolations
    {42, 432, 8},   // GUIDCap
    {43, 440, 1},   // ClientReregister
    {44, 441, 2},   // MulticastPKeyTrapSuppressionEnabled
    {45, 443, 5},   // SubnetTimeOut
    {46, 448, 3},   // reserved
    {47, 451, 5},   // RespTimeValue
    {48, 456, 4},   // LocalPhyErrors
    {49, 460, 4},   // OverrunErrors
    {50, 464, 16},  // MaxCreditHint
    {51, 480, 8},   // reserved
    {52, 488, 24},  // LinkRoundTripLatency
    {53, 512, 16},  // CapabilityMask2
    {54, 528, 4},   // LinkSpeedExtActive
    {55, 532, 4},   // LinkSpeedExtSupported
    {56, 536, 3},   // reserved
    {57, 539, 5},   // LinkSpeedExtEnabled
};

constexpr Component kSwitchInfoComponents[] = {
    {0, 0, 16},     // LID
    {1, 16, 16},    // reserved
    {2, 32, 16},    // LinearFDBCap
    {3, 48, 16},    // RandomFDBCap
    {4, 64, 16},    // MulticastFDBCap
    {5, 80, 16},    // LinearFDBTop
    {6, 96, 8},     // DefaultPort
    {7, 104, 8},    // DefaultMulticastPrimaryPort
    {8, 112, 8},    // DefaultMulticastNotPrimaryPort
    {9, 120, 5},    // LifeTimeValue
    {10, 125, 1},   // PortStateChange
    {11, 126, 2},   // OptimizedSLtoVLMappingProgramming
    {12, 128, 16},  // LIDsPerPort
    {13, 144, 16},  // PartitionEnforcementCap
    {14, 160, 1},   // InboundEnforcementCap
    {15, 161, 1},   // OutboundEnforcementCap
    {16, 162, 1},   // FilterRawInboundCap
    {17, 163, 1},   // FilterRawOutboundCap
    {18, 164, 1},   // EnhancedPort0
};

constexpr Component kSmInfoComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 16},   // reserved
    {2, 32, 64},   // GUID
    {3, 96, 64},   // SM_Key
    {4, 160, 32},  // ActCount
    {5, 192, 4},   // Priority
    {6, 196, 4},   // SMState
};

constexpr Component kGuidInfoComponents[] = {
    {0, 0, 16},   // LID
    {1, 16, 8},   // BlockNum
    {2, 24, 8},   // reserved
    {3, 32, 32},  // reserved
    {4, 64, 64},  // GID0 … GID7
    {5, 128, 64},
    {6, 192, 64},
    {7, 256, 64},
    {8, 320, 64},
    {9, 384, 64},
    {10, 448, 64},
    {11, 512, 64},
};

constexpr std::size_t kNodeInfoSize = 40;
constexpr std::size_t kNodeDescriptionSize = 64;
constexpr std::size_t kSwitchInfoSize = 20;
constexpr std::size_t kSmInfoSize = 21;

/// The first `size` bytes of an attribute that its codec fills as 64.
template <class Encode>
void put(std::span<std::byte> data, std::size_t at, std::size_t size, Encode encode) {
  SmpData attribute{};
  encode(std::span<std::byte, kSmpDataSize>(attribute));
  std::ranges::copy(std::span(attribute).first(size),
                    data.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The attribute at `at`, padded to the 64 bytes that its codec reads.
SmpData take(std::span<const std::byte> data, std::size_t at, std::size_t size) {
  SmpData attribute{};
  std::ranges::copy(data.subspan(at, size), attribute.begin());
  return attribute;
}

Lid lid_of(std::span<const std::byte> data) { return Lid{ByteReader(data).u16()}; }

/// What is not part of the attribute stays zero.
ByteWriter begin(std::span<std::byte> data, Lid lid) {
  std::ranges::fill(data, std::byte{0});
  ByteWriter out(data);
  out.u16(lid.value());
  return out;
}

constexpr Component kLinkComponents[] = {
    {0, 0, 16},   // FromLID
    {1, 16, 8},   // FromPort
    {2, 24, 8},   // ToPort
    {3, 32, 16},  // ToLID
};

constexpr Component kLftComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 16},   // BlockNum
    {2, 32, 32},   // reserved
    {3, 64, 512},  // LinearForwardingTable
};

}  // namespace

const RecordShape kNodeRecord{RecordId::NodeRecord, 112, kNodeComponents};
const RecordShape kPortInfoRecord{RecordId::PortInfoRecord, 72, kPortInfoComponents};
const RecordShape kSwitchInfoRecord{RecordId::SwitchInfoRecord, 24, kSwitchInfoComponents};
const RecordShape kSmInfoRecord{RecordId::SmInfoRecord, 32, kSmInfoComponents};
const RecordShape kGuidInfoRecord{RecordId::GuidInfoRecord, 72, kGuidInfoComponents};

Result<NodeRecord> decode_node_record(std::span<const std::byte> data) {
  if (data.size() < 4 + kNodeInfoSize + kNodeDescriptionSize)
    return codec::too_short("NodeRecord", data.size());
  return NodeRecord{
      .lid = lid_of(data),
      .info = *decode_node_info(take(data, 4, kNodeInfoSize)),
      .description = *decode_node_description(take(data, 4 + kNodeInfoSize, kNodeDescriptionSize))};
}

void encode_record(const NodeRecord& record, std::span<std::byte> data) {
  begin(data, record.lid);
  put(data, 4, kNodeInfoSize, [&](auto to) { encode_node_info(record.info, to); });
  put(data, 4 + kNodeInfoSize, kNodeDescriptionSize, [&](auto to) {
    encode_node_description(record.description, to);
  });
}

Result<PortInfoRecord> decode_port_info_record(std::span<const std::byte> data) {
  if (data.size() < 4 + kSmpDataSize) return codec::too_short("PortInfoRecord", data.size());
  ByteReader in(data);
  return PortInfoRecord{.lid = Lid{in.u16()},
                        .port = PortNum{in.u8()},
                        .options = in.u8(),
                        .info = *decode_port_info(data.subspan(4, kSmpDataSize))};
}

void encode_record(const PortInfoRecord& record, std::span<std::byte> data) {
  ByteWriter out = begin(data, record.lid);
  out.u8(record.port.value());
  out.u8(record.options);
  put(data, 4, kSmpDataSize, [&](auto to) { encode_port_info(record.info, to); });
}

Result<SwitchInfoRecord> decode_switch_info_record(std::span<const std::byte> data) {
  if (data.size() < 4 + kSwitchInfoSize) return codec::too_short("SwitchInfoRecord", data.size());
  return SwitchInfoRecord{.lid = lid_of(data),
                          .info = *decode_switch_info(take(data, 4, kSwitchInfoSize))};
}

void encode_record(const SwitchInfoRecord& record, std::span<std::byte> data) {
  begin(data, record.lid);
  put(data, 4, kSwitchInfoSize, [&](auto to) { encode_switch_info(record.info, to); });
}

Result<SmInfoRecord> decode_sm_info_record(std::span<const std::byte> data) {
  if (data.size() < 4 + kSmInfoSize) return codec::too_short("SMInfoRecord", data.size());
  return SmInfoRecord{.lid = lid_of(data), .info = *decode_sm_info(take(data, 4, kSmInfoSize))};
}

void encode_record(const SmInfoRecord& record, std::span<std::byte> data) {
  begin(data, record.lid);
  put(data, 4, kSmInfoSize, [&](auto to) { encode_sm_info(record.info, to); });
}

Result<GuidInfoRecord> decode_guid_info_record(std::span<const std::byte> data) {
  if (data.size() < 8 + kSmpDataSize) return codec::too_short("GUIDInfoRecord", data.size());
  ByteReader in(data);
  return GuidInfoRecord{.lid = Lid{in.u16()},
                        .block = in.u8(),
                        .guids = *decode_guid_block(data.subspan(8, kSmpDataSize))};
}

void encode_record(const GuidInfoRecord& record, std::span<std::byte> data) {
  ByteWriter out = begin(data, record.lid);
  out.u8(record.block);
  put(data, 8, kSmpDataSize, [&](auto to) { encode_guid_block(record.guids, to); });
}

const RecordShape kLinkRecord{RecordId::LinkRecord, 8, kLinkComponents};
const RecordShape kLftRecord{RecordId::LftRecord, 72, kLftComponents};

Result<LinkRecord> decode_link_record(std::span<const std::byte> data) {
  ByteReader in(data);
  const LinkRecord record{.from_lid = Lid{in.u16()},
                          .from_port = PortNum{in.u8()},
                          .to_port = PortNum{in.u8()},
                          .to_lid = Lid{in.u16()}};
  if (!in.ok()) return codec::too_short("LinkRecord", data.size());
  return record;
}

void encode_record(const LinkRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.from_lid.value());
  out.u8(record.from_port.value());
  out.u8(record.to_port.value());
  out.u16(record.to_lid.value());
  codec::pad(out, data.size());
}

Result<LftRecord> decode_lft_record(std::span<const std::byte> data) {
  if (data.size() < kLftRecord.size) return codec::too_short("LFTRecord", data.size());
  ByteReader in(data);
  return LftRecord{.lid = Lid{in.u16()},
                   .block = in.u16(),
                   .ports = *decode_lft_block(data.subspan(8, kSmpDataSize))};
}

void encode_record(const LftRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u16(record.block);
  out.zeros(4);
  encode_lft_block(record.ports, data.subspan<8, kSmpDataSize>());
}

}  // namespace smd::sa
