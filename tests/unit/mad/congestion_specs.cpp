// Class 0x21 (IBA 1.2.1, annex A10). libibmad names the fields of an element once; its base says
// which element.
#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class T, std::size_t N>
auto into(void (*encode)(const T&, std::span<std::byte, N>)) {
  return [encode](const T& value, std::span<std::byte> out) { encode(value, out.first<N>()); };
}

template <class T, class Encode>
Attribute<T> attribute(std::string name,
                       std::size_t size,
                       std::size_t extent,
                       std::vector<Field<T>> fields,
                       Result<T> (*decode)(std::span<const std::byte>),
                       Encode encode,
                       std::string (*print)(const T&)) {
  return {.name = std::move(name),
          .size = size,
          .extent = extent,
          .fields = std::move(fields),
          .decode = decode,
          .encode = into(encode),
          .print = print};
}

/// 256 bits, byte by byte: libibmad knows them as one array.
template <class T, class Reach>
void add_mask(std::vector<Field<T>>& fields, const std::string& name, std::size_t at, Reach reach) {
  for (std::size_t i = 0; i < 32; ++i) {
    fields.push_back(field_by<T>(
        name + std::to_string(i), at + 8 * i, 8, IB_NO_FIELD, [reach, i](auto& value) -> auto& {
          return reach(value).bytes[i];
        }));
  }
}

/// A field of element `i`, which begins at bit `at`.
template <class T, class Reach>
void add_element(std::vector<Field<T>>& fields,
                 const char* name,
                 std::size_t at,
                 std::size_t offset,
                 std::size_t width,
                 MAD_FIELDS libibmad,
                 Reach reach) {
  fields.push_back(
      field_by<T>(name + std::to_string(at), at + offset, width, libibmad, std::move(reach)));
  fields.back().libibmad_base = static_cast<int>(at / 8);
}

}  // namespace

Attribute<cc::ClassPortInfo> cc_class_port_info() {
  using C = cc::ClassPortInfo;
  return attribute<C>(
      "ClassPortInfo",
      cc::kDataSize,
      72,
      {field("base", &C::base_version, 0, 8, IB_CPI_BASEVER_F),
       field("class", &C::class_version, 8, 8, IB_CPI_CLASSVER_F),
       field("mask", &C::capability_mask, 16, 16, IB_CPI_CAPMASK_F),
       field("mask 2", &C::capability_mask2, 32, 27, IB_CPI_CAPMASK2_F),
       field("time", &C::resp_time_value, 59, 5, IB_CPI_RESP_TIME_VALUE_F),
       field_by<C>(
           "gid prefix", 320, 64, IB_NO_FIELD, [](auto& c) -> auto& { return c.trap_gid.prefix; }),
       field_by<C>(
           "gid guid", 384, 64, IB_NO_FIELD, [](auto& c) -> auto& { return c.trap_gid.guid; }),
       field("sl", &C::trap_sl, 456, 4, IB_CPI_TRAP_SL_F),
       field("lid", &C::trap_lid, 480, 16, IB_CPI_TRAP_LID_F),
       field("p_key", &C::trap_p_key, 496, 16, IB_CPI_TRAP_PKEY_F),
       field("qp", &C::trap_qp, 520, 24, IB_CPI_TRAP_QP_F),
       field("q_key", &C::trap_q_key, 544, 32, IB_CPI_TRAP_QKEY_F)},
      cc::decode_class_port_info,
      cc::encode_class_port_info,
      cc::print_class_port_info);
}

Attribute<cc::CongestionInfo> congestion_info() {
  using C = cc::CongestionInfo;
  return attribute<C>(
      "CongestionInfo",
      cc::kDataSize,
      3,
      {field("flags", &C::flags, 0, 16, IB_CC_CONGESTION_INFO_F),
       field("blocks", &C::table_blocks, 16, 8, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F)},
      cc::decode_congestion_info,
      cc::encode_congestion_info,
      cc::print_congestion_info);
}

Attribute<cc::KeyInfo> cc_key_info() {
  using K = cc::KeyInfo;
  return attribute<K>(
      "CongestionKeyInfo",
      cc::kDataSize,
      14,
      {field("key", &K::key, 0, 64, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F),
       field("protect", &K::protect, 64, 1, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F),
       field("lease", &K::lease_s, 80, 16, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F),
       field("violations", &K::violations, 96, 16, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F)},
      cc::decode_key_info,
      cc::encode_key_info,
      cc::print_key_info);
}

Attribute<cc::SwitchSetting> cc_switch_setting() {
  using S = cc::SwitchSetting;
  std::vector<Field<S>> fields = {
      field("map", &S::control_map, 0, 32, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F),
      field("threshold", &S::threshold, 544, 4, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F),
      field("size", &S::packet_size, 552, 8, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F),
      field(
          "cs threshold", &S::cs_threshold, 560, 4, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F),
      field("rate", &S::marking_rate, 592, 16, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F),
      field_by<S>("delay shift",
                  576,
                  2,
                  IB_NO_FIELD,
                  [](auto& s) -> auto& { return s.cs_return_delay.shift; }),
      field_by<S>("delay", 578, 14, IB_NO_FIELD, [](auto& s) -> auto& {
        return s.cs_return_delay.multiplier;
      })};
  add_mask(fields, "victim ", 32, [](auto& s) -> auto& { return s.victim_mask; });
  add_mask(fields, "credit ", 288, [](auto& s) -> auto& { return s.credit_mask; });
  return attribute<S>("SwitchCongestionSetting",
                      cc::kDataSize,
                      76,
                      std::move(fields),
                      cc::decode_switch_setting,
                      cc::encode_switch_setting,
                      cc::print_switch_setting);
}

Attribute<cc::PortSettingBlock> cc_port_settings() {
  using B = cc::PortSettingBlock;
  std::vector<Field<B>> fields;
  for (std::size_t i = 0; i < cc::kPortBlockSize; ++i) {
    const std::size_t at = 32 * i;
    add_element(fields,
                "valid ",
                at,
                0,
                1,
                IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F,
                [i](auto& b) -> auto& { return b[i].valid; });
    add_element(fields,
                "type ",
                at,
                1,
                1,
                IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONTROL_TYPE_F,
                [i](auto& b) -> auto& { return b[i].starvation; });
    add_element(fields,
                "threshold ",
                at,
                4,
                4,
                IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F,
                [i](auto& b) -> auto& { return b[i].threshold; });
    add_element(fields,
                "size ",
                at,
                8,
                8,
                IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F,
                [i](auto& b) -> auto& { return b[i].packet_size; });
    add_element(fields,
                "rate ",
                at,
                16,
                16,
                IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F,
                [i](auto& b) -> auto& { return b[i].marking_rate; });
  }
  return attribute<B>("SwitchPortCongestionSetting",
                      cc::kDataSize,
                      128,
                      std::move(fields),
                      cc::decode_port_settings,
                      cc::encode_port_settings,
                      cc::print_port_settings);
}

Attribute<cc::CaSetting> cc_ca_setting() {
  using S = cc::CaSetting;
  std::vector<Field<S>> fields = {
      field("control", &S::port_control, 0, 16, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F),
      field("map", &S::control_map, 16, 16, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F)};
  for (std::size_t i = 0; i < cc::kSls; ++i) {
    const std::size_t at = 32 + 64 * i;
    add_element(
        fields, "timer ", at, 0, 16, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F, [i](auto& s) -> auto& {
          return s.entries[i].timer;
        });
    add_element(fields,
                "increase ",
                at,
                16,
                8,
                IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F,
                [i](auto& s) -> auto& { return s.entries[i].increase; });
    add_element(fields,
                "trigger ",
                at,
                24,
                8,
                IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F,
                [i](auto& s) -> auto& { return s.entries[i].trigger; });
    add_element(
        fields, "min ", at, 32, 8, IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F, [i](auto& s) -> auto& {
          return s.entries[i].min;
        });
  }
  return attribute<S>("CACongestionSetting",
                      cc::kDataSize,
                      132,
                      std::move(fields),
                      cc::decode_ca_setting,
                      cc::encode_ca_setting,
                      cc::print_ca_setting);
}

Attribute<cc::CctBlock> cct_block() {
  using B = cc::CctBlock;
  std::vector<Field<B>> fields = {
      field("limit", &B::limit, 0, 16, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F)};
  for (std::size_t i = 0; i < cc::kCctBlockSize; ++i) {
    // libibmad takes words of 32 bits: the second entry of each is out of its reach.
    const std::size_t at = 32 + 16 * i;
    const bool known = i % 2 == 0;
    add_element(fields,
                "shift ",
                at,
                0,
                2,
                known ? IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F : IB_NO_FIELD,
                [i](auto& b) -> auto& { return b.entries[i].shift; });
    add_element(fields,
                "multiplier ",
                at,
                2,
                14,
                known ? IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F : IB_NO_FIELD,
                [i](auto& b) -> auto& { return b.entries[i].multiplier; });
  }
  return attribute<B>("CongestionControlTable",
                      cc::kDataSize,
                      132,
                      std::move(fields),
                      cc::decode_cct_block,
                      cc::encode_cct_block,
                      cc::print_cct_block);
}

Attribute<cc::TimeStamp> cc_time_stamp() {
  return attribute<cc::TimeStamp>("TimeStamp",
                                  cc::kDataSize,
                                  4,
                                  {field("value", &cc::TimeStamp::value, 0, 32, IB_CC_TIMESTAMP_F)},
                                  cc::decode_time_stamp,
                                  cc::encode_time_stamp,
                                  cc::print_time_stamp);
}

Attribute<cc::SwitchLog> cc_switch_log() {
  using L = cc::SwitchLog;
  std::vector<Field<L>> fields = {
      field("type", &L::type, 0, 8, IB_CC_CONGESTION_LOG_LOGTYPE_F),
      field("flags", &L::flags, 8, 8, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F),
      field("events", &L::events, 16, 16, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F),
      field("time", &L::time, 32, 32, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F)};
  add_mask(fields, "ports ", 64, [](auto& log) -> auto& { return log.ports; });
  for (std::size_t i = 0; i < cc::SwitchLog{}.entries.size(); ++i) {
    const std::size_t at = 320 + 96 * i;
    add_element(fields,
                "source ",
                at,
                0,
                16,
                IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F,
                [i](auto& l) -> auto& { return l.entries[i].source; });
    add_element(fields,
                "destination ",
                at,
                16,
                16,
                IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F,
                [i](auto& l) -> auto& { return l.entries[i].destination; });
    add_element(
        fields, "sl ", at, 32, 4, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F, [i](auto& l) -> auto& {
          return l.entries[i].sl;
        });
    add_element(fields,
                "time ",
                at,
                64,
                32,
                IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F,
                [i](auto& l) -> auto& { return l.entries[i].time; });
  }
  return attribute<L>("CongestionLog of a switch",
                      cc::kLogSize,
                      220,
                      std::move(fields),
                      cc::decode_switch_log,
                      cc::encode_switch_log,
                      cc::print_switch_log);
}

Attribute<cc::CaLog> cc_ca_log() {
  using L = cc::CaLog;
  std::vector<Field<L>> fields = {
      field("type", &L::type, 0, 8, IB_CC_CONGESTION_LOG_LOGTYPE_F),
      field("flags", &L::flags, 8, 8, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F),
      field("events", &L::events, 16, 16, IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F),
      field("sls", &L::sl_map, 32, 16, IB_CC_CONGESTION_LOG_CA_THRESHOLD_CONGESTION_EVENT_MAP_F),
      field("time", &L::time, 64, 32, IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F)};
  for (std::size_t i = 0; i < cc::CaLog{}.entries.size(); ++i) {
    const std::size_t at = 96 + 128 * i;
    add_element(fields,
                "local qp ",
                at,
                0,
                24,
                IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].local_qp; });
    add_element(fields,
                "sl ",
                at,
                24,
                4,
                IB_CC_CONGESTION_LOG_ENTRY_CA_SL_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].sl; });
    add_element(fields,
                "service ",
                at,
                28,
                4,
                IB_CC_CONGESTION_LOG_ENTRY_CA_SERVICE_TYPE_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].service; });
    add_element(fields,
                "remote qp ",
                at,
                32,
                24,
                IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_QP_NUMBER_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].remote_qp; });
    add_element(fields,
                "local ",
                at,
                64,
                16,
                IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_LID_CN_F,
                [i](auto& l) -> auto& { return l.entries[i].local; });
    add_element(fields,
                "remote ",
                at,
                80,
                16,
                IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_LID_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].remote; });
    add_element(fields,
                "time ",
                at,
                96,
                32,
                IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F,
                [i](auto& l) -> auto& { return l.entries[i].time; });
  }
  return attribute<L>("CongestionLog of an adapter",
                      cc::kLogSize,
                      220,
                      std::move(fields),
                      cc::decode_ca_log,
                      cc::encode_ca_log,
                      cc::print_ca_log);
}

}  // namespace smd::spec
