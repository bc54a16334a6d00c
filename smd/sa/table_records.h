// P_KeyTableRecord, SLtoVLMappingTableRecord and VLArbitrationTableRecord (IBA 15.2.5.4, .9, .11):
// blocks of tables with the LID of the port they belong to. For switches the LID is that of port 0.
#pragma once

#include "smd/mad/tables.h"
#include "smd/sa/component_mask.h"

namespace smd::sa {

struct PKeyTableRecord {
  Lid lid;
  std::uint16_t block = 0;
  PortNum port;
  PKeyBlock keys{};

  friend bool operator==(const PKeyTableRecord&, const PKeyTableRecord&) = default;
};

/// Of an adapter or router both ports are 0.
struct SlToVlTableRecord {
  Lid lid;
  PortNum in;
  PortNum out;
  SlToVl vls{};

  friend bool operator==(const SlToVlTableRecord&, const SlToVlTableRecord&) = default;
};

struct VlArbTableRecord {
  Lid lid;
  PortNum out;
  std::uint8_t block = 1;  // as VlArbPart
  VlArbBlock entries{};

  friend bool operator==(const VlArbTableRecord&, const VlArbTableRecord&) = default;
};

extern const RecordShape kPKeyTableRecord;
extern const RecordShape kSlToVlTableRecord;
extern const RecordShape kVlArbTableRecord;

Result<PKeyTableRecord> decode_p_key_table_record(std::span<const std::byte> data);
Result<SlToVlTableRecord> decode_sl_to_vl_table_record(std::span<const std::byte> data);
Result<VlArbTableRecord> decode_vl_arb_table_record(std::span<const std::byte> data);

/// Each fills `data`, which has the size of the record's shape.
void encode_record(const PKeyTableRecord& record, std::span<std::byte> data);
void encode_record(const SlToVlTableRecord& record, std::span<std::byte> data);
void encode_record(const VlArbTableRecord& record, std::span<std::byte> data);

}  // namespace smd::sa
