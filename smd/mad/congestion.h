// Congestion control, class 0x21 of QP1 (IBA 1.2.1, annex A10): what its MADs hold.
//
//   0 MAD header | 24 CC_Key | 32 log data, 32 bytes | 64 management data, 192 bytes
//
// CongestionLog begins with the log data, every other attribute with the management data.
#pragma once

#include <array>
#include <optional>

#include "smd/ib/types.h"
#include "smd/mad/header.h"
#include "smd/mad/notice.h"

namespace smd::cc {

using CcKey = StrongId<struct CcKeyTag, std::uint64_t>;

inline constexpr std::uint8_t kClassVersion = 2;
inline constexpr std::size_t kKeyOffset = 24;
inline constexpr std::size_t kLogOffset = 32;
inline constexpr std::size_t kLogSize = kMadSize - kLogOffset;
inline constexpr std::size_t kDataOffset = 64;
inline constexpr std::size_t kDataSize = kMadSize - kDataOffset;

enum class Attribute : std::uint16_t {
  ClassPortInfo = 0x0001,
  Notice = 0x0002,
  CongestionInfo = 0x0011,
  CongestionKeyInfo = 0x0012,
  CongestionLog = 0x0013,
  SwitchCongestionSetting = 0x0014,
  SwitchPortCongestionSetting = 0x0015,  // modifier: block of 32 ports
  CaCongestionSetting = 0x0016,
  CongestionControlTable = 0x0017,  // modifier: block of 64 entries
  TimeStamp = 0x0018,
};

/// "CongestionInfo", or "0x1234".
[[nodiscard]] std::string print_attribute(std::uint16_t id);

/// Requires: mad.size() == kMadSize.
[[nodiscard]] CcKey read_key(std::span<const std::byte> mad);
void write_key(CcKey key, std::span<std::byte> mad);

/// ClassPortInfo of every general class (IBA 13.4.8.1). Redirection is not used: its fields are 0.
struct ClassPortInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = kClassVersion;
  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;  // 27 bits
  std::uint8_t resp_time_value = 0;    // 5 bits
  Gid trap_gid;
  Sl trap_sl;  // 4 bits
  Lid trap_lid;
  PKey trap_p_key;
  std::uint32_t trap_qp = 0;  // 24 bits
  std::uint32_t trap_q_key = 0;

  friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};

/// CapabilityMask: an enhanced switch port 0 reacts like an adapter (A10.4.3.1).
inline constexpr std::uint16_t kIsEnhancedPort0Cc = 1u << 8;
inline constexpr std::uint16_t kIsTrapSupported = 1u << 0;

struct CongestionInfo {
  std::uint16_t flags = 0;        // bit 0: credit starvation is supported
  std::uint8_t table_blocks = 0;  // of 64 entries each, in the congestion control table

  friend bool operator==(const CongestionInfo&, const CongestionInfo&) = default;
};

struct KeyInfo {
  CcKey key;
  bool protect = false;       // the key is not shown to those who do not know it
  std::uint16_t lease_s = 0;  // from a wrong key until the protection falls; 0: never
  std::uint16_t violations = 0;

  friend bool operator==(const KeyInfo&, const KeyInfo&) = default;
};

/// A set of switch ports; bit 255 is reserved.
class PortMask {
 public:
  [[nodiscard]] bool test(PortNum port) const {
    return (bytes[at(port)] >> (port.value() % 8) & 1) != 0;
  }

  void set(PortNum port) {
    bytes[at(port)] = static_cast<std::uint8_t>(bytes[at(port)] | 1u << (port.value() % 8));
  }

  friend bool operator==(const PortMask&, const PortMask&) = default;

  std::array<std::uint8_t, 32> bytes{};  // as on the wire: port 0 is the last bit

 private:
  static std::size_t at(PortNum port) { return 31u - port.value() / 8u; }
};

/// Two bits and fourteen: multiplier / 2^shift. In the table of an adapter, in units of the time
/// that a packet takes.
struct CctEntry {
  std::uint8_t shift = 0;
  std::uint16_t multiplier = 0;

  friend bool operator==(const CctEntry&, const CctEntry&) = default;
};

inline constexpr std::uint16_t kMaxMultiplier = 0x3fff;

/// SwitchCongestionSetting.ControlMap: which fields a Set is about.
namespace control {
inline constexpr std::uint32_t kVictimMask = 1u << 0;
inline constexpr std::uint32_t kCreditMask = 1u << 1;
inline constexpr std::uint32_t kThreshold = 1u << 2;  // and packet size
inline constexpr std::uint32_t kCreditStarvation = 1u << 3;
inline constexpr std::uint32_t kMarkingRate = 1u << 4;
}  // namespace control

struct SwitchSetting {
  std::uint32_t control_map = 0;
  PortMask victim_mask;  // marks there are made also by who is held up himself
  PortMask credit_mask;
  std::uint8_t threshold = 0;     // 4 bits: 0 never marks, 1 loosely … 15 most eagerly
  std::uint8_t packet_size = 0;   // units of 64 bytes: shorter packets are not marked
  std::uint8_t cs_threshold = 0;  // 4 bits
  CctEntry cs_return_delay;
  std::uint16_t marking_rate = 0;  // mean of packets between two marks

  friend bool operator==(const SwitchSetting&, const SwitchSetting&) = default;
};

struct PortSetting {
  bool valid = false;
  bool starvation = false;     // the threshold is that of credit starvation
  std::uint8_t threshold = 0;  // 4 bits
  std::uint8_t packet_size = 0;
  std::uint16_t marking_rate = 0;

  friend bool operator==(const PortSetting&, const PortSetting&) = default;
};

inline constexpr std::size_t kPortBlockSize = 32;
using PortSettingBlock = std::array<PortSetting, kPortBlockSize>;

struct CaEntry {
  std::uint16_t timer = 0;    // 1.024 us each: the index falls by one
  std::uint8_t increase = 0;  // of the index, for a BECN
  std::uint8_t trigger = 0;   // the index at which an event is logged
  std::uint8_t min = 0;       // the index never falls below

  friend bool operator==(const CaEntry&, const CaEntry&) = default;
};

inline constexpr std::size_t kSls = 16;

struct CaSetting {
  std::uint16_t port_control = 0;  // bit 0: an index per SL, else per QP
  std::uint16_t control_map = 0;   // SLs that a Set is about
  std::array<CaEntry, kSls> entries{};

  friend bool operator==(const CaSetting&, const CaSetting&) = default;
};

inline constexpr std::size_t kCctBlockSize = 64;

struct CctBlock {
  std::uint16_t limit = 0;  // the highest index, over all blocks
  std::array<CctEntry, kCctBlockSize> entries{};

  friend bool operator==(const CctBlock&, const CctBlock&) = default;
};

/// Free running, in units of 1.024 us.
struct TimeStamp {
  std::uint32_t value = 0;

  friend bool operator==(const TimeStamp&, const TimeStamp&) = default;
};

inline constexpr std::uint8_t kSwitchLog = 1;
inline constexpr std::uint8_t kCaLog = 2;

/// The first byte of a CongestionLog: which of the two it is.
[[nodiscard]] std::uint8_t log_type_of(std::span<const std::byte> data);

struct SwitchLogEvent {
  Lid source;
  Lid destination;
  Sl sl;  // 4 bits
  std::uint32_t time = 0;

  friend bool operator==(const SwitchLogEvent&, const SwitchLogEvent&) = default;
};

struct SwitchLog {
  std::uint8_t type = kSwitchLog;
  std::uint8_t flags = 0;
  std::uint16_t events = 0;  // since the log was last read
  std::uint32_t time = 0;
  PortMask ports;  // that marked packets since
  std::array<SwitchLogEvent, 15> entries{};

  friend bool operator==(const SwitchLog&, const SwitchLog&) = default;
};

/// At the offsets of libibmad, after the errata of 2010; OpenSM's header has the SL elsewhere.
struct CaLogEvent {
  std::uint32_t local_qp = 0;   // 24 bits
  Sl sl;                        // 4 bits
  std::uint8_t service = 0;     // 4 bits: RC, UC, RD, UD
  std::uint32_t remote_qp = 0;  // 24 bits
  Lid local;
  Lid remote;
  std::uint32_t time = 0;

  friend bool operator==(const CaLogEvent&, const CaLogEvent&) = default;
};

struct CaLog {
  std::uint8_t type = kCaLog;
  std::uint8_t flags = 0;
  std::uint16_t events = 0;
  std::uint16_t sl_map = 0;  // SLs whose index came to its trigger
  std::uint32_t time = 0;
  std::array<CaLogEvent, 13> entries{};

  friend bool operator==(const CaLog&, const CaLog&) = default;
};

/// The one trap of the class: a MAD with a wrong CC_Key came.
inline constexpr std::uint16_t kKeyTrap = 0;

struct KeyViolation {
  Lid source;
  std::uint8_t method = 0;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::uint32_t qp = 0;  // 24 bits
  CcKey key;             // the wrong one
  Gid source_gid;

  friend bool operator==(const KeyViolation&, const KeyViolation&) = default;
};

[[nodiscard]] Notice key_notice(const KeyViolation& violation, NodeType producer);

/// Nothing for a notice that is not generic, not of security, or carries another trap number.
[[nodiscard]] std::optional<KeyViolation> find_key_violation(const Notice& notice);

using Data = std::span<std::byte, kDataSize>;
using LogData = std::span<std::byte, kLogSize>;

Result<ClassPortInfo> decode_class_port_info(std::span<const std::byte> data);
void encode_class_port_info(const ClassPortInfo& info, Data data);
[[nodiscard]] std::string print_class_port_info(const ClassPortInfo& info);

Result<CongestionInfo> decode_congestion_info(std::span<const std::byte> data);
void encode_congestion_info(const CongestionInfo& info, Data data);
[[nodiscard]] std::string print_congestion_info(const CongestionInfo& info);

Result<KeyInfo> decode_key_info(std::span<const std::byte> data);
void encode_key_info(const KeyInfo& info, Data data);
[[nodiscard]] std::string print_key_info(const KeyInfo& info);

Result<SwitchSetting> decode_switch_setting(std::span<const std::byte> data);
void encode_switch_setting(const SwitchSetting& setting, Data data);
[[nodiscard]] std::string print_switch_setting(const SwitchSetting& setting);

Result<PortSettingBlock> decode_port_settings(std::span<const std::byte> data);
void encode_port_settings(const PortSettingBlock& block, Data data);
[[nodiscard]] std::string print_port_settings(const PortSettingBlock& block);

Result<CaSetting> decode_ca_setting(std::span<const std::byte> data);
void encode_ca_setting(const CaSetting& setting, Data data);
[[nodiscard]] std::string print_ca_setting(const CaSetting& setting);

Result<CctBlock> decode_cct_block(std::span<const std::byte> data);
void encode_cct_block(const CctBlock& block, Data data);
[[nodiscard]] std::string print_cct_block(const CctBlock& block);

Result<TimeStamp> decode_time_stamp(std::span<const std::byte> data);
void encode_time_stamp(const TimeStamp& stamp, Data data);
[[nodiscard]] std::string print_time_stamp(const TimeStamp& stamp);

Result<SwitchLog> decode_switch_log(std::span<const std::byte> data);
void encode_switch_log(const SwitchLog& log, LogData data);
[[nodiscard]] std::string print_switch_log(const SwitchLog& log);

Result<CaLog> decode_ca_log(std::span<const std::byte> data);
void encode_ca_log(const CaLog& log, LogData data);
[[nodiscard]] std::string print_ca_log(const CaLog& log);

}  // namespace smd::cc
